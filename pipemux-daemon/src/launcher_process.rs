//! The launcher's process, and the connection to it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::task::{Context, Poll};
use std::time::Duration;

use pipemux_launcher::{Inbox, Report, send};
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::limits::LAUNCHER_END_S;
use crate::service_manager;

/// Returns the path of this program.
///
/// # Errors
/// In words.
pub fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("can't find its own program: {error}"))
}

/// A launcher's process and the socket to it.
#[derive(Debug)]
pub struct LauncherProcess {
    process: Child,
    socket: StdStream,
}

impl LauncherProcess {
    /// Starts a launcher. `program` is this program.
    ///
    /// # Errors
    /// As `socketpair` and `spawn`.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (socket, theirs) = StdStream::pair()?;
        let mut command = Command::new(program);
        for name in service_manager::VARIABLES {
            command.env_remove(name);
        }
        let process = command
            .arg("launcher")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // Standard output is the starting client's pipe, which has to end.
            .stdout(io::stderr())
            .spawn()?;
        Ok(Self { process, socket })
    }

    /// Returns the socket to it, which blocks.
    pub fn socket(&self) -> &StdStream {
        &self.socket
    }

    /// Has the launcher kill every app and exit, and waits for that.
    pub fn end(mut self) {
        // The launcher reads the end of its orders, and this side then the end of its reports.
        let _ = self.socket.shutdown(Shutdown::Write);
        let _ = self.socket.set_nonblocking(false);
        let _ = self.socket.set_read_timeout(Some(Duration::from_secs(LAUNCHER_END_S)));
        while self.socket.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
        // By now it has exited, or it hangs.
        self.kill();
    }

    /// Kills the launcher at once.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The connection to a launcher, for sending orders and receiving reports.
#[derive(Debug)]
pub struct LauncherConnection {
    launcher: LauncherProcess,
    /// The same socket, registered with the runtime.
    socket: UnixStream,
    inbox: Inbox,
    orders: VecDeque<PendingOrder>,
}

/// An order that hasn't been sent completely.
#[derive(Debug)]
struct PendingOrder {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

impl LauncherConnection {
    /// Connects to a launcher. Must be called within a runtime.
    ///
    /// # Errors
    /// The socket can't be watched.
    pub fn new(launcher: LauncherProcess) -> io::Result<Self> {
        launcher.socket.set_nonblocking(true)?;
        let socket = UnixStream::from_std(launcher.socket.try_clone()?)?;
        let (inbox, orders) = (Inbox::default(), VecDeque::new());
        Ok(Self { launcher, socket, inbox, orders })
    }

    /// Queues an encoded order with its descriptors.
    pub fn push(&mut self, bytes: Vec<u8>, fds: Vec<OwnedFd>) {
        self.orders.push_back(PendingOrder { bytes, sent: 0, fds });
    }

    /// True while orders wait to be sent.
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// Returns the next report; when there is none, the context is woken by the next.
    ///
    /// # Errors
    /// The launcher is lost.
    pub fn receive(&mut self, context: &mut Context<'_>) -> io::Result<Option<Report>> {
        loop {
            if let Some(report) = self.inbox.next_message()? {
                return Ok(Some(report));
            }
            let Poll::Ready(ready) = self.socket.poll_read_ready(context) else { return Ok(None) };
            ready?;
            let (socket, inbox) = (&self.socket, &mut self.inbox);
            match socket.try_io(Interest::READABLE, || inbox.receive(socket)) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if !is_transient(&error) => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Sends as many orders as the socket takes; when some are left, the context is woken once
    /// there is room.
    ///
    /// # Errors
    /// The launcher is lost.
    pub fn send(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while let Some(first) = self.orders.front_mut() {
            let Poll::Ready(ready) = self.socket.poll_write_ready(context) else { return Ok(()) };
            ready?;
            let socket = &self.socket;
            let rest = &first.bytes[first.sent..];
            match socket.try_io(Interest::WRITABLE, || send(socket, rest, &first.fds)) {
                Ok(length) => {
                    // The descriptors went with the first bytes.
                    first.fds.clear();
                    first.sent += length;
                    if first.sent == first.bytes.len() {
                        self.orders.pop_front();
                    }
                }
                Err(error) if !is_transient(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Has the launcher kill every app and exit, and waits for that.
    pub fn end(self) {
        drop(self.socket);
        self.launcher.end();
    }

    /// Kills the launcher at once.
    pub fn kill(mut self) {
        self.launcher.kill();
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
