//! The clock offsets of the reader whom times are shown to.

use serde::{Deserialize, Serialize};

/// The offset of a clock from UTC, from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Since when: seconds since 1970, UTC.
    pub from_s: u64,
    /// Seconds ahead of UTC.
    pub ahead_s: i32,
}
