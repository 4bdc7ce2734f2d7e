//! Every bound of a patch.

/// The longest patch, in bytes.
pub const PATCH_MAX: usize = 16 * 1024 * 1024;
/// Maximum number of sections (files, or blocks of one file) in a patch.
pub const SECTIONS_MAX: usize = 10_000;
/// Maximum number of hunks in all sections together.
pub const HUNKS_MAX: usize = 20_000;
/// How much work finding the places of all hunks may be, in lines looked at. It bounds the time of
/// a hostile patch, and is the same on every machine.
pub const WORK_MAX: u64 = 60_000_000;
/// Maximum number of places considered for a hunk; with more, a line number must decide.
pub const CANDIDATES_MAX: usize = 100;
/// The number of following hunks consulted to find where a hunk must end.
pub const LOOKAHEAD: usize = 8;
/// Maximum number of problems that a refusal reports.
pub const PROBLEMS_TOLD: usize = 8;
/// Maximum number of differing lines reported for a hunk that fits nowhere.
pub const DIFFERENCES_TOLD: usize = 3;
/// Maximum number of characters of a line that a refusal or a question shows.
pub const COLUMNS_MAX: usize = 100;
/// The number of occurrences above which a line is ignored when looking for near matches.
pub const COMMON_LINE: usize = 50;
/// Maximum number of lines of a file compared by character to find a similar one.
pub const SIMILAR_LINES_MAX: usize = 50_000;
/// Maximum number of lines of a hunk for which similar lines are searched.
pub const SIMILAR_PATTERNS_MAX: usize = 4;
/// Maximum number of bytes of a line used in a similarity comparison.
pub const SIMILAR_BYTES_MAX: usize = 256;
/// Below this similarity, of 1, a line isn't called near.
pub const SIMILAR_MIN: f64 = 0.55;
/// The longest path, in bytes.
pub const PATH_MAX: usize = 4096;
/// The number of lines before a block that are searched for the name of its file.
pub const NAME_LINES: usize = 3;
/// The number of lines above a candidate that are searched for its enclosing context.
pub const LINES_ABOVE: usize = 2_000;
/// Maximum number of files in a summary.
pub const FILES_TOLD: usize = 20;
/// Maximum number of hunks of one file in a summary.
pub const RANGES_TOLD: usize = 12;
