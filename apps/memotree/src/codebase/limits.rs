//! Every bound of a scan.

/// Source files that are read; of more, those that come first by their paths.
pub const FILES_MAX: usize = 20_000;
/// Bytes of a file; a longer one is left out.
pub const FILE_BYTES_MAX: u64 = 512 * 1024;
/// Bytes of all files that one scan parses. What is beyond is left to the next one.
pub const PARSED_BYTES_MAX: u64 = 64 << 20;
/// Symbols of one file that are kept.
pub const FILE_SYMBOLS_MAX: usize = 2_000;
/// Different words of one file that are kept, to count who mentions a symbol.
pub const FILE_WORDS_MAX: usize = 8_000;
/// Symbols of all files that are kept.
pub const SYMBOLS_MAX: usize = 300_000;
/// Bytes of what is remembered between sessions.
pub const CACHE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of what was found that a session reads when it opens.
pub const FOUND_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of most referenced symbols that are listed.
pub const TOP_MAX: usize = 24;
