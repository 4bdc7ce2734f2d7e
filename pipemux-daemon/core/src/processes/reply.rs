//! The purpose of a request to an app, and its result.

use bytes::Bytes;
use pipemux_proto::Fault;

use crate::keys::{ProjectionKey, RequestId, SessionKey};

/// Whom the reply to a request is for: what a client's request needs of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTo {
    /// The reply to an `Open` of a running session.
    Attach(RequestId),
    /// The content of a window.
    Project(RequestId),
    /// The content of a window that may not be shown.
    Prefetch(RequestId),
    /// The content of a window that another one embeds.
    Embed(RequestId, ProjectionKey),
    /// The content of a window, after which a stale step can be sent again.
    Refresh(RequestId, ProjectionKey),
    /// The content of a window, to learn whether it has changed, since a client waits for that.
    WaitCheck(RequestId, ProjectionKey),
    /// The outcome of a step of a run.
    Invoke(RequestId),
    /// The location of an object.
    Locate(RequestId),
    /// The objects that refs and tokens in a text stand for.
    Resolve(RequestId),
    /// The value of an object.
    Read(RequestId),
    /// The confirmation that an app received the cancellation of a job.
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

/// The purpose of a request to an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An `Open` of the start: the index among the session's opens.
    StartOpen(usize),
    /// A check whether the app still responds.
    Ping,
    /// A request to save the state before the app sleeps.
    Save,
    /// A request to end; nobody waits for the reply.
    Close,
    /// A request that serves a client's one.
    Client(ReplyTo),
}

/// The result of a request to an app.
#[derive(Debug)]
pub enum AppReply {
    /// The app replied with this body.
    Reply(Bytes),
    /// Refused by the app.
    Fault(Fault),
    /// Without an answer.
    Lost {
        /// True when the app may have acted on it.
        delivered: bool,
        /// True when its process ended with it.
        died: bool,
        why: String,
        /// The app's last messages, if it could not start.
        hints: Vec<String>,
    },
}

impl AppReply {
    /// The result of a request that was not delivered to an app.
    pub fn undelivered(why: String) -> Self {
        Self::Lost { delivered: false, died: false, why, hints: Vec::new() }
    }

    /// The result of a request whose deadline passed while an app had it.
    pub fn timed_out(session: &SessionKey) -> Self {
        let why = format!("{session} did not answer in time");
        Self::Lost { delivered: true, died: false, why, hints: Vec::new() }
    }
}
