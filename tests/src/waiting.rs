//! Polls for an observable event, up to a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How long an event may take.
const DEADLINE: Duration = Duration::from_secs(15);

/// Polls until `check` is true.
///
/// # Panics
/// It is not true within 15 seconds; the message names the event.
#[track_caller]
pub fn wait_for(event: &str, mut check: impl FnMut() -> bool) {
    wait_until(event, || check().then_some(()));
}

/// Polls until `poll` returns a value, and returns that.
///
/// # Panics
/// There is none within 15 seconds; the message names the event.
#[track_caller]
pub fn wait_until<T>(event: &str, poll: impl FnMut() -> Option<T>) -> T {
    let Some(found) = poll_until(DEADLINE, poll) else {
        panic!("this did not happen within {} s: {event}", DEADLINE.as_secs())
    };
    found
}

/// Polls until `poll` returns a value or the deadline has passed.
pub fn poll_until<T>(deadline: Duration, mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = poll() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
