//! A window's content as an app sends it: slots, not text.
//!
//! The daemon mints the ids and writes the Markdown. So an app can't forge an anchor, text that
//! merely looks like one is inert, and an app in any language needs no anchor table.

mod borrowed;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::value::{Blob, Value};

pub use borrowed::{CodeRef, ObjectRef, PieceRef, ProjectionRef};

/// Level of detail.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Lod {
    /// One line.
    Gist,
    /// What one needs to go on.
    #[default]
    Summary,
    /// Everything that the budget holds.
    Full,
}

/// An argument of an action, placed by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A value, encoded.
    Value(Blob),
    /// One of the session's own things.
    Ref(RefArg),
    /// Several arguments, of which some may be refs.
    List(Vec<Arg>),
    /// A value read from another session's thing.
    Copied(Copied),
}

/// A thing of the session as the reader saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefArg {
    /// The app's own name of it.
    pub key: String,
    /// The meaning that the reader saw; an app refuses another one as stale.
    pub rev: u64,
    /// Its type, if it has one.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
}

/// A value that came from another session by reference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Copied {
    /// The value, encoded.
    pub value: Blob,
    /// The session it was read from: `editor/main`.
    pub from: String,
    /// What it is called there.
    pub label: String,
}

impl From<Value> for Arg {
    fn from(value: Value) -> Arg {
        Arg::Value(value.to_blob())
    }
}

/// Arguments by parameter name.
pub type Args = BTreeMap<String, Arg>;

/// A thing that can be referred to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ObjectSlot {
    /// The app's own name of it, never used again for something else.
    pub key: String,
    /// Changes when the thing's meaning does.
    #[serde(default)]
    pub rev: u64,
    /// Its type, for `Anchor<type>`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// What is shown.
    pub label: String,
}

/// A ready-made action on the same session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinkSlot {
    /// What is shown.
    pub label: String,
    /// The action's name.
    pub action: String,
    /// Its bound arguments; refs among them carry the rev that they were made for.
    #[serde(default)]
    pub args: Args,
    /// True when the label hides a value worth varying: the call is then shown as the title.
    #[serde(default)]
    pub titled: bool,
}

/// Exact text, shown in a fence that is longer than any run of backticks in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The fence's language.
    #[serde(default)]
    pub lang: String,
    /// The text; lines end with `\n`, the last one may lack it.
    pub text: String,
    /// The first line's number, when lines are to be numbered (`N<TAB>text`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
}

/// One piece of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Markdown. What looks like an anchor, a fence or a window's heading in it is made inert.
    Text(String),
    /// A thing.
    Object(ObjectSlot),
    /// An action.
    Link(LinkSlot),
    /// Exact text.
    Code(Code),
}

/// A window's content at one version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// The app's state version: only grows within one life of the process.
    pub version: u64,
    /// True when nothing changed since the request's `known_version`: the rest is then empty.
    #[serde(default)]
    pub unchanged: bool,
    /// What the heading says after the address: `src/parse.rs · 412 lines · saved`.
    #[serde(default)]
    pub title: String,
    /// Links for the likely next moves.
    #[serde(default)]
    pub nav: Vec<LinkSlot>,
    /// What is shown.
    #[serde(default)]
    pub content: Vec<Piece>,
    /// Where in the whole the content stands: `lines 1-40`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Actions that make sense now, by name; none: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<String>>,
    /// Names that calls may use for keys: `selection`.
    #[serde(default)]
    pub names: BTreeMap<String, ObjectSlot>,
    /// The key that has the focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// State of the app's own, for `view --json`.
    #[serde(default)]
    pub custom: BTreeMap<String, Value>,
    /// About how many tokens were left out.
    #[serde(default)]
    pub hidden_tokens: u64,
}
