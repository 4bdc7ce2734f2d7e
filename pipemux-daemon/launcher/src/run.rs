//! The loop: orders in, exits out.

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

use crate::channel::{Inbox, encode};
use crate::lives::Lives;
use crate::message::{Order, Report, Spawn};
use crate::spawn::Spawner;
use crate::{orphans, sys};

/// What apps may not give others in files that they make: writing.
const UMASK: nix::libc::mode_t = 0o022;
/// How long descendants may take to die at the end; only one that hangs in the kernel needs it.
const END: Duration = Duration::from_secs(10);

/// Serves the daemon at the other end of standard input until that end closes; then kills every
/// descendant.
///
/// # Errors
/// What a launcher can't work without, or a daemon that can't be understood. Descendants are killed
/// all the same.
pub fn run() -> io::Result<()> {
    sys::unblock_signals()?;
    // Not of the terminal's or the daemon's group: a Ctrl-C there isn't meant for apps.
    let _ = setsid();
    // Whoever happened to start the daemon first decides nothing for the apps.
    umask(Mode::from_bits_truncate(UMASK));
    // Where it may, it comes before any number of processes that it has to end; they get the default.
    sys::set_priority(-20);
    orphans::adopt().map_err(io::Error::other)?;

    // These two stay open, so that descriptor 3 is never free while a child is prepared: where the standard
    // library does that, the pipe over which it hears of a failed exec must not get that number.
    let (wake, woken) = UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, wake)?;
    // Handled, not ignored: children start with the default again. The daemon's end is what counts.
    let unread = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register(signal, Arc::clone(&unread))?;
    }

    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (inbox, lives, spawner) = (Inbox::default(), Lives::default(), Spawner::new()?);
    let mut launcher = Launcher { daemon, inbox, lives, spawner };
    let result = launcher.serve(&woken);
    orphans::end_all(&launcher.lives.groups(), launcher.lives.origin(), END);
    result
}

struct Launcher {
    daemon: UnixStream,
    inbox: Inbox,
    lives: Lives,
    spawner: Spawner,
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
            let pause = if more { Some(Duration::ZERO) } else { self.lives.pause() };
            match poll(&mut ready, timeout(pause)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [ordered, died] = ready.map(|one| one.any().unwrap_or(true));
            if died {
                while woken.read(&mut [0; 64]).is_ok_and(|length| length > 0) {}
            }
            if died || more {
                more = self.lives.reap()?;
            }
            for report in self.lives.end() {
                self.report(&report)?;
            }
            self.lives.count();
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
                Order::Signal { incarnation, force } => self.lives.signal(incarnation, force),
            }
        }
        Ok(true)
    }

    fn spawn(&mut self, order: &Spawn) -> io::Result<()> {
        let (Some(app), Some(log)) = (self.inbox.next_fd(), self.inbox.next_fd()) else {
            return Err(io::Error::other("a process to start came without its descriptors"));
        };
        let incarnation = order.incarnation;
        match self.spawner.spawn(order, app, log) {
            Ok(pid) => {
                self.report(&Report::Spawned { incarnation, pid: pid as u32 })?;
                self.lives.insert(order, pid);
                Ok(())
            }
            Err(why) => self.report(&Report::SpawnFailed { incarnation, why }),
        }
    }

    fn report(&mut self, report: &Report) -> io::Result<()> {
        match self.daemon.write_all(&encode(report)?) {
            // Seen when reading, too; what was sent before the end is still read.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

fn timeout(pause: Option<Duration>) -> PollTimeout {
    match pause {
        None => PollTimeout::NONE,
        // Rounded up: otherwise the last part of a millisecond is spun through.
        Some(pause) => {
            PollTimeout::try_from(pause.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX)
        }
    }
}
