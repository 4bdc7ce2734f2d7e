//! The records on disk, by which ids and epochs never go back and windows come back.
//!
//! These types are apart from those of the wire, since what an older release wrote must be readable for ever. A field
//! may be added with a default; the meaning of a field never changes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::limits::ROUND_UNDO_MAX;

pub use crate::persist::saved_job::{SavedJob, SavedJobEnd};

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
    /// A part of the saved state was lost: a workspace that isn't named may have used numbers below these.
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
        /// The prototypes, encoded as on the wire of the release that wrote them; dropped when they can't be read.
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
        /// The time in its id, otherwise when it arrived: milliseconds since 1970. 0 in records as above.
        #[serde(default, skip_serializing_if = "is_zero")]
        unix_ms: u64,
        /// Of a run, the round that it becomes if the daemon is lost now, without a number; its detail is what came of its
        /// steps. It counts until a newer record of the request has none, or the request's round or answer is recorded.
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
        /// What its round has besides: its result takes the place of the one before, the rest is added.
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
        /// The newest time in the ids of the reader's requests that are not remembered any more, in milliseconds since
        /// 1970; without a workspace, of any reader's.
        #[serde(default, skip_serializing_if = "is_zero")]
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
        /// The version that its app named; 0: it is awake, or the app named none, unless `at_zero` says otherwise.
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

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A window's place in the workspace document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPlacement {
    /// A higher one stands earlier.
    pub priority: i32,
    /// Its part of the document's budget, at least 1.
    pub weight: u32,
}

/// Options of a workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedOptions {
    /// Refs of every older epoch are stale, even if their meaning stands.
    #[serde(default)]
    pub strict: bool,
    /// Safe actions take a changed thing as it is now.
    #[serde(default)]
    pub rebase: bool,
    /// Links show their calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub titles: bool,
    /// The panels that the workspace document has.
    #[serde(default, skip_serializing_if = "SavedPanels::is_none")]
    pub panels: SavedPanels,
}

/// Which panels a workspace document has besides its windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPanels {
    /// The open windows, a line each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub views: bool,
    /// What the workspace is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub environment: bool,
    /// The newest notices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notices: bool,
    /// The newest rounds of history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
    /// The reader's open questions, a line each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub questions: bool,
}

impl SavedPanels {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// One round of history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRound {
    /// Its number in the workspace, from 1.
    pub number: u64,
    /// When it ended: milliseconds since 1970, UTC.
    pub unix_ms: u64,
    /// The reader that acted.
    pub reader: String,
    /// The calls.
    pub action: String,
    /// The outcome.
    pub result: String,
    /// Multi-line detail, shown on request.
    #[serde(default)]
    pub detail: Option<String>,
    /// The exit status.
    #[serde(default)]
    pub exit: u8,
    /// The epoch of the workspace when it ended, before its answer; absent from records of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The sessions that its steps were sent to, as `provider/session`.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// What takes its steps back, in the order in which they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undo: Vec<SavedUndo>,
    /// The steps that changed something and can't be taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lasting: Vec<String>,
    /// The round that it took back, when it is an undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// What it changed in files, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What it was made with; empty in records of earlier releases.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The files that it changed, as absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Further files that it changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_files: u64,
    /// From when to when it changed them, in milliseconds since 1970; absent from records of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote: Option<(u64, u64)>,
    /// The id of the request that it ended with; empty in records of earlier releases.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
}

impl SavedRound {
    /// True if it is known to have changed a file, or one in a folder: an absolute path.
    pub fn changed(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.iter().any(|file| {
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// What takes back more than fits into a round takes nothing back: these steps are told as lasting.
    pub fn bound_undo(&mut self) {
        if self.undo.iter().map(|undo| undo.args.len()).sum::<usize>() > ROUND_UNDO_MAX {
            self.lasting.extend(self.undo.drain(..).map(|undo| undo.call));
        }
    }

    /// True if all of it is taken back that can be.
    pub fn is_undone(&self) -> bool {
        !self.undo.is_empty() && self.undo.iter().all(|undo| undo.undone)
    }
}

/// The action that takes a step of a round back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedUndo {
    /// The workspace that owns the session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The call of the step.
    pub call: String,
    /// The action's name.
    pub action: String,
    /// Its encoded arguments.
    pub args: Bytes,
    /// True once it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// True from when it was sent until its end is known: after the loss of the daemon nobody knows whether it ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
}

/// A display id and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAnchor {
    /// The display id.
    pub id: u64,
    /// The workspace that owns the session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The thing or action that it stands for.
    pub target: SavedTarget,
    /// Its meaning when it was minted.
    pub rev: u64,
    /// Its type.
    #[serde(default)]
    pub ty: Option<String>,
    /// The label that was shown for it.
    #[serde(default)]
    pub label: String,
    /// The form of its refs with the key, if it ever had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_form: Option<KeyForm>,
}

/// The form of the ref that has an object's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyForm {
    /// `obj:file:a.rs`
    Plain,
    /// `obj:ide/other:file:a.rs`: another session had the plain form first.
    WithSession,
}

/// What an anchor stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedTarget {
    /// A thing.
    Object {
        /// The app's own name of it.
        key: String,
    },
    /// An action.
    Action {
        /// Its name.
        action: String,
        /// Its encoded arguments.
        args: Bytes,
        /// The whole call, when names or nested calls are among its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The cancellation of a job.
    CancelJob {
        /// The job's number.
        job: u64,
    },
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
    /// The names of the variables that were passed on because the manifest names them. Their values aren't saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}
