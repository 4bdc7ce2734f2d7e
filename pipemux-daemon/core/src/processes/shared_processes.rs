//! Processes that many sessions share: `isolation = "provider"` in the manifest.
//!
//! Each session keeps a life of its own with its own number, and its frames carry that number; so all
//! else in the core knows nothing of sharing. Here, and only here, a life is mapped to the process that
//! it is in: what is sent to a life goes to its process, what comes from a process goes to the life
//! that its envelope names. Sessions come and go without the process; what ends the process ends them
//! all, and each is told why.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Frame, Hello, Kind, ProviderId, Role};
use std::collections::{BTreeMap, HashMap};

use crate::Core;
use crate::event::{Effect, Exit, Signal, Start};
use crate::keys::SessionKey;
use crate::limits::DRAIN_MS;
use crate::manifest::Isolation;
use crate::processes::session::ProcessState;
use crate::timers::Timer;

/// The shared processes.
#[derive(Debug, Default)]
pub struct SharedProcesses {
    by_process: BTreeMap<Incarnation, SharedProcess>,
    /// The process that a session's life is in.
    of: HashMap<Incarnation, Incarnation>,
}

#[derive(Debug)]
struct SharedProcess {
    provider: ProviderId,
    lives: Vec<Incarnation>,
    /// Its greeting, for sessions that come later.
    greeting: Option<Frame>,
    /// When it must have ended, once no session is left in it.
    closing: Option<u64>,
}

impl SharedProcesses {
    /// True while there is none.
    pub fn is_empty(&self) -> bool {
        self.by_process.is_empty()
    }

    /// The process that a life is in: itself, when it isn't shared.
    pub fn process_of(&self, app: Incarnation) -> Incarnation {
        self.of.get(&app).copied().unwrap_or(app)
    }

    /// True for a life in a shared process.
    pub fn is_shared(&self, app: Incarnation) -> bool {
        self.of.contains_key(&app)
    }

    /// True for a shared process.
    pub fn is_process(&self, process: Incarnation) -> bool {
        self.by_process.contains_key(&process)
    }

    /// The lives in a shared process.
    pub fn lives(&self, process: Incarnation) -> Vec<Incarnation> {
        self.by_process.get(&process).map(|host| host.lives.clone()).unwrap_or_default()
    }

    /// True while a provider's process ends: no session can join it, and there is no other yet.
    pub fn is_closing(&self, provider: &ProviderId) -> bool {
        let mut own = self.by_process.values().filter(|host| host.provider == *provider);
        own.any(|host| host.closing.is_some())
    }

    fn remove(&mut self, process: Incarnation) -> Vec<Incarnation> {
        let lives = self.by_process.remove(&process).map(|host| host.lives).unwrap_or_default();
        for life in &lives {
            self.of.remove(life);
        }
        lives
    }
}

impl Core {
    /// Addresses what is to be sent to lives to the processes that they are in.
    pub(crate) fn address_processes(&mut self) {
        if self.shared.is_empty() {
            return;
        }
        for effect in &mut self.out {
            if let Effect::ToApp { app, .. } | Effect::Signal { app, .. } = effect {
                *app = self.shared.process_of(*app);
            }
        }
    }

    /// Starts a session's life in its provider's process, which is started when there is none.
    pub(crate) fn join(&mut self, key: &SessionKey, app: Incarnation, start: Start) {
        let provider = &key.addr.provider;
        let mut own = self.shared.by_process.iter_mut();
        let found = own.find(|(_, host)| host.provider == *provider);
        if let Some((process, host)) = found {
            host.lives.push(app);
            self.shared.of.insert(app, *process);
            let greeting = host.greeting.clone();
            self.out.push(Effect::Prepare { state_dir: start.state_dir });
            if let Some(greeting) = greeting {
                self.handle_app_hello(key, app, &greeting);
            }
            return;
        }
        let process = Incarnation(self.next_number());
        let host = SharedProcess {
            provider: provider.clone(),
            lives: vec![app],
            greeting: None,
            closing: None,
        };
        self.shared.by_process.insert(process, host);
        self.shared.of.insert(app, process);
        self.launch(Start { app: process, ..start });
    }

    /// Starts a process and greets it.
    pub(crate) fn launch(&mut self, start: Start) {
        let app = start.app;
        self.out.push(Effect::Start(start));
        let hello = Envelope::event(Method::Hello, app);
        let greeting = Hello::new(Role::Daemon, self.config.software.clone());
        if let Ok(bytes) = Frame::encode(&hello, &greeting) {
            self.out.push(Effect::ToApp { app, bytes });
        }
    }

    /// A frame of a shared process: for the life that it names, a greeting for all.
    pub(crate) fn shared_frame(&mut self, process: Incarnation, frame: Frame) {
        let Some(host) = self.shared.by_process.get_mut(&process) else {
            return self.handle_app_frame(process, frame);
        };
        if (frame.envelope.kind, frame.envelope.method) == (Kind::Event, Method::Hello) {
            host.greeting.get_or_insert_with(|| frame.clone());
            for life in host.lives.clone() {
                self.handle_app_frame(life, frame.clone());
            }
            return;
        }
        let life = frame.envelope.incarnation;
        if self.shared.of.get(&life) == Some(&process) {
            self.handle_app_frame(life, frame);
        }
    }

    /// A shared process broke the protocol, or closed its connection.
    pub(crate) fn shared_broken(&mut self, process: Incarnation, why: &str, signal: Signal) {
        self.close_host(process);
        for life in self.shared.lives(process) {
            let Some(key) = self.session_by_incarnation.get(&life).cloned() else { continue };
            if !self.is_draining(&key) {
                self.set_draining(&key, life, Some(why.to_owned()), Some(signal));
            }
        }
        self.out.push(Effect::Signal { app: process, signal });
    }

    /// A session's restart is that of its process: all in it end in order, and start anew when they are
    /// touched.
    pub(crate) fn restart_shared(&mut self, key: &SessionKey, app: Incarnation) {
        let process = self.shared.process_of(app);
        self.close_host(process);
        for life in self.shared.lives(process) {
            let Some(other) = self.session_by_incarnation.get(&life).cloned() else { continue };
            self.close_app(&other);
            if other != *key {
                let text = format!("{other} was restarted with {key}, which shares its process");
                self.notify_windows(&other, text);
            }
        }
    }

    /// Nobody joins a process that ends.
    fn close_host(&mut self, process: Incarnation) {
        let at = self.now.mono_ms + DRAIN_MS;
        if let Some(host) = self.shared.by_process.get_mut(&process)
            && host.closing.is_none()
        {
            host.closing = Some(at);
            self.timers.set(at, Timer::Drain(process));
        }
    }

    /// One session's fault ends the process: the others in it are told whose.
    pub(crate) fn blame_neighbour(&mut self, key: &SessionKey, app: Incarnation, why: &str) {
        let process = self.shared.process_of(app);
        self.close_host(process);
        for life in self.shared.lives(process) {
            let neighbour =
                self.session_by_incarnation.get(&life).cloned().filter(|other| other != key);
            let Some(other) = neighbour else { continue };
            if !self.is_draining(&other) {
                let why = format!("{key}, which shares its process, was ended: {why}");
                self.set_draining(&other, life, Some(why), Some(Signal::Kill));
            }
        }
    }

    /// A shared process is gone, and all that were in it.
    pub(crate) fn shared_ended(
        &mut self,
        process: Incarnation,
        how: Result<(Exit, Vec<String>), String>,
    ) {
        if let Some(Some(at)) = self.shared.by_process.get(&process).map(|host| host.closing) {
            self.timers.clear(at, Timer::Drain(process));
        }
        self.pids.remove(&process);
        for life in self.shared.remove(process) {
            match &how {
                Ok((exit, last_lines)) => self.exited(life, *exit, last_lines.clone()),
                Err(why) => self.start_failed(life, why),
            }
        }
    }

    /// A session in a shared process has ended by itself, as it was asked to; with the last one the
    /// process ends.
    pub(crate) fn leave(&mut self, key: &SessionKey) {
        let life = match self.sessions.get(key).map(|session| &session.process) {
            Some(ProcessState::Draining { app, why: None, .. }) => *app,
            _ => return,
        };
        let Some(process) = self.shared.of.remove(&life) else { return };
        let mut last = false;
        if let Some(host) = self.shared.by_process.get_mut(&process) {
            host.lives.retain(|other| *other != life);
            last = host.lives.is_empty();
        }
        if last {
            self.close_host(process);
            let close = Envelope::request(Method::AppClose, 0, process);
            if let Ok(bytes) = Frame::encode(&close, &Empty {}) {
                self.out.push(Effect::ToApp { app: process, bytes });
            }
        }
        self.exited(life, Exit::Code(0), Vec::new());
    }

    /// True once a session's process was asked or made to end.
    fn is_draining(&self, key: &SessionKey) -> bool {
        let session = self.sessions.get(key);
        session.is_some_and(|session| matches!(session.process, ProcessState::Draining { .. }))
    }

    /// True when a session shares its process.
    pub(crate) fn shares(&self, key: &SessionKey) -> bool {
        let session = self.sessions.get(key);
        session.is_some_and(|session| session.manifest.isolation == Isolation::Provider)
    }
}
