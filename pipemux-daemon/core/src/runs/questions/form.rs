//! Forms: several arguments or fields in one question, answered by name or in order.

use pipemux_proto::app::QuestionKind;
use pipemux_proto::prototype::{Field, Param, Type};

use crate::foreign::{ForeignText, Needs, Question};
use crate::keys::SessionKey;
use crate::limits::FIELD_CHOICES_MAX;
use crate::scripts::step::{Argument, Step};
use crate::workspaces::Workspace;

/// An object that a form field may be set to.
#[derive(Debug, Clone)]
pub struct FieldChoice {
    /// The field's name.
    pub field: String,
    /// The object's label.
    pub label: ForeignText,
    /// The object's ref, as windows show it.
    pub of: String,
}

/// Asks for the arguments that a step lacks, if there are several. Optional ones may be given as
/// well.
pub fn missing_form(step: &Step) -> Option<Needs> {
    let missing = |param: &Param| {
        let given = step.args.iter().find(|(name, _)| *name == param.name);
        match given {
            Some((_, Argument::Missing(missing))) => Some(missing),
            _ => None,
        }
    };
    let params = &step.prototype.params;
    let lacking = params.iter().filter(|param| missing(param).is_some());
    // What was given as another type only has to be confirmed.
    let unknown = lacking.clone().filter(|p| missing(p).is_some_and(|m| m.meant.is_none()));
    let names: Vec<&str> = unknown.map(|param| param.name.as_str()).collect();
    if names.is_empty() || lacking.count() < 2 {
        return None;
    }
    let absent = |param: &&Param| {
        missing(param).is_some() || !step.args.iter().any(|(name, _)| *name == param.name)
    };
    let field = |param: &Param| Field {
        name: param.name.clone(),
        ty: param.ty.clone(),
        default: missing(param).and_then(|missing| missing.meant.clone()).or(param.default.clone()),
        doc: param.doc.clone(),
        secret: param.secret,
        ..Field::default()
    };
    let question = Question {
        text: format!("needs {}", names.join(", ")).into(),
        kind: QuestionKind::Form,
        fields: step.prototype.params.iter().filter(absent).map(field).collect(),
        ..Question::default()
    };
    Some(Needs { question, token: Default::default(), numbers: Vec::new() })
}

/// Lists what the fields of a form may be that stand for things that a window shows.
pub fn choices(workspace: &Workspace, session: &SessionKey, fields: &[Field]) -> Vec<FieldChoice> {
    fn wanted(ty: &Type) -> Option<&Option<String>> {
        match ty {
            Type::Anchor(of) => Some(of),
            Type::List(inner) | Type::Optional(inner) => wanted(inner),
            _ => None,
        }
    }
    let mut choices = Vec::new();
    for field in fields {
        let Some(of) = wanted(&field.ty) else { continue };
        let shown = workspace.anchors.shown_objects(session);
        let fitting = shown
            .into_iter()
            .filter(|(_, anchor)| of.is_none() || anchor.ty.as_deref() == of.as_deref());
        choices.extend(fitting.take(FIELD_CHOICES_MAX).map(|(id, anchor)| FieldChoice {
            field: field.name.clone(),
            label: anchor.label.borrow().to_owned(),
            of: anchor.written(id).to_string(),
        }));
    }
    choices
}

/// The field's type and the constraints on its value.
pub fn described(field: &Field) -> String {
    let bounds = field.bounds();
    let bare = Field { name: String::new(), default: None, ..field.clone() };
    let ty = bare.to_string();
    let ty = ty.trim_start_matches(['?', ':', ' ']);
    if bounds.is_empty() { ty.to_owned() } else { format!("{ty}, {bounds}") }
}
