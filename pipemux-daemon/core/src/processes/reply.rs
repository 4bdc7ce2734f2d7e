//! What a request to an app is for, and how it ended.

use bytes::Bytes;
use pipemux_proto::Fault;

use crate::keys::{ProjectionKey, RequestId, SessionKey};

/// Whom the reply to a request is for: what a client's request needs of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTo {
    /// An `Open` of a running session.
    Attach(RequestId),
    /// A window's content.
    Project(RequestId),
    /// A window's content, before it is known that it will be shown.
    Prefetch(RequestId),
    /// The content of a window that another one shows.
    Embed(RequestId, ProjectionKey),
    /// A window's content, so that a stale step can be sent again.
    Refresh(RequestId, ProjectionKey),
    /// A window's content, to learn whether it has changed: a client waits for that.
    WaitCheck(RequestId, ProjectionKey),
    /// A step of a run.
    Invoke(RequestId),
    /// Where a thing is.
    Locate(RequestId),
    /// What refs and tokens of a text are.
    Resolve(RequestId),
    /// A thing's value.
    Read(RequestId),
    /// That an app takes note of the cancellation of a job.
    CancelJob(RequestId),
}

impl ReplyTo {
    /// Returns the client's request.
    pub fn request(&self) -> RequestId {
        match self {
            Self::Attach(id)
            | Self::Project(id)
            | Self::Prefetch(id)
            | Self::Embed(id, _)
            | Self::Refresh(id, _)
            | Self::WaitCheck(id, _)
            | Self::Invoke(id)
            | Self::Locate(id)
            | Self::Resolve(id)
            | Self::Read(id)
            | Self::CancelJob(id) => *id,
        }
    }
}

/// What a request to an app is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An `Open` of the start: the index among the session's opens.
    StartOpen(usize),
    /// Whether the app is still there.
    Ping,
    /// Its state, written down before it sleeps.
    Save,
    /// Its end; nobody waits for the reply.
    Close,
    /// What a client's request needs.
    Client(ReplyTo),
}

/// How a request to an app ended.
#[derive(Debug)]
pub enum AppReply {
    /// With this body.
    Reply(Bytes),
    /// Refused by the app.
    Fault(Fault),
    /// Without an answer.
    Lost {
        /// True when the app may have acted on it.
        delivered: bool,
        /// True when its process ended with it.
        died: bool,
        /// What happened.
        why: String,
        /// The app's last words, when it could not start.
        hints: Vec<String>,
    },
}

impl AppReply {
    /// The end of a request that no app has seen.
    pub fn undelivered(why: String) -> Self {
        Self::Lost { delivered: false, died: false, why, hints: Vec::new() }
    }

    /// The end of a request whose deadline passed while an app had it.
    pub fn timed_out(session: &SessionKey) -> Self {
        let why = format!("{session} did not answer in time");
        Self::Lost { delivered: true, died: false, why, hints: Vec::new() }
    }
}
