//! The bounds of the daemon's IO; those of its decisions are in `pipemux_core::limits`.

/// Bytes of the one buffer that everything is read into: a body of 64 KiB and its frame around it.
pub const SCRATCH: usize = 65 * 1024;
/// Bytes read from one connection before the others have their turn.
pub const READ_TURN: usize = 256 * 1024;
/// Bytes written to one connection before the others have their turn; as much as one reading.
pub const WRITE_TURN: usize = 65 * 1024;
/// Frames that one write gathers.
pub const GATHER: usize = 128;
/// Bytes that are read from an app's connection after its process ended; sockets hold less, so more
/// comes only from a descendant that still writes.
pub const LAST_WORDS: usize = 4 * 1024 * 1024;
/// Bytes of a log that one reading takes.
pub const LOG_READ: u64 = 256 * 1024;
/// Milliseconds that a client which is to be closed may take to read its last answers.
pub const LINGER_MS: u64 = 2_000;
/// Milliseconds in which answers are still written when the daemon ends.
pub const FLUSH_MS: u64 = 1_000;
/// Milliseconds before records are written again, when the disk was full.
pub const DISK_PAUSE_MS: u64 = 1_000;
/// Milliseconds before connections are accepted again, when descriptors ran out.
pub const ACCEPT_PAUSE_MS: u64 = 100;
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
/// Milliseconds in which written records are gathered for one sync.
pub const SYNC_MS: u64 = 25;
/// Damaged states that are kept aside.
pub const BAD_MAX: u32 = 9;
