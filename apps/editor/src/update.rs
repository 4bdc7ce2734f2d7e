//! Carries out the actions.
//!
//! | module | holds |
//! |---|---|
//! | `dispatch` | begins each action |
//! | `open`, `close`, `create`, `save`, `save_as`, `held_edits` | files |
//! | `line_edits`, `move_lines` | changes of the text |
//! | `closed_files` | the same in files that aren't open |
//! | `search` | finding and replacing in any number of files |
//! | `extract_method` | statements that become a function |
//! | `apply` | patches over any number of files |
//! | `replace_text`, `insert_after`, `view_file` | actions with the meaning that they have in other tools |
//! | `undo` | undo and redo |
//! | `navigate`, `diff` | actions that change no text |
//! | `change_diff` | what a change did to files, for the history |
//! | `resolve`, `stale_lines` | which lines a caller means; errors of those that are no longer what they saw |
//! | `symbols` | items by name: outline, lines, moves, swaps, bodies, renames |
//! | `edit` | the one place through which every edit of files goes |
//! | `replaced_lines` | showing what was replaced to a reader that wasn't shown it |
//! | `renumbering` | saying what a change did to line numbers |
//! | `disk_conflict` | files that other programs wrote |
//! | `disk_task` | what actions do at the disk, on another thread |
//! | `question`, `asked` | questions, and what comes back with their answers |
//! | `text_search` | where a text occurs, and where something similar does |
//! | `whole_lines`, `gutter` | text of whole lines; line numbers that were copied with it |

mod apply;
mod asked;
mod change_diff;
mod close;
mod closed_files;
mod create;
mod create_binary;
mod diff;
mod disk_conflict;
mod disk_task;
pub(crate) mod dispatch;
mod edit;
mod extract_method;
mod gutter;
mod held_edits;
mod insert_after;
mod line_edits;
mod move_lines;
mod navigate;
mod open;
mod question;
pub(crate) mod renumbering;
mod replace_text;
mod replaced_lines;
mod resolve;
mod save;
mod save_as;
mod search;
mod stale_lines;
mod symbols;
mod text_search;
mod undo;
mod view_file;
mod whole_lines;
