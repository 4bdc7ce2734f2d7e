//! Decodes what arrives on a connection.

use bytes::Bytes;
use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Method};

/// A frame that arrived, or the error in its place.
#[derive(Debug)]
pub enum Inbound {
    Frame(Frame),
    /// A frame with a method that this release doesn't know.
    UnknownMethod {
        number: u64,
        /// The id of the request that expects an answer.
        request: Option<u64>,
    },
    /// Invalid data; the stream can't be read any further.
    Invalid(String),
}

/// Classifies a frame whose envelope can't be decoded.
pub fn undecodable(error: EnvelopeError) -> Inbound {
    match error {
        EnvelopeError::Method { number, id, request } => {
            Inbound::UnknownMethod { number, request: request.then_some(id) }
        }
        error => Inbound::Invalid(error.to_string()),
    }
}

/// Encodes the answer to a request with an unknown method.
pub fn unknown_method_fault(number: u64, id: u64, incarnation: Incarnation) -> Option<Bytes> {
    // The sender finds the request by its id; the method in this envelope doesn't matter.
    let request = Envelope::request(Method::Ping, id, incarnation);
    let fault = Fault::refused(format!("unknown method {number}"))
        .hint("the request comes from a newer release; update the daemon, then: pipemux down");
    Frame::fault(&request, &fault).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::Kind;

    #[test]
    fn unknown_method_fault_names_the_method_and_the_request() {
        let bytes = unknown_method_fault(99, 7, Incarnation(3)).unwrap();
        let frame = Frame::from_payload(bytes.slice(4..)).unwrap();
        assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Fault, 7));
        let fault: Fault = pipemux_proto::decode(&frame.body).unwrap();
        assert_eq!(fault.message, "unknown method 99");
    }
}
