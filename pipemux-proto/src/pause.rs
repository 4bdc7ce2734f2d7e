//! Pauses: a person holds what agents do.

use serde::{Deserialize, Serialize};

use crate::client::ClockOffset;
use crate::consent::PersonChannel;

/// The readers whom a pause affects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// Everybody, in all workspaces.
    All,
    /// Everybody in the request's workspace.
    Workspace,
    /// The reader with this name, in all workspaces.
    Reader(String),
}

/// The arguments of `pause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseArgs {
    /// The scope of the pause.
    pub scope: PauseScope,
    /// True to begin, false to end it.
    pub on: bool,
    /// The channel of the person's decision; without it the request is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonChannel>,
    /// The clock by which its beginning is told, as in
    /// [`HistoryArgs::clock`](crate::client::HistoryArgs::clock).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clock: Vec<ClockOffset>,
}
