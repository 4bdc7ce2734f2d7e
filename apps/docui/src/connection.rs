//! The connection to the daemon: blocking reads, batched writes.

use std::io::{self, IoSlice, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use bytes::Bytes;
use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::frame::FrameSlice;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::limits::{
    BATCH_ANSWERS_MAX, BATCH_TIME_MAX, BATCHED_BODY_MAX, COPIED_BODY_MAX, READ_MAX, READ_MIN,
};

/// What ends a wait besides a frame.
pub(crate) struct Wakes<'a> {
    /// Readable once another thread asked for something.
    pub handles: BorrowedFd<'a>,
    /// Readable once a watched path changed, if any is watched.
    pub watched: Option<BorrowedFd<'a>>,
    /// When something is due.
    pub deadline: Option<Instant>,
}

/// What comes next on a connection.
pub(crate) enum Next {
    /// A frame.
    Frame(Frame),
    /// Something is due: another thread asked for something, a watched path changed, or the
    /// deadline has come.
    Due,
    /// The other side has closed.
    Closed,
}

/// What a wait for the stream ended with.
enum Read {
    Bytes,
    End,
    Due,
}

/// A connection. While it is idle it holds one small buffer.
pub(crate) struct Connection {
    stream: UnixStream,
    input: Vec<u8>,
    /// Where in `input` the next frame begins.
    start: usize,
    /// How many bytes the next read may bring.
    read_size: usize,
    output: Vec<u8>,
    /// How many answers are in `output`.
    batched: usize,
    /// When the first answer of the batch was made.
    batch_began: Option<Instant>,
    /// The incarnation in the last frame.
    incarnation: Incarnation,
}

impl Connection {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            input: Vec::new(),
            start: 0,
            read_size: READ_MIN,
            output: Vec::new(),
            batched: 0,
            batch_began: None,
            incarnation: Incarnation::default(),
        }
    }

    /// Returns what comes next: a frame, the end of the connection, or something else that is due.
    /// Writes batched answers before it waits.
    pub(crate) fn next(&mut self, wakes: &Wakes<'_>) -> io::Result<Next> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(Next::Frame(frame));
            }
            match self.read(wakes)? {
                Read::Bytes => {}
                Read::End => return Ok(Next::Closed),
                Read::Due => return Ok(Next::Due),
            }
        }
    }

    /// Writes a whole frame.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > BATCHED_BODY_MAX {
            return self.write(bytes, &[]);
        }
        self.output.extend_from_slice(bytes);
        self.flush()
    }

    /// Answers a request with this body. If more requests have already arrived, the answer may be
    /// written together with theirs.
    pub(crate) fn answer(&mut self, request: &Envelope, body: &[u8]) -> io::Result<()> {
        let envelope = request.answer(Kind::Reply);
        let head = Frame::head(&envelope, body.len()).map_err(io::Error::other)?;
        if body.len() > BATCHED_BODY_MAX {
            return self.write(&head, body);
        }
        self.output.extend_from_slice(&head);
        self.output.extend_from_slice(body);
        self.batched += 1;
        if self.batched >= BATCH_ANSWERS_MAX || self.output.len() > READ_MAX {
            return self.flush();
        }
        // A request that takes long must not delay the answers before it.
        if self.start < self.input.len() {
            let began = *self.batch_began.get_or_insert_with(Instant::now);
            if began.elapsed() > BATCH_TIME_MAX {
                return self.flush();
            }
        }
        Ok(())
    }

    /// Answers a request with a fault.
    pub(crate) fn refuse(&mut self, request: &Envelope, fault: &Fault) -> io::Result<()> {
        let bytes = Frame::fault(request, fault).map_err(io::Error::other)?;
        self.send(&bytes)
    }

    /// Writes the batched answers.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.batch_began = None;
        self.batched = 0;
        if self.output.is_empty() {
            return Ok(());
        }
        let written = self.stream.write_all(&self.output);
        self.output.clear();
        // An idle app should not hold a large buffer.
        self.output.shrink_to(READ_MIN);
        written
    }

    fn take_frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let unread = &self.input[self.start..];
            let Some(cut) = FrameSlice::first(unread).map_err(io::Error::other)? else {
                return Ok(None);
            };
            let end = self.start + cut.length;
            let envelope = match cut.envelope {
                Ok(envelope) => {
                    self.incarnation = envelope.incarnation;
                    envelope
                }
                Err(EnvelopeError::Method { number, id, request }) => {
                    self.start = end;
                    self.refuse_unknown(number, request.then_some(id))?;
                    continue;
                }
                Err(error) => return Err(io::Error::other(error)),
            };
            let length = cut.body.len();
            let body = if length <= COPIED_BODY_MAX || end < self.input.len() {
                let body = Bytes::copy_from_slice(cut.body);
                self.start = end;
                body
            } else {
                self.start = 0;
                Bytes::from(std::mem::take(&mut self.input)).slice(end - length..)
            };
            return Ok(Some(Frame { envelope, body }));
        }
    }

    /// Refuses a method that this version doesn't know: a later minor version of the daemon may use
    /// it.
    fn refuse_unknown(&mut self, number: u64, request: Option<u64>) -> io::Result<()> {
        let Some(id) = request else { return Ok(()) };
        let request = Envelope::request(Method::Ping, id, self.incarnation);
        self.refuse(&request, &Fault::refused(format!("unknown method {number}")))
    }

    /// Waits for the stream or a wake, and reads once.
    ///
    /// Waits with `poll`, because on Linux a process that blocks in `read` on a Unix socket also
    /// wakes up whenever the peer has read something and there is room to write again
    /// (`unix_write_space`).
    fn read(&mut self, wakes: &Wakes<'_>) -> io::Result<Read> {
        self.flush()?;
        self.make_room();
        loop {
            let left = wakes.deadline.map(|at| at.saturating_duration_since(Instant::now()));
            // A deadline in a fraction of a millisecond must not be waited for in a busy loop.
            let left = left.map(|left| left.as_millis().saturating_add(1).min(60_000));
            let timeout = left.map(|ms| Timespec {
                tv_sec: (ms / 1000) as i64,
                tv_nsec: (ms % 1000 * 1_000_000) as _,
            });
            let watched = wakes.watched.as_ref().unwrap_or(&wakes.handles);
            let mut events = [
                PollFd::new(&self.stream, PollFlags::IN),
                PollFd::new(&wakes.handles, PollFlags::IN),
                PollFd::new(watched, PollFlags::IN),
            ];
            match poll(&mut events, timeout.as_ref()) {
                Ok(0) => return Ok(Read::Due),
                Ok(_) if events[1..].iter().any(|event| !event.revents().is_empty()) => {
                    return Ok(Read::Due);
                }
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            match rustix::io::read(&self.stream, spare_capacity(&mut self.input)) {
                Ok(0) => return Ok(Read::End),
                Ok(length) => {
                    self.read_size =
                        if length >= self.read_size { READ_MAX } else { self.read_size };
                    if length < READ_MIN / 2 {
                        self.read_size = READ_MIN;
                    }
                    return Ok(Read::Bytes);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start == self.input.len() {
            self.start = 0;
            self.input.clear();
            if self.input.capacity() < self.read_size || self.input.capacity() > 2 * self.read_size
            {
                self.input = Vec::with_capacity(self.read_size);
            }
            return;
        }
        self.input.drain(..std::mem::take(&mut self.start));
        let missing = match FrameSlice::missing(&self.input) {
            0 => READ_MIN,
            missing => missing,
        };
        self.input.reserve_exact(missing);
    }

    fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let parts = [&self.output[..], head, body];
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut done = 0;
        while done < total {
            let mut skip = done;
            let slices = parts.map(|part| {
                let skipped = skip.min(part.len());
                skip -= skipped;
                IoSlice::new(&part[skipped..])
            });
            match self.stream.write_vectored(&slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => done += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.batch_began = None;
        self.batched = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::HandleReceiver;
    use pipemux_proto::FrameDecoder;
    use std::io::Read as _;
    use std::os::fd::AsFd;

    fn wakes(handles: &HandleReceiver) -> Wakes<'_> {
        Wakes { handles: handles.as_fd(), watched: None, deadline: None }
    }

    fn request(id: u64, body: &[u8]) -> Vec<u8> {
        let envelope = Envelope::request(Method::Exchange, id, Incarnation(1));
        [&Frame::head(&envelope, body.len()).unwrap()[..], body].concat()
    }

    #[test]
    fn frames_of_any_length_are_echoed_complete_and_in_order() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let sizes = [0, 1, 200_000, 64, 65_536, 65_536, 8192, 8193, 900_000, 3, 0, 16_384, 16_385];
        let bodies: Vec<Vec<u8>> =
            sizes.iter().map(|size| (0..*size).map(|at| (at % 251) as u8).collect()).collect();
        let sent: Vec<u8> =
            bodies.iter().enumerate().flat_map(|(id, body)| request(id as u64, body)).collect();
        let app = std::thread::spawn(move || {
            let mut connection = Connection::new(ours);
            let handles = HandleReceiver::new().unwrap();
            while let Next::Frame(frame) = connection.next(&wakes(&handles)).unwrap() {
                connection.answer(&frame.envelope, &frame.body).unwrap();
            }
        });
        let mut writer = theirs.try_clone().unwrap();
        let writing = std::thread::spawn(move || writer.write_all(&sent).unwrap());
        let mut decoder = FrameDecoder::default();
        let mut chunk = vec![0; 30_000];
        for (id, body) in bodies.iter().enumerate() {
            let frame = loop {
                if let Some(frame) = decoder.next_frame().unwrap() {
                    break frame;
                }
                let length = theirs.read(&mut chunk).unwrap();
                assert!(length > 0, "the app ended");
                decoder.extend(&chunk[..length]);
            };
            assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Reply, id as u64));
            assert!(frame.body == body[..], "body {id}");
        }
        writing.join().unwrap();
        theirs.shutdown(std::net::Shutdown::Both).unwrap();
        app.join().unwrap();
    }

    #[test]
    fn unknown_method_is_refused_and_the_connection_goes_on() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&[0, 0, 0, 7, 0x95, 0, 99, 5, 1, 0, 0x80]).unwrap();
        theirs.write_all(&request(6, b"x")).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let mut connection = Connection::new(ours);
        let handles = HandleReceiver::new().unwrap();
        let Next::Frame(frame) = connection.next(&wakes(&handles)).unwrap() else {
            panic!("no frame")
        };
        assert_eq!(frame.envelope.id, 6);
        assert!(matches!(connection.next(&wakes(&handles)).unwrap(), Next::Closed));
        drop(connection);
        let mut answer = Vec::new();
        theirs.read_to_end(&mut answer).unwrap();
        let cut = FrameSlice::first(&answer).unwrap().unwrap();
        assert_eq!((cut.envelope.unwrap().kind, cut.envelope.unwrap().id), (Kind::Fault, 5));
    }
}
