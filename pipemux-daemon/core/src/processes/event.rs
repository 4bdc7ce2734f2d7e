//! What sessions and their processes tell the rest of the core.

use std::collections::VecDeque;

use pipemux_proto::Fault;
use pipemux_proto::ids::Incarnation;

use crate::event::Exit;
use crate::foreign::{ForeignText, JobReport, Progress, Started};
use crate::keys::{RequestId, SessionKey};
use crate::processes::crash_history::Crash;
use crate::processes::reply::{AppReply, ReplyTo};

/// What happened and concerns others, oldest first.
pub type ProcessEvents = VecDeque<ProcessEvent>;

/// Something happened that others must know of.
#[derive(Debug)]
pub enum ProcessEvent {
    /// A request to an app ended.
    Replied {
        /// The session that it was sent to.
        session: SessionKey,
        /// Whom the reply is for.
        to: ReplyTo,
        /// How it ended.
        reply: AppReply,
    },
    /// A starting app took in, or refused, the `open` that a client waits for.
    Opened {
        /// The client's request.
        request: RequestId,
        /// What the app said, or why it refused.
        result: Result<Vec<ForeignText>, Fault>,
    },
    /// A process is about to start.
    Starting {
        /// The session that it is of.
        session: SessionKey,
        /// True if the author of its app works on it.
        dev: bool,
    },
    /// A process takes requests from now on.
    Ready(ReadyProcess),
    /// A process takes no more requests: it was asked or made to end.
    Draining {
        /// Its incarnation.
        app: Incarnation,
    },
    /// A session's state changed.
    Changed {
        /// Which session.
        session: SessionKey,
    },
    /// A session came, went or greeted: what it can do may be another thing now.
    ActionsChanged {
        /// Which session.
        session: SessionKey,
    },
    /// An app has something to say to everyone who has its window.
    Notice {
        /// Which session.
        session: SessionKey,
        /// The app's own text.
        text: ForeignText,
    },
    /// An app reports on a job.
    JobReported {
        /// Which session.
        session: SessionKey,
        /// What it says.
        report: JobReport,
    },
    /// An action that nobody waits for any more began a job.
    JobStarted {
        /// Which session.
        session: SessionKey,
        /// What the app said of it.
        started: Started,
    },
    /// A request of a client is in progress.
    Progress {
        /// Whom the reply will be for.
        to: ReplyTo,
        /// How far it is.
        progress: Progress,
    },
    /// A session was restarted since it shares its process with another one.
    RestartedWith {
        /// The session.
        session: SessionKey,
        /// Whose restart it was.
        neighbour: SessionKey,
    },
    /// Nobody used a session for as long as its manifest says: it may sleep if nobody needs it.
    IdleDue {
        /// Its incarnation.
        app: Incarnation,
    },
    /// An app saved its state, or didn't: it may sleep if nobody needs it.
    SaveReplied {
        /// The session.
        session: SessionKey,
        /// What it answered.
        reply: AppReply,
    },
    /// A session can't be granted what clients' requests wait for.
    NotWidened {
        /// The waiting requests.
        waiters: Vec<RequestId>,
        /// Why not, and what to do.
        fault: Fault,
    },
    /// A process ended. Comes before the replies to the requests that ended with it.
    Ended {
        /// The session that it was of.
        session: SessionKey,
        /// How that is to be told.
        end: ProcessEnd,
        /// How it ended; none if it never started.
        exit: Option<Exit>,
        /// The end in words: `notes/main died while it ran (killed by signal 9)`.
        words: String,
    },
    /// All requests of an ended process have their replies: what waited for its end goes on.
    Gone(EndedProcess),
}

/// How the end of a process is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// As it was asked to.
    Ended,
    /// As it was asked to, with its state saved: the session sleeps.
    Hibernated,
    /// Unasked; the next touch starts another.
    Crashed,
    /// Unasked, and the session stays down until somebody asks for it.
    Failed,
}

/// A process that has become ready.
#[derive(Debug)]
pub struct ReadyProcess {
    /// The session that it is of.
    pub session: SessionKey,
    /// Its incarnation.
    pub app: Incarnation,
    /// The incarnation that was put to sleep with the same state, when this one went on from there.
    pub woke_from: Option<Incarnation>,
    /// How the process before it was lost.
    pub crash: Option<Crash>,
    /// What the app said while it started.
    pub notes: Vec<ForeignText>,
    /// The jobs of the process before it that it goes on with, by the app's keys.
    pub jobs: Vec<String>,
    /// Requests of clients that waited for it.
    pub waiters: Vec<RequestId>,
}

/// A process that has ended.
#[derive(Debug)]
pub struct EndedProcess {
    /// The session that it was of.
    pub session: SessionKey,
    /// Its incarnation.
    pub app: Incarnation,
    /// True when it was asked to end.
    pub wanted: bool,
    /// True when it never took requests.
    pub could_not_start: bool,
    /// Its end in words.
    pub words: String,
    /// The last lines of its log, behind a heading.
    pub hints: Vec<String>,
    /// A client's request whose `open` was part of its start.
    pub opening: Option<RequestId>,
    /// Requests of clients that waited for it to become ready.
    pub waiters: Vec<RequestId>,
}

impl EndedProcess {
    /// The end as an error for those who needed the process.
    pub fn fault(&self) -> Fault {
        Fault { hints: self.hints.clone(), ..Fault::unavailable(self.words.clone()) }
    }
}
