//! The launcher's loop: handles orders, reports exits.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{Mode, umask};
use nix::unistd::setsid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::app_table::AppTable;
use crate::cgroup::CgroupTree;
use crate::channel::{Inbox, encode};
use crate::message::{Order, Report, Spawn};
use crate::spawn::Spawner;
use crate::{orphans, sys};

/// Files that apps create are not writable for others.
const UMASK: nix::libc::mode_t = 0o022;
/// The time for descendants to die at the end; only those stuck in the kernel need it.
const END: Duration = Duration::from_secs(10);

/// Serves the daemon on standard input until the daemon closes it, and then kills every descendant.
///
/// # Errors
/// The launcher can't work, or the daemon's orders are invalid. Descendants are killed in this
/// case, too.
pub fn run() -> io::Result<()> {
    sys::unblock_signals()?;
    // Leaves the group of the terminal and of the daemon: Ctrl-C is not meant for apps.
    let _ = setsid();
    // The mask of whoever started the daemon must not apply to apps.
    umask(Mode::from_bits_truncate(UMASK));
    // Where it is allowed, the launcher has priority over any number of processes that it has to
    // kill; apps get the default.
    sys::set_priority(-20);
    orphans::adopt().map_err(io::Error::other)?;

    // These two stay open, so that descriptor 3 is never free while a child is prepared. The
    // standard library, where it does that, must not get this number for the pipe that reports a
    // failed exec.
    let (wake, woken) = UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
    // Handled rather than ignored, because children inherit ignored signals. Only the daemon's end
    // ends the launcher.
    let unread = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::clone(&unread))?;
    }

    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (inbox, apps, spawner) = (Inbox::default(), AppTable::default(), Spawner::new()?);
    // A hierarchy that can't be taken over is left as it is; then the launcher counts.
    let cgroups = CgroupTree::find().and_then(|root| CgroupTree::take_over(root).ok());
    let mut launcher = Launcher { daemon, inbox, apps, spawner, cgroups };
    let result = launcher.serve(&woken);
    orphans::end_all(&launcher.apps.groups(), |mark| launcher.apps.gave(mark), END);
    result
}

struct Launcher {
    daemon: UnixStream,
    inbox: Inbox,
    apps: AppTable,
    spawner: Spawner,
    cgroups: Option<CgroupTree>,
}

impl Launcher {
    fn serve(&mut self, mut woken: &UnixStream) -> io::Result<()> {
        let mut more = false;
        loop {
            let daemon = self.daemon.as_fd();
            let mut ready = [
                PollFd::new(daemon, PollFlags::POLLIN),
                PollFd::new(woken.as_fd(), PollFlags::POLLIN),
            ];
            let pause = if more { Some(Duration::ZERO) } else { self.apps.time_to_next_check() };
            match poll(&mut ready, timeout(pause)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [ordered, died] = ready.map(|one| one.any().unwrap_or(true));
            if died {
                while woken.read(&mut [0; 64]).is_ok_and(|length| length > 0) {}
            }
            if died || more {
                more = self.apps.reap()?;
            }
            for report in self.apps.finish_ended() {
                self.report(&report)?;
            }
            self.apps.enforce_process_limits();
            if ordered && !self.take_orders()? {
                return Ok(());
            }
        }
    }

    /// Handles the orders that arrived; returns false when the daemon is gone.
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
                Order::Signal { incarnation, signal } => self.apps.signal(incarnation, signal),
            }
        }
        Ok(true)
    }

    fn spawn(&mut self, order: &Spawn) -> io::Result<()> {
        let (Some(app), Some(log)) = (self.inbox.next_fd(), self.inbox.next_fd()) else {
            return Err(io::Error::other(
                "an order to start a process came without its descriptors",
            ));
        };
        let incarnation = order.incarnation;
        let tree = self.cgroups.as_ref();
        let cgroup = tree.and_then(|tree| tree.create(incarnation, order.limits).ok());
        match self.spawner.spawn(order, app, log, cgroup.as_ref()) {
            Ok((pid, left_out)) => {
                self.report(&Report::Spawned { incarnation, pid: pid as u32, left_out })?;
                self.apps.insert(order, pid, cgroup);
                self.spawner.prepare_next();
                Ok(())
            }
            Err(why) => {
                if let Some(cgroup) = cgroup {
                    cgroup.remove();
                }
                self.report(&Report::SpawnFailed { incarnation, why })
            }
        }
    }

    fn report(&mut self, report: &Report) -> io::Result<()> {
        match self.daemon.write_all(&encode(report)?) {
            // The daemon is gone. Reading finds that, too, after the orders that the daemon sent
            // before.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

fn timeout(pause: Option<Duration>) -> PollTimeout {
    match pause {
        None => PollTimeout::NONE,
        // Rounded up, because the loop would otherwise spin for the last part of a millisecond.
        Some(pause) => {
            PollTimeout::try_from(pause.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX)
        }
    }
}
