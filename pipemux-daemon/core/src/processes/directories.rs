//! The directories for the state and logs of sessions.

use crate::keys::{SessionKey, directory_name};

/// The directory that has the states and logs of all sessions; an absolute path.
#[derive(Debug, Default)]
pub(super) struct Directories(String);

impl Directories {
    pub fn new(state_dir: String) -> Self {
        Self(state_dir)
    }

    /// PipeMux's own directory.
    pub fn base(&self) -> &str {
        &self.0
    }

    /// The session's own directory.
    pub fn state_of(&self, key: &SessionKey) -> String {
        let (base, addr) = (&self.0, &key.addr);
        format!("{base}/sessions/{}/{}/{}", owner(key), addr.provider, addr.session)
    }

    /// The log that the session's process writes to; sessions that share a process share its log.
    pub fn log_of(&self, key: &SessionKey, shares_process: bool) -> String {
        let (base, addr) = (&self.0, &key.addr);
        match shares_process {
            true => format!("{base}/logs/user/{}.log", addr.provider),
            false => format!("{base}/logs/{}/{}.{}.log", owner(key), addr.provider, addr.session),
        }
    }
}

fn owner(key: &SessionKey) -> String {
    key.workspace.as_deref().map_or("user".into(), directory_name)
}
