//! Every bound of a search.

/// The longest file that is searched, in bytes. A longer one is named as left out.
pub const FILE_MAX: u64 = 64 * 1024 * 1024;
/// How many threads a search uses at most.
pub const THREADS_MAX: usize = 8;
/// How many line numbers are kept of what a filter left out of one file.
pub const LEFT_LINES_MAX: usize = 8;
/// How many entries a list of files can have.
pub const ENTRIES_MAX: usize = 256;
/// How many files a list of files can name: the walk ends with an error.
pub const FILES_MAX: usize = 500_000;
/// How large a compiled expression can be, in bytes.
pub const PATTERN_MAX: usize = 10 * 1024 * 1024;
/// How many bytes at the start of a file tell whether it is binary before it is searched.
pub const BINARY_HEAD: usize = 8 * 1024;
/// Up to which length a file is read as a whole before it is searched, in bytes.
pub const WHOLE_MAX: u64 = 256 * 1024;
/// How much more is read of a file that has grown meanwhile, in bytes.
pub const READ_MORE: usize = 64 * 1024;
/// Braces of a glob that are looked at for folders.
pub const BRACES_MAX: usize = 4;
/// The most files that are counted of those that were left out.
pub const IGNORED_MAX: usize = 10_000;
