//! What the next step of a run waits for, and what was looked up for it.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::Fault;
use pipemux_proto::app::Invoke;
use pipemux_proto::projection::Copied;

use crate::keys::SessionKey;
use crate::scripts::resolve_ref::ResolvedObject;

/// The state of the next step of a run.
#[derive(Debug, Clone, Default)]
pub(super) enum Phase {
    /// Nothing: it is about to be prepared, or the run has ended.
    #[default]
    Ready,
    /// Something is looked up before the step can be sent.
    LookingUp(Lookup),
    /// The step was refused as stale, and is prepared again once the window of `session` arrives.
    Rebasing { session: SessionKey, refusal: Box<Fault> },
    /// The step is with its app.
    Invoking(Rc<Invoke>),
}

/// Something that is looked up for a step.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// Where an object is that its window doesn't show.
    Location {
        /// The session that owns it.
        session: SessionKey,
        /// The app's key of it.
        key: String,
        /// The ref as the reader writes it: `obj:23`.
        shown: String,
    },
    /// What names stand for once the run itself has changed their session.
    Window {
        /// The session that binds them.
        session: SessionKey,
    },
    /// The value of an object, or its path.
    Value(ValueLookup),
}

/// The value of an object, or its path, on its way to the session that a step is sent to.
#[derive(Debug, Clone)]
pub struct ValueLookup {
    /// The object.
    pub object: Box<ResolvedObject>,
    /// The ref or name as the reader writes it.
    pub shown: String,
    /// True when its path is asked for.
    pub path: bool,
    /// The session that it goes to.
    pub receiver: SessionKey,
    /// The part of the value that has come so far.
    pub data: Vec<u8>,
    /// The file that the value is written to, when it is too long for a message.
    pub file: Option<ValueFile>,
}

/// A value on its way into a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueFile {
    /// The file's path; none before its first part was written.
    pub path: Option<String>,
    /// How many bytes are in it, or are being written.
    pub length: u64,
    /// How many bytes the value has.
    pub total: u64,
}

/// What was looked up for a step.
#[derive(Debug, Clone, Default)]
pub(super) struct LookedUp {
    /// Objects that their windows don't show, and that were located.
    pub located: Vec<(SessionKey, String)>,
    /// Sessions whose windows were asked for after an earlier step of the run changed them.
    pub windows: Vec<SessionKey>,
    /// Values of objects, by session and key; the path instead of the value where the flag is true.
    pub copies: BTreeMap<(SessionKey, String, bool), Copied>,
}
