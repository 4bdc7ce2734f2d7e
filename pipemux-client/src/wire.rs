//! Frames and greetings of a client's connection, without IO: bytes in, answers out.

use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::client::{Answer, Attach, Attached, Call, Seen, Workspace};
use pipemux_proto::codec::EncodeError;
use pipemux_proto::envelope::{EnvelopeError, Kind, Method};
use pipemux_proto::frame::Head;
use pipemux_proto::hello::SEEN_EVENT;
use pipemux_proto::{
    Envelope, Fault, Frame, FrameDecoder, FrameError, Hello, Incarnation, Role, SessionAddr, decode,
};
use serde::Serialize;

use crate::error::ClientError;

/// What came on one connection: whether it was greeted, and what isn't a whole frame yet.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    decoder: FrameDecoder,
    greeted: bool,
    /// True when the daemon takes [`Wire::seen_last`].
    pub(crate) takes_last: bool,
}

/// What the daemon sent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Its greeting, of a version that this side speaks.
    Hello,
    /// The end of the request of that id.
    Answer(u64, Ended),
    /// A question whether this side lives; the bytes are the reply to write.
    Ping(Bytes),
}

/// What a request begins with.
pub(crate) enum Start {
    /// What stands before a body that follows.
    Head(Head),
    /// A whole frame.
    Frame(Bytes),
}

impl Start {
    /// How many bytes that is.
    pub(crate) fn len(&self) -> usize {
        match self {
            Start::Head(head) => head.len(),
            Start::Frame(frame) => frame.len(),
        }
    }
}

/// How a request ended: a body that isn't decoded yet, or a refusal.
pub(crate) type Ended = Result<Bytes, Fault>;

/// Why the connection can't go on.
#[derive(Debug)]
pub(crate) enum WireError {
    /// The greeting was refused.
    Greeting(Fault),
    /// What came is not what a daemon sends; says what it was.
    Garbage(String),
}

impl Wire {
    /// The greeting, to be written first.
    pub(crate) fn hello() -> Result<Bytes, ClientError> {
        let software = concat!("pipemux ", env!("CARGO_PKG_VERSION"));
        let envelope = Envelope::event(Method::Hello, Incarnation(0));
        Frame::encode(&envelope, &Hello::new(Role::Client, software)).map_err(unsendable)
    }

    /// A verb; the id is the caller's to choose, another one for each request of a connection.
    pub(crate) fn call(id: u64, call: &Call, timeout: Duration) -> Result<Bytes, ClientError> {
        request(Method::Verb, id, call, timeout)
    }

    /// The confirmation that an answer was written out.
    pub(crate) fn seen(id: u64, delivery: u64, timeout: Duration) -> Result<Bytes, ClientError> {
        request(Method::Seen, id, &Seen { delivery }, timeout)
    }

    /// The same as the connection's last word: the daemon notes it, answers nothing and closes. One of an earlier
    /// release passes it over: see [`Wire::takes_last`].
    pub(crate) fn seen_last(delivery: u64) -> Result<Bytes, ClientError> {
        let envelope = Envelope::event(Method::Seen, Incarnation(0));
        Frame::encode(&envelope, &Seen { delivery }).map_err(unsendable)
    }

    /// Names a session for exchanges.
    pub(crate) fn attach(
        id: u64,
        workspace: &Workspace,
        session: &SessionAddr,
        timeout: Duration,
    ) -> Result<Bytes, ClientError> {
        let attach = Attach { workspace: workspace.clone(), session: session.clone() };
        request(Method::Attach, id, &attach, timeout)
    }

    /// The life in the answer to that.
    pub(crate) fn attached(body: &[u8]) -> Result<Incarnation, ClientError> {
        let attached: Attached = decode(body).map_err(|error| {
            ClientError::lost(false, &format!("the daemon's answer can't be read: {error}"))
        })?;
        Ok(attached.incarnation)
    }

    /// What stands before an exchange's body.
    pub(crate) fn exchange(
        id: u64,
        life: Incarnation,
        length: usize,
        timeout: Duration,
    ) -> Result<Head, ClientError> {
        let mut envelope = Envelope::request(Method::Exchange, id, life);
        envelope.deadline_ms = milliseconds(timeout);
        Frame::head(&envelope, length).map_err(unsendable)
    }

    /// Says that nobody waits for the request of that id any more.
    pub(crate) fn cancel(id: u64) -> Result<Bytes, ClientError> {
        let mut envelope = Envelope::request(Method::Verb, id, Incarnation(0));
        envelope.kind = Kind::Cancel;
        Frame::encode(&envelope, &pipemux_proto::app::Empty {}).map_err(unsendable)
    }

    /// Where the next bytes are to be read to, with room for so many or for the rest of a frame.
    pub(crate) fn room(&mut self, least: usize) -> &mut Vec<u8> {
        self.decoder.room(least)
    }

    /// Keeps the buffer between messages.
    pub(crate) fn keep_buffer(&mut self) {
        self.decoder.keep_buffer();
    }

    /// Takes bytes as they came.
    pub(crate) fn handle_bytes(&mut self, bytes: &[u8]) {
        self.decoder.extend(bytes);
    }

    /// The next thing that the daemon said; `None` when more bytes are needed.
    pub(crate) fn poll_incoming(&mut self) -> Result<Option<Incoming>, WireError> {
        loop {
            let frame = match self.decoder.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(None),
                // A later minor version may say more than this one knows; requests are not among it.
                Err(FrameError::Envelope(EnvelopeError::Method { .. })) if self.greeted => continue,
                Err(error) => return Err(WireError::Garbage(error.to_string())),
            };
            if let Some(incoming) = self.handle_frame(frame)? {
                return Ok(Some(incoming));
            }
        }
    }

    fn handle_frame(&mut self, frame: Frame) -> Result<Option<Incoming>, WireError> {
        let envelope = frame.envelope;
        if !self.greeted {
            self.greeted = true;
            let hello = greeting(&frame)?;
            self.takes_last = hello.features.iter().any(|feature| feature == SEEN_EVENT);
            return Ok(Some(Incoming::Hello));
        }
        Ok(match (envelope.kind, envelope.method) {
            (Kind::Reply, _) => Some(Incoming::Answer(envelope.id, Ok(frame.body))),
            (Kind::Fault, _) => {
                let fault = decode(&frame.body).unwrap_or_else(|error| {
                    Fault::failed(format!("a refusal that can't be read: {error}"))
                });
                Some(Incoming::Answer(envelope.id, Err(fault)))
            }
            (Kind::Request, Method::Ping) => {
                let pong = envelope.answer(Kind::Reply);
                Frame::encode(&pong, &pipemux_proto::app::Empty {}).ok().map(Incoming::Ping)
            }
            _ => None,
        })
    }
}

/// The answer in a reply's body.
pub(crate) fn answer_of(ended: Ended, acts: bool) -> Result<Answer, ClientError> {
    let body = ended.map_err(|fault| {
        // A daemon of an earlier release doesn't say so itself.
        let older = fault.hints.is_empty() && fault.message.starts_with("an unreadable request");
        let refused = ClientError::Refused(fault);
        if !older {
            return refused;
        }
        refused.hint("the daemon may be of an earlier release: pipemux down, then run it again")
    })?;
    Answer::from_body(body).map_err(|error| {
        ClientError::lost(acts, &format!("the daemon's answer can't be read: {error}"))
    })
}

fn request<T: Serialize>(
    method: Method,
    id: u64,
    body: &T,
    timeout: Duration,
) -> Result<Bytes, ClientError> {
    let mut envelope = Envelope::request(method, id, Incarnation(0));
    envelope.deadline_ms = milliseconds(timeout);
    Frame::encode(&envelope, body).map_err(unsendable)
}

fn milliseconds(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn greeting(frame: &Frame) -> Result<Hello, WireError> {
    let envelope = frame.envelope;
    if (envelope.kind, envelope.method) == (Kind::Fault, Method::Hello) {
        let refusal = decode(&frame.body)
            .unwrap_or_else(|_| Fault::refused("the daemon refused this client's greeting"));
        return Err(WireError::Greeting(refusal));
    }
    if (envelope.kind, envelope.method) != (Kind::Event, Method::Hello) {
        return Err(WireError::Garbage("its first message is no greeting".into()));
    }
    let hello: Hello =
        decode(&frame.body).map_err(|error| WireError::Garbage(error.to_string()))?;
    hello.check().map_err(WireError::Greeting)?;
    match hello.role {
        Role::Daemon => Ok(hello),
        other => Err(WireError::Garbage(format!("it greets as {other:?}, not as a daemon"))),
    }
}

fn unsendable(error: EncodeError) -> ClientError {
    ClientError::invalid(error.to_string())
        .hint("long text goes in a file that an app opens, or in several runs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::hello::ProtocolVersion;

    fn greeted() -> Wire {
        let mut wire = Wire::default();
        wire.handle_bytes(&hello(1, Role::Daemon));
        assert!(matches!(wire.poll_incoming(), Ok(Some(Incoming::Hello))));
        wire
    }

    fn hello(major: u16, role: Role) -> Bytes {
        let mut hello = Hello::new(role, "pipemuxd 9.9.9");
        hello.protocol = ProtocolVersion { major, minor: 7 };
        Frame::encode(&Envelope::event(Method::Hello, Incarnation(0)), &hello).unwrap()
    }

    #[test]
    fn bytes_in_any_portions_are_the_same_answers() {
        let mut wire = greeted();
        let request = Envelope::request(Method::Verb, 3, Incarnation(0));
        let refusal = Frame::fault(&request, &Fault::refused("full")).unwrap();
        let reply = Frame::encode(&request.answer(Kind::Reply), &"any").unwrap();
        for byte in refusal.iter().chain(&reply) {
            wire.handle_bytes(&[*byte]);
        }
        let Ok(Some(Incoming::Answer(3, Err(fault)))) = wire.poll_incoming() else { panic!() };
        assert_eq!(fault, Fault::refused("full"));
        assert!(matches!(wire.poll_incoming(), Ok(Some(Incoming::Answer(3, Ok(_))))));
        assert!(matches!(wire.poll_incoming(), Ok(None)));
    }

    #[test]
    fn a_greeting_of_another_major_names_both_versions() {
        let mut wire = Wire::default();
        wire.handle_bytes(&hello(2, Role::Daemon));
        let Err(WireError::Greeting(fault)) = wire.poll_incoming() else { panic!() };
        let ours = pipemux_proto::hello::PROTOCOL;
        assert_eq!(
            fault.message,
            format!("pipemuxd 9.9.9 speaks protocol 2.7, this side {}.{}.", ours.major, ours.minor)
        );
        assert!(matches!(ClientError::of_greeting(fault), ClientError::Version(_)));
    }

    #[test]
    fn who_is_no_daemon_is_not_talked_to() {
        for first in [&hello(1, Role::App)[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x01x"]
        {
            let mut wire = Wire::default();
            wire.handle_bytes(first);
            assert!(matches!(wire.poll_incoming(), Err(WireError::Garbage(_))), "{first:?}");
        }
    }

    #[test]
    fn what_a_later_minor_adds_is_passed_over() {
        let mut wire = greeted();
        // Event of method 99: [3, 99, 0, 0, 0] and a body of nil.
        wire.handle_bytes(&[0, 0, 0, 7, 0x95, 3, 99, 0, 0, 0, 0xc0]);
        let request = Envelope::request(Method::Ping, 5, Incarnation(0));
        wire.handle_bytes(&Frame::encode(&request, &pipemux_proto::app::Empty {}).unwrap());
        let Ok(Some(Incoming::Ping(pong))) = wire.poll_incoming() else { panic!() };
        assert_eq!(Envelope::read(&pong[4..]).unwrap().0, request.answer(Kind::Reply));
    }
}
