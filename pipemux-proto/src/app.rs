//! Messages between the daemon and an app.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ids::SessionAddr;
use crate::projection::{Args, LinkSlot, Lod};
use crate::value::Blob;

/// The body of messages that say nothing more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// A client opened the session. Sent on every `open`, and again after a restart for each `open` that
/// the session had. Replied to with [`Opened`], or refused with a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Which session this process is.
    pub session: SessionAddr,
    /// False for the first `Open` of this life.
    pub attach: bool,
    /// True when the daemon repeats an earlier `open` after the process was lost.
    #[serde(default)]
    pub again: bool,
    /// What followed the session on the command line.
    pub args: Vec<String>,
    /// The caller's working directory; relative paths in `args` start here.
    pub cwd: String,
    /// The caller's environment, as far as it is passed on.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A directory of the session's own; it exists and survives restarts.
    pub state_dir: String,
    /// The version of the state that the app saved before it was put to sleep, as it told it then: it
    /// goes on from that state and that version. 0: it wasn't put to sleep.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub woken: u64,
}

/// The reply to [`Open`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// What the reader should know: what was restored, what was lost.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The version named in [`Open::woken`] when the app has exactly that state again; else 0: readers
    /// are told that their line numbers mean nothing any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumed: u64,
}

/// The reply to `Save`: everything that the app would lose by ending now is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The version of the state that was saved; 0: the app can't go on from it by number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub version: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Asks for a window's content. Replied to with [`crate::projection::Projection`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Which window; the same number while it is open.
    pub window: u64,
    /// How much detail.
    pub lod: Lod,
    /// About how many tokens the content may take.
    pub budget: u32,
    /// The version that the daemon holds for this window, level of detail and budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_version: Option<u64>,
}

/// Asks for an action. Replied to with [`Outcome`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invoke {
    /// The action's name.
    pub action: String,
    /// Its arguments by name; parameters with a default may be missing.
    #[serde(default)]
    pub args: Args,
    /// The version that the reader last saw: numbers in the arguments mean that one. 0: none.
    pub seen_version: u64,
    /// True when the reader saw an earlier life of this app and not this one: numbers in the arguments
    /// mean lines that this process never showed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_lost: bool,
    /// The caller's working directory; relative paths in the arguments start here. Empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// Whose action it is.
    pub reader: String,
    /// The same for all steps of one run, an answer's included: changes that carry it are the
    /// reader's own.
    pub run_id: String,
    /// True when a person or agent confirmed exactly this; only the daemon sets it.
    #[serde(default)]
    pub confirmed: bool,
    /// The answer to the question that this action asked before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// An answered question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// What the app gave with its question.
    pub token: Blob,
    /// What was answered.
    pub choice: Choice,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// These options, counted from 1.
    Picked(Vec<u32>),
    /// All of them, listed or not, but these.
    AllBut(Vec<u32>),
    /// Yes, do it.
    Yes,
    /// A value.
    Text(String),
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It took effect.
    Done(Done),
    /// It asks before it can go on; nothing took effect yet.
    Needs(Needs),
    /// It did not succeed; nothing took effect.
    Failed(Fault),
}

/// An action took effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// One line: `2 of 3 matches`.
    pub brief: String,
    /// More, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Blob>,
    /// What the result is called when another app gets it: `src/parse.rs:101-300`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The app's state version after it.
    pub version: u64,
    /// What one would do next: `undo`.
    #[serde(default)]
    pub links: Vec<LinkSlot>,
    /// True when the action took earlier changes back (undo, redo). The answer then also shows what
    /// disappeared, which it leaves out for other actions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverts: bool,
}

/// An action asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// What is asked.
    pub question: Question,
    /// Comes back with the answer.
    #[serde(default)]
    pub token: Blob,
}

/// A question with its ways to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is asked, in one line: `3 matches`.
    pub text: String,
    /// What an answer is.
    pub kind: QuestionKind,
    /// What there is to choose from, or what would be touched.
    #[serde(default)]
    pub options: Vec<OptionItem>,
    /// How many more there are that are not listed.
    #[serde(default)]
    pub unlisted: u64,
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// One of the options.
    PickOne,
    /// Some of the options, all, or none.
    PickMany,
    /// Yes or no.
    Confirm,
    /// A text.
    Text,
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionItem {
    /// Short, becomes the link: `line 57`.
    pub label: String,
    /// The rest of the line.
    #[serde(default)]
    pub text: String,
}

/// Asks for the value of a thing, a chunk at a time. Replied to with [`Chunk`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// The thing.
    pub key: String,
    /// The meaning that the reader saw.
    pub rev: u64,
    /// First byte wanted.
    pub offset: u64,
    /// At most so many bytes.
    pub max: u32,
}

/// A part of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The bytes.
    pub data: Bytes,
    /// The length of the whole, in bytes.
    pub total: u64,
    /// True when the whole is UTF-8 text.
    pub text: bool,
}

/// Asks where things are that the present projection doesn't show. Replied to with [`Located`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locate {
    /// The things.
    pub keys: Vec<String>,
}

/// The reply to [`Locate`], in the order asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// One for each key.
    pub places: Vec<Place>,
}

/// Where a thing is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the window.
    Shown,
    /// There, but folded, scrolled or filtered away; says how to get to it.
    Hidden(String),
    /// Not there; says how it vanished, if that is known.
    Gone(Option<String>),
}

/// The state changed by itself. Coalesced: only the newest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The new version.
    pub version: u64,
}

/// Something the reader should know with the next answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notify {
    /// One line.
    pub text: String,
}

/// A running request goes on. Its envelope carries the request's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all; 0: not known.
    pub total: u64,
    /// One line.
    #[serde(default)]
    pub text: String,
}

/// Work goes on outside of requests; defers hibernation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// What is done.
    pub what: String,
    /// For at most so many milliseconds from now; 0: no longer busy.
    pub for_ms: u64,
}
