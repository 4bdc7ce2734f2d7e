//! The daemon's side of its launcher: apps' processes are started and signalled here.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pipemux_core::{Signal, Start, Transport, limits};
use pipemux_launcher::{Force, Inbox, Limits, Order, Origin, Report, Spawn, encode, orphans, send};
use pipemux_proto::Incarnation;
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::limits::{LAUNCHER_END_S, ORPHANS_MS};
use crate::note::note;

/// A launcher's process and the socket to it.
#[derive(Debug)]
pub struct Launcher {
    process: Child,
    socket: StdStream,
}

impl Launcher {
    /// Starts a launcher. `program` is this program.
    ///
    /// # Errors
    /// As `socketpair` and `spawn`.
    pub fn start(program: &Path) -> io::Result<Self> {
        let (socket, theirs) = StdStream::pair()?;
        let process = Command::new(program)
            .arg("launcher")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // Standard output is the starting client's pipe, which has to end.
            .stdout(io::stderr())
            .spawn()?;
        Ok(Self { process, socket })
    }

    /// Has the launcher end every app and itself, and waits for that.
    pub fn end(mut self) {
        // It sees the end of its orders; this side sees its own.
        let _ = self.socket.shutdown(Shutdown::Write);
        let _ = self.socket.set_nonblocking(false);
        let _ = self.socket.set_read_timeout(Some(Duration::from_secs(LAUNCHER_END_S)));
        while self.socket.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
        // Ended, or stuck for too long.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// All processes of apps.
#[derive(Debug)]
pub struct Children {
    program: PathBuf,
    origin: Origin,
    launcher: Option<Link>,
    /// How each speaks with the daemon.
    apps: HashMap<Incarnation, Transport>,
    waker: Waker,
}

#[derive(Debug)]
struct Link {
    launcher: Launcher,
    /// The launcher's, watched by the runtime.
    socket: UnixStream,
    inbox: Inbox,
    orders: VecDeque<Outgoing>,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

/// What the launcher says.
#[derive(Debug)]
pub enum Heard {
    /// A report.
    Report(Report),
    /// The launcher is gone, and with it all these.
    Lost {
        /// Processes that ran or were about to.
        apps: Vec<Incarnation>,
    },
}

impl Children {
    /// Takes over a launcher. To be called in a runtime; reports wake `waker`, and processes are marked
    /// as of `origin`.
    ///
    /// # Errors
    /// The socket can't be watched.
    pub fn new(
        program: PathBuf,
        origin: Origin,
        launcher: Launcher,
        waker: Waker,
    ) -> io::Result<Self> {
        let launcher = Some(Link::new(launcher)?);
        Ok(Self { program, origin, launcher, apps: HashMap::new(), waker })
    }

    /// Orders a process that prints into that pipe; returns the daemon's end of its connection,
    /// which doesn't block.
    ///
    /// # Errors
    /// What is missing for it, in one line.
    pub fn start(&mut self, start: &Start, output: OwnedFd) -> Result<StdStream, String> {
        let (ours, theirs) = connection().map_err(|error| format!("no connection: {error}"))?;
        let order = Order::Spawn(Spawn {
            incarnation: start.app.0,
            command: start.command.clone(),
            args: start.args.clone(),
            env: start.env.clone(),
            cwd: start.cwd.clone(),
            fallback_cwd: start.state_dir.clone(),
            mark: self.origin.mark(start.app.0),
            stdio: start.transport == Transport::Stdio,
            limits: Limits {
                memory: Some(start.limits.memory.map_or(limits::APP_MEMORY_MAX, |most| most.0)),
                cpu: start.limits.cpu,
                files: Some(start.limits.files.unwrap_or(limits::APP_FILES_MAX)),
                processes: Some(start.limits.processes.unwrap_or(limits::APP_PROCESSES_MAX)),
            },
        });
        let fds = vec![OwnedFd::from(theirs), output];
        self.order(&order, fds).map_err(|error| format!("the launcher can't start it: {error}"))?;
        self.apps.insert(start.app, start.transport);
        Ok(ours)
    }

    /// Orders a signal to a process and its group.
    pub fn signal(&mut self, app: Incarnation, signal: Signal) {
        if !self.apps.contains_key(&app) {
            return;
        }
        let force = match signal {
            Signal::Terminate => Force::Terminate,
            Signal::Kill => Force::Kill,
        };
        let order = Order::Signal { incarnation: app.0, force };
        if let Err(error) = self.order(&order, Vec::new()) {
            note(format_args!("can't signal a process: {error}"));
        }
    }

    /// Forgets a process that ended; true when it was known.
    pub fn forget(&mut self, app: Incarnation) -> bool {
        self.apps.remove(&app).is_some()
    }

    /// How a process speaks with the daemon.
    pub fn transport(&self, app: Incarnation) -> Option<Transport> {
        self.apps.get(&app).copied()
    }

    /// The next thing that the launcher says; sends waiting orders meanwhile. Nothing: the waker tells
    /// when.
    pub fn poll(&mut self) -> Poll<Heard> {
        let Some(link) = &mut self.launcher else { return Poll::Pending };
        let context = &mut Context::from_waker(&self.waker);
        match link.receive(context).and_then(|report| link.send(context).map(|()| report)) {
            Ok(Some(report)) => Poll::Ready(Heard::Report(report)),
            Ok(None) => Poll::Pending,
            Err(error) => {
                note(format_args!("the launcher is lost: {error}"));
                self.clean_up();
                let mut apps: Vec<Incarnation> = self.apps.keys().copied().collect();
                apps.sort();
                Poll::Ready(Heard::Lost { apps })
            }
        }
    }

    /// Ends every process.
    pub fn end(self) {
        if let Some(link) = self.launcher {
            drop(link.socket);
            link.launcher.end();
        }
    }

    fn order(&mut self, order: &Order, fds: Vec<OwnedFd>) -> io::Result<()> {
        let bytes = encode(order)?;
        let link = match &mut self.launcher {
            Some(link) => link,
            None => {
                let new = Link::new(Launcher::start(&self.program)?)?;
                note("a new launcher runs");
                self.launcher.insert(new)
            }
        };
        link.orders.push_back(Outgoing { bytes, sent: 0, fds });
        // At once: the launcher works while this turn goes on. What can't be sent now, or shows that it is
        // lost, is for its own turn.
        let sent = link.send(&mut Context::from_waker(&self.waker));
        if sent.is_err() || !link.orders.is_empty() {
            self.waker.wake_by_ref();
        }
        Ok(())
    }

    /// Makes sure that nothing is left of a lost launcher's apps.
    fn clean_up(&mut self) {
        let Some(mut link) = self.launcher.take() else { return };
        let _ = link.launcher.process.kill();
        let _ = link.launcher.process.wait();
        // They are this process's children now, where it can adopt; it has no others.
        if !orphans::end_all(&[], Some(self.origin), Duration::from_millis(ORPHANS_MS)) {
            note("processes of a lost launcher may be left");
        }
    }
}

impl Link {
    fn new(launcher: Launcher) -> io::Result<Self> {
        launcher.socket.set_nonblocking(true)?;
        let socket = UnixStream::from_std(launcher.socket.try_clone()?)?;
        let (inbox, orders) = (Inbox::default(), VecDeque::new());
        Ok(Self { launcher, socket, inbox, orders })
    }

    fn receive(&mut self, context: &mut Context<'_>) -> io::Result<Option<Report>> {
        loop {
            if let Some(report) = self.inbox.next_message()? {
                return Ok(Some(report));
            }
            let Poll::Ready(ready) = self.socket.poll_read_ready(context) else { return Ok(None) };
            ready?;
            let (socket, inbox) = (&self.socket, &mut self.inbox);
            match socket.try_io(Interest::READABLE, || inbox.receive(socket)) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if !may_go_on(&error) => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn send(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while let Some(first) = self.orders.front_mut() {
            let Poll::Ready(ready) = self.socket.poll_write_ready(context) else { return Ok(()) };
            ready?;
            let socket = &self.socket;
            let rest = &first.bytes[first.sent..];
            match socket.try_io(Interest::WRITABLE, || send(socket, rest, &first.fds)) {
                Ok(length) => {
                    // They went with the first bytes.
                    first.fds.clear();
                    first.sent += length;
                    if first.sent == first.bytes.len() {
                        self.orders.pop_front();
                    }
                }
                Err(error) if !may_go_on(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

fn connection() -> io::Result<(StdStream, StdStream)> {
    let (ours, theirs) = StdStream::pair()?;
    // Only this end: the app's program may expect one that blocks.
    ours.set_nonblocking(true)?;
    Ok((ours, theirs))
}

fn may_go_on(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
