//! The state of a request that waits for frames of a session.

use crate::keys::SessionKey;

/// A wait for frames of a session.
#[derive(Debug)]
pub(crate) struct TraceWait {
    pub(crate) session: SessionKey,
    /// The position after which the frames begin.
    pub(crate) after: u64,
    /// The time at which the wait ends, on the monotonic clock.
    pub(crate) until: u64,
}
