//! Grants a session more than its process has: the process is put to sleep, and woken with the
//! wider grants.

use pipemux_proto::Fault;
use pipemux_proto::app::{Saved, meant_version};

use crate::keys::{RequestId, SessionKey};
use crate::limits::{GRANTED_MAX, SAVES_MAX};
use crate::processes::draining::close;
use crate::processes::hibernation::Asleep;
use crate::processes::session::ProcessState;
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;

/// The result of a request for wider grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widening {
    /// The session's process has the grants, or its next one will.
    Granted,
    /// The process is being replaced or getting ready; the request resumes afterwards.
    Pending,
}

/// Grants a session paths that its user named. `request` waits if the session's process has to be
/// replaced.
///
/// # Errors
/// The session was granted too many, or has a process and can't be put to sleep.
pub fn widen(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    paths: Vec<String>,
    request: RequestId,
) -> Result<Widening, Fault> {
    let Some(session) = processes.sessions.get_mut(key) else { return Ok(Widening::Granted) };
    let Some(granted) = session.opens.granted() else { return Ok(Widening::Granted) };
    let granted = granted + session.hibernation.widening.len();
    if granted + paths.len() > GRANTED_MAX {
        let why = format!("{key} was granted {granted} paths, and {GRANTED_MAX} are the limit");
        return Err(Fault::refused(why)
            .hint(format!("open another session: pipemux open {}/2", key.addr.provider)));
    }
    match session.process {
        ProcessState::Down | ProcessState::Backoff { .. } => {
            session.opens.grant(paths);
            session.save(turn);
            return Ok(Widening::Granted);
        }
        ProcessState::Starting { .. } | ProcessState::Draining { .. } => {}
        ProcessState::Ready { .. } => {
            let first = session.hibernation.widening.is_empty();
            session.hibernation.widening.extend(paths);
            session.hibernation.saves = 1;
            if first && session.hibernation.saving.replace(turn.mono_ms()).is_none() {
                processes.requests.ask_to_save(turn, &mut processes.events, session);
            }
        }
    }
    session.wait_until_ready(request);
    Ok(Widening::Pending)
}

/// Replaces the session's process by one with wider grants, after the app saved its state or failed
/// to.
pub(super) fn finish_widening(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    saved: Option<Saved>,
    current: bool,
) {
    let Some(session) = processes.sessions.get_mut(key) else { return };
    let Some(app) = session.ready() else { return };
    match saved {
        Some(Saved { version, .. }) if current => {
            let version = meant_version(version, session.profile.minor);
            let paths = std::mem::take(&mut session.hibernation.widening);
            session.opens.grant(paths);
            session.hibernation.asleep = Some(Asleep { app, version });
            session.save(turn);
            session.hibernation.save(turn, key);
            close(turn, processes, key);
        }
        // Asked for something meanwhile: what was saved is out of date already.
        Some(_) if session.hibernation.saves < SAVES_MAX => {
            session.hibernation.saves += 1;
            processes.requests.ask_to_save(turn, &mut processes.events, session);
        }
        _ => {
            session.hibernation.widening.clear();
            let waiters = std::mem::take(&mut session.ready_waiters);
            let addr = &key.addr;
            let fault = Fault::refused(format!(
                "the sandbox of {key} doesn't reach there, and it can't save its state to be restarted with wider grants"
            ))
            .hint(format!("another session: pipemux open {}/2 … · or: pipemux restart {addr}", addr.provider));
            processes.events.push_back(ProcessEvent::NotWidened { waiters, fault });
        }
    }
}
