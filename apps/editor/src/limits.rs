//! Every bound of the editor.

/// Longest file, in bytes.
pub const FILE_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of a file that are digested at once.
pub const READ_PIECE: usize = 64 * 1024;
/// Most files open in one session.
pub const FILES_MAX: usize = 64;
/// Lines of a screenful.
pub const PAGE: usize = 40;
/// Columns of a line that a view shows.
pub const COLUMNS_MAX: usize = 200;
/// Columns of a match that a question shows.
pub const OPTION_COLUMNS_MAX: usize = 80;
/// Matches of `find` that a view lists.
pub const MATCHES_SHOWN: usize = 20;
/// Most matches that a question can be about: its token carries their places.
pub const MATCHES_ASKED: usize = 10_000;
/// Lines changed out of view that the view shows below the screenful.
pub const SPOT_LINES: usize = 8;
/// Selections and matches that one file keeps; the oldest go first.
pub const MARKS_MAX: usize = 256;
/// Places that one file's log of line changes keeps; the oldest changes go first.
pub const LOG_MAX: usize = 65_536;
/// Bytes of the state that is written down before a sleep; a session with more is not put to sleep.
pub const ASLEEP_MAX: usize = 128 * 1024 * 1024;
/// Files that the record of what was shown keeps; further ones are not trusted after a restart.
pub const WITNESS_MAX: usize = 4_096;
/// Changes of the current file that are remembered, to know which file a reader saw.
pub const SWITCHES_MAX: usize = 1_024;
/// Changes of one file that can be undone.
pub const HISTORY_MAX: usize = 1_000;
/// Bytes of one file's changes that can be undone; the last one always can.
pub const HISTORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of edits after which a journal starts anew from the whole text, if the text is shorter.
pub const JOURNAL_EDITS_MAX: usize = 1024 * 1024;
/// Splices of one change past which a text is built anew instead of being changed in place.
pub const SPLICES_IN_PLACE: usize = 2_000;
/// Unsaved files that the outcome of `save` names.
pub const UNSAVED_NAMED: usize = 5;
/// Longest text given by `lines` and `diff`, in bytes: what another app can take by reference.
pub const VALUE_MAX: usize = 512 * 1024;
/// Longest detail of `diff`, in bytes.
pub const DETAIL_MAX: usize = 64 * 1024;
/// Lines shown around a place that has changed.
pub const EXCERPT_LINES: usize = 12;
/// Time after which a comparison of two versions settles for a coarser one, in milliseconds.
pub const DIFF_MS: u64 = 300;
/// Entries of a directory that are looked at for a name like the one missing.
pub const NEIGHBOURS_MAX: usize = 2_000;
/// Longest path that is a key of its own, in bytes; a longer one is hashed.
pub const KEY_PATH_MAX: usize = 480;
/// Age below which a file's times don't prove that it is unchanged, in milliseconds.
pub const SETTLED_MS: u128 = 100;
