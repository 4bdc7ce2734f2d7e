//! The editor's state. Nothing here knows of actions or views.
//!
//! | module | holds |
//! |---|---|
//! | [`editor`] | one session: its components, how it starts and what it saves |
//! | `open_files`, `session_paths` | the open files; how they are named to readers |
//! | `edits` | the changes that a session made, and what its next edit may do |
//! | `seen_numbers`, `renumbering` | what line numbers that a reader saw refer to, before and after an action |
//! | `written_files`, `unlisted_files`, `interrupted` | applying what an edit wrote; files opened for their numbers; edits that a crash cut off |
//! | `file_reader` | reading files on other threads |
//! | [`open_file`] | one open file: text, undo history, disk state |
//! | [`binary_file`] | files that are no text |
//! | [`buffer`], [`splice`] | a text byte for byte, and replacements in it |
//! | [`line_change`], [`line_log`] | what changes do to line numbers, and what a number seen earlier means now |
//! | [`line_ids`] | which line is which, for readers who are told what moved |
//! | [`text_diff`] | the line changes behind splices, and the splices between two texts |
//! | [`changes_outside`] | changed lines that the page doesn't show |
//! | [`history`], [`change_log`] | changes, and those that can be undone and redone |
//! | [`documents`], [`workspace_edit`] | the texts that an edit is planned on, and writing all of it or nothing |
//! | `project_rules` | how new files of the project begin, and how their lines end |
//! | [`text_gate`] | who may write a file |
//! | [`tracked_ranges`] | selections and matches |
//! | [`disk`], [`file_stamp`] | reading, writing and comparing files |
//! | [`disk_check`], [`disk_watch`] | whether files have changed on disk, found out on other threads |
//! | [`journal`] | unsaved edits on disk |
//! | [`last_text`] | the texts that were written last, should others write the files meanwhile |
//! | [`manifest`] | the list of open files on disk |
//! | [`shown_revisions`] | which texts readers were shown, across restarts |
//! | [`current_file_log`] | which file was current in which version |
//! | [`digest`], [`stable_hash`] | digests of contents, and hashes that name persistent files |
//! | [`ids`] | ids that are never reused |
//!
//! **Invariant: dependencies go one way.** `editor` uses `open_file`, and `open_file` uses the
//! texts, lines, history and disk below it. No module uses one that depends on it.

pub mod binary_file;
pub mod buffer;
pub mod change_log;
pub mod changes_outside;
pub mod current_file_log;
pub mod digest;
pub mod disk;
pub mod disk_check;
pub mod disk_watch;
pub mod documents;
pub mod editor;
pub(crate) mod edits;
pub(crate) mod file_reader;
pub mod file_stamp;
pub mod history;
pub mod ids;
pub(crate) mod interrupted;
pub mod journal;
pub mod last_text;
pub mod line_change;
pub mod line_ids;
pub mod line_log;
pub mod manifest;
pub mod open_file;
pub(crate) mod open_files;
pub(crate) mod own_leftover;
mod project_rules;
pub(crate) mod renumbering;
pub(crate) mod seen_numbers;
pub(crate) mod session_paths;
pub mod shown_revisions;
pub mod splice;
pub mod stable_hash;
pub mod text_diff;
pub mod text_gate;
pub mod tracked_ranges;
pub(crate) mod unlisted_files;
pub mod workspace_edit;
pub(crate) mod written_files;

pub use editor::Editor;
