//! Checks that an app survives messages from a newer or faulty peer.

use std::time::Duration;

use pipemux_proto::app::{Empty, Project};
use pipemux_proto::projection::{Lod, Projection};
use pipemux_proto::{Frame, Kind, Method, Value};
use serde::Serialize;

use crate::limits::ANSWER;
use crate::process::Answer;
use crate::session::Session;
use crate::subject::Opening;

/// A method number that no version of the protocol has.
const NO_METHOD: u8 = 0x7e;
/// The time to wait for an unexpected answer.
const SILENCE: Duration = Duration::from_millis(300);

/// A window request with a field of a later protocol version.
#[derive(Serialize)]
struct LaterProject {
    #[serde(flatten)]
    project: Project,
    field_of_a_later_version: Value,
}

/// Sends what a daemon of this release doesn't.
pub fn garbage(session: &mut Session<'_>) {
    unknown_field(session);
    unknown_methods(session);
    unreadable_bodies(session);
    cancels(session);
    in_pieces(session);
    exchange(session);
    ping(session, "ping after odd frames");
}

fn unknown_field(session: &mut Session<'_>) {
    let place = "project with a field of a later version";
    let project = session.subject.project(1, Lod::Summary, 1000, None);
    let later = LaterProject { project, field_of_a_later_version: Value::List(vec![1.into()]) };
    if let Some(Err(fault)) = session.ask::<Projection>(place, Method::Project, &later) {
        let text = format!("refused ({}): unknown fields are ignored", fault.message);
        session.report.add(place, "unknown-field", text);
    }
}

fn unknown_methods(session: &mut Session<'_>) {
    let place = "request with an unknown method";
    let Some(request) =
        session.process.as_ref().map(|process| process.stray_envelope(Kind::Request))
    else {
        return;
    };
    let Some(event) = session.process.as_ref().map(|process| process.stray_envelope(Kind::Event))
    else {
        return;
    };
    for (envelope, body) in [(request, 0x80), (event, 0x80)] {
        if let Ok(bytes) = Frame::forward(&envelope, &[body]) {
            let mut bytes = bytes.to_vec();
            // Length, array, kind: the method is the byte after these.
            bytes[6] = NO_METHOD;
            if let Some(process) = session.process.as_mut() {
                process.write(&bytes);
            }
        }
    }
    if !ping(session, place) {
        return;
    }
    let Some(process) = session.process.as_mut() else { return };
    if !process.was_answered(request.id) {
        process.drain(SILENCE);
    }
    if !process.was_answered(request.id) {
        let text =
            "got no answer: a request with an unknown method is answered with a fault (`refused`)";
        session.report.add(place, "unknown-method", text);
    }
}

/// Sends a body that no message has. A fault is expected, and that the app goes on.
fn unreadable_bodies(session: &mut Session<'_>) {
    for method in [Method::Project, Method::Invoke, Method::Locate] {
        let place = format!("{method:?} with an unreadable body");
        let answer = session.ask::<Value>(&place, method, &Value::List(vec![Value::Null]));
        if let Some(Ok(_)) = answer {
            let text = "was answered as if it were one: refuse what can't be read";
            session.report.add(&place, "body", text);
        }
    }
}

fn cancels(session: &mut Session<'_>) {
    let place = "cancel";
    let project = session.subject.project(1, Lod::Full, 1000, None);
    let Some(envelope) =
        session.process.as_ref().map(|process| process.stray_envelope(Kind::Cancel))
    else {
        return;
    };
    let Some(process) = session.process.as_mut() else { return };
    process.send(&envelope, &Empty {});
    let request = process.envelope(Method::Project, ANSWER);
    process.send(&request, &project);
    let cancel = pipemux_proto::Envelope { kind: Kind::Cancel, ..request };
    process.send(&cancel, &Empty {});
    // It may answer or not.
    process.give_up(&request);
    ping(session, place);
}

/// Sends two requests at once, byte by byte.
fn in_pieces(session: &mut Session<'_>) {
    let place = "two requests in pieces";
    let Some(process) = session.process.as_mut() else { return };
    let first = process.envelope(Method::Ping, ANSWER);
    let second = process.envelope(Method::Ping, ANSWER);
    let frames = [first, second].map(|ping| Frame::encode(&ping, &Empty {}));
    for byte in frames.into_iter().flatten().flatten() {
        process.write(&[byte]);
    }
    for request in [first, second] {
        let Some(process) = session.process.as_mut() else { return };
        if matches!(process.answer(&request, ANSWER), Answer::Late | Answer::Lost(_)) {
            let text = "wasn't answered: a frame may come in any pieces, and several at once";
            session.report.add(place, "framing", text);
            session.end_process();
            session.start(place, Opening::AGAIN);
            return;
        }
    }
}

/// Sends an exchange, which an app may take or refuse.
fn exchange(session: &mut Session<'_>) {
    let place = "exchange";
    let Some(process) = session.process.as_mut() else { return };
    let request = process.envelope(Method::Exchange, ANSWER);
    if let Ok(bytes) = Frame::forward(&request, b"pipemux check") {
        process.write(&bytes);
    }
    if matches!(process.answer(&request, ANSWER), Answer::Late) {
        let text = "got no answer: an app without exchanges refuses them with a fault";
        session.report.add(place, "no-answer", text);
    }
}

/// Returns true when the app answers.
fn ping(session: &mut Session<'_>, place: &str) -> bool {
    matches!(session.ask::<Empty>(place, Method::Ping, &Empty {}), Some(Ok(_)))
}
