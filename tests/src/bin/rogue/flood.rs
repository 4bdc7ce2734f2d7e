//! Floods of frames before an answer.

use pipemux_proto::app::{Changed, Done, Notify, Outcome};
use pipemux_proto::{Envelope, Frame, Kind, Method};

use crate::wire::Wire;

/// Longest body of a garbled frame, in bytes.
const GARBLE_MAX: u64 = 400;

/// That many notices.
pub fn notify(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let event = Envelope::event(Method::Notify, request.envelope.incarnation);
    for number in 0..number {
        wire.send(&event, &Notify { text: format!("notice {number} [x](link:1)") })?;
    }
    Ok(format!("told {number} times"))
}

/// That many changes of its state that nobody caused.
pub fn change(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let event = Envelope::event(Method::Changed, request.envelope.incarnation);
    for version in 0..number {
        wire.send(&event, &Changed { version: version as u64 })?;
    }
    Ok(format!("changed {number} times"))
}

/// That many answers to requests that were never made.
pub fn reply(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let answer = Outcome::Done(Done { brief: "never asked".into(), ..Done::default() });
    for number in 0..number {
        let id = u64::MAX - number as u64;
        wire.send(&Envelope { id, ..request.envelope.answer(Kind::Reply) }, &answer)?;
    }
    Ok(format!("answered {number} times"))
}

/// That many frames whose envelopes are right and whose methods, ids and bodies are drawn at random; the
/// answer to this request is none of them. Always the same ones.
pub fn garble(wire: &mut Wire, request: &Frame, number: usize) -> std::io::Result<String> {
    let own = request.envelope;
    let kinds = [Kind::Request, Kind::Reply, Kind::Fault, Kind::Event, Kind::Cancel];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        // Xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..number {
        let kind = kinds[(next() % kinds.len() as u64) as usize];
        let method = Method::ALL[(next() % Method::ALL.len() as u64) as usize];
        let mut id = if kind == Kind::Event { 0 } else { next() % 1000 };
        id += u64::from(kind != Kind::Event && id == own.id);
        let envelope = Envelope { kind, method, id, incarnation: own.incarnation, deadline_ms: 0 };
        let body: Vec<u8> = (0..next() % GARBLE_MAX).map(|_| next() as u8).collect();
        let bytes = Frame::forward(&envelope, &body).map_err(std::io::Error::other)?;
        wire.raw(&bytes)?;
    }
    Ok(format!("garbled {number} times"))
}
