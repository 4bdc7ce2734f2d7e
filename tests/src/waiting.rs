//! Waiting for what can be observed.

use std::thread;
use std::time::{Duration, Instant};

/// Looks again and again until there is something to see.
///
/// # Panics
/// Nothing is seen within 15 seconds; says what was awaited.
pub fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let found = look_for(Duration::from_secs(15), &mut look);
    found.unwrap_or_else(|| panic!("waited in vain for: {what}"))
}

/// Looks again and again, but no longer than that.
pub fn look_for<T>(deadline: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
