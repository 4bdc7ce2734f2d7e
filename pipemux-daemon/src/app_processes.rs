//! The apps' processes: started and signalled through the launcher.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pipemux_core::{Signal, Start, Transport, limits};
use pipemux_launcher::{
    Limits, MarkOrigin, Order, ProcessMark, Report, Spawn, StopSignal, encode, orphans,
};
use pipemux_proto::Incarnation;
use rustc_hash::FxHashMap;

use crate::daemon_log::log;
use crate::launcher_process::{LauncherConnection, LauncherProcess};
use crate::limits::ORPHANS_MS;
use crate::sandbox::{self, PrivateDirectories};

#[derive(Debug)]
pub struct AppProcesses {
    program: PathBuf,
    origin: MarkOrigin,
    launcher: Option<LauncherConnection>,
    /// The transport between each process and the daemon.
    apps: FxHashMap<Incarnation, Transport>,
    waker: Waker,
    /// PipeMux's own directories, which no sandbox grants.
    private: PrivateDirectories,
}

/// An event of the launcher.
#[derive(Debug)]
pub enum LauncherEvent {
    Report(Report),
    /// The launcher is lost, and all its processes with it.
    Lost {
        /// The processes that were running or about to start.
        apps: Vec<Incarnation>,
    },
}

impl AppProcesses {
    /// Takes over a launcher, whose reports wake `waker`. Processes are marked with `origin`; none
    /// of them is granted the `private` directories. Must be called within a runtime.
    ///
    /// # Errors
    /// The launcher's socket can't be watched.
    pub fn new(
        program: PathBuf,
        origin: MarkOrigin,
        launcher: LauncherProcess,
        waker: Waker,
        private: PrivateDirectories,
    ) -> io::Result<Self> {
        let launcher = Some(LauncherConnection::new(launcher)?);
        Ok(Self { program, origin, launcher, apps: FxHashMap::default(), waker, private })
    }

    /// Orders a process that prints into the pipe `output`; returns the daemon's end of its
    /// connection, which is non-blocking.
    ///
    /// # Errors
    /// Why the process can't be ordered, in one line.
    pub fn start(&mut self, start: &Start, output: OwnedFd) -> Result<UnixStream, String> {
        let (ours, theirs) =
            socket_pair().map_err(|error| format!("can't create its connection: {error}"))?;
        let order = Order::Spawn(Spawn {
            incarnation: start.app.0,
            command: start.command.clone(),
            args: start.args.clone(),
            env: self.environment(start),
            cwd: start.cwd.clone(),
            fallback_cwd: start.state_dir.clone(),
            mark: self.origin.mark(start.app.0),
            stdio: start.transport == Transport::Stdio,
            sandbox: start.confinement.as_ref().map(|confinement| {
                sandbox::sandbox_of(confinement, &start.state_dir, self.private.all())
            }),
            limits: limits_of(&start.limits),
        });
        let fds = vec![OwnedFd::from(theirs), output];
        self.send_order(&order, fds)
            .map_err(|error| format!("the launcher can't start it: {error}"))?;
        self.apps.insert(start.app, start.transport);
        Ok(ours)
    }

    /// Orders a signal to a process and its group.
    pub fn signal(&mut self, app: Incarnation, signal: Signal) {
        if !self.apps.contains_key(&app) {
            return;
        }
        let signal = match signal {
            Signal::Terminate => StopSignal::Terminate,
            Signal::Kill => StopSignal::Kill,
        };
        let order = Order::Signal { incarnation: app.0, signal };
        if let Err(error) = self.send_order(&order, Vec::new()) {
            log(format_args!("can't signal a process: {error}"));
        }
    }

    /// Returns what the marks of these processes have in common.
    pub fn origin(&self) -> MarkOrigin {
        self.origin
    }

    /// Forgets a process that exited; returns whether it was known.
    pub fn forget(&mut self, app: Incarnation) -> bool {
        self.apps.remove(&app).is_some()
    }

    /// Returns how a process communicates with the daemon.
    pub fn transport(&self, app: Incarnation) -> Option<Transport> {
        self.apps.get(&app).copied()
    }

    /// Returns the next event of the launcher, and sends queued orders. When it is pending, the
    /// waker is woken by the next event.
    pub fn poll(&mut self) -> Poll<LauncherEvent> {
        let Some(launcher) = &mut self.launcher else { return Poll::Pending };
        let context = &mut Context::from_waker(&self.waker);
        let received = launcher.receive(context);
        match received.and_then(|report| launcher.send(context).map(|()| report)) {
            Ok(Some(report)) => Poll::Ready(LauncherEvent::Report(report)),
            Ok(None) => Poll::Pending,
            Err(error) => {
                log(format_args!("the launcher is lost: {error}"));
                self.end_lost_launcher();
                let mut apps: Vec<Incarnation> = self.apps.keys().copied().collect();
                apps.sort();
                Poll::Ready(LauncherEvent::Lost { apps })
            }
        }
    }

    /// Ends every process.
    pub fn end(self) {
        if let Some(launcher) = self.launcher {
            launcher.end();
        }
    }

    /// Returns the environment of a process. One whose files are confined keeps its temporary files
    /// with its state. One that isn't confined, or comes with PipeMux, is told where PipeMux's own
    /// directories are, so that it can keep others out of them.
    fn environment(&self, start: &Start) -> Vec<(String, String)> {
        let mut env = start.env.clone();
        let mut set = |name: &str, value: &str| {
            env.retain(|(other, _)| other != name);
            env.push((name.to_owned(), value.to_owned()));
        };
        let confinement = start.confinement.as_ref();
        if confinement.is_some_and(|confinement| confinement.files) {
            set("TMPDIR", &start.state_dir);
        }
        if confinement.is_none_or(|confinement| confinement.whole) {
            self.private.named().for_each(|(name, path)| set(name, path));
        }
        env
    }

    fn send_order(&mut self, order: &Order, fds: Vec<OwnedFd>) -> io::Result<()> {
        let bytes = encode(order)?;
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            None => {
                let new = LauncherConnection::new(LauncherProcess::start(&self.program)?)?;
                log("a new launcher runs");
                self.launcher.insert(new)
            }
        };
        launcher.push(bytes, fds);
        // Sent at once, so that the launcher works while this turn goes on. What can't be sent now,
        // and a lost launcher, are handled in the turn that this wakes.
        let sent = launcher.send(&mut Context::from_waker(&self.waker));
        if sent.is_err() || launcher.has_orders() {
            self.waker.wake_by_ref();
        }
        Ok(())
    }

    /// Makes sure that nothing is left of a lost launcher's apps.
    fn end_lost_launcher(&mut self) {
        let Some(launcher) = self.launcher.take() else { return };
        launcher.kill();
        // Where orphans can be adopted they are this process's children now, and it has no others.
        let own = |mark: ProcessMark| mark.is_of(self.origin);
        if !orphans::end_all(&[], own, Duration::from_millis(ORPHANS_MS)) {
            log("some processes of a lost launcher could not be ended");
        }
    }
}

/// Returns the limits of a process: those of its manifest, else the default ones.
pub fn limits_of(manifest: &pipemux_core::manifest::Limits) -> Limits {
    Limits {
        memory: Some(manifest.memory.map_or(limits::APP_MEMORY_MAX, |max| max.0)),
        cpu: manifest.cpu,
        files: Some(manifest.files.unwrap_or(limits::APP_FILES_MAX)),
        processes: Some(manifest.processes.unwrap_or(limits::APP_PROCESSES_MAX)),
        threads: Some(manifest.threads.unwrap_or(limits::APP_THREADS_MAX)),
        disk: Some(manifest.disk.map_or(limits::APP_DISK_MAX, |max| max.0)),
    }
}

/// Creates a connection: the daemon's end, which is non-blocking, and the app's. The app's end
/// blocks, because its program may expect that.
fn socket_pair() -> io::Result<(UnixStream, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs))
}
