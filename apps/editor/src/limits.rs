//! Every bound of the editor.

use std::time::Duration;

/// The longest file that can be opened, in bytes.
pub const FILE_MAX: u64 = 64 * 1024 * 1024;
/// The longest time that a request waits for a disk before it is answered.
pub const DISK_DEADLINE: Duration = Duration::from_secs(10);
/// The longest time that a session's start waits for the disks of its files.
pub const DISK_START: Duration = Duration::from_secs(4);
/// The largest binary file whose contents are read, in bytes.
pub const BINARY_MAX: u64 = 8 * 1024 * 1024;
/// The number of bytes that one answer of `pipemux read` holds.
pub const READABLE_MAX: u64 = 1024 * 1024 - 1024;
/// The time that a view or an action waits for the check for files changed on disk.
pub const DISK_CHECK: Duration = Duration::from_millis(400);
/// The time that a disk check waits for the remaining files after a disk didn't answer.
pub const DISK_CHECK_REST: Duration = Duration::from_millis(50);
/// The number of bytes of a file that are hashed at once.
pub const READ_PIECE: usize = 64 * 1024;
/// Maximum open files per session; beyond it, the least recently used saved one is closed.
pub const FILES_MAX: usize = 256;
/// Maximum number of open files that a view lists; beyond it, the view only counts them.
pub const FILES_LISTED: usize = 8;
/// Maximum number of folders that a view names when it only counts its open files.
pub const FOLDERS_NAMED: usize = 4;
/// The number of lines on a page of a view.
pub const PAGE: usize = 40;
/// Maximum number of columns of a line that a view shows.
pub const COLUMNS_MAX: usize = 200;
/// Maximum number of columns of a match that a question shows.
pub const OPTION_COLUMNS_MAX: usize = 80;
/// Maximum number of skipped places, of each kind, that a rename names.
pub const PLACES_NAMED: usize = 5;
/// Maximum number of files that the outcome of a change names.
pub const FILES_NAMED: usize = 12;
/// Maximum number of filtered-out places that an outcome names.
pub const LEFT_PLACES_NAMED: usize = 4;
/// Maximum number of line-number ranges that one answer counts as seen.
pub const NUMBERS_TOLD: usize = 512;
/// Maximum number of files without a match that a search names.
pub const FILES_WITHOUT_MATCH_NAMED: usize = 10;
/// Maximum number of definitions of a name that `find` offers.
pub const DEFINITIONS_NAMED: usize = 3;
/// Maximum size of matching files that `find` parses to look for definitions, in bytes.
pub const DEFINITIONS_BYTES: usize = 512 * 1024;
/// Maximum number of files in one list of lines or files.
pub const HEADS_MAX: usize = 500;
/// Maximum number of matches in one question, whose token carries all their positions.
pub const MATCHES_ASKED: usize = 10_000;
/// Maximum number of changed lines outside of the page that a view shows below it.
pub const CHANGED_LINES_SHOWN: usize = 8;
/// Maximum number of ranges of further changed lines that a view names.
pub const CHANGED_RANGES_NAMED: usize = 4;
/// Maximum number of line moves that an outcome reports; later line numbers are retired.
pub const MOVES_TOLD: usize = 4;
/// Into how many pieces the numbers that a reader knows may fall when an outcome says what they are
/// now; the numbers after them are retired.
pub const PIECES_MAX: usize = 256;
/// Maximum number of selections and matches kept per file; the oldest are dropped first.
pub const TRACKED_RANGES_MAX: usize = 256;
/// Maximum number of line splices and moves in a file's line log; the oldest go first.
pub const LINE_LOG_MAX: usize = 65_536;
/// The largest snapshot, in bytes; a session with more state is not hibernated.
pub const SNAPSHOT_MAX: usize = 128 * 1024 * 1024;
/// For how many files the shown texts are recorded; line numbers of further files are not trusted
/// after a restart.
pub const SHOWN_FILES_MAX: usize = 4_096;
/// Maximum number of current-file changes kept, to know which file a reader last saw.
pub const CURRENT_FILE_CHANGES_MAX: usize = 1_024;
/// Maximum number of changes that can be undone.
pub const HISTORY_MAX: usize = 1_000;
/// Maximum size of undoable changes, in bytes; the latest change can always be undone.
pub const HISTORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of kept changes that were undone before their files changed otherwise.
pub const SET_ASIDE_MAX: usize = 100;
/// Maximum size of the changes that [`SET_ASIDE_MAX`] bounds, in bytes.
pub const SET_ASIDE_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of meanings of a name that an error lists.
pub const MEANINGS_NAMED: usize = 8;
/// Maximum number of places of a conflict that are shown.
pub const CONFLICTS_SHOWN: usize = 3;
/// Maximum number of lines of each text of a conflict that are shown.
pub const CONFLICT_LINES_SHOWN: usize = 12;
/// The longest text that is kept after it was written, in bytes: others may write its file while
/// the session doesn't run.
pub const LAST_TEXT_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of texts that a session keeps after they were written.
pub const LAST_TEXTS_MAX: usize = 256;
/// After how many bytes of edits a journal is rewritten from the whole text, if the text is
/// shorter.
pub const JOURNAL_EDITS_MAX: usize = 1024 * 1024;
/// Past how many splices a change rebuilds the whole text instead of editing it in place.
pub const SPLICES_IN_PLACE: usize = 2_000;
/// Maximum number of files that `save` names, and of unsaved files that a view names.
pub const UNSAVED_NAMED: usize = 5;
/// The longest text that `lines` and `diff` return, in bytes: what another app can take by
/// reference.
pub const VALUE_MAX: usize = 512 * 1024;
/// The longest detail of a `diff`, in bytes.
pub const DETAIL_MAX: usize = 64 * 1024;
/// The number of lines that an error shows around the lines that it is about.
pub const EXCERPT_LINES: usize = 12;
/// The lines shown of either end of an error's range longer than [`EXCERPT_LINES`].
pub const EXCERPT_ENDS: usize = 3;
/// Maximum time to search for the smallest difference of two versions, in milliseconds.
pub const DIFF_MS: u64 = 300;
/// Maximum number of directory entries that are compared with a missing file's name.
pub const NEIGHBOURS_MAX: usize = 2_000;
/// The longest time that a check waits for another program to finish writing a file.
pub const WRITE_PATIENCE: Duration = Duration::from_millis(150);
/// The time between two checks of a file that another program is writing.
pub const WRITE_POLL: Duration = Duration::from_millis(3);
/// The longest path that is used as a key, in bytes; a longer one is hashed.
pub const KEY_PATH_MAX: usize = 480;
/// Below this age, in milliseconds, a file's times don't prove that it is unchanged.
pub const SETTLED_MS: u128 = 100;
/// The first line shown of each of several files when the caller names no lines.
pub const HEAD_FIRST: i64 = 1;
/// The last line shown of each of several files when the caller names no lines.
pub const HEAD_LAST: i64 = 400;
/// Minimum number of lines of a block that a diff reports as moved.
pub const MOVED_LINES_MIN: usize = 3;
/// Maximum number of lines, up and down, by which a moved block is shifted to match.
pub const SLIDE_MAX: usize = 64;
/// Maximum number of hunks within which two exchanged neighbouring blocks are recognised.
pub const EXCHANGE_HUNKS_MAX: usize = 16;
/// Maximum number of lines within which two exchanged neighbouring blocks are recognised.
pub const EXCHANGE_LINES_MAX: usize = 2_000;
/// Maximum number of equal lines above and below that can belong to exchanged blocks.
pub const EXCHANGE_REACH: usize = 8;
/// Longest run of only added or only removed lines that `diff` shows in full.
pub const DIFF_RUN_MAX: usize = 40;
/// The number of lines that `diff` shows of a run longer than [`DIFF_RUN_MAX`].
pub const DIFF_RUN_HEAD: usize = 20;
/// Lines per file that `find` shows without all=true; beyond it, the first and last ones.
pub const FOUND_LINES_SHOWN: usize = 80;
/// The number of first lines that `find` shows of a file above [`FOUND_LINES_SHOWN`].
pub const FOUND_LINES_HEAD: usize = 30;
/// The number of last lines that `find` shows of a file above [`FOUND_LINES_SHOWN`].
pub const FOUND_LINES_TAIL: usize = 10;
/// Maximum number of matches in a file that `find` scans for the last lines.
pub const FOUND_LINES_SCANNED: u64 = 100_000;
/// Minimum number of equal lines in a file whose text `find` writes only once.
pub const SAME_LINES_MIN: usize = 3;
/// Minimum number of lines with the same replacement that `diff` reports as one.
pub const FOLDED_LINES_MIN: usize = 4;
/// The longest replacement that `diff` reports once, both texts together, in bytes.
pub const FOLDED_TEXT_MAX: usize = 160;
/// Maximum number of ranges of folded lines that `diff` names for each file.
pub const FOLDED_RANGES_NAMED: usize = 64;
/// Maximum number of replacements that `diff` tries on all lines.
pub const REPLACEMENTS_TRIED: usize = 16;
/// Maximum number of hunk places or text occurrences that a question lists.
pub const PLACES_LISTED: usize = 20;
/// Maximum number of entries in a folder listing.
pub const FOLDER_ENTRIES_MAX: usize = 200;
/// The number of folder levels that a folder listing shows.
pub const FOLDER_DEPTH: usize = 2;
/// Maximum number of files searched for a name similar to one that isn't found.
pub const NEAREST_FILES_MAX: usize = 500;
/// The token budget of a query whose caller doesn't give one.
pub const QUERY_BUDGET: u32 = 4_000;
/// Maximum number of files without a symbol that are named.
pub const NAMED_WITHOUT_SYMBOLS: usize = 5;
/// Of how many Markdown files an outline lists the headings; of more it tells what each is about.
pub const MARKDOWN_IN_FULL: usize = 3;
/// Maximum number of pieces of a file that the heading above its lines names.
pub const PIECES_IN_HEADING: usize = 4;
/// The interval of numbered lines where not every line has its number.
pub const NUMBERED_EVERY: usize = 10;
/// The number of lines that `lines(around=…)` shows above and below a match.
pub const AROUND_LINES: usize = 3;
/// Documentation of more lines is left out with docs=false.
pub const DOCS_SHOWN: usize = 3;
/// Maximum number of ranges that the call for the rest of an answer names.
pub const REST_NAMED: usize = 12;
/// Maximum number of lines that a list of several files shows side by side.
pub const LINES_SIDE_BY_SIDE: usize = 4;
/// Maximum total number of columns of lines that are shown side by side.
pub const COLUMNS_SIDE_BY_SIDE: usize = 160;

/// Lines that were replaced unseen may take one part in so many of an outcome's budget.
pub const REPLACED_SHARE: u64 = 10;

/// Bytes of a change's diff, past which the rest is left out. The daemon keeps no more.
pub const CHANGE_DIFF_MAX: usize = 4_000;

/// Files that the preview of a change names, each with its number of places; the others are
/// counted.
pub const PREVIEW_FILES_NAMED: usize = 12;
/// The number of characters of a brief that the daemon shows, as PROTOCOL.md says.
pub const BRIEF_SHOWN: usize = 400;

/// Bytes of an `.editorconfig` or a `.gitattributes`, past which the rest is not read.
pub const RULES_BYTES: u64 = 64 * 1024;
/// Folders above a new file in which such files are looked for.
pub const RULES_FOLDERS: usize = 64;
