//! Writes a form: its fields, the values given so far, and the valid values.

use pipemux_proto::prototype::Field;
use pipemux_proto::report::{AnswerOption, FieldReport};

use crate::foreign::data;
use crate::runs::questions::form::described;
use crate::runs::questions::question::OpenQuestion;
use crate::views::inert;

/// Words before the colon in lines of PipeMux's own: a field of such a name is quoted.
const OWN_LINES: [&str; 4] = ["next", "optional", "actions", "output"];

/// Writes the fields of a form, a line each. Optional ones that need no explanation share one.
pub fn lines(open: &OpenQuestion) -> String {
    let mut out = String::new();
    let mut optional = Vec::new();
    for field in &open.needs.question.fields {
        if let Some(given) = open.written_given(field) {
            out += &format!("{} = {}\n", field.name, inert::line(&given));
        } else if !field.is_required() && field.doc.is_empty() && field.bounds().is_empty() {
            optional.push(field.to_string());
        } else {
            let mark = if OWN_LINES.contains(&&*field.name) { "> " } else { "" };
            out += &format!("{mark}{}", inert::whole_line(&field.documented()));
            for choice in open.choices.iter().filter(|choice| choice.field == field.name) {
                out += &format!(" · {} {}", choice.of, inert::line(&choice.label));
            }
            out.push('\n');
        }
    }
    if !optional.is_empty() {
        out += &format!("optional: {}\n", inert::line(&optional.join(", ")));
    }
    out
}

/// Returns the fields of a form as data.
pub fn reports(open: &OpenQuestion) -> Vec<FieldReport> {
    let report = |field: &Field| FieldReport {
        name: field.name.clone(),
        ty: described(field),
        doc: field.doc.clone(),
        required: field.is_required(),
        default: field.default.clone().filter(|_| !field.holds_secret()),
        given: open.written_given(field),
        secret: field.holds_secret(),
        choices: open
            .choices
            .iter()
            .filter(|choice| choice.field == field.name)
            .map(|choice| AnswerOption {
                label: data::exact(&choice.label),
                detail: String::new(),
                link: choice.of.clone(),
            })
            .collect(),
    };
    open.needs.question.fields.iter().map(report).collect()
}
