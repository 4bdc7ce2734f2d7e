//! Decodes what the daemon sends, without IO: bytes go in, messages come out.

use bytes::Bytes;
use pipemux_proto::app::Progress;
use pipemux_proto::client::{Answer, Attached};
use pipemux_proto::envelope::{EnvelopeError, Kind, Method};
use pipemux_proto::hello::{DaemonIdentity, SEEN_EVENT};
use pipemux_proto::{Fault, Frame, FrameDecoder, FrameError, Hello, Incarnation, Role, decode};

use crate::error::ClientError;

/// Decodes the daemon's messages on one connection: its greeting first, then replies and pings.
#[derive(Debug, Default)]
pub(crate) struct MessageReader {
    decoder: FrameDecoder,
    greeted: bool,
    /// True when the daemon understands [`final_seen`](crate::requests::final_seen).
    pub(crate) accepts_final_seen: bool,
    /// The identity of the daemon, if it has sent one in its greeting.
    daemon: Option<DaemonIdentity>,
}

/// A message from the daemon.
#[derive(Debug)]
pub(crate) enum DaemonMessage {
    /// The daemon's greeting; the client speaks its protocol version.
    Hello,
    /// The reply to the request with this id.
    Reply(u64, RawReply),
    /// The progress of the request with this id.
    Progress(u64, Progress),
    /// A liveness check; the bytes are the encoded reply, ready to be written.
    Ping(Bytes),
}

/// The reply to a request: its undecoded body, or the daemon's refusal.
pub(crate) type RawReply = Result<Bytes, Fault>;

/// The reason why the connection can't be used any more.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The daemon refused the client's greeting, or the client doesn't speak the daemon's version.
    Greeting(Fault),
    /// The bytes are not valid messages of a daemon; the text says what is wrong.
    Invalid(String),
}

impl MessageReader {
    /// Returns the buffer that the next bytes are read into, with room for at least `least` bytes
    /// or for the rest of a frame that has begun.
    pub(crate) fn room(&mut self, least: usize) -> &mut Vec<u8> {
        self.decoder.room(least)
    }

    /// Keeps the buffer between messages, for long-lived connections.
    pub(crate) fn keep_buffer(&mut self) {
        self.decoder.keep_buffer();
    }

    /// Adds bytes that were read from the connection.
    pub(crate) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.decoder.extend(bytes);
    }

    /// The identity of the daemon, if it has sent one in its greeting.
    pub(crate) fn daemon(&self) -> Option<&DaemonIdentity> {
        self.daemon.as_ref()
    }

    /// Returns the next message; `None` when more bytes are needed.
    pub(crate) fn poll_message(&mut self) -> Result<Option<DaemonMessage>, ReadError> {
        loop {
            let frame = match self.decoder.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(None),
                // A later minor version may send events that this client doesn't know. It sends no
                // new requests.
                Err(FrameError::Envelope(EnvelopeError::Method { .. })) if self.greeted => continue,
                Err(error) => return Err(ReadError::Invalid(error.to_string())),
            };
            if let Some(message) = self.handle_frame(frame)? {
                return Ok(Some(message));
            }
        }
    }

    fn handle_frame(&mut self, frame: Frame) -> Result<Option<DaemonMessage>, ReadError> {
        let envelope = frame.envelope;
        if !self.greeted {
            self.greeted = true;
            let hello = check_greeting(&frame)?;
            self.accepts_final_seen = hello.features.iter().any(|feature| feature == SEEN_EVENT);
            self.daemon = hello.daemon;
            return Ok(Some(DaemonMessage::Hello));
        }
        Ok(match (envelope.kind, envelope.method) {
            (Kind::Reply, _) => Some(DaemonMessage::Reply(envelope.id, Ok(frame.body))),
            (Kind::Fault, _) => {
                let fault = decode(&frame.body).unwrap_or_else(|error| {
                    Fault::failed(format!(
                        "the daemon refused this, but its reason can't be read: {error}"
                    ))
                });
                Some(DaemonMessage::Reply(envelope.id, Err(fault)))
            }
            // What can't be read is not worth an error: the answer will come.
            (Kind::Event, Method::Progress) => decode(&frame.body)
                .ok()
                .map(|progress| DaemonMessage::Progress(envelope.id, progress)),
            (Kind::Request, Method::Ping) => {
                let pong = envelope.answer(Kind::Reply);
                Frame::encode(&pong, &pipemux_proto::app::Empty {}).ok().map(DaemonMessage::Ping)
            }
            _ => None,
        })
    }
}

/// Decodes the answer to a verb.
pub(crate) fn decode_answer(reply: RawReply, acts: bool) -> Result<Answer, ClientError> {
    let body = reply.map_err(|fault| {
        // A daemon of an earlier release gives no hint about its version with this refusal.
        let older = fault.hints.is_empty() && fault.message.starts_with("an unreadable request");
        let refused = ClientError::Refused(fault);
        if !older {
            return refused;
        }
        refused.hint(
            "the daemon may be of an earlier release; end it, then run this again: pipemux down",
        )
    })?;
    Answer::from_body(body).map_err(|error| {
        ClientError::lost(acts, &format!("the daemon's answer can't be read: {error}"))
    })
}

/// Decodes the reply to an attach request: the incarnation of the attached session.
pub(crate) fn decode_attached(body: &[u8]) -> Result<Incarnation, ClientError> {
    let attached: Attached = decode(body).map_err(|error| {
        ClientError::lost(false, &format!("the daemon's answer can't be read: {error}"))
    })?;
    Ok(attached.incarnation)
}

fn check_greeting(frame: &Frame) -> Result<Hello, ReadError> {
    let envelope = frame.envelope;
    if (envelope.kind, envelope.method) == (Kind::Fault, Method::Hello) {
        let refusal = decode(&frame.body)
            .unwrap_or_else(|_| Fault::refused("the daemon refused this client's greeting"));
        return Err(ReadError::Greeting(refusal));
    }
    if (envelope.kind, envelope.method) != (Kind::Event, Method::Hello) {
        return Err(ReadError::Invalid("its first message is not a greeting".into()));
    }
    let hello: Hello =
        decode(&frame.body).map_err(|error| ReadError::Invalid(error.to_string()))?;
    hello.check().map_err(ReadError::Greeting)?;
    match hello.role {
        Role::Daemon => Ok(hello),
        other => Err(ReadError::Invalid(format!("it greets as {other:?}, not as a daemon"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::Envelope;
    use pipemux_proto::hello::ProtocolVersion;

    fn greeted() -> MessageReader {
        let mut reader = MessageReader::default();
        reader.handle_bytes(&hello(1, Role::Daemon));
        assert!(matches!(reader.poll_message(), Ok(Some(DaemonMessage::Hello))));
        reader
    }

    fn hello(major: u16, role: Role) -> Bytes {
        let mut hello = Hello::new(role, "pipemuxd 9.9.9");
        hello.protocol = ProtocolVersion { major, minor: 7 };
        Frame::encode(&Envelope::event(Method::Hello, Incarnation(0)), &hello).unwrap()
    }

    #[test]
    fn messages_do_not_depend_on_how_bytes_are_split() {
        let mut reader = greeted();
        let request = Envelope::request(Method::Verb, 3, Incarnation(0));
        let refusal = Frame::fault(&request, &Fault::refused("full")).unwrap();
        let reply = Frame::encode(&request.answer(Kind::Reply), &"any").unwrap();
        for byte in refusal.iter().chain(&reply) {
            reader.handle_bytes(&[*byte]);
        }
        let Ok(Some(DaemonMessage::Reply(3, Err(fault)))) = reader.poll_message() else { panic!() };
        assert_eq!(fault, Fault::refused("full"));
        assert!(matches!(reader.poll_message(), Ok(Some(DaemonMessage::Reply(3, Ok(_))))));
        assert!(matches!(reader.poll_message(), Ok(None)));
    }

    #[test]
    fn other_major_version_is_refused_naming_both_versions() {
        let mut reader = MessageReader::default();
        reader.handle_bytes(&hello(2, Role::Daemon));
        let Err(ReadError::Greeting(fault)) = reader.poll_message() else { panic!() };
        let ours = pipemux_proto::hello::PROTOCOL;
        assert_eq!(
            fault.message,
            format!("pipemuxd 9.9.9 speaks protocol 2.7, this side {}.{}.", ours.major, ours.minor)
        );
        assert!(matches!(ClientError::from_greeting(fault), ClientError::VersionMismatch(_)));
    }

    #[test]
    fn peer_that_is_not_a_daemon_is_rejected() {
        for first in [&hello(1, Role::App)[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x01x"]
        {
            let mut reader = MessageReader::default();
            reader.handle_bytes(first);
            assert!(matches!(reader.poll_message(), Err(ReadError::Invalid(_))), "{first:?}");
        }
    }

    #[test]
    fn unknown_events_of_a_later_minor_are_ignored() {
        let mut reader = greeted();
        // Event of method 99: [3, 99, 0, 0, 0] and a nil body.
        reader.handle_bytes(&[0, 0, 0, 7, 0x95, 3, 99, 0, 0, 0, 0xc0]);
        let request = Envelope::request(Method::Ping, 5, Incarnation(0));
        reader.handle_bytes(&Frame::encode(&request, &pipemux_proto::app::Empty {}).unwrap());
        let Ok(Some(DaemonMessage::Ping(pong))) = reader.poll_message() else { panic!() };
        assert_eq!(Envelope::read(&pong[4..]).unwrap().0, request.answer(Kind::Reply));
    }
}
