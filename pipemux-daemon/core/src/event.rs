//! The inputs and outputs of the core: one closed enum each.

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

/// A client connection; the driver numbers them and never reuses a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// Something that happened outside the core.
#[derive(Debug)]
pub enum Event {
    /// A client of the same user connected.
    ClientOpened { client: ClientId },
    /// A client sent a frame.
    ClientFrame {
        client: ClientId,
        /// The complete frame.
        frame: Frame,
    },
    /// A client sent invalid framing; reading from it has stopped.
    ClientBroken { client: ClientId, why: String },
    /// A client sends no more, but still reads.
    ClientEnded { client: ClientId },
    /// A client disconnected.
    ClientClosed { client: ClientId },
    /// The answer to [`Effect::IdentifyClient`].
    ClientIdentified { client: ClientId, peer: PeerProcess },
    /// An app sent a frame.
    AppFrame {
        app: Incarnation,
        /// The complete frame.
        frame: Frame,
    },
    /// An app sent invalid framing; reading from it has stopped.
    AppBroken { app: Incarnation, why: String },
    /// An app closed its connection; its process may live on.
    AppClosed { app: Incarnation },
    /// A process was started.
    Started {
        app: Incarnation,
        pid: u32,
        /// The parts left out of the sandbox and the reasons, in whole lines.
        left_out: Vec<String>,
    },
    /// A process could not be started.
    StartFailed { app: Incarnation, why: String },
    /// A process ended. Everything that it sent was passed on before.
    Exited {
        app: Incarnation,
        exit: Exit,
        /// The last lines of the process's log.
        last_lines: Vec<String>,
    },
    /// The program of a process whose start asked for this notification changed on disk.
    ProgramChanged { app: Incarnation },
    /// The answer to [`Effect::StoreValue`].
    ValueStored {
        /// The number that the effect carried.
        request: u64,
        /// The path of the file, or the reason why it could not be written.
        stored: Result<String, String>,
    },
    /// The answer to [`Effect::ReadLog`] or [`Effect::WatchLog`].
    LogRead {
        /// The number that the effect carried.
        request: u64,
        /// A piece of the log, or the reason why there is none.
        read: Result<LogText, String>,
    },
    /// The answer to [`Effect::ReadUsage`].
    UsageRead {
        /// The number that the effect carried.
        request: u64,
        report: UsageReport,
    },
    /// The answer to [`Effect::LoadProviders`].
    Providers {
        /// The number that the effect carried.
        request: u64,
        /// The manifests that were read, or the reason why the change was refused.
        read: Result<Manifests, Fault>,
    },
    /// Records can't be written to disk, or can be again.
    Disk {
        /// The reason why records can't be written; `None` once they can be.
        failing: Option<DiskFailure>,
    },
    /// The rules in the user's settings have changed.
    Rules(Rules),
    /// The daemon is asked to shut down.
    Stop,
}

/// The manifests that were found.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// The registered providers, each once.
    pub manifests: Vec<Manifest>,
    /// Manifests that are not registered, and why, with file, line and field.
    pub problems: Vec<ManifestProblem>,
    /// The app that was added before the manifests were read.
    pub added: Option<ProviderId>,
    /// The changes made before the manifests were read, in whole lines; empty if none.
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
    /// The position after the text, at which the next piece begins.
    pub next: u64,
    /// Bytes between the position that was asked for and the beginning of the text: they are no
    /// longer kept.
    pub missed: u64,
}

/// The way in which a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The process exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The process exceeded a limit and was ended.
    OverLimit(Limit),
    /// The process ended with so much memory in use that it most likely ran out.
    NearMemoryLimit {
        /// The exit status, or the negated number of the signal.
        status: i32,
        /// The peak memory usage, in bytes.
        used: u64,
        /// The memory limit, in bytes.
        limit: u64,
    },
    /// The launcher was lost, so it is unknown how the process ended.
    Lost,
}

/// A limit whose violation ends a process.
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
    /// The size of the session's directory, in bytes.
    Disk(u64),
}

/// Something that the driver carries out; effects are carried out in their order.
#[derive(Debug)]
pub enum Effect {
    /// Send a whole frame to a client.
    ToClient {
        client: ClientId,
        /// The encoded frame.
        bytes: Bytes,
    },
    /// Send a whole frame to a client, in parts that aren't copied.
    ToClientInParts {
        client: ClientId,
        /// The parts of the frame, in order.
        parts: Vec<Bytes>,
    },
    /// Close a client's connection once what was sent before is written.
    CloseClient { client: ClientId },
    /// Find out which process a client is; answered by `ClientIdentified` before any other event.
    IdentifyClient { client: ClientId },
    /// Write a line of the audit log before any later effect leaves the daemon.
    Audit(Box<AuditEntry>),
    /// Send a whole frame to an app.
    ToApp {
        app: Incarnation,
        /// The encoded frame.
        bytes: Bytes,
    },
    /// Start a process; answered by `Started` or `StartFailed`.
    Start(Start),
    /// Signal a process and its group. An app that is gone is no error.
    Signal { app: Incarnation, signal: Signal },
    /// Append bytes to a file with a value for a session, in the directory `values` of its own
    /// directory; answered by `ValueStored` at once.
    StoreValue {
        /// The number that the answer will carry.
        request: u64,
        path: String,
        /// The number of bytes that the file has so far; 0 for a new file.
        offset: u64,
        data: Bytes,
    },
    /// Remove files with values for sessions. One that is gone is no error.
    RemoveValues { paths: Vec<String> },
    /// Read a log; answered by `LogRead` at once.
    ReadLog {
        /// The number that the answer will carry.
        request: u64,
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
        /// The number that the answer will carry.
        request: u64,
        log: String,
        /// The most lines that are read.
        lines: u32,
        /// The position after the last piece, as given by a `LogRead`.
        after: u64,
    },
    /// Nobody waits for that `WatchLog` any more; an unknown one is ignored.
    UnwatchLog {
        /// The number that the effect carried.
        request: u64,
    },
    /// Read what the daemon and these sessions use; answered by one `UsageRead`.
    ReadUsage {
        /// The number that the answer will carry.
        request: u64,
        sessions: Vec<UsageQuery>,
    },
    /// Make that change to the manifests, then read them; answered by `Providers`.
    LoadProviders {
        /// The number that the answer will carry.
        request: u64,
        /// The manifests to be added or removed first.
        change: ProvidersArgs,
    },
    /// Append a record to the saved state before any later effect is carried out.
    Persist(Record),
    /// Make the directory (0700) of a session that joins a running process.
    Prepare { state_dir: String },
    /// Remove the directory of a session that was ended, with all that is in it.
    Discard { state_dir: String },
    /// Write a line of the daemon's own into the log of a process that runs.
    NoteLog { app: Incarnation, line: String },
    /// Nobody needs a session's log any more: remove what is older than its last bytes.
    EndLog {
        log: String,
        /// The number of bytes at its end that are kept; 0 removes the file.
        kept: u64,
    },
    /// Everything has ended: leave the loop once all queued bytes are written.
    Stopped,
}

/// A signal to a process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM to the process group.
    Terminate,
    /// SIGKILL to the process group.
    Kill,
}
