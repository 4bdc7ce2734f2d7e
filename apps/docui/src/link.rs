//! The connection to the daemon, from the app's side: blocking reads, gathered writes.

use std::io::{self, IoSlice, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::frame::Cut;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Bytes of one read, at first and when little comes.
const READ_MIN: usize = 16 * 1024;
/// Bytes of one read when much comes: a body of 64 KiB and its frame around it.
const READ_MAX: usize = 65 * 1024;
/// Longest body that is copied out of what was read; a longer one takes that along.
const COPIED_MAX: usize = 8 * 1024;
/// Longest answer that is gathered with others into one write.
const GATHERED_MAX: usize = 16 * 1024;
/// Answers that don't wait for further ones: they are on their way while those are made.
const TOGETHER: usize = 32;
/// How long answers are gathered while there are more requests to take.
const GATHERED_FOR: Duration = Duration::from_micros(200);

/// A connection. While nothing comes it holds one small buffer.
pub(crate) struct Link {
    stream: UnixStream,
    input: Vec<u8>,
    /// Where in `input` the next frame begins.
    start: usize,
    /// How much the next read may bring.
    ahead: usize,
    output: Vec<u8>,
    /// How many answers that is.
    gathered: usize,
    gathering: Option<Instant>,
    /// This process's life, as the last frame named it.
    life: Incarnation,
}

impl Link {
    pub(crate) fn new(stream: UnixStream) -> Self {
        let (input, output) = (Vec::new(), Vec::new());
        let life = Incarnation::default();
        Self {
            stream,
            input,
            start: 0,
            ahead: READ_MIN,
            output,
            gathered: 0,
            gathering: None,
            life,
        }
    }

    /// The next frame; none when the other side has closed. What was gathered is written before this
    /// waits.
    pub(crate) fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            match self.take_frame()? {
                Some(frame) => return Ok(Some(frame)),
                None if !self.read()? => return Ok(None),
                None => {}
            }
        }
    }

    /// Writes a whole frame.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > GATHERED_MAX {
            return self.write(bytes, &[]);
        }
        self.output.extend_from_slice(bytes);
        self.flush()
    }

    /// Answers a request with such a body, together with the next answers when those come at once.
    pub(crate) fn answer(&mut self, request: &Envelope, body: &[u8]) -> io::Result<()> {
        let envelope = request.answer(Kind::Reply);
        let head = Frame::head(&envelope, body.len()).map_err(io::Error::other)?;
        if body.len() > GATHERED_MAX {
            return self.write(&head, body);
        }
        self.output.extend_from_slice(&head);
        self.output.extend_from_slice(body);
        self.gathered += 1;
        if self.gathered >= TOGETHER || self.output.len() > READ_MAX {
            return self.flush();
        }
        // What takes long doesn't keep the answers before it waiting.
        if self.start < self.input.len() {
            let began = *self.gathering.get_or_insert_with(Instant::now);
            if began.elapsed() > GATHERED_FOR {
                return self.flush();
            }
        }
        Ok(())
    }

    /// Refuses a request.
    pub(crate) fn refuse(&mut self, request: &Envelope, fault: &Fault) -> io::Result<()> {
        let bytes = Frame::fault(request, fault).map_err(io::Error::other)?;
        self.send(&bytes)
    }

    /// Writes what was gathered.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.gathering = None;
        self.gathered = 0;
        if self.output.is_empty() {
            return Ok(());
        }
        let written = self.stream.write_all(&self.output);
        self.output.clear();
        // An idle app keeps no large buffer.
        self.output.shrink_to(READ_MIN);
        written
    }

    fn take_frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let waiting = &self.input[self.start..];
            let Some(cut) = Cut::first(waiting).map_err(io::Error::other)? else { return Ok(None) };
            let end = self.start + cut.length;
            let envelope = match cut.envelope {
                Ok(envelope) => {
                    self.life = envelope.incarnation;
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
            let body = if length <= COPIED_MAX || end < self.input.len() {
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

    /// A later minor version of the daemon may ask for more than this one knows.
    fn refuse_unknown(&mut self, number: u64, request: Option<u64>) -> io::Result<()> {
        let Some(id) = request else { return Ok(()) };
        let request = Envelope::request(Method::Ping, id, self.life);
        self.refuse(&request, &Fault::refused(format!("unknown method {number}")))
    }

    /// Reads once; false at the end.
    ///
    /// It waits by `poll`: a process that waits in `read` is woken each time the daemon takes what it was sent,
    /// too, for there is room to write then, and finds nothing to read (Linux: `unix_write_space`).
    fn read(&mut self) -> io::Result<bool> {
        self.flush()?;
        self.make_room();
        loop {
            match poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            match rustix::io::read(&self.stream, spare_capacity(&mut self.input)) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    self.ahead = if length >= self.ahead { READ_MAX } else { self.ahead };
                    if length < READ_MIN / 2 {
                        self.ahead = READ_MIN;
                    }
                    return Ok(true);
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
            if self.input.capacity() < self.ahead || self.input.capacity() > 2 * self.ahead {
                self.input = Vec::with_capacity(self.ahead);
            }
            return;
        }
        self.input.drain(..std::mem::take(&mut self.start));
        let missing = match Cut::missing(&self.input) {
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
        self.gathering = None;
        self.gathered = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::FrameDecoder;
    use std::io::Read;

    fn request(id: u64, body: &[u8]) -> Vec<u8> {
        let envelope = Envelope::request(Method::Exchange, id, Incarnation(1));
        [&Frame::head(&envelope, body.len()).unwrap()[..], body].concat()
    }

    #[test]
    fn frames_of_any_length_come_and_go_whole_and_in_order() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let sizes = [0, 1, 200_000, 64, 65_536, 65_536, 8192, 8193, 900_000, 3, 0, 16_384, 16_385];
        let bodies: Vec<Vec<u8>> =
            sizes.iter().map(|size| (0..*size).map(|at| (at % 251) as u8).collect()).collect();
        let sent: Vec<u8> =
            bodies.iter().enumerate().flat_map(|(id, body)| request(id as u64, body)).collect();
        let app = std::thread::spawn(move || {
            let mut link = Link::new(ours);
            while let Some(frame) = link.next_frame().unwrap() {
                link.answer(&frame.envelope, &frame.body).unwrap();
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
    fn a_method_of_a_later_version_is_refused_and_the_connection_goes_on() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&[0, 0, 0, 7, 0x95, 0, 99, 5, 1, 0, 0x80]).unwrap();
        theirs.write_all(&request(6, b"x")).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let mut link = Link::new(ours);
        assert_eq!(link.next_frame().unwrap().unwrap().envelope.id, 6);
        assert!(link.next_frame().unwrap().is_none());
        drop(link);
        let mut answer = Vec::new();
        theirs.read_to_end(&mut answer).unwrap();
        let cut = Cut::first(&answer).unwrap().unwrap();
        assert_eq!((cut.envelope.unwrap().kind, cut.envelope.unwrap().id), (Kind::Fault, 5));
    }
}
