//! Which daemon, workspace and reader.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pipemux_proto::client::{Call, Format, Verb, Workspace};
use pipemux_proto::paths::Paths;

use crate::error::ClientError;
use crate::workspace;

/// How long a request may take when nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// What a client needs to know before it connects.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the daemon listens and keeps its state.
    pub paths: Paths,
    /// The daemon's program; none: `pipemuxd` beside the running program, else on `PATH`.
    pub daemon: Option<PathBuf>,
    /// False: never start a daemon.
    pub start: bool,
    /// Where requests act.
    pub workspace: Workspace,
    /// Who reads the answers.
    pub reader: String,
    /// How long the daemon may take for a request.
    pub timeout: Duration,
}

impl Options {
    /// Takes everything from the environment and the current directory: `PIPEMUX_WORKSPACE`,
    /// `PIPEMUX_READER`, `PIPEMUX_DAEMON`, and the variables of [`Paths::from_env`].
    ///
    /// # Errors
    /// [`ClientError::Invalid`]: the variables lead to no usable path.
    pub fn from_env() -> Result<Options, ClientError> {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let paths =
            Paths::from_env(get, nix::unistd::getuid().as_raw()).map_err(ClientError::invalid)?;
        let directory = std::env::current_dir().ok();
        Ok(Options {
            paths,
            daemon: get("PIPEMUX_DAEMON").map(PathBuf::from),
            start: true,
            workspace: workspace::find(get("PIPEMUX_WORKSPACE").as_deref(), directory.as_deref()),
            reader: get("PIPEMUX_READER").unwrap_or_else(|| workspace::DEFAULT.to_owned()),
            timeout: TIMEOUT,
        })
    }

    /// Acts in the workspace of that name.
    #[must_use]
    pub fn workspace(mut self, name: &str) -> Self {
        self.workspace = workspace::find(Some(name), None);
        self
    }

    /// Reads under that name.
    #[must_use]
    pub fn reader(mut self, name: impl Into<String>) -> Self {
        self.reader = name.into();
        self
    }

    /// A call of this workspace and reader under a fresh id, answered as Markdown.
    pub fn call(&self, verb: Verb) -> Call {
        Call {
            workspace: self.workspace.clone(),
            reader: self.reader.clone(),
            run_id: fresh_id(),
            format: Format::default(),
            budget: None,
            lod: None,
            at: None,
            titles: false,
            cwd: working_directory(),
            verb,
        }
    }
}

/// Where relative paths in calls start; empty when it can't be said in UTF-8.
fn working_directory() -> String {
    let directory = std::env::current_dir().ok();
    directory.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_default()
}

/// 128 bits that no other call has, in hex. The system's randomness keys the hasher; time and process
/// are hashed so that not even a forked copy of it repeats one.
fn fresh_id() -> String {
    let state = RandomState::new();
    let now = (Instant::now(), std::time::SystemTime::now(), std::process::id());
    format!("{:016x}{:016x}", state.hash_one((0, now)), state.hash_one((1, now)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_128_bits_and_never_the_same() {
        let ids: HashSet<String> = (0..2000).map(|_| fresh_id()).collect();
        assert_eq!(ids.len(), 2000);
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    }
}
