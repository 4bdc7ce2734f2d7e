//! Builds an example command that answers a form.

use pipemux_proto::call::mask::MASKED;
use pipemux_proto::command;
use pipemux_proto::prototype::{Field, Type};

use crate::runs::Argument;
use crate::runs::questions::question::OpenQuestion;
use crate::scripts::ref_errors;

/// Stands for a text that the reader chooses.
const TEXT: &str = "\"…\"";

impl OpenQuestion {
    /// Returns what is to be typed behind `pipemux answer`: all fields that are needed and aren't
    /// given yet. Of a form of which an app refused no single field, the first one.
    pub fn example(&self) -> String {
        let mut fields: Vec<&Field> = self.lacking().collect();
        if fields.is_empty() {
            fields.extend(self.needs.question.fields.first());
        }
        let mut words: Vec<String> = fields.iter().map(|field| self.word(field)).collect();
        if fields.iter().any(|field| field.secret) {
            words.push("< FILE".to_owned());
        }
        words.join(" ")
    }

    fn word(&self, field: &Field) -> String {
        let name = &field.name;
        if field.secret {
            return format!("{name}=stdin");
        }
        if let Some(given) = self.given(name).and_then(Argument::to_value) {
            return command::join(&[&format!("{name}={given}")]);
        }
        let choice = self.choices.iter().find(|choice| choice.field == *name);
        let value = match (choice, field.value_type()) {
            (Some(choice), _) => choice.of.clone(),
            // The quotes are the shell's: a text may have spaces.
            (None, Type::String | Type::Any) => return format!("{name}={TEXT}"),
            (None, Type::Union(options)) => options.first().cloned().unwrap_or_default(),
            (None, Type::Int | Type::Float) => field.min.or(field.max).unwrap_or(1.0).to_string(),
            (None, ty) => sample(ty),
        };
        let value = match value.contains(['{', '[']) {
            // Single quotes keep the double ones.
            true => format!("'{value}'"),
            false => command::join(&[&value]),
        };
        format!("{name}={value}")
    }

    /// The value that was given for a field, in the call syntax; secrets are hidden.
    pub fn written_given(&self, field: &Field) -> Option<String> {
        let given = self.given(&field.name)?;
        Some(match (field.holds_secret(), given.to_value(), given.first_ref()) {
            (true, ..) => MASKED.to_owned(),
            (false, Some(value), _) => value.to_string(),
            (false, None, Some(of)) => ref_errors::name(of),
            // A thing that an app's form was given has no ref any more.
            (false, None, None) => "given".to_owned(),
        })
    }
}

/// An example value of a type in the call syntax.
fn sample(ty: &Type) -> String {
    match ty {
        Type::String | Type::Any => TEXT.to_owned(),
        Type::Int | Type::Float | Type::Line => "1".to_owned(),
        Type::Bool => "true".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Union(options) => match options.first() {
            Some(option) => format!("\"{option}\""),
            None => TEXT.to_owned(),
        },
        Type::Anchor(_) => "obj:…".to_owned(),
        Type::List(item) => format!("[{}]", sample(item)),
        Type::Optional(inner) => sample(inner),
        Type::Map(of) => format!("{{name: {}}}", sample(of)),
        Type::Record(fields) => {
            let needed = fields.iter().filter(|field| field.is_required());
            let mut parts: Vec<String> = needed.map(sample_field).collect();
            if parts.is_empty() {
                parts.extend(fields.first().map(sample_field));
            }
            format!("{{{}}}", parts.join(", "))
        }
    }
}

fn sample_field(field: &Field) -> String {
    let value = match field.min.or(field.max) {
        Some(number) if matches!(field.ty, Type::Int | Type::Float) => number.to_string(),
        _ => sample(&field.ty),
    };
    format!("{}: {value}", field.name)
}
