//! What happens to a course, what it wants done, and why it refuses something.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::Intent;
pub use crate::refusal::Refusal;
use crate::role::{Role, Speaker};

/// Something that happened, with its time and who did it. The journal has one a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in RFC 3339.
    pub ts: String,
    /// Who did it.
    pub by: By,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// How something came to be said.
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

/// Who did something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The reader who made the call; for a driver its name.
    pub reader: String,
    /// How it came to be said.
    #[serde(default)]
    pub driver: Driver,
    /// True for a person at a terminal or a page; false for an agent that relays.
    #[serde(default)]
    pub person: bool,
}

/// A plan or a draft that a brief comes with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// Where it was read.
    pub source: String,
    /// `plan`, `draft` or `note`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its version, as it says itself.
    pub version: String,
    /// Its points in short.
    pub key_points: Vec<String>,
    /// What was agreed in it.
    #[serde(default)]
    pub agreed_points: Vec<String>,
    /// The plan itself, all its sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Value>,
    /// The topic of this project that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
}

/// A stage to which the user may go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
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

/// The first rules by which only roles agree: see [`crate::signing`].
pub const SIGNED: u32 = 2;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(yes: &bool) -> bool {
    !yes
}

/// What happens to a course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The user gives a brief.
    Start {
        /// The topic's name, which its folder has.
        topic: String,
        /// What the user wants.
        brief: String,
        /// The plan or draft that comes with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prior: Option<Box<Prior>>,
        /// What the user said and did before, in short.
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
    /// The user says what an earlier plan is for.
    Intent {
        /// What it is for.
        intent: Intent,
        /// The user's own words.
        #[serde(default)]
        words: String,
    },
    /// The turn that is open is answered.
    Answered {
        /// The turn.
        turn: u64,
        /// The answer, by the turn's schema.
        answer: Value,
        /// Files and anchors that it cites and that don't exist.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// Whoever should answer the turn can't.
    Failed {
        /// The turn.
        turn: u64,
        /// Why it can't, for the record.
        reason: String,
    },
    /// The user has the turns tried again that failed.
    Retry,
    /// The user leaves a role out of this cycle.
    LeaveOut {
        /// The role.
        role: Role,
    },
    /// A reader takes a role, or the coach.
    Take {
        /// Who the reader is from then on.
        role: Speaker,
    },
    /// The user answers the question that is open in the meeting.
    Reply {
        /// The question's number, if the reply names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<u32>,
        /// The answer.
        text: String,
    },
    /// The user says something. In a meeting the role that asks answers it.
    Say {
        /// The user's words.
        text: String,
    },
    /// The user adds to the brief or changes it.
    Adjust {
        /// What is to be different.
        text: String,
    },
    /// The user accepts the artifact.
    Accept,
    /// The user discards the artifact.
    Discard,
    /// The user holds everything.
    Pause,
    /// The user lets it go on.
    Resume,
    /// The user goes back to a stage; it and those behind it run again.
    Back {
        /// The stage.
        stage: BackTo,
    },
    /// The user invites an expert.
    Invite {
        /// The reader who speaks as the expert.
        reader: String,
        /// True if there is no plan while the expert blocks it.
        veto: bool,
    },
    /// The expert speaks.
    ExpertSpoke {
        /// Agree, block or concern.
        ok: Option<bool>,
        /// What the expert says.
        text: String,
    },
    /// The artifact was changed by hand.
    Edited {
        /// The text as it is now.
        text: String,
    },
    /// The user makes an earlier version the present one.
    RollBack {
        /// The version.
        to: u32,
    },
    /// The artifact was handed over.
    HandedOver {
        /// The hand-over's number.
        number: u32,
        /// The SHA-256 of the artifact.
        hash: String,
        /// True if the user confirmed a draft's warning.
        confirmed: bool,
        /// The command; empty if it was printed.
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

/// What a course wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The turn is open: whoever plays its speaker is asked.
    Play(u64),
    /// Nobody waits for the turn any more.
    Cancel(u64),
    /// A line was added to the record of the meeting.
    Line(usize),
    /// A version was made; its artifact is the last of [`crate::Course::versions`].
    Version(u32),
}
