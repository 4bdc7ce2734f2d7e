//! Processes that are asked or made to end, alone or with those that share them.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::event::Signal;
use crate::keys::SessionKey;
use crate::limits::{DRAIN_MS, START_MS};
use crate::processes::event::ProcessEvents;
use crate::processes::forbidden::ForbiddenFolders;
use crate::processes::open_requests::RequestHead;
use crate::processes::reply::Purpose;
use crate::processes::session::{ProcessState, Session};
use crate::processes::{ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

/// Prepares for the daemon's end: every process is asked to end, and none is started.
pub fn stop(turn: &mut Turn, processes: &mut Processes) {
    processes.stopping = true;
    let keys: Vec<SessionKey> = processes.sessions.keys().cloned().collect();
    for key in keys {
        close(turn, processes, &key);
    }
}

/// Takes in the folders that are forbidden, and ends the processes that were granted one.
pub fn forbid(turn: &mut Turn, processes: &mut Processes, folders: Vec<String>) {
    let forbidden = ForbiddenFolders::new(folders);
    if processes.forbidden == forbidden {
        return;
    }
    processes.forbidden = forbidden;
    let is_refused = |session: &Session| processes.forbidden.check_session(session).is_err();
    let refused = processes.sessions.iter().filter(|(_, session)| is_refused(session));
    let refused: Vec<SessionKey> = refused.map(|(key, _)| key.clone()).collect();
    for key in refused {
        close(turn, processes, &key);
    }
}

/// Ends the process of an app in development whose program changed. The next use starts the new
/// program.
pub fn program_changed(turn: &mut Turn, processes: &mut Processes, process: Incarnation) {
    for key in processes.incarnations.sessions_in(process) {
        let text = "(dev) its program changed, so it is started again";
        processes.note_notice(turn, key.clone(), text.into());
        // Crashes of the old program don't count against the new one.
        if let Some(session) = processes.sessions.get_mut(&key) {
            session.forgive();
        }
        close(turn, processes, &key);
    }
}

/// Asks a session's process to end.
pub fn close(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) {
    cancel_backoff(turn, processes, key);
    let Some(session) = processes.sessions.get_mut(key) else { return };
    match session.process {
        ProcessState::Starting { app, .. } if !processes.incarnations.is_shared(app) => {
            end(turn, processes, app, None, Signal::Terminate);
        }
        ProcessState::Ready { app } | ProcessState::Starting { app, .. } => {
            let (method, deadline) = (Method::AppClose, turn.mono_ms() + DRAIN_MS);
            let head = RequestHead { method, deadline, purpose: Purpose::Close };
            processes.requests.send(turn, &mut processes.events, session, head, &Empty {});
            session.drain(turn, &mut processes.events, app, None, None);
        }
        ProcessState::Down | ProcessState::Backoff { .. } | ProcessState::Draining { .. } => {}
    }
}

/// Takes back a process that was to be started after a wait.
pub fn cancel_backoff(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) {
    let Some(session) = processes.sessions.get_mut(key) else { return };
    if let ProcessState::Backoff { app, at } = session.process {
        session.process = ProcessState::Down;
        processes.incarnations.remove(app);
        turn.clear_timer(at, Timer::Backoff(app));
    }
}

/// Asks a session's process to exit so that it can be restarted. With a shared process, all of its
/// sessions end in order and start again at their next use. Returns false if the session has no
/// process.
pub fn close_for_restart(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) -> bool {
    let Some(app) = processes.sessions.get(key).and_then(|session| session.app()) else {
        return false;
    };
    if !processes.incarnations.is_shared(app) {
        close(turn, processes, key);
        return true;
    }
    let process = processes.incarnations.process_of(app);
    processes.incarnations.shared.close(turn, process);
    for session in processes.incarnations.sharing(process) {
        close(turn, processes, &session);
        if session != *key {
            let neighbour = key.clone();
            processes.events.push_back(ProcessEvent::RestartedWith { session, neighbour });
        }
    }
    true
}

/// Ends the process of a session whose first open was refused.
pub(super) fn discard(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) {
    match processes.sessions.get(key).and_then(Session::app) {
        Some(app) if processes.incarnations.is_shared(app) => close(turn, processes, key),
        Some(app) => end(turn, processes, app, None, Signal::Terminate),
        None => {}
    }
}

/// Ends a process that broke the protocol.
pub fn break_app(turn: &mut Turn, processes: &mut Processes, app: Incarnation, why: String) {
    end(turn, processes, app, Some(why), Signal::Kill);
}

/// Ends a process that sent invalid framing.
pub fn handle_broken(
    turn: &mut Turn,
    processes: &mut Processes,
    process: Incarnation,
    why: String,
) {
    match processes.incarnations.shared.is_process(process) {
        true => end_shared(turn, processes, process, &why, Signal::Kill),
        false => break_app(turn, processes, process, why),
    }
}

/// Ends a process that closed its connection.
pub fn handle_closed(turn: &mut Turn, processes: &mut Processes, process: Incarnation) {
    let (why, signal) = ("it closed its connection", Signal::Terminate);
    if processes.incarnations.shared.is_process(process) {
        return end_shared(turn, processes, process, why, signal);
    }
    let key = processes.incarnations.session_of(process);
    let session = key.and_then(|key| processes.sessions.get(key));
    if session.is_some_and(|session| !session.is_draining()) {
        // A process that has ended is about to be reported; one that lives on is ended.
        end(turn, processes, process, Some(why.to_owned()), signal);
    }
}

/// Ends a process that is past its start deadline.
pub fn start_expired(turn: &mut Turn, processes: &mut Processes, app: Incarnation) {
    let key = processes.incarnations.session_of(app);
    let session = key.and_then(|key| processes.sessions.get(key));
    let greeted = session.is_some_and(|session| {
        matches!(session.process, ProcessState::Starting { greeted: true, .. })
    });
    let what = if greeted { "did not open" } else { "sent no Hello" };
    let why = format!("it {what} within {} s", START_MS / 1000);
    end(turn, processes, app, Some(why), Signal::Kill);
}

/// Kills a process that is past its drain deadline.
pub fn drain_expired(turn: &mut Turn, processes: &mut Processes, app: Incarnation) {
    if processes.incarnations.shared.is_process(app) {
        turn.signal(app, Signal::Kill);
    }
    let key = processes.incarnations.session_of(app);
    let session = key.and_then(|key| processes.sessions.get(key));
    if let Some(ProcessState::Draining { why, .. }) = session.map(|session| &session.process) {
        let why = why.clone();
        end(turn, processes, app, why, Signal::Kill);
    }
}

/// Ends the process of an incarnation, and all sessions that share it. `why` is none if it was
/// asked to end.
fn end(
    turn: &mut Turn,
    processes: &mut Processes,
    app: Incarnation,
    why: Option<String>,
    signal: Signal,
) {
    let Some(key) = processes.incarnations.session_of(app).cloned() else { return };
    if processes.incarnations.is_shared(app) {
        let why = why.as_deref().unwrap_or("it did not end in time");
        end_neighbours(turn, processes, &key, app, why);
    }
    if let Some(session) = processes.sessions.get_mut(&key) {
        session.drain(turn, &mut processes.events, app, why, Some(signal));
    }
    turn.signal(app, signal);
}

/// One session's fault ends the process: the others in it are told whose it was.
fn end_neighbours(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    app: Incarnation,
    why: &str,
) {
    let process = processes.incarnations.process_of(app);
    processes.incarnations.shared.close(turn, process);
    for other in processes.incarnations.sharing(process) {
        if other != *key {
            let why = format!("{key}, which shares its process, was ended: {why}");
            drain_unless_draining(turn, processes, &other, &why, Signal::Kill);
        }
    }
}

/// Ends a shared process that broke the protocol or closed its connection, and all sessions in it.
fn end_shared(
    turn: &mut Turn,
    processes: &mut Processes,
    process: Incarnation,
    why: &str,
    signal: Signal,
) {
    processes.incarnations.shared.close(turn, process);
    for key in processes.incarnations.sharing(process) {
        drain_unless_draining(turn, processes, &key, why, signal);
    }
    turn.signal(process, signal);
}

fn drain_unless_draining(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    why: &str,
    signal: Signal,
) {
    let Some(session) = processes.sessions.get_mut(key) else { return };
    if let Some(app) = session.app().filter(|_| !session.is_draining()) {
        session.drain(turn, &mut processes.events, app, Some(why.to_owned()), Some(signal));
    }
}

impl Session {
    /// Stops sending requests to the session's process, which must exit within a time limit. `why`
    /// is `None` for a requested end; `sent` is the signal that it is sent.
    fn drain(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        app: Incarnation,
        why: Option<String>,
        sent: Option<Signal>,
    ) {
        let mut was_ready = false;
        match self.process {
            ProcessState::Starting { deadline, .. } => {
                turn.clear_timer(deadline, Timer::Start(app));
            }
            ProcessState::Draining { deadline, was_ready: before, .. } => {
                was_ready = before;
                turn.clear_timer(deadline, Timer::Drain(app));
            }
            ProcessState::Ready { .. } => {
                was_ready = true;
                events.push_back(ProcessEvent::Draining { app });
            }
            ProcessState::Down | ProcessState::Backoff { .. } => {}
        }
        let deadline = turn.mono_ms() + DRAIN_MS;
        self.process = ProcessState::Draining { app, deadline, why, sent, was_ready };
        turn.set_timer(deadline, Timer::Drain(app));
    }
}
