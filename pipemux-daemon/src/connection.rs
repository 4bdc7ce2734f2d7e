//! One connection: a stream of frames in both directions. It never waits for either.

use std::io::{self, IoSlice, Read as _};
use std::os::unix::net::UnixStream;
use std::task::{Poll, Waker};

use bytes::Bytes;
use pipemux_proto::frame::FrameSlice;
use pipemux_proto::{Frame, FrameDecoder, FrameError};
use pipemux_socket::Socket;
use pipemux_socket::{COPIED_FRAME_MAX, SLICES_PER_WRITE, SpareBuffers, WriteQueue};

use crate::buffer_pool::{BufferPool, PartialFrame};
use crate::exchange_body::ExchangeBody;
use crate::inbound::{Inbound, undecodable};
use crate::limits::{
    DIRECT_READ_MIN, LARGE_FIRST_READ, SCRATCH_BUFFER, SEND_BUFFER, SEND_BUFFER_BODY_MIN,
    WRITE_TURN,
};

/// A connection. It holds no buffer while it is idle.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    waker: Waker,
    /// A large frame that has not arrived completely; the decoder is empty then.
    partial: Option<Box<PartialFrame>>,
    /// Holds any other frame that has not arrived completely.
    decoder: FrameDecoder,
    /// True when the last frame was longer than the scratch buffer, so that the next may be, too.
    expect_large: bool,
    output: WriteQueue,
    /// False before reading is allowed, and once the stream has ended or was invalid.
    pub can_read: bool,
    /// False once writing failed.
    pub can_write: bool,
    /// True while the driver has scheduled a write.
    pub write_scheduled: bool,
    /// True when the connection is to be closed once everything is written.
    pub close_when_written: bool,
    /// True once the peer sends nothing more, and still reads.
    input_ended: bool,
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutcome {
    /// So many bytes in the scratch buffer; there may be more. Incomplete frames go to
    /// [`Connection::buffer_partial`].
    InScratch(usize),
    /// So many bytes of a frame whose beginning was buffered; there may be more.
    Buffered(usize),
    /// Nothing yet; the waker will be woken later.
    Pending,
    /// The stream has ended.
    Closed,
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Everything is written.
    Complete,
    /// Something is left; the waker is woken when writing can continue.
    Incomplete,
    /// The connection's share of this turn is written; the waker has been woken.
    TurnUsed,
    /// The peer no longer reads.
    Failed,
}

impl Connection {
    /// Returns the stream itself, to ask who is at its other end.
    pub fn stream(&self) -> &UnixStream {
        self.socket.stream()
    }

    /// Creates a connection over a non-blocking stream, whose readiness wakes `waker`.
    ///
    /// # Errors
    /// The socket can't be watched.
    pub fn new(stream: UnixStream, waker: Waker, can_read: bool) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(stream)?,
            waker,
            partial: None,
            decoder: FrameDecoder::default(),
            expect_large: false,
            output: WriteQueue::default(),
            can_read,
            can_write: true,
            write_scheduled: false,
            close_when_written: false,
            input_ended: false,
        })
    }

    /// Reads once: into the scratch buffer or, when much of a frame is missing, at most `max` bytes
    /// to the place where that frame stays.
    pub fn read(&mut self, scratch: &mut [u8], pool: &mut BufferPool, max: usize) -> ReadOutcome {
        let read = match &mut self.partial {
            Some(partial) => self.socket.read(&self.waker, partial.room(max)),
            None => {
                // Little of a large frame should have to be copied out of the scratch buffer.
                let first = if std::mem::take(&mut self.expect_large) {
                    LARGE_FIRST_READ.min(scratch.len())
                } else {
                    scratch.len()
                };
                self.socket.read(&self.waker, &mut scratch[..first])
            }
        };
        match read {
            Poll::Pending => ReadOutcome::Pending,
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                ReadOutcome::Buffered(0)
            }
            Poll::Ready(Err(_) | Ok(0)) => ReadOutcome::Closed,
            Poll::Ready(Ok(length)) => match &mut self.partial {
                Some(partial) => {
                    partial.filled(length);
                    ReadOutcome::Buffered(length)
                }
                None if self.decoder.is_empty() => ReadOutcome::InScratch(length),
                None => {
                    self.buffer_partial(&scratch[..length], pool);
                    ReadOutcome::Buffered(length)
                }
            },
        }
    }

    /// Takes note that the peer has sent everything. Returns false when it is gone altogether;
    /// otherwise the waker is woken when it goes.
    pub fn end_input(&mut self) -> bool {
        self.can_read = false;
        self.input_ended = !self.socket.is_hung_up(&self.waker);
        self.input_ended
    }

    /// True once a peer that had sent everything is gone.
    pub fn is_abandoned(&self) -> bool {
        self.input_ended && self.socket.is_hung_up(&self.waker)
    }

    /// Reads what is there, whether or not the runtime knows about it; returns 0 for nothing and
    /// for the end. Meant for the last bytes of a process whose exit is known.
    pub fn read_unpolled(&mut self, scratch: &mut [u8]) -> usize {
        loop {
            match self.socket.stream().read(scratch) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.unwrap_or_default(),
            }
        }
    }

    /// Keeps the beginning of a frame until the rest arrives.
    pub fn buffer_partial(&mut self, mut bytes: &[u8], pool: &mut BufferPool) {
        if let Some(partial) = &mut self.partial {
            bytes = partial.take(bytes);
        } else if self.decoder.is_empty() && FrameSlice::missing(bytes) >= DIRECT_READ_MIN {
            self.set_partial(pool.start_frame(bytes));
            return;
        }
        if !bytes.is_empty() {
            self.decoder.extend(bytes);
        }
    }

    /// Returns the next frame, or what stands in its place, from the buffered bytes; `None` when
    /// more are needed.
    pub fn next_inbound(&mut self, pool: &mut BufferPool) -> Option<Inbound> {
        if let Some(partial) = self.partial.take_if(|partial| partial.is_whole()) {
            return Some(match Frame::from_payload(partial.into_payload()) {
                Ok(frame) => Inbound::Frame(frame),
                Err(error) => undecodable(error),
            });
        }
        match self.decoder.next_frame() {
            Ok(None) => {
                if self.decoder.missing() >= DIRECT_READ_MIN {
                    self.set_partial(pool.start_frame(self.decoder.held()));
                    self.decoder = FrameDecoder::default();
                }
                None
            }
            Ok(Some(frame)) => Some(Inbound::Frame(frame)),
            Err(FrameError::Envelope(error)) => Some(undecodable(error)),
            Err(error) => Some(Inbound::Invalid(error.to_string())),
        }
    }

    /// Queues bytes; returns how many bytes are queued now.
    pub fn push(&mut self, bytes: Bytes, spares: &mut SpareBuffers) -> usize {
        self.output.push(bytes, spares);
        self.output.queued()
    }

    /// Queues a frame whose body was received from another peer. The body is copied only if it is
    /// small or has to wait; of a longer one as much as fits the turn is written at once.
    pub fn forward(
        &mut self,
        head: &[u8],
        body: ExchangeBody<'_>,
        spares: &mut SpareBuffers,
        turn: usize,
    ) -> WriteOutcome {
        let bytes = body.bytes();
        if bytes.len() <= COPIED_FRAME_MAX {
            self.output.copy(head, spares);
            self.output.copy(bytes, spares);
            return WriteOutcome::Incomplete;
        }
        if bytes.len() > SEND_BUFFER_BODY_MIN {
            self.socket.set_send_buffer((turn > WRITE_TURN).then_some(SEND_BUFFER));
        }
        let before = self.output.queued();
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        let mut count = self.output.slices(&mut slices, usize::MAX);
        // Writing at once gains nothing behind a queue that a single write can't empty.
        let at_once = count + 2 <= SLICES_PER_WRITE && before <= turn;
        // Other connections wait for no more than the share of one turn.
        let share = bytes.len().min(turn);
        let mut length = 0;
        if at_once {
            slices[count] = IoSlice::new(head);
            slices[count + 1] = IoSlice::new(&bytes[..share]);
            count += 2;
            length = match self.socket.write(&self.waker, &slices[..count]) {
                Poll::Ready(Ok(0)) => return WriteOutcome::Failed,
                Poll::Ready(Ok(length)) => length,
                Poll::Ready(Err(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    return WriteOutcome::Failed;
                }
                Poll::Ready(Err(_)) | Poll::Pending => 0,
            };
        }
        let written = length.saturating_sub(before);
        if length > 0 && before > 0 {
            self.output.advance(length.min(before), spares);
        }
        if written < head.len() {
            self.output.copy(&head[written..], spares);
        }
        let body_written = written.saturating_sub(head.len());
        if body_written == bytes.len() {
            return WriteOutcome::Complete;
        }
        self.output.push(body.into_rest(body_written), spares);
        if body_written > 0 && body_written == share {
            self.waker.wake_by_ref();
            return WriteOutcome::TurnUsed;
        }
        WriteOutcome::Incomplete
    }

    /// True when bytes are queued.
    pub fn has_output(&self) -> bool {
        self.output.queued() > 0
    }

    /// True while a large frame is being received or sent.
    pub fn is_bulky(&self) -> bool {
        self.partial.is_some() || self.output.queued() > COPIED_FRAME_MAX
    }

    /// Returns how many bytes are queued.
    pub fn queued(&self) -> usize {
        self.output.queued()
    }

    /// Writes the queued bytes, as many as fit the turn.
    pub fn flush(&mut self, spares: &mut SpareBuffers, turn: usize) -> WriteOutcome {
        let mut left = turn;
        while self.has_output() {
            if left == 0 {
                // Other connections come first; this one is served again right after them.
                self.waker.wake_by_ref();
                return WriteOutcome::Incomplete;
            }
            match self.write_once(left) {
                Poll::Pending => return WriteOutcome::Incomplete,
                Poll::Ready(Ok(0)) => return WriteOutcome::Failed,
                Poll::Ready(Ok(length)) => {
                    self.output.advance(length, spares);
                    left = left.saturating_sub(length);
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(_)) => return WriteOutcome::Failed,
            }
        }
        self.socket.stop_watching_for_room();
        WriteOutcome::Complete
    }

    /// Drops the queued bytes.
    pub fn clear(&mut self, spares: &mut SpareBuffers) {
        self.output.clear(spares);
    }

    /// Has the driver serve this connection again.
    pub fn wake(&self) {
        self.waker.wake_by_ref();
    }

    fn set_partial(&mut self, partial: PartialFrame) {
        self.expect_large = partial.length() > SCRATCH_BUFFER;
        self.partial = Some(partial.into());
    }

    fn write_once(&mut self, room: usize) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        let count = self.output.slices(&mut slices, room);
        self.socket.write(&self.waker, &slices[..count])
    }
}

#[cfg(test)]
mod tests;
