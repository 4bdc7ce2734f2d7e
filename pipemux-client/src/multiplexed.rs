//! One connection that many calls share, and the one task that reads from it and writes to it.
//!
//! A call that is alone writes its request itself, at once. When several calls are in flight they
//! leave their requests to the task, which writes all of them together; a batch of [`BATCH_MAX`]
//! requests or [`BATCH_BYTES_MAX`] is not held back for the task. A pending call takes one slot of
//! a table, and nothing is allocated for it.

mod io_task;
mod pending;
mod state;

use std::future::poll_fn;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::app::Progress;
use pipemux_proto::deadline;
use tokio::time::Instant;

use crate::incoming::{MessageReader, RawReply};
use crate::requests::RequestBytes;
use io_task::IoTask;
pub(crate) use pending::{LostRequest, PENDING_MAX};
use state::{ConnectionState, lock};

/// Requests that are written without waiting for more: the daemon begins with these while the next
/// ones are being made.
const BATCH_MAX: usize = 32;
/// The bound of a batch in bytes.
const BATCH_BYTES_MAX: usize = 64 * 1024;

/// The callers' side of a shared connection. The connection closes when this is dropped.
#[derive(Debug)]
pub(crate) struct MultiplexedConnection {
    state: Arc<Mutex<ConnectionState>>,
}

/// A request whose reply hasn't been received yet. Dropping this cancels the request.
pub(crate) struct PendingReply<'a> {
    connection: &'a MultiplexedConnection,
    id: u64,
}

impl MultiplexedConnection {
    /// Takes over a connection on which both sides have greeted, and starts its task. This must be
    /// called within a tokio runtime.
    ///
    /// # Errors
    /// The runtime can't watch the socket.
    pub(crate) fn start(stream: UnixStream, mut reader: MessageReader) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let state = Arc::new(Mutex::new(ConnectionState::new(stream)?));
        reader.keep_buffer();
        tokio::spawn(IoTask::new(Arc::clone(&state), reader).run());
        Ok(Self { state })
    }

    /// Sends a request. `encode` makes its first bytes once its id is known; `body` follows them.
    ///
    /// # Errors
    /// [`LostRequest::NotSent`] when the connection is lost already, or the error of `encode`.
    pub(crate) fn send<E: From<LostRequest>>(
        &self,
        timeout: Duration,
        encode: impl FnOnce(u64) -> Result<RequestBytes, E>,
        body: Bytes,
    ) -> Result<PendingReply<'_>, E> {
        let mut state = lock(&self.state);
        if let Some(why) = &state.lost {
            let why = format!("the connection to the daemon was lost earlier ({why})");
            return Err(LostRequest::NotSent(why).into());
        }
        let deadline = Instant::from_std(deadline::after(timeout));
        let id = state.pending.insert(deadline);
        let start = match encode(id) {
            Ok(start) => start,
            Err(error) => {
                state.pending.remove(id);
                return Err(error);
            }
        };
        let ConnectionState { output, spares, .. } = &mut *state;
        match &start {
            RequestBytes::Head(head) => output.copy(head, spares),
            RequestBytes::Frame(frame) => output.push(frame.clone(), spares),
        }
        let length = start.len() + body.len();
        output.push(body, spares);
        state.queued_bytes += length as u64;
        let ends_at = state.queued_bytes;
        if let Some(request) = state.pending.get_mut(id) {
            request.ends_at = ends_at;
        }
        state.batched_requests += 1;
        let alone = state.pending.len() == 1;
        let batch_is_full =
            state.batched_requests >= BATCH_MAX || state.output.queued() >= BATCH_BYTES_MAX;
        let mut wake = state.next_deadline.is_none_or(|next| deadline < next);
        if wake {
            state.next_deadline = Some(deadline);
        }
        // The task writes what the socket doesn't take now. It handles a write error too: reading
        // tells what the error means.
        let task = if alone || batch_is_full { state.task.clone() } else { None };
        match task {
            Some(task) => state.write(&task),
            None => wake = true,
        }
        if wake {
            state.wake_task();
        }
        Ok(PendingReply { connection: self, id })
    }
}

impl Drop for MultiplexedConnection {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.wake_task();
    }
}

impl PendingReply<'_> {
    /// Waits for the reply; `on_progress` is called with how far the request is.
    pub(crate) async fn reply(
        self,
        mut on_progress: impl FnMut(Progress),
    ) -> Result<RawReply, LostRequest> {
        poll_fn(|context| {
            let mut state = lock(&self.connection.state);
            if let Some(progress) = state.pending.get_mut(self.id).and_then(|r| r.progress.take()) {
                drop(state);
                on_progress(progress);
                state = lock(&self.connection.state);
            }
            let Some(request) = state.pending.get_mut(self.id) else {
                let why = "the request is no longer in the table".into();
                return Poll::Ready(Err(LostRequest::MaybeDelivered(why)));
            };
            if let Some(outcome) = request.outcome.take() {
                state.pending.remove(self.id);
                return Poll::Ready(outcome);
            }
            if !request.waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                request.waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

impl Drop for PendingReply<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.connection.state);
        let Some(request) = state.pending.remove(self.id) else { return };
        if request.outcome.is_none() {
            state.queue_cancel(self.id);
            state.wake_task();
        }
    }
}
