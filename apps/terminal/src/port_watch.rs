//! Where the running commands listen, looked up beside the app: who looks at the window never waits
//! for `/proc`.
//!
//! One thread of a session looks while commands run: soon after one began or somebody looked at the
//! window, once a second while they print, and seldom while they are silent. The session is told of
//! a change.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use docui::{Handle, deadline};

use crate::job::Job;
use crate::limits::{PORTS_PAUSE_MAX, PORTS_SPACING};

/// Wakes the thread that looks. Cheap to clone.
#[derive(Clone, Default)]
pub struct PortWatch(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    /// True while the thread is there.
    alive: bool,
    /// True if it is to look at once.
    wanted: bool,
}

impl PortWatch {
    /// Has the running commands looked at soon. It waits for nothing.
    pub fn look(&self, handle: &Handle, running: impl Fn() -> Vec<Arc<Job>> + Send + 'static) {
        let mut state = self.state();
        state.wanted = true;
        self.0.woken.notify_all();
        if !state.alive {
            let (own, handle) = (self.clone(), handle.clone());
            let ports = thread::Builder::new().name("ports".into());
            let begun = ports.spawn(move || own.work(&handle, &running));
            // Without the thread no ports are shown; calls that need one look for themselves.
            state.alive = begun.is_ok();
        }
    }

    fn work(&self, handle: &Handle, running: &dyn Fn() -> Vec<Arc<Job>>) {
        let (shortest, longest) = PORTS_SPACING;
        let mut pause = shortest;
        // When each of them had printed last at the look before.
        let mut printed: BTreeMap<u64, Instant> = BTreeMap::new();
        loop {
            self.state().wanted = false;
            let running = running();
            let mut changed = false;
            for job in &running {
                let before = job.listens();
                changed |= job.look_at_ports() != before;
            }
            if changed {
                handle.changed();
            }
            let now: BTreeMap<u64, Instant> = running.iter().map(printed_at).collect();
            pause = if now == printed { (pause * 2).min(PORTS_PAUSE_MAX) } else { longest };
            printed = now;
            let mut state = self.state();
            if running.is_empty() && !state.wanted {
                state.alive = false;
                return;
            }
            drop(state);
            // However often somebody looks.
            thread::sleep(shortest);
            state = self.state();
            let until = deadline::after(pause);
            while !state.wanted && Instant::now() < until {
                let left = until.saturating_duration_since(Instant::now());
                let woken = self.0.woken.wait_timeout(state, left);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.wanted {
                pause = shortest;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn printed_at(job: &Arc<Job>) -> (u64, Instant) {
    (job.number, job.with(|state| state.printed))
}
