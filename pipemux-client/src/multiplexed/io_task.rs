//! The task of a shared connection: it reads replies, writes what could not be written at once, and
//! ends requests whose deadline has passed.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::pending::LostRequest;
use super::state::{ConnectionState, lock};
use crate::incoming::{DaemonMessage, MessageReader, ReadError};

/// Bytes of one read: a body of 64 KiB and the frame around it.
const READ_SIZE: usize = 65 * 1024;
/// Reads before other tasks of the runtime get their turn.
const READS_PER_POLL: usize = 4;

/// Reads from and writes to one connection until nobody uses it, or it is lost.
pub(super) struct IoTask {
    state: Arc<Mutex<ConnectionState>>,
    reader: MessageReader,
    timer: Option<Pin<Box<Sleep>>>,
    /// Callers that are woken once the lock is released, because they take it.
    to_wake: Vec<Waker>,
}

impl IoTask {
    pub(super) fn new(state: Arc<Mutex<ConnectionState>>, reader: MessageReader) -> Self {
        Self { state, reader, timer: None, to_wake: Vec::new() }
    }

    /// Runs until the callers' side is dropped or the connection is lost; then ends every pending
    /// request.
    pub(super) async fn run(mut self) {
        let Err(why) = poll_fn(|context| self.poll_io(context)).await else { return };
        let mut state = lock(&self.state);
        let written = state.written_bytes;
        for id in state.pending.unanswered_where(|_| true) {
            let delivered =
                state.pending.get_mut(id).is_some_and(|request| request.ends_at <= written);
            let lost = match delivered {
                true => LostRequest::MaybeDelivered(why.clone()),
                false => LostRequest::NotSent(why.clone()),
            };
            self.to_wake.extend(state.pending.finish(id, Err(lost)));
        }
        state.lost = Some(why);
        drop(state);
        self.wake_callers();
    }

    fn poll_io(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut state = lock(&self.state);
        if state.closed {
            return Poll::Ready(Ok(()));
        }
        if !state.task.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            state.task = Some(context.waker().clone());
        }
        state.write(context.waker());
        drop(state);
        for _ in 0..READS_PER_POLL {
            let read = {
                let room = self.reader.room(READ_SIZE);
                lock(&self.state).socket.read_append(context.waker(), room)
            };
            match read {
                Poll::Pending => return self.before_waiting(context),
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err("the daemon ended before it answered".into()));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(format!("the daemon was lost ({error})")));
                }
            }
            if let Err(why) = self.dispatch_messages() {
                self.wake_callers();
                return Poll::Ready(Err(why));
            }
            self.wake_callers();
        }
        context.waker().wake_by_ref();
        self.before_waiting(context)
    }

    /// Ends overdue requests, writes replies to pings, and sets the timer for the next deadline.
    fn before_waiting(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut state = lock(&self.state);
        let now = Instant::now();
        if state.next_deadline.is_some_and(|at| at <= now) {
            for id in state.pending.unanswered_where(|request| request.deadline <= now) {
                let late = "the daemon didn't answer in time".into();
                let lost = LostRequest::MaybeDelivered(late);
                self.to_wake.extend(state.pending.finish(id, Err(lost)));
                state.queue_cancel(id);
            }
            state.next_deadline = state.pending.next_deadline();
        }
        state.write(context.waker());
        let next_deadline = state.next_deadline;
        drop(state);
        self.wake_callers();
        if let Some(at) = next_deadline {
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(Duration::ZERO)));
            if timer.deadline() != at {
                timer.as_mut().reset(at);
            }
            if timer.as_mut().poll(context).is_ready() {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    /// Hands each decoded reply to the call that waits for it.
    fn dispatch_messages(&mut self) -> Result<(), String> {
        let mut state = lock(&self.state);
        loop {
            match self.reader.poll_message() {
                Ok(Some(DaemonMessage::Reply(id, reply))) => {
                    self.to_wake.extend(state.pending.finish(id, Ok(reply)));
                }
                Ok(Some(DaemonMessage::Ping(pong))) => state.queue(pong),
                Ok(Some(DaemonMessage::Progress(id, progress))) => {
                    self.to_wake.extend(state.pending.report(id, progress));
                }
                Ok(Some(DaemonMessage::Hello)) => {}
                Ok(None) => return Ok(()),
                Err(ReadError::Greeting(fault)) => return Err(fault.message),
                Err(ReadError::Invalid(what)) => {
                    return Err(format!("the daemon sent data that can't be read ({what})"));
                }
            }
        }
    }

    fn wake_callers(&mut self) {
        self.to_wake.drain(..).for_each(Waker::wake);
    }
}
