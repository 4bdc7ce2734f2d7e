//! Work that may wait for a disk or a network, on threads of its own.
//!
//! A file system can hang: a server doesn't answer, a program behind a mount is stopped. A thread
//! that asks it for something then waits for ever, and nothing can end that. So an app does such
//! work here: the serving loop goes on with other requests, the request that waits is answered at
//! its deadline at the latest, and a result that comes later is still taken in.
//!
//! | item | purpose |
//! |---|---|
//! | [`Blocking`] | the part of a request that may wait: returned by [`App::blocking`] and [`App::attach_blocking`] |
//! | [`CommitPoint`] | decides whether work that nobody waits for any more still takes effect |
//! | [`Task`] | work that no request waits for, such as watching files |
//!
//! [`App::blocking`]: crate::App::blocking
//! [`App::attach_blocking`]: crate::App::attach_blocking

mod threads;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use pipemux_proto::Fault;

use crate::handle::Handle;
use crate::reply::Reply;

/// Work on another thread, and its result once there is one.
///
/// The thread can't be stopped. A task that is dropped goes on, and its result is dropped.
pub struct Task<T> {
    result: Receiver<thread::Result<T>>,
    /// Set when the result was requested before it was available: only then does the task wake the
    /// serving loop. Otherwise a task that is started on each wake would wake the loop forever.
    awaited: Arc<AtomicBool>,
    began: Instant,
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("began", &self.began).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts work. When it is done, it wakes the serving loop if the result was asked for before.
    ///
    /// # Errors
    /// Too many threads wait already, or the system gives no more.
    pub fn start(
        handle: &Handle,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, Fault> {
        let (sender, result) = sync_channel(1);
        let (handle, awaited) = (handle.clone(), Arc::new(AtomicBool::new(false)));
        let wakes = awaited.clone();
        threads::run(Box::new(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // Nobody may want it any more.
            let _ = sender.send(result);
            if wakes.load(Ordering::SeqCst) {
                handle.refresh();
            }
        }))?;
        Ok(Self { result, awaited, began: Instant::now() })
    }

    /// Returns the result if there is one by now. It is returned once.
    ///
    /// # Panics
    /// The work panicked.
    pub fn poll(&mut self) -> Option<T> {
        self.wait(Duration::ZERO)
    }

    /// Waits for the result, but not longer than this. It is returned once.
    ///
    /// # Panics
    /// The work panicked.
    pub fn wait(&mut self, patience: Duration) -> Option<T> {
        let in_time = match patience {
            Duration::ZERO => self.result.try_recv().ok(),
            patience => self.result.recv_timeout(patience).ok(),
        };
        let result = in_time.or_else(|| {
            self.awaited.store(true, Ordering::SeqCst);
            // What came before the thread could see this doesn't wake the loop.
            self.result.try_recv().ok()
        });
        result.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    /// Returns how long ago the work was started.
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }
}

/// The point at which work begins to take effect. Before it, the work can be cancelled, and the
/// answer says so; after it, the outcome is unknown until the work is done.
#[derive(Debug, Clone, Default)]
pub struct CommitPoint(Arc<AtomicU8>);

const OPEN: u8 = 0;
const BEGUN: u8 = 1;
const CALLED_OFF: u8 = 2;

impl CommitPoint {
    /// Returns whether the work may take effect. If not, its request was answered meanwhile: it
    /// must do nothing any more.
    #[must_use]
    pub fn begin(&self) -> bool {
        self.decide(BEGUN) == BEGUN
    }

    /// Returns whether the work was called off: nobody waits for its result any more, so it should
    /// end.
    pub fn is_called_off(&self) -> bool {
        self.0.load(Ordering::Acquire) == CALLED_OFF
    }

    /// Calls the work off unless it takes effect already. Returns whether it is called off.
    pub(crate) fn call_off(&self) -> bool {
        self.decide(CALLED_OFF) == CALLED_OFF
    }

    fn decide(&self, wanted: u8) -> u8 {
        match self.0.compare_exchange(OPEN, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => wanted,
            Err(decided) => decided,
        }
    }
}

/// The circumstances in which work is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The version of the app's state now.
    pub version: u64,
    /// True if the request was already answered, at its deadline. The app must still apply what the
    /// work did, but should leave out further effects that the reader no longer expects.
    pub late: bool,
}

pub(crate) type Finish<A, R> = Box<dyn FnOnce(&mut A, Completion) -> Result<R, Fault> + Send>;
type Work<A, R> = Box<dyn FnOnce(&CommitPoint) -> Finish<A, R> + Send>;

/// The part of a request that may wait: work for another thread, and what the app makes of its
/// result.
pub struct Blocking<A: ?Sized, R = Reply> {
    work: Work<A, R>,
    /// What the work waits for, and how long that may take.
    pub(crate) waits_for: String,
    pub(crate) deadline: Duration,
    /// True when the work must take no effect.
    only_plans: bool,
}

impl<A: ?Sized, R> fmt::Debug for Blocking<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").field("waits_for", &self.waits_for).finish_non_exhaustive()
    }
}

impl<A: 'static, R: 'static> Blocking<A, R> {
    /// Makes the work of a request.
    ///
    /// `work` runs on another thread. It must call [`CommitPoint::begin`] before it changes
    /// anything, and stop if that returns false. `finish` gets its result on the serving loop,
    /// exactly once, whenever it comes, and makes the answer. In the meantime the app may have
    /// handled other requests.
    ///
    /// `waits_for` names what the work waits for: `the disk of a.txt`. If that takes longer than
    /// `deadline`, or than the requester waits, the request fails if nothing took effect yet, and
    /// its outcome is unknown otherwise.
    pub fn new<T: Send + 'static>(
        waits_for: impl Into<String>,
        deadline: Duration,
        work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
        finish: impl FnOnce(&mut A, T, Completion) -> Result<R, Fault> + Send + 'static,
    ) -> Self {
        let work = move |commit: &CommitPoint| -> Finish<A, R> {
            let result = work(commit);
            Box::new(move |app, completion| finish(app, result, completion))
        };
        Self { work: Box::new(work), waits_for: waits_for.into(), deadline, only_plans: false }
    }

    /// Does the work on this thread and finishes it, however long it takes.
    ///
    /// # Errors
    /// As the request.
    pub fn run(self, app: &mut A, version: u64) -> Result<R, Fault> {
        let commit = self.commit_point();
        (self.work)(&commit)(app, Completion { version, late: false })
    }

    /// Has the work finished on the app inside of another value.
    pub(crate) fn within<B: ?Sized + 'static>(
        self,
        app_of: fn(&mut B) -> Result<&mut A, Fault>,
    ) -> Blocking<B, R> {
        let Self { work, waits_for, deadline, only_plans } = self;
        let work = move |commit: &CommitPoint| -> Finish<B, R> {
            let finish = work(commit);
            Box::new(move |outer, completion| finish(app_of(outer)?, completion))
        };
        Blocking { work: Box::new(work), waits_for, deadline, only_plans }
    }
}

impl<A: ?Sized, R> Blocking<A, R> {
    /// Calls the work off before it begins, so that it comes to its [`CommitPoint`] and no further.
    #[must_use]
    pub(crate) fn only_plans(mut self) -> Self {
        self.only_plans = true;
        self
    }

    fn commit_point(&self) -> CommitPoint {
        let commit = CommitPoint::default();
        if self.only_plans {
            commit.call_off();
        }
        commit
    }
}

impl<A: ?Sized + 'static, R: 'static> Blocking<A, R> {
    /// Starts the work on another thread.
    ///
    /// # Errors
    /// As [`Task::start`].
    pub(crate) fn start(self, handle: &Handle) -> Result<Started<A, R>, Fault> {
        let commit = self.commit_point();
        let (work, point) = (self.work, commit.clone());
        let task = Task::start(handle, move || work(&point))?;
        Ok(Started { task, commit, waits_for: self.waits_for, began: Instant::now() })
    }
}

/// Work that was started.
pub(crate) struct Started<A: ?Sized, R> {
    pub task: Task<Finish<A, R>>,
    commit: CommitPoint,
    waits_for: String,
    began: Instant,
}

impl<A: ?Sized, R> Started<A, R> {
    /// Calls the work off unless it takes effect already. Returns the answer of a request whose
    /// deadline has come.
    pub(crate) fn overdue(&self) -> Fault {
        let seconds = self.began.elapsed().as_secs_f64();
        let silent = format!("{} did not answer within {seconds:.0} s", self.waits_for);
        match self.commit.call_off() {
            true => Fault::failed(format!("{silent}; nothing was done")),
            false => Fault::unknown(format!("{silent}; it may still take effect")),
        }
    }

    /// Calls the work off unless it takes effect already. Returns whether it is called off.
    pub(crate) fn call_off(&self) -> bool {
        self.commit.call_off()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use pipemux_proto::ids::Incarnation;

    use super::*;
    use crate::handle::HandleReceiver;

    #[test]
    fn only_a_result_that_was_asked_for_too_early_wakes_the_loop() {
        let receiver = HandleReceiver::new().unwrap();
        let handle = receiver.handle(Incarnation(1));
        for number in 0..100 {
            let mut task = Task::start(&handle, move || number).unwrap();
            assert_eq!(task.wait(Duration::from_secs(60)), Some(number));
        }
        assert!(receiver.take().is_empty());

        let (release, released) = channel::<()>();
        let mut task = Task::start(&handle, move || released.recv().is_err()).unwrap();
        assert_eq!(task.poll(), None);
        drop(release);
        let end = Instant::now() + Duration::from_secs(60);
        while receiver.take().is_empty() {
            assert!(Instant::now() < end, "the loop is never woken");
            thread::yield_now();
        }
        assert_eq!(task.poll(), Some(true));
    }
}
