//! The limits of the daemon's IO; those of its decisions are in `pipemux_core::limits`.

/// Size of the scratch buffer, in bytes: a body of 64 KiB and the frame around it.
pub const SCRATCH_BUFFER: usize = 65 * 1024;
/// Bytes read from one connection in a turn. A stream of large frames delays a small frame by no
/// more than that.
pub const READ_TURN: usize = 64 * 1024;
/// Bytes written to one connection in a turn: as much as one read takes.
pub const WRITE_TURN: usize = 65 * 1024;
/// Bytes of a large transfer read or written in a turn while small frames arrive.
pub const BULKY_TURN: usize = 32 * 1024;
/// Bytes that large transfers share in a turn while no small frames arrive: a whole frame.
pub const BULK_ONLY_TURN: usize = 1024 * 1024;
/// The time after a small frame in which large transfers get small shares, in milliseconds.
pub const SMALL_FRAME_QUIET_MS: u64 = 20;
/// Longest body of an exchange, in bytes, for which a wake-up costs more than the work.
pub const BUSY_POLL_BODY_MAX: usize = 1024;
/// Fewest frames with such bodies in one turn that start busy polling.
pub const BUSY_POLL_FRAMES_MIN: usize = 4;
/// The time that the daemon polls before it sleeps, in microseconds.
pub const BUSY_POLL_US: u64 = 50;
/// Longest body, in bytes, that the system's default send buffer suffices for.
pub const SEND_BUFFER_BODY_MIN: usize = 128 * 1024;
/// Size of the send buffer for longer bodies, in bytes: a whole body, with the system's overhead.
pub const SEND_BUFFER: usize = 1024 * 1024;
/// Bytes of the first read after a frame that was larger than the scratch buffer: the beginning of
/// the next one.
pub const LARGE_FIRST_READ: usize = 2 * 1024;
/// Fewest missing bytes of a frame that are read directly into the frame's own buffer.
pub const DIRECT_READ_MIN: usize = 8 * 1024;
/// Buffers for large frames that are kept for reuse.
pub const POOL_BUFFERS_MAX: usize = 4;
/// The time that pooled buffers are kept without large frames, in milliseconds.
pub const POOL_IDLE_MS: u64 = 1_000;
/// Bytes that pass through the daemon before freed memory is given back to the system.
pub const TRIM_AFTER: usize = 16 * 1024 * 1024;
/// The delay before freed memory is given back, in milliseconds.
pub const TRIM_PAUSE_MS: u64 = 1_000;
/// Bytes that are read from an app's connection after its process exited. Sockets hold less, so
/// there is more only if a descendant keeps writing.
pub const FINAL_READ_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a log that one read takes.
pub const LOG_READ: u64 = 256 * 1024;
/// Bytes of one process's output that are read in a turn: what a pipe holds.
pub const LOG_TURN: usize = 64 * 1024;
/// Pause after a turn that read that much, in milliseconds. So at most 64 MB of a flood are read
/// per second.
pub const LOG_PAUSE_MS: u64 = 1;
/// Bytes that one log keeps per second; a line in the log stands for the rest.
pub const LOG_RATE: u64 = 128 * 1024;
/// Bytes that a log which was quiet before keeps at once.
pub const LOG_BURST: u64 = 512 * 1024;
/// Bytes at the end of what is left out of a log that are kept after all.
pub const LOG_TAIL: usize = 8 * 1024;
/// Bytes of a confined process's output that are searched for a refusal, to explain it.
pub const DENIAL_SEARCH_MAX: usize = 64 * 1024;
/// Bytes that are read from the pipe of a process that exited: as much as a pipe can hold.
pub const FINAL_OUTPUT_MAX: usize = 1024 * 1024;
/// Logs without a process whose start positions are remembered; the oldest is forgotten first.
pub const LOG_STARTS_MAX: usize = 4096;
/// Shortest log that a manifest may ask for, in bytes.
pub const LOG_MIN: u64 = 4096;
/// Least memory that a manifest may give a process, in bytes.
pub const APP_MEMORY_MIN: u64 = 1024 * 1024;
/// Fewest descriptors that a manifest may give a process: those that it starts with, and some to
/// work with.
pub const APP_FILES_MIN: u64 = 16;
/// How long the processes of an earlier daemon may take to end before this one serves, in
/// milliseconds.
pub const LEFTOVERS_MS: u64 = 1_000;
/// The number of times that freed memory is given back.
pub const TRIMS: u32 = 3;
/// The interval at which freed memory is given back, in milliseconds.
pub const TRIM_AGAIN_MS: u64 = 5_000;
/// Length of a turn from which on the log says who it was for, in milliseconds.
pub const SLOW_TURN_MS: u64 = 250;
/// The time that a closing client has to read its last answers, in milliseconds.
pub const LINGER_MS: u64 = 2_000;
/// The time for writing answers when the daemon stops, in milliseconds.
pub const FLUSH_MS: u64 = 1_000;
/// Pause before records are written again after the disk was full, in milliseconds.
pub const DISK_RETRY_MS: u64 = 1_000;
/// Pause before connections are accepted again after descriptors ran out, in milliseconds.
pub const ACCEPT_RETRY_MS: u64 = 100;
/// How long a daemon that a service manager started waits for an earlier one to end, in
/// milliseconds.
pub const LOCK_WAIT_MS: u64 = 15_000;
/// Pause between two tries to take the lock of an earlier daemon that is ending, in milliseconds.
pub const LOCK_RETRY_MS: u64 = 20;
/// Descriptors that a service manager may pass, of which one is used: with more the daemon says
/// what is wrong.
pub const PASSED_MAX: i32 = 16;
/// Connections of those who read metrics that are served at once; further ones wait.
pub const METRICS_CONNECTIONS_MAX: usize = 8;
/// The time that a connection for metrics is served, in milliseconds.
pub const METRICS_MS: u64 = 10_000;
/// Longest head of a request for metrics, in bytes.
pub const METRICS_HEAD_MAX: usize = 8 * 1024;
/// Requests without an answer whose time is measured; further ones are only counted.
pub const METRICS_REQUESTS_MAX: usize = 16 * 1024;
/// Pause between two checks that the daemon's files are in their places, in milliseconds. Programs
/// that clean up temporary files remove the socket because it looks old.
pub const FILES_CHECK_MS: u64 = 5_000;
/// Clients beyond the limit that are told so before they are closed; further ones are closed at
/// once.
pub const REFUSED_MAX: usize = 64;
/// Connections accepted in a turn.
pub const ACCEPT_TURN: usize = 64;
/// The time that the launcher has to end every app, in seconds.
pub const LAUNCHER_END_S: u64 = 12;
/// The time that the descendants of a lost launcher have to end, in milliseconds.
pub const ORPHANS_MS: u64 = 1_000;
/// Longest record of the journal, in bytes; a greater length means damage.
pub const RECORD_MAX: usize = 64 * 1024 * 1024;
/// Bytes of records that are kept in memory while they can't be written.
pub const UNWRITTEN_MAX: usize = 16 * 1024 * 1024;
/// Bytes by which the journal may grow before it is compacted.
pub const JOURNAL_GROWTH: u64 = 4 * 1024 * 1024;
/// Bytes of records after which they are written before the end of the turn.
pub const RECORDS_BATCH: usize = 256 * 1024;
/// The time for which written records are gathered for one sync, in milliseconds.
pub const SYNC_BATCH_MS: u64 = 25;
/// Space that the journal reserves on the disk in advance, in bytes.
pub const JOURNAL_ROOM: u64 = 1024 * 1024;
/// Bytes of records that power loss may cost: at most what one sync gathers.
pub const UNSYNCED_MAX: u64 = 64 * 1024;
/// Bytes whose checksums are computed at most to find out whether records follow damage.
pub const DAMAGE_SEARCH_MAX: usize = 64 * 1024 * 1024;
/// Length at which the daemon's own log is rotated, in bytes; one earlier file is kept.
pub const DAEMON_LOG_MAX: u64 = 1024 * 1024;
/// Files that the audit log is divided into; the oldest is removed first.
pub const AUDIT_FILES: u32 = 8;
/// Size of the audit log unless the settings say otherwise, in bytes, all its files together.
pub const AUDIT_MAX: u64 = 64 * 1024 * 1024;
/// Smallest size of the audit log that the settings may ask for, in bytes.
pub const AUDIT_MIN: u64 = 64 * 1024;
/// The default time for which the audit log is kept, in days.
pub const AUDIT_DAYS: u64 = 90;
/// Longest time for which the settings may ask the audit log to be kept, in days.
pub const AUDIT_DAYS_MAX: u64 = 36_500;
/// The fewest rounds of history that `config.toml` may ask for: what was just done can be undone.
pub const HISTORY_MIN: usize = 10;
/// Bytes of the audit log that are kept in memory while they can't be written.
pub const AUDIT_PENDING_MAX: usize = 1024 * 1024;
/// Files of pinned programs whose hashes are kept in memory; past it they are computed again.
pub const PINNED_KNOWN_MAX: usize = 256;
/// Milliseconds after which a log says again what time it is, when its process prints.
pub const LOG_DATE_MS: u64 = 60_000;
/// Files of one program that its author works on whose changes are noticed.
pub const DEV_FILES_MAX: usize = 64;
/// Processes that started a client, directly or not, that are looked up; a longer line can't be
/// relied upon.
pub const ANCESTORS_MAX: usize = 256;
/// Names of them that a line of the audit log has.
pub const ANCESTORS_WRITTEN: usize = 8;
/// Such processes that are kept in mind as long as they live, each with a descriptor.
pub const ANCESTORS_KNOWN_MAX: usize = 64;
/// The maximum number of lookups of a client's ancestors if one ends meanwhile.
pub const ANCESTRY_TRIES: usize = 5;
/// Damaged journals that are set aside.
pub const BAD_MAX: u32 = 9;
/// Longest manifest, in bytes.
pub const MANIFEST_MAX: u64 = 64 * 1024;
