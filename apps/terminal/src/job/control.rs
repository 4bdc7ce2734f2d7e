//! Controls a running command: input, signals, its end, and the ports it listens on.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use docui::deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::{Ended, How, Job};
use crate::limits::{STOP_PATIENCE, TYPE_PATIENCE};
use crate::{members, ports, process};

impl Job {
    /// Types something, as far as the program takes it in time.
    ///
    /// # Errors
    /// It has ended, or takes no more input: then the rest is dropped, so that nothing is typed
    /// later that nobody expects.
    pub fn type_in(&self, bytes: &[u8]) -> io::Result<()> {
        if self.ended().is_some() {
            return Err(io::Error::other("it has ended"));
        }
        let Ok(mut input) = self.input.try_lock() else {
            return Err(io::Error::other("another input is being typed"));
        };
        let until = deadline::after(TYPE_PATIENCE);
        for (typed, byte) in bytes.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or_default();
            let mut wanted = [PollFd::new(&*input, PollFlags::OUT)];
            // There is room for one byte at least: writing more could wait for the program.
            let ready = match poll(&mut wanted, Some(&left)) {
                Ok(_) => wanted[0].revents(),
                Err(rustix::io::Errno::INTR) => PollFlags::empty(),
                Err(error) => return Err(error.into()),
            };
            if !ready.contains(PollFlags::OUT) {
                return Err(io::Error::other(format!(
                    "{typed} of {} bytes were typed, the rest was dropped",
                    bytes.len()
                )));
            }
            input.write_all(std::slice::from_ref(byte))?;
        }
        Ok(())
    }

    /// Sends a signal to its foreground processes. Returns false if it has ended.
    pub fn signal(&self, signal: Signal) -> bool {
        let state = self.state();
        let leader = state.leader;
        if let Some(leader) = leader {
            // A shell gives each program a group of its own.
            let terminal = state.terminal.as_ref();
            let foreground = terminal.and_then(|terminal| terminal.process_group_leader());
            process::signal_group(foreground.unwrap_or(leader), signal);
        }
        leader.is_some()
    }

    /// Ends it: asks its processes to, and kills those that are left after a while. Returns how it
    /// ended.
    pub fn stop(&self, why: How) -> Option<Arc<Ended>> {
        {
            let mut state = self.state();
            let Some(leader) = state.leader else {
                drop(state);
                return self.wait(deadline::after(STOP_PATIENCE), |_| None);
            };
            state.wish.get_or_insert(why);
            let all = members::members(leader, &self.mark);
            process::signal_each(&all, Signal::TERM);
            // A stopped process doesn't end before it goes on.
            process::signal_each(&all, Signal::CONT);
        }
        if let Some(ended) = self.wait(deadline::after(STOP_PATIENCE), |_| None) {
            return Some(ended);
        }
        self.kill();
        self.wait(deadline::after(STOP_PATIENCE), |_| None)
    }

    /// Kills all of its processes.
    pub fn kill(&self) {
        let state = self.state();
        if let Some(leader) = state.leader {
            process::signal_each(&members::members(leader, &self.mark), Signal::KILL);
        }
    }

    /// Returns its processes.
    pub fn processes(&self) -> Vec<i32> {
        let leader = self.state().leader;
        leader.map(|leader| members::members(leader, &self.mark)).unwrap_or_default()
    }

    /// Looks up where its processes listen. It reads much of `/proc`: not for the app's own thread.
    pub fn look_at_ports(&self) -> Vec<SocketAddr> {
        let found = ports::addresses(&self.processes());
        self.known().clone_from(&found);
        found
    }

    /// Returns where its processes listened at the last look.
    pub fn listens(&self) -> Vec<SocketAddr> {
        self.known().clone()
    }

    fn known(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.listens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
