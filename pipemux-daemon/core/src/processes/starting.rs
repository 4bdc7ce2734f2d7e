//! The start of a session's process: at once, or after a wait when the last one crashed.

use pipemux_proto::hello::{EMBED, FORMS, JOBS};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Envelope, Fault, Frame, Hello, Method, Role};

use crate::event::{Effect, Start};
use crate::foreign::ForeignText;
use crate::keys::SessionKey;
use crate::limits::START_MS;
use crate::measurement::Measurement;
use crate::processes::opening::{handle_hello, send_start_open};
use crate::processes::session::{ProcessState, Session};
use crate::processes::{ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds before a session joins its provider's next process while the one before it ends.
const REJOIN_MS: u64 = 50;

/// Makes sure that a session has a process or is getting one.
///
/// # Errors
/// There is no such session, it failed so often that it stays down until `restart`, or the daemon
/// goes down.
pub fn wake(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) -> Result<(), Fault> {
    if processes.stopping {
        return Err(Fault::unavailable("the daemon is going down"));
    }
    let Some(session) = processes.sessions.get_mut(key) else {
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
    processes.forbidden.check_session(session)?;
    let app = Incarnation(turn.next_number());
    processes.incarnations.insert(app, key);
    let at = session.crashes.next_start(app.0);
    if at > turn.mono_ms() {
        session.start_later(turn, app, at);
    } else {
        start(turn, processes, key, app);
    }
    Ok(())
}

/// Starts a process whose wait after a crash is over.
pub fn backoff_over(turn: &mut Turn, processes: &mut Processes, app: Incarnation) {
    let Some(key) = processes.incarnations.session_of(app).cloned() else { return };
    let session = processes.sessions.get(&key);
    if let Some(ProcessState::Backoff { app: waiting, .. }) = session.map(|found| &found.process)
        && *waiting == app
    {
        start(turn, processes, &key, app);
    }
}

/// Starts a process of a session, or has the session join its provider's.
fn start(turn: &mut Turn, processes: &mut Processes, key: &SessionKey, app: Incarnation) {
    let Processes { sessions, incarnations, events, .. } = processes;
    let Some(session) = sessions.get_mut(key) else { return };
    let shares = session.shares_process();
    if shares && incarnations.shared.is_closing(&key.addr.provider) {
        return session.start_later(turn, app, turn.mono_ms() + REJOIN_MS);
    }
    let deadline = turn.mono_ms() + START_MS;
    session.process = ProcessState::Starting { app, deadline, greeted: false };
    let again = session.crashes.untold.is_some();
    turn.measure(|| Measurement::Started { provider: key.addr.provider.clone(), again });
    let confinement = session.confinement(&processes.forbidden);
    let open = session.opens.newest().cloned().unwrap_or_default();
    let start = Start {
        app,
        command: session.manifest.command.clone(),
        args: session.manifest.args.clone(),
        env: session.environment(&open),
        cwd: open.cwd,
        state_dir: processes.directories.state_of(key),
        log: processes.directories.log_of(key, shares),
        transport: session.manifest.transport,
        pinned: session.manifest.pinned_programs(),
        limits: session.manifest.limits,
        watched: session.manifest.dev,
        confinement,
    };
    let dev = session.manifest.dev;
    turn.set_timer(deadline, Timer::Start(app));
    events.push_back(ProcessEvent::Starting { session: key.clone(), dev });
    if shares {
        join(turn, processes, key, start);
    } else {
        launch(turn, &processes.software, start);
        // Right behind the greeting, so that it needn't wait for another turn.
        send_start_open(turn, processes, key, 0);
    }
}

/// Starts a session's incarnation in its provider's process, which is started when there is none.
fn join(turn: &mut Turn, processes: &mut Processes, key: &SessionKey, start: Start) {
    let (provider, app) = (&key.addr.provider, start.app);
    let Ok(greeting) = processes.incarnations.shared.join(provider, app) else {
        let process = Incarnation(turn.next_number());
        processes.incarnations.shared.insert(process, provider.clone(), app);
        return launch(turn, &processes.software, Start { app: process, ..start });
    };
    turn.effects.push(Effect::Prepare { state_dir: start.state_dir });
    if let Some(greeting) = greeting {
        handle_hello(turn, processes, key, app, &greeting);
    }
}

/// Starts a process and greets it; `software` is what the greeting calls the daemon.
fn launch(turn: &mut Turn, software: &str, start: Start) {
    let app = start.app;
    turn.effects.push(Effect::Start(start));
    let hello = Envelope::event(Method::Hello, app);
    let features = [FORMS, JOBS, EMBED].map(str::to_owned).to_vec();
    let greeting = Hello { features, ..Hello::new(Role::Daemon, software.to_owned()) };
    if let Ok(bytes) = Frame::encode(&hello, &greeting) {
        turn.effects.push(Effect::ToApp { app, bytes });
    }
}

/// Notes that a process started, with its process id. Parts left out of its sandbox are reported
/// with the start of the session.
pub fn started(processes: &mut Processes, app: Incarnation, pid: u32, left_out: Vec<String>) {
    let key = processes.incarnations.session_of(app);
    if let Some(session) = key.and_then(|key| processes.sessions.get_mut(key)) {
        session.notes.extend(left_out.into_iter().map(ForeignText::from));
    }
    processes.incarnations.set_pid(app, pid);
}

impl Session {
    fn start_later(&mut self, turn: &mut Turn, app: Incarnation, at: u64) {
        self.process = ProcessState::Backoff { app, at };
        turn.set_timer(at, Timer::Backoff(app));
    }
}

/// The refusal to start a session that failed, with the last lines of its log.
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
