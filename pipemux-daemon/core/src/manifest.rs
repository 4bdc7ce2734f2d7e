//! The manifest of a provider.

mod sandbox;
mod units;

use std::collections::BTreeMap;

use pipemux_proto::ProviderId;
use pipemux_proto::prototype::Prototype;
use serde::Deserialize;

pub use sandbox::{FolderAccess, SandboxLevel};
pub use units::{Idle, Size};

/// A registered app.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub id: ProviderId,
    /// The program: a path, or a name to be looked up in `PATH`.
    pub command: String,
    /// Arguments before those of `open`, which travel in the protocol.
    #[serde(default)]
    pub args: Vec<String>,
    /// A one-line description for `pipemux apps`.
    #[serde(default)]
    pub description: String,
    /// The scope in which sessions are shared.
    #[serde(default)]
    pub scope: Scope,
    /// The transport between the app's processes and the daemon.
    #[serde(default)]
    pub transport: Transport,
    /// The sessions that share a process.
    #[serde(default)]
    pub isolation: Isolation,
    /// The behaviour after a crash.
    #[serde(default)]
    pub restart: Restart,
    /// The limits of each process; an unset one has the daemon's default.
    #[serde(default)]
    pub limits: Limits,
    /// The idle time after which an unused session is put to sleep.
    #[serde(default)]
    pub idle: Idle,
    /// The treatment of a session's own directory when the session is ended.
    #[serde(default)]
    pub state: State,
    /// Variables of the opener's environment that are passed on besides the usual ones.
    #[serde(default)]
    pub pass: Vec<String>,
    /// The level of the processes' confinement.
    #[serde(default)]
    pub sandbox: SandboxLevel,
    /// The app's access to the folder that its session was opened for. The default is read access,
    /// or none at the strict level.
    #[serde(default)]
    pub folder: Option<FolderAccess>,
    /// Directories and files that it may read besides; `~/` is the home directory.
    #[serde(default)]
    pub read: Vec<String>,
    /// Directories and files that it may read and change besides.
    #[serde(default)]
    pub write: Vec<String>,
    /// True if it may open network connections.
    #[serde(default)]
    pub network: bool,
    /// True if it may start other programs.
    #[serde(default)]
    pub exec: bool,
    /// True if it may signal processes that it didn't start.
    #[serde(default)]
    pub signals: bool,
    /// True if it may watch files by the kernel's queues of events, of which each user has few.
    #[serde(default)]
    pub watch: bool,
    /// True for a program that its author works on: it may change without being asked for.
    #[serde(default)]
    pub dev: bool,
    /// The SHA-256 of its program, and of other files that it runs, as they were when it was added;
    /// by path.
    #[serde(default)]
    pub pinned: BTreeMap<String, String>,
    /// The path of the manifest's file; empty for an app that comes with the daemon.
    #[serde(skip)]
    pub file: String,
    /// True when it takes the place of an app that comes with the daemon.
    #[serde(skip)]
    pub shadows: bool,
    /// The information about an app that comes with the daemon; `None` for other apps.
    #[serde(skip)]
    pub built_in: Option<Box<BuiltIn>>,
}

/// The information about an app that comes with the daemon, known before it ever ran.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltIn {
    /// The app's actions.
    pub prototypes: Vec<Prototype>,
    /// The text of `pipemux help` on the app.
    pub help: String,
}

impl Manifest {
    /// An app of that name and program, everything else as when a manifest says nothing of it.
    pub fn new(id: ProviderId, command: impl Into<String>) -> Self {
        Self {
            id,
            command: command.into(),
            args: Vec::new(),
            description: String::new(),
            scope: Scope::default(),
            transport: Transport::default(),
            isolation: Isolation::default(),
            restart: Restart::default(),
            limits: Limits::default(),
            idle: Idle::default(),
            state: State::default(),
            pass: Vec::new(),
            sandbox: SandboxLevel::default(),
            folder: None,
            read: Vec::new(),
            write: Vec::new(),
            network: false,
            exec: false,
            signals: false,
            watch: false,
            dev: false,
            pinned: BTreeMap::new(),
            file: String::new(),
            shadows: false,
            built_in: None,
        }
    }

    /// The access of the processes to the folder that a session was opened for.
    pub fn folder_access(&self) -> FolderAccess {
        self.folder.unwrap_or(match self.sandbox {
            SandboxLevel::Strict => FolderAccess::None,
            SandboxLevel::Standard | SandboxLevel::Off => FolderAccess::Read,
        })
    }
}

/// Files that are to be as they were when an app was added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinnedPrograms {
    /// The app's manifest.
    pub manifest: String,
    /// The SHA-256 of each file, in hexadecimal digits.
    pub files: BTreeMap<String, String>,
}

impl Manifest {
    /// Returns the files that must not have changed when it is started.
    pub fn pinned_programs(&self) -> PinnedPrograms {
        match self.dev {
            true => PinnedPrograms::default(),
            false => PinnedPrograms { manifest: self.file.clone(), files: self.pinned.clone() },
        }
    }
}

/// The scope in which a provider's sessions are shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each workspace has its own sessions.
    #[default]
    Workspace,
    /// All of the user's workspaces share the sessions.
    User,
}

/// The transport between a process and the daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Over descriptor 3; standard output and error are its log.
    #[default]
    Fd,
    /// Over standard input and output; standard error is its log.
    Stdio,
}

/// The sessions that share a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Each session has its own process.
    #[default]
    Session,
    /// All sessions of the provider share a process.
    Provider,
}

/// The behaviour after a crash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// The next use of the session starts the process again.
    #[default]
    OnCrash,
    /// The session stays down until `pipemux restart`.
    Never,
}

/// The treatment of a session's own directory when the session is ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The directory is kept, and found when the same session is opened again.
    #[default]
    Keep,
    /// The directory is removed.
    Discard,
}

/// The resource limits of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory of its own: bytes, or `"512M"`.
    #[serde(default)]
    pub memory: Option<Size>,
    /// Seconds of processor time in its whole life.
    #[serde(default)]
    pub cpu: Option<u64>,
    /// Open descriptors.
    #[serde(default)]
    pub files: Option<u64>,
    /// Processes, itself and all its descendants.
    #[serde(default)]
    pub processes: Option<u64>,
    /// Threads, of itself and all its descendants.
    #[serde(default)]
    pub threads: Option<u64>,
    /// The size of the state directory on disk: bytes, or `"512M"`.
    #[serde(default)]
    pub disk: Option<Size>,
    /// The size of the log before it is rotated: bytes, or `"8M"`.
    #[serde(default)]
    pub log: Option<Size>,
}
