//! The bounds of the daemon's IO; those of its decisions are in `pipemux_core::limits`.

/// Bytes of the one buffer that everything is read into: a body of 64 KiB and its frame around it.
pub const SCRATCH_BUFFER: usize = 65 * 1024;
/// Bytes read from one connection before the others have their turn: a stream of large frames makes a
/// small one wait no longer than that.
pub const READ_TURN: usize = 64 * 1024;
/// Bytes written to one connection before the others have their turn; as much as one reading.
pub const WRITE_TURN: usize = 65 * 1024;
/// The same of a large frame that is on its way, beside small ones.
pub const BULKY_TURN: usize = 32 * 1024;
/// Bytes read from and written to one connection in a turn while none but large frames come: a whole one.
pub const BULK_ONLY_TURN: usize = 1024 * 1024;
/// Milliseconds after a small frame for which it isn't so.
pub const SMALL_FRAME_QUIET_MS: u64 = 20;
/// Longest body of an exchange for which being woken costs more than what is done then.
pub const BUSY_POLL_BODY_MAX: usize = 1024;
/// Frames with such bodies in one turn after which the daemon looks for more before it sleeps.
pub const BUSY_POLL_FRAMES_MIN: usize = 4;
/// Microseconds that it looks.
pub const BUSY_POLL_US: u64 = 50;
/// Longest body that the system need not hold more for than it does for any.
pub const SEND_BUFFER_BODY_MIN: usize = 128 * 1024;
/// Bytes that it holds of a longer one: all of it, with what it counts beside.
pub const SEND_BUFFER: usize = 1024 * 1024;
/// Bytes of one reading behind a frame that the shared buffer can't take: the beginning of the next.
pub const LARGE_FIRST_READ: usize = 2 * 1024;
/// Bytes of a frame still to come from which on they are read to where they stay.
pub const DIRECT_READ_MIN: usize = 8 * 1024;
/// Buffers of frames read so that are kept for the next ones.
pub const POOL_BUFFERS_MAX: usize = 4;
/// Milliseconds that they are kept with no such frame.
pub const POOL_IDLE_MS: u64 = 1_000;
/// Bytes that are read from an app's connection after its process ended; sockets hold less, so more
/// comes only from a descendant that still writes.
pub const FINAL_READ_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a log that one reading takes.
pub const LOG_READ: u64 = 256 * 1024;
/// Bytes that one process's prints are read by before others have their turn: what a pipe holds.
pub const LOG_TURN: usize = 64 * 1024;
/// Milliseconds after a turn that took so many; so a flood is read by at most 64 MB a second.
pub const LOG_PAUSE_MS: u64 = 1;
/// Bytes a second that one log keeps; what is left out is told in a line of its own.
pub const LOG_RATE: u64 = 128 * 1024;
/// Bytes that one log keeps at once, when it was quiet before.
pub const LOG_BURST: u64 = 512 * 1024;
/// Bytes of what was left out that are kept after all: the last ones.
pub const LOG_TAIL: usize = 8 * 1024;
/// Bytes that are taken from a pipe whose process ended: as much as a pipe can hold.
pub const FINAL_OUTPUT_MAX: usize = 1024 * 1024;
/// Logs of processes that ended whose positions are known; the oldest is forgotten first.
pub const LOG_STARTS_MAX: usize = 4096;
/// Fewest bytes that a manifest may give a log.
pub const LOG_MIN: u64 = 4096;
/// Fewest bytes of memory that a manifest may give a process.
pub const APP_MEMORY_MIN: u64 = 1024 * 1024;
/// Fewest descriptors that a manifest may give a process: what it is started with, and some to work.
pub const APP_FILES_MIN: u64 = 16;
/// Milliseconds that what an earlier daemon left may take to die, before this one serves.
pub const LEFTOVERS_MS: u64 = 1_000;
/// Milliseconds that a client which is to be closed may take to read its last answers.
pub const LINGER_MS: u64 = 2_000;
/// Milliseconds in which answers are still written when the daemon ends.
pub const FLUSH_MS: u64 = 1_000;
/// Milliseconds before records are written again, when the disk was full.
pub const DISK_RETRY_MS: u64 = 1_000;
/// Milliseconds before connections are accepted again, when descriptors ran out.
pub const ACCEPT_RETRY_MS: u64 = 100;
/// Milliseconds between two looks whether the socket is still where clients look for it: cleaners of
/// temporary files take it for an old one.
pub const SOCKET_CHECK_MS: u64 = 5_000;
/// Connections beyond the clients' bound that are told so before they are closed; further ones are closed
/// at once.
pub const REFUSED_MAX: usize = 64;
/// Connections accepted before others have their turn.
pub const ACCEPT_TURN: usize = 64;
/// Seconds that the launcher may take to end every app.
pub const LAUNCHER_END_S: u64 = 12;
/// Milliseconds that descendants of a lost launcher may take to die.
pub const ORPHANS_MS: u64 = 1_000;
/// Longest saved record, in bytes; a longer length means damage.
pub const RECORD_MAX: usize = 64 * 1024 * 1024;
/// Bytes of records kept in memory while they can't be written.
pub const UNWRITTEN_MAX: usize = 16 * 1024 * 1024;
/// Bytes that the saved state may grow by before it is written anew.
pub const JOURNAL_GROWTH: u64 = 4 * 1024 * 1024;
/// Bytes of records that one turn makes before they are written; those of a smaller turn are written together.
pub const RECORDS_BATCH: usize = 256 * 1024;
/// Milliseconds in which written records are gathered for one sync.
pub const SYNC_BATCH_MS: u64 = 25;
/// Bytes of room that the saved state takes on the disk before it needs them.
pub const JOURNAL_ROOM: u64 = 1024 * 1024;
/// Bytes of records that power loss may take: what one sync gathers, at most.
pub const UNSYNCED_MAX: u64 = 64 * 1024;
/// Bytes that are summed up to learn whether records stand behind damage.
pub const DAMAGE_SEARCH_MAX: usize = 64 * 1024 * 1024;
/// Bytes of the daemon's own log before it is rotated; one that is full is kept.
pub const DAEMON_LOG_MAX: u64 = 1024 * 1024;
/// Damaged states that are kept aside.
pub const BAD_MAX: u32 = 9;
/// Longest manifest that is read, in bytes.
pub const MANIFEST_MAX: u64 = 64 * 1024;
