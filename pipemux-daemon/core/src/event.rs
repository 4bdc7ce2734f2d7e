//! What comes into the core and what goes out: one closed enum each.

use bytes::Bytes;
use pipemux_proto::client::Providers;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame};

use crate::manifest::{Limits, Manifest, Transport};
use crate::persist::records::Record;

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

/// Something happened outside.
#[derive(Debug)]
pub enum Event {
    /// A client of the same user connected.
    ClientOpened {
        /// Who.
        client: ClientId,
    },
    /// A client sent a frame.
    ClientFrame {
        /// Who.
        client: ClientId,
        /// What.
        frame: Frame,
    },
    /// What a client sent are no frames. Nothing more is read from it.
    ClientBroken {
        /// Who.
        client: ClientId,
        /// Why.
        why: String,
    },
    /// A client is gone.
    ClientClosed {
        /// Who.
        client: ClientId,
    },
    /// An app sent a frame.
    AppFrame {
        /// The process's life.
        app: Incarnation,
        /// What.
        frame: Frame,
    },
    /// What an app sent are no frames. Nothing more is read from it.
    AppBroken {
        /// The process's life.
        app: Incarnation,
        /// Why.
        why: String,
    },
    /// An app closed its connection; its process may live on.
    AppClosed {
        /// The process's life.
        app: Incarnation,
    },
    /// A process runs.
    Started {
        /// Its life.
        app: Incarnation,
        /// Its process id.
        pid: u32,
    },
    /// A process could not be started.
    StartFailed {
        /// Its life.
        app: Incarnation,
        /// Why.
        why: String,
    },
    /// A process ended. All that it sent has been handed in before.
    Exited {
        /// Its life.
        app: Incarnation,
        /// How.
        exit: Exit,
        /// The last lines of its log.
        last_lines: Vec<String>,
    },
    /// The answer to [`Effect::ReadLog`] or [`Effect::WatchLog`].
    LogRead {
        /// Which.
        request: u64,
        /// A piece of the log, or why there is none.
        read: Result<LogText, String>,
    },
    /// The answer to [`Effect::LoadProviders`].
    Providers {
        /// Which.
        request: u64,
        /// What was read, or why the change was refused.
        read: Result<Manifests, Fault>,
    },
    /// IdempotencyRecords can't be written down, or can again.
    Disk {
        /// Why not.
        failing: Option<String>,
    },
    /// The daemon is asked to end.
    Stop,
}

/// The manifests that there are.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// The registered providers, each once.
    pub manifests: Vec<Manifest>,
    /// What was passed over and why, with file, line and field.
    pub problems: Vec<String>,
    /// What was changed before; whole lines, empty when nothing was.
    pub said: String,
}

/// A piece of a log. Positions count the bytes of a log from its beginning on, also those that were
/// rotated away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogText {
    /// What stands there; bytes that aren't UTF-8 are replaced. It ends where the log does now, so that
    /// its last line may go on in the next piece, or earlier where it would be too long.
    pub text: String,
    /// The position after it: what the next piece is asked for with.
    pub next: u64,
    /// Bytes between the position asked for and the beginning of the text that are kept no more.
    pub missed: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It used more than it may.
    OverLimit(Limit),
    /// By itself or a signal, with so much of its memory used that it most likely had no more.
    NearMemoryLimit {
        /// Its status, or its signal negated.
        status: i32,
        /// What it used at most, in bytes.
        used: u64,
        /// What it may use, in bytes.
        limit: u64,
    },
    /// The launcher was lost; how it ended isn't known.
    Lost,
}

/// A limit that a process is ended for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many seconds of processor time.
    Cpu(u64),
    /// So many processes, its descendants and itself.
    Processes(u64),
}

/// Something is to be done outside, in this order.
#[derive(Debug)]
pub enum Effect {
    /// Send a whole frame to a client.
    ToClient {
        /// To whom.
        client: ClientId,
        /// The frame.
        bytes: Bytes,
    },
    /// Send a whole frame to a client, whose parts lie where they are kept.
    ToClientInParts {
        /// To whom.
        client: ClientId,
        /// The frame, one part behind the other.
        parts: Vec<Bytes>,
    },
    /// Close a client's connection once what was sent before is written.
    CloseClient {
        /// Whose.
        client: ClientId,
    },
    /// Send a whole frame to an app.
    ToApp {
        /// To whom.
        app: Incarnation,
        /// The frame.
        bytes: Bytes,
    },
    /// Start a process; answered by `Started` or `StartFailed`.
    Start(Start),
    /// Signal a process and its group. An app that is gone is no error.
    Signal {
        /// Whom.
        app: Incarnation,
        /// With what.
        signal: Signal,
    },
    /// Read a log; answered by `LogRead` at once.
    ReadLog {
        /// Comes back.
        request: u64,
        /// The log's path.
        log: String,
        /// How many lines at most.
        lines: u32,
        /// None: the last lines. Otherwise the first ones after that position, possibly none.
        after: Option<u64>,
    },
    /// Read a log as soon as there is more than that position; answered by one `LogRead`, unless
    /// [`Effect::UnwatchLog`] comes first.
    WatchLog {
        /// Comes back.
        request: u64,
        /// The log's path.
        log: String,
        /// How many lines at most.
        lines: u32,
        /// The position, as a `LogRead` gave it.
        after: u64,
    },
    /// Nobody waits for that `WatchLog` any more; unknown ones are passed over.
    UnwatchLog {
        /// Which.
        request: u64,
    },
    /// Read the manifests, after that change to them; answered by `Providers`.
    LoadProviders {
        /// Comes back.
        request: u64,
        /// What is added or removed first.
        change: Providers,
    },
    /// Append a record to the saved state before any later effect is carried out.
    Persist(Record),
    /// Make the directory of a session that joins a process which runs already (0700).
    Prepare {
        /// Which.
        state_dir: String,
    },
    /// Remove the directory of a session that was ended, with all that is in it.
    Discard {
        /// Which.
        state_dir: String,
    },
    /// Everything has ended: leave the loop once what was sent is written.
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

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Its life.
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
    /// What it may use; what is none is the daemon's default.
    pub limits: Limits,
}
