//! One stream of frames: bytes in, bytes out, and never waiting for either.

use std::io::{self, IoSlice, Read as _};
use std::os::unix::net::UnixStream;
use std::task::{Poll, Waker};

use bytes::Bytes;
use pipemux_proto::frame::Cut;
use pipemux_proto::output::{GATHER, GATHERED_MAX, Output, Spares};
use pipemux_proto::{Frame, FrameDecoder, FrameError};
use pipemux_socket::Socket;

use crate::body::Body;
use crate::incoming::{Incoming, incoming};
use crate::large::{Begun, Larges};
use crate::limits::{FIRST_READ, HELD, HELD_MIN, READ_DIRECT, SHARED, WRITE_TURN};

/// One connection. An idle one holds no buffer.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    waker: Waker,
    /// A large frame that hasn't come whole; the decoder holds nothing then.
    begun: Option<Box<Begun>>,
    /// Holds any other that hasn't.
    decoder: FrameDecoder,
    /// True when the last frame was longer than the shared buffer: so may be the next.
    large: bool,
    output: Output,
    /// False before it may be read, and for ever once it ended or made no sense.
    pub reading: bool,
    /// False once writing failed.
    pub writing: bool,
    /// True while it is on the driver's list of those to be written to.
    pub listed: bool,
    /// True when it is to be closed once everything is written.
    pub closing: bool,
}

/// What reading gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// So many bytes, in the shared buffer; there may be more. They go on with [`Connection::keep`].
    Shared(usize),
    /// So many bytes of a frame that had begun; there may be more.
    Held(usize),
    /// Nothing now; the waker tells when.
    Nothing,
    /// The end.
    End,
}

/// What writing gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Everything.
    All,
    /// Not everything; the waker tells when to go on.
    Some,
    /// Its share of this turn; the waker has told already.
    Share,
    /// Nobody reads it any more.
    Failed,
}

impl Connection {
    /// A connection whose readiness wakes `waker`, over a stream that doesn't block.
    ///
    /// # Errors
    /// The socket can't be watched.
    pub fn over(stream: UnixStream, waker: Waker, reading: bool) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(stream)?,
            waker,
            begun: None,
            decoder: FrameDecoder::default(),
            large: false,
            output: Output::default(),
            reading,
            writing: true,
            listed: false,
            closing: false,
        })
    }

    /// Reads once: into a buffer that all connections share or, when much of a frame is still to come, to
    /// where that frame stays, at most so many bytes of it.
    pub fn read(&mut self, shared: &mut [u8], larges: &mut Larges, most: usize) -> Read {
        let read = match &mut self.begun {
            Some(begun) => self.socket.read(&self.waker, begun.room(most)),
            None => {
                // Of a large frame little is copied from here.
                let first = if std::mem::take(&mut self.large) {
                    FIRST_READ.min(shared.len())
                } else {
                    shared.len()
                };
                self.socket.read(&self.waker, &mut shared[..first])
            }
        };
        match read {
            Poll::Pending => Read::Nothing,
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Read::Held(0),
            Poll::Ready(Err(_) | Ok(0)) => Read::End,
            Poll::Ready(Ok(length)) => match &mut self.begun {
                Some(begun) => {
                    begun.filled(length);
                    Read::Held(length)
                }
                None if self.decoder.is_empty() => Read::Shared(length),
                None => {
                    self.keep(&shared[..length], larges);
                    Read::Held(length)
                }
            },
        }
    }

    /// Reads what is there, whether or not the runtime has heard of it yet; 0: nothing, or the end. For
    /// the last words of a process whose end is known already.
    pub fn read_now(&mut self, shared: &mut [u8]) -> usize {
        loop {
            match self.socket.stream().read(shared) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.unwrap_or_default(),
            }
        }
    }

    /// Keeps the beginning of a frame until its rest comes.
    pub fn keep(&mut self, mut bytes: &[u8], larges: &mut Larges) {
        if let Some(begun) = &mut self.begun {
            bytes = begun.take(bytes);
        } else if self.decoder.is_empty() && Cut::missing(bytes) >= READ_DIRECT {
            self.begin(larges.begin(bytes));
            return;
        }
        if !bytes.is_empty() {
            self.decoder.extend(bytes);
        }
    }

    /// The next thing among the bytes that are held; none when more are needed.
    pub fn next_incoming(&mut self, larges: &mut Larges) -> Option<Incoming> {
        if let Some(begun) = self.begun.take_if(|begun| begun.is_whole()) {
            return Some(match Frame::from_payload(begun.into_payload()) {
                Ok(frame) => Incoming::Frame(frame),
                Err(error) => incoming(error),
            });
        }
        match self.decoder.next_frame() {
            Ok(None) => {
                if self.decoder.missing() >= READ_DIRECT {
                    self.begin(larges.begin(self.decoder.held()));
                    self.decoder = FrameDecoder::default();
                }
                None
            }
            Ok(Some(frame)) => Some(Incoming::Frame(frame)),
            Err(FrameError::Envelope(error)) => Some(incoming(error)),
            Err(error) => Some(Incoming::Broken(error.to_string())),
        }
    }

    /// Queues bytes; returns how many wait now.
    pub fn push(&mut self, bytes: Bytes, spares: &mut Spares) -> usize {
        self.output.push(bytes, spares);
        self.output.queued()
    }

    /// Queues a frame whose body came from elsewhere, and is only copied when it is small or has to wait.
    /// Of a longer one as much as fits the turn goes out at once.
    pub fn forward(
        &mut self,
        head: &[u8],
        body: Body<'_>,
        spares: &mut Spares,
        turn: usize,
    ) -> Written {
        let bytes = body.bytes();
        if bytes.len() <= GATHERED_MAX {
            self.output.copy(head, spares);
            self.output.copy(bytes, spares);
            return Written::Some;
        }
        if bytes.len() > HELD_MIN {
            self.socket.hold((turn > WRITE_TURN).then_some(HELD));
        }
        let before = self.output.queued();
        let mut slices = [IoSlice::new(&[]); GATHER];
        let mut count = self.output.slices(&mut slices, usize::MAX);
        // Behind a queue that one write can't take there is nothing to gain.
        let at_once = count + 2 <= GATHER && before <= turn;
        // The others wait for no more than a turn's share.
        let share = bytes.len().min(turn);
        let mut length = 0;
        if at_once {
            slices[count] = IoSlice::new(head);
            slices[count + 1] = IoSlice::new(&bytes[..share]);
            count += 2;
            length = match self.socket.write(&self.waker, &slices[..count]) {
                Poll::Ready(Ok(0)) => return Written::Failed,
                Poll::Ready(Ok(length)) => length,
                Poll::Ready(Err(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    return Written::Failed;
                }
                Poll::Ready(Err(_)) | Poll::Pending => 0,
            };
        }
        let own = length.saturating_sub(before);
        if length > 0 && before > 0 {
            self.output.advance(length.min(before), spares);
        }
        if own < head.len() {
            self.output.copy(&head[own..], spares);
        }
        let gone = own.saturating_sub(head.len());
        if gone == bytes.len() {
            return Written::All;
        }
        self.output.push(body.rest(gone), spares);
        if gone > 0 && gone == share {
            self.waker.wake_by_ref();
            return Written::Share;
        }
        Written::Some
    }

    /// True when something waits to be written.
    pub fn has_output(&self) -> bool {
        self.output.queued() > 0
    }

    /// True while a large frame is on its way, in or out.
    pub fn is_bulky(&self) -> bool {
        self.begun.is_some() || self.output.queued() > GATHERED_MAX
    }

    /// How many bytes wait to be written.
    pub fn queued(&self) -> usize {
        self.output.queued()
    }

    /// Writes what is queued, as much as fits a turn.
    pub fn flush(&mut self, spares: &mut Spares, turn: usize) -> Written {
        let mut left = turn;
        while self.has_output() {
            if left == 0 {
                // The others first; this one is served again right after them.
                self.waker.wake_by_ref();
                return Written::Some;
            }
            match self.write_once(left) {
                Poll::Pending => return Written::Some,
                Poll::Ready(Ok(0)) => return Written::Failed,
                Poll::Ready(Ok(length)) => {
                    self.output.advance(length, spares);
                    left = left.saturating_sub(length);
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(_)) => return Written::Failed,
            }
        }
        self.socket.is_flushed();
        Written::All
    }

    /// Drops what waits to be written.
    pub fn clear(&mut self, spares: &mut Spares) {
        self.output.clear(spares);
    }

    /// Has the driver serve this connection again.
    pub fn wake(&self) {
        self.waker.wake_by_ref();
    }

    fn begin(&mut self, begun: Begun) {
        self.large = begun.length() > SHARED;
        self.begun = Some(begun.into());
    }

    fn write_once(&mut self, room: usize) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); GATHER];
        let count = self.output.slices(&mut slices, room);
        self.socket.write(&self.waker, &slices[..count])
    }
}

#[cfg(test)]
mod tests;
