//! The targets of anchors, and how an anchor is shown.

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::call::Call;
use pipemux_proto::projection::Args;
use pipemux_proto::prototype::{Param, Prototype, Type};
use pipemux_proto::refs::RefKind;

use crate::foreign::ForeignStr;

/// The target of an anchor, which never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// An object of a session.
    Object {
        /// The app's key of the object.
        key: Rc<str>,
    },
    /// An action of a session with its bound arguments.
    Action(Rc<BoundAction>),
    /// An answer to a question.
    Answer {
        question: u64,
        /// The answer as it would be typed.
        answer: Rc<str>,
    },
    /// The cancellation of a job.
    CancelJob { job: u64 },
}

/// A process and the version of its state.
pub type StateVersion = (Incarnation, u64);

/// An action with its arguments. Two links that differ in an argument are two anchors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BoundAction {
    pub action: String,
    pub args: Args,
    /// The whole call, if names or nested calls are among its arguments.
    pub code: Option<String>,
    /// The state that the link belongs to, if its arguments don't identify its subject.
    pub state: Option<StateVersion>,
}

impl Target {
    /// Returns the state that a link belongs to, if it belongs to one.
    pub fn state(&self) -> Option<StateVersion> {
        match self {
            Target::Action(bound) => bound.state,
            Target::Object { .. } | Target::Answer { .. } | Target::CancelJob { .. } => None,
        }
    }

    /// Returns the same target as a link of another process, which has the same state.
    pub(super) fn handed_over(self, to: Incarnation) -> Self {
        match self {
            Target::Action(bound) => {
                let state = bound.state.map(|(_, version)| (to, version));
                Target::Action(Rc::new(BoundAction { state, ..(*bound).clone() }))
            }
            other => other,
        }
    }

    pub(super) fn kind(&self) -> RefKind {
        match self {
            Target::Object { .. } => RefKind::Obj,
            Target::Action(_) | Target::Answer { .. } | Target::CancelJob { .. } => RefKind::Link,
        }
    }
}

/// A borrowed [`Target`], which is copied only if it is new.
#[derive(Debug, Clone, Copy)]
pub enum AnchorQuery<'a> {
    /// An object, by the app's key.
    Object(&'a str),
    /// An action's name, its arguments, the code of a call that has others, and the state that the
    /// link belongs to.
    Action(&'a str, &'a Args, Option<&'a str>, Option<StateVersion>),
    /// A question's number and an answer.
    Answer(u64, &'a str),
    /// A job's number.
    CancelJob(u64),
}

impl AnchorQuery<'_> {
    /// Returns about how many bytes are looked at to find it.
    pub fn length(self) -> usize {
        match self {
            AnchorQuery::Object(key) => key.len(),
            AnchorQuery::Action(action, args, code, _) => {
                action.len() + args.len() + code.map_or(0, str::len)
            }
            AnchorQuery::Answer(_, answer) => answer.len(),
            AnchorQuery::CancelJob(_) => 1,
        }
    }

    /// Returns true when it asks for this target.
    pub(super) fn matches(self, target: &Target) -> bool {
        match (self, target) {
            (AnchorQuery::Object(asked), Target::Object { key }) => *asked == **key,
            (AnchorQuery::Action(action, args, code, state), Target::Action(bound)) => {
                let same = bound.action == action && bound.args == *args && bound.state == state;
                same && bound.code.as_deref() == code
            }
            (AnchorQuery::Answer(number, text), Target::Answer { question, answer }) => {
                number == *question && *text == **answer
            }
            (AnchorQuery::CancelJob(asked), Target::CancelJob { job }) => asked == *job,
            _ => false,
        }
    }

    pub(super) fn to_target(self) -> Target {
        match self {
            AnchorQuery::Object(key) => Target::Object { key: key.into() },
            AnchorQuery::Action(action, args, code, state) => {
                Target::Action(Rc::new(BoundAction {
                    action: action.to_owned(),
                    args: args.clone(),
                    code: code.map(Into::into),
                    state,
                }))
            }
            AnchorQuery::Answer(question, answer) => {
                Target::Answer { question, answer: answer.into() }
            }
            AnchorQuery::CancelJob(job) => Target::CancelJob { job },
        }
    }
}

/// Iterates over the parameters that a link leaves open: neither bound nor optional.
pub fn open_params<'a>(
    prototype: &'a Prototype,
    args: &'a Args,
) -> impl Iterator<Item = &'a Param> + 'a {
    prototype.params.iter().filter(|param| !is_optional(param) && !args.contains_key(&param.name))
}

/// Returns the parameters that a call leaves open.
pub fn open_params_of_call<'a>(prototype: &'a Prototype, call: &Call) -> Vec<&'a Param> {
    let named = |param: &Param| {
        let mut names = call.args.iter().filter_map(|argument| argument.name.as_ref());
        names.any(|(name, _)| *name == param.name)
    };
    let positional = call.args.iter().take_while(|argument| argument.name.is_none()).count();
    let params = prototype.params.iter().skip(positional);
    params.filter(|param| !is_optional(param) && !named(param)).collect()
}

fn is_optional(param: &Param) -> bool {
    param.default.is_some() || matches!(param.ty, Type::Optional(_))
}

/// The appearance of an anchor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Appearance<'a> {
    /// The revision of the anchor's meaning, as the app counts it.
    pub rev: u64,
    pub ty: Option<&'a str>,
    pub label: ForeignStr<'a>,
    /// Parameters that a link leaves open.
    pub open: &'a [String],
    /// True for a link that an answer offers beside the window, such as `undo`. It stays when the
    /// window changes.
    pub offered: bool,
    /// True for what a window of another session shows.
    pub embedded: bool,
    /// True for an object in the window's content, where a key may stand for one object only.
    pub listed: bool,
}

/// The outcome of minting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minted {
    pub id: u64,
    /// True when the anchor is new or its meaning changed.
    pub changed: bool,
    /// True when this render pass listed the key already with another meaning: nothing was minted.
    pub conflict: bool,
}
