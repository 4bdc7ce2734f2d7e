//! The loop: orders in, exits out.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, setsid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::channel::{Inbox, encode};
use crate::message::{Ended, Force, Order, Report, Spawn};
use crate::{orphans, spawn, sys};

/// How long descendants may take to die at the end; only one that hangs in the kernel needs it.
const END: Duration = Duration::from_secs(10);

/// Serves the daemon at the other end of standard input until that end closes; then kills every
/// descendant.
///
/// `nofile` is the soft limit of open files that apps get; none: the own one.
///
/// # Errors
/// What a launcher can't work without, or a daemon that can't be understood. Descendants are killed
/// all the same.
pub fn run(nofile: Option<u64>) -> io::Result<()> {
    // Not of the terminal's or the daemon's group: a Ctrl-C there isn't meant for apps.
    let _ = setsid();
    limit_files(nofile);
    orphans::adopt().map_err(io::Error::other)?;

    // These two stay open, so that descriptor 3 is never free while a child is prepared: the pipe over
    // which the standard library hears of a failed exec must not get that number.
    let (wake, woken) = UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
    // Handled, not ignored: children start with the default again. The daemon's end is what counts.
    let unread = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::clone(&unread))?;
    }

    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut launcher = Launcher { daemon, inbox: Inbox::default(), apps: HashMap::new() };
    let result = launcher.serve(&woken);
    let groups: Vec<Pid> = launcher.apps.values().filter_map(|app| group(&app.child)).collect();
    orphans::end_all(&groups, END);
    result
}

struct Launcher {
    daemon: UnixStream,
    inbox: Inbox,
    /// By process id; what is in here isn't reaped.
    apps: HashMap<i32, App>,
}

struct App {
    incarnation: u64,
    child: Child,
}

impl Launcher {
    fn serve(&mut self, mut woken: &UnixStream) -> io::Result<()> {
        loop {
            let daemon = self.daemon.as_fd();
            let mut ready = [
                PollFd::new(daemon, PollFlags::POLLIN),
                PollFd::new(woken.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut ready, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [ordered, died] = ready.map(|one| one.any().unwrap_or(true));
            if died {
                while woken.read(&mut [0; 64]).is_ok_and(|length| length > 0) {}
                self.report_dead()?;
            }
            if ordered && !self.take_orders()? {
                return Ok(());
            }
        }
    }

    /// False when the daemon is gone.
    fn take_orders(&mut self) -> io::Result<bool> {
        match self.inbox.receive(&self.daemon) {
            Ok(0) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
            other => other?,
        };
        while let Some(order) = self.inbox.next_message()? {
            match order {
                Order::Spawn(order) => self.spawn(&order)?,
                Order::Signal { incarnation, force } => self.signal(incarnation, force),
            }
        }
        Ok(true)
    }

    fn spawn(&mut self, order: &Spawn) -> io::Result<()> {
        let (Some(app), Some(log)) = (self.inbox.next_fd(), self.inbox.next_fd()) else {
            return Err(io::Error::other("a process to start came without its descriptors"));
        };
        let incarnation = order.incarnation;
        match spawn::spawn(order, app, log) {
            Ok(child) => {
                let pid = child.id();
                self.apps.insert(pid as i32, App { incarnation, child });
                self.report(&Report::Spawned { incarnation, pid })
            }
            Err(why) => self.report(&Report::SpawnFailed { incarnation, why }),
        }
    }

    fn signal(&self, incarnation: u64, force: Force) {
        let Some(app) = self.apps.values().find(|app| app.incarnation == incarnation) else {
            return;
        };
        let signal = match force {
            Force::Terminate => Signal::SIGTERM,
            Force::Kill => Signal::SIGKILL,
        };
        if let Some(group) = group(&app.child) {
            let _ = killpg(group, signal);
        }
    }

    fn report_dead(&mut self) -> io::Result<()> {
        while let Some(pid) = sys::next_dead()? {
            let Some(mut app) = self.apps.remove(&pid) else {
                // An orphan that was adopted. Reaped even when its status can't be read.
                let _ = waitpid(Pid::from_raw(pid), None);
                continue;
            };
            // Not reaped yet: the group is still this app's.
            if let Some(group) = group(&app.child) {
                let _ = killpg(group, Signal::SIGKILL);
            }
            let how = ended(app.child.wait()?);
            self.report(&Report::Exited { incarnation: app.incarnation, how })?;
        }
        Ok(())
    }

    fn report(&mut self, report: &Report) -> io::Result<()> {
        match self.daemon.write_all(&encode(report)?) {
            // Seen when reading, too; what was sent before the end is still read.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

fn group(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().map(Pid::from_raw)
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

fn limit_files(soft: Option<u64>) {
    let Some(soft) = soft else { return };
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.min(hard), hard);
    }
}
