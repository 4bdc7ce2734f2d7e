//! What an anchor stands for, and how it is shown.

use std::rc::Rc;

use pipemux_proto::projection::Args;
use pipemux_proto::refs::RefKind;

/// What an anchor stands for, for ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A thing of a session.
    Object {
        /// The app's own name of it.
        key: Rc<str>,
    },
    /// An action of a session with its bound arguments.
    Action(Rc<Bound>),
    /// An answer to a question.
    Answer {
        /// The question.
        question: u64,
        /// What is answered, as it would be typed.
        answer: Rc<str>,
    },
}

/// An action with its arguments: another argument is another link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The action.
    pub action: String,
    /// The arguments.
    pub args: Args,
}

impl Target {
    pub(super) fn kind(&self) -> RefKind {
        match self {
            Target::Object { .. } => RefKind::Obj,
            Target::Action(_) | Target::Answer { .. } => RefKind::Link,
        }
    }
}

/// A [`Target`] that is looked for: nothing is copied unless it is new.
#[derive(Debug, Clone, Copy)]
pub enum AnchorQuery<'a> {
    /// A thing, by the app's own name of it.
    Object(&'a str),
    /// An action and its arguments.
    Action(&'a str, &'a Args),
    /// A question and an answer.
    Answer(u64, &'a str),
}

impl AnchorQuery<'_> {
    pub(super) fn is(self, target: &Target) -> bool {
        match (self, target) {
            (AnchorQuery::Object(wanted), Target::Object { key }) => *wanted == **key,
            (AnchorQuery::Action(action, args), Target::Action(bound)) => {
                bound.action == action && bound.args == *args
            }
            (AnchorQuery::Answer(of, wanted), Target::Answer { question, answer }) => {
                of == *question && *wanted == **answer
            }
            _ => false,
        }
    }

    pub(super) fn to_target(self) -> Target {
        match self {
            AnchorQuery::Object(key) => Target::Object { key: key.into() },
            AnchorQuery::Action(action, args) => {
                Target::Action(Rc::new(Bound { action: action.to_owned(), args: args.clone() }))
            }
            AnchorQuery::Answer(question, answer) => {
                Target::Answer { question, answer: answer.into() }
            }
        }
    }
}

/// How a thing is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Appearance<'a> {
    /// Its meaning, as the app counts it.
    pub rev: u64,
    /// Its type.
    pub ty: Option<&'a str>,
    /// What is shown for it.
    pub label: &'a str,
    /// Parameters that a link leaves open.
    pub open: &'a [String],
    /// True for what an answer offers beside the window: `undo`. It stays when the window changes.
    pub offered: bool,
    /// True for a thing of the window's content: its key stands for one thing in one painting.
    pub listed: bool,
}

/// What came of minting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minted {
    /// The id.
    pub id: u64,
    /// True when it is new or its meaning changed.
    pub changed: bool,
    /// True when this painting listed the key already, as something else: nothing was minted.
    pub conflict: bool,
}
