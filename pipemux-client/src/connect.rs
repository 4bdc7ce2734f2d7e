//! Finds the daemon: connects, greets, and has one started when nobody listens.
//!
//! A refused connection proves nothing: a daemon may be about to listen, or about to end. Only its lock
//! decides, and only a daemon takes that; so the client never removes a socket, it starts a `pipemuxd`
//! and lets that find out.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

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

/// Connects to the daemon, started if need be and allowed.
///
/// # Errors
/// [`ClientError::Unreachable`] with what to do, [`ClientError::Version`].
pub(crate) fn open(options: &Options) -> Result<Greeted, ClientError> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        if let Some(greeted) = knock(options, deadline)? {
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
            if let Some(greeted) = knock(options, deadline)? {
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
pub(crate) fn knock(options: &Options, deadline: Instant) -> Result<Option<Greeted>, ClientError> {
    if let Some(greeted) = knock_at(&options.paths.socket, options, deadline)? {
        return Ok(Some(greeted));
    }
    match daemon::recorded_socket(&options.paths) {
        Some(socket) => knock_at(&socket, options, deadline),
        None => Ok(None),
    }
}

fn knock_at(
    socket: &Path,
    options: &Options,
    deadline: Instant,
) -> Result<Option<Greeted>, ClientError> {
    let stream = match connect(socket, deadline) {
        Ok(stream) => stream,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ if is_timeout(&error) || error.kind() == io::ErrorKind::Interrupted => {
                    Err(silent(options))
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
    greet(stream, options, deadline)
}

/// Without blocking: a daemon that hangs lets its queue fill up, and then a plain connect waits for ever.
fn connect(path: &Path, deadline: Instant) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    let address = SockAddr::unix(path)?;
    let mut pause = Duration::from_millis(1);
    while let Err(error) = socket.connect(&address) {
        let passing =
            matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
        if !passing || Instant::now() >= deadline {
            return Err(error);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    socket.set_nonblocking(false)?;
    Ok(UnixStream::from(OwnedFd::from(socket)))
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
    deadline: Instant,
) -> Result<Option<Greeted>, ClientError> {
    let mut wire = Wire::default();
    let hello = Wire::hello()?;
    let outcome = until(&stream, deadline).and_then(|()| stream.write_all(&hello));
    if let Err(error) = outcome {
        return ended(&error, options);
    }
    let mut buffer = [0; 4096];
    loop {
        match wire.poll_incoming() {
            Ok(Some(Incoming::Hello)) => return Ok(Some((stream, wire))),
            Ok(_) => {}
            Err(WireError::Greeting(fault)) => return Err(ClientError::of_greeting(fault)),
            Err(WireError::Garbage(what)) => {
                let socket = options.paths.socket.display();
                let message = format!("what listens at {socket} is no pipemuxd: {what}");
                return Err(ClientError::unreachable(message).hint("look: pipemux status"));
            }
        }
        match until(&stream, deadline).and_then(|()| stream.read(&mut buffer)) {
            Ok(0) => return Ok(None),
            Ok(length) => wire.handle_bytes(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return ended(&error, options),
        }
    }
}

/// Lets the next reads and writes wait until the deadline and no longer.
pub(crate) fn until(stream: &UnixStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.set_write_timeout(Some(left))
}

/// True for errors that say: the deadline has passed.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    // A socket's own timeout is reported as WouldBlock.
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

fn ended(error: &io::Error, options: &Options) -> Result<Option<Greeted>, ClientError> {
    if is_timeout(error) { Err(silent(options)) } else { Ok(None) }
}

fn silent(options: &Options) -> ClientError {
    ClientError::unreachable(format!(
        "the daemon doesn't answer: no greeting at {} within {} s",
        options.paths.socket.display(),
        START_DEADLINE.as_secs()
    ))
    .hint(format!("what it says: {}", options.paths.log.display()))
}
