//! Verbs that print until they are stopped: `watch` and `logs --follow`. They end on Ctrl-C, when
//! the time that `--timeout` names has passed, or when nobody reads their output any more. When the
//! daemon ends, they wait for the next one.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::Answer;
use pipemux_client::proto::{Code, Fault};
use pipemux_client::{ClientError, Options};
use pipemux_proto::deadline;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::requester::Requester;
use crate::output::{self, WriteOutcome};

/// The time in milliseconds that a request waits for an event before the next is sent.
pub const LONG_POLL_MS: u32 = 20_000;

/// Pauses between attempts to connect to the next daemon: the first one, and the longest.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(50);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The time that a daemon has to end.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(15);

/// Chunks that are received ahead of being written.
const QUEUE: usize = 4;

/// A piece of output.
pub enum Chunk {
    /// This is written, and more follows.
    More(Vec<u8>),
    /// This is written, and the command ends with this status.
    Last(Vec<u8>, u8),
    /// This is written to standard error, and the command ends with this status.
    Error(Vec<u8>, u8),
}

/// A source of output.
pub trait Source: Send {
    /// Requests the next chunk and waits for it.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] when the daemon was lost, after which the stream waits for
    /// another daemon. Any other error ends the stream.
    fn next(
        &mut self,
        requester: &Requester,
        connection: &mut Connection,
    ) -> Result<Chunk, ClientError>;
}

enum StreamEvent {
    Chunk(Result<Chunk, ClientError>),
    /// A signal came, or the reader of the output is gone.
    Stop,
}

/// Writes the chunks of a source until an end, at most for the time that the command line names.
/// Returns the exit status.
///
/// # Errors
/// Any error of the source, except the loss of the daemon; [`ClientError::Refused`] when the time
/// passes before all that is `wanted` came.
pub fn stream(
    requester: &Requester,
    source: impl Source + 'static,
    wanted: Option<&str>,
) -> Result<u8, ClientError> {
    let limit = requester.global.timeout;
    let deadline = limit.map(deadline::after);
    let connection = Connection::open(&requester.options)?;
    let (send, events) = sync_channel(QUEUE);
    on_signals({
        let send = send.clone();
        move || drop(send.send(StreamEvent::Stop))
    });
    stop_on_closed_output(send.clone());
    let requester = requester.clone();
    // The thread is abandoned at the end: its result is not needed any more.
    thread::spawn(move || request_chunks(&requester, connection, source, &send));
    match (write_chunks(&events, deadline)?, wanted, limit) {
        (Some(status), ..) => Ok(status),
        (None, Some(wanted), Some(limit)) => {
            let seconds = limit.as_secs_f64();
            let message = format!("{wanted} did not come within {seconds} s");
            Err(ClientError::Refused(Fault::unavailable(message)))
        }
        (None, ..) => Ok(0),
    }
}

/// Writes what `produce` sends until it ends, or an end of the command comes, at most for `limit`.
/// `produce` runs on a thread of its own; what it calls to send returns false when nobody reads any
/// more. Returns the exit status.
///
/// # Errors
/// None of its own: the output's are reported.
pub fn copy_until_stopped(
    limit: Option<Duration>,
    produce: impl FnOnce(&dyn Fn(Vec<u8>) -> bool) + Send + 'static,
) -> Result<u8, ClientError> {
    let (send, events) = sync_channel(QUEUE);
    on_signals({
        let send = send.clone();
        move || drop(send.send(StreamEvent::Stop))
    });
    stop_on_closed_output(send.clone());
    thread::spawn(move || {
        produce(&|bytes| send.send(StreamEvent::Chunk(Ok(Chunk::More(bytes)))).is_ok());
        let _ = send.send(StreamEvent::Stop);
    });
    let deadline = limit.map(deadline::after);
    write_chunks(&events, deadline).map(|status| status.unwrap_or(0))
}

/// Makes the chunk of an answer of another kind than the source expects: its text, and the end. An
/// answer that says the daemon is ending counts as the loss of the daemon.
///
/// # Errors
/// The daemon is ending.
pub fn end_with_answer(requester: &Requester, answer: &Answer) -> Result<Chunk, ClientError> {
    if answer.exit == Code::Unavailable.exit_status() {
        return Err(ClientError::Unreachable(Fault::unavailable("the daemon is shutting down")));
    }
    let bytes = output::format_answer(answer, requester.global.json);
    Ok(match answer.error && !requester.global.json {
        true => Chunk::Error(bytes, answer.exit),
        false => Chunk::Last(bytes, answer.exit),
    })
}

/// Formats a line of the client's own; `kind` names it for programs.
pub fn notice(requester: &Requester, kind: &str, text: &str) -> Vec<u8> {
    match requester.global.json {
        true => format!("{}\n", json!({ "what": kind, "text": text })).into_bytes(),
        false => format!("{text}\n").into_bytes(),
    }
}

/// Writes chunks until an end. Returns the exit status; `None` when the deadline passed.
fn write_chunks(
    events: &Receiver<StreamEvent>,
    deadline: Option<Instant>,
) -> Result<Option<u8>, ClientError> {
    let next = || match deadline {
        None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(deadline) => events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
    };
    loop {
        let chunk = match next() {
            Ok(StreamEvent::Chunk(chunk)) => chunk?,
            Ok(StreamEvent::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(Some(0)),
            Err(RecvTimeoutError::Timeout) => return Ok(None),
        };
        let (bytes, end) = match chunk {
            Chunk::More(bytes) => (bytes, None),
            Chunk::Last(bytes, status) => (bytes, Some(status)),
            Chunk::Error(bytes, status) => {
                output::write_stderr(&bytes);
                return Ok(Some(status));
            }
        };
        match output::write_stdout(&bytes) {
            Ok(WriteOutcome::Complete) => {}
            Ok(WriteOutcome::ReaderGone) => return Ok(Some(0)),
            Err(error) => {
                output::report_write_error(&error);
                return Ok(Some(1));
            }
        }
        if end.is_some() {
            return Ok(end);
        }
    }
}

fn request_chunks(
    requester: &Requester,
    mut connection: Connection,
    mut source: impl Source,
    send: &SyncSender<StreamEvent>,
) {
    loop {
        let chunk = match source.next(requester, &mut connection) {
            Err(ClientError::Unreachable(_)) => {
                let text = "the daemon is gone; waiting for another one";
                let lost = Chunk::More(notice(requester, "lost", text));
                if send.send(StreamEvent::Chunk(Ok(lost))).is_err() {
                    return;
                }
                // A daemon that is ending accepts connections until it is gone.
                connection.wait_closed(SHUTDOWN_TIMEOUT);
                connection = wait_for_daemon(&requester.options);
                Ok(Chunk::More(notice(requester, "found", "connected to a daemon again")))
            }
            chunk => chunk,
        };
        let ends = !matches!(chunk, Ok(Chunk::More(_)));
        if send.send(StreamEvent::Chunk(chunk)).is_err() || ends {
            return;
        }
    }
}

/// Waits for a daemon that somebody else starts. Starting one here would undo a `pipemux down`.
pub fn wait_for_daemon(options: &Options) -> Connection {
    let mut pause = RETRY_PAUSE_MIN;
    loop {
        // A daemon of another version is an error here, and is waited out as well.
        if let Ok(Some(connection)) = Connection::open_existing(options) {
            return connection;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
    }
}

/// Calls a function once when the process is asked to end, on a thread of its own.
pub fn on_signals(stop: impl FnOnce() + Send + 'static) {
    let Ok((mut ours, theirs)) = UnixStream::pair() else { return };
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        // If this fails, the signal ends the process by default, which is acceptable too.
        let _ = theirs.try_clone().map(|end| signal_hook::low_level::pipe::register(signal, end));
    }
    thread::spawn(move || {
        let _open = theirs;
        if io::Read::read(&mut ours, &mut [0]).is_ok() {
            stop();
        }
    });
}

/// Notices that the reader of the output is gone, also while there is nothing to write.
fn stop_on_closed_output(send: SyncSender<StreamEvent>) {
    thread::spawn(move || {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
        // With no events requested, `poll` reports only errors and hangups.
        while !matches!(poll(&mut watched, PollTimeout::NONE), Ok(1..)) {}
        let _ = send.send(StreamEvent::Stop);
    });
}
