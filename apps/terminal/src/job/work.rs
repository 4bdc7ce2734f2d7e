//! The threads of a command: one reads what it prints, one waits for its end, and one ends it at
//! its time.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docui::JobHandle;
use docui::deadline;
use pipemux_problems::OutputReader;
use portable_pty::Child;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use super::ended::comparable;
use super::{Ended, How, Job};
use crate::answer;
use crate::file_changes::Changed;
use crate::limits::{DRAIN_PATIENCE, LEFTOVER_PATIENCE, READ_BYTES};
use crate::places::Places;
use crate::{members, orphans, process};

impl Job {
    /// Begins to read what it prints and to wait for its end.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(super) fn begin_work(
        self: &Arc<Self>,
        child: Box<dyn Child + Send + Sync>,
        output: Box<dyn Read + Send>,
    ) -> io::Result<()> {
        let job = self.clone();
        thread::Builder::new().name("output".into()).spawn(move || job.read(output))?;
        let job = self.clone();
        thread::Builder::new().name("end".into()).spawn(move || job.await_end(child))?;
        if let Some(timeout) = self.timeout {
            let job = self.clone();
            thread::Builder::new().name("timeout".into()).spawn(move || {
                if job.wait(deadline::behind(job.began, timeout), |_| None).is_none() {
                    job.stop(How::TimedOut);
                }
            })?;
        }
        Ok(())
    }

    /// Ends it when a reader cancels the daemon's job.
    pub(super) fn end_when_cancelled(self: &Arc<Self>, handle: JobHandle) {
        let job = self.clone();
        // Without the thread it can still be stopped by a call.
        let _ = thread::Builder::new().name("cancel".into()).spawn(move || {
            while job.ended().is_none() {
                if handle.cancelled_within(Duration::from_millis(500)) {
                    job.stop(How::Stopped);
                    return;
                }
            }
        });
    }

    fn read(&self, mut output: Box<dyn Read + Send>) {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match output.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(length) => {
                    let mut state = self.state();
                    if self.ended().is_some() {
                        break;
                    }
                    state.take(&buffer[..length]);
                    drop(state);
                    self.changed.notify_all();
                }
            }
        }
        self.state().drained = true;
        self.changed.notify_all();
    }

    fn await_end(self: Arc<Self>, mut child: Box<dyn Child + Send + Sync>) {
        let leader = self.state().leader.unwrap_or(0);
        if let Some(pid) = Pid::from_raw(leader) {
            // Not reaped yet: until it is, its number stands for it and its group.
            let waited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), waited), Err(rustix::io::Errno::INTR)) {}
        }
        let mut left = end_leftovers(leader, &self.mark);
        let mut state = self.state();
        state.leader = None;
        // The system may have ended some of them together with the session, before anybody saw
        // them.
        left.extend(orphans::forget(leader));
        let how = child.wait().map_or_else(|error| How::Lost(error.to_string()), How::from);
        let (how, left) = match state.wish.take() {
            // All that it started was to end.
            Some(wish) => (wish, 0),
            None => (how, left.len()),
        };
        let took = self.began.elapsed();
        let until = deadline::after(DRAIN_PATIENCE);
        while !state.drained && Instant::now() < until {
            let patience = until.saturating_duration_since(Instant::now());
            state = self
                .changed
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let output = state.output.clone();
        let (span, outlasted) = (state.span.take(), state.followed);
        drop(state);
        let report = output.finish();
        // Files are read here: nobody waits for them with a lock.
        let places = Places::of(&report, &self.order.cwd, self.began_at);
        let before = self.before.as_ref().and_then(|before| comparable(before, &report, &how));
        let one_of_several = || Changed::Unknown("it is part of the change of several".to_owned());
        let changed = span.map_or_else(one_of_several, |span| span.end(&self.reader, outlasted));
        let report = Arc::new(report);
        let ended = Arc::new(Ended { how, took, left, before, report, places, changed });
        let mut state = self.state();
        let _ = self.end.set(ended.clone());
        state.output = OutputReader::default();
        state.terminal = None;
        state.launch_file = None;
        let handle = state.handle.take();
        drop(state);
        self.changed.notify_all();
        if let Some(handle) = handle {
            answer::tell_end(&self, &ended, &handle);
        }
        self.session.changed();
    }
}

/// Ends what a command left running behind it. Returns these processes.
fn end_leftovers(leader: i32, mark: &str) -> BTreeSet<i32> {
    let rest = || {
        let mut rest = members::members(leader, mark);
        rest.retain(|pid| *pid != leader);
        rest
    };
    let mut left = rest();
    let all: BTreeSet<i32> = left.iter().copied().collect();
    if left.is_empty() {
        return all;
    }
    process::signal_each(&left, Signal::HUP);
    process::signal_each(&left, Signal::TERM);
    process::signal_each(&left, Signal::CONT);
    let until = deadline::after(LEFTOVER_PATIENCE);
    while !left.is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
        left = rest();
    }
    process::signal_each(&left, Signal::KILL);
    all
}
