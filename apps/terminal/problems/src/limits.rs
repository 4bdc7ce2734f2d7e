//! Every bound of what is kept of an output.

/// The most bytes of a line that are kept. The rest is dropped up to the line's end.
pub const LINE_MAX: usize = 64 * 1024;
/// The most bytes of a line that are kept if it begins like a JSON message.
pub const MESSAGE_MAX: usize = 4 * 1024 * 1024;
/// The most bytes of a line that are matched against tools' formats, and shown.
pub const TEXT_MAX: usize = 2 * 1024;
/// The most errors kept, and the most warnings and notes. Further ones are counted.
pub const PROBLEMS_MAX: usize = 1000;
/// The most further problems that are distinguished, so that each is counted once.
pub const COUNTED_MAX: usize = 20_000;
/// The most failed tests that are kept. Further ones are counted.
pub const FAILURES_MAX: usize = 1000;
/// The most failed tests of the same name that a further one is compared with.
pub const NAMESAKES_MAX: usize = 16;
/// The most lines of detail of a problem or a failed test.
pub const DETAIL_LINES: usize = 16;
/// The most bytes of a line of detail that are kept.
pub const DETAIL_MAX: usize = 512;
/// The most lines of detail of a test before its outcome is known.
pub const PENDING_LINES: usize = 64;
/// The number of lines at the start of an output that are always kept.
pub const HEAD_LINES: usize = 100;
/// The number of lines at the end of an output that are always kept.
pub const TAIL_LINES: usize = 200;
/// The most lines reporting problems that are kept between the start and the end.
pub const PROBLEM_LINES: usize = 2000;
/// The number of similar lines in a row that are shown before the others are folded.
pub const FOLD_HEAD: usize = 2;
/// The most words that are compared to decide whether two lines are similar.
pub const FOLD_WORDS: usize = 24;
/// The most files or commits of a git command that are kept. Further ones are counted.
pub const GIT_ITEMS: usize = 2000;
/// The most hunks of a file that are kept.
pub const HUNKS_MAX: usize = 500;
/// The depth to which recursive calls of `make` are followed.
pub const DIRECTORIES_MAX: usize = 64;
