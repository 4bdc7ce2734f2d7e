//! The end of a process, as the driver reports it, and what follows for its sessions.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame};

use crate::event::{Effect, Exit, Now, Signal};
use crate::keys::SessionKey;
use crate::manifest::Restart;
use crate::processes::crash_history::Crash;
use crate::processes::session::{ProcessState, Session, exit_words};
use crate::processes::starting::wake;
use crate::processes::{EndedProcess, ProcessEnd, ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// Handles the end of a process, with the last lines of its log; `exit` is an error if it never
/// started.
pub fn handle_exit(
    turn: &mut Turn,
    processes: &mut Processes,
    process: Incarnation,
    exit: Result<Exit, &str>,
    last_lines: Vec<String>,
) {
    if !processes.incarnations.shared.is_process(process) {
        return ended(turn, processes, process, exit, last_lines);
    }
    for incarnation in processes.incarnations.remove_shared(turn, process) {
        ended(turn, processes, incarnation, exit, last_lines.clone());
    }
}

/// A session in a shared process has ended as it was asked to; with the last one the process ends.
pub(super) fn leave_shared(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) {
    let incarnation = match processes.sessions.get(key).map(|session| &session.process) {
        Some(ProcessState::Draining { app, why: None, .. }) => *app,
        _ => return,
    };
    let Some((process, is_empty)) = processes.incarnations.shared.leave(incarnation) else {
        return;
    };
    if is_empty {
        processes.incarnations.shared.close(turn, process);
        let close = Envelope::request(Method::AppClose, 0, process);
        if let Ok(bytes) = Frame::encode(&close, &Empty {}) {
            turn.effects.push(Effect::ToApp { app: process, bytes });
        }
    }
    ended(turn, processes, incarnation, Ok(Exit::Code(0)), Vec::new());
}

/// Handles the end of a session's process; `exit` is an error if it never started.
fn ended(
    turn: &mut Turn,
    processes: &mut Processes,
    app: Incarnation,
    exit: Result<Exit, &str>,
    last_lines: Vec<String>,
) {
    let Some(key) = processes.incarnations.remove(app) else { return };
    let Some(session) = processes.sessions.get_mut(&key) else { return };
    let LastMoments { wanted, could_not_start, how } = session.take_process(turn, app, exit);
    let wake_failed = !wanted && session.hibernation.asleep.take().is_some();
    let mut words = match (wanted, could_not_start) {
        (true, _) => format!("{key} ended: {how}"),
        (false, true) => format!("{key} could not start: {how}"),
        (false, false) => format!("{key} died while it ran ({how})"),
    };
    let mut hints = last_lines;
    if !wanted {
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
    processes.events.push_back(ended);
    if processes.stopping && wanted {
        "the daemon is going down".clone_into(&mut words);
    }
    let gone =
        EndedProcess { session: key, app, wanted, could_not_start, words, hints, opening, waiters };
    end_requests(turn, processes, (&gone.session, Some(app)), &gone.fault());
    processes.events.push_back(ProcessEvent::Gone(gone));
}

/// What waits for a session goes with its next process, unless it waits in vain.
pub fn restart_for_waiting(
    turn: &mut Turn,
    processes: &mut Processes,
    end: &EndedProcess,
    in_vain: bool,
) {
    let key = &end.session;
    let waits = processes.get(key).is_some_and(|session| !session.owed.waiting.is_empty());
    if in_vain {
        end_requests(turn, processes, (key, None), &end.fault());
    } else if waits && let Err(fault) = wake(turn, processes, key) {
        end_requests(turn, processes, (key, None), &fault);
    }
}

fn end_requests(
    turn: &mut Turn,
    processes: &mut Processes,
    of: (&SessionKey, Option<Incarnation>),
    why: &Fault,
) {
    let Processes { requests, sessions, events, .. } = processes;
    requests.lose_all(turn, events, sessions, of, why);
}

/// Removes the open for which a process was started that then exited. A session without another
/// open is removed.
pub fn drop_failed_open(processes: &mut Processes, key: &SessionKey) {
    let Some(session) = processes.sessions.get_mut(key) else { return };
    session.opens.drop_newest();
    if session.opens.is_empty() {
        processes.sessions.remove(key);
        processes.events.push_back(ProcessEvent::ActionsChanged { session: key.clone() });
    }
}

/// How a process ended, as its session knows it.
struct LastMoments {
    /// True when it was asked to end.
    wanted: bool,
    /// True when it never took requests, though it should have.
    could_not_start: bool,
    /// In words: `killed by signal 9`.
    how: String,
}

impl Session {
    /// Removes the process that has ended, with all state that belongs only to it. `exit` is an
    /// error if the process never started.
    fn take_process(
        &mut self,
        turn: &mut Turn,
        app: Incarnation,
        exit: Result<Exit, &str>,
    ) -> LastMoments {
        self.hibernation.process_ended(turn, app);
        if let Some(at) = std::mem::take(&mut self.health).check_at {
            turn.clear_timer(at, Timer::HealthCheck(app));
        }
        self.version = 0;
        let how = match exit {
            Ok(exit) => exit_words(exit),
            Err(why) => why.to_owned(),
        };
        match std::mem::replace(&mut self.process, ProcessState::Down) {
            ProcessState::Draining { deadline, why, sent, was_ready, .. } => {
                turn.clear_timer(deadline, Timer::Drain(app));
                let ours = match sent {
                    Some(Signal::Terminate) => exit == Ok(Exit::Signal(SIGTERM)),
                    Some(Signal::Kill) => exit == Ok(Exit::Signal(SIGKILL)),
                    None => false,
                };
                let wanted = why.is_none();
                LastMoments {
                    wanted,
                    // A process whose connection closes while it starts is drained before its end
                    // is heard.
                    could_not_start: !wanted && !was_ready,
                    // What it was ended for says more than the signal that ended it.
                    how: why.filter(|_| ours).unwrap_or(how),
                }
            }
            ProcessState::Starting { deadline, .. } => {
                turn.clear_timer(deadline, Timer::Start(app));
                LastMoments { wanted: false, could_not_start: true, how }
            }
            _ => LastMoments { wanted: false, could_not_start: false, how },
        }
    }

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
