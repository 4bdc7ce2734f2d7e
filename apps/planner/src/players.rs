//! Lets drivers play turns, and applies their answers.

use std::time::Duration;

use docui::{Code, Fault, JobHandle, state_file};
use pipemux_planner_course::text::gist;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{By, Driver, Event, Speaker, Stage};

use crate::config::DriverSpec;
use crate::model::Planner;
use crate::next_step::{Whose, next_step};
use crate::store::Store;
use crate::workers::DriverAnswer;
use crate::{cites, topic};

impl Planner {
    /// Takes in what drivers answered. Returns whether anything changed.
    pub(crate) fn take_answers(&mut self) -> bool {
        let mut changed = false;
        for answer in self.workers.take_answers() {
            if !self.workers.awaits(&answer) {
                continue;
            }
            changed = true;
            match self.take_answer(&answer) {
                Ok(()) => self.workers.finish(&answer),
                // The disk is full, perhaps: the answer is kept until it can be written.
                Err(fault) => {
                    self.disk_problem = Some(fault.message);
                    self.workers.put_back(answer);
                }
            }
        }
        if self.workers.is_empty() && std::mem::take(&mut self.workers.is_busy) {
            // Only once: what is said through the handle wakes the loop, which comes here again.
            self.session.handle.idle();
        }
        changed
    }

    /// Begins a job that ends once something is expected of a reader; none if that is so.
    pub(crate) fn wait_for_turn(&mut self, reader: &str) -> Option<JobHandle> {
        if !self.is_waiting(reader) {
            return None;
        }
        if let Some((_, job)) = self.readers.waiting.iter().find(|(waiting, _)| waiting == reader) {
            return Some(job.clone());
        }
        let key = format!("turn:{reader}:{}:{}", self.course.topic, self.course.entries());
        let job = self.session.handle.job(key);
        self.readers.waiting.push((reader.to_owned(), job.clone()));
        Some(job)
    }

    /// True while a reader has nothing to do but wait; before there is a brief, for one.
    fn is_waiting(&self, reader: &str) -> bool {
        self.course.stage == Stage::Empty || next_step(self, reader).whose == Whose::Others
    }

    /// Ends the jobs of readers of whom something is expected now.
    pub(crate) fn end_waiting(&mut self) {
        for (reader, job) in std::mem::take(&mut self.readers.waiting) {
            if !self.is_waiting(&reader) {
                let step = next_step(self, &reader);
                job.done(format!("{} · {}", step.line(self.course.lang()), step.call));
            } else if job.is_cancelled() {
                job.cancelled("it is waited for no longer");
            } else {
                self.readers.waiting.push((reader, job));
            }
        }
    }

    /// Takes in what a driver answered, or that it didn't.
    fn take_answer(&mut self, answer: &DriverAnswer) -> Result<(), Fault> {
        let (turn, by) = (answer.turn, answer.by.clone());
        let taken = match &answer.result {
            Ok(value) if topic::continues(value) && topic::go_on(self, "", &by)?.is_some() => {
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
        self.disk_problem.is_some() && self.workers.has_answers()
    }

    /// Has each open turn played by its driver, and ends what nobody waits for any more. Nothing is
    /// started before a reader has acted, and nothing that the project names before a person has
    /// trusted it.
    pub(crate) fn play(&mut self) {
        let open = self.course.turns.open.iter();
        let open = open.filter(|turn| turn.failed.is_none() && !self.course.paused);
        let open: Vec<(u64, TurnKind)> = open.map(|turn| (turn.id, turn.kind)).collect();
        let ids: Vec<u64> = open.iter().map(|(id, _)| *id).collect();
        self.workers.stop(&ids);
        if !self.has_acted {
            return;
        }
        for (id, kind) in open {
            // That a driver can't play is recorded, after which other turns may be open.
            let is_open = self.course.turns.open.iter().any(|turn| turn.id == id);
            if is_open && !self.workers.plays(id) {
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
                if self.workers.claim.is_none() {
                    self.workers.claim = self.store.as_ref().and_then(Store::claim);
                }
                if self.workers.claim.is_some() {
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
        let driver = match spec {
            DriverSpec::Http { .. } => Driver::Http,
            _ => Driver::Command,
        };
        let by = By { reader: spec.name().to_owned(), driver, person: false };
        self.workers.is_busy = true;
        let handle = self.session.handle.clone();
        handle.busy(format!("{} {}", kind.speaker(), kind.task()), Duration::from_secs(3600));
        self.workers.start((id, kind), spec, key, payload, by, handle);
    }

    /// Returns who plays a speaker.
    ///
    /// # Errors
    /// The driver isn't known.
    pub(crate) fn driver(&self, speaker: Speaker) -> Result<DriverSpec, String> {
        let chosen = self.chosen.get(speaker.name()).or_else(|| self.chosen.get("all"));
        let path = self.session.variable("PATH");
        self.config.driver(speaker, chosen.map(String::as_str), path.as_deref().unwrap_or_default())
    }

    /// Returns the key of an endpoint, from the environment.
    fn key(&self, spec: &DriverSpec) -> Result<Option<String>, String> {
        let DriverSpec::Http { key_env: Some(name), .. } = spec else { return Ok(None) };
        match self.session.variable(name) {
            Some(key) => Ok(Some(key)),
            None => Err(format!(
                "the variable {name} isn't passed to the planner: a manifest with pass = [\"{name}\"] has it passed"
            )),
        }
    }

    /// True while another session has the topic's roles played.
    pub(crate) fn plays_elsewhere(&self) -> bool {
        self.workers.claim.is_none()
            && self.store.as_ref().is_some_and(|store| store.claim().is_none())
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
        state_file::replace(&self.session.state_dir.join("drivers.json"), &json)?;
        self.workers.stop(&[]);
        Ok(())
    }
}
