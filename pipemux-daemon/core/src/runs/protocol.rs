//! The inputs and outputs of a run.

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

/// An event of a run.
#[derive(Debug)]
pub enum RunInput {
    /// The run begins, resumes after an argument was filled in, or is sent again.
    Begin,
    /// The reader answered the question that the app asked about this request.
    Answered {
        /// True when the question was a yes or a no.
        confirms: bool,
        invoke: Box<Invoke>,
        token: Blob,
        choice: Choice,
    },
    /// The reader declined to answer.
    Declined,
    /// The app replied to the step, or can't reply any more.
    Replied(StepReply),
    /// A lookup for the next step was completed or failed.
    LookedUp(LookupReply),
}

/// The reply to a lookup for a step.
#[derive(Debug)]
pub enum LookupReply {
    /// The app's reply to the question where an object is.
    Location(AppReply),
    /// The app's reply with a part of an object's value.
    Value(AppReply),
    /// The path of the file to which a part of a long value was written, or an error.
    Stored(Result<String, String>),
    /// The requested window, or the reason why it didn't arrive.
    Window(Result<ArrivedWindow, Fault>),
}

/// A window that a run requested and that its workspace now holds.
#[derive(Debug)]
pub struct ArrivedWindow {
    /// The process that sent the window.
    pub app: Incarnation,
    /// The version of the state that the window shows.
    pub version: u64,
    /// The ids that the window shows, if it is for a step that is rebased.
    pub ids: Vec<u64>,
    /// The workspace's epoch since the window was written.
    pub epoch: u64,
}

/// The result of a request to carry out a step.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of them are outcomes, and each is moved once"
)]
pub enum StepReply {
    /// The app replied with an outcome.
    Outcome(Outcome),
    /// The step started a job.
    Started(Box<StartedStep>),
    /// The reply can't be decoded, for this reason.
    Unreadable(String),
    /// Without a reply.
    Lost {
        /// True when the app may have acted on it.
        delivered: bool,
        /// True when the app's process ended with it.
        died: bool,
        /// The reason why there is no reply.
        why: String,
        /// The last lines of the app's output, if it couldn't start.
        hints: Vec<String>,
    },
}

/// A step that started a job.
#[derive(Debug)]
pub struct StartedStep {
    /// The app's reply about the job.
    pub started: Started,
    /// The current state of the job; `None` if the job isn't followed.
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
        locate: Locate,
    },
    /// Ask for a part of an object's value.
    Read {
        /// The session that owns the object.
        session: SessionKey,
        read: ReadRequest,
    },
    /// Write a part of a long value into a file of the session that it goes to.
    Store {
        /// The session to which the value is sent.
        session: SessionKey,
        /// The file's path; `None` for the first part, which creates the file.
        path: Option<String>,
        /// The number of bytes that the file already contains.
        offset: u64,
        /// The part of the value.
        data: Bytes,
    },
    /// Ask for a session's window as it is now.
    Refresh {
        session: SessionKey,
        /// The requested window and its extent.
        key: ProjectionKey,
        project: Project,
    },
}

/// The next thing that a run needs.
#[derive(Debug)]
pub enum RunOutput {
    /// Send a step to its app.
    Invoke {
        /// The session that carries out the step.
        session: SessionKey,
        invoke: Rc<Invoke>,
        /// True when the session's window can be asked for right behind it: the step is the last
        /// one.
        prefetch: bool,
    },
    /// Look something up for the next step.
    LookUp(LookupRequest),
    /// Ask the reader, and end the request with the question.
    Ask { needs: Needs, asker: Asker },
    /// Ask the reader once more, since the answer was wrong, and end the request with the question.
    AskAgain {
        question: Box<AnsweredQuestion>,
        /// The error in the answer.
        fault: Box<Fault>,
    },
    /// Nothing: the run has ended.
    Finished,
}
