//! The driver's single timer, which is set to the earliest of all deadlines.

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};

/// The single timer.
pub(super) struct Timer {
    sleep: Pin<Box<Sleep>>,
    waker: Waker,
    /// The deadline that it is set to, in milliseconds. It may be earlier than needed, because setting it again
    /// costs more than a turn without work.
    deadline: Option<u64>,
}

impl Timer {
    /// Creates a timer that wakes `waker`. Must be called within a runtime.
    pub(super) fn new(waker: Waker) -> Self {
        Self { sleep: Box::pin(sleep(Duration::ZERO)), waker, deadline: None }
    }

    /// Notes that the deadline has passed.
    pub(super) fn elapsed(&mut self) {
        self.deadline = None;
    }

    /// Sets the timer to a deadline in milliseconds after `start`, unless it fires earlier anyway.
    pub(super) fn set(&mut self, start: Instant, at: Option<u64>) {
        let Some(at) = at else { return };
        if self.deadline.is_some_and(|deadline| deadline <= at) {
            return;
        }
        self.deadline = Some(at);
        // A deadline beyond what the clock can represent needs no timer.
        let Some(instant) = start.checked_add(Duration::from_millis(at)) else { return };
        self.sleep.as_mut().reset(instant.into());
        if self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            self.waker.wake_by_ref();
        }
    }
}
