//! What a run is told, and what it needs next.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::app::{Choice, Invoke, Locate, Project, ReadRequest};
use pipemux_proto::{Blob, Fault, Incarnation};

use crate::foreign::Speaker;
use crate::foreign::{Needs, Outcome, Started};
use crate::intake;
use crate::keys::{ProjectionKey, SessionKey};
use crate::processes::reply::AppReply;
use crate::runs::questions::asker::{AnsweredQuestion, Asker};
use crate::runs::step_job::StepJob;

/// What happened to a run.
#[derive(Debug)]
pub enum RunInput {
    /// It begins, goes on after an argument was filled in, or is sent again.
    Begin,
    /// Its reader answered the question that the app asked about this request.
    Answered {
        /// True when the question was a yes or a no.
        confirms: bool,
        /// The request.
        invoke: Box<Invoke>,
        /// The app's token of the question.
        token: Blob,
        /// The answer.
        choice: Choice,
    },
    /// Its reader declined to answer.
    Declined,
    /// The app replied to the step, or can't any more.
    Replied(StepReply),
    /// What was looked up for its next step has come, or can't.
    LookedUp(LookupReply),
}

/// The reply to something that was looked up for a step.
#[derive(Debug)]
pub enum LookupReply {
    /// The app replied where an object is.
    Location(AppReply),
    /// The app replied with a part of an object's value.
    Value(AppReply),
    /// A part of a long value was written to this file, or couldn't be.
    Stored(Result<String, String>),
    /// The window that was asked for arrived, or didn't.
    Window(Result<ArrivedWindow, Fault>),
}

/// A window that a run asked for and that its workspace holds now.
#[derive(Debug)]
pub struct ArrivedWindow {
    /// The process that sent it.
    pub app: Incarnation,
    /// The version that it shows.
    pub version: u64,
    /// The ids that it shows, when it is for a step that is rebased.
    pub ids: Vec<u64>,
    /// The workspace's epoch since it was written.
    pub epoch: u64,
}

/// How a request to carry out a step ended.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of them are outcomes, and each is moved once"
)]
pub enum StepReply {
    /// With an outcome.
    Outcome(Outcome),
    /// With a job that began.
    Started(Box<StartedStep>),
    /// With a reply that can't be decoded, and why.
    Unreadable(String),
    /// Without a reply.
    Lost {
        /// True when the app may have acted on it.
        delivered: bool,
        /// True when the app's process ended with it.
        died: bool,
        /// What happened.
        why: String,
        /// The app's last lines, when it could not start.
        hints: Vec<String>,
    },
}

/// A step that began a job.
#[derive(Debug)]
pub struct StartedStep {
    /// What the app said of it.
    pub started: Started,
    /// The job as it is now; none if it isn't followed.
    pub job: Option<StepJob>,
}

impl StepReply {
    /// Decodes an app's reply to `Invoke`.
    pub fn read(reply: AppReply, by: Speaker<'_>) -> Self {
        match reply {
            AppReply::Reply(body) => match intake::read_said::<Outcome>(&body, by) {
                Ok(outcome) => Self::Outcome(outcome),
                Err(error) => Self::Unreadable(error),
            },
            AppReply::Fault(fault) => Self::Outcome(Outcome::Failed(fault)),
            AppReply::Lost { delivered, died, why, hints } => {
                Self::Lost { delivered, died, why, hints }
            }
        }
    }
}

/// What a run has looked up for its next step.
#[derive(Debug)]
pub enum LookupRequest {
    /// Ask where an object is that its window doesn't show. An answer is worth waiting for only
    /// briefly.
    Locate {
        /// The session that owns the object.
        session: SessionKey,
        /// The request.
        locate: Locate,
    },
    /// Ask for a part of an object's value.
    Read {
        /// The session that owns the object.
        session: SessionKey,
        /// The request.
        read: ReadRequest,
    },
    /// Write a part of a long value into a file of the session that it goes to.
    Store {
        /// The session.
        session: SessionKey,
        /// The file; none for the first part, which makes it.
        path: Option<String>,
        /// How many bytes are in it.
        offset: u64,
        /// The part.
        data: Bytes,
    },
    /// Ask for a session's window as it is now.
    Refresh {
        /// The session.
        session: SessionKey,
        /// Which window is asked for, and how much of it.
        key: ProjectionKey,
        /// The request.
        project: Project,
    },
}

/// What a run needs next.
#[derive(Debug)]
pub enum RunOutput {
    /// Send a step to its app.
    Invoke {
        /// The session that carries it out.
        session: SessionKey,
        /// The request.
        invoke: Rc<Invoke>,
        /// True when the session's window can be asked for right behind it: the step is the last
        /// one.
        prefetch: bool,
    },
    /// Look something up for the next step.
    LookUp(LookupRequest),
    /// Ask the reader, and end the request with the question.
    Ask {
        /// The question.
        needs: Needs,
        /// Who asks it.
        asker: Asker,
    },
    /// Ask the reader once more, since the answer was wrong, and end the request with the question.
    AskAgain {
        /// The question.
        question: Box<AnsweredQuestion>,
        /// What was wrong with the answer.
        fault: Box<Fault>,
    },
    /// Nothing: the run has ended.
    Finished,
}
