//! Every bound of a patch.

/// The longest patch, in bytes.
pub const PATCH_MAX: usize = 16 * 1024 * 1024;
/// How many sections (files, or blocks of one file) a patch can have.
pub const SECTIONS_MAX: usize = 10_000;
/// How many hunks all sections together can have.
pub const HUNKS_MAX: usize = 20_000;
/// How much work finding the places of all hunks may be, in lines looked at. It bounds the time of a hostile
/// patch, and is the same on every machine.
pub const WORK_MAX: u64 = 60_000_000;
/// How many places of one hunk are told apart; a hunk that fits in more is refused unless a number decides.
pub const CANDIDATES_MAX: usize = 100;
/// How many hunks ahead are consulted for where a hunk must end.
pub const LOOKAHEAD: usize = 8;
/// How many problems a refusal tells.
pub const PROBLEMS_TOLD: usize = 8;
/// How many differing lines are told for a hunk that fits nowhere.
pub const DIFFERENCES_TOLD: usize = 3;
/// How many characters of a line a refusal or a question shows.
pub const COLUMNS_MAX: usize = 100;
/// A line that occurs more often than this tells nothing about where a hunk nearly fits.
pub const COMMON_LINE: usize = 50;
/// How many lines of a file are compared, character by character, to find a similar one.
pub const SIMILAR_LINES_MAX: usize = 50_000;
/// How many of a hunk's lines are looked for in this way.
pub const SIMILAR_PATTERNS_MAX: usize = 4;
/// How many bytes of a line take part in such a comparison.
pub const SIMILAR_BYTES_MAX: usize = 256;
/// Below this similarity, of 1, a line isn't called near.
pub const SIMILAR_MIN: f64 = 0.55;
/// The longest path, in bytes.
pub const PATH_MAX: usize = 4096;
/// How many lines before a block are searched for the name of its file.
pub const NAME_LINES: usize = 3;
/// How many lines above a candidate are searched for what it belongs to.
pub const LINES_ABOVE: usize = 2_000;
/// How many files a summary tells.
pub const FILES_TOLD: usize = 20;
/// How many hunks of one file it tells.
pub const RANGES_TOLD: usize = 12;
