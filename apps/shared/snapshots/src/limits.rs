//! The bounds of snapshots, each with its unit.

use std::time::Duration;

/// Files of a project; one with more has no snapshots.
pub const FILES_MAX: usize = 200_000;
/// Bytes of a file; a larger one is left out.
pub const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Paths that are left out of a snapshot; a project with more has none.
pub const LEFT_OUT_MAX: usize = 10_000;
/// Bytes that git may print to one question: paths, or the contents of files that are taken back
/// together.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of git's complaint that are read.
pub const COMPLAINT_BYTES: usize = 4096;
/// Bytes of a file of the project's repository that are read.
pub const SETTINGS_BYTES: u64 = 1024 * 1024;
/// The time limit of one run of git.
pub const GIT_PATIENCE: Duration = Duration::from_secs(120);
/// Changed files from which on they are written as one pack, and not if the project has them
/// already.
pub const PACKED_FROM: usize = 500;
/// Files of one such pack: with each, git looks through those that it has already.
pub const PACK_FILES: usize = 5_000;
/// Bytes kept of all snapshots together; beyond them all are dropped and a new history begins.
pub const KEPT_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Snapshots with changes between two looks at what all of them take on the disk.
pub const KEPT_LOOK: u32 = 50;
/// Bytes at the beginning of a text in which a zero tells that it is binary, as git has it.
pub const BINARY_BYTES: usize = 8000;
/// Lines of each side of a conflict that are shown.
pub const CONFLICT_LINES_SHOWN: usize = 6;
/// Conflicts that are shown.
pub const CONFLICTS_SHOWN: usize = 5;
/// Files and folders outside of snapshots that are looked at to say which of them changed.
pub const UNTAKEN_LOOKED: usize = 20_000;
/// Maximum number of untaken paths of one kind that are named.
pub const UNTAKEN_NAMED: usize = 3;
/// The maximum lag of file times behind the clock.
pub const CLOCK_STEP: Duration = Duration::from_millis(20);
/// Files whose permission bits changed that a snapshot knows.
pub const MODES_CHANGED_MAX: usize = 1_000;
