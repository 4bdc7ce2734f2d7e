//! How a core is set up.

use pipemux_proto::hello::DaemonIdentity;

use crate::manifest::Manifest;
use crate::{bounds, limits};

/// How a core is set up.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The registered providers.
    pub providers: Vec<Manifest>,
    /// Where sessions keep their state and logs; an absolute path.
    pub state_dir: String,
    /// The daemon's process id, for `status`.
    pub pid: u32,
    /// What the greeting calls this software.
    pub software: String,
    /// Which daemon it says in its greeting that it is.
    pub identity: Option<DaemonIdentity>,
    /// The socket's path, for `status`.
    pub socket: String,
    /// What this system can confine apps to, for `status`.
    pub confines: String,
    /// Who holds apps to their limits here, for `status`.
    pub limit_levels: String,
    /// Random bytes for the ids that apps are given, unless the saved state has some.
    pub pseudonym_key: [u8; 16],
    /// How many rounds of history a workspace keeps, if the user set fewer than [`limits::HISTORY_MAX`].
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
