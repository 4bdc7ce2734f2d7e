//! Every bound of a search.

/// The longest file that is searched, in bytes. A longer one is reported as skipped.
pub const FILE_MAX: u64 = 64 * 1024 * 1024;
/// Maximum number of threads of a search.
pub const THREADS_MAX: usize = 8;
/// Maximum number of line numbers kept per file and filter for matches left out.
pub const LEFT_LINES_MAX: usize = 8;
/// Maximum number of entries in a list of files.
pub const ENTRIES_MAX: usize = 256;
/// Maximum number of files that a list can name; beyond it, the walk fails.
pub const FILES_MAX: usize = 500_000;
/// Maximum size of a compiled regular expression, in bytes.
pub const PATTERN_MAX: usize = 10 * 1024 * 1024;
/// The number of bytes at the start of a file that are checked for binary content.
pub const BINARY_HEAD: usize = 8 * 1024;
/// Up to which length a file is read as a whole before it is searched, in bytes.
pub const WHOLE_MAX: u64 = 256 * 1024;
/// The number of additional bytes read from a file that has grown meanwhile.
pub const READ_MORE: usize = 64 * 1024;
/// Braces of a glob that are looked at for folders.
pub const BRACES_MAX: usize = 4;
/// Maximum number of ignored files that are counted.
pub const IGNORED_MAX: usize = 10_000;
