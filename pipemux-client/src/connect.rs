//! Finds the daemon: connects, greets, and has one started when nobody listens.
//!
//! A refused connection proves nothing: a daemon may be about to listen, or about to end. Only its lock
//! decides, and only a daemon takes that; so the client never removes a socket, it starts a `pipemuxd`
//! and lets that find out.
//!
//! A first request may go out together with the greeting, which spares a one-shot process a round trip. A
//! daemon of another version refuses the greeting and takes nothing behind it. A connection that ends
//! before the daemon's greeting is tried again, the request with it: it has the same id, and the daemon
//! writes the id down before anything comes of the request, so it is carried out once however often it
//! is sent.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::daemon::{self, Started};
use crate::error::ClientError;
use crate::options::Options;
use crate::wire::{Incoming, Wire, WireError};

/// How long finding, starting and greeting a daemon may take together.
pub(crate) const START_DEADLINE: Duration = Duration::from_secs(10);

/// How long to knock at a daemon that runs but doesn't listen before another is tried: it may end.
const PATIENCE: Duration = Duration::from_millis(500);

/// A connection on which both sides have greeted.
pub(crate) type Greeted = (UnixStream, Wire);

/// What goes out right behind the greeting.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct First<'a> {
    /// A whole request, or nothing.
    pub request: &'a [u8],
    /// True when it changes something: once it is out and no greeting comes, its outcome is unknown.
    pub acts: bool,
}

/// Connects to the daemon, started if need be and allowed.
///
/// # Errors
/// [`ClientError::Unreachable`] with what to do, [`ClientError::Version`].
pub(crate) fn open(options: &Options) -> Result<Greeted, ClientError> {
    open_with(options, First::default())
}

/// [`open`] with a first request.
///
/// # Errors
/// As [`open`]; [`ClientError::Unknown`] when the request acts, is out, and no greeting came in time.
pub(crate) fn open_with(options: &Options, first: First<'_>) -> Result<Greeted, ClientError> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        if let Some(greeted) = knock(options, deadline, first)? {
            return Ok(greeted);
        }
        if !options.start {
            let none = "no daemon listens for this user and state directory";
            return Err(ClientError::unreachable(none).hint("start it: pipemux up"));
        }
        let started = daemon::start(options, deadline)?;
        let patience = match started {
            Started::Ready => deadline,
            Started::Elsewhere => deadline.min(Instant::now() + PATIENCE),
        };
        let mut pause = Duration::from_millis(1);
        while Instant::now() < patience {
            if let Some(greeted) = knock(options, deadline, first)? {
                return Ok(greeted);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        if Instant::now() >= deadline {
            let why = match started {
                Started::Ready => "the daemon started, but can't be connected to",
                Started::Elsewhere => "a daemon holds the lock, but doesn't listen",
            };
            return Err(ClientError::unreachable(format!(
                "{why} at {} within {} s",
                options.paths.socket.display(),
                START_DEADLINE.as_secs()
            ))
            .hint(format!("what it says: {}", options.paths.log.display()))
            .hint("look: pipemux status · end it: pipemux down"));
        }
    }
}

/// Connects and greets once; `None` when nobody listens, or who did has just ended.
pub(crate) fn knock(
    options: &Options,
    deadline: Instant,
    first: First<'_>,
) -> Result<Option<Greeted>, ClientError> {
    if let Some(greeted) = knock_at(&options.paths.socket, options, deadline, first)? {
        return Ok(Some(greeted));
    }
    match daemon::recorded_socket(&options.paths) {
        Some(socket) => knock_at(&socket, options, deadline, first),
        None => Ok(None),
    }
}

fn knock_at(
    socket: &Path,
    options: &Options,
    deadline: Instant,
    first: First<'_>,
) -> Result<Option<Greeted>, ClientError> {
    let began = Instant::now();
    let stream = match connect(socket, deadline) {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => {
                    Err(silent(options, began.elapsed()))
                }
                _ => Err(ClientError::unreachable(format!(
                    "can't connect to {}: {error}",
                    socket.display()
                ))
                .hint("check the directory's owner and permissions")),
            };
        }
    };
    check_owner(socket.parent().unwrap_or(socket))?;
    greet(stream, options, (began, deadline), first)
}

/// With a timeout: a daemon that hangs lets its queue fill up, and then a plain connect waits for ever.
fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(path)?;
    loop {
        let left = left(deadline)?;
        // The one that connecting keeps to as well; where a full queue refuses instead, nothing waits.
        socket.set_write_timeout(Some(left))?;
        match socket.connect(&address) {
            Ok(()) => return Ok(apart(OwnedFd::from(socket))?.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The socket, not in the place of a standard stream that the process was started without: what is printed
/// would go to the daemon.
fn apart(socket: OwnedFd) -> io::Result<OwnedFd> {
    // A copy never gets one of these three numbers.
    if socket.as_raw_fd() <= 2 { socket.try_clone() } else { Ok(socket) }
}

/// Refuses a directory that somebody else could have put a socket into: `open` sends the caller's whole
/// environment.
fn check_owner(directory: &Path) -> Result<(), ClientError> {
    let Ok(found) = directory.symlink_metadata() else { return Ok(()) };
    let own = found.is_dir() && found.uid() == nix::unistd::getuid().as_raw();
    if own && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(ClientError::unreachable(format!(
        "{} may hold somebody else's socket: expected a directory that is yours and that others can't write to",
        directory.display()
    ))
    .hint("remove it, or set PIPEMUX_RUNTIME_DIR to a directory of your own"))
}

fn greet(
    mut stream: UnixStream,
    options: &Options,
    (began, deadline): (Instant, Instant),
    first: First<'_>,
) -> Result<Option<Greeted>, ClientError> {
    let silent = || silent(options, began.elapsed());
    let mut wire = Wire::default();
    let mut out = Wire::hello()?.to_vec();
    out.extend_from_slice(first.request);
    // The timeout of writing was set to connect. Half a frame is no request.
    let sent = stream.write_all(&out);
    if sent.as_ref().is_err_and(is_timeout) {
        return Err(silent());
    }
    let mut buffer = [0; 4096];
    loop {
        match wire.poll_incoming() {
            // Who greets and can't be written to is about to end.
            Ok(Some(Incoming::Hello)) => return Ok(sent.is_ok().then_some((stream, wire))),
            Ok(_) => {}
            Err(WireError::Greeting(fault)) => return Err(ClientError::of_greeting(fault)),
            Err(WireError::Garbage(what)) => {
                let socket = options.paths.socket.display();
                let message = format!("what listens at {socket} is no pipemuxd: {what}");
                return Err(ClientError::unreachable(message).hint("look: pipemux status"));
            }
        }
        match read_until(&mut stream, &mut buffer, deadline) {
            Ok(0) => return Ok(None),
            Ok(length) => wire.handle_bytes(&buffer[..length]),
            Err(error) if is_timeout(&error) && first.acts && sent.is_ok() => {
                return Err(ClientError::lost(true, &silent().fault().message));
            }
            Err(error) if is_timeout(&error) => return Err(silent()),
            Err(_) => return Ok(None),
        }
    }
}

/// Reads once, waiting until the deadline and no longer. It waits by `poll`: in a `read` it would be woken when the
/// daemon takes the request, too, for there is room to write then.
pub(crate) fn read_until(
    stream: &mut UnixStream,
    buffer: &mut [u8],
    deadline: Instant,
) -> io::Result<usize> {
    loop {
        let left = left(deadline)?;
        // Rounded up: no turn of the loop for what is left of a millisecond.
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
pub(crate) fn write_until(
    stream: &mut UnixStream,
    bytes: &[u8],
    deadline: Instant,
) -> io::Result<()> {
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(bytes)
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// True for errors that say: the deadline has passed.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    // A socket's own timeout is reported as WouldBlock.
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// Nothing came within what was left of the time.
fn silent(options: &Options, waited: Duration) -> ClientError {
    ClientError::unreachable(format!(
        "the daemon doesn't answer: no greeting at {} within {:.0} s",
        options.paths.socket.display(),
        waited.as_secs_f64().max(1.0)
    ))
    .hint(format!("what it says: {}", options.paths.log.display()))
}
