//! Handles the frames that a process sends: its greeting, replies and events.

use pipemux_proto::app::{Changed, Empty};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Kind};

use crate::event::Effect;
use crate::foreign::{JobReport, Notify, Outcome, Progress};
use crate::intake;
use crate::keys::SessionKey;
use crate::processes::draining::break_app;
use crate::processes::exits::leave_shared;
use crate::processes::open_requests::tell_end;
use crate::processes::opening::{handle_hello, start_open_replied};
use crate::processes::reply::{AppReply, Purpose, ReplyTo};
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;

/// Takes a frame that a process sent.
pub fn handle_frame(
    turn: &mut Turn,
    processes: &mut Processes,
    process: Incarnation,
    frame: Frame,
) {
    for app in receivers(processes, process, &frame) {
        // Only authors are told of what is dropped.
        let _ = handle_session_frame(turn, processes, app, frame.clone());
    }
}

/// Returns the incarnations that a frame of a process is for.
pub fn receivers(
    processes: &mut Processes,
    process: Incarnation,
    frame: &Frame,
) -> impl Iterator<Item = Incarnation> + use<> {
    processes.incarnations.shared.receivers(process, frame)
}

/// Takes a frame that a session's process sent.
///
/// # Errors
/// The reason why the frame is dropped.
pub fn handle_session_frame(
    turn: &mut Turn,
    processes: &mut Processes,
    app: Incarnation,
    frame: Frame,
) -> Result<(), String> {
    let Some(key) = processes.incarnations.session_of(app).cloned() else { return Ok(()) };
    if let Some(session) = processes.sessions.get_mut(&key) {
        let answers = matches!(frame.envelope.kind, Kind::Reply | Kind::Fault);
        session.health.heard_from(turn.mono_ms(), answers);
    }
    let sent_by = frame.envelope.incarnation;
    match (frame.envelope.kind, frame.envelope.method) {
        (Kind::Event, Method::Hello) => handle_hello(turn, processes, &key, app, &frame),
        _ if sent_by != app => {
            return Err(format!("it has the incarnation {sent_by}, expected {app}"));
        }
        (Kind::Reply | Kind::Fault, _) => return handle_reply(turn, processes, app, frame),
        (Kind::Request, _) => answer_request(turn, app, &frame),
        (Kind::Event, _) => return handle_event(turn, processes, &key, app, &frame),
        // What a later version may send.
        (Kind::Cancel, _) => {}
    }
    Ok(())
}

/// # Errors
/// Why it is dropped.
fn handle_event(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    app: Incarnation,
    frame: &Frame,
) -> Result<(), String> {
    let Processes { sessions, requests, events, .. } = &mut *processes;
    match frame.envelope.method {
        Method::Changed => {
            let changed = intake::read::<Changed>(&frame.body)?;
            let session = sessions.get_mut(key);
            if !session.is_some_and(|session| session.set_version(changed.version)) {
                return Err(format!("the version {} is known already", changed.version));
            }
            events.push_back(ProcessEvent::Changed { session: key.clone() });
        }
        Method::Busy => {
            let busy = intake::read(&frame.body)?;
            if let Some(session) = sessions.get_mut(key) {
                session.hibernation.note_busy(turn.mono_ms(), busy);
            }
        }
        Method::JobReport => {
            let report = intake::read::<JobReport>(&frame.body)?;
            events.push_back(ProcessEvent::JobReported { session: key.clone(), report });
        }
        Method::Progress => {
            if let Some(to) = requests.client_of(app, frame.envelope.id) {
                let progress = intake::read::<Progress>(&frame.body)?;
                events.push_back(ProcessEvent::Progress { to, progress });
            }
        }
        Method::Notify => {
            let notify = intake::read::<Notify>(&frame.body)?;
            processes.note_notice(turn, key.clone(), notify.text);
        }
        // What a later version may send.
        _ => {}
    }
    Ok(())
}

fn answer_request(turn: &mut Turn, app: Incarnation, frame: &Frame) {
    let envelope = &frame.envelope;
    let answer = match envelope.method {
        Method::Ping => Frame::encode(&envelope.answer(Kind::Reply), &Empty {}),
        _ => Frame::fault(envelope, &Fault::refused("an app can't ask for this")),
    };
    if let Ok(bytes) = answer {
        turn.effects.push(Effect::ToApp { app, bytes });
    }
}

/// Handles an app's answer. An answer to a request that was given up, or that was sent to another
/// incarnation, is dropped.
///
/// # Errors
/// The reason why the answer is dropped.
fn handle_reply(
    turn: &mut Turn,
    processes: &mut Processes,
    app: Incarnation,
    frame: Frame,
) -> Result<(), String> {
    let id = frame.envelope.id;
    let Some(request) = processes.requests.with(app, id) else {
        return take_late_reply(processes, app, &frame);
    };
    let reply = if frame.envelope.kind == Kind::Reply {
        AppReply::Reply(frame.body)
    } else {
        // The line of a step names its action, that of a value its thing, and so whose error it is.
        let named = |to: &ReplyTo| matches!(to, ReplyTo::Invoke(_) | ReplyTo::Read(_));
        let is_named = matches!(&request.purpose, Purpose::Client(to) if named(to));
        match intake::read_error(&frame.body, processes.speaker(&request.session), !is_named) {
            Ok(mut fault) => {
                if let Some(key) = processes.incarnations.session_of(app) {
                    processes.explain_denial(key, &mut fault);
                }
                AppReply::Fault(fault)
            }
            Err(error) => {
                break_app(turn, processes, app, format!("an unreadable fault: {error}"));
                return Ok(());
            }
        }
    };
    let key = request.session.clone();
    let mut session = processes.sessions.get_mut(&key);
    let Some(request) = processes.requests.remove(turn, session.as_deref_mut(), id) else {
        return Ok(());
    };
    match request.purpose {
        Purpose::StartOpen(index) => start_open_replied(turn, processes, &key, index, reply),
        // In a process of its own, the end of that process is the end.
        Purpose::Close => leave_shared(turn, processes, &key),
        _ => tell_end(&mut processes.events, session, request, reply),
    }
    Ok(())
}

/// Handles an answer that no requester waits for any more. Only a started job is still reported.
///
/// # Errors
/// The reason why the answer is dropped.
fn take_late_reply(
    processes: &mut Processes,
    app: Incarnation,
    frame: &Frame,
) -> Result<(), String> {
    if (frame.envelope.kind, frame.envelope.method) == (Kind::Reply, Method::Invoke)
        && let Some(session) = processes.incarnations.session_of(app)
        && let Ok(started) = intake::read_said::<Outcome>(&frame.body, processes.speaker(session))
        && let Outcome::Started(started) = started
    {
        let session = session.clone();
        processes.events.push_back(ProcessEvent::JobStarted { session, started });
        return Ok(());
    }
    let id = frame.envelope.id;
    if processes.requests.was_dropped(id) {
        return Ok(());
    }
    Err(format!(
        "nobody waits for an answer to the request {id}: it came late, twice, or for an unknown id"
    ))
}
