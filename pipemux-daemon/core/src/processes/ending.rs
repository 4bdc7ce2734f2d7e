//! The end of a session's process: asked for, forced, or by itself.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::event::{Exit, Now, Signal};
use crate::keys::SessionKey;
use crate::limits::{DRAIN_MS, START_MS};
use crate::manifest::Restart;
use crate::processes::crash_history::Crash;
use crate::processes::reply::Purpose;
use crate::processes::session::{ProcessState, Session, exit_words};
use crate::processes::{EndedProcess, ProcessEnd, ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

impl Processes {
    /// Ends a process that broke the protocol.
    pub fn break_app(&mut self, turn: &mut Turn, app: Incarnation, why: String) {
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
        self.drain(turn, &key, app, Some(why), Signal::Kill);
    }

    /// Asks a session's process to end.
    pub fn close(&mut self, turn: &mut Turn, key: &SessionKey) {
        self.cancel_backoff(turn, key);
        let Some(session) = self.sessions.get(key) else { return };
        match session.process {
            ProcessState::Starting { app, .. } if !self.incarnations.is_shared(app) => {
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
        if self.incarnations.is_shared(app) {
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
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
        let greeted = self.sessions.get(&key).is_some_and(|session| {
            matches!(session.process, ProcessState::Starting { greeted: true, .. })
        });
        let what = if greeted { "did not open" } else { "sent no Hello" };
        let why = format!("it {what} within {} s", START_MS / 1000);
        self.drain(turn, &key, app, Some(why), Signal::Kill);
    }

    /// Kills a process that is past its drain deadline.
    pub fn drain_expired(&mut self, turn: &mut Turn, app: Incarnation) {
        if self.incarnations.shared.is_process(app) {
            turn.signal(app, Signal::Kill);
        }
        if let Some(key) = self.incarnations.session_of(app).cloned()
            && let Some(ProcessState::Draining { why, .. }) =
                self.sessions.get(&key).map(|session| &session.process)
        {
            let why = why.clone();
            self.drain(turn, &key, app, why, Signal::Kill);
        }
    }

    /// Ends the process of a connection that its app closed.
    pub(super) fn session_closed(&mut self, turn: &mut Turn, app: Incarnation) {
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
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
        let Some(key) = self.incarnations.remove(app) else { return };
        let Some(session) = self.sessions.get_mut(&key) else { return };
        session.hibernation.process_ended(turn, app);
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
            session.crashes.last_lines.clone_from(&hints);
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
        let opening = session.opens.take_request();
        if wake_failed {
            session.hibernation.save(turn, &key);
        }
        let (session, told) = (key.clone(), words.clone());
        let ended = ProcessEvent::Ended { session, end, exit: exit.ok(), words: told };
        self.events.push_back(ended);
        if self.stopping && wanted {
            "the daemon is going down".clone_into(&mut words);
        }
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
        session.opens.drop_newest();
        if session.opens.is_empty() {
            self.sessions.remove(key);
            self.events.push_back(ProcessEvent::ActionsChanged { session: key.clone() });
        }
    }

    /// Takes back a session whose first open was refused.
    pub(super) fn discard(&mut self, turn: &mut Turn, key: &SessionKey) {
        match self.sessions.get(key).and_then(Session::app) {
            Some(app) if self.incarnations.is_shared(app) => self.close(turn, key),
            Some(app) => self.drain(turn, key, app, None, Signal::Terminate),
            None => {}
        }
    }
}

impl Session {
    /// Counts a crash, and decides whether the session stays down.
    fn note_crash(&mut self, now: Now, how: String, unstarted: bool) {
        let nth = self.crashes.count(now);
        self.crashes.untold = Some(Crash { how: how.clone(), at: now, nth });
        self.failed = if unstarted {
            Some(how)
        } else if self.crashes.is_too_many() {
            Some(format!("it crashed {nth} times; last: {how}"))
        } else if self.manifest.restart == Restart::Never {
            Some(format!("{how}; its manifest says restart = \"never\""))
        } else {
            None
        };
    }
}
