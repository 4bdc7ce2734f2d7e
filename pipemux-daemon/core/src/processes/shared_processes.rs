//! Processes that many sessions share: `isolation = "provider"` in the manifest.
//!
//! Each session keeps an incarnation of its own with its own number, and its frames carry that number. Here an
//! incarnation is mapped to the process that it is in: what is sent to an incarnation goes to its process, and what
//! comes from a process goes to the incarnation that its envelope names. Sessions come and go without the process;
//! what ends the process ends them all, and each is told why.
//!
//! The rest of the component asks here in three places only: when a session starts or ends (`join`, `leave`,
//! `drain_neighbours`), where an event from outside may be of a shared process (`handle_frame` and its
//! neighbours below), and when effects are addressed ([`Processes::address_effects`]).

use std::collections::BTreeMap;

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::hello::{EMBED, FORMS, JOBS};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Frame, Hello, Kind, ProviderId, Role};
use rustc_hash::FxHashMap;

use crate::event::{Effect, Exit, Signal, Start};
use crate::keys::SessionKey;
use crate::limits::DRAIN_MS;
use crate::processes::session::ProcessState;
use crate::processes::{ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

/// The shared processes.
#[derive(Debug, Default)]
pub(super) struct SharedProcesses {
    by_process: BTreeMap<Incarnation, SharedProcess>,
    /// The process that a session's incarnation is in.
    of: FxHashMap<Incarnation, Incarnation>,
}

#[derive(Debug)]
struct SharedProcess {
    provider: ProviderId,
    incarnations: Vec<Incarnation>,
    /// Its greeting, for sessions that come later.
    greeting: Option<Frame>,
    /// When it must have ended, once no session is left in it.
    closing: Option<u64>,
}

impl SharedProcesses {
    /// True while there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_process.is_empty()
    }

    /// The process that an incarnation is in: itself, when it isn't shared.
    pub(super) fn process_of(&self, app: Incarnation) -> Incarnation {
        self.of.get(&app).copied().unwrap_or(app)
    }

    /// True for an incarnation in a shared process.
    pub(super) fn is_shared(&self, app: Incarnation) -> bool {
        self.of.contains_key(&app)
    }

    /// True for a shared process.
    pub(super) fn is_process(&self, process: Incarnation) -> bool {
        self.by_process.contains_key(&process)
    }

    /// The incarnations in a shared process.
    fn incarnations(&self, process: Incarnation) -> Vec<Incarnation> {
        let found = self.by_process.get(&process);
        found.map(|shared| shared.incarnations.clone()).unwrap_or_default()
    }

    /// True while a provider's process ends: no session can join it, and there is no other yet.
    pub(super) fn is_closing(&self, provider: &ProviderId) -> bool {
        let mut own = self.by_process.values().filter(|shared| shared.provider == *provider);
        own.any(|shared| shared.closing.is_some())
    }

    pub(super) fn remove(&mut self, process: Incarnation) -> Vec<Incarnation> {
        let removed = self.by_process.remove(&process);
        let incarnations = removed.map(|shared| shared.incarnations).unwrap_or_default();
        for incarnation in &incarnations {
            self.of.remove(incarnation);
        }
        incarnations
    }
}

/// What comes from processes, shared or not.
impl Processes {
    /// Returns the incarnations that a frame of a process is for. The greeting of a shared process is for all that
    /// are in it, and is kept for those that come later.
    pub fn receivers(
        &mut self,
        process: Incarnation,
        frame: &Frame,
    ) -> impl Iterator<Item = Incarnation> + use<> {
        let (mut one, mut all) = (Some(process), Vec::new());
        if let Some(shared) = self.incarnations.shared.by_process.get_mut(&process) {
            let incarnation = frame.envelope.incarnation;
            one = None;
            if (frame.envelope.kind, frame.envelope.method) == (Kind::Event, Method::Hello) {
                shared.greeting.get_or_insert_with(|| frame.clone());
                all.clone_from(&shared.incarnations);
            } else if self.incarnations.shared.of.get(&incarnation) == Some(&process) {
                one = Some(incarnation);
            }
        }
        one.into_iter().chain(all)
    }

    /// Takes a frame that a process sent.
    pub fn handle_frame(&mut self, turn: &mut Turn, process: Incarnation, frame: Frame) {
        for app in self.receivers(process, &frame) {
            // Only authors are told of what is dropped.
            let _ = self.handle_session_frame(turn, app, frame.clone());
        }
    }

    /// Ends a process that sent invalid framing.
    pub fn handle_broken(&mut self, turn: &mut Turn, process: Incarnation, why: String) {
        match self.incarnations.shared.is_process(process) {
            true => self.drain_shared(turn, process, &why, Signal::Kill),
            false => self.break_app(turn, process, why),
        }
    }

    /// Ends a process that closed its connection.
    pub fn handle_closed(&mut self, turn: &mut Turn, process: Incarnation) {
        match self.incarnations.shared.is_process(process) {
            true => {
                self.drain_shared(turn, process, "it closed its connection", Signal::Terminate);
            }
            false => self.session_closed(turn, process),
        }
    }

    /// Handles the end of a process, with the last lines of its log; `exit` is an error if it never started.
    pub fn handle_exit(
        &mut self,
        turn: &mut Turn,
        process: Incarnation,
        exit: Result<Exit, &str>,
        last_lines: Vec<String>,
    ) {
        let Some(shared) = self.incarnations.shared.by_process.get(&process) else {
            return self.ended(turn, process, exit, last_lines);
        };
        if let Some(at) = shared.closing {
            turn.clear_timer(at, Timer::Drain(process));
        }
        for incarnation in self.incarnations.remove_shared(process) {
            self.ended(turn, incarnation, exit, last_lines.clone());
        }
    }
}

/// Sessions that come, go and fail together.
impl Processes {
    /// Starts a session's incarnation in its provider's process, which is started when there is none.
    pub(super) fn join(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        start: Start,
    ) {
        let provider = &key.addr.provider;
        let mut own = self.incarnations.shared.by_process.iter_mut();
        if let Some((process, shared)) = own.find(|(_, shared)| shared.provider == *provider) {
            shared.incarnations.push(app);
            self.incarnations.shared.of.insert(app, *process);
            let greeting = shared.greeting.clone();
            turn.effects.push(Effect::Prepare { state_dir: start.state_dir });
            if let Some(greeting) = greeting {
                self.handle_hello(turn, key, app, &greeting);
            }
            return;
        }
        let process = Incarnation(turn.next_number());
        let (provider, incarnations) = (provider.clone(), vec![app]);
        let shared = SharedProcess { provider, incarnations, greeting: None, closing: None };
        self.incarnations.shared.by_process.insert(process, shared);
        self.incarnations.shared.of.insert(app, process);
        self.launch(turn, Start { app: process, ..start });
    }

    /// Starts a process and greets it.
    pub(super) fn launch(&mut self, turn: &mut Turn, start: Start) {
        let app = start.app;
        turn.effects.push(Effect::Start(start));
        let hello = Envelope::event(Method::Hello, app);
        let features = [FORMS, JOBS, EMBED].map(str::to_owned).to_vec();
        let greeting = Hello { features, ..Hello::new(Role::Daemon, self.software.clone()) };
        if let Ok(bytes) = Frame::encode(&hello, &greeting) {
            turn.effects.push(Effect::ToApp { app, bytes });
        }
    }

    /// Ends a shared process that broke the protocol or closed its connection, and all sessions in it.
    fn drain_shared(&mut self, turn: &mut Turn, process: Incarnation, why: &str, signal: Signal) {
        self.close_shared(turn, process);
        for incarnation in self.incarnations.shared.incarnations(process) {
            let Some(key) = self.incarnations.session_of(incarnation).cloned() else {
                continue;
            };
            if self.sessions.get(&key).is_some_and(|session| !session.is_draining()) {
                let why = Some(why.to_owned());
                self.set_draining(turn, &key, incarnation, why, Some(signal));
            }
        }
        turn.signal(process, signal);
    }

    /// Asks a session's process to end so that it is restarted: with a shared one, all sessions in it end in
    /// order, and start again when they are touched. False when the session has no process.
    pub fn close_for_restart(&mut self, turn: &mut Turn, key: &SessionKey) -> bool {
        let Some(app) = self.sessions.get(key).and_then(|session| session.app()) else {
            return false;
        };
        if !self.incarnations.shared.is_shared(app) {
            self.close(turn, key);
            return true;
        }
        let process = self.incarnations.shared.process_of(app);
        self.close_shared(turn, process);
        for incarnation in self.incarnations.shared.incarnations(process) {
            let Some(session) = self.incarnations.session_of(incarnation).cloned() else {
                continue;
            };
            self.close(turn, &session);
            if session != *key {
                let neighbour = key.clone();
                self.events.push_back(ProcessEvent::RestartedWith { session, neighbour });
            }
        }
        true
    }

    /// From now on nobody joins a process, which ends.
    fn close_shared(&mut self, turn: &mut Turn, process: Incarnation) {
        let at = turn.mono_ms() + DRAIN_MS;
        if let Some(shared) = self.incarnations.shared.by_process.get_mut(&process)
            && shared.closing.is_none()
        {
            shared.closing = Some(at);
            turn.set_timer(at, Timer::Drain(process));
        }
    }

    /// One session's fault ends the process: the others in it are told whose it was.
    pub(super) fn drain_neighbours(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        why: &str,
    ) {
        let process = self.incarnations.shared.process_of(app);
        self.close_shared(turn, process);
        for incarnation in self.incarnations.shared.incarnations(process) {
            let neighbour = self.incarnations.session_of(incarnation);
            let Some(other) = neighbour.filter(|other| *other != key).cloned() else { continue };
            if self.sessions.get(&other).is_some_and(|session| !session.is_draining()) {
                let why = format!("{key}, which shares its process, was ended: {why}");
                self.set_draining(turn, &other, incarnation, Some(why), Some(Signal::Kill));
            }
        }
    }

    /// A session in a shared process has ended as it was asked to; with the last one the process ends.
    pub(super) fn leave(&mut self, turn: &mut Turn, key: &SessionKey) {
        let incarnation = match self.sessions.get(key).map(|session| &session.process) {
            Some(ProcessState::Draining { app, why: None, .. }) => *app,
            _ => return,
        };
        let Some(process) = self.incarnations.shared.of.remove(&incarnation) else { return };
        let mut last = false;
        if let Some(shared) = self.incarnations.shared.by_process.get_mut(&process) {
            shared.incarnations.retain(|other| *other != incarnation);
            last = shared.incarnations.is_empty();
        }
        if last {
            self.close_shared(turn, process);
            let close = Envelope::request(Method::AppClose, 0, process);
            if let Ok(bytes) = Frame::encode(&close, &Empty {}) {
                turn.effects.push(Effect::ToApp { app: process, bytes });
            }
        }
        self.ended(turn, incarnation, Ok(Exit::Code(0)), Vec::new());
    }
}
