//! Exchanges, whose bodies say how they are answered.

use pipemux_proto::{Fault, Frame, Kind};

use crate::wire::{Wire, exit};

/// Earlier exchanges whose answers are held back.
pub type Held = Vec<Frame>;

/// Echoes the body, or does what the body says.
pub fn handle(wire: &mut Wire, request: &Frame, held: &mut Held) -> std::io::Result<()> {
    match &request.body[..] {
        b"die" => exit(7),
        b"hold" => held.push(request.clone()),
        b"release" => {
            for request in held.drain(..).rev() {
                reply(wire, &request, b"held")?;
            }
            return reply(wire, request, b"released");
        }
        b"refuse" => {
            let fault = Fault::refused("not this one").hint("another");
            return wire.send(&request.envelope.answer(Kind::Fault), &fault);
        }
        b"garbage fault" => return wire.send(&request.envelope.answer(Kind::Fault), &["no fault"]),
        b"twice" => {
            reply(wire, request, b"once")?;
            return reply(wire, request, b"twice");
        }
        b"half" => {
            let answer = Frame::forward(&request.envelope.answer(Kind::Reply), &[1; 100_000]);
            wire.raw(&answer.map_err(std::io::Error::other)?[..50_000])?;
            exit(8)
        }
        _ => return reply(wire, request, &request.body),
    }
    Ok(())
}

fn reply(wire: &mut Wire, request: &Frame, body: &[u8]) -> std::io::Result<()> {
    let answer = Frame::forward(&request.envelope.answer(Kind::Reply), body);
    wire.raw(&answer.map_err(std::io::Error::other)?)
}
