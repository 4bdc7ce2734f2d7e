//! A session's process from start to end.

use pipemux_proto::app::{Changed, Empty, Notify};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind, decode};

use crate::Core;
use crate::event::{Effect, Exit, Signal, Start};
use crate::keys::SessionKey;
use crate::limits::{DRAIN_MS, REJOIN_MS, START_MS};
use crate::manifest::Restart;
use crate::processes::requests::Purpose;
use crate::processes::session::{Crash, ProcessState, exit_words};
use crate::timers::Timer;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

impl Core {
    /// Makes sure that a session has a process or is getting one.
    ///
    /// # Errors
    /// It failed so often that it stays down until `restart`.
    pub(crate) fn wake(&mut self, key: &SessionKey) -> Result<(), Fault> {
        if self.stopping {
            return Err(Fault::unavailable("the daemon is going down"));
        }
        let Some(session) = self.sessions.get(key) else {
            return Err(Fault::not_found(format!("no session {key}"))
                .hint(format!("pipemux open {}", key.addr)));
        };
        if let Some(why) = &session.failed {
            let mut fault = Fault::unavailable(format!("{key} is down: {why}"));
            if !session.last_lines.is_empty() {
                fault = fault.hint("its last lines:");
                fault.hints.extend(session.last_lines.iter().cloned());
            }
            return Err(match session.manifest.command.is_empty() {
                true => fault.hint("pipemux apps tells what is registered, and what isn't and why"),
                false => fault
                    .hint(format!("pipemux logs {key} · start it again: pipemux restart {key}")),
            });
        }
        if session.process != ProcessState::Down {
            return Ok(());
        }
        if session.opens.is_empty() {
            // Its one open was refused, or it was ended: there is nothing to start it with.
            return Err(Fault::not_found(format!("{key} is not open"))
                .hint(format!("pipemux open {}", key.addr)));
        }
        let app = Incarnation(self.next_number());
        let now = self.now.mono_ms;
        let Some(session) = self.sessions.get_mut(key) else { return Ok(()) };
        let last = session.crashes.back().copied().unwrap_or(0);
        let at = last + session.backoff_ms(app.0);
        if at > now {
            session.process = ProcessState::Backoff { app, at };
            self.session_by_incarnation.insert(app, key.clone());
            self.timers.set(at, Timer::Backoff(app));
        } else {
            self.start(key, app);
        }
        Ok(())
    }

    /// A wait after a crash is over.
    pub(crate) fn backoff_over(&mut self, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let waits = |life: &ProcessState| matches!(life, ProcessState::Backoff { app: waiting, .. } if *waiting == app);
        if self.sessions.get(&key).is_some_and(|session| waits(&session.process)) {
            self.start(&key, app);
        }
    }

    /// Takes back a process that was to be started after a wait.
    pub(crate) fn forget_waiting(&mut self, key: &SessionKey) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if let ProcessState::Backoff { app, at } = session.process {
            session.process = ProcessState::Down;
            self.session_by_incarnation.remove(&app);
            self.timers.clear(at, Timer::Backoff(app));
        }
    }

    fn start(&mut self, key: &SessionKey, app: Incarnation) {
        if self.shares(key) && self.shared.is_closing(&key.addr.provider) {
            let at = self.now.mono_ms + REJOIN_MS;
            let Some(session) = self.sessions.get_mut(key) else { return };
            session.process = ProcessState::Backoff { app, at };
            self.session_by_incarnation.insert(app, key.clone());
            return self.timers.set(at, Timer::Backoff(app));
        }
        let deadline = self.now.mono_ms + START_MS;
        let (state_dir, log) = self.places(key);
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.process = ProcessState::Starting { app, deadline, greeted: false };
        let open = session.opens.last().cloned().unwrap_or_default();
        let start = Start {
            app,
            command: session.manifest.command.clone(),
            args: session.manifest.args.clone(),
            env: open.env,
            cwd: open.cwd,
            state_dir,
            log,
            transport: session.manifest.transport,
            limits: session.manifest.limits,
        };
        self.session_by_incarnation.insert(app, key.clone());
        self.timers.set(deadline, Timer::Start(app));
        if self.shares(key) {
            self.join(key, app, start);
        } else {
            self.launch(start);
            // Right behind the greeting, so that it needn't wait for one more turn.
            self.send_start_open(key, app, 0);
        }
    }

    /// Takes a frame of an app.
    pub(crate) fn handle_app_frame(&mut self, app: Incarnation, frame: Frame) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let envelope = frame.envelope;
        if let Some(session) = self.sessions.get_mut(&key) {
            session.health.heard_from(self.now.mono_ms);
        }
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_app_hello(&key, app, &frame),
            (Kind::Reply | Kind::Fault, _) if envelope.incarnation == app => {
                self.handle_answer(app, frame);
            }
            (Kind::Event, Method::Changed) if envelope.incarnation == app => {
                if let Ok(changed) = decode::<Changed>(&frame.body) {
                    self.session_changed(&key, changed.version);
                }
            }
            (Kind::Event, Method::Busy) if envelope.incarnation == app => {
                if let Ok(busy) = decode(&frame.body) {
                    self.heard_busy(&key, busy);
                }
            }
            (Kind::Event, Method::Notify) if envelope.incarnation == app => {
                if let Ok(notify) = decode::<Notify>(&frame.body) {
                    self.heard_notice(&key, &notify.text);
                }
            }
            (Kind::Request, method) if envelope.incarnation == app => {
                let sent = match method {
                    Method::Ping => Frame::encode(&envelope.answer(Kind::Reply), &Empty {}),
                    _ => Frame::fault(&envelope, &Fault::refused("an app can't ask for this")),
                };
                if let Ok(bytes) = sent {
                    self.out.push(Effect::ToApp { app, bytes });
                }
            }
            // Frames of another life, and what a later version may send.
            _ => {}
        }
    }

    /// Ends a process that broke the protocol.
    pub(crate) fn break_app(&mut self, app: Incarnation, why: String) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        self.drain(&key, app, Some(why), Signal::Kill);
    }

    /// Asks a session's process to end.
    pub(crate) fn close_app(&mut self, key: &SessionKey) {
        self.forget_waiting(key);
        let Some(session) = self.sessions.get(key) else { return };
        match session.process {
            ProcessState::Starting { app, .. } if !self.shared.is_shared(app) => {
                self.drain(key, app, None, Signal::Terminate);
            }
            ProcessState::Ready { app } | ProcessState::Starting { app, .. } => {
                let deadline = self.now.mono_ms + DRAIN_MS;
                self.send_now(key, app, Method::AppClose, &Empty {}, deadline, Purpose::Close);
                self.set_draining(key, app, None, None);
            }
            ProcessState::Down | ProcessState::Backoff { .. } | ProcessState::Draining { .. } => {}
        }
    }

    fn drain(&mut self, key: &SessionKey, app: Incarnation, why: Option<String>, signal: Signal) {
        if self.shared.is_shared(app) {
            self.blame_neighbour(key, app, why.as_deref().unwrap_or("it did not end in time"));
        }
        self.set_draining(key, app, why, Some(signal));
        self.out.push(Effect::Signal { app, signal });
    }

    pub(crate) fn set_draining(
        &mut self,
        key: &SessionKey,
        app: Incarnation,
        why: Option<String>,
        sent: Option<Signal>,
    ) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let mut was_ready = false;
        match session.process {
            ProcessState::Starting { deadline, .. } => {
                self.timers.clear(deadline, Timer::Start(app))
            }
            ProcessState::Draining { deadline, was_ready: before, .. } => {
                was_ready = before;
                self.timers.clear(deadline, Timer::Drain(app));
            }
            ProcessState::Ready { .. } => {
                was_ready = true;
                self.exchanges.dismiss(app);
            }
            ProcessState::Down | ProcessState::Backoff { .. } => {}
        }
        let deadline = self.now.mono_ms + DRAIN_MS;
        session.process = ProcessState::Draining { app, deadline, why, sent, was_ready };
        self.timers.set(deadline, Timer::Drain(app));
    }

    /// A process that is past its start deadline is ended.
    pub(crate) fn start_expired(&mut self, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let greeted = self.sessions.get(&key).is_some_and(|session| {
            matches!(session.process, ProcessState::Starting { greeted: true, .. })
        });
        let what = if greeted { "did not open" } else { "sent no Hello" };
        let why = format!("it {what} within {} s", START_MS / 1000);
        self.drain(&key, app, Some(why), Signal::Kill);
    }

    /// A process that is past its drain deadline is killed.
    pub(crate) fn drain_expired(&mut self, app: Incarnation) {
        if self.shared.is_process(app) {
            self.out.push(Effect::Signal { app, signal: Signal::Kill });
        }
        if let Some(key) = self.session_by_incarnation.get(&app).cloned()
            && let Some(ProcessState::Draining { why, .. }) =
                self.sessions.get(&key).map(|s| &s.process)
        {
            let why = why.clone();
            self.drain(&key, app, why, Signal::Kill);
        }
    }

    /// A connection that an app closed ends its process.
    pub(crate) fn app_closed(&mut self, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        match self.sessions.get(&key).map(|session| &session.process) {
            Some(ProcessState::Draining { .. }) | None => {}
            Some(_) => {
                let why = "it closed its connection".to_owned();
                // A process that has ended is about to be reported; one that lives on is ended.
                self.drain(&key, app, Some(why), Signal::Terminate);
            }
        }
    }

    pub(crate) fn start_failed(&mut self, app: Incarnation, why: &str) {
        self.ended(app, format!("it could not be started: {why}"), Vec::new(), None);
    }

    pub(crate) fn exited(&mut self, app: Incarnation, exit: Exit, last_lines: Vec<String>) {
        self.ended(app, exit_words(exit), last_lines, Some(exit));
    }

    /// A process is gone; without an exit it never was.
    fn ended(
        &mut self,
        app: Incarnation,
        how: String,
        last_lines: Vec<String>,
        exit: Option<Exit>,
    ) {
        let unstarted = exit.is_none();
        let Some(key) = self.session_by_incarnation.remove(&app) else { return };
        self.pids.remove(&app);
        self.forget_rest(&key, app);
        let now = self.now;
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let was = std::mem::replace(&mut session.process, ProcessState::Down);
        let (wanted, how) = match &was {
            ProcessState::Draining { deadline, why, sent, .. } => {
                self.timers.clear(*deadline, Timer::Drain(app));
                let ours = match sent {
                    Some(Signal::Terminate) => exit == Some(Exit::Signal(SIGTERM)),
                    Some(Signal::Kill) => exit == Some(Exit::Signal(SIGKILL)),
                    None => false,
                };
                // What it was ended for says more than the signal that ended it.
                (why.is_none(), why.clone().filter(|_| ours).unwrap_or(how))
            }
            ProcessState::Starting { deadline, .. } => {
                self.timers.clear(*deadline, Timer::Start(app));
                (false, how)
            }
            _ => (false, how),
        };
        // Whoever closes the connection of a process that is starting drains it before its end is heard.
        let starting = !wanted
            && matches!(
                was,
                ProcessState::Starting { .. } | ProcessState::Draining { was_ready: false, .. }
            );
        if let Some(at) = std::mem::take(&mut session.health).look_at {
            self.timers.clear(at, Timer::HealthCheck(app));
        }
        session.version = 0;
        let wake_failed = !wanted && session.hibernation.asleep.take().is_some();
        let mut words = format!("{key} ended: {how}");
        let mut hints = last_lines;
        if !wanted {
            let nth = session.count_crash(now);
            session.crashed = Some(Crash { how: how.clone(), at: now, nth });
            words = if starting {
                format!("{key} could not start: {how}")
            } else {
                format!("{key} died while it ran ({how})")
            };
            session.last_lines = hints.clone();
            session.failed = if unstarted {
                Some(how)
            } else if session.crashed_out() {
                Some(format!("it crashed {nth} times; last: {how}"))
            } else if session.manifest.restart == Restart::Never {
                Some(format!("{how}; its manifest says restart = \"never\""))
            } else {
                None
            };
            if !hints.is_empty() {
                hints.insert(0, "its last lines:".into());
            }
        }
        self.tell_end(&key, wanted, &words);
        if self.stopping && wanted {
            "the daemon is going down".clone_into(&mut words);
        }
        if wake_failed {
            self.save_asleep(&key, 0);
        }
        let Some(session) = self.sessions.get(&key) else { return };
        let opening = self.opening.remove(&key);
        let gone = session.opens.is_empty() && !self.has_window(&key);
        let watchers = match self.sessions.get_mut(&key) {
            Some(session) => std::mem::take(&mut session.watchers),
            None => Vec::new(),
        };
        self.end_requests(&key, Some(app), &words, &hints);
        self.exchanges_lost(app, &words, &hints);
        if let Some(job) = opening {
            let mut fault = Fault::unavailable(words.clone());
            fault.hints = hints.clone();
            self.fail_job(job, fault);
            if let Some(session) = self.sessions.get_mut(&key) {
                session.opens.pop();
                if session.opens.is_empty() {
                    self.sessions.remove(&key);
                    self.actions_changed(&key);
                }
            }
        }
        // Before another process starts for what waits.
        self.settle_ends(&key);
        // What waits goes with the next process; when this one never got ready, it waits in vain.
        if starting || gone {
            self.end_requests(&key, None, &words, &hints);
        } else if self.sessions.get(&key).is_some_and(|session| !session.waiting.is_empty())
            && let Err(fault) = self.wake(&key)
        {
            self.end_requests(&key, None, &fault.message, &fault.hints);
        }
        for job in watchers {
            let settled = if wanted {
                Ok(())
            } else {
                let mut fault = Fault::unavailable(words.clone());
                fault.hints = hints.clone();
                Err(fault)
            };
            self.session_settled(job, settled);
        }
        self.attach_lost(&key, starting || gone, &words);
        self.session_ended(&key);
    }

    /// Takes back a session whose first open was refused.
    pub(crate) fn discard(&mut self, key: &SessionKey) {
        match self.sessions.get(key).and_then(crate::processes::session::Session::app) {
            Some(app) if self.shared.is_shared(app) => self.close_app(key),
            Some(app) => self.drain(key, app, None, Signal::Terminate),
            None => {}
        }
    }
}
