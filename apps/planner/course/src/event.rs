//! The events, effects and refusals of a course.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::Intent;
pub use crate::refusal::Refusal;
use crate::role::{Role, Speaker};

/// Something that happened, with its time and who did it. The journal has one a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The time, in RFC 3339.
    pub ts: String,
    /// The originator of the event.
    pub by: By,
    #[serde(flatten)]
    pub event: Event,
}

/// The origin of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Whoever reads the window said it.
    #[default]
    Agent,
    /// A program answered.
    Command,
    /// A chat endpoint answered.
    Http,
}

/// The originator of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The reader who made the call, or the name of the driver.
    pub reader: String,
    /// The origin of the statement.
    #[serde(default)]
    pub driver: Driver,
    /// True for a person at a terminal or a page; false for an agent that relays.
    #[serde(default)]
    pub person: bool,
}

/// A plan or draft that accompanies a brief.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// The source that the plan or draft was read from.
    pub source: String,
    /// `plan`, `draft` or `note`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    /// The version, as stated in the plan or draft.
    pub version: String,
    /// A summary of each point.
    pub key_points: Vec<String>,
    #[serde(default)]
    pub agreed_points: Vec<String>,
    /// The plan itself, with all its sections; `None` for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Value>,
    /// The topic of this project that the plan or draft belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
}

/// A stage to which the user may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackTo {
    Round1,
    Round2,
    Meeting,
    Extraction,
    Round3,
}

/// The newest rules. Those of 0 take only the questions of a role's newest verdict to the meeting.
/// Those before [`SIGNED`] give the coach's synthesis a veto, ask one role at a time, and overwrite
/// a version that was edited by hand.
pub const RULES: u32 = 2;

/// The first version of the rules with agreement by roles only: see [`crate::signing`].
pub const SIGNED: u32 = 2;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(yes: &bool) -> bool {
    !yes
}

/// An event in a course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The user gives a brief.
    Start {
        /// The name of the topic and of its folder.
        topic: String,
        /// The user's request.
        brief: String,
        /// The plan or draft that accompanies the brief.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prior: Option<Box<Prior>>,
        /// A summary of the user's previous statements and actions.
        #[serde(default)]
        history: Vec<String>,
        /// The rules that the course follows, so that a journal gives the same course again though
        /// rules have changed since: [`RULES`] for a new one.
        #[serde(default, skip_serializing_if = "is_zero")]
        rules: u32,
        /// True if the roles of round 2 are asked at the same time, too.
        #[serde(default, skip_serializing_if = "is_false")]
        parallel: bool,
    },
    /// The user states the purpose of an earlier plan.
    Intent {
        intent: Intent,
        /// The user's own words.
        #[serde(default)]
        words: String,
    },
    /// The open turn is answered.
    Answered {
        turn: u64,
        /// The answer, matching the turn's schema.
        answer: Value,
        /// Files and anchors that it cites and that don't exist.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// Whoever should answer the turn can't.
    Failed {
        turn: u64,
        /// The reason for the failure, for the record.
        reason: String,
    },
    /// The user requests a retry of the failed turns.
    Retry,
    /// The user excludes a role from this cycle.
    LeaveOut { role: Role },
    /// A reader takes a role or the coach's part.
    Take {
        /// The speaker that the reader represents from then on.
        role: Speaker,
    },
    /// The user answers the open question in the meeting.
    Reply {
        /// The question's number; `None` if the reply doesn't give it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<u32>,
        text: String,
    },
    /// The user makes a remark. In a meeting, the asking role answers it.
    Say { text: String },
    /// The user adds to the brief or changes the brief.
    Adjust {
        /// The user's change, in words.
        text: String,
    },
    /// The user accepts the artifact.
    Accept,
    /// The user rejects the artifact.
    Discard,
    /// The user pauses the course.
    Pause,
    /// The user resumes the course.
    Resume,
    /// The user returns to a stage; it and the later stages run again.
    Back { stage: BackTo },
    /// The user invites an expert.
    Invite {
        /// The reader who speaks as the expert.
        reader: String,
        /// True if there is no plan while the expert blocks it.
        veto: bool,
    },
    ExpertSpoke {
        /// Agree, block or concern.
        ok: Option<bool>,
        text: String,
    },
    /// The artifact was changed by hand.
    Edited {
        /// The new text of the artifact's file.
        text: String,
    },
    /// The user restores an earlier version.
    RollBack { to: u32 },
    /// The artifact was handed over.
    HandedOver {
        number: u32,
        /// The SHA-256 of the artifact.
        hash: String,
        /// True if the user confirmed a draft's warning.
        confirmed: bool,
        /// The command that received the artifact; empty if the artifact was printed.
        command: String,
    },
}

impl Event {
    /// Returns true if it decides on what there is: it is taken though the record is full.
    pub(crate) fn decides(&self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Discard
                | Self::Edited { .. }
                | Self::RollBack { .. }
                | Self::HandedOver { .. }
        )
    }
}

/// An effect that a course requests from its environment.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The turn is open: its speaker must be asked.
    Play(u64),
    /// Nobody waits for the turn any more.
    Cancel(u64),
    /// A line was added to the record of the meeting.
    Line(usize),
    /// A version was created; its artifact is the last of [`crate::Course::versions`].
    Version(u32),
}
