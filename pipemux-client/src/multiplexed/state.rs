//! What the callers and the IO task of a shared connection both use, behind one lock.

use std::io::{self, IoSlice};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use bytes::Bytes;
use pipemux_socket::Socket;
use pipemux_socket::{SLICES_PER_WRITE, SpareBuffers, WriteQueue};
use tokio::time::Instant;

use super::pending::PendingRequests;
use crate::requests;

/// The socket, the queued output and the pending requests.
#[derive(Debug)]
pub(super) struct ConnectionState {
    pub(super) socket: Socket,
    pub(super) output: WriteQueue,
    pub(super) spares: SpareBuffers,
    /// Total bytes that were ever put into `output`.
    pub(super) queued_bytes: u64,
    /// The number of queued bytes that were written to the socket.
    pub(super) written_bytes: u64,
    /// Requests that were queued since the last write.
    pub(super) batched_requests: usize,
    pub(super) pending: PendingRequests,
    /// A lower bound on the deadlines of all pending requests.
    pub(super) next_deadline: Option<Instant>,
    /// Wakes the IO task, once it has run.
    pub(super) task: Option<Waker>,
    /// True once the callers' side was dropped.
    pub(super) closed: bool,
    /// The reason why the connection is lost, if it is.
    pub(super) lost: Option<String>,
}

impl ConnectionState {
    /// Wraps a nonblocking stream.
    ///
    /// # Errors
    /// The runtime can't watch the socket.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(stream)?,
            output: WriteQueue::default(),
            spares: SpareBuffers::default(),
            queued_bytes: 0,
            written_bytes: 0,
            batched_requests: 0,
            pending: PendingRequests::default(),
            next_deadline: None,
            task: None,
            closed: false,
            lost: None,
        })
    }

    /// Queues the cancellation of a request.
    pub(super) fn queue_cancel(&mut self, id: u64) {
        if let Ok(frame) = requests::cancel(id) {
            self.queue(frame);
        }
    }

    /// Queues a frame.
    pub(super) fn queue(&mut self, frame: Bytes) {
        self.queued_bytes += frame.len() as u64;
        self.output.push(frame, &mut self.spares);
    }

    /// Wakes the IO task.
    pub(super) fn wake_task(&mut self) {
        if let Some(task) = &self.task {
            task.wake_by_ref();
        }
    }

    /// Writes queued output for as long as the socket takes it; `task` is woken when it takes more.
    pub(super) fn write(&mut self, task: &Waker) {
        self.batched_requests = 0;
        while self.output.queued() > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
            let count = self.output.slices(&mut slices, usize::MAX);
            match self.socket.write(task, &slices[..count]) {
                Poll::Ready(Ok(length)) if length > 0 => {
                    self.written_bytes += length as u64;
                    self.output.advance(length, &mut self.spares);
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Pending => return,
                // A daemon that has ended may have answered before that: the error is reported by
                // the reading side.
                Poll::Ready(_) => self.output.clear(&mut self.spares),
            }
        }
        self.socket.stop_watching_for_room();
    }
}

/// Locks the state. It stays usable after a panic elsewhere: no update leaves it half done.
pub(super) fn lock(state: &Mutex<ConnectionState>) -> MutexGuard<'_, ConnectionState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
