//! Has turns played by their drivers, and takes in what they answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docui::{Code, Fault, JobHandle, state_file};
use pipemux_planner_course::text::gist;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{By, Driver, Event, Speaker, Stage};
use serde_json::Value;

use crate::config::DriverSpec;
use crate::drivers::{self, Cancel, NoAnswer};
use crate::expected::{Whose, expected};
use crate::model::Planner;
use crate::store::Store;
use crate::{begin, cites};

/// A driver at work.
pub(crate) struct Worker {
    number: u64,
    turn: u64,
    cancel: Cancel,
}

impl Worker {
    /// Ends the driver at once: its session ends.
    pub(crate) fn kill(&self) {
        self.cancel.kill();
    }
}

/// What drivers answered and isn't taken in yet.
pub(crate) type Answers = Arc<Mutex<Vec<DriverAnswer>>>;

pub(crate) struct DriverAnswer {
    worker: u64,
    turn: u64,
    kind: TurnKind,
    by: By,
    result: Result<Value, NoAnswer>,
}

impl Planner {
    /// Takes in what drivers answered. Returns whether anything changed.
    pub(crate) fn take_answers(&mut self) -> bool {
        let answers = std::mem::take(&mut *lock(&self.answers));
        let mut changed = false;
        for answer in answers {
            if !self.workers.iter().any(|worker| worker.number == answer.worker) {
                // The user went on without it.
                continue;
            }
            changed = true;
            match self.take_answer(&answer) {
                Ok(()) => self.workers.retain(|worker| worker.number != answer.worker),
                // The disk is full, perhaps: the answer is kept until it can be written.
                Err(fault) => {
                    self.disk_problem = Some(fault.message);
                    lock(&self.answers).push(answer);
                }
            }
        }
        if self.workers.is_empty() && std::mem::take(&mut self.is_busy) {
            // Only once: what is said through the handle wakes the loop, which comes here again.
            self.handle.idle();
        }
        changed
    }

    /// Begins a job that ends once something is expected of a reader; none if that is so.
    pub(crate) fn wait_for_turn(&mut self, reader: &str) -> Option<JobHandle> {
        if !self.is_waiting(reader) {
            return None;
        }
        if let Some((_, job)) = self.waiting.iter().find(|(waiting, _)| waiting == reader) {
            return Some(job.clone());
        }
        let key = format!("turn:{reader}:{}:{}", self.course.topic, self.course.entries());
        let job = self.handle.job(key);
        self.waiting.push((reader.to_owned(), job.clone()));
        Some(job)
    }

    /// True while a reader has nothing to do but wait; before there is a brief, for one.
    fn is_waiting(&self, reader: &str) -> bool {
        self.course.stage == Stage::Empty || expected(self, reader).whose == Whose::Others
    }

    /// Ends the jobs of readers of whom something is expected now.
    pub(crate) fn end_waiting(&mut self) {
        for (reader, job) in std::mem::take(&mut self.waiting) {
            if !self.is_waiting(&reader) {
                let expected = expected(self, &reader);
                job.done(format!("{} · {}", expected.line(self.course.lang()), expected.call));
            } else if job.is_cancelled() {
                job.cancelled("it is waited for no longer");
            } else {
                self.waiting.push((reader, job));
            }
        }
    }

    /// Takes in what a driver answered, or that it didn't.
    fn take_answer(&mut self, answer: &DriverAnswer) -> Result<(), Fault> {
        let (turn, by) = (answer.turn, answer.by.clone());
        let taken = match &answer.result {
            Ok(value) if begin::continues(value) && begin::go_on(self, "", &by)?.is_some() => {
                return Ok(());
            }
            Ok(value) => {
                let missing = cites::missing(&self.root, answer.kind, value);
                self.commit(by.clone(), Event::Answered { turn, answer: value.clone(), missing })
            }
            Err(why) => Err(Fault::refused(why.reason.clone())),
        };
        let Err(fault) = taken else { return Ok(()) };
        if fault.code != Code::Refused {
            return Err(fault);
        }
        if self.course.turns.open.iter().any(|open| open.id == turn) {
            self.commit(by, Event::Failed { turn, reason: fault.message.clone() })?;
            let why = match &answer.result {
                Err(why) => why.to_string(),
                Ok(_) => fault.message,
            };
            self.failures.insert(turn, gist(&why));
            let notice = format!("{}: no answer: {}", answer.by.reader, gist(&why));
            self.notify(&notice);
        }
        Ok(())
    }

    /// Returns true while an answer waits for room on the disk.
    pub(crate) fn has_unwritten_answers(&self) -> bool {
        self.disk_problem.is_some() && !lock(&self.answers).is_empty()
    }

    /// Has each open turn played by its driver, and ends what nobody waits for any more. Nothing is
    /// started before a reader has acted, and nothing that the project names before a person has
    /// trusted it.
    pub(crate) fn play(&mut self) {
        let open = self.course.turns.open.iter();
        let open = open.filter(|turn| turn.failed.is_none() && !self.course.paused);
        let open: Vec<(u64, TurnKind)> = open.map(|turn| (turn.id, turn.kind)).collect();
        let ids: Vec<u64> = open.iter().map(|(id, _)| *id).collect();
        self.stop_workers(&ids);
        if !self.has_acted {
            return;
        }
        for (id, kind) in open {
            // That a driver can't play is recorded, after which other turns may be open.
            let is_open = self.course.turns.open.iter().any(|turn| turn.id == id);
            if is_open && !self.workers.iter().any(|worker| worker.turn == id) {
                self.play_turn(id, kind);
            }
        }
    }

    fn play_turn(&mut self, id: u64, kind: TurnKind) {
        match self.driver(kind.speaker()).and_then(|spec| Ok((self.key(&spec)?, spec))) {
            Ok((_, DriverSpec::Agent)) => {}
            // Whoever acts is told so; the window says it to all others.
            Ok(_) if !self.is_trusted() => {}
            Ok((key, spec)) => {
                if self.claim.is_none() {
                    self.claim = self.store.as_ref().and_then(Store::claim);
                }
                if self.claim.is_some() {
                    self.start_driver(id, kind, spec, key);
                }
            }
            Err(reason) => {
                let by = By { reader: "planner".into(), driver: Driver::Command, person: false };
                // If it can't be recorded, the next look tries again.
                let _ = self.commit(by, Event::Failed { turn: id, reason });
            }
        }
    }

    fn start_driver(&mut self, id: u64, kind: TurnKind, spec: DriverSpec, key: Option<String>) {
        let payload = self.course.payload_of(kind, &self.config.prompts());
        let cancel = Cancel::default();
        self.started += 1;
        let worker = self.started;
        self.workers.push(Worker { number: worker, turn: id, cancel: cancel.clone() });
        let driver = match spec {
            DriverSpec::Http { .. } => Driver::Http,
            _ => Driver::Command,
        };
        let by = By { reader: spec.name().to_owned(), driver, person: false };
        self.is_busy = true;
        self.handle.busy(format!("{} {}", kind.speaker(), kind.task()), Duration::from_secs(3600));
        let (answers, handle) = (self.answers.clone(), self.handle.clone());
        std::thread::spawn(move || {
            // A turn whose driver ends without an answer would wait for it for ever.
            let asked = || drivers::ask(&spec, kind, &payload, key.as_deref(), &cancel);
            let result = catch_unwind(AssertUnwindSafe(asked)).unwrap_or_else(|_| {
                Err("a fault of the planner, told in its log".to_owned().into())
            });
            if !cancel.is_set() {
                lock(&answers).push(DriverAnswer { worker, turn: id, kind, by, result });
                handle.refresh();
            }
        });
    }

    /// Ends all drivers but those of some turns.
    pub(crate) fn stop_workers(&mut self, but: &[u64]) {
        self.workers.retain(|worker| {
            let stays = but.contains(&worker.turn);
            if !stays {
                worker.cancel.set();
            }
            stays
        });
    }

    /// Returns who plays a speaker.
    ///
    /// # Errors
    /// The driver isn't known.
    pub(crate) fn driver(&self, speaker: Speaker) -> Result<DriverSpec, String> {
        let chosen = self.chosen.get(speaker.name()).or_else(|| self.chosen.get("all"));
        let path = self.env.get("PATH").cloned().or_else(|| std::env::var("PATH").ok());
        self.config.driver(speaker, chosen.map(String::as_str), path.as_deref().unwrap_or_default())
    }

    /// Returns the key of an endpoint, from the environment.
    fn key(&self, spec: &DriverSpec) -> Result<Option<String>, String> {
        let DriverSpec::Http { key_env: Some(name), .. } = spec else { return Ok(None) };
        match self.env.get(name).cloned().or_else(|| std::env::var(name).ok()) {
            Some(key) => Ok(Some(key)),
            None => Err(format!(
                "the variable {name} isn't passed to the planner: a manifest with pass = [\"{name}\"] has it passed"
            )),
        }
    }

    /// True while another session has the topic's roles played.
    pub(crate) fn plays_elsewhere(&self) -> bool {
        self.claim.is_none() && self.store.as_ref().is_some_and(|store| store.claim().is_none())
    }

    /// Sets who plays a speaker, or all.
    ///
    /// # Errors
    /// The driver isn't known.
    pub(crate) fn choose(&mut self, name: &str, driver: &str) -> Result<(), Fault> {
        self.config.named(driver).map_err(Fault::usage)?;
        if name == "all" {
            self.chosen.clear();
        }
        self.chosen.insert(name.to_owned(), driver.to_owned());
        let json = serde_json::to_vec(&self.chosen).unwrap_or_default();
        state_file::replace(&self.state_dir.join("drivers.json"), &json)?;
        self.stop_workers(&[]);
        Ok(())
    }
}

fn lock(answers: &Mutex<Vec<DriverAnswer>>) -> MutexGuard<'_, Vec<DriverAnswer>> {
    answers.lock().unwrap_or_else(PoisonError::into_inner)
}
