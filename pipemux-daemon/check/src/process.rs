//! The connection to the app's process: frames and answers.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pipemux_proto::app::{Busy, Changed, Empty, Notify, Progress};
use pipemux_proto::codec::explain;
use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::job::JobReport;
use pipemux_proto::{
    Envelope, Fault, Frame, FrameDecoder, FrameError, Incarnation, Kind, Method, decode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The outcome of a request.
#[derive(Debug)]
pub enum Answer {
    /// The reply, with this body.
    Reply(Bytes),
    /// The app refused the request.
    Fault(Fault),
    /// No answer came in time.
    Late,
    /// The connection was lost; the reason, if it is more than the end of the connection.
    Lost(Option<String>),
}

/// Something that an app sent unasked and shouldn't have.
#[derive(Debug)]
pub struct Stray {
    /// The name of the rule.
    pub rule: &'static str,
    pub text: String,
}

/// A running process of the app.
pub struct Process {
    stream: UnixStream,
    decoder: FrameDecoder,
    pub incarnation: Incarnation,
    /// The incarnation of the session, which frames carry.
    pub session: Incarnation,
    next: u64,
    /// The messages that the app sent unasked and shouldn't have.
    pub strays: Vec<Stray>,
    pub job_reports: Vec<JobReport>,
    /// The version in the app's last `Changed`.
    pub changed: Option<u64>,
    /// The newest version that an outcome named.
    pub outcome_version: u64,
    /// Answers that were read before their turn.
    early: Vec<Frame>,
    /// The ids of frames whose method is unknown to this protocol.
    unknown: Vec<u64>,
    /// Requests that nobody waits for any more.
    given_up: Vec<u64>,
}

impl Process {
    pub fn new(stream: UnixStream, incarnation: Incarnation, session: Incarnation) -> Self {
        Self {
            stream,
            decoder: FrameDecoder::default(),
            incarnation,
            session,
            next: 0,
            strays: Vec::new(),
            job_reports: Vec::new(),
            changed: None,
            outcome_version: 0,
            early: Vec::new(),
            unknown: Vec::new(),
            given_up: Vec::new(),
        }
    }

    /// Sends a message that needs no answer; whether it arrives is seen by what follows.
    pub fn send(&mut self, envelope: &Envelope, body: &impl Serialize) {
        if let Ok(bytes) = Frame::encode(envelope, body) {
            self.write(&bytes);
        }
    }

    /// Sends bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(10)));
        let _ = self.stream.write_all(bytes);
    }

    /// Closes this side, as a daemon's end does.
    pub fn close(self) {
        drop(self.stream);
    }

    /// Makes the envelope of the next request.
    pub fn envelope(&mut self, method: Method, most: Duration) -> Envelope {
        self.next += 1;
        let deadline_ms = u32::try_from(most.as_millis()).unwrap_or(u32::MAX);
        Envelope { deadline_ms, ..Envelope::request(method, self.next, self.session) }
    }

    /// Makes an envelope that no request has.
    pub fn stray_envelope(&self, kind: Kind) -> Envelope {
        Envelope { kind, ..Envelope::request(Method::Ping, 9_999_999, self.session) }
    }

    /// Waits for the first frame, which must be a `Hello`.
    pub fn hello(&mut self, most: Duration) -> Answer {
        let deadline = Instant::now() + most;
        match self.frame(deadline) {
            Ok(Some(frame)) => match (frame.envelope.kind, frame.envelope.method) {
                (Kind::Event, Method::Hello) => Answer::Reply(frame.body),
                (kind, method) => {
                    Answer::Lost(Some(format!("its first frame is a {kind:?} of {method:?}")))
                }
            },
            Ok(None) => Answer::Late,
            Err(why) => Answer::Lost(why),
        }
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, request: &Envelope, most: Duration) -> Answer {
        let deadline = Instant::now() + most;
        loop {
            let early = self.early.iter().position(|frame| frame.envelope.id == request.id);
            let frame = match early {
                Some(at) => self.early.remove(at),
                None => match self.frame(deadline) {
                    Ok(Some(frame)) => frame,
                    Ok(None) => return Answer::Late,
                    Err(why) => return Answer::Lost(why),
                },
            };
            let envelope = &frame.envelope;
            if !matches!(envelope.kind, Kind::Reply | Kind::Fault) {
                self.take_unasked(&frame);
                continue;
            }
            if envelope.id != request.id {
                match self.given_up.iter().position(|id| *id == envelope.id) {
                    Some(at) => drop(self.given_up.remove(at)),
                    None if envelope.id > request.id => self.early.push(frame),
                    None => self.stray("answer-twice", format!(
                        "an answer of {:?} to the request {}, which has its answer or was never asked",
                        envelope.method, envelope.id
                    )),
                }
                continue;
            }
            if envelope.incarnation != request.incarnation || envelope.method != request.method {
                let text = format!(
                    "an answer repeats method, id and incarnation of its request: expected {:?} and {}, got {:?} and {}",
                    request.method, request.incarnation, envelope.method, envelope.incarnation
                );
                self.stray("envelope", text);
            }
            return match envelope.kind {
                Kind::Reply => Answer::Reply(frame.body),
                _ => match decode::<Fault>(&frame.body) {
                    Ok(fault) => Answer::Fault(fault),
                    Err(_) => {
                        let why = explain::<Fault>(&frame.body);
                        Answer::Lost(Some(format!("its fault can't be read: {why}")))
                    }
                },
            };
        }
    }

    /// Returns true once an answer with this id came that nobody waited for.
    pub fn was_answered(&self, id: u64) -> bool {
        self.unknown.contains(&id) || self.early.iter().any(|frame| frame.envelope.id == id)
    }

    /// Forgets a request: its answer may come late.
    pub fn give_up(&mut self, request: &Envelope) {
        self.given_up.push(request.id);
    }

    fn stray(&mut self, rule: &'static str, text: String) {
        self.strays.push(Stray { rule, text });
    }

    /// Takes an event or a request of the app.
    fn take_unasked(&mut self, frame: &Frame) {
        let envelope = &frame.envelope;
        if envelope.kind == Kind::Request {
            let answer = match envelope.method {
                Method::Ping => Frame::encode(&envelope.answer(Kind::Reply), &Empty {}),
                _ => {
                    let text =
                        format!("a request of {:?}: an app asks for nothing", envelope.method);
                    self.stray("request", text);
                    Frame::fault(envelope, &Fault::refused("an app can't ask for this"))
                }
            };
            if let Ok(bytes) = answer {
                self.write(&bytes);
            }
            return;
        }
        if envelope.kind != Kind::Event {
            return;
        }
        if ![self.session, self.incarnation].contains(&envelope.incarnation) {
            let text = format!(
                "an event of {:?} has the incarnation {}, expected {}: it is dropped",
                envelope.method, envelope.incarnation, self.session
            );
            return self.stray("envelope", text);
        }
        let body = &frame.body;
        let unreadable = match envelope.method {
            Method::Hello => {
                return self.stray("hello", "a second Hello: the first one counts".to_owned());
            }
            Method::Changed => match decode::<Changed>(body) {
                Ok(changed) => {
                    self.changed = Some(changed.version);
                    None
                }
                Err(_) => Some(explain::<Changed>(body)),
            },
            Method::Notify => unreadable::<Notify>(body),
            Method::Busy => unreadable::<Busy>(body),
            Method::Progress => unreadable::<Progress>(body),
            Method::JobReport => match decode::<JobReport>(body) {
                Ok(report) => {
                    self.job_reports.push(report);
                    None
                }
                Err(_) => Some(explain::<JobReport>(body)),
            },
            _ => None,
        };
        if let Some(why) = unreadable {
            self.stray(
                "unreadable",
                format!("{:?} can't be read and is dropped: {why}", envelope.method),
            );
        }
    }

    /// Takes what the app sends unasked, until it is silent for so long.
    pub fn drain(&mut self, silence: Duration) {
        while let Ok(Some(frame)) = self.frame(Instant::now() + silence) {
            match frame.envelope.kind {
                Kind::Reply | Kind::Fault => self.early.push(frame),
                _ => self.take_unasked(&frame),
            }
        }
    }

    /// Returns the next frame; none when the time is over.
    fn frame(&mut self, deadline: Instant) -> Result<Option<Frame>, Option<String>> {
        let mut chunk = [0; 64 * 1024];
        loop {
            match self.decoder.next_frame() {
                Ok(Some(frame)) => return Ok(Some(frame)),
                Ok(None) => {}
                Err(FrameError::Envelope(EnvelopeError::Method { id, .. })) => {
                    self.unknown.push(id);
                    continue;
                }
                Err(FrameError::Envelope(error)) => return Err(Some(no_frame(&error.to_string()))),
                Err(error) => {
                    let first: Vec<u8> = self.decoder.held().iter().copied().take(32).collect();
                    let text = String::from_utf8_lossy(&first).into_owned();
                    return Err(Some(no_frame(&format!("{error} ({text:?} …)"))));
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let _ = self.stream.set_read_timeout(Some(left));
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(None),
                Ok(length) => self.decoder.extend(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Ok(None);
                }
                Err(_) => return Err(None),
            }
        }
    }
}

fn unreadable<T: DeserializeOwned>(body: &[u8]) -> Option<String> {
    decode::<T>(body).err().map(|_| explain::<T>(body))
}

fn no_frame(why: &str) -> String {
    format!(
        "it sent bytes that are no frames: {why}; with transport = \"stdio\" nothing else may be printed to standard output"
    )
}
