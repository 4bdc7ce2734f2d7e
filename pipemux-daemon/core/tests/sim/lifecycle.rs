//! The lifecycle of processes and of the sessions in them: when they may begin and end.
//!
//! | law | why it must hold |
//! |---|---|
//! | a well-behaved process is not signalled | its work would be lost; only misbehaviour or a request is a reason |
//! | a session is closed for a reason | the reasons are an end, a restart, hibernation or a refused open |
//! | a shared process ends with its last session | earlier would lose sessions, later would leak a process |
//! | no session opens in an ending process | it would end at once |
//! | a successful open was accepted by the app | exit status 0 promises that the session runs |
//! | an idle session hibernates | idle processes cost memory; only a pin keeps one awake |

use pipemux_core::Signal;
use pipemux_proto::client::{Answer, OpenArgs, Verb};
use pipemux_proto::{Fault, Frame, Incarnation, Method};

use crate::action::Behaviour;
use crate::law::{LawResult, law};
use crate::sessions::{READERS, SessionKey};
use crate::sim::Sim;

impl Sim {
    /// Checks a request that begins, saves or ends a session.
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

    /// True when a client asked for the end or restart of a session, or of a neighbour in its
    /// process.
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

    /// A session's app accepted an open.
    pub fn note_open(&mut self, session_key: SessionKey) {
        self.open_until.insert(session_key, u64::MAX);
    }

    /// A session no longer runs.
    pub fn note_close(&mut self, session_key: SessionKey) {
        if let Some(until) = self.open_until.get_mut(&session_key) {
            *until = self.time.min(*until);
        }
    }

    /// Marks running processes of the provider as misbehaved, unless the behaviour is normal.
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

    /// True when an app of the session's provider misbehaves.
    pub fn is_misbehaving(&self, session_key: SessionKey) -> bool {
        let of_it = |other: &SessionKey| other.provider() == session_key.provider();
        self.behaviours
            .iter()
            .any(|(other, behaviour)| of_it(other) && *behaviour != Behaviour::Normal)
    }

    /// Checks that an answered `open` with exit status 0 was accepted by its app.
    pub fn check_opened(&self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let (Verb::Open(OpenArgs { provider, session: Some(session), .. }), Ok(answer)) =
            (&request.call.verb, answer)
        else {
            return Ok(());
        };
        let addr = format!("{provider}/{session}");
        let said = format!("{answer:?}");
        // At its deadline, or when the daemon stops, the answer shows the window as it was before.
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

    /// Checks, when nothing is left to be done, that every session that may hibernate has done so.
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
