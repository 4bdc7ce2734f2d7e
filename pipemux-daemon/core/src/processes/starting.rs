//! The start of a session's process: at once, or after a wait when the last one crashed.

use pipemux_proto::Fault;
use pipemux_proto::ids::Incarnation;

use crate::event::Start;
use crate::foreign::ForeignText;
use crate::keys::SessionKey;
use crate::limits::START_MS;
use crate::measurement::Measurement;
use crate::processes::session::{ProcessState, Session};
use crate::processes::{ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds before a session joins its provider's next process while the one before it ends.
const REJOIN_MS: u64 = 50;

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
        self.forbidden.check_session(session)?;
        let app = Incarnation(turn.next_number());
        let at = session.crashes.next_start(app.0);
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
        self.incarnations.insert(app, key);
        turn.set_timer(at, Timer::Backoff(app));
    }

    /// Starts a process whose wait after a crash is over.
    pub fn backoff_over(&mut self, turn: &mut Turn, app: Incarnation) {
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
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
            self.incarnations.remove(app);
            turn.clear_timer(at, Timer::Backoff(app));
        }
    }

    fn start(&mut self, turn: &mut Turn, key: &SessionKey, app: Incarnation) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let shares = session.shares_process();
        if shares && self.incarnations.shared.is_closing(&key.addr.provider) {
            return self.start_later(turn, key, app, turn.mono_ms() + REJOIN_MS);
        }
        let deadline = turn.mono_ms() + START_MS;
        let (state_dir, log) = self.paths(key);
        let Some(session) = self.sessions.get_mut(key) else { return };
        let confinement = session.confinement(&self.forbidden);
        session.process = ProcessState::Starting { app, deadline, greeted: false };
        let again = session.crashes.untold.is_some();
        turn.measure(|| Measurement::Started { provider: key.addr.provider.clone(), again });
        let open = session.opens.newest().cloned().unwrap_or_default();
        let start = Start {
            app,
            command: session.manifest.command.clone(),
            args: session.manifest.args.clone(),
            env: session.environment(&open),
            cwd: open.cwd,
            state_dir,
            log,
            transport: session.manifest.transport,
            pinned: session.manifest.pinned_programs(),
            limits: session.manifest.limits,
            watched: session.manifest.dev,
            confinement,
        };
        let dev = session.manifest.dev;
        self.incarnations.insert(app, key);
        turn.set_timer(deadline, Timer::Start(app));
        self.events.push_back(ProcessEvent::Starting { session: key.clone(), dev });
        if shares {
            self.join(turn, key, app, start);
        } else {
            self.launch(turn, start);
            // Right behind the greeting, so that it needn't wait for another turn.
            self.send_start_open(turn, key, app, 0);
        }
    }

    /// The program of an app that its author works on changed: its process ends, and the next use starts the new one.
    pub fn program_changed(&mut self, turn: &mut Turn, process: Incarnation) {
        for key in self.incarnations.sessions_in(process) {
            let text = "(dev) its program changed, so it is started again";
            self.note_notice(turn, key.clone(), text.into());
            // Crashes of the old program don't count against the new one.
            if let Some(session) = self.sessions.get_mut(&key) {
                session.forgive();
            }
            self.close(turn, &key);
        }
    }

    /// A process runs under this process id. What was left out of its sandbox is told with the session's start.
    pub fn started(&mut self, app: Incarnation, pid: u32, left_out: Vec<String>) {
        if let Some(key) = self.incarnations.session_of(app)
            && let Some(session) = self.sessions.get_mut(key)
        {
            session.notes.extend(left_out.into_iter().map(ForeignText::from));
        }
        self.incarnations.set_pid(app, pid);
    }
}

/// The refusal to start a session that failed, with its last lines.
fn stays_down(key: &SessionKey, session: &Session, why: &str) -> Fault {
    let mut fault = Fault::unavailable(format!("{key} is down: {why}"));
    let last_lines = &session.crashes.last_lines;
    if !last_lines.is_empty() {
        fault = fault.hint("its last lines:");
        fault.hints.extend(last_lines.iter().cloned());
    }
    match session.manifest.command.is_empty() {
        true => fault.hint("pipemux apps"),
        false => fault.hint(format!("pipemux logs {key} · start it again: pipemux restart {key}")),
    }
}
