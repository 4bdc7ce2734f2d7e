//! Connects to the daemon: finds its socket, exchanges greetings, and has a daemon started when
//! nobody listens.
//!
//! A refused connection proves nothing: a daemon may be about to listen, or about to end. Only the
//! daemon's lock decides, and only a daemon takes it. So the client never removes a socket; it
//! starts a `pipemuxd`, which finds out whether it is needed.
//!
//! The first request may go out together with the greeting, which saves a one-shot process one
//! round trip. A daemon of another version refuses the greeting and reads nothing that follows it.
//! If the connection ends before the daemon greets, greeting and request are sent again. The
//! request keeps its id, and the daemon records the id before it acts on the request, so the
//! request is carried out once, however often it is sent.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pipemux_proto::deadline;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::daemon::{self, StartOutcome};
use crate::error::ClientError;
use crate::incoming::{DaemonMessage, MessageReader, ReadError};
use crate::options::Options;
use crate::requests;
use crate::sandbox_hints;
use crate::service_unit::log_hint;

/// The time limit for finding, starting and greeting a daemon, if the request's is longer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns how long finding, starting and greeting a daemon may take together.
pub(crate) fn connect_timeout(options: &Options) -> Duration {
    CONNECT_TIMEOUT.min(options.timeout)
}

/// How long to try a daemon that holds the lock but doesn't listen, before another one is started:
/// the first may be about to end.
const LOCK_HOLDER_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection on which both sides have exchanged greetings.
pub(crate) type Established = (UnixStream, MessageReader);

/// The request that is sent directly after the greeting.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FirstRequest<'a> {
    /// A complete encoded request, or nothing.
    pub bytes: &'a [u8],
    /// True when the request changes something: if it was sent and no greeting comes, its outcome
    /// is unknown.
    pub acts: bool,
}

/// Connects to the daemon, and starts it if it is not running and the options allow it.
///
/// # Errors
/// [`ClientError::Unreachable`] with a hint, or [`ClientError::VersionMismatch`].
pub(crate) fn open(options: &Options) -> Result<Established, ClientError> {
    open_with(options, FirstRequest::default())
}

/// Does the same as [`open`] and sends a first request.
///
/// # Errors
/// See [`open`]; also [`ClientError::OutcomeUnknown`] when the request acts, was sent, and no
/// greeting came in time.
pub(crate) fn open_with(
    options: &Options,
    first: FirstRequest<'_>,
) -> Result<Established, ClientError> {
    let deadline = deadline::after(connect_timeout(options));
    loop {
        if let Some(established) = try_connect(options, deadline, first)? {
            return Ok(established);
        }
        if !options.start {
            let none = "no daemon listens for this user and state directory";
            return Err(ClientError::unreachable(none).hint("start it: pipemux up"));
        }
        if daemon::stays_down(&options.paths) {
            let why = "a person stopped PipeMux (pipemux down --stay); they start it again at a terminal: pipemux up";
            return Err(ClientError::unreachable(why));
        }
        options.known_daemon.may_start(&options.paths)?;
        let outcome = daemon::start(options, deadline)?;
        let retry_until = match outcome {
            StartOutcome::Listening => deadline,
            StartOutcome::AlreadyRunning => deadline.min(deadline::after(LOCK_HOLDER_TIMEOUT)),
        };
        let mut pause = Duration::from_millis(1);
        while Instant::now() < retry_until {
            if let Some(established) = try_connect(options, deadline, first)? {
                return Ok(established);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        if Instant::now() >= deadline {
            let why = match outcome {
                StartOutcome::Listening => "the daemon started, but can't be connected to",
                StartOutcome::AlreadyRunning => "a daemon holds the lock, but doesn't listen",
            };
            return Err(ClientError::unreachable(format!(
                "{why} at {} within {} s",
                options.paths.socket.display(),
                connect_timeout(options).as_secs_f64()
            ))
            .hint(log_hint(&options.paths))
            .hint("look: pipemux status · end it: pipemux down"));
        }
    }
}

/// Connects and greets once. Returns `None` when nobody listens, or the daemon that did has just
/// ended.
pub(crate) fn try_connect(
    options: &Options,
    deadline: Instant,
    first: FirstRequest<'_>,
) -> Result<Option<Established>, ClientError> {
    if let Some(established) = try_connect_at(&options.paths.socket, options, deadline, first)? {
        return Ok(Some(established));
    }
    match daemon::recorded_socket(&options.paths) {
        Some(socket) => try_connect_at(&socket, options, deadline, first),
        None => Ok(None),
    }
}

fn try_connect_at(
    socket: &Path,
    options: &Options,
    deadline: Instant,
    first: FirstRequest<'_>,
) -> Result<Option<Established>, ClientError> {
    let began = Instant::now();
    let stream = match connect(socket, deadline) {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => {
                    Err(no_greeting(options, began.elapsed()))
                }
                _ => Err(cannot_connect(socket, &error)),
            };
        }
    };
    check_socket_directory(socket.parent().unwrap_or(socket))?;
    exchange_greetings(stream, options, (began, deadline), first)
}

/// Makes the error of a socket that can't be connected to, with what to do about it.
fn cannot_connect(socket: &Path, error: &io::Error) -> ClientError {
    let socket = socket.display();
    // A mode of a file is refused with `EACCES`; `EPERM` comes from a filter of system calls.
    if error.raw_os_error() == Some(Errno::EPERM as i32) {
        let why = format!("a sandbox around this process forbids Unix sockets, such as {socket}");
        let hints = sandbox_hints::hints(|name| std::env::var(name).ok());
        return hints.into_iter().fold(ClientError::unreachable(why), ClientError::hint);
    }
    ClientError::unreachable(format!("can't connect to {socket}: {error}"))
        .hint("check the directory's owner and permissions")
}

/// Connects with a timeout: the queue of a daemon that hangs fills up, and a plain connect would
/// then wait without end.
fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(path)?;
    loop {
        let left = time_left(deadline)?;
        // On Linux the write timeout bounds connecting too. Where a full queue refuses instead,
        // nothing waits.
        socket.set_write_timeout(Some(left))?;
        match socket.connect(&address) {
            Ok(()) => return Ok(avoid_stdio_fds(OwnedFd::from(socket))?.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Moves the socket away from the numbers of the standard streams. It gets one of them when the
/// process was started with that stream closed, and the daemon would then receive what is printed.
fn avoid_stdio_fds(socket: OwnedFd) -> io::Result<OwnedFd> {
    // `try_clone` never returns a number below 3.
    if socket.as_raw_fd() <= 2 { socket.try_clone() } else { Ok(socket) }
}

/// Refuses a directory that another user could have put a socket into: `open` sends the caller's
/// whole environment.
fn check_socket_directory(directory: &Path) -> Result<(), ClientError> {
    let Ok(found) = directory.symlink_metadata() else { return Ok(()) };
    let own = found.is_dir() && found.uid() == nix::unistd::getuid().as_raw();
    if own && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(ClientError::unreachable(format!(
        "{} may hold somebody else's socket: expected a directory that you own and others can't write to",
        directory.display()
    ))
    .hint("remove it, or set PIPEMUX_RUNTIME_DIR to a directory of your own"))
}

fn exchange_greetings(
    mut stream: UnixStream,
    options: &Options,
    (began, deadline): (Instant, Instant),
    first: FirstRequest<'_>,
) -> Result<Option<Established>, ClientError> {
    let mut out = requests::hello(options.progress.is_some())?.to_vec();
    // Another daemon than the known one is sent nothing: who it is comes first.
    let waits = options.known_daemon.is_known();
    if !waits {
        out.extend_from_slice(first.bytes);
    }
    // `connect` has set the write timeout. A partly written frame is not a request.
    let sent = stream.write_all(&out);
    if sent.as_ref().is_err_and(is_timeout) {
        return Err(no_greeting(options, began.elapsed()));
    }
    let sent = SentFirst { acts: first.acts && !waits, is_whole: sent.is_ok() };
    let established =
        await_greeting((stream, MessageReader::default()), options, (began, deadline), sent)?;
    let Some((mut stream, reader)) = established else { return Ok(None) };
    if waits && stream.write_all(first.bytes).is_err() {
        return Ok(None);
    }
    Ok(Some((stream, reader)))
}

/// Goes on with a connection over which greeting and first request were sent, and this was
/// received. Returns `None` when the daemon ended before it greeted.
pub(crate) fn resume(
    stream: UnixStream,
    received: &[u8],
    options: &Options,
    acts: bool,
) -> Result<Option<Established>, ClientError> {
    if stream.set_nonblocking(false).is_err() {
        return Ok(None);
    }
    let mut reader = MessageReader::default();
    reader.handle_bytes(received);
    let began = Instant::now();
    let times = (began, deadline::behind(began, connect_timeout(options)));
    await_greeting((stream, reader), options, times, SentFirst { acts, is_whole: true })
}

/// The part of the greeting and first request that was sent.
#[derive(Debug, Clone, Copy)]
struct SentFirst {
    acts: bool,
    is_whole: bool,
}

fn await_greeting(
    (mut stream, mut reader): Established,
    options: &Options,
    (began, deadline): (Instant, Instant),
    sent: SentFirst,
) -> Result<Option<Established>, ClientError> {
    let no_greeting = || no_greeting(options, began.elapsed());
    let mut buffer = [0; 4096];
    loop {
        match reader.poll_message() {
            // A daemon that greets but can't be written to is about to end.
            Ok(Some(DaemonMessage::Hello)) => {
                options.known_daemon.greeted(reader.daemon(), &options.paths)?;
                return Ok(sent.is_whole.then_some((stream, reader)));
            }
            Ok(_) => {}
            Err(ReadError::Greeting(fault)) => return Err(ClientError::from_greeting(fault)),
            Err(ReadError::Invalid(what)) => {
                let socket = options.paths.socket.display();
                let message =
                    format!("the program that listens at {socket} is not pipemuxd: {what}");
                return Err(ClientError::unreachable(message).hint("look: pipemux status"));
            }
        }
        match read_with_deadline(&mut stream, &mut buffer, deadline) {
            Ok(0) => return Ok(None),
            Ok(length) => reader.handle_bytes(&buffer[..length]),
            Err(error) if is_timeout(&error) && sent.acts && sent.is_whole => {
                return Err(ClientError::lost(true, &no_greeting().fault().message));
            }
            Err(error) if is_timeout(&error) => return Err(no_greeting()),
            Err(_) => return Ok(None),
        }
    }
}

/// Reads once, and waits no longer than the deadline. It waits in `poll`, because a process that
/// waits in `read` is also woken when the daemon takes the request and the socket becomes writable.
pub(crate) fn read_with_deadline(
    stream: &mut UnixStream,
    buffer: &mut [u8],
    deadline: Instant,
) -> io::Result<usize> {
    loop {
        let left = time_left(deadline)?;
        // Rounded up, so that the loop doesn't spin for the last fraction of a millisecond.
        let left = PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(stream.as_fd(), PollFlags::POLLIN)], left) {
            Ok(0) | Err(Errno::EINTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Writes everything; each wait ends at the deadline.
pub(crate) fn write_with_deadline(
    stream: &mut UnixStream,
    bytes: &[u8],
    deadline: Instant,
) -> io::Result<()> {
    stream.set_write_timeout(Some(time_left(deadline)?))?;
    stream.write_all(bytes)
}

fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Returns true for the errors of a passed deadline.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    // A socket reports its own timeout as WouldBlock.
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn no_greeting(options: &Options, waited: Duration) -> ClientError {
    ClientError::unreachable(format!(
        "the daemon doesn't answer: no greeting at {} within {} s",
        options.paths.socket.display(),
        (waited.as_millis() / 100).max(1) as f64 / 10.0
    ))
    .hint(log_hint(&options.paths))
}
