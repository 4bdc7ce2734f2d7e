//! Lives of processes and of the sessions in them: why they begin and end.
//!
//! | law | what it holds |
//! |---|---|
//! | a process that behaves is left alone | a signal has a reason: its own manner, or somebody's wish |
//! | a session is closed for a reason | it was to end or to be restarted, sleeps, or its open was refused |
//! | a shared process ends with its last session | not before, and not later |
//! | nobody joins a process that ends | a new life begins in another one |
//! | what was opened runs | an `open` that is done was taken in by its app |
//! | what is idle sleeps | a session that no window pins is put to sleep |

use pipemux_core::Signal;
use pipemux_proto::client::{Answer, OpenArgs, Verb};
use pipemux_proto::{Fault, Frame, Incarnation, Method};

use crate::action::Manner;
use crate::law::{Lawful, law};
use crate::places::{Place, READERS};
use crate::sim::Sim;

impl Sim {
    /// Something is asked of a process that is about its sessions' lives.
    pub fn check_lives(&mut self, app: Incarnation, frame: &Frame) -> Lawful {
        let (life, method) = (frame.envelope.incarnation, frame.envelope.method);
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        match method {
            Method::Save => drop(process.saved.insert(life)),
            Method::AppOpen => {
                law!(!process.ending, "nobody joins a process that ends", "{life} in {app}");
            }
            Method::AppClose if process.shared && life == app => {
                let left = &process.desk;
                law!(left.is_empty(), "a shared process ends with its last session", "{left:?}");
                process.ending = true;
            }
            Method::AppClose => {
                let Some(place) = process.desk.get(&life).copied() else { return Ok(()) };
                let sleeps = process.saved.contains(&life) && self.pins.holds(place).is_none();
                let process = &self.processes[&app];
                law!(
                    sleeps
                        || process.wild
                        || process.refused.contains(&life)
                        || self.was_wanted(place),
                    "a session is closed for a reason",
                    "{place:?}, life {life}"
                );
                self.closes(place);
            }
            _ => {}
        }
        Ok(())
    }

    pub fn check_signal(&mut self, app: Incarnation, signal: Signal) -> Lawful {
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        process.ending = true;
        let process = &self.processes[&app];
        let lives = process.desk.values().chain([&process.place]);
        let wanted = lives.into_iter().any(|place| self.was_wanted(*place));
        law!(
            process.wild || !process.alive || wanted,
            "a process that behaves is left alone",
            "{signal:?} to {process:?}"
        );
        Ok(())
    }

    /// True when somebody asked for the end of a place's process, or that of one that may share it.
    fn was_wanted(&self, place: Place) -> bool {
        let daemon = self.daemon.nth;
        let asked = self.requests.iter().rev().take_while(|request| request.daemon == daemon);
        let ends = |of: usize, addr: &str, restart: bool| {
            let of = Place::of(of, addr);
            let neighbour = |of: Place| of.provider() == place.provider();
            of == Some(place) || (restart && self.kind.hosts && of.is_some_and(neighbour))
        };
        let mut all = asked.map(|request| (READERS[request.who].0, &request.call.verb));
        self.daemon.stopping
            || all.any(|(of, verb)| match verb {
                Verb::End { session } | Verb::Close { session, end: true } => {
                    ends(of, &session.to_string(), false)
                }
                Verb::Restart { session } => ends(of, &session.to_string(), true),
                _ => false,
            })
    }

    /// A place's app took an open in.
    pub fn opens(&mut self, place: Place) {
        self.open_until.insert(place, u64::MAX);
    }

    /// A place's session runs no longer.
    pub fn closes(&mut self, place: Place) {
        if let Some(until) = self.open_until.get_mut(&place) {
            *until = self.time.min(*until);
        }
    }

    /// An app behaves in some way from now on: its process is no longer sure to.
    pub fn note_manner(&mut self, place: Place, manner: Manner) {
        let same = |other: Place| other == place || other.provider() == place.provider();
        if manner != Manner::Normal {
            let mut all = self.processes.values_mut();
            all.by_ref().filter(|process| same(process.place)).for_each(|p| p.wild = true);
        }
    }

    /// True when an app of that provider doesn't behave.
    pub fn is_wild(&self, place: Place) -> bool {
        let of_it = |other: &Place| other.provider() == place.provider();
        self.manners.iter().any(|(other, manner)| of_it(other) && *manner != Manner::Normal)
    }

    /// An `open` was answered: done means that its app has taken it in.
    pub fn check_opened(&self, index: usize, answer: &Result<Answer, Fault>) -> Lawful {
        let request = &self.requests[index];
        let (Verb::Open(OpenArgs { provider, session: Some(session), .. }), Ok(answer)) =
            (&request.call.verb, answer)
        else {
            return Ok(());
        };
        let addr = format!("{provider}/{session}");
        let said = format!("{answer:?}");
        // Time was up for it, or for the daemon: it had been shown before, and has its title.
        let nothing = said.contains(&format!("## {addr} · busy, as it was before"));
        let busy = said.contains("busy, as it was before") && !nothing;
        let place = Place::of(READERS[request.who].0, &addr);
        let until = place.and_then(|place| self.open_until.get(&place)).copied();
        law!(
            answer.exit != 0 || busy || until.is_some_and(|until| until >= request.at),
            "what was opened runs",
            "{:?} at {} ms: {answer:?}, until {until:?}",
            request.call.verb,
            request.at
        );
        Ok(())
    }

    /// Nothing is left to be done: what may sleep does.
    pub fn check_rest(&self) -> Lawful {
        for (app, process) in self.processes.iter().filter(|(_, process)| process.alive) {
            let empty = process.shared && process.started && process.desk.is_empty();
            law!(!empty, "a shared process ends with its last session", "{app} runs on");
            for place in process.desk.values().filter(|place| place.provider() != "other") {
                law!(self.pins.may_hold(*place), "what is idle sleeps", "{place:?} in {app}");
            }
        }
        Ok(())
    }
}
