//! Looking again instead of sleeping, for a moment, while exchanges come in batches.
//!
//! A batch walks from the client to the app and back, and each who sleeps meanwhile has to be woken, which
//! costs more than what it does then. So after a turn with several exchanges the driver lets others run and
//! looks again, for [`LOOK_US`], before it sleeps. With longer bodies it is the copying that takes time, and the
//! processor is left to it. Who waits for each answer never has it look, and an idle daemon sleeps.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::{LOOK_BODY, LOOK_FRAMES, LOOK_US};

/// Has the runtime look once more before it sleeps.
#[derive(Debug, Default)]
pub struct Again {
    wanted: AtomicBool,
    driver: OnceLock<Waker>,
}

/// When to look again.
#[derive(Debug, Default)]
pub struct Look {
    /// Frames of exchanges that came in this turn, of those that count.
    frames: usize,
    /// Until when it is worth it.
    until: Option<Instant>,
}

impl Again {
    /// To be called by the runtime before it sleeps.
    pub fn before_sleep(&self) {
        if self.wanted.swap(false, Ordering::Relaxed)
            && let Some(driver) = self.driver.get()
        {
            // The others of this processor first: it is they for whom the driver waits.
            thread::yield_now();
            driver.wake_by_ref();
        }
    }

    /// Wants the driver's turn after one look at what has come; there is only one driver.
    pub fn want(&self, driver: &Waker) {
        self.driver.get_or_init(|| driver.clone());
        self.wanted.store(true, Ordering::Relaxed);
    }
}

impl Look {
    /// A frame of an exchange came, with a body of that length.
    pub fn frame_came(&mut self, length: usize) {
        self.frames += usize::from(length <= LOOK_BODY);
    }

    /// At the end of a turn: true when to look again rather than sleep.
    pub fn is_worth_it(&mut self, now: impl Fn() -> Instant) -> bool {
        self.until = match std::mem::take(&mut self.frames) {
            0 => self.until.filter(|until| now() < *until),
            few if few < LOOK_FRAMES => None,
            _ => now().checked_add(Duration::from_micros(LOOK_US)),
        };
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;

    #[test]
    fn it_looks_for_a_bounded_time_after_a_batch_and_never_in_lockstep() {
        let start = Instant::now();
        let at = |us| move || start + Duration::from_micros(us);
        let mut look = Look::default();
        assert!(!look.is_worth_it(at(0)));
        look.frame_came(LOOK_BODY);
        assert!(!look.is_worth_it(at(0)), "who waits for each answer");
        (0..LOOK_FRAMES).for_each(|_| look.frame_came(LOOK_BODY));
        assert!(look.is_worth_it(at(0)) && look.is_worth_it(at(LOOK_US - 1)));
        assert!(!look.is_worth_it(at(LOOK_US)) && !look.is_worth_it(at(0)), "it sleeps then");
        (0..LOOK_FRAMES).for_each(|_| look.frame_came(LOOK_BODY));
        assert!(look.is_worth_it(at(0)));
        look.frame_came(LOOK_BODY);
        assert!(!look.is_worth_it(at(1)) && !look.is_worth_it(at(1)), "no batch any more");
        (0..LOOK_FRAMES).for_each(|_| look.frame_came(LOOK_BODY + 1));
        assert!(!look.is_worth_it(at(2)), "their copying is what takes time");
    }

    #[test]
    fn the_driver_is_woken_before_the_sleep_once_each_time_it_is_wanted() {
        #[derive(Default)]
        struct Count(AtomicU32);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let (again, count) = (Again::default(), Arc::new(Count::default()));
        let driver = Waker::from(Arc::clone(&count));
        again.before_sleep();
        for wanted in 1..3 {
            again.want(&driver);
            assert_eq!(count.0.load(Ordering::SeqCst), wanted - 1);
            again.before_sleep();
            again.before_sleep();
            assert_eq!(count.0.load(Ordering::SeqCst), wanted);
        }
    }
}
