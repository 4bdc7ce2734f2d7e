//! A session's process from start to end.

use pipemux_proto::app::{Changed, Empty, Notify};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind, decode};

use crate::event::{Effect, Exit, Signal, Start};
use crate::keys::SessionKey;
use crate::limits::{DRAIN_MS, NOTICE_CHARS, REJOIN_MS, START_MS};
use crate::manifest::Restart;
use crate::processes::reply::Purpose;
use crate::processes::session::{Crash, ProcessState, Session, exit_words};
use crate::processes::{EndedProcess, ProcessEnd, ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

impl Processes {
    /// Makes sure that a session has a process or is getting one.
    ///
    /// # Errors
    /// There is no such session, it failed so often that it stays down until `restart`, or the daemon goes down.
    pub fn wake(&mut self, turn: &mut Turn, key: &SessionKey) -> Result<(), Fault> {
        if self.stopping {
            return Err(Fault::unavailable("the daemon is going down"));
        }
        let Some(session) = self.sessions.get_mut(key) else {
            return Err(Fault::not_found(format!("no session {key}"))
                .hint(format!("pipemux open {}", key.addr)));
        };
        if let Some(why) = &session.failed {
            return Err(stays_down(key, session, why));
        }
        if session.process != ProcessState::Down {
            return Ok(());
        }
        if session.opens.is_empty() {
            // Its one open was refused, or it was ended: there is nothing to start it with.
            return Err(Fault::not_found(format!("{key} is not open"))
                .hint(format!("pipemux open {}", key.addr)));
        }
        let app = Incarnation(turn.next_number());
        let last = session.crashes.back().copied().unwrap_or(0);
        let at = last + session.backoff_ms(app.0);
        if at > turn.mono_ms() {
            self.start_later(turn, key, app, at);
        } else {
            self.start(turn, key, app);
        }
        Ok(())
    }

    fn start_later(&mut self, turn: &mut Turn, key: &SessionKey, app: Incarnation, at: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.process = ProcessState::Backoff { app, at };
        self.session_by_incarnation.insert(app, key.clone());
        turn.set_timer(at, Timer::Backoff(app));
    }

    /// Starts a process whose wait after a crash is over.
    pub fn backoff_over(&mut self, turn: &mut Turn, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let waits = |session: &Session| matches!(session.process, ProcessState::Backoff { app: waiting, .. } if waiting == app);
        if self.sessions.get(&key).is_some_and(waits) {
            self.start(turn, &key, app);
        }
    }

    /// Takes back a process that was to be started after a wait.
    pub fn cancel_backoff(&mut self, turn: &mut Turn, key: &SessionKey) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if let ProcessState::Backoff { app, at } = session.process {
            session.process = ProcessState::Down;
            self.session_by_incarnation.remove(&app);
            turn.clear_timer(at, Timer::Backoff(app));
        }
    }

    fn start(&mut self, turn: &mut Turn, key: &SessionKey, app: Incarnation) {
        if self.shares(key) && self.shared.is_closing(&key.addr.provider) {
            return self.start_later(turn, key, app, turn.mono_ms() + REJOIN_MS);
        }
        let deadline = turn.mono_ms() + START_MS;
        let (state_dir, log) = self.paths(key);
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
        turn.set_timer(deadline, Timer::Start(app));
        if self.shares(key) {
            self.join(turn, key, app, start);
        } else {
            self.launch(turn, start);
            // Right behind the greeting, so that it needn't wait for another turn.
            self.send_start_open(turn, key, app, 0);
        }
    }

    /// A process runs under this process id.
    pub fn started(&mut self, app: Incarnation, pid: u32) {
        if self.session_by_incarnation.contains_key(&app) || self.shared.is_process(app) {
            self.pids.insert(app, pid);
        }
    }

    /// Takes a frame that a session's process sent.
    pub(super) fn handle_session_frame(&mut self, turn: &mut Turn, app: Incarnation, frame: Frame) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let envelope = frame.envelope;
        if let Some(session) = self.sessions.get_mut(&key) {
            session.health.heard_from(turn.mono_ms());
        }
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_hello(turn, &key, app, &frame),
            // Frames of another incarnation.
            _ if envelope.incarnation != app => {}
            (Kind::Reply | Kind::Fault, _) => self.handle_reply(turn, app, frame),
            (Kind::Event, Method::Changed) => {
                if let Ok(changed) = decode::<Changed>(&frame.body)
                    && self.set_version(&key, changed.version)
                {
                    self.events.push_back(ProcessEvent::Changed { session: key });
                }
            }
            (Kind::Event, Method::Busy) => {
                if let Ok(busy) = decode(&frame.body) {
                    self.note_busy(turn, &key, busy);
                }
            }
            (Kind::Event, Method::Notify) => {
                if let Ok(notify) = decode::<Notify>(&frame.body) {
                    self.note_notice(turn, key, &notify.text);
                }
            }
            (Kind::Request, method) => {
                let answer = match method {
                    Method::Ping => Frame::encode(&envelope.answer(Kind::Reply), &Empty {}),
                    _ => Frame::fault(&envelope, &Fault::refused("an app can't ask for this")),
                };
                if let Ok(bytes) = answer {
                    turn.effects.push(Effect::ToApp { app, bytes });
                }
            }
            // What a later version may send.
            _ => {}
        }
    }

    /// Passes an app's notice on, unless it says too much.
    fn note_notice(&mut self, turn: &mut Turn, key: SessionKey, text: &str) {
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let Some(left_out) = session.notices.admit(turn.mono_ms()) else { return };
        let text: String = text.chars().take(NOTICE_CHARS).collect();
        let more = match left_out {
            0 => String::new(),
            n => format!(" ({n} notices before it were left out)"),
        };
        let text = format!("{text}{more}");
        self.events.push_back(ProcessEvent::Notice { session: key, text });
    }

    /// Ends a process that broke the protocol.
    pub fn break_app(&mut self, turn: &mut Turn, app: Incarnation, why: String) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        self.drain(turn, &key, app, Some(why), Signal::Kill);
    }

    /// Asks a session's process to end.
    pub fn close(&mut self, turn: &mut Turn, key: &SessionKey) {
        self.cancel_backoff(turn, key);
        let Some(session) = self.sessions.get(key) else { return };
        match session.process {
            ProcessState::Starting { app, .. } if !self.shared.is_shared(app) => {
                self.drain(turn, key, app, None, Signal::Terminate);
            }
            ProcessState::Ready { app } | ProcessState::Starting { app, .. } => {
                let deadline = turn.mono_ms() + DRAIN_MS;
                let close = Method::AppClose;
                self.send_now(turn, (key, app), close, &Empty {}, deadline, Purpose::Close);
                self.set_draining(turn, key, app, None, None);
            }
            ProcessState::Down | ProcessState::Backoff { .. } | ProcessState::Draining { .. } => {}
        }
    }

    pub(super) fn drain(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        why: Option<String>,
        signal: Signal,
    ) {
        if self.shared.is_shared(app) {
            let why = why.as_deref().unwrap_or("it did not end in time");
            self.drain_neighbours(turn, key, app, why);
        }
        self.set_draining(turn, key, app, why, Some(signal));
        turn.signal(app, signal);
    }

    pub(super) fn set_draining(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Incarnation,
        why: Option<String>,
        sent: Option<Signal>,
    ) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let mut was_ready = false;
        match session.process {
            ProcessState::Starting { deadline, .. } => {
                turn.clear_timer(deadline, Timer::Start(app));
            }
            ProcessState::Draining { deadline, was_ready: before, .. } => {
                was_ready = before;
                turn.clear_timer(deadline, Timer::Drain(app));
            }
            ProcessState::Ready { .. } => {
                was_ready = true;
                self.events.push_back(ProcessEvent::Draining { app });
            }
            ProcessState::Down | ProcessState::Backoff { .. } => {}
        }
        let deadline = turn.mono_ms() + DRAIN_MS;
        session.process = ProcessState::Draining { app, deadline, why, sent, was_ready };
        turn.set_timer(deadline, Timer::Drain(app));
    }

    /// Ends a process that is past its start deadline.
    pub fn start_expired(&mut self, turn: &mut Turn, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let greeted = self.sessions.get(&key).is_some_and(|session| {
            matches!(session.process, ProcessState::Starting { greeted: true, .. })
        });
        let what = if greeted { "did not open" } else { "sent no Hello" };
        let why = format!("it {what} within {} s", START_MS / 1000);
        self.drain(turn, &key, app, Some(why), Signal::Kill);
    }

    /// Kills a process that is past its drain deadline.
    pub fn drain_expired(&mut self, turn: &mut Turn, app: Incarnation) {
        if self.shared.is_process(app) {
            turn.signal(app, Signal::Kill);
        }
        if let Some(key) = self.session_by_incarnation.get(&app).cloned()
            && let Some(ProcessState::Draining { why, .. }) =
                self.sessions.get(&key).map(|session| &session.process)
        {
            let why = why.clone();
            self.drain(turn, &key, app, why, Signal::Kill);
        }
    }

    /// Ends the process of a connection that its app closed.
    pub(super) fn session_closed(&mut self, turn: &mut Turn, app: Incarnation) {
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        match self.sessions.get(&key).map(|session| &session.process) {
            Some(ProcessState::Draining { .. }) | None => {}
            Some(_) => {
                let why = "it closed its connection".to_owned();
                // A process that has ended is about to be reported; one that lives on is ended.
                self.drain(turn, &key, app, Some(why), Signal::Terminate);
            }
        }
    }

    /// Handles the end of a session's process; `exit` is none if it never started.
    pub(super) fn ended(
        &mut self,
        turn: &mut Turn,
        app: Incarnation,
        exit: Result<Exit, &str>,
        last_lines: Vec<String>,
    ) {
        let Some(key) = self.session_by_incarnation.remove(&app) else { return };
        self.pids.remove(&app);
        self.cancel_idle_check(turn, &key, app);
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let was = std::mem::replace(&mut session.process, ProcessState::Down);
        let how = match exit {
            Ok(exit) => exit_words(exit),
            Err(why) => why.to_owned(),
        };
        let (wanted, how) = match &was {
            ProcessState::Draining { deadline, why, sent, .. } => {
                turn.clear_timer(*deadline, Timer::Drain(app));
                let ours = match sent {
                    Some(Signal::Terminate) => exit == Ok(Exit::Signal(SIGTERM)),
                    Some(Signal::Kill) => exit == Ok(Exit::Signal(SIGKILL)),
                    None => false,
                };
                // What it was ended for says more than the signal that ended it.
                (why.is_none(), why.clone().filter(|_| ours).unwrap_or(how))
            }
            ProcessState::Starting { deadline, .. } => {
                turn.clear_timer(*deadline, Timer::Start(app));
                (false, how)
            }
            _ => (false, how),
        };
        // A process whose connection closes while it starts is drained before its end is heard.
        let could_not_start = !wanted
            && matches!(
                was,
                ProcessState::Starting { .. } | ProcessState::Draining { was_ready: false, .. }
            );
        if let Some(at) = std::mem::take(&mut session.health).check_at {
            turn.clear_timer(at, Timer::HealthCheck(app));
        }
        session.version = 0;
        let wake_failed = !wanted && session.hibernation.asleep.take().is_some();
        let mut words = format!("{key} ended: {how}");
        let mut hints = last_lines;
        if !wanted {
            words = if could_not_start {
                format!("{key} could not start: {how}")
            } else {
                format!("{key} died while it ran ({how})")
            };
            session.last_lines = hints.clone();
            session.note_crash(turn.now, how, exit.is_err());
            if !hints.is_empty() {
                hints.insert(0, "its last lines:".into());
            }
        }
        let end = match (&session.failed, wanted) {
            (Some(_), false) => ProcessEnd::Failed,
            (None, false) => ProcessEnd::Crashed,
            (_, true) if session.hibernation.asleep.is_some() => ProcessEnd::Hibernated,
            (_, true) => ProcessEnd::Ended,
        };
        let waiters = std::mem::take(&mut session.ready_waiters);
        let (session, told) = (key.clone(), words.clone());
        let ended = ProcessEvent::Ended { session, end, exit: exit.ok(), words: told };
        self.events.push_back(ended);
        if self.stopping && wanted {
            "the daemon is going down".clone_into(&mut words);
        }
        if wake_failed {
            self.save_asleep(turn, &key, 0);
        }
        let opening = self.opening.remove(&key);
        self.end_requests(turn, &key, Some(app), &words, &hints);
        self.events.push_back(ProcessEvent::Gone(EndedProcess {
            session: key,
            app,
            wanted,
            could_not_start,
            words,
            hints,
            opening,
            waiters,
        }));
    }

    /// What waits for a session goes with its next process, unless it waits in vain.
    pub fn restart_for_waiting(&mut self, turn: &mut Turn, end: &EndedProcess, in_vain: bool) {
        let key = &end.session;
        if in_vain {
            self.end_requests(turn, key, None, &end.words, &end.hints);
        } else if self.sessions.get(key).is_some_and(|session| !session.waiting.is_empty())
            && let Err(fault) = self.wake(turn, key)
        {
            self.end_requests(turn, key, None, &fault.message, &fault.hints);
        }
    }

    /// Takes back the open that a process was started for and ended with. True when no open is left: the
    /// session is removed then.
    pub fn drop_failed_open(&mut self, key: &SessionKey) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.opens.pop();
        if session.opens.is_empty() {
            self.sessions.remove(key);
            self.events.push_back(ProcessEvent::ActionsChanged { session: key.clone() });
        }
    }

    /// Takes back a session whose first open was refused.
    pub(super) fn discard(&mut self, turn: &mut Turn, key: &SessionKey) {
        match self.sessions.get(key).and_then(Session::app) {
            Some(app) if self.shared.is_shared(app) => self.close(turn, key),
            Some(app) => self.drain(turn, key, app, None, Signal::Terminate),
            None => {}
        }
    }
}

impl Session {
    /// Counts a crash, and decides whether the session stays down.
    fn note_crash(&mut self, now: crate::event::Now, how: String, unstarted: bool) {
        let nth = self.count_crash(now);
        self.crashed = Some(Crash { how: how.clone(), at: now, nth });
        self.failed = if unstarted {
            Some(how)
        } else if self.crashed_out() {
            Some(format!("it crashed {nth} times; last: {how}"))
        } else if self.manifest.restart == Restart::Never {
            Some(format!("{how}; its manifest says restart = \"never\""))
        } else {
            None
        };
    }
}

/// The refusal to start a session that failed, with its last lines.
fn stays_down(key: &SessionKey, session: &Session, why: &str) -> Fault {
    let mut fault = Fault::unavailable(format!("{key} is down: {why}"));
    if !session.last_lines.is_empty() {
        fault = fault.hint("its last lines:");
        fault.hints.extend(session.last_lines.iter().cloned());
    }
    match session.manifest.command.is_empty() {
        true => fault.hint("pipemux apps tells what is registered, and what isn't and why"),
        false => fault.hint(format!("pipemux logs {key} · start it again: pipemux restart {key}")),
    }
}
