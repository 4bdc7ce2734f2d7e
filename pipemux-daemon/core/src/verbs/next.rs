//! The remaining work that a verb's function leaves for its request.
//!
//! Each enum here is carried out by one exhaustive `match`: [`Next`] by `Core::follow`, [`Work`] by
//! `Core::carry_on` and [`RunWork`] by `Core::carry_on_run`.

use pipemux_proto::client::{Body, OpenArgs, ViewArgs};
use pipemux_proto::refs::Ref;
use pipemux_proto::{Fault, Value};

use crate::foreign::{ForeignText, Started};
use crate::keys::SessionKey;
use crate::pipeline::parsed_script::ParsedScript;
use crate::runs::origin::Origin;
use crate::runs::{Run, RunInput, RunOutput, Step};
use crate::verbs::tasks::{AfterOpen, AfterStart, RefLookup, Task, Wait};
use crate::views::requested_window::{AnswerKind, WantedWindow};

/// The next step of a request, as the function of its verb decides it.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing: the request waits, or has its answer.
    Nothing,
    /// Answer with data, which is written as text or as JSON.
    Data(String, Value),
    /// Answer with a body that has one form only.
    Body(Body),
    /// Answer with a body; what it tells counts as seen once the delivery of this number is
    /// confirmed.
    Deliver(Body, u64),
    /// Refuse with a body that says more than a fault does, and with its exit status.
    Refusal(u8, Body),
    /// Answer with a fault, and with what is kept under a number.
    Fail(Fault, Option<u64>),
    /// Keep the request waiting, with what it goes on with.
    Wait(Task),
    /// Do work on windows, sessions or links, and go on with what that leaves.
    Work(Work),
    /// Do work on a script or a run, and go on with what that leaves.
    Run(RunWork),
}

/// Work on windows, sessions and links that a request needs before it can be answered.
#[derive(Debug)]
pub(crate) enum Work {
    /// Open an app, and go on.
    Open(Box<OpenArgs>, AfterOpen),
    /// Add the window of the app that was opened, which told these notes.
    FinishOpen(Vec<ForeignText>),
    /// Request windows, and show them once they have arrived.
    Show(Vec<WantedWindow>, AnswerKind),
    /// Show the workspace or one of its windows.
    View(Box<ViewArgs>),
    /// Wait for something to happen, for at most `wait_ms`; nothing ends the wait in the first
    /// `pause_ms`.
    Await { wait: Box<Wait>, wait_ms: u64, pause_ms: u64 },
    /// Start sessions, and go on once each is ready or can't be.
    Start(Vec<SessionKey>, AfterStart),
    /// Undo a round of history; the newest one if none is named.
    Undo(Option<u64>, SessionStart),
    /// Look up refs and tokens.
    LookUp(RefLookup, SessionStart),
    /// Click a link.
    Click(Ref),
    /// Look for a link in its window as it is now.
    FindLink(Ref, SessionKey),
    /// Cancel the job of this number.
    CancelJob(u64),
    /// End a session, and close its windows in all workspaces.
    EndSession(SessionKey),
    /// End the daemon.
    StopDaemon,
}

/// Work on a script or a run.
#[derive(Debug)]
pub(crate) enum RunWork {
    /// Answer the question of this number.
    AnswerQuestion(u64, String),
    /// Bring a script to its run.
    Script(Box<ParsedScript>, SessionStart),
    /// Carry out steps that were checked.
    Steps(Vec<Step>, Origin),
    /// Begin a run, or go on with it.
    Begin(Box<Run>, RunInput),
    /// Resume the run of the request.
    Resume(RunInput),
    /// Carry out what the run of the request needs.
    Drive(RunOutput),
    /// Go on with the run of the request, whose step began a job of a session.
    StepStarted(SessionKey, Started),
    /// Show what a run did, which has ended or asks a question.
    End(Box<Run>),
}

/// Whether sessions that the work needs and that aren't known well enough are started first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionStart {
    Allowed,
    /// They were started already: what isn't known by now stays unknown.
    Done,
}

impl From<AfterStart> for Next {
    fn from(then: AfterStart) -> Self {
        match then {
            AfterStart::Script(script) => Self::Run(RunWork::Script(script, SessionStart::Done)),
            AfterStart::Undo(round) => Self::Work(Work::Undo(round, SessionStart::Done)),
            AfterStart::Resolve(lookup) => Self::Work(Work::LookUp(lookup, SessionStart::Done)),
        }
    }
}
