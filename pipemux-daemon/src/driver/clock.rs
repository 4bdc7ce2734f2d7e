//! The daemon's clocks, and the single timer, which is set to the earliest of all deadlines.

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pipemux_core::Now;
use tokio::time::{Sleep, sleep};

/// Tells the time since the start, and wakes the driver at a deadline.
pub(super) struct Clock {
    started: Instant,
    sleep: Pin<Box<Sleep>>,
    waker: Waker,
    /// The deadline that the timer is set to, in milliseconds since the start. It may be earlier
    /// than needed, because setting the timer again costs more than a turn without work.
    deadline: Option<u64>,
}

impl Clock {
    /// Starts a clock whose timer wakes `waker`. Must be called within a runtime.
    pub(super) fn new(waker: Waker) -> Self {
        let sleep = Box::pin(sleep(Duration::ZERO));
        Self { started: Instant::now(), sleep, waker, deadline: None }
    }

    pub(super) fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Now { mono_ms: ms(self.started.elapsed()), unix_ms: ms(unix) }
    }

    /// Notes that the timer has fired.
    pub(super) fn timer_fired(&mut self) {
        self.deadline = None;
    }

    /// Sets the timer to a deadline in milliseconds since the start, unless it fires earlier
    /// anyway.
    pub(super) fn set_timer(&mut self, at: u64) {
        if self.deadline.is_some_and(|deadline| deadline <= at) {
            return;
        }
        self.deadline = Some(at);
        // A deadline beyond what the clock can represent needs no timer.
        let Some(instant) = self.started.checked_add(Duration::from_millis(at)) else { return };
        self.sleep.as_mut().reset(instant.into());
        if self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            self.waker.wake_by_ref();
        }
    }
}
