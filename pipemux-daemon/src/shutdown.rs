//! Orderly shutdown: signals ask for it, the driver carries it out.
//!
//! A task waits for SIGTERM and SIGINT. The first signal cancels `requested`, whereupon the driver
//! has the core end every app. A second signal cancels `forced`, whereupon the driver stops at
//! once. When the driver has stopped, `finished` ends the task.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;

/// The daemon's shutdown, and the tasks that end with it.
#[derive(Debug, Default)]
pub struct Shutdown {
    requested: CancellationToken,
    forced: CancellationToken,
    finished: CancellationToken,
    tasks: TaskTracker,
}

/// The urgency of a request to stop the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// End every app in order first.
    Orderly,
    /// Stop at once.
    Immediate,
}

/// The driver's view of the shutdown, which it polls with a waker of its own.
#[derive(Debug)]
pub struct ShutdownRequests {
    next: Option<(Urgency, Pin<Box<WaitForCancellationFutureOwned>>)>,
    forced: CancellationToken,
    waker: Waker,
}

impl Shutdown {
    /// Handles signals from now on. Must be called within a runtime.
    ///
    /// # Errors
    /// A signal handler can't be installed.
    pub fn watch_signals(&self) -> io::Result<()> {
        let signals = Signals::new()?;
        let (requested, forced) = (self.requested.clone(), self.forced.clone());
        let finished = self.finished.clone();
        self.tasks.spawn(async move {
            finished.run_until_cancelled(signals.forward(requested, forced)).await;
        });
        Ok(())
    }

    /// Returns the requests to stop; each wakes `waker`.
    pub fn requests(&self, waker: Waker) -> ShutdownRequests {
        let requested = Box::pin(self.requested.clone().cancelled_owned());
        let forced = self.forced.clone();
        ShutdownRequests { next: Some((Urgency::Orderly, requested)), forced, waker }
    }

    /// Ends the tasks of the shutdown and waits for them; called when the driver has stopped.
    pub async fn finish(self) {
        self.finished.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl ShutdownRequests {
    /// Returns the next request to stop, each urgency once.
    pub fn poll_next(&mut self) -> Poll<Urgency> {
        let Some((urgency, cancelled)) = &mut self.next else { return Poll::Pending };
        ready!(cancelled.as_mut().poll(&mut Context::from_waker(&self.waker)));
        let urgency = *urgency;
        self.next = match urgency {
            Urgency::Orderly => {
                let forced = Box::pin(self.forced.clone().cancelled_owned());
                Some((Urgency::Immediate, forced))
            }
            Urgency::Immediate => None,
        };
        Poll::Ready(urgency)
    }

    /// Has the driver poll this soon, which registers the waker.
    pub fn wake(&self) {
        self.waker.wake_by_ref();
    }
}

/// The signals that the daemon handles. SIGTERM and SIGINT end it. SIGHUP is ignored, and so is
/// SIGXFSZ: a write beyond the limit of a file's size returns an error, which its writer handles.
struct Signals {
    ending: [Signal; 2],
    _ignored: [Signal; 2],
}

impl Signals {
    fn new() -> io::Result<Self> {
        let ending = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        let file_too_large = SignalKind::from_raw(nix::libc::SIGXFSZ);
        let ignored = [signal(SignalKind::hangup())?, signal(file_too_large)?];
        Ok(Self { ending, _ignored: ignored })
    }

    /// Cancels `requested` on the first signal and `forced` on the second.
    async fn forward(mut self, requested: CancellationToken, forced: CancellationToken) {
        self.received().await;
        requested.cancel();
        self.received().await;
        forced.cancel();
    }

    async fn received(&mut self) {
        poll_fn(|context| {
            // Both are polled: SIGTERM and SIGINT that come together count as one request.
            let came = self.ending.iter_mut().fold(false, |came, signal| {
                came | matches!(signal.poll_recv(context), Poll::Ready(Some(())))
            });
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn requests_arrive_once_each_and_in_order() {
        block_on(async {
            let shutdown = Shutdown::default();
            let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
            let mut requests = shutdown.requests(waker);
            assert_eq!(requests.poll_next(), Poll::Pending);
            shutdown.requested.cancel();
            assert_eq!(requests.poll_next(), Poll::Ready(Urgency::Orderly));
            assert_eq!(requests.poll_next(), Poll::Pending);
            shutdown.forced.cancel();
            assert_eq!(requests.poll_next(), Poll::Ready(Urgency::Immediate));
            assert_eq!(requests.poll_next(), Poll::Pending);
        });
    }

    #[test]
    fn finishing_ends_the_signal_task() {
        block_on(async {
            let shutdown = Shutdown::default();
            shutdown.watch_signals().unwrap();
            assert_eq!(shutdown.tasks.len(), 1);
            let tasks = shutdown.tasks.clone();
            let limit = std::time::Duration::from_secs(20);
            tokio::time::timeout(limit, shutdown.finish()).await.unwrap();
            assert!(tasks.is_empty());
        });
    }
}
