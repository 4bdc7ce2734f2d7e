//! Messages between the daemon and an app.
//!
//! `T` in [`DoneOf`] and others is the type of the texts that an app writes for people and models.
//! For apps it is `String`: [`Done`]. The daemon decodes them as a type that can't be printed as it
//! is. A new text of an app has the type `T`, too.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ids::SessionAddr;
use crate::job::StartedOf;
use crate::numbers::LineNumbers;
use crate::projection::{Args, LinkSlotOf, Lod, PieceOf, Text};
use crate::prototype::Field;
use crate::value::Blob;

/// The body of messages without content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// Tells the app that a client opened the session. The daemon sends it on every `open`, and after a
/// restart once more for each `open` that the session had. The app replies with [`Opened`], or
/// refuses with a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    /// The session that this process serves.
    pub session: SessionAddr,
    /// False for the first `open` of this incarnation.
    pub attach: bool,
    /// True when the daemon repeats an earlier `open` after the process was lost.
    #[serde(default)]
    pub again: bool,
    /// The arguments after the session on the command line.
    pub args: Vec<String>,
    /// The caller's working directory; relative paths in `args` start here.
    pub cwd: String,
    /// The part of the caller's environment that is passed on.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A directory for this session alone; it exists and survives restarts.
    pub state_dir: String,
    /// The version that the app named in [`Saved`] before it was put to sleep. The app continues
    /// from the saved state and from this version. Absent if the session was not asleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<u64>,
    /// True when the daemon starts the session because the time in [`Saved::wake_at`] has come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub due: bool,
    /// The keys of the session's jobs that ran when its process was lost or hibernated; sent with
    /// the last of the `open`s that start a process. The app lists in [`Opened::jobs`] those that
    /// it resumes; all others are reported as lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<String>,
}

/// The reply to [`OpenRequest`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedOf<T> {
    /// Lines for the reader: what was restored, what was lost.
    #[serde(default)]
    pub notes: Vec<T>,
    /// The version from [`OpenRequest::woken`] if the app has exactly that state again. Otherwise
    /// absent, and readers are told that the line numbers they saw are no longer valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
    /// The keys from [`OpenRequest::jobs`] of the jobs that the app resumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<String>,
}

/// The reply to `Save`: the app has written down everything that it would lose by ending now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The version of the saved state; absent if the app can't continue from it by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The time of the next start even without a request, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<u64>,
}

/// Asks for a window's content. The app replies with [`crate::projection::Projection`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The window's number, which stays the same while the window is open.
    pub window: u64,
    /// The level of detail.
    pub lod: Lod,
    /// The approximate number of tokens that the content may take.
    pub budget: u32,
    /// The version that the daemon holds for this window, level of detail and budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_version: Option<u64>,
    /// The reader who the window is for, named as in [`Invoke::reader`]; empty for an
    /// [embedded](crate::projection::EmbedSlot) window, which all readers share, and if a peer of a
    /// minor version below 6 asks. An app that shows its readers different content says so in its
    /// `Hello`, by the feature [`PER_READER`](crate::hello::PER_READER).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reader: String,
}

/// Asks the app to carry out an action. The app replies with [`Outcome`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Invoke {
    /// The action's name.
    pub action: String,
    /// The arguments by parameter name; parameters with a default may be missing.
    #[serde(default)]
    pub args: Args,
    /// The version that the reader saw last: numbers in the arguments refer to it. Absent if the
    /// reader has seen nothing of this incarnation; an app of a minor version below
    /// [`OPTIONAL_VERSIONS`] is sent 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_version: Option<u64>,
    /// True when the reader saw an earlier incarnation of this app and not this one: numbers in the
    /// arguments then refer to lines that this process never showed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen_lost: bool,
    /// What the reader's numbers count in: for each document, the numbers that it was shown, and
    /// the version in which that was. Numbers that aren't listed count in `seen_version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<LineNumbers>,
    /// True when the reader may have been shown numbers that aren't known any more: by an earlier
    /// daemon, or too long ago. Numbers that `numbers` doesn't list then refer to something
    /// unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
    /// The caller's working directory; relative paths in the arguments start here. Empty if
    /// unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The reader who runs the action.
    pub reader: String,
    /// The same for all steps of one run, including the answer to a question: changes that carry it
    /// are the reader's own.
    pub run_id: String,
    /// True when a person or agent confirmed exactly this action; only the daemon sets it.
    /// It stays true when the confirmed action asks a further question and goes on with its answer.
    #[serde(default)]
    pub confirmed: bool,
    /// The approximate number of tokens that [`Done::content`] may take; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_unnamed")]
    pub budget: u32,
    /// True when another call takes the result, which is then not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// The keys of what a person has allowed this app in the workspace, as the app named them in a
    /// [`ConsentRequest`](crate::consent::ConsentRequest). A key that is missing isn't allowed, or
    /// not any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consents: Vec<String>,
    /// For an action that undoes an earlier one: the files that other runs changed while the
    /// earlier action ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_beside: Vec<ChangedBeside>,
    /// The answer to the question that this action asked before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// The changes to files by one other run while an action ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedBeside {
    /// The run that made the changes: `round 5 (reviewer)`.
    pub by: String,
    /// The absolute paths of the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The number of further changed files whose names aren't known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_files: u64,
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

fn is_unnamed(budget: &u32) -> bool {
    *budget == 0
}

/// The answer to a question that an action asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The token that the app sent with its question.
    pub token: Blob,
    /// The answer.
    pub choice: Choice,
}

/// The content of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The options with these numbers, counted from 1.
    Picked(Vec<u32>),
    /// All options, listed or not, except these.
    AllBut(Vec<u32>),
    /// The action is confirmed.
    Yes,
    /// A text.
    Text(String),
    /// The fields of a form by name. Fields with a default may be missing.
    Fields(Args),
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub enum OutcomeOf<T> {
    /// The action took effect.
    Done(DoneOf<T>),
    /// The action began a job, which goes on. Only for a daemon whose `Hello` names the feature
    /// [`JOBS`](crate::hello::JOBS).
    Started(StartedOf<T>),
    /// The action needs an answer before it can continue; nothing took effect yet.
    Needs(NeedsOf<T>),
    /// The action did not succeed; nothing took effect.
    Failed(Fault),
}

/// An action that took effect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct DoneOf<T> {
    /// One line: `2 of 3 matches`.
    pub brief: T,
    /// Multi-line detail, shown on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<T>,
    /// The action's return value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Blob>,
    /// A name for the value when another app receives it: `src/parse.rs:101-300`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<T>,
    /// The version of the app's state after the action.
    pub version: u64,
    /// Links to likely next actions: `undo`.
    #[serde(default)]
    pub links: Vec<LinkSlotOf<T>>,
    /// True when the action took earlier changes back (undo, redo). The answer then also shows what
    /// disappeared, which it leaves out for other actions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverts: bool,
    /// The numbers that the answer shows or maps, and those that it retires: later ones take
    /// precedence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<LineNumbers>,
    /// Content to show besides the brief: the result of a query, or evidence that an action did
    /// what was meant. It is shown in full, within [`Invoke::budget`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<PieceOf<T>>,
    /// True if the brief and the content report everything that the action changed. The answer then
    /// doesn't show the window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// The changes to files as a unified diff, for `history --diff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<T>,
    /// The keys of the session's jobs whose ends the outcome tells: the reader isn't told of them
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_jobs: Vec<String>,
    /// The files that the action changed, made or removed, as absolute paths; at most
    /// [`CHANGED_FILES_MAX`](crate::limits::CHANGED_FILES_MAX). For `who`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
    /// A few words on why no link undoes the action, and possibly on what does; empty if it changed
    /// nothing that an undo could revert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_undo: Option<T>,
}

/// An action that asks before it continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct NeedsOf<T> {
    /// The question.
    pub question: QuestionOf<T>,
    /// Bytes of the app's choice, returned with the answer.
    #[serde(default)]
    pub token: Blob,
    /// The numbers that the question shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<LineNumbers>,
}

/// A question and the ways to answer it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct QuestionOf<T> {
    /// The question in one line: `3 matches`.
    pub text: T,
    /// The form of the answer.
    pub kind: QuestionKind,
    /// The things to choose from, or the things that a confirmed action would affect.
    #[serde(default)]
    pub options: Vec<OptionItemOf<T>>,
    /// The number of further options that are not listed.
    #[serde(default)]
    pub unlisted: u64,
    /// The fields of a form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// True when the answer is never printed, logged or kept, such as a password. Of a form, single
    /// fields are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// One of the options.
    PickOne,
    /// Some of the options, all, or none.
    PickMany,
    /// Yes or no.
    Confirm,
    /// A text.
    #[default]
    Text,
    /// Several fields.
    Form,
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionItemOf<T> {
    /// A short text that becomes the link: `line 57`.
    pub label: T,
    /// The rest of the line.
    #[serde(default)]
    pub text: T,
}

/// Asks for the value of a thing, one chunk at a time. The app replies with [`Chunk`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRequest {
    /// The key of the thing.
    pub key: String,
    /// The revision that the reader saw.
    pub rev: u64,
    /// The offset of the first byte.
    pub offset: u64,
    /// The largest number of bytes to send.
    pub max: u32,
    /// True when the thing's path is asked for, not its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path: bool,
}

/// A part of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The bytes.
    pub data: Bytes,
    /// The length of the whole value in bytes.
    pub total: u64,
    /// True when the whole value is UTF-8 text.
    pub text: bool,
    /// The absolute path of the file that the thing is, if the request asks for it. `data` is empty
    /// then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Asks where objects are that the current projection doesn't show. The app replies with
/// [`Located`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locate {
    /// The keys of the things.
    pub keys: Vec<String>,
    /// The reader whose window is meant, as in [`Project::reader`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reader: String,
    /// Tokens of the app that a text has, and that somebody wants to know about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenName>,
}

/// The reply to [`Locate`], in the order of its keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocatedOf<T> {
    /// One location for each key.
    pub places: Vec<KeyLocationOf<T>>,
    /// The meanings of the tokens; empty for an app that doesn't provide them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenMeaningOf<T>>,
}

/// A token without its prefix: `Node` and `plan` of `[[MT:Node:plan]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenName {
    /// The type, as it is written in the token.
    #[serde(rename = "type")]
    pub ty: String,
    /// The name.
    pub name: String,
}

/// The present meaning of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenMeaningOf<T> {
    /// The location. For a name that nothing ever had, [`KeyLocationOf::Gone`] with no reason.
    pub place: KeyLocationOf<T>,
    /// The title of the thing.
    pub title: T,
    /// The place of the thing: `in Roadmap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<T>,
    /// The call that a click on it means, in the syntax of `run` and without the session:
    /// `expand('plan')`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click: Option<String>,
}

/// The location of a thing, which says whether the window offers it for actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyLocationOf<T> {
    /// The window shows the thing.
    Shown,
    /// The thing exists, but is folded, scrolled or filtered away; the text says how to reach it.
    Hidden(T),
    /// The thing is gone; the text says how, if the app knows.
    Gone(Option<T>),
}

/// An event: the state changed by itself. Only the newest one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The new version.
    pub version: u64,
}

/// An event: a line that every reader gets with the next answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifyOf<T> {
    /// The line.
    pub text: T,
}

/// An event: a request is still in progress. Its envelope carries the request's id. The daemon
/// passes it on to the client whose request it is, if the client's `Hello` names the feature
/// [`PROGRESS`](crate::hello::PROGRESS).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressOf<T> {
    /// The number of units done.
    pub done: u64,
    /// The number of all units; 0 if unknown.
    pub total: u64,
    /// A description of the progress, in one line.
    #[serde(default)]
    pub text: T,
}

/// An event: the app works outside of requests, which defers hibernation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyOf<T> {
    /// A description of the work.
    pub what: T,
    /// The maximum duration of the work, in milliseconds from now; 0 when it is finished.
    pub for_ms: u64,
}

/// The first minor version of the protocol in which a version may be absent. Peers with a lower
/// minor version send 0 instead.
pub const OPTIONAL_VERSIONS: u16 = 6;

/// Returns the version that a peer of this minor version means.
pub fn meant_version(version: Option<u64>, minor: u16) -> Option<u64> {
    version.filter(|version| *version > 0 || minor >= OPTIONAL_VERSIONS)
}

/// An [`OpenedOf`] of plain text.
pub type Opened = OpenedOf<String>;
/// An [`OutcomeOf`] of plain text.
pub type Outcome = OutcomeOf<String>;
/// A [`DoneOf`] of plain text.
pub type Done = DoneOf<String>;
/// A [`NeedsOf`] of plain text.
pub type Needs = NeedsOf<String>;
/// A [`QuestionOf`] of plain text.
pub type Question = QuestionOf<String>;
/// An [`OptionItemOf`] of plain text.
pub type OptionItem = OptionItemOf<String>;
/// A [`LocatedOf`] of plain text.
pub type Located = LocatedOf<String>;
/// A [`TokenMeaningOf`] of plain text.
pub type TokenMeaning = TokenMeaningOf<String>;
/// A [`KeyLocationOf`] of plain text.
pub type KeyLocation = KeyLocationOf<String>;
/// A [`NotifyOf`] of plain text.
pub type Notify = NotifyOf<String>;
/// A [`ProgressOf`] of plain text.
pub type Progress = ProgressOf<String>;
/// A [`BusyOf`] of plain text.
pub type Busy = BusyOf<String>;
