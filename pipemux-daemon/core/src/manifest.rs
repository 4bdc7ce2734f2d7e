//! What a provider's manifest says.

use pipemux_proto::ProviderId;
use serde::Deserialize;

/// A registered app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name.
    pub id: ProviderId,
    /// The program: a path, or a name to be looked up in `PATH`.
    pub command: String,
    /// Arguments before those of `open`, which travel in the protocol.
    #[serde(default)]
    pub args: Vec<String>,
    /// One line for `pipemux apps`.
    #[serde(default)]
    pub description: String,
    /// Who shares its sessions.
    #[serde(default)]
    pub scope: Scope,
    /// Variables of the opener's environment that are passed on besides the usual ones.
    #[serde(default)]
    pub pass: Vec<String>,
}

/// Who shares a provider's sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each workspace has its own.
    #[default]
    Workspace,
    /// All of the user's workspaces share them.
    User,
}
