//! The saved options of a workspace and of its windows.

use serde::{Deserialize, Serialize};

/// A window's place in the workspace document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPlacement {
    /// The priority; windows with a higher one come earlier.
    pub priority: i32,
    /// The weight that determines the window's share of the budget, at least 1.
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
    #[serde(default, skip_serializing_if = "SavedPanels::is_none")]
    pub panels: SavedPanels,
}

/// The panels of a workspace document besides its windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPanels {
    /// The open windows, a line each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub views: bool,
    /// The description of the workspace.
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
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
