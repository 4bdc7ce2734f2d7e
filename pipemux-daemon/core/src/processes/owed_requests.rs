//! Counts the answers that a session owes, and holds requests until its process accepts them.

use std::collections::VecDeque;

use bytes::Bytes;
use pipemux_proto::envelope::Method;

/// The requests of one session that have no answer yet; [`OpenRequests`] has them by number.
///
/// [`OpenRequests`]: crate::processes::open_requests::OpenRequests
#[derive(Debug, Default)]
pub struct OwedRequests {
    /// How many there are, including those that wait.
    pub count: usize,
    /// Those that are sent once the session is ready, oldest first.
    pub waiting: VecDeque<QueuedRequest>,
}

/// A request that waits for its session to become ready.
#[derive(Debug)]
pub struct QueuedRequest {
    pub id: u64,
    pub method: Method,
    /// The encoded body.
    pub body: Bytes,
}
