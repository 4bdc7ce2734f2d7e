//! Busy polling: polls again instead of sleeping, for a moment, while exchanges arrive in batches.
//!
//! A batch travels from the client to the app and back. Each participant that sleeps meanwhile must
//! be woken, which costs more than its work. So after a turn with several exchanges the driver lets
//! other programs run and polls again, for [`BUSY_POLL_US`], before it sleeps. With longer bodies
//! most of the time goes into copying, and the processor is left to that. A client that waits for
//! each answer never causes busy polling, and an idle daemon sleeps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::{BUSY_POLL_BODY_MAX, BUSY_POLL_FRAMES_MIN, BUSY_POLL_US};

/// Has the runtime poll once more before it sleeps.
#[derive(Debug, Default)]
pub struct ParkHook {
    requested: AtomicBool,
    driver: OnceLock<Waker>,
}

/// Decides when to poll again.
#[derive(Debug, Default)]
pub struct BusyPoll {
    /// Exchange frames with short bodies in this turn.
    frames: usize,
    /// The end of busy polling, while it is on.
    until: Option<Instant>,
    hook: Arc<ParkHook>,
}

impl ParkHook {
    /// Wakes the driver if that was requested; the runtime calls this before it sleeps.
    pub fn before_park(&self) {
        if self.requested.swap(false, Ordering::Relaxed)
            && let Some(driver) = self.driver.get()
        {
            // Programs on the same processor run first, because the driver waits for them.
            thread::yield_now();
            driver.wake_by_ref();
        }
    }

    /// Has the driver run again after one poll. There is only one driver.
    fn request_poll(&self, driver: &Waker) {
        self.driver.get_or_init(|| driver.clone());
        self.requested.store(true, Ordering::Relaxed);
    }
}

impl BusyPoll {
    /// The runtime has `hook` run before it sleeps.
    pub fn new(hook: Arc<ParkHook>) -> Self {
        Self { hook, ..Self::default() }
    }

    /// Has the driver run again after one poll, if more frames are likely to arrive at once.
    pub fn end_turn(&mut self, driver: &Waker) {
        if self.should_poll(Instant::now) {
            self.hook.request_poll(driver);
        }
    }

    /// Notes an exchange frame with a body of that length.
    pub fn record_frame(&mut self, length: usize) {
        self.frames += usize::from(length <= BUSY_POLL_BODY_MAX);
    }

    /// Returns at the end of a turn whether to poll again rather than sleep.
    fn should_poll(&mut self, now: impl Fn() -> Instant) -> bool {
        self.until = match std::mem::take(&mut self.frames) {
            0 => self.until.filter(|until| now() < *until),
            few if few < BUSY_POLL_FRAMES_MIN => None,
            _ => now().checked_add(Duration::from_micros(BUSY_POLL_US)),
        };
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;

    #[test]
    fn polling_is_bounded_in_time_and_needs_a_batch() {
        let start = Instant::now();
        let at = |us| move || start + Duration::from_micros(us);
        let mut busy_poll = BusyPoll::default();
        assert!(!busy_poll.should_poll(at(0)));
        busy_poll.record_frame(BUSY_POLL_BODY_MAX);
        assert!(!busy_poll.should_poll(at(0)), "who waits for each answer");
        (0..BUSY_POLL_FRAMES_MIN).for_each(|_| busy_poll.record_frame(BUSY_POLL_BODY_MAX));
        assert!(busy_poll.should_poll(at(0)) && busy_poll.should_poll(at(BUSY_POLL_US - 1)));
        assert!(
            !busy_poll.should_poll(at(BUSY_POLL_US)) && !busy_poll.should_poll(at(0)),
            "it sleeps then"
        );
        (0..BUSY_POLL_FRAMES_MIN).for_each(|_| busy_poll.record_frame(BUSY_POLL_BODY_MAX));
        assert!(busy_poll.should_poll(at(0)));
        busy_poll.record_frame(BUSY_POLL_BODY_MAX);
        assert!(
            !busy_poll.should_poll(at(1)) && !busy_poll.should_poll(at(1)),
            "no batch any more"
        );
        (0..BUSY_POLL_FRAMES_MIN).for_each(|_| busy_poll.record_frame(BUSY_POLL_BODY_MAX + 1));
        assert!(!busy_poll.should_poll(at(2)), "their copying is what takes time");
    }

    #[test]
    fn park_hook_wakes_the_driver_once_per_request() {
        #[derive(Default)]
        struct Count(AtomicU32);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let (park_hook, count) = (ParkHook::default(), Arc::new(Count::default()));
        let driver = Waker::from(Arc::clone(&count));
        park_hook.before_park();
        for requests in 1..3 {
            park_hook.request_poll(&driver);
            assert_eq!(count.0.load(Ordering::SeqCst), requests - 1);
            park_hook.before_park();
            park_hook.before_park();
            assert_eq!(count.0.load(Ordering::SeqCst), requests);
        }
    }
}
