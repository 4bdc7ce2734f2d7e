//! The parameters with which the driver starts an app's process.

use pipemux_proto::ids::Incarnation;

use crate::manifest::{Limits, PinnedPrograms, Transport};

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub app: Incarnation,
    /// The program: a path, or a name to be looked up in the environment's `PATH`.
    pub command: String,
    pub args: Vec<String>,
    /// The complete environment; the driver adds `PIPEMUX_FD`.
    pub env: Vec<(String, String)>,
    /// The working directory; if it no longer exists, the state directory is used.
    pub cwd: String,
    /// The session's own directory; the driver creates it (0700).
    pub state_dir: String,
    /// The file to which standard output and error are appended.
    pub log: String,
    /// The transport between the process and the daemon.
    pub transport: Transport,
    /// Files that must be as they were, or it isn't started.
    pub pinned: PinnedPrograms,
    /// The limits of the process; an unset one has the daemon's default.
    pub limits: Limits,
    /// True to tell when its program changes: `ProgramChanged`.
    pub watched: bool,
    /// The confinement of the process; `None` if it isn't confined.
    pub confinement: Option<Confinement>,
}

/// What a process is confined to, besides its own state directory and what its program needs to
/// run. Paths are absolute and not looked up yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// True for the strict level.
    pub strict: bool,
    /// True if its files are confined.
    pub files: bool,
    /// Folders of which nothing is granted, whatever links lead there.
    pub forbidden: Vec<String>,
    /// The folders for which the process's sessions were opened.
    pub folders: Vec<String>,
    /// Paths that its user named, outside of those folders; of a file, its directory is meant.
    pub paths: Vec<String>,
    /// True if it may change what is in the folders and at the paths.
    pub write_folders: bool,
    /// True if a folder that contains PipeMux's own directories is granted all the same; false if
    /// nothing of it is.
    pub whole: bool,
    /// Additional paths that the process may read.
    pub read: Vec<String>,
    /// Additional paths that the process may read and change.
    pub write: Vec<String>,
    /// True if it may open network connections.
    pub network: bool,
    /// True if it may start other programs.
    pub exec: bool,
    /// True if it may signal processes that it didn't start.
    pub signals: bool,
    /// True if it may watch files by the kernel's queues of events.
    pub watch: bool,
    /// One line for the log of a process that prints that something was refused: where it runs and
    /// what grants more.
    pub note: String,
}
