//! What comes into the core and what goes out: one closed enum each.

mod start;

use bytes::Bytes;
use pipemux_proto::client::ProvidersArgs;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, ProviderId};

use crate::audit::AuditEntry;
use crate::manifest::Manifest;
use crate::peer::PeerProcess;
use crate::persist::DiskFailure;
use crate::persist::records::Record;
use crate::rules::Rules;
use crate::usage::{UsageQuery, UsageReport};

pub use start::{Confinement, Start};

/// The two clocks, read by the driver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now {
    /// Milliseconds on a clock that only goes forward: deadlines.
    pub mono_ms: u64,
    /// Milliseconds since 1970, UTC: what people read.
    pub unix_ms: u64,
}

/// One connection of a client; the driver numbers them and never uses a number again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Something that happened outside the core.
#[derive(Debug)]
pub enum Event {
    /// A client of the same user connected.
    ClientOpened {
        /// The client's connection.
        client: ClientId,
    },
    /// A client sent a frame.
    ClientFrame {
        /// The client's connection.
        client: ClientId,
        /// The frame, whole.
        frame: Frame,
    },
    /// A client sent invalid framing; reading from it has stopped.
    ClientBroken {
        /// The client's connection.
        client: ClientId,
        /// What was wrong, in words.
        why: String,
    },
    /// A client sends nothing more, and still reads.
    ClientEnded {
        /// The client's connection.
        client: ClientId,
    },
    /// A client is gone.
    ClientClosed {
        /// The client's connection.
        client: ClientId,
    },
    /// The answer to [`Effect::IdentifyClient`].
    ClientIdentified {
        /// The client's connection.
        client: ClientId,
        /// Its process.
        peer: PeerProcess,
    },
    /// An app sent a frame.
    AppFrame {
        /// The incarnation of the process.
        app: Incarnation,
        /// The frame, whole.
        frame: Frame,
    },
    /// An app sent invalid framing; reading from it has stopped.
    AppBroken {
        /// The incarnation of the process.
        app: Incarnation,
        /// What was wrong, in words.
        why: String,
    },
    /// An app closed its connection; its process may live on.
    AppClosed {
        /// The incarnation of the process.
        app: Incarnation,
    },
    /// A process runs.
    Started {
        /// The incarnation of the process.
        app: Incarnation,
        /// Its process id.
        pid: u32,
        /// What was left out of its sandbox and why, in whole lines.
        left_out: Vec<String>,
    },
    /// A process could not be started.
    StartFailed {
        /// The incarnation of the process.
        app: Incarnation,
        /// What was wrong, in words.
        why: String,
    },
    /// A process ended. All that it sent has been handed in before.
    Exited {
        /// The incarnation of the process.
        app: Incarnation,
        /// How it ended.
        exit: Exit,
        /// The last lines of its log.
        last_lines: Vec<String>,
    },
    /// The program of a process changed on disk whose start asked to be told.
    ProgramChanged {
        /// The incarnation of the process.
        app: Incarnation,
    },
    /// The answer to [`Effect::StoreValue`].
    ValueStored {
        /// The number that the effect carried.
        request: u64,
        /// The file, or why it could not be written.
        stored: Result<String, String>,
    },
    /// The answer to [`Effect::ReadLog`] or [`Effect::WatchLog`].
    LogRead {
        /// The number that the effect carried.
        request: u64,
        /// A piece of the log, or why there is none.
        read: Result<LogText, String>,
    },
    /// The answer to [`Effect::ReadUsage`].
    UsageRead {
        /// The number that the effect carried.
        request: u64,
        /// What was read.
        report: UsageReport,
    },
    /// The answer to [`Effect::LoadProviders`].
    Providers {
        /// The number that the effect carried.
        request: u64,
        /// What was read, or why the change was refused.
        read: Result<Manifests, Fault>,
    },
    /// Records can't be written to disk, or can be again.
    Disk {
        /// Why they can't be written; none once they can be.
        failing: Option<DiskFailure>,
    },
    /// The rules in the user's settings are others than before.
    Rules(Rules),
    /// The daemon is asked to end.
    Stop,
}

/// The manifests that were found.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// The registered providers, each once.
    pub manifests: Vec<Manifest>,
    /// Manifests that are not registered, and why, with file, line and field.
    pub problems: Vec<ManifestProblem>,
    /// The app that was added before they were read.
    pub added: Option<ProviderId>,
    /// What was changed before they were read, in whole lines; empty when nothing was.
    pub said: String,
}

/// A manifest that is not registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestProblem {
    /// The app that the manifest was meant for: the name of its file, if that is a valid id.
    pub provider: Option<ProviderId>,
    /// The reason, with file, line and field.
    pub text: String,
}

impl std::fmt::Display for ManifestProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A piece of a log. Positions count the bytes of a log from its beginning, including those that
/// were rotated away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogText {
    /// The text at that position; bytes that aren't UTF-8 are replaced. It ends where the log now
    /// ends, so its last line may go on in the next piece, or earlier where the piece would be too
    /// long.
    pub text: String,
    /// The position after it, with which the next piece is asked for.
    pub next: u64,
    /// Bytes between the position that was asked for and the beginning of the text: they are no
    /// longer kept.
    pub missed: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It exceeded a limit and was ended.
    OverLimit(Limit),
    /// It exited or was killed with so much of its memory used that it most likely ran out.
    NearMemoryLimit {
        /// Its exit status, or the number of its signal negated.
        status: i32,
        /// The most memory that it used, in bytes.
        used: u64,
        /// Its memory limit, in bytes.
        limit: u64,
    },
    /// The launcher was lost, so nobody knows how the process ended.
    Lost,
}

/// A limit that a process is ended for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Processor time, in seconds.
    Cpu(u64),
    /// Processes: itself and its descendants.
    Processes(u64),
    /// Memory of all these processes together, in bytes.
    Memory(u64),
    /// Threads of all these processes together.
    Threads(u64),
    /// Its session's directory, in bytes.
    Disk(u64),
}

/// Something that the driver carries out; effects are carried out in their order.
#[derive(Debug)]
pub enum Effect {
    /// Send a whole frame to a client.
    ToClient {
        /// The receiving client.
        client: ClientId,
        /// The frame.
        bytes: Bytes,
    },
    /// Send a whole frame to a client, in parts that aren't copied.
    ToClientInParts {
        /// The receiving client.
        client: ClientId,
        /// The parts of the frame, in order.
        parts: Vec<Bytes>,
    },
    /// Close a client's connection once what was sent before is written.
    CloseClient {
        /// The client's connection.
        client: ClientId,
    },
    /// Find out which process a client is; answered by `ClientIdentified` before any other event.
    IdentifyClient {
        /// The client's connection.
        client: ClientId,
    },
    /// Write a line of the audit log before any later effect leaves the daemon.
    Audit(Box<AuditEntry>),
    /// Send a whole frame to an app.
    ToApp {
        /// The receiving incarnation.
        app: Incarnation,
        /// The frame.
        bytes: Bytes,
    },
    /// Start a process; answered by `Started` or `StartFailed`.
    Start(Start),
    /// Signal a process and its group. An app that is gone is no error.
    Signal {
        /// The incarnation of the process.
        app: Incarnation,
        /// The signal.
        signal: Signal,
    },
    /// Append bytes to a file with a value for a session, in the directory `values` of its own
    /// directory; answered by `ValueStored` at once.
    StoreValue {
        /// A number that the answer carries.
        request: u64,
        /// The file.
        path: String,
        /// How many bytes are in it; 0 for one that is to be made.
        offset: u64,
        /// The bytes.
        data: Bytes,
    },
    /// Remove files with values for sessions. One that is gone is no error.
    RemoveValues {
        /// The files.
        paths: Vec<String>,
    },
    /// Read a log; answered by `LogRead` at once.
    ReadLog {
        /// A number that the answer carries.
        request: u64,
        /// The log's path.
        log: String,
        /// The most lines that are read.
        lines: u32,
        /// None for the last lines; otherwise a position, after which the first lines are read,
        /// possibly none.
        after: Option<u64>,
    },
    /// Read a log as soon as there is more than that position; answered by one `LogRead`, unless
    /// [`Effect::UnwatchLog`] comes first.
    WatchLog {
        /// A number that the answer carries.
        request: u64,
        /// The log's path.
        log: String,
        /// The most lines that are read.
        lines: u32,
        /// The position, as a `LogRead` gave it.
        after: u64,
    },
    /// Nobody waits for that `WatchLog` any more; an unknown one is ignored.
    UnwatchLog {
        /// The number that the effect carried.
        request: u64,
    },
    /// Read what the daemon and these sessions use; answered by one `UsageRead`.
    ReadUsage {
        /// A number that the answer carries.
        request: u64,
        /// The sessions.
        sessions: Vec<UsageQuery>,
    },
    /// Make that change to the manifests, then read them; answered by `Providers`.
    LoadProviders {
        /// A number that the answer carries.
        request: u64,
        /// What is added or removed first.
        change: ProvidersArgs,
    },
    /// Append a record to the saved state before any later effect is carried out.
    Persist(Record),
    /// Make the directory (0700) of a session that joins a running process.
    Prepare {
        /// The directory's path.
        state_dir: String,
    },
    /// Remove the directory of a session that was ended, with all that is in it.
    Discard {
        /// The directory's path.
        state_dir: String,
    },
    /// Write a line of the daemon's own into the log of a process that runs.
    NoteLog {
        /// The incarnation of the process.
        app: Incarnation,
        /// The line.
        line: String,
    },
    /// Nobody needs a session's log any more: remove what is older than its last bytes.
    EndLog {
        /// The log's path.
        log: String,
        /// The number of bytes at its end that are kept; 0 removes the file.
        kept: u64,
    },
    /// Everything has ended: leave the loop once all queued bytes are written.
    Stopped,
}

/// How to signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM to the process group.
    Terminate,
    /// SIGKILL to the process group.
    Kill,
}
