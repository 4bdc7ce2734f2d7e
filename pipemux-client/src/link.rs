//! A connection that many calls share: who waits for what, and the one task that reads and writes.
//!
//! A call that is alone writes its request itself, at once; when several are under way they leave theirs
//! for the task, which writes all of them together. A waiting call costs a place in a table, and nothing
//! is allocated for it.

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

use crate::wire::{Ended, Incoming, Start, Wire, WireError};

/// Bytes of one read: a body of 64 KiB and its frame around it.
const READ: usize = 65 * 1024;
/// Reads before other tasks have their turn.
const READS: usize = 4;

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
    places: Vec<Place>,
    free: Vec<usize>,
    /// No deadline of a waiting request is earlier.
    earliest: Option<Instant>,
    task: Option<Waker>,
    /// Set once nobody asks any more.
    unused: bool,
    /// Why the connection is lost.
    lost: Option<String>,
}

#[derive(Debug)]
struct Place {
    /// Counts who was here, so that a late answer finds nobody.
    turn: u64,
    waits: Option<Waits>,
}

#[derive(Debug)]
struct Waits {
    /// Where in the stream of written bytes the request ends.
    ends_at: u64,
    deadline: Instant,
    waker: Option<Waker>,
    ended: Option<Result<Ended, Lost>>,
}

const PLACE_BITS: u32 = 12;
const PLACES_MAX: usize = 1 << PLACE_BITS;

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
            places: Vec::new(),
            free: Vec::new(),
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
        let at = state.place();
        let id = state.id_at(at);
        let start = match head(id) {
            Ok(start) => start,
            Err(error) => {
                state.free.push(at);
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
        let deadline = Instant::now() + timeout;
        let ends_at = state.queued;
        state.places[at].waits = Some(Waits { ends_at, deadline, waker: None, ended: None });
        let alone = state.places.len() - state.free.len() == 1;
        let mut rouse = state.earliest.is_none_or(|earliest| deadline < earliest);
        if rouse {
            state.earliest = Some(deadline);
        }
        // What can't be written now is the task's, and so is an error: reading says what it means.
        match state.task.clone().filter(|_| alone) {
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
            let Some(waits) = state.waits_mut(self.id) else {
                return Poll::Ready(Err(Lost::Sent("the request was forgotten".into())));
            };
            if let Some(ended) = waits.ended.take() {
                state.leave(self.id);
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
        let Some(waits) = state.leave(self.id) else { return };
        if waits.ended.is_none() {
            state.cancel(self.id);
            state.rouse();
        }
    }
}

impl State {
    fn place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { turn: 0, waits: None });
            self.places.len() - 1
        })
    }

    /// A new id for a free place.
    fn id_at(&mut self, at: usize) -> u64 {
        let place = &mut self.places[at];
        place.turn += 1;
        place.turn << PLACE_BITS | at as u64
    }

    fn waits_mut(&mut self, id: u64) -> Option<&mut Waits> {
        let place = self.places.get_mut((id as usize) & (PLACES_MAX - 1))?;
        if place.turn == id >> PLACE_BITS { place.waits.as_mut() } else { None }
    }

    fn leave(&mut self, id: u64) -> Option<Waits> {
        self.waits_mut(id)?;
        let at = (id as usize) & (PLACES_MAX - 1);
        self.free.push(at);
        self.places[at].waits.take()
    }

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

    /// Ends a request; an answer to a cancelled one has nobody to go to.
    fn end(&mut self, id: u64, ended: Result<Ended, Lost>) -> Option<Waker> {
        let waits = self.waits_mut(id)?;
        waits.ended = Some(ended);
        waits.waker.take()
    }

    fn ids_where(&self, wanted: impl Fn(&Waits) -> bool) -> Vec<u64> {
        let wanted = |place: &Place| place.waits.as_ref().is_some_and(&wanted);
        let all = self.places.iter().enumerate().filter(|(_, place)| wanted(place));
        all.map(|(at, place)| place.turn << PLACE_BITS | at as u64).collect()
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
        for id in state.ids_where(|waits| waits.ended.is_none()) {
            let sent = state.waits_mut(id).is_some_and(|waits| waits.ends_at <= written);
            let lost = if sent { Lost::Sent(why.clone()) } else { Lost::Unsent(why.clone()) };
            self.woken.extend(state.end(id, Err(lost)));
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
            for id in state.ids_where(|waits| waits.ended.is_none() && waits.deadline <= now) {
                let late = Lost::Sent("the daemon didn't answer in time".into());
                self.woken.extend(state.end(id, Err(late)));
                state.cancel(id);
            }
            let waiting = state.places.iter().filter_map(|place| place.waits.as_ref());
            state.earliest =
                waiting.filter(|waits| waits.ended.is_none()).map(|waits| waits.deadline).min();
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
                    self.woken.extend(state.end(id, Ok(ended)));
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
