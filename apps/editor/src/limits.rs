//! Every bound of the editor.

use std::time::Duration;

/// The longest file that can be opened, in bytes.
pub const FILE_MAX: u64 = 64 * 1024 * 1024;
/// How long a request may wait for a disk before it is answered.
pub const DISK_DEADLINE: Duration = Duration::from_secs(10);
/// How long the start of a session waits for the disks of its files.
pub const DISK_START: Duration = Duration::from_secs(4);
/// The longest file that is no text whose bytes are read, in bytes.
pub const BINARY_MAX: u64 = 8 * 1024 * 1024;
/// As many bytes as one answer of `pipemux read` holds.
pub const READABLE_MAX: u64 = 1024 * 1024 - 1024;
/// How long a view or an action waits to know whether files have changed on disk.
pub const DISK_CHECK: Duration = Duration::from_millis(400);
/// How long it waits for the files after one whose disk doesn't answer.
pub const DISK_CHECK_REST: Duration = Duration::from_millis(50);
/// How many bytes of a file are digested at once.
pub const READ_PIECE: usize = 64 * 1024;
/// How many files can be open in one session. Beyond it, the saved one is closed that was used longest ago.
pub const FILES_MAX: usize = 256;
/// How many open files a view lists; of more it tells only how many there are.
pub const FILES_LISTED: usize = 8;
/// How many of their folders it names.
pub const FOLDERS_NAMED: usize = 4;
/// How many lines a page of a view has.
pub const PAGE: usize = 40;
/// How many columns of a line a view shows.
pub const COLUMNS_MAX: usize = 200;
/// How many columns of a match a question shows.
pub const OPTION_COLUMNS_MAX: usize = 80;
/// How many places a rename names of those that it leaves out, of each kind.
pub const PLACES_NAMED: usize = 5;
/// How many files the outcome of a change names.
pub const FILES_NAMED: usize = 12;
/// How many places of what a filter left out an outcome names.
pub const LEFT_PLACES_NAMED: usize = 4;
/// How many ranges of line numbers one answer counts as seen.
pub const NUMBERS_TOLD: usize = 512;
/// How many files of a search are named that have no match.
pub const FILES_WITHOUT_MATCH_NAMED: usize = 10;
/// How many definitions of a name `find` offers.
pub const DEFINITIONS_NAMED: usize = 3;
/// How many bytes of files with matches `find` parses to look for definitions.
pub const DEFINITIONS_BYTES: usize = 512 * 1024;
/// How many files one list of lines or files shows at most.
pub const HEADS_MAX: usize = 500;
/// How many matches a question can be about: its token carries all of their positions.
pub const MATCHES_ASKED: usize = 10_000;
/// How many changed lines outside of the page a view shows below it.
pub const CHANGED_LINES_SHOWN: usize = 8;
/// How many ranges of further changed lines a view names.
pub const CHANGED_RANGES_NAMED: usize = 4;
/// How many moves of lines an outcome tells; the numbers after them are retired.
pub const MOVES_TOLD: usize = 4;
/// Into how many pieces the numbers that a reader knows may fall when an outcome says what they are now; the
/// numbers after them are retired.
pub const PIECES_MAX: usize = 256;
/// How many selections and matches of one file are kept; the oldest are forgotten first.
pub const TRACKED_RANGES_MAX: usize = 256;
/// How many line splices and moves the line log of one file keeps; the oldest are forgotten first.
pub const LINE_LOG_MAX: usize = 65_536;
/// The largest snapshot, in bytes; a session with more state is not hibernated.
pub const SNAPSHOT_MAX: usize = 128 * 1024 * 1024;
/// For how many files the shown texts are recorded; line numbers of further files are not trusted after a
/// restart.
pub const SHOWN_FILES_MAX: usize = 4_096;
/// How many changes of the current file are remembered, to know which file a reader last saw.
pub const CURRENT_FILE_CHANGES_MAX: usize = 1_024;
/// How many changes can be undone.
pub const HISTORY_MAX: usize = 1_000;
/// How many bytes of changes can be undone; the latest change always can.
pub const HISTORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How many changes are kept that were undone before their files changed otherwise.
pub const SET_ASIDE_MAX: usize = 100;
/// How many bytes of them are kept.
pub const SET_ASIDE_BYTES_MAX: usize = 256 * 1024;
/// How many meanings of a name an error lists.
pub const MEANINGS_NAMED: usize = 8;
/// How many places of a conflict are shown.
pub const CONFLICTS_SHOWN: usize = 3;
/// How many lines of each text of a conflict are shown.
pub const CONFLICT_LINES_SHOWN: usize = 12;
/// The longest text that is kept after it was written, in bytes: others may write its file while the session doesn't run.
pub const LAST_TEXT_MAX: usize = 4 * 1024 * 1024;
/// How many such texts a session keeps.
pub const LAST_TEXTS_MAX: usize = 256;
/// After how many bytes of edits a journal is rewritten from the whole text, if the text is shorter.
pub const JOURNAL_EDITS_MAX: usize = 1024 * 1024;
/// Past how many splices a change rebuilds the whole text instead of editing it in place.
pub const SPLICES_IN_PLACE: usize = 2_000;
/// How many files the outcome of `save` names, and how many unsaved ones a view.
pub const UNSAVED_NAMED: usize = 5;
/// The longest text that `lines` and `diff` return, in bytes: what another app can take by reference.
pub const VALUE_MAX: usize = 512 * 1024;
/// The longest detail of `diff`, in bytes.
pub const DETAIL_MAX: usize = 64 * 1024;
/// How many lines an error shows around the lines that it is about.
pub const EXCERPT_LINES: usize = 12;
/// How many lines an error shows of either end of a range that is longer than [`EXCERPT_LINES`].
pub const EXCERPT_ENDS: usize = 3;
/// How long a comparison of two versions may search for the smallest difference, in milliseconds.
pub const DIFF_MS: u64 = 300;
/// How many entries of a directory are compared with the name of a missing file.
pub const NEIGHBOURS_MAX: usize = 2_000;
/// How long a check waits for another program to finish writing a file.
pub const WRITE_PATIENCE: Duration = Duration::from_millis(150);
/// How long it waits between two looks at such a file.
pub const WRITE_POLL: Duration = Duration::from_millis(3);
/// The longest path that is used as a key, in bytes; a longer one is hashed.
pub const KEY_PATH_MAX: usize = 480;
/// Below this age, in milliseconds, a file's times don't prove that it is unchanged.
pub const SETTLED_MS: u128 = 100;
/// The lines of each of several files that are shown when the caller names none.
pub const HEAD_FIRST: i64 = 1;
/// The last of these lines.
pub const HEAD_LAST: i64 = 400;
/// From how many lines on a block that stands elsewhere is said to have moved.
pub const MOVED_LINES_MIN: usize = 3;
/// By how many lines, up and down, the place of a block is looked for that moved.
pub const SLIDE_MAX: usize = 64;
/// In how many hunks two neighbouring blocks are recognised that changed places.
pub const EXCHANGE_HUNKS_MAX: usize = 16;
/// In how many lines.
pub const EXCHANGE_LINES_MAX: usize = 2_000;
/// How many equal lines above and below these may belong to the blocks.
pub const EXCHANGE_REACH: usize = 8;
/// How many lines in a row `diff` shows that were only added, or only taken out.
pub const DIFF_RUN_MAX: usize = 40;
/// How many of a longer run it shows.
pub const DIFF_RUN_HEAD: usize = 20;
/// How many lines of one file `find` shows without all=true; of more it shows the first and the last ones.
pub const FOUND_LINES_SHOWN: usize = 80;
/// How many of the first lines it shows then.
pub const FOUND_LINES_HEAD: usize = 30;
/// How many of the last lines it shows then.
pub const FOUND_LINES_TAIL: usize = 10;
/// How many matches of a file it goes through for the last lines.
pub const FOUND_LINES_SCANNED: u64 = 100_000;
/// From how many equal lines of a file on `find` writes their text once.
pub const SAME_LINES_MIN: usize = 3;
/// From how many lines on that differ by the same replacement `diff` tells it once.
pub const FOLDED_LINES_MIN: usize = 4;
/// The longest such replacement, both texts together, in bytes.
pub const FOLDED_TEXT_MAX: usize = 160;
/// How many ranges of such lines it names for each file.
pub const FOLDED_RANGES_NAMED: usize = 64;
/// How many replacements it tries on all lines.
pub const REPLACEMENTS_TRIED: usize = 16;
/// How many places of a patch's hunks, or occurrences of a text, a question lists.
pub const PLACES_LISTED: usize = 20;
/// How many entries a list of a folder has.
pub const FOLDER_ENTRIES_MAX: usize = 200;
/// How many levels of folders it shows.
pub const FOLDER_DEPTH: usize = 2;
/// In how many files a name is looked for that is like one that isn't found.
pub const NEAREST_FILES_MAX: usize = 500;
/// What a query may take if its caller doesn't say, in tokens.
pub const QUERY_BUDGET: u32 = 4_000;
/// How many files without a symbol are named.
pub const NAMED_WITHOUT_SYMBOLS: usize = 5;
/// Of how many Markdown files an outline lists the headings; of more it tells what each is about.
pub const MARKDOWN_IN_FULL: usize = 3;
/// How many pieces of a file the heading above its lines names.
pub const PIECES_IN_HEADING: usize = 4;
/// Every how many lines one has its number, where not all have.
pub const NUMBERED_EVERY: usize = 10;
/// How many lines above and below a match `lines(around=…)` shows.
pub const AROUND_LINES: usize = 3;
/// Documentation of more lines is left out with docs=false.
pub const DOCS_SHOWN: usize = 3;
/// How many ranges the call for the rest of an answer names.
pub const REST_NAMED: usize = 12;
/// How many lines a list of several files shows side by side.
pub const LINES_SIDE_BY_SIDE: usize = 4;
/// How many columns they may have together.
pub const COLUMNS_SIDE_BY_SIDE: usize = 160;

/// Lines that were replaced unseen may take one part in so many of an outcome's budget.
pub const REPLACED_SHARE: u64 = 10;

/// Bytes of a change's diff, past which the rest is left out. The daemon keeps no more.
pub const CHANGE_DIFF_MAX: usize = 4_000;

/// Files that the preview of a change names, each with its number of places; the others are counted.
pub const PREVIEW_FILES_NAMED: usize = 12;
/// How many characters of a brief the daemon shows, as PROTOCOL.md says.
pub const BRIEF_SHOWN: usize = 400;

/// Bytes of an `.editorconfig` or a `.gitattributes`, past which the rest is not read.
pub const RULES_BYTES: u64 = 64 * 1024;
/// Folders above a new file in which such files are looked for.
pub const RULES_FOLDERS: usize = 64;
