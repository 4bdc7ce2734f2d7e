//! Questions that the daemon itself asks before anything runs: for an argument that is missing or of another
//! type, and for the session that a step means.

use pipemux_proto::app::{Choice, Needs, OptionItem, Question, QuestionKind};
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::Ref;
use pipemux_proto::{Fault, Value};

use crate::keys::SessionKey;
use crate::runs::coerce::literal;
use crate::runs::{Argument, MissingArgument, Run, Step};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::Target;

impl Run {
    /// The index of the first step that several sessions could carry out.
    pub(super) fn ambiguous_target(&self) -> Option<usize> {
        let ambiguous =
            |(index, step): (usize, &Step)| (!step.candidates.is_empty()).then_some(index);
        self.steps.iter().enumerate().skip(self.next).find_map(ambiguous)
    }

    /// The first argument that is missing: the step's index, the argument's index, and what is missing.
    pub(super) fn missing_argument(&self) -> Option<(usize, usize, &MissingArgument)> {
        let steps = self.steps.iter().enumerate().skip(self.next);
        let mut all = steps.flat_map(|(step, of)| {
            of.args.iter().enumerate().filter_map(move |(index, (_, argument))| match argument {
                Argument::Missing(missing) => Some((step, index, missing)),
                _ => None,
            })
        });
        all.next()
    }
}

/// Asks which session a step means.
pub fn target_question(step: &Step) -> Needs {
    let option = |key: &SessionKey| OptionItem { label: key.to_string(), text: String::new() };
    let question = Question {
        text: format!("{} windows have it", step.candidates.len()),
        kind: QuestionKind::PickOne,
        options: step.candidates.iter().take(CHOICES_MAX).map(option).collect(),
        unlisted: step.candidates.len().saturating_sub(CHOICES_MAX) as u64,
    };
    Needs { question, token: Default::default(), numbers: Vec::new() }
}

/// Asks for a missing argument. Returns the question and what its options stand for.
pub fn question(
    workspace: &Workspace,
    session: &SessionKey,
    param: &str,
    missing: &MissingArgument,
) -> (Needs, Vec<Argument>) {
    let mut arguments = Vec::new();
    let (text, kind, options) = match &missing.meant {
        Some(meant) => {
            let text = format!("{param} is {}: {meant}?", missing.ty);
            (text, QuestionKind::Confirm, Vec::new())
        }
        None => {
            let mut options = Vec::new();
            for (label, text, argument) in candidates(workspace, session, &missing.ty) {
                options.push(OptionItem { label, text });
                arguments.push(argument);
            }
            let kind = if options.is_empty() { QuestionKind::Text } else { QuestionKind::PickOne };
            (format!("needs {param}: {}", missing.ty), kind, options)
        }
    };
    let unlisted = options.len().saturating_sub(CHOICES_MAX) as u64;
    let options = options.into_iter().take(CHOICES_MAX).collect();
    let question = Question { text, kind, options, unlisted };
    (Needs { question, token: Default::default(), numbers: Vec::new() }, arguments)
}

/// The argument that an answer gives.
///
/// # Errors
/// The answer is of another type.
pub fn fill(
    missing: &MissingArgument,
    options: &[Argument],
    choice: &Choice,
) -> Result<Argument, Fault> {
    match (choice, &missing.meant) {
        (Choice::Yes, Some(meant)) => Ok(Argument::Fixed(Arg::from(meant.clone()))),
        (Choice::Picked(picked), _) => {
            let index = picked.first().map_or(0, |number| *number as usize).wrapping_sub(1);
            let found = options.get(index).cloned();
            found.ok_or_else(|| {
                Fault::usage(format!("expected a number from 1 to {}", options.len()))
                    .hint("pipemux answer 1")
            })
        }
        (Choice::Text(text), _) => typed(text, &missing.ty),
        _ => Err(Fault::usage(format!("expected {}", missing.ty))),
    }
}

/// A typed answer as an argument of a type.
fn typed(text: &str, ty: &Type) -> Result<Argument, Fault> {
    let wrong = || {
        Fault::usage(format!("expected {ty}, not `{text}`")).hint("pipemux answer cancel leaves it")
    };
    let value = match ty {
        Type::Int | Type::Float | Type::Bool => literal(text, ty).ok_or_else(wrong)?,
        Type::Line => text.trim().parse().map_or_else(|_| text.into(), Value::Int),
        Type::Union(options) if !options.iter().any(|option| option == text.trim()) => {
            return Err(wrong());
        }
        Type::Union(_) => text.trim().into(),
        Type::Anchor(_) => {
            let of = Ref::parse_loose(text, pipemux_proto::refs::RefKind::Obj);
            let of = of.map_err(|error| Fault::usage(error.to_string()))?;
            return Ok(Argument::Ref { of, ty: ty.clone() });
        }
        Type::List(item) => {
            let items = text.split(',').map(|part| typed(part.trim(), item));
            return items.collect::<Result<_, _>>().map(Argument::List);
        }
        Type::Optional(inner) => return typed(text, inner),
        Type::String | Type::Null | Type::Any => text.into(),
    };
    Ok(Argument::Fixed(Arg::from(value)))
}

/// The arguments of a type to choose from: the label, the rest of the option's line, and the argument.
fn candidates(
    workspace: &Workspace,
    session: &SessionKey,
    ty: &Type,
) -> Vec<(String, String, Argument)> {
    match ty {
        Type::Anchor(wanted) => workspace
            .anchors
            .shown_objects(session)
            .into_iter()
            .filter(|(_, anchor)| wanted.is_none() || anchor.ty.as_deref() == wanted.as_deref())
            .map(|(id, anchor)| {
                // The option stands for the object that is listed now, whatever its id means later.
                let key = match &anchor.target {
                    Target::Object { key } => key.to_string(),
                    Target::Action(_) | Target::Answer { .. } => String::new(),
                };
                let thing =
                    RefArg { key, rev: anchor.rev, ty: anchor.ty.as_deref().map(Into::into) };
                let argument = Argument::Fixed(Arg::Ref(thing));
                (anchor.label.to_string(), format!("obj:{id}"), argument)
            })
            .collect(),
        Type::List(item) if matches!(**item, Type::Anchor(_)) => {
            candidates(workspace, session, item)
                .into_iter()
                .map(|(label, text, one)| (label, text, Argument::List(vec![one])))
                .collect()
        }
        Type::Union(options) => options
            .iter()
            .map(|option| {
                let value = Arg::from(Value::from(option.as_str()));
                (option.clone(), String::new(), Argument::Fixed(value))
            })
            .collect(),
        Type::Bool => ["true", "false"]
            .map(|word| {
                let value = Arg::from(Value::Bool(word == "true"));
                (word.to_owned(), String::new(), Argument::Fixed(value))
            })
            .to_vec(),
        Type::Optional(inner) => candidates(workspace, session, inner),
        _ => Vec::new(),
    }
}
