//! Lives of processes and of the sessions in them: why they begin and end.
//!
//! | law | what it holds |
//! |---|---|
//! | a well-behaved process is not signalled | a signal has a reason: its own behaviour, or somebody's wish |
//! | a session is closed for a reason | it was to end or to be restarted, sleeps, or its open was refused |
//! | a shared process ends with its last session | not before, and not later |
//! | no session opens in an ending process | a new life begins in another one |
//! | a successful open was accepted by the app | an `open` that is done was taken in by its app |
//! | an idle session hibernates | a session that no window pins is put to sleep |

use pipemux_core::Signal;
use pipemux_proto::client::{Answer, Open, Verb};
use pipemux_proto::{Fault, Frame, Incarnation, Method};

use crate::action::Behaviour;
use crate::law::{LawResult, law};
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

impl Sim {
    /// Something is asked of a process that is about its sessions' lives.
    pub fn check_lifecycle(&mut self, app: Incarnation, frame: &Frame) -> LawResult {
        let (incarnation, method) = (frame.envelope.incarnation, frame.envelope.method);
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        match method {
            Method::Save => drop(process.saved.insert(incarnation)),
            Method::AppOpen => {
                law!(
                    !process.ending,
                    "no session note_open in an ending process",
                    "{incarnation} in {app}"
                );
            }
            Method::AppClose if process.shared && incarnation == app => {
                let left = &process.sessions;
                law!(left.is_empty(), "a shared process ends with its last session", "{left:?}");
                process.ending = true;
            }
            Method::AppClose => {
                let Some(session_key) = process.sessions.get(&incarnation).copied() else {
                    return Ok(());
                };
                let sleeps =
                    process.saved.contains(&incarnation) && self.pins.holds(session_key).is_none();
                let process = &self.processes[&app];
                law!(
                    sleeps
                        || process.misbehaved
                        || process.refused.contains(&incarnation)
                        || self.was_requested(session_key),
                    "a session is closed for a reason",
                    "{session_key:?}, incarnation {incarnation}"
                );
                self.note_close(session_key);
            }
            _ => {}
        }
        Ok(())
    }

    pub fn check_signal(&mut self, app: Incarnation, signal: Signal) -> LawResult {
        let Some(process) = self.processes.get_mut(&app) else { return Ok(()) };
        process.ending = true;
        let process = &self.processes[&app];
        let incarnations = process.sessions.values().chain([&process.session_key]);
        let wanted = incarnations.into_iter().any(|session_key| self.was_requested(*session_key));
        law!(
            process.misbehaved || !process.alive || wanted,
            "a well-behaved process is not signalled",
            "{signal:?} to {process:?}"
        );
        Ok(())
    }

    /// True when somebody asked for the end of a session's process, or that of one that may share it.
    fn was_requested(&self, session_key: SessionKey) -> bool {
        let daemon = self.daemon.nth;
        let asked = self.requests.iter().rev().take_while(|request| request.daemon == daemon);
        let ends = |of: usize, addr: &str, restart: bool| {
            let of = SessionKey::of(of, addr);
            let neighbour = |of: SessionKey| of.provider() == session_key.provider();
            of == Some(session_key) || (restart && self.kind.hosts && of.is_some_and(neighbour))
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

    /// A session's app took an open in.
    pub fn note_open(&mut self, session_key: SessionKey) {
        self.open_until.insert(session_key, u64::MAX);
    }

    /// A session's session runs no longer.
    pub fn note_close(&mut self, session_key: SessionKey) {
        if let Some(until) = self.open_until.get_mut(&session_key) {
            *until = self.time.min(*until);
        }
    }

    /// An app behaves in some way from now on: its process is no longer sure to.
    pub fn note_behaviour(&mut self, session_key: SessionKey, behaviour: Behaviour) {
        let same =
            |other: SessionKey| other == session_key || other.provider() == session_key.provider();
        if behaviour != Behaviour::Normal {
            let mut all = self.processes.values_mut();
            all.by_ref()
                .filter(|process| same(process.session_key))
                .for_each(|p| p.misbehaved = true);
        }
    }

    /// True when an app of that provider doesn't behave.
    pub fn is_misbehaving(&self, session_key: SessionKey) -> bool {
        let of_it = |other: &SessionKey| other.provider() == session_key.provider();
        self.behaviours
            .iter()
            .any(|(other, behaviour)| of_it(other) && *behaviour != Behaviour::Normal)
    }

    /// An `open` was answered: done means that its app has taken it in.
    pub fn check_opened(&self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let (Verb::Open(Open { provider, session: Some(session), .. }), Ok(answer)) =
            (&request.call.verb, answer)
        else {
            return Ok(());
        };
        let addr = format!("{provider}/{session}");
        let said = format!("{answer:?}");
        // Time was up for it, or for the daemon: it had been shown before, and has its title.
        let nothing = said.contains(&format!("## {addr} · busy, as it was before"));
        let busy = said.contains("busy, as it was before") && !nothing;
        let session_key = SessionKey::of(READERS[request.who].0, &addr);
        let until = session_key.and_then(|session_key| self.open_until.get(&session_key)).copied();
        law!(
            answer.exit != 0 || busy || until.is_some_and(|until| until >= request.at),
            "a successful open was accepted by the app",
            "{:?} at {} ms: {answer:?}, until {until:?}",
            request.call.verb,
            request.at
        );
        Ok(())
    }

    /// Nothing is left to be done: what may sleep does.
    pub fn check_idle(&self) -> LawResult {
        for (app, process) in self.processes.iter().filter(|(_, process)| process.alive) {
            let empty = process.shared && process.started && process.sessions.is_empty();
            law!(!empty, "a shared process ends with its last session", "{app} runs on");
            for session_key in
                process.sessions.values().filter(|session_key| session_key.provider() != "other")
            {
                law!(
                    self.pins.may_keep_awake(*session_key),
                    "an idle session hibernates",
                    "{session_key:?} in {app}"
                );
            }
        }
        Ok(())
    }
}
