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

/// One appended record. Of several records of one thing the newest counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// Numbers below these may have been used.
    Reserved {
        /// Incarnations and windows.
        numbers_below: u64,
    },
    /// A workspace's numbers below these may have been used.
    Workspace {
        /// The workspace's key.
        key: String,
        /// What is shown for it.
        name: String,
        /// No display id from this one on is in use.
        ids_below: u64,
        /// No epoch from this one on is in use.
        epochs_below: u64,
    },
    /// A part of the saved state was lost: a workspace that isn't named may have used numbers below
    /// these.
    Floor {
        /// Ids and epochs.
        numbers_below: u64,
    },
    /// A session was opened; its opens so far.
    Session {
        /// The owning workspace; none for a provider of the user's scope.
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
        /// Its place in the workspace document, unless it is the usual one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placement: Option<SavedPlacement>,
    },
    /// What a provider's app said it can do.
    Prototypes {
        /// The provider's name.
        provider: String,
        /// The prototypes, encoded as on the wire of the release that wrote them; dropped when they
        /// can't be read.
        prototypes: Bytes,
    },
    /// How a workspace treats refs.
    Options {
        /// The workspace's key.
        workspace: String,
        /// Its options.
        options: SavedOptions,
    },
    /// An acting request was taken, before anything of it reached an app.
    Begun {
        /// The id that the client gave it.
        run_id: String,
        /// The workspace's key; none in records of releases that knew requests by their ids alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader that sent it; none as above.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The time in its id, otherwise when it arrived: milliseconds since 1970. 0 in records as
        /// above.
        #[serde(default, skip_serializing_if = "crate::persist::saved_round::is_zero")]
        unix_ms: u64,
        /// Of a run, the round that it becomes if the daemon is lost now, without a number; its
        /// detail is what came of its steps. It counts until a newer record of the request has
        /// none, or the request's round or answer is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<Box<SavedRound>>,
    },
    /// The run of an acting request has done more.
    Progressed {
        /// As in `Begun`.
        run_id: String,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// What its round has besides: its result takes the place of the one before, the rest is
        /// added.
        round: Box<SavedRound>,
    },
    /// An acting request was answered.
    Answered {
        /// The id that the client gave it.
        run_id: String,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// As in `Begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The exit status.
        exit: u8,
    },
    /// The acting requests of one reader that are remembered.
    Acts {
        /// The workspace's key; none for requests that were recorded without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader; none as above.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// The newest time in the ids of the reader's requests that are not remembered any more, in
        /// milliseconds since 1970; without a workspace, of any reader's.
        #[serde(default, skip_serializing_if = "crate::persist::saved_round::is_zero")]
        forgotten_to: u64,
        /// The requests, oldest first.
        #[serde(default)]
        acts: Vec<SavedAct>,
    },
    /// The key with which the ids that apps are given are made.
    PseudonymKey {
        /// 16 bytes.
        key: Bytes,
    },
    /// Something was done.
    Round {
        /// The workspace's key.
        workspace: String,
        /// The round.
        round: SavedRound,
    },
    /// Steps of a round were taken back.
    Undone {
        /// The workspace's key.
        workspace: String,
        /// The round's number.
        round: u64,
        /// Which of the round's undos ran, counted from 0.
        steps: Vec<u32>,
        /// Those whose change was made again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        again: Vec<u32>,
        /// Those that were sent and whose end isn't known yet; none of the others is.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unsure: Vec<u32>,
    },
    /// Anchors were minted.
    Anchors {
        /// The workspace's key.
        workspace: String,
        /// The anchors.
        anchors: Vec<SavedAnchor>,
    },
    /// A question was asked.
    Question {
        /// The workspace's key.
        workspace: String,
        /// Its number.
        number: u64,
        /// The question, and the run that waits for its answer.
        question: SavedQuestion,
    },
    /// A question was answered, or will never be.
    QuestionClosed {
        /// The workspace's key.
        workspace: String,
        /// Its number.
        number: u64,
    },
    /// The steps behind a failed one were kept.
    Kept {
        /// The workspace's key.
        workspace: String,
        /// Their number.
        number: u64,
        /// The steps.
        rest: SavedRest,
    },
    /// Kept steps ran, or never will.
    KeptClosed {
        /// The workspace's key.
        workspace: String,
        /// Their number.
        number: u64,
    },
    /// A session was put to sleep, or woke.
    Asleep {
        /// The owning workspace.
        workspace: Option<String>,
        /// `provider/session`
        session: String,
        /// The version that its app named; 0: it is awake, or the app named none, unless `at_zero`
        /// says otherwise.
        version: u64,
        /// True when it was put to sleep in the state of version 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_zero: bool,
        /// When it is to be woken, in milliseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wake_at: Option<u64>,
    },
    /// A job started, or ended.
    Job(Box<SavedJob>),
    /// A reader was told of a job's end.
    JobTold {
        /// The job's number.
        job: u64,
        /// The workspace's key.
        workspace: String,
        /// The reader.
        reader: String,
    },
    /// A person allowed something, or it isn't allowed any more.
    Consent {
        /// The workspace's key.
        workspace: String,
        /// The provider whose actions may do it.
        provider: String,
        /// Its number.
        number: u64,
        /// The app's name for it.
        key: String,
        /// What is allowed, in one line.
        what: String,
        /// When a person allowed it, in milliseconds since 1970.
        unix_ms: u64,
        /// Until when it counts, in milliseconds since 1970; none until it is withdrawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// False when it isn't allowed any more.
        given: bool,
    },
    /// A person began or ended a pause.
    Pause {
        /// The key of the workspace that it holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<String>,
        /// The reader whom it holds; with neither of both it holds everybody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<String>,
        /// When it began, in milliseconds since 1970.
        unix_ms: u64,
        /// How far the person's clock was ahead of UTC, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ahead_s: Option<i32>,
        /// False when it has ended.
        on: bool,
    },
    /// A window was closed.
    WindowClosed {
        /// The workspace's key.
        workspace: String,
        /// `provider/session`
        session: String,
    },
}

/// An acting request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAct {
    /// The id that the client gave it.
    pub run_id: String,
    /// The time in its id, otherwise when it arrived: milliseconds since 1970.
    pub unix_ms: u64,
    /// Its exit status; none when it has no answer, or one that says that its outcome is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
}

/// An open question; its state has a version of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedQuestion {
    /// The version of the encoding.
    pub version: u16,
    /// The encoded state.
    pub state: Bytes,
}

/// What a failed run left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRest {
    /// The reader whose run it was.
    pub reader: String,
    /// The run's id.
    pub run_id: String,
    /// The caller's working directory.
    #[serde(default)]
    pub cwd: String,
    /// The steps in front of the one that is to be corrected, each as code of its own.
    #[serde(default)]
    pub before: Vec<String>,
    /// The steps behind it.
    #[serde(default)]
    pub behind: Vec<String>,
    /// Standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Bytes>,
    /// How many steps ran before, as the reader counts them.
    #[serde(default)]
    pub earlier: u64,
}

/// One `open` of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SavedOpen {
    /// The arguments of `open`.
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: String,
    /// The environment that was passed on, but for what the manifest names.
    pub env: Vec<(String, String)>,
    /// Absolute paths that the user named later and that the session's process may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
    /// The names of the variables that were passed on because the manifest names them. Their values
    /// aren't saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}
