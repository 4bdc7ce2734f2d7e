//! What the driver needs in order to start the process of an app.

use pipemux_proto::ids::Incarnation;

use crate::manifest::{Limits, PinnedPrograms, Transport};

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Its incarnation.
    pub app: Incarnation,
    /// The program: a path, or a name to be looked up in the environment's `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment; the driver adds `PIPEMUX_FD`.
    pub env: Vec<(String, String)>,
    /// Its working directory; when it is gone, the state directory is taken.
    pub cwd: String,
    /// The session's own directory; the driver makes it (0700).
    pub state_dir: String,
    /// Where standard output and error go, appended.
    pub log: String,
    /// How it speaks with the daemon.
    pub transport: Transport,
    /// Files that must be as they were, or it isn't started.
    pub pinned: PinnedPrograms,
    /// Its limits; where one is none, the daemon's default holds.
    pub limits: Limits,
    /// True to tell when its program changes: `ProgramChanged`.
    pub watched: bool,
    /// What it is confined to; none if it isn't.
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
    /// The folders that its sessions were opened for.
    pub folders: Vec<String>,
    /// Paths that its user named, outside of those folders; of a file, its directory is meant.
    pub paths: Vec<String>,
    /// True if it may change what is in the folders and at the paths.
    pub write_folders: bool,
    /// True if a folder that contains PipeMux's own directories is granted all the same; false if
    /// nothing of it is.
    pub whole: bool,
    /// What it may read besides.
    pub read: Vec<String>,
    /// What it may read and change besides.
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
