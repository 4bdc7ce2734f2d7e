//! The state of a request that waits for frames of a session.

use crate::keys::SessionKey;

/// A wait for frames of a session.
#[derive(Debug)]
pub(crate) struct TraceWait {
    /// The session.
    pub(crate) session: SessionKey,
    /// The position after which they come.
    pub(crate) after: u64,
    /// When it ends, on the monotonic clock.
    pub(crate) until: u64,
}
