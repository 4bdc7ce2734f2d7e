//! The records on disk, by which ids and epochs never go back and windows come back.
//!
//! These types are apart from those of the wire, since what an older release wrote must be readable
//! for ever. A field may be added with a default; the meaning of a field never changes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

pub use crate::persist::saved_anchor::{KeyForm, SavedAnchor, SavedTarget};
pub use crate::persist::saved_job::{SavedJob, SavedJobEnd};
pub use crate::persist::saved_options::{SavedOptions, SavedPanels, SavedPlacement};
pub use crate::persist::saved_round::{SavedRound, SavedUndo};

/// A record in the log. Of several records about the same object, the newest counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// Numbers below these may have been used.
    Reserved {
        /// Incarnations and windows.
        numbers_below: u64,
    },
    /// A workspace, and the bounds of its possibly used numbers.
    Workspace {
        /// The workspace's key.
        key: String,
        /// The displayed name of the workspace.
        name: String,
        /// The lowest display id from which on none is in use.
        ids_below: u64,
        /// The lowest epoch from which on none is in use.
        epochs_below: u64,
    },
    /// A part of the saved state was lost. A workspace that isn't named may have used numbers below
    /// these.
    Floor {
        /// Ids and epochs.
        numbers_below: u64,
    },
    /// A session was opened; holds all of its opens so far.
    Session {
        /// The owning workspace; `None` for a provider in the user's scope.
        workspace: Option<String>,
        /// `provider/session`
        session: String,
        /// The opens, oldest first.
        opens: Vec<SavedOpen>,
    },
    /// A session ended for good.
    SessionEnded {
        /// The owning workspace.
        workspace: Option<String>,
        /// `provider/session`
        session: String,
    },
    /// A window was opened.
    Window {
        /// The workspace's key.
        workspace: String,
        /// `provider/session`
        session: String,
        /// `gist`, `summary` or `full`
        lod: String,
        /// Tokens, when fixed.
        budget: Option<u32>,
        /// True when its session is to stay awake.
        #[serde(default)]
        pinned: bool,
        /// The place in the workspace document, unless it is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placement: Option<SavedPlacement>,
    },
    /// The actions that a provider's app declared.
    Prototypes {
        provider: String,
        /// The prototypes, encoded as on the wire of the release that wrote them; dropped when they
        /// can't be read.
        prototypes: Bytes,
    },
    /// The options of a workspace.
    Options {
        /// The workspace's key.
        workspace: String,
        options: SavedOptions,
    },
    /// An acting request was accepted, before any part of it reached an app.
    Begun {
        /// The id that the client gave the request.
        run_id: String,
        /// The workspace's key; none in records of releases that knew requests by their ids alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader that sent the request; `None` under the same condition as `workspace`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The time in the request's id or, without one, its time of arrival, in milliseconds since
        /// 1970. 0 in records of the earlier form described above.
        #[serde(default, skip_serializing_if = "crate::persist::saved_round::is_zero")]
        unix_ms: u64,
        /// For a run: the unnumbered round that it becomes if the daemon crashes now, with the
        /// outcomes of its steps as detail. It is valid until a newer record of the request has no
        /// round, or the request's round or answer is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<Box<SavedRound>>,
    },
    /// The run of an acting request has carried out more steps.
    Progressed {
        /// As in `Begun`.
        run_id: String,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The additions to the round: its result replaces the previous one, everything else is
        /// appended.
        round: Box<SavedRound>,
    },
    /// An acting request was answered.
    Answered {
        /// The id that the client gave the request.
        run_id: String,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        exit: u8,
    },
    /// The remembered acting requests of one reader.
    Acts {
        /// The key of the workspace; `None` for requests that were recorded without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader; `None` under the same condition as `workspace`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The newest time among the ids of the reader's forgotten requests, in milliseconds since
        /// 1970; without a workspace, among those of any reader.
        #[serde(default, skip_serializing_if = "crate::persist::saved_round::is_zero")]
        forgotten_to: u64,
        #[serde(default)]
        acts: Vec<SavedAct>,
    },
    /// The key for generating the ids that apps are given.
    PseudonymKey {
        /// 16 bytes.
        key: Bytes,
    },
    /// Something was done.
    Round {
        /// The workspace's key.
        workspace: String,
        round: SavedRound,
    },
    /// Steps of a round were taken back.
    Undone {
        /// The workspace's key.
        workspace: String,
        round: u64,
        /// The indices of the round's undos that ran, counted from 0.
        steps: Vec<u32>,
        /// The indices of the undos whose change was redone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        again: Vec<u32>,
        /// The indices of all undos that were sent and whose end isn't known yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unsure: Vec<u32>,
    },
    /// Anchors were minted.
    Anchors { workspace: String, anchors: Vec<SavedAnchor> },
    /// A question was asked.
    Question {
        workspace: String,
        number: u64,
        /// The question, and the run that waits for its answer.
        question: SavedQuestion,
    },
    /// A question was answered, or never will be.
    QuestionClosed {
        /// The workspace's key.
        workspace: String,
        number: u64,
    },
    /// The steps after a failed one were kept.
    Kept {
        /// The workspace's key.
        workspace: String,
        /// Their number.
        number: u64,
        /// The kept steps.
        rest: SavedRest,
    },
    /// Kept steps ran, or never will.
    KeptClosed {
        /// The workspace's key.
        workspace: String,
        /// Their number.
        number: u64,
    },
    /// A session was put to sleep, or woke up.
    Asleep {
        /// The owning workspace.
        workspace: Option<String>,
        /// `provider/session`
        session: String,
        /// The version that the app named when it saved its state. With 0, the session is awake or
        /// the app named no version, unless `at_zero` says otherwise.
        version: u64,
        /// True when it was put to sleep in the state of version 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_zero: bool,
        /// The time at which the session is to be woken, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wake_at: Option<u64>,
    },
    /// A job started or ended.
    Job(Box<SavedJob>),
    /// A reader was informed of a job's end.
    JobTold {
        job: u64,
        /// The workspace's key.
        workspace: String,
        reader: String,
    },
    /// A person gave a consent, or it is no longer valid.
    Consent {
        /// The workspace's key.
        workspace: String,
        /// The provider whose actions have the consent.
        provider: String,
        number: u64,
        /// The app's name for the consent.
        key: String,
        /// The one-line description of what is allowed.
        what: String,
        /// The time of the consent, in milliseconds since 1970.
        unix_ms: u64,
        /// Until when it counts, in milliseconds since 1970; none until it is withdrawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// False when it isn't allowed any more.
        given: bool,
    },
    /// A person started or ended a pause.
    Pause {
        /// The key of the workspace that is paused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader that is paused; without reader and workspace, everybody is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The start of the pause, in milliseconds since 1970.
        unix_ms: u64,
        /// The offset of the user's clock from UTC, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ahead_s: Option<i32>,
        /// False when it has ended.
        on: bool,
    },
    WindowClosed {
        /// The workspace's key.
        workspace: String,
        /// `provider/session`
        session: String,
    },
}

/// A saved acting request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAct {
    /// The id that the client gave the request.
    pub run_id: String,
    /// The time in the id, otherwise the time of arrival, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The exit status; `None` without an answer, or with one of unknown outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
}

/// An open question, whose state has its own version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedQuestion {
    /// The version of the encoding.
    pub version: u16,
    /// The encoded state.
    pub state: Bytes,
}

/// The steps that a failed run left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRest {
    /// The reader who made the run.
    pub reader: String,
    pub run_id: String,
    /// The caller's working directory.
    #[serde(default)]
    pub cwd: String,
    /// The steps before the one to be corrected, each as separate code.
    #[serde(default)]
    pub before: Vec<String>,
    /// The steps after the one to be corrected.
    #[serde(default)]
    pub behind: Vec<String>,
    /// Standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Bytes>,
    /// The number of steps that ran before, as the reader counts them.
    #[serde(default)]
    pub earlier: u64,
}

/// An `open` of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SavedOpen {
    /// The arguments of `open`.
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: String,
    /// The environment that was passed on, except for variables named by the manifest.
    pub env: Vec<(String, String)>,
    /// Absolute paths that the user named later and that the session's process may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
    /// The names of the variables that were passed on because the manifest names them. Their values
    /// aren't saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}
