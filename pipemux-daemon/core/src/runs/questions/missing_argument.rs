//! Questions that the daemon itself asks before anything runs: for an argument that is missing or
//! of another type, and for the session that a step means.

use pipemux_proto::app::{Choice, QuestionKind};
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::{Fault, Value};

use crate::foreign::{ForeignText, Needs, OptionItem, Question, quote};
use crate::keys::SessionKey;
use crate::runs::questions::selection::make_distinct;
use crate::scripts::step::{Argument, MissingArgument, Step};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::Target;

/// Asks which session a step means.
pub fn target_question(step: &Step) -> Needs {
    let option = |key: &SessionKey| OptionItem {
        label: key.to_string().into(),
        text: ForeignText::default(),
    };
    let question = Question {
        text: format!("{} windows have it", step.candidates.len()).into(),
        kind: QuestionKind::PickOne,
        options: step.candidates.iter().take(CHOICES_MAX).map(option).collect(),
        unlisted: step.candidates.len().saturating_sub(CHOICES_MAX) as u64,
        ..Question::default()
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
            make_distinct(&mut options);
            let kind = match (options.is_empty(), is_list(&missing.ty)) {
                (true, _) => QuestionKind::Text,
                (false, true) => QuestionKind::PickMany,
                (false, false) => QuestionKind::PickOne,
            };
            (format!("needs {param}: {}", missing.ty), kind, options)
        }
    };
    let secret = missing.secret && kind == QuestionKind::Text;
    let unlisted = options.len().saturating_sub(CHOICES_MAX) as u64;
    let options = options.into_iter().take(CHOICES_MAX).collect();
    let text = text.into();
    let question = Question { text, kind, options, unlisted, secret, ..Question::default() };
    (Needs { question, token: Default::default(), numbers: Vec::new() }, arguments)
}

/// Returns true when an argument of a type can only be one of the things that a window shows.
pub fn names_objects(ty: &Type) -> bool {
    match ty {
        Type::Anchor(_) => true,
        Type::List(item) | Type::Optional(item) => names_objects(item),
        _ => false,
    }
}

fn is_list(ty: &Type) -> bool {
    match ty {
        Type::List(_) => true,
        Type::Optional(inner) => is_list(inner),
        _ => false,
    }
}

/// The argument that a choice gives.
///
/// # Errors
/// The answer is of another type, or chooses nothing.
pub fn fill(
    missing: &MissingArgument,
    options: &[Argument],
    choice: &Choice,
) -> Result<Argument, Fault> {
    let index = |number: &u32| (*number as usize).wrapping_sub(1);
    let chosen: Vec<&Argument> = match (choice, &missing.meant) {
        (Choice::Yes, Some(meant)) => return Ok(Argument::Fixed(Arg::from(meant.clone()))),
        (Choice::Picked(picked), _) => {
            picked.iter().filter_map(|number| options.get(index(number))).collect()
        }
        (Choice::AllBut(but), _) => {
            let but: Vec<usize> = but.iter().map(index).collect();
            let left = options.iter().enumerate().filter(|(index, _)| !but.contains(index));
            left.map(|(_, option)| option).collect()
        }
        (Choice::Text(_) | Choice::Yes | Choice::Fields(_), _) => Vec::new(),
    };
    match chosen.as_slice() {
        [] => {
            let message = format!("nothing is chosen: expected {}", missing.ty);
            Err(Fault::usage(message).hint("pipemux answer 1"))
        }
        [one] => Ok((*one).clone()),
        several => {
            // Each option of a list is a list of one.
            let items = several.iter().flat_map(|option| match option {
                Argument::List(items) => items.clone(),
                single => vec![(*single).clone()],
            });
            Ok(Argument::List(items.collect()))
        }
    }
}

/// The arguments of a type to choose from: the label, the rest of the option's line, and the
/// argument.
fn candidates(
    workspace: &Workspace,
    session: &SessionKey,
    ty: &Type,
) -> Vec<(ForeignText, ForeignText, Argument)> {
    match ty {
        Type::Anchor(wanted) => {
            let held = workspace.window(session).and_then(|window| window.projection.as_ref());
            let details = held.map(|held| held.projection.object_details()).unwrap_or_default();
            workspace
                .anchors
                .shown_objects(session)
                .into_iter()
                .filter(|(_, anchor)| wanted.is_none() || anchor.ty.as_deref() == wanted.as_deref())
                .map(|(id, anchor)| {
                    // The option stands for the object that is listed now, whatever its id means
                    // later.
                    let key = match &anchor.target {
                        Target::Object { key } => key.to_string(),
                        Target::Action(_) | Target::Answer { .. } | Target::CancelJob { .. } => {
                            String::new()
                        }
                    };
                    let shown = anchor.written(id);
                    let text = match details.get(&key) {
                        Some(detail) => format!("{} · {shown}", quote::in_sentence(detail)),
                        None => shown.to_string(),
                    };
                    let thing =
                        RefArg { key, rev: anchor.rev, ty: anchor.ty.as_deref().map(Into::into) };
                    (
                        anchor.label.borrow().to_owned(),
                        text.into(),
                        Argument::Fixed(Arg::Ref(thing)),
                    )
                })
                .collect()
        }
        Type::List(item) if matches!(**item, Type::Anchor(_) | Type::Union(_)) => {
            candidates(workspace, session, item)
                .into_iter()
                .map(|(label, text, one)| (label, text, Argument::List(vec![one])))
                .collect()
        }
        Type::Union(options) => options
            .iter()
            .map(|option| {
                let value = Arg::from(Value::from(option.as_str()));
                (option.as_str().into(), ForeignText::default(), Argument::Fixed(value))
            })
            .collect(),
        Type::Bool => ["true", "false"]
            .map(|word| {
                let value = Arg::from(Value::Bool(word == "true"));
                (word.into(), ForeignText::default(), Argument::Fixed(value))
            })
            .to_vec(),
        Type::Optional(inner) => candidates(workspace, session, inner),
        _ => Vec::new(),
    }
}
