//! A connection to the daemon without the client library: whatever bytes a story wants to send.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pipemux_proto::{Envelope, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role};
use serde::Serialize;
use serde_json::{Value, json};

use crate::World;

/// How long a frame is awaited.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection of its own.
#[derive(Debug)]
pub struct Raw {
    /// The socket.
    pub stream: UnixStream,
    decoder: FrameDecoder,
}

/// What came.
#[derive(Debug)]
pub enum Heard {
    /// A frame.
    Frame(Frame),
    /// The daemon has closed the connection.
    End,
    /// Nothing, in all that time.
    Silence,
}

impl Raw {
    /// Connects, and says nothing.
    ///
    /// # Panics
    /// Nobody listens.
    pub fn connect(world: &World) -> Self {
        Self::try_connect(world).expect("the daemon's socket")
    }

    /// Connects, and says nothing.
    ///
    /// # Errors
    /// Nobody listens, or there is no descriptor left here.
    pub fn try_connect(world: &World) -> io::Result<Self> {
        let stream = UnixStream::connect(world.paths().socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, decoder: FrameDecoder::default() })
    }

    /// Connects and greets.
    ///
    /// # Panics
    /// The daemon does not greet.
    pub fn greeted(world: &World) -> Self {
        let mut raw = Self::connect(world);
        raw.greet();
        assert_eq!(raw.frame().map(|frame| frame.envelope.method), Some(Method::Hello));
        raw
    }

    /// Greets, and doesn't wait for the daemon's greeting.
    pub fn greet(&mut self) {
        self.send(
            &Envelope::event(Method::Hello, Incarnation(0)),
            &Hello::new(Role::Client, "raw"),
        );
    }

    /// Sends a frame; false when the other side takes no more.
    pub fn send<T: Serialize>(&mut self, envelope: &Envelope, body: &T) -> bool {
        self.write(&Frame::encode(envelope, body).expect("a frame"))
    }

    /// Sends a verb under that id.
    pub fn ask(&mut self, id: u64, call: &Value) -> bool {
        self.send(&Envelope::request(Method::Verb, id, Incarnation(0)), call)
    }

    /// Writes bytes; false when the other side takes no more.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next frame; none at the end.
    ///
    /// # Panics
    /// Neither comes in time.
    pub fn frame(&mut self) -> Option<Frame> {
        match self.hear(PATIENCE) {
            Heard::Frame(frame) => Some(frame),
            Heard::End => None,
            Heard::Silence => panic!("neither a frame nor an end"),
        }
    }

    /// Waits for what comes next.
    ///
    /// # Panics
    /// The daemon sends what is no frame.
    pub fn hear(&mut self, patience: Duration) -> Heard {
        let end = Instant::now() + patience;
        loop {
            if let Some(frame) = self.decoder.next_frame().expect("the daemon's frames are good") {
                return Heard::Frame(frame);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Heard::Silence;
            }
            let _ = self.stream.set_read_timeout(Some(left));
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Heard::End,
                Ok(length) => self.decoder.extend(&chunk[..length]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    // What is closed with bytes unread is reset.
                    _ => return Heard::End,
                },
            }
        }
    }

    /// Reads to the end.
    ///
    /// # Panics
    /// It does not come.
    pub fn ends(mut self) {
        while self.frame().is_some() {}
    }

    /// Reads to the end, or until nothing has come for that long; gives the faults that were told.
    pub fn faults(&mut self, patience: Duration) -> Vec<String> {
        let mut told = Vec::new();
        while let Heard::Frame(frame) = self.hear(patience) {
            if frame.envelope.kind == Kind::Fault {
                let fault = pipemux_proto::decode::<pipemux_proto::Fault>(&frame.body);
                told.push(fault.map_or_else(|error| error.to_string(), |fault| fault.message));
            }
        }
        told
    }
}

/// A call as any client may write it: the fields that have no default, by name.
pub fn call(world: &World, verb: Value, run_id: &str) -> Value {
    let key = world.project().canonicalize().expect("the project").display().to_string();
    json!({
        "workspace": { "key": key, "name": "proj" },
        "reader": "raw",
        "run_id": run_id,
        "verb": verb,
    })
}
