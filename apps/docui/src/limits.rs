//! Every bound of the SDK, each with its unit; those of messages are in `pipemux_proto::limits`.

use std::time::Duration;

/// How long the serving loop waits for a request's work before it handles other requests. Most work
/// is done by then, and is answered in order.
pub const PATIENCE: Duration = Duration::from_millis(200);
/// How long a session that is closed waits for the work of its requests.
pub const CLOSE_PATIENCE: Duration = Duration::from_millis(1_200);
/// How long before its deadline a request is answered at the latest, if the deadline is at least
/// four times as long.
pub const DEADLINE_MARGIN: Duration = Duration::from_secs(1);
/// How long before the deadline of its request work stops to wait for what may go on.
pub const ANSWER_MARGIN: Duration = Duration::from_millis(1_500);
/// How many threads work at once. More than a few wait only while a file system hangs.
pub const THREADS_MAX: usize = 160;
/// How many threads are kept while they have no work.
pub const IDLE_THREADS_MAX: usize = 2;
/// The stack of a thread, in bytes.
pub const THREAD_STACK: usize = 512 * 1024;
/// How long to wait between attempts to open a file that another program holds a lease on.
pub const LEASE_RETRY: Duration = Duration::from_millis(20);
/// Bytes that one read of the connection may bring, at first and while messages are small.
pub const READ_MIN: usize = 16 * 1024;
/// Bytes that one read may bring while messages are large: a body of 64 KiB and the frame around
/// it.
pub const READ_MAX: usize = 65 * 1024;
/// Longest body, in bytes, that is copied out of the read buffer. A longer one takes the buffer
/// over.
pub const COPIED_BODY_MAX: usize = 8 * 1024;
/// Longest answer, in bytes, that is batched with others into one write.
pub const BATCHED_BODY_MAX: usize = 16 * 1024;
/// Most answers in one batch. They are on their way while the next ones are made.
pub const BATCH_ANSWERS_MAX: usize = 32;
/// Longest time that answers are batched while further requests have already arrived.
pub const BATCH_TIME_MAX: Duration = Duration::from_micros(200);
/// Tokens that an outcome's content may take when the daemon names no number.
pub const CONTENT_BUDGET: u32 = 4_000;
/// Lines for readers that wait to be sent, of one session; more are counted.
pub const NOTICES_QUEUED_MAX: usize = 64;
/// Longest line for readers or description of work, in bytes. The daemon shows less.
pub const HANDLE_TEXT_MAX: usize = 4 * 1024;
/// Bytes of a job's output that wait to be sent; the oldest make room.
pub const JOB_OUTPUT_QUEUED_MAX: usize = 128 * 1024;
/// Readers of whom one list keeps the page that they turned to.
pub const PAGED_READERS_MAX: usize = 64;
/// Shortest time between two refreshes that [`crate::App::next_wake`] asks for.
pub const WAKE_SPACING: Duration = Duration::from_millis(20);
/// How long after the first event of a watched path the app is refreshed: what is written in pieces
/// is then mostly complete.
pub const WATCH_SETTLE: Duration = Duration::from_millis(50);
/// Shortest time between two looks at the events of watched paths.
pub const WATCH_SPACING: Duration = Duration::from_millis(50);
/// How often an app is refreshed, and a watch tried again, while a path of it can't be watched.
pub const UNWATCHED_REFRESH: Duration = Duration::from_secs(1);
/// Paths of one session that are watched; the app is refreshed once a second for the others.
pub const WATCHED_PATHS_MAX: usize = 4096;
/// Bytes of events of watched paths that are read at once.
pub const WATCH_BUFFER: usize = 4096;
/// Most events of watched paths that are taken in at once; the others are left for the next time.
pub const WATCH_EVENTS_MAX: usize = 4096;
