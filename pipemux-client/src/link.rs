//! A connection that many calls share: who waits for what, and the one task that reads and writes.
//!
//! A call that is alone writes its request itself, at once; when several are under way they leave theirs
//! for the task, which writes all of them together; 32 of them, or 64 KiB, don't wait for it. A waiting call
//! costs a place in a table, and nothing is allocated for it.

mod places;

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::output::{GATHER, Output, Spares};
use pipemux_socket::Socket;
use tokio::time::{Instant, Sleep, sleep};

pub(crate) use places::PLACES_MAX;
use places::Places;

use crate::wire::{Ended, Incoming, Start, Wire, WireError};

/// Bytes of one read: a body of 64 KiB and its frame around it.
const READ: usize = 65 * 1024;
/// Reads before other tasks have their turn.
const READS: usize = 4;
/// Requests, and bytes of them, that are not held back for more: the daemon begins with these while the
/// next ones are made.
const TOGETHER: usize = 32;
const TOGETHER_BYTES: usize = 64 * 1024;

/// Why a request has no answer.
#[derive(Debug, Clone)]
pub(crate) enum Lost {
    /// The connection ended before the daemon had the whole request.
    Unsent(String),
    /// The connection ended, or the time was over, and the daemon may have the request.
    Sent(String),
}

/// The shared side of a connection. It closes when the last [`Link`] of it is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    shared: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    socket: Socket,
    output: Output,
    spares: Spares,
    /// Bytes ever put into `output`, and of those the bytes that left it.
    queued: u64,
    written: u64,
    /// Requests that were left for the task since it wrote.
    left: usize,
    places: Places,
    /// No deadline of a waiting request is earlier.
    earliest: Option<Instant>,
    task: Option<Waker>,
    /// Set once nobody asks any more.
    unused: bool,
    /// Why the connection is lost.
    lost: Option<String>,
}

/// A request whose answer is waited for; dropping it cancels the request.
pub(crate) struct Waiting<'a> {
    link: &'a Link,
    id: u64,
}

impl Link {
    /// Takes over a connection on which both sides have greeted, and starts its task. To be called in a
    /// runtime.
    ///
    /// # Errors
    /// The connection can't be watched.
    pub(crate) fn start(stream: UnixStream, mut wire: Wire) -> io::Result<Link> {
        stream.set_nonblocking(true)?;
        let state = State {
            socket: Socket::new(stream)?,
            output: Output::default(),
            spares: Spares::default(),
            queued: 0,
            written: 0,
            left: 0,
            places: Places::default(),
            earliest: None,
            task: None,
            unused: false,
            lost: None,
        };
        let shared = Arc::new(Mutex::new(state));
        wire.keep_buffer();
        let task = Task { shared: Arc::clone(&shared), wire, timer: None, woken: Vec::new() };
        tokio::spawn(task.run());
        Ok(Link { shared })
    }

    /// Sends a request; `head` gives its first bytes once its id is known.
    ///
    /// # Errors
    /// [`Lost::Unsent`]; what `head` says.
    pub(crate) fn ask<E: From<Lost>>(
        &self,
        timeout: Duration,
        head: impl FnOnce(u64) -> Result<Start, E>,
        body: Bytes,
    ) -> Result<Waiting<'_>, E> {
        let mut state = lock(&self.shared);
        if let Some(why) = &state.lost {
            let why = format!("the connection to the daemon was lost before ({why})");
            return Err(Lost::Unsent(why).into());
        }
        let deadline = Instant::now() + timeout;
        let id = state.places.enter(deadline);
        let start = match head(id) {
            Ok(start) => start,
            Err(error) => {
                state.places.leave(id);
                return Err(error);
            }
        };
        let State { output, spares, .. } = &mut *state;
        match &start {
            Start::Head(head) => output.copy(head, spares),
            Start::Frame(frame) => output.push(frame.clone(), spares),
        }
        let length = start.len() + body.len();
        output.push(body, spares);
        state.queued += length as u64;
        let ends_at = state.queued;
        if let Some(waits) = state.places.get_mut(id) {
            waits.ends_at = ends_at;
        }
        state.left += 1;
        let alone = state.places.len() == 1;
        let enough = state.left >= TOGETHER || state.output.queued() >= TOGETHER_BYTES;
        let mut rouse = state.earliest.is_none_or(|earliest| deadline < earliest);
        if rouse {
            state.earliest = Some(deadline);
        }
        // What can't be written now is the task's, and so is an error: reading says what it means.
        let task = if alone || enough { state.task.clone() } else { None };
        match task {
            Some(task) => state.write(&task),
            None => rouse = true,
        }
        if rouse {
            state.rouse();
        }
        Ok(Waiting { link: self, id })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut state = lock(&self.shared);
        state.unused = true;
        state.rouse();
    }
}

impl Waiting<'_> {
    /// Waits for the end of the request.
    pub(crate) async fn ended(self) -> Result<Ended, Lost> {
        poll_fn(|context| {
            let mut state = lock(&self.link.shared);
            let Some(waits) = state.places.get_mut(self.id) else {
                return Poll::Ready(Err(Lost::Sent("the request was forgotten".into())));
            };
            if let Some(ended) = waits.ended.take() {
                state.places.leave(self.id);
                return Poll::Ready(ended);
            }
            if !waits.waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                waits.waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.link.shared);
        let Some(waits) = state.places.leave(self.id) else { return };
        if waits.ended.is_none() {
            state.cancel(self.id);
            state.rouse();
        }
    }
}

impl State {
    fn cancel(&mut self, id: u64) {
        if let Ok(frame) = Wire::cancel(id) {
            self.push(frame);
        }
    }

    fn push(&mut self, frame: Bytes) {
        self.queued += frame.len() as u64;
        self.output.push(frame, &mut self.spares);
    }

    fn rouse(&mut self) {
        if let Some(task) = &self.task {
            task.wake_by_ref();
        }
    }

    /// Writes what is queued, as long as the socket takes it; the task goes on with the rest.
    fn write(&mut self, task: &Waker) {
        self.left = 0;
        while self.output.queued() > 0 {
            let mut slices = [IoSlice::new(&[]); GATHER];
            let count = self.output.slices(&mut slices, usize::MAX);
            match self.socket.write(task, &slices[..count]) {
                Poll::Ready(Ok(length)) if length > 0 => {
                    self.written += length as u64;
                    self.output.advance(length, &mut self.spares);
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Pending => return,
                // A daemon that ended may have answered before: the reading end says.
                Poll::Ready(_) => self.output.clear(&mut self.spares),
            }
        }
        self.socket.is_flushed();
    }
}

/// Reads, and writes what could not be written at once.
struct Task {
    shared: Arc<Mutex<State>>,
    wire: Wire,
    timer: Option<Pin<Box<Sleep>>>,
    woken: Vec<Waker>,
}

impl Task {
    /// Goes on until nobody asks any more, or the connection is lost.
    async fn run(mut self) {
        let Err(why) = poll_fn(|context| self.turn(context)).await else { return };
        let mut state = lock(&self.shared);
        let written = state.written;
        for id in state.places.open_where(|_| true) {
            let sent = state.places.get_mut(id).is_some_and(|waits| waits.ends_at <= written);
            let lost = if sent { Lost::Sent(why.clone()) } else { Lost::Unsent(why.clone()) };
            self.woken.extend(state.places.end(id, Err(lost)));
        }
        state.lost = Some(why);
        drop(state);
        self.wake_all();
    }

    fn turn(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut state = lock(&self.shared);
        if state.unused {
            return Poll::Ready(Ok(()));
        }
        if !state.task.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            state.task = Some(context.waker().clone());
        }
        state.write(context.waker());
        drop(state);
        for _ in 0..READS {
            let read = {
                let room = self.wire.room(READ);
                lock(&self.shared).socket.read_behind(context.waker(), room)
            };
            match read {
                Poll::Pending => return self.rest(context),
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err("the daemon ended before it answered".into()));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(format!("the daemon was lost ({error})")));
                }
            }
            if let Err(why) = self.deliver() {
                self.wake_all();
                return Poll::Ready(Err(why));
            }
            self.wake_all();
        }
        context.waker().wake_by_ref();
        self.rest(context)
    }

    /// Before waiting: the answers to pings go out, deadlines are watched.
    fn rest(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut state = lock(&self.shared);
        let now = Instant::now();
        if state.earliest.is_some_and(|at| at <= now) {
            for id in state.places.open_where(|waits| waits.deadline <= now) {
                let late = Lost::Sent("the daemon didn't answer in time".into());
                self.woken.extend(state.places.end(id, Err(late)));
                state.cancel(id);
            }
            state.earliest = state.places.next_deadline();
        }
        state.write(context.waker());
        let earliest = state.earliest;
        drop(state);
        self.wake_all();
        if let Some(at) = earliest {
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

    /// Gives answers to who waits for them.
    fn deliver(&mut self) -> Result<(), String> {
        let mut state = lock(&self.shared);
        loop {
            match self.wire.poll_incoming() {
                Ok(Some(Incoming::Answer(id, ended))) => {
                    self.woken.extend(state.places.end(id, Ok(ended)));
                }
                Ok(Some(Incoming::Ping(pong))) => state.push(pong),
                Ok(Some(Incoming::Hello)) => {}
                Ok(None) => return Ok(()),
                Err(WireError::Greeting(fault)) => return Err(fault.message),
                Err(WireError::Garbage(what)) => {
                    return Err(format!("the daemon sent what can't be read ({what})"));
                }
            }
        }
    }

    /// Wakes without holding the lock, which they take.
    fn wake_all(&mut self) {
        self.woken.drain(..).for_each(Waker::wake);
    }
}

fn lock(shared: &Mutex<State>) -> MutexGuard<'_, State> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
