//! What starts the app's process.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Starts, kills and watches processes of the app. `pipemuxd` does it with a launcher, as for a
/// session.
pub trait Launch {
    /// Starts a process; returns the daemon's end of its connection, which blocks.
    ///
    /// # Errors
    /// Why it can't be started, in one line.
    fn start(&mut self, start: &Start) -> Result<UnixStream, String>;

    /// Kills a process with all that it started.
    fn kill(&mut self, incarnation: u64);

    /// Waits for the end of a process; returns how it ended, unless the time is over.
    fn wait(&mut self, incarnation: u64, most: Duration) -> Option<String>;

    /// Returns the last lines that the app printed.
    fn last_lines(&mut self) -> Vec<String>;
}

/// A process to start.
#[derive(Debug, Clone)]
pub struct Start {
    /// The incarnation number of the process.
    pub incarnation: u64,
    /// The working directory of the process.
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
}
