//! The ready queue: connects the runtime's wakers with the driver's turns.
//!
//! Everything that can become ready is a [`ReadySource`] with a waker of its own. Waking it appends
//! it to one queue and wakes the driver once. The driver then takes the whole queue and handles it
//! in one turn. So one task does all the work, no state is shared between tasks, and each
//! destination is written to once per turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use pipemux_core::ClientId;
use pipemux_proto::Incarnation;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    Client(ClientId),
    App(Incarnation),
}

impl Peer {
    pub fn is_client(&self) -> bool {
        matches!(self, Self::Client(_))
    }

    pub fn is_app(&self) -> bool {
        matches!(self, Self::App(_))
    }
}

/// A source of readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadySource {
    Accept,
    /// A report of the launcher, or space for an order to it.
    Launcher,
    Shutdown,
    Timer,
    /// A connection with something to read, or with space to write.
    Peer(Peer),
    /// Output of a process.
    AppOutput(Incarnation),
    /// A file of the daemon was removed, renamed or replaced.
    Files,
    /// Somebody who reads the metrics.
    Metrics,
    /// The resource usage of sessions, once it was read.
    Usage,
}

/// The queue of sources that are ready.
#[derive(Debug, Default)]
pub struct ReadyQueue {
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    ready: Vec<Arc<SourceWaker>>,
    driver: Option<Waker>,
}

#[derive(Debug)]
pub struct SourceWaker {
    source: ReadySource,
    queued: AtomicBool,
    queue: Arc<ReadyQueue>,
}

impl ReadyQueue {
    /// Returns a waker that queues the source.
    pub fn waker(self: &Arc<Self>, source: ReadySource) -> Waker {
        let queued = AtomicBool::new(false);
        Arc::new(SourceWaker { source, queued, queue: Arc::clone(self) }).into()
    }

    /// Takes all sources that are ready, each once, in the order in which they became ready. The
    /// next one wakes `driver`.
    pub fn take(&self, driver: &Waker, ready: &mut Vec<ReadySource>) {
        let mut state = self.lock();
        if !state.driver.as_ref().is_some_and(|known| known.will_wake(driver)) {
            state.driver = Some(driver.clone());
        }
        for source in state.ready.drain(..) {
            // Cleared before the source is handled, so that it is queued again for what arrives
            // meanwhile.
            source.queued.store(false, Ordering::SeqCst);
            ready.push(source.source);
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for SourceWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        let mut state = self.queue.lock();
        state.ready.push(Arc::clone(self));
        if state.ready.len() == 1
            && let Some(driver) = &state.driver
        {
            driver.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    struct Count(AtomicU32);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn source_is_queued_once_and_the_driver_woken_once_per_turn() {
        let queue = Arc::new(ReadyQueue::default());
        let count = Arc::new(Count(AtomicU32::new(0)));
        let driver = Waker::from(Arc::clone(&count));
        let (timer, accept) = (queue.waker(ReadySource::Timer), queue.waker(ReadySource::Accept));
        let mut ready = Vec::new();
        queue.take(&driver, &mut ready);
        assert!(ready.is_empty());
        for _ in 0..3 {
            timer.wake_by_ref();
            accept.wake_by_ref();
        }
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        queue.take(&driver, &mut ready);
        assert_eq!(ready, [ReadySource::Timer, ReadySource::Accept]);
        // After the queue was taken, the next wake counts again.
        accept.wake();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        ready.clear();
        queue.take(&driver, &mut ready);
        assert_eq!(ready, [ReadySource::Accept]);
    }
}
