//! Floods of frames that precede an answer.

use pipemux_proto::app::{Changed, Done, Notify, Outcome};
use pipemux_proto::{Envelope, Frame, Kind, Method};
use pipemux_tests::SeededRandom;

use crate::wire::Wire;

/// The length of the longest body of a random frame, in bytes.
const GARBLE_MAX: usize = 400;

/// Sends that many notices.
pub fn notify(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let event = Envelope::event(Method::Notify, request.envelope.incarnation);
    for number in 0..number {
        wire.send(&event, &Notify { text: format!("notice {number} [x](link:1)") })?;
    }
    Ok(format!("told {number} times"))
}

/// Announces that many changes of the app's state.
pub fn change(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let event = Envelope::event(Method::Changed, request.envelope.incarnation);
    for version in 0..number {
        wire.send(&event, &Changed { version: version as u64 })?;
    }
    Ok(format!("changed {number} times"))
}

/// Sends that many answers to requests that were never made.
pub fn reply(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let answer = Outcome::Done(Done { brief: "never asked".into(), ..Done::default() });
    for number in 0..number {
        let id = u64::MAX - number as u64;
        wire.send(&Envelope { id, ..request.envelope.answer(Kind::Reply) }, &answer)?;
    }
    Ok(format!("answered {number} times"))
}

/// Sends that many frames with valid envelopes and with random methods, ids and bodies. None of
/// them answers this request, and every call sends the same frames.
pub fn garble(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let own = request.envelope;
    let kinds = [Kind::Request, Kind::Reply, Kind::Fault, Kind::Event, Kind::Cancel];
    let mut random = SeededRandom::new(1, 0);
    for _ in 0..number {
        let kind = kinds[random.below(kinds.len())];
        let method = Method::ALL[random.below(Method::ALL.len())];
        let mut id = if kind == Kind::Event { 0 } else { random.next_u64() % 1000 };
        id += u64::from(kind != Kind::Event && id == own.id);
        let envelope = Envelope { kind, method, id, incarnation: own.incarnation, deadline_ms: 0 };
        let body: Vec<u8> =
            (0..random.below(GARBLE_MAX)).map(|_| random.next_u64() as u8).collect();
        let bytes = Frame::forward(&envelope, &body).map_err(std::io::Error::other)?;
        wire.raw(&bytes)?;
    }
    Ok(format!("garbled {number} times"))
}
