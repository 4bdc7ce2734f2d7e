//! The state of a run's next step: what it waits for, and the results of its lookups.

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
    /// Idle: the step is about to be prepared, or the run has ended.
    #[default]
    Ready,
    /// Something is looked up before the step can be sent.
    LookingUp(Lookup),
    /// The step was refused as stale, and is prepared again once the window of `session` arrives.
    Rebasing { session: SessionKey, refusal: Box<Fault> },
    /// The step was sent to its app.
    Invoking(Rc<Invoke>),
}

/// Something that is looked up for a step.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The location of an object that isn't shown in its window.
    Location {
        /// The session that owns the object.
        session: SessionKey,
        /// The app's key of the object.
        key: String,
        /// The ref as the reader wrote it: `obj:23`.
        shown: String,
    },
    /// The objects that names stand for, after the run itself has changed their session.
    Window {
        /// The session that binds the names.
        session: SessionKey,
    },
    /// The value of an object, or its path.
    Value(ValueLookup),
}

/// The value of an object, or its path, on its way to the session that a step is sent to.
#[derive(Debug, Clone)]
pub struct ValueLookup {
    pub object: Box<ResolvedObject>,
    /// The ref or name as the reader wrote it.
    pub shown: String,
    /// True when its path is asked for.
    pub path: bool,
    /// The session that receives the value.
    pub receiver: SessionKey,
    /// The part of the value that has arrived so far.
    pub data: Vec<u8>,
    /// The file to which a value is written that is too long for a message.
    pub file: Option<ValueFile>,
}

/// A value that is being written to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueFile {
    /// The file's path; `None` until its first part has been written.
    pub path: Option<String>,
    /// The number of bytes that the file contains or that are being written to it.
    pub length: u64,
    /// The length of the value in bytes.
    pub total: u64,
}

/// The results of the lookups for a step.
#[derive(Debug, Clone, Default)]
pub(super) struct LookedUp {
    /// Objects that their windows don't show, and that were located.
    pub located: Vec<(SessionKey, String)>,
    /// Sessions whose windows were asked for after an earlier step of the run changed them.
    pub windows: Vec<SessionKey>,
    /// Values of objects, by session and key; the path instead of the value where the flag is true.
    pub copies: BTreeMap<(SessionKey, String, bool), Copied>,
}
