//! The configuration of a core.

use pipemux_proto::hello::DaemonIdentity;

use crate::manifest::Manifest;
use crate::{bounds, limits};

/// The configuration of a core.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub providers: Vec<Manifest>,
    /// The directory for the state and logs of sessions; an absolute path.
    pub state_dir: String,
    /// The daemon's process id, for `status`.
    pub pid: u32,
    /// The name of this software in the greeting.
    pub software: String,
    /// The identity of the daemon in the greeting.
    pub identity: Option<DaemonIdentity>,
    /// The socket's path, for `status`.
    pub socket: String,
    /// The confinement of apps that this system supports, for `status`.
    pub confines: String,
    /// A description of what enforces apps' limits on this system, for `status`.
    pub limit_levels: String,
    /// Random bytes for the ids that apps are given, unless the saved state has some.
    pub pseudonym_key: [u8; 16],
    /// The rounds of history kept per workspace, if fewer than [`limits::HISTORY_MAX`].
    pub history_rounds: Option<usize>,
    /// The bounds of the daemon's IO, for `status --limits`.
    pub bounds: &'static [bounds::Bound],
}

impl Config {
    /// Returns how many rounds of history a workspace keeps.
    pub(crate) fn history_rounds(&self) -> usize {
        self.history_rounds.unwrap_or(limits::HISTORY_MAX)
    }
}
