//! Every bound of what is kept of an output.

/// How many bytes of one line are kept. What follows is dropped up to the line's end.
pub const LINE_MAX: usize = 64 * 1024;
/// How many bytes of a line are kept that begins as a JSON message does.
pub const MESSAGE_MAX: usize = 4 * 1024 * 1024;
/// How many bytes of a line are compared with what tools print, and shown.
pub const TEXT_MAX: usize = 2 * 1024;
/// How many different errors are kept, and how many warnings and notes. Further ones are counted.
pub const PROBLEMS_MAX: usize = 1000;
/// How many further problems are told from one another, so that each is counted once.
pub const COUNTED_MAX: usize = 20_000;
/// How many failed tests are kept. Further ones are counted.
pub const FAILURES_MAX: usize = 1000;
/// How many failed tests of the same name are compared with a further one.
pub const NAMESAKES_MAX: usize = 16;
/// How many lines of detail a problem or a failed test has.
pub const DETAIL_LINES: usize = 16;
/// How many bytes of a line of detail are kept.
pub const DETAIL_MAX: usize = 512;
/// How many lines of detail one test can have before it is known whether it failed.
pub const PENDING_LINES: usize = 64;
/// How many lines at the start of an output are always kept.
pub const HEAD_LINES: usize = 100;
/// How many lines at the end of an output are always kept.
pub const TAIL_LINES: usize = 200;
/// How many lines that tell of a problem are kept between the start and the end.
pub const PROBLEM_LINES: usize = 2000;
/// How many similar lines in a row are shown before the others are folded.
pub const FOLD_HEAD: usize = 2;
/// How many words of two lines are compared to tell whether the lines are similar.
pub const FOLD_WORDS: usize = 24;
/// How many files or commits of a git command are kept. Further ones are counted.
pub const GIT_ITEMS: usize = 2000;
/// How many hunks of one file are kept.
pub const HUNKS_MAX: usize = 500;
/// How deep recursive calls of `make` are followed.
pub const DIRECTORIES_MAX: usize = 64;
