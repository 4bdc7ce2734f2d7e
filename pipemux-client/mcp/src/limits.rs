//! The bounds of this program. Those of the daemon's wire are `pipemux_client::proto::limits`.

use std::time::Duration;

/// Longest message on standard input, in bytes. The daemon takes less; what is between gets its
/// error, which says more.
pub const MESSAGE_MAX: usize = 16 * 1024 * 1024;
/// Longest id or member name of a message that can't be read, in bytes.
pub const TOKEN_MAX: usize = 512;
/// Results that may wait to be written; beyond that, the reader is shown things again.
pub const DELIVERIES_MAX: usize = 256;
/// Questions that may be before persons at once; beyond that, the oldest are left to the model.
pub const ASKED_MAX: usize = 256;
/// The most connections named after one process; further ones use their own process.
pub const SIBLINGS_MAX: u32 = 64;
/// Longest name of a reader that an HTTP request gives, in bytes.
pub const READER_MAX: usize = 128;
/// HTTP connections that are served at once. Those without the token make room for newcomers.
pub const CONNECTIONS_MAX: usize = 64;
/// Longest body of an HTTP request, in bytes.
pub const BODY_MAX: usize = 4 * 1024 * 1024;
/// The time limit for an HTTP client to send the head of each request.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for an HTTP client to send the body of a request.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause in accepting after the system refused a connection, as without descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
