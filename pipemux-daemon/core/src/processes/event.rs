//! The events that sessions and their processes report to the rest of the core.

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
        session: SessionKey,
        /// Whom the reply is for.
        to: ReplyTo,
        reply: AppReply,
    },
    /// A starting app accepted or refused the `open` that a client waits for.
    Opened {
        request: RequestId,
        /// The app's messages, or the reason for the refusal.
        result: Result<Vec<ForeignText>, Fault>,
    },
    /// A process is about to start.
    Starting {
        session: SessionKey,
        /// True if the author of its app works on it.
        dev: bool,
    },
    /// A process accepts requests from now on.
    Ready(ReadyProcess),
    /// A process no longer accepts requests: it was asked or forced to end.
    Draining { app: Incarnation },
    /// A session's state changed.
    Changed { session: SessionKey },
    /// A session was added, removed or greeted, so that its actions may have changed.
    ActionsChanged { session: SessionKey },
    /// An app has a message for everyone who has its window.
    Notice {
        session: SessionKey,
        /// The app's message.
        text: ForeignText,
    },
    /// An app reports on a job.
    JobReported { session: SessionKey, report: JobReport },
    /// An action that nobody waits for any more started a job.
    JobStarted {
        session: SessionKey,
        /// The app's information about the job.
        started: Started,
    },
    /// A request of a client is in progress.
    Progress {
        /// Whom the reply will be for.
        to: ReplyTo,
        progress: Progress,
    },
    /// A session was restarted because it shares its process with another one.
    RestartedWith {
        /// The restarted session.
        session: SessionKey,
        /// The session that caused the restart.
        neighbour: SessionKey,
    },
    /// Nobody used a session for as long as its manifest says: it may sleep if nobody needs it.
    IdleDue { app: Incarnation },
    /// An app replied to a request to save: it may sleep if nobody needs it.
    SaveReplied { session: SessionKey, reply: AppReply },
    /// A session can't be granted the paths that clients' requests wait for.
    NotWidened {
        /// The waiting requests.
        waiters: Vec<RequestId>,
        /// The reason and the remedy.
        fault: Fault,
    },
    /// A process ended. Comes before the replies to the requests that ended with it.
    Ended {
        session: SessionKey,
        /// The way in which the end is to be reported.
        end: ProcessEnd,
        /// The exit of the process; `None` if it never started.
        exit: Option<Exit>,
        /// The description of the end: `notes/main died while it ran (killed by signal 9)`.
        words: String,
    },
    /// All requests of an ended process have replies; requests waiting for its end resume.
    Gone(EndedProcess),
}

/// The way in which the end of a process is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// The process ended as requested.
    Ended,
    /// The process ended as requested, with its state saved: the session sleeps.
    Hibernated,
    /// Unasked; the next touch starts another.
    Crashed,
    /// Unasked, and the session stays down until somebody asks for it.
    Failed,
}

#[derive(Debug)]
pub struct ReadyProcess {
    pub session: SessionKey,
    pub app: Incarnation,
    /// The incarnation that was put to sleep with the same state, when this one went on from there.
    pub woke_from: Option<Incarnation>,
    /// The loss of the previous process, if it was lost.
    pub crash: Option<Crash>,
    /// The app's messages during the start.
    pub notes: Vec<ForeignText>,
    /// The jobs of the previous process that this one continues, by the app's keys.
    pub jobs: Vec<String>,
    /// Requests of clients that waited for it.
    pub waiters: Vec<RequestId>,
}

#[derive(Debug)]
pub struct EndedProcess {
    pub session: SessionKey,
    pub app: Incarnation,
    /// True when it was asked to end.
    pub wanted: bool,
    /// True when it never took requests.
    pub could_not_start: bool,
    /// The description of the end.
    pub words: String,
    /// The last lines of the log, after a heading.
    pub hints: Vec<String>,
    /// The client's request whose `open` was part of the process's start.
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
