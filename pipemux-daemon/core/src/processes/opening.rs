//! Starts a process up, from its greeting to its first requests: handles its declared features, and
//! sends it the session's opens.

use pipemux_proto::app::{OpenRequest, meant_version};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Fault, Frame, Hello};

use crate::foreign::{ForeignText, Opened};
use crate::intake;
use crate::keys::SessionKey;
use crate::persist::records::SavedOpen;
use crate::processes::app_profile::AppProfile;
use crate::processes::draining::{break_app, discard};
use crate::processes::open_requests::RequestHead;
use crate::processes::reply::{AppReply, Purpose};
use crate::processes::session::ProcessState;
use crate::processes::{ProcessEvent, Processes, ReadyProcess};
use crate::timers::Timer;
use crate::turn::Turn;

/// Takes in the greeting of a session's process.
pub(super) fn handle_hello(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    app: Incarnation,
    frame: &Frame,
) {
    let hello = match read_hello(frame) {
        Ok(hello) => hello,
        Err(why) => return break_app(turn, processes, app, why),
    };
    let Some(session) = processes.sessions.get_mut(key) else { return };
    match &mut session.process {
        ProcessState::Starting { greeted, .. } if !*greeted => *greeted = true,
        _ => return,
    }
    session.profile = AppProfile::of(&hello);
    processes.any_per_reader |= session.profile.per_reader;
    session.prototypes = processes.learned.learn(turn, &key.addr.provider, hello.prototypes);
    processes.events.push_back(ProcessEvent::ActionsChanged { session: key.clone() });
    if processes.incarnations.is_shared(app) {
        send_start_open(turn, processes, key, 0);
    }
}

/// # Errors
/// What is wrong with the greeting.
fn read_hello(frame: &Frame) -> Result<Hello, String> {
    let hello = intake::read::<Hello>(&frame.body);
    let hello = hello.map_err(|error| format!("an unreadable Hello: {error}"))?;
    hello.check().map_err(|fault| fault.message)?;
    let checked = hello.prototypes.iter().try_for_each(Prototype::check);
    checked.map_err(|error| format!("a Hello with a prototype that can't be: {error}"))?;
    Ok(hello)
}

/// Sends the open of that index to a process that starts, or an empty one when there is none.
pub(super) fn send_start_open(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    index: usize,
) {
    let Some(session) = processes.sessions.get(key) else { return };
    let ProcessState::Starting { deadline, .. } = session.process else { return };
    let saved = session.opens.as_slice().get(index).cloned().unwrap_or_default();
    let last = session.opens.len().saturating_sub(1);
    // Only the newest open may be the one that a client just asked for.
    let again = index < last || !session.opens.has_request();
    let woken = session.hibernation.asleep.and_then(|asleep| asleep.version);
    let due = session.hibernation.due;
    // The app goes on with jobs once it has all that it was opened with.
    let jobs = if index == last { session.jobs.keys.clone() } else { Vec::new() };
    let message = open_message(processes, key, saved, index > 0, again);
    let open = OpenRequest { woken, due, jobs, ..message };
    let Some(session) = processes.sessions.get_mut(key) else { return };
    let purpose = Purpose::StartOpen(index);
    let head = RequestHead { method: Method::AppOpen, deadline, purpose };
    processes.requests.send(turn, &mut processes.events, session, head, &open);
}

/// The message to the app for one open.
pub fn open_message(
    processes: &Processes,
    key: &SessionKey,
    saved: SavedOpen,
    attach: bool,
    again: bool,
) -> OpenRequest {
    let env = match processes.sessions.get(key) {
        Some(session) => session.environment(&saved),
        None => saved.env,
    };
    OpenRequest {
        session: key.addr.clone(),
        attach,
        again,
        woken: None,
        due: false,
        args: saved.args,
        cwd: saved.cwd,
        env: env.into_iter().collect(),
        state_dir: processes.state_dir_of(key),
        jobs: Vec::new(),
    }
}

/// The app took in the open of that index, or refused it.
pub(super) fn start_open_replied(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    index: usize,
    reply: AppReply,
) {
    let opened = match reply {
        AppReply::Reply(body) => intake::read_said::<Opened>(&body, processes.speaker(key))
            .map_err(|error| Fault::unavailable(format!("an unreadable reply: {error}"))),
        AppReply::Fault(fault) => Err(fault),
        // The process is gone or out of time; its end tells the waiting requests.
        AppReply::Lost { .. } => return,
    };
    let Some(session) = processes.sessions.get_mut(key) else { return };
    let ProcessState::Starting { app, deadline, greeted } = session.process else { return };
    if !greeted {
        return break_app(turn, processes, app, "it answered before its Hello".into());
    }
    let (mut resumed, mut jobs) = (None, Vec::new());
    let opened = opened.map(|opened| {
        resumed = meant_version(opened.resumed, session.profile.minor);
        jobs = opened.jobs;
        opened.notes
    });
    let is_last = index + 1 >= session.opens.len();
    let asked = if is_last { session.opens.take_request() } else { None };
    match (opened, asked) {
        (Ok(notes), Some(request)) => {
            processes.events.push_back(ProcessEvent::Opened { request, result: Ok(notes) });
        }
        (Ok(notes), None) => session.notes.extend(notes),
        (Err(fault), Some(request)) => {
            // What was asked for just now is refused: it isn't repeated at the next start.
            session.opens.drop_newest();
            let fresh = session.opens.is_empty();
            processes.events.push_back(ProcessEvent::Opened { request, result: Err(fault) });
            if fresh {
                return discard(turn, processes, key);
            }
        }
        (Err(fault), None) => {
            let note = format!("Could not open again: {}", fault.named_message());
            session.notes.push(note.into());
        }
    }
    if is_last {
        turn.clear_timer(deadline, Timer::Start(app));
        become_ready(turn, processes, key, app, (resumed, jobs));
    } else {
        send_start_open(turn, processes, key, index + 1);
    }
}

/// Marks a process as ready after it handled all opens of its session. It resumed from the state of
/// version `resumed`, and with these jobs.
fn become_ready(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    app: Incarnation,
    (resumed, jobs): (Option<u64>, Vec<String>),
) {
    let Processes { sessions, requests, events, .. } = processes;
    let Some(session) = sessions.get_mut(key) else { return };
    let slept = session.hibernation.asleep.is_some();
    let woke = session.hibernation.wake_up(turn, key, resumed);
    if let Some((_, version)) = woke {
        session.version = version;
        // It went on where it was: there is nothing to tell.
        session.notes.clear();
    } else if slept {
        // Actions that wait were written for the state that it was put to sleep with.
        let why = format!("{key} did not wake in the state that was seen");
        requests.lose_waiting_invokes(turn, events, session, &why);
    }
    session.process = ProcessState::Ready { app };
    session.notes.extend(session.missing_variables().map(ForeignText::from));
    let owes = session.owed.count > 0;
    events.push_back(ProcessEvent::Ready(ReadyProcess {
        session: key.clone(),
        app,
        woke_from: woke.map(|(before, _)| before),
        crash: session.crashes.untold.take(),
        notes: std::mem::take(&mut session.notes),
        jobs,
        waiters: std::mem::take(&mut session.ready_waiters),
    }));
    session.save(turn);
    session.hibernation.schedule_check(turn, app, session.manifest.idle);
    requests.send_waiting(turn, events, session);
    if owes {
        // What was asked of it while it started is watched from now on.
        session.health.watch(turn, app);
    }
}
