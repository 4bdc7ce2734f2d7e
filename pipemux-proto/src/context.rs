//! The Context of a window, in the JSON of Proposal-0001 (see "The Context" in `PROTOCOL.md`).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fault::{Code, Fault};
use crate::value::Value;

/// Everything that a reader has of one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The window's identity and version.
    pub header: ContextHeader,
    /// The state of the view.
    pub state: ViewState,
    /// The content as Markdown.
    pub content: String,
    /// The anchors by ref, and the actions with parameters by name; never null.
    pub anchors: BTreeMap<String, AnchorInfo>,
    /// The newest rounds of interaction with the session; null when there are none, and after an
    /// act.
    pub history: Option<Vec<HistoryRound>>,
    /// The problems of the window. If it can't be shown, `content` is the first error's text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
}

/// The identity and version of a Context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextHeader {
    /// The provider.
    pub app_id: String,
    /// The session's unique name: no other session of the daemon has it, and it is accepted where
    /// the session's own name is.
    pub session_id: String,
    /// The version, which the daemon counts; an app can't set it.
    pub version: ContextVersion,
    /// The time when the content was rendered: RFC 3339, UTC.
    pub timestamp: String,
}

/// The state of the view that a Context shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewState {
    /// The level of detail.
    pub current_lod: LodLevel,
    /// The anchor in focus, a key of [`Context::anchors`].
    pub focus_id: Option<String>,
    /// The app's own state.
    pub custom: Option<BTreeMap<String, Value>>,
}

/// The level of detail, spelled as in the proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LodLevel {
    /// Only one line.
    Gist,
    /// The facts that a reader needs in order to continue.
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

/// The version of a Context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContextVersion {
    /// The version of the data; it only grows.
    pub major: u64,
    /// The version of the level of detail.
    pub minor: u64,
    /// The version of the rendering.
    pub patch: u64,
}

impl ContextVersion {
    /// Returns true when both versions are of the same data.
    ///
    /// The proposal contradicts itself: its code also asks for equal minors, while its third test
    /// vector calls 1.0.0 and 1.1.0 compatible. This follows the test vector; the code's question
    /// is [`ContextVersion::renders_same_as`].
    pub fn is_compatible_with(self, other: Self) -> bool {
        self.major == other.major
    }

    /// Returns true when both versions are of the same data at the same level of detail.
    pub fn renders_same_as(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

impl fmt::Display for ContextVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for ContextVersion {
    type Err = Fault;

    /// Parses a version as it is displayed: `2.0.6`.
    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut parts = text.split('.').map(|part| {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| is_number)
        });
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => {
                Ok(Self { major, minor, patch })
            }
            _ => Err(Fault::new(Code::VersionMismatch, "a version is written like 2.0.6")),
        }
    }
}

/// The type of an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnchorType {
    /// An action without open parameters, which a click carries out.
    Button,
    /// An action with open parameters.
    Form,
    /// A thing that can be referred to.
    Reference,
}

/// The type of an anchor, and the ways to use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnchorInfo {
    /// The anchor's type.
    #[serde(rename = "type")]
    pub ty: AnchorType,
    /// The parameters of a form: all of an action's, or those that a link leaves open.
    pub params: Vec<String>,
    /// The thing that the action works on.
    pub target: Option<String>,
    /// The description of the thing's value if it isn't text: an image, a sound, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<AnchorMedia>,
    /// True for the action that takes what a person types below the window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input: bool,
}

/// The description of a thing's value, as in [`Media`](crate::projection::Media).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnchorMedia {
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

/// One round of interaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRound {
    /// The number in `history` and `undo`, from 1 in each workspace; `None` from older daemons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The action.
    pub action: String,
    /// The result in one line.
    pub result: String,
    /// The time: RFC 3339, UTC.
    pub timestamp: String,
}
