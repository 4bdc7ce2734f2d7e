//! A connection to the daemon without the client library, for any bytes a story wants to send.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pipemux_proto::{Envelope, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role};
use serde::Serialize;
use serde_json::{Value, json};

use crate::TestEnv;

/// How long a frame may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client's socket and the decoder of what arrives on it. Nothing is sent that a story doesn't
/// send.
#[derive(Debug)]
pub struct RawConnection {
    /// The socket.
    pub stream: UnixStream,
    decoder: FrameDecoder,
}

/// What [`RawConnection::receive`] found.
#[derive(Debug)]
pub enum Received {
    /// A frame.
    Frame(Frame),
    /// The daemon has closed the connection.
    Closed,
    /// Nothing arrived in time.
    Timeout,
}

impl RawConnection {
    /// Connects without sending anything.
    ///
    /// # Panics
    /// No daemon listens.
    pub fn connect(env: &TestEnv) -> Self {
        Self::try_connect(env).expect("the daemon's socket")
    }

    /// Connects without sending anything.
    ///
    /// # Errors
    /// No daemon listens, or this process has no descriptor left.
    pub fn try_connect(env: &TestEnv) -> io::Result<Self> {
        let stream = UnixStream::connect(env.paths().socket)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self { stream, decoder: FrameDecoder::default() })
    }

    /// Connects and exchanges greetings.
    ///
    /// # Panics
    /// The daemon doesn't answer with a greeting.
    pub fn greeted(env: &TestEnv) -> Self {
        let mut raw = Self::connect(env);
        raw.send_hello();
        assert_eq!(raw.next_frame().map(|frame| frame.envelope.method), Some(Method::Hello));
        raw
    }

    /// Sends a greeting and doesn't wait for the daemon's.
    pub fn send_hello(&mut self) {
        self.send(
            &Envelope::event(Method::Hello, Incarnation(0)),
            &Hello::new(Role::Client, "raw"),
        );
    }

    /// Sends a frame; returns false when the daemon no longer reads.
    pub fn send<T: Serialize>(&mut self, envelope: &Envelope, body: &T) -> bool {
        self.write(&Frame::encode(envelope, body).expect("a frame"))
    }

    /// Sends a verb as the request with that id; returns false when the daemon no longer reads.
    pub fn send_verb(&mut self, id: u64, call: &Value) -> bool {
        self.send(&Envelope::request(Method::Verb, id, Incarnation(0)), call)
    }

    /// Writes bytes that need not be a frame; returns false when the daemon no longer reads.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Waits for the next frame; `None` when the daemon has closed the connection.
    ///
    /// # Panics
    /// Neither happens in time.
    pub fn next_frame(&mut self) -> Option<Frame> {
        match self.receive(TIMEOUT) {
            Received::Frame(frame) => Some(frame),
            Received::Closed => None,
            Received::Timeout => panic!("the daemon sent no frame and kept the connection open"),
        }
    }

    /// Waits for what happens next on the connection.
    ///
    /// # Panics
    /// The daemon sends invalid framing.
    pub fn receive(&mut self, timeout: Duration) -> Received {
        let end = Instant::now() + timeout;
        loop {
            if let Some(frame) = self.decoder.next_frame().expect("the daemon's frames are valid") {
                return Received::Frame(frame);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Received::Timeout;
            }
            let _ = self.stream.set_read_timeout(Some(left));
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Received::Closed,
                Ok(length) => self.decoder.extend(&chunk[..length]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    // The system resets a connection that is closed with bytes unread.
                    _ => return Received::Closed,
                },
            }
        }
    }

    /// Reads until the daemon closes the connection.
    ///
    /// # Panics
    /// The daemon keeps it open.
    pub fn expect_close(mut self) {
        while self.next_frame().is_some() {}
    }

    /// Reads until the daemon closes the connection or nothing has arrived for that long; returns
    /// the messages of the faults among the frames.
    pub fn faults(&mut self, timeout: Duration) -> Vec<String> {
        let mut messages = Vec::new();
        while let Received::Frame(frame) = self.receive(timeout) {
            if frame.envelope.kind == Kind::Fault {
                messages.push(fault_message(&frame));
            }
        }
        messages
    }
}

/// The message of a fault, or why its body can't be read.
pub fn fault_message(frame: &Frame) -> String {
    let fault = pipemux_proto::decode::<pipemux_proto::Fault>(&frame.body);
    fault.map_or_else(|error| error.to_string(), |fault| fault.message)
}

/// The body of a verb request, with only the fields that have no default, spelled out by name.
pub fn verb_call(env: &TestEnv, verb: Value, run_id: &str) -> Value {
    let key = env.project().canonicalize().expect("the project").display().to_string();
    json!({
        "workspace": { "key": key, "name": "proj" },
        "reader": "raw",
        "run_id": run_id,
        "verb": verb,
    })
}
