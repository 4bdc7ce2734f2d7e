//! A window's content as an app sends it: slots instead of text.
//!
//! The daemon assigns the ids and writes the Markdown. So an app can't forge an anchor, text that
//! only looks like one has no effect, and an app in any language needs no table of anchors.

mod borrowed;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::numbers::{LineNumbers, LineRun};
use crate::value::{Blob, Value};

pub use borrowed::{CodeRef, MediaRef, ObjectRef, PieceRef, ProjectionRef};

/// The level of detail.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Lod {
    /// Only one line.
    Gist,
    /// The facts that a reader needs in order to continue.
    #[default]
    Summary,
    /// Everything that the budget holds.
    Full,
}

/// An argument of an action.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// An encoded value.
    Value(Blob),
    /// One of the session's own things.
    Ref(RefArg),
    /// Several arguments, some of which may be refs.
    List(Vec<Arg>),
    /// A value read from another session's thing.
    Copied(Copied),
    /// A record some of whose fields are refs or copied values; other records are values.
    Record(Args),
}

/// A thing of the session as the reader saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefArg {
    /// The app's name for the thing.
    pub key: String,
    /// The revision that the reader saw; the app refuses another one as stale.
    pub rev: u64,
    /// The thing's type, if it has one.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
}

/// A value that was passed from another session by reference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Copied {
    /// The encoded value.
    pub value: Blob,
    /// The session that it was read from: `editor/main`.
    pub from: String,
    /// The label of the thing in that session.
    pub label: String,
    /// The absolute path of a file with the value's bytes, when these are more than
    /// [`COPY_MAX`](crate::limits::COPY_MAX); `value` is nil then. It lies in the directory
    /// `values` in the session's `state_dir`, and is removed once the run has ended: read it, or
    /// move it away. Only for an app whose `Hello` names the feature
    /// [`VALUE_FILES`](crate::hello::VALUE_FILES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg::Value(value.to_blob())
    }
}

/// Arguments by parameter name.
pub type Args = BTreeMap<String, Arg>;

/// A type of the texts that apps write for people and models.
pub trait Text: Default + PartialEq {}

impl<T: Default + PartialEq> Text for T {}

fn is_empty<T: Text>(text: &T) -> bool {
    *text == T::default()
}

/// A thing that can be referred to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct ObjectSlotOf<T> {
    /// The app's name for the thing; it is never used again for another one.
    pub key: String,
    /// The revision; the app changes it when the thing's meaning changes.
    #[serde(default)]
    pub rev: u64,
    /// The thing's type, for parameters of type `Anchor<type>`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The displayed text.
    pub label: T,
    /// True when the ref is shown with the key instead of an id: `obj:file:src/main.ts`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub show_key: bool,
    /// What tells the thing from others with the same label, in one line: `pid 4711`. It is shown
    /// where a reader chooses one of them.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub detail: T,
    /// The description of the value if it can't be shown as text: an image, a sound, any file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
}

/// The description of a value that can't be shown as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Media {
    /// The media type: `image/png`.
    #[serde(rename = "type")]
    pub media_type: String,
    /// The length of the value in bytes.
    pub bytes: u64,
    /// The width of an image or a film in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height of an image or a film in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The duration of a sound or a film in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A ready-made action on the same session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkSlotOf<T> {
    /// The displayed text.
    pub label: T,
    /// The action's name.
    pub action: String,
    /// The bound arguments; refs among them carry the revision that they were made for.
    #[serde(default)]
    pub args: Args,
    /// True when the label hides an argument that a reader may want to change: the call is then
    /// shown as the link's title.
    #[serde(default)]
    pub titled: bool,
    /// The whole call in the call syntax, when it has names or nested calls among its arguments:
    /// `git_commit(message='Update', files=git_staged())`. They are resolved when the link is
    /// clicked. `args` has only the arguments that are bound already, and a daemon that knows
    /// `code` ignores them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// True if the arguments identify what the link is about, such as the change that it undoes: in
    /// an outcome, it then stays valid after later changes. Any other link in an outcome that
    /// changes something, and binds no ref, becomes stale at the next change of the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
}

/// Exact text, shown in a fence that is longer than any run of backticks in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePieceOf<T> {
    /// The fence's language.
    #[serde(default)]
    pub lang: T,
    /// The text; lines end with `\n`, the last one may lack it.
    pub text: T,
    /// The number of the first line if lines are numbered (`N<TAB>text`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// The identities of the numbered lines, in order. Readers are then told which lines moved;
    /// without them, numbered lines that moved are shown again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineRun>,
}

/// Another session's window, shown inside of this one.
///
/// The daemon fills it for the reader; the app never gets the text. Things and links in it are
/// those of the embedded session, and an embed inside of an embedded window is a line that names
/// it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedSlot {
    /// The session's address: `monitor/main`. Its window must be open in the reader's workspace.
    pub session: String,
    /// The level of detail.
    #[serde(default)]
    pub lod: Lod,
    /// The number of tokens that it may take; 0 for the daemon's default. They count in this
    /// window's budget.
    #[serde(default, skip_serializing_if = "is_default_budget")]
    pub budget: u32,
}

fn is_default_budget(budget: &u32) -> bool {
    *budget == 0
}

/// One piece of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub enum PieceOf<T> {
    /// Markdown. Text in it that looks like an anchor, a fence or a window's heading
    /// (`## editor/main`) is escaped.
    Text(T),
    /// A thing.
    Object(ObjectSlotOf<T>),
    /// An action.
    Link(LinkSlotOf<T>),
    /// Exact text.
    Code(CodePieceOf<T>),
    /// Another session's window. Only for a daemon whose `Hello` names the feature
    /// [`EMBED`](crate::hello::EMBED), and only in a window: an outcome shows nothing of it.
    Embed(EmbedSlot),
}

/// A window's content at one version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct ProjectionOf<T> {
    /// The version of the app's state; it only grows within one incarnation.
    pub version: u64,
    /// True when nothing changed since the request's `known_version`: all other fields are then
    /// empty.
    #[serde(default)]
    pub unchanged: bool,
    /// The heading after the session's address: `src/parse.rs · 412 lines · saved`.
    #[serde(default)]
    pub title: T,
    /// The document that the content shows, as an opaque key: the path of a file, the query of a
    /// list. Line numbers and differences are of one document: content of another one is shown in
    /// full, never as a difference. Absent for an app whose window always shows the same document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Links to likely next actions.
    #[serde(default)]
    pub nav: Vec<LinkSlotOf<T>>,
    /// The pieces of the content in order.
    #[serde(default)]
    pub content: Vec<PieceOf<T>>,
    /// The part of the whole that the content shows: `lines 1-40`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<T>,
    /// The names of the currently useful actions; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<String>>,
    /// Names that calls may use for things: `selection`.
    #[serde(default)]
    pub names: BTreeMap<String, ObjectSlotOf<T>>,
    /// The key of the thing that has the focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The app's own state, for `view --json`.
    #[serde(default)]
    pub custom: BTreeMap<String, Value>,
    /// Numbers that the content shows beside numbered code, in labels for example. They count in
    /// `version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<LineNumbers>,
    /// The approximate number of omitted tokens.
    #[serde(default)]
    pub hidden_tokens: u64,
}

/// An [`ObjectSlotOf`] of plain text.
pub type ObjectSlot = ObjectSlotOf<String>;
/// A [`LinkSlotOf`] of plain text.
pub type LinkSlot = LinkSlotOf<String>;
/// A [`CodePieceOf`] of plain text.
pub type CodePiece = CodePieceOf<String>;
/// A [`PieceOf`] of plain text.
pub type Piece = PieceOf<String>;
/// A [`ProjectionOf`] of plain text.
pub type Projection = ProjectionOf<String>;
