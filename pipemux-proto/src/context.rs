//! The Context of a window: the source is Proposal-0001, whose JSON this is, letter by letter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// All that a reader has of one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// What it is of.
    pub header: Header,
    /// How it is seen.
    pub state: State,
    /// Markdown.
    pub content: String,
    /// What can be referred to, by ref: never null.
    pub anchors: BTreeMap<String, AnchorInfo>,
    /// What was done.
    pub history: Option<Vec<Round>>,
}

/// What a Context is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The provider.
    pub app_id: String,
    /// The session.
    pub session_id: String,
    /// Counted by the daemon; an app can't set it.
    pub version: ContextVersion,
    /// When the content was rendered: RFC 3339, UTC.
    pub timestamp: String,
}

/// How a Context is seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Level of detail.
    pub current_lod: LodLevel,
    /// The ref or key in focus.
    pub focus_id: Option<String>,
    /// The app's own.
    pub custom: Option<BTreeMap<String, Value>>,
}

/// Level of detail, as the proposal spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LodLevel {
    /// One line.
    Gist,
    /// What one needs to go on.
    Summary,
    /// Everything that the budget holds.
    Full,
}

impl From<crate::projection::Lod> for LodLevel {
    fn from(lod: crate::projection::Lod) -> Self {
        match lod {
            crate::projection::Lod::Gist => LodLevel::Gist,
            crate::projection::Lod::Summary => LodLevel::Summary,
            crate::projection::Lod::Full => LodLevel::Full,
        }
    }
}

/// Versions of a Context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContextVersion {
    /// Of the data; only grows.
    pub major: u64,
    /// Of the level of detail.
    pub minor: u64,
    /// Of the rendering.
    pub patch: u64,
}

impl ContextVersion {
    /// True when both are of the same data. The proposal's code also asks for equal minors, its third
    /// test vector calls 1.0.0 and 1.1.0 compatible: the vector is followed here, and the code's
    /// question is [`ContextVersion::renders_same_as`].
    pub fn is_compatible_with(self, other: Self) -> bool {
        self.major == other.major
    }

    /// True when both would be rendered from the same data at the same level of detail.
    pub fn renders_same_as(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

/// What an anchor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnchorType {
    /// An action without open parameters: a click carries it out.
    Button,
    /// An action with parameters.
    Form,
    /// A thing.
    Reference,
}

/// What can be done with an anchor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorInfo {
    /// What it is.
    #[serde(rename = "type")]
    pub ty: AnchorType,
    /// A form's parameters.
    pub params: Vec<String>,
    /// What it acts on.
    pub target: Option<String>,
}

/// One round of history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// What was asked.
    pub action: String,
    /// What came of it.
    pub result: String,
    /// When: RFC 3339, UTC.
    pub timestamp: String,
}
