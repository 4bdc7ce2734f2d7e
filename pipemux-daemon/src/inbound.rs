//! What comes on a connection, cut into frames.

use bytes::Bytes;
use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Method};

/// What the bytes read so far hold.
#[derive(Debug)]
pub enum Inbound {
    /// A frame.
    Frame(Frame),
    /// A frame with a method that this release doesn't know.
    UnknownMethod {
        /// Its number.
        number: u64,
        /// The request that wants an answer.
        request: Option<u64>,
    },
    /// No frame, and none to come.
    Invalid(String),
}

/// What a frame is whose envelope can't be read.
pub fn undecodable(error: EnvelopeError) -> Inbound {
    match error {
        EnvelopeError::Method { number, id, request } => {
            Inbound::UnknownMethod { number, request: request.then_some(id) }
        }
        error => Inbound::Invalid(error.to_string()),
    }
}

/// Refuses a request whose method isn't known.
pub fn unknown_method_fault(number: u64, id: u64, incarnation: Incarnation) -> Option<Bytes> {
    // The request is known by its id; which method stands here doesn't matter to its sender.
    let request = Envelope::request(Method::Ping, id, incarnation);
    let fault = Fault::refused(format!("unknown method {number}"))
        .hint("it is of a newer release: update the daemon, then: pipemux down");
    Frame::fault(&request, &fault).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::Kind;

    #[test]
    fn a_refusal_names_the_method_and_carries_the_request() {
        let bytes = unknown_method_fault(99, 7, Incarnation(3)).unwrap();
        let frame = Frame::from_payload(bytes.slice(4..)).unwrap();
        assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Fault, 7));
        let fault: Fault = pipemux_proto::decode(&frame.body).unwrap();
        assert_eq!(fault.message, "unknown method 99");
    }
}
