//! Questions that the daemon itself asks before anything runs: for an argument that is missing or of another
//! type, and for the session that a step means.

use pipemux_proto::app::{Choice, QuestionKind};
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::prototype::Type;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::{Fault, Value, call};

use crate::foreign::{ForeignText, Needs, OptionItem, Question, quote};
use crate::keys::SessionKey;
use crate::runs::coerce::literal;
use crate::runs::plan::Planner;
use crate::runs::resolve_ref::{RefScope, UnresolvedRef};
use crate::runs::selection::make_distinct;
use crate::runs::{Argument, MissingArgument, Run, RunContext, Step};
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

/// Returns true for words that are typed in place of one of the options: refs, which have no number among them.
pub fn typed_words(ty: &Type, words: &str) -> bool {
    names_objects(ty)
        && words.split(',').all(|part| match part.trim().parse::<Ref>() {
            Ok(of) => of.kind == RefKind::Obj,
            Err(_) => part.contains("obj:"),
        })
}

/// Reads values that are typed as answers.
#[derive(Clone, Copy)]
pub struct TypedValues<'a> {
    /// Where refs lead.
    pub context: &'a RunContext<'a>,
    /// The reader, whose refs mean what it has seen last.
    pub reader: &'a str,
    /// What is asked for.
    pub missing: &'a MissingArgument,
}

impl TypedValues<'_> {
    /// Words as an argument.
    ///
    /// # Errors
    /// They are no value of the type, or a ref among them leads nowhere.
    pub fn of_words(self, words: &str) -> Result<Argument, Fault> {
        let typed = typed(words, &self.missing.ty).map_err(|fault| match self.missing.secret {
            // What is said of a secret doesn't repeat it.
            true => Fault::usage(format!("expected {}", self.missing.ty)),
            false => fault,
        });
        self.pin(typed?)
    }

    /// Words that name things by their refs or labels.
    ///
    /// # Errors
    /// They name nothing that a window of the session shows.
    pub fn of_things(self, words: &str, session: &SessionKey) -> Result<Argument, Fault> {
        if let Ok(argument) = self.of_words(words) {
            return Ok(argument);
        }
        let argument = call::Argument {
            name: None,
            value: call::Expr::Value(words.into()),
            span: call::Span { start: 0, end: words.len() },
        };
        let mut planner = Planner::new(self.context.workspace, self.context.sessions, words);
        planner.targets = vec![session.clone()];
        self.pin(planner.answer(&argument, self.missing)?)
    }

    /// A value in the call syntax as an argument.
    ///
    /// # Errors
    /// It is of another type, or a ref in it leads nowhere.
    pub fn of_call(self, argument: &call::Argument, code: &str) -> Result<Argument, Fault> {
        // A quoted text may be meant as a value of another type: the quotes are the shell's.
        let text = match &argument.value {
            call::Expr::Value(Value::Str(text)) => Some(text),
            _ => None,
        };
        if let (Some(text), Type::Int | Type::Float | Type::Bool) = (text, &self.missing.ty) {
            return self.of_words(text);
        }
        let planner = Planner::new(self.context.workspace, self.context.sessions, code);
        self.pin(planner.answer(argument, self.missing)?)
    }

    /// Makes refs mean what the reader has seen by now, which the run, being older, doesn't know.
    fn pin(self, argument: Argument) -> Result<Argument, Fault> {
        match argument {
            Argument::List(items) => {
                let pinned = items.into_iter().map(|item| self.pin(item));
                pinned.collect::<Result<_, _>>().map(Argument::List)
            }
            Argument::Record(entries) => {
                let pinned = entries.into_iter().map(|(name, part)| Ok((name, self.pin(part)?)));
                pinned.collect::<Result<_, _>>().map(Argument::Record)
            }
            Argument::Ref { mut of, ty } => {
                let scope = RefScope::of(self.context.workspace, self.reader, None);
                match scope.resolve(self.context, &of, &[]) {
                    Err(UnresolvedRef::Invalid(fault, _)) => return Err(*fault),
                    Ok(_) | Err(UnresolvedRef::NotShown { .. }) => {}
                }
                if let (None, Local::Id(id)) = (of.epoch, &of.local) {
                    of.epoch = scope.known.get(id).copied();
                }
                Ok(Argument::Ref { of, ty })
            }
            other => Ok(other),
        }
    }
}

/// A typed answer as an argument of a type.
fn typed(text: &str, ty: &Type) -> Result<Argument, Fault> {
    let wrong = || {
        Fault::usage(format!("expected {ty}, not `{text}`")).hint("leave it: pipemux answer cancel")
    };
    let value = match ty {
        Type::Int | Type::Float | Type::Bool => literal(text, ty).ok_or_else(wrong)?,
        Type::Line => return typed_line(text, ty).ok_or_else(wrong),
        Type::Union(options) if !options.iter().any(|option| option == text.trim()) => {
            let guess = call::nearest(text.trim(), options.iter().map(String::as_str));
            return Err(match guess {
                Some(guess) => {
                    let fault =
                        Fault::usage(format!("expected {ty}, not `{text}`: did you mean {guess}?"));
                    fault.hint("leave it: pipemux answer cancel")
                }
                None => wrong(),
            });
        }
        Type::Union(_) => text.trim().into(),
        Type::Anchor(_) => {
            let of = Ref::parse_loose(text, RefKind::Obj);
            let of = of.map_err(|error| Fault::usage(error.to_string()))?;
            return Ok(Argument::Ref { of, ty: ty.clone() });
        }
        Type::List(item) => {
            let items = text.split(',').map(|part| typed(part.trim(), item));
            return items.collect::<Result<_, _>>().map(Argument::List);
        }
        Type::Optional(inner) => return typed(text, inner),
        Type::Record(_) | Type::Map(_) => {
            let fault = Fault::usage(format!("expected {ty}, written {{name: value}}"));
            return Err(fault.hint("leave it: pipemux answer cancel"));
        }
        Type::String | Type::Null | Type::Any => text.into(),
    };
    Ok(Argument::Fixed(Arg::from(value)))
}

/// A typed line: a number, one of another document as `b.rs:20`, or a ref.
fn typed_line(text: &str, ty: &Type) -> Option<Argument> {
    let text = text.trim();
    if let Ok(of) = text.parse::<Ref>() {
        return (of.kind == RefKind::Obj).then(|| Argument::Ref { of, ty: ty.clone() });
    }
    let (document, number) = text.rsplit_once(':').map_or((None, text), |(d, n)| (Some(d), n));
    let number: i64 = number.trim().parse().ok().filter(|number| *number >= 0)?;
    let value = match document {
        Some(document) => (!document.is_empty()).then(|| text.into())?,
        None => Value::Int(number),
    };
    Some(Argument::Fixed(Arg::from(value)))
}

/// What stands for an answer of a type that has no choices.
pub fn placeholder(ty: &Type) -> &'static str {
    match ty {
        Type::Line => "<line>",
        Type::Int | Type::Float => "<number>",
        Type::Optional(inner) => placeholder(inner),
        _ => "<text>",
    }
}

/// The arguments of a type to choose from: the label, the rest of the option's line, and the argument.
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
                    // The option stands for the object that is listed now, whatever its id means later.
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
