//! The drivers that are at work, each on a thread of its own.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docui::Handle;
use pipemux_planner_course::By;
use pipemux_planner_course::turn::TurnKind;
use serde_json::Value;

use crate::config::DriverSpec;
use crate::drivers::{self, Cancel, NoAnswer};

/// The drivers at work, and what they have answered.
#[derive(Default)]
pub(crate) struct Workers {
    running: Vec<Worker>,
    /// Drivers that were started, which numbers them.
    started: u64,
    /// What drivers answered and isn't applied yet.
    answers: Arc<Mutex<Vec<DriverAnswer>>>,
    /// Held while this session has the topic's roles played.
    pub(crate) claim: Option<File>,
    /// True while the daemon believes that a driver is at work.
    pub(crate) is_busy: bool,
}

struct Worker {
    number: u64,
    turn: u64,
    cancel: Cancel,
}

/// What a driver answered to a turn.
pub(crate) struct DriverAnswer {
    worker: u64,
    pub(crate) turn: u64,
    pub(crate) kind: TurnKind,
    pub(crate) by: By,
    pub(crate) result: Result<Value, NoAnswer>,
}

impl Workers {
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(crate) fn plays(&self, turn: u64) -> bool {
        self.running.iter().any(|worker| worker.turn == turn)
    }

    /// Has a driver answer a turn on a thread of its own, which wakes the session then.
    pub(crate) fn start(
        &mut self,
        (turn, kind): (u64, TurnKind),
        spec: DriverSpec,
        key: Option<String>,
        payload: Value,
        by: By,
        handle: Handle,
    ) {
        let cancel = Cancel::default();
        self.started += 1;
        let worker = self.started;
        self.running.push(Worker { number: worker, turn, cancel: cancel.clone() });
        let answers = self.answers.clone();
        std::thread::spawn(move || {
            // A turn whose driver ends without an answer would wait for it for ever.
            let asked = || drivers::ask(&spec, kind, &payload, key.as_deref(), &cancel);
            let result = catch_unwind(AssertUnwindSafe(asked)).unwrap_or_else(|_| {
                Err("a fault of the planner, told in its log".to_owned().into())
            });
            if !cancel.is_set() {
                lock(&answers).push(DriverAnswer { worker, turn, kind, by, result });
                handle.refresh();
            }
        });
    }

    /// Returns the answers of drivers that are still waited for, and forgets them.
    pub(crate) fn take_answers(&mut self) -> Vec<DriverAnswer> {
        std::mem::take(&mut *lock(&self.answers))
    }

    /// Returns true if an answer is of a driver that is waited for: the user may have gone on
    /// without it.
    pub(crate) fn awaits(&self, answer: &DriverAnswer) -> bool {
        self.running.iter().any(|worker| worker.number == answer.worker)
    }

    /// Ends a driver whose answer was applied.
    pub(crate) fn finish(&mut self, answer: &DriverAnswer) {
        self.running.retain(|worker| worker.number != answer.worker);
    }

    /// Keeps an answer until it can be applied.
    pub(crate) fn put_back(&mut self, answer: DriverAnswer) {
        lock(&self.answers).push(answer);
    }

    pub(crate) fn has_answers(&self) -> bool {
        !lock(&self.answers).is_empty()
    }

    /// Ends all drivers but those of some turns.
    pub(crate) fn stop(&mut self, but: &[u64]) {
        self.running.retain(|worker| {
            let stays = but.contains(&worker.turn);
            if !stays {
                worker.cancel.set();
            }
            stays
        });
    }
}

impl Drop for Workers {
    /// Ends all drivers at once: their session ends.
    fn drop(&mut self) {
        self.running.iter().for_each(|worker| worker.cancel.kill());
    }
}

fn lock(answers: &Mutex<Vec<DriverAnswer>>) -> MutexGuard<'_, Vec<DriverAnswer>> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}
