//! Ends a driver that nobody waits for any more, with the program that it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Tells a driver that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Mutex<Running>>);

/// The state of a running driver that can be cancelled.
#[derive(Debug, Default)]
struct Running {
    is_cancelled: bool,
    /// The process group of the driver's program.
    group: Option<Pid>,
    /// True if its driver tells the program, and ends it then.
    takes_leave: bool,
}

impl Running {
    fn kill(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Cancel {
    /// Cancels. A program is killed before this returns, but for one that takes its leave: its
    /// driver ends it.
    pub fn set(&self) {
        let mut running = self.running();
        running.is_cancelled = true;
        if !running.takes_leave {
            running.kill();
        }
    }

    /// Cancels, and kills the program before this returns, so that none is left behind when the
    /// session ends right after.
    pub fn kill(&self) {
        let mut running = self.running();
        running.is_cancelled = true;
        running.kill();
    }

    /// Returns true once it is cancelled.
    pub fn is_set(&self) -> bool {
        self.running().is_cancelled
    }

    /// Names the process group that is to end when this is cancelled; none once it is reaped.
    pub(super) fn watch(&self, group: Option<Pid>) {
        let mut running = self.running();
        (running.group, running.takes_leave) = (group, false);
        if running.is_cancelled {
            running.kill();
        }
    }

    /// Leaves it to the driver to end the program when this is cancelled.
    pub(super) fn take_leave(&self) {
        self.running().takes_leave = true;
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
