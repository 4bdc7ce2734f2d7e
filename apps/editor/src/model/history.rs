//! The types of changes: their authors, their effects on files, and the saved text of each file.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};

use docui::Context;
use serde::{Deserialize, Serialize};

use super::line_change::LineChange;
use super::splice::{Splice, inverse};

/// The reader, run and version of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The id of the reader; empty for changes from outside of any run.
    pub reader: String,
    /// The id of the run; empty for changes from outside of any run.
    pub run: String,
    /// The version after the change.
    pub version: u64,
}

impl Author {
    /// Returns the author of what an action changes.
    pub fn of(context: &Context) -> Self {
        Self {
            reader: context.reader.clone(),
            run: context.run_id.clone(),
            version: context.next_version(),
        }
    }

    /// Returns the author of a change that no run made: another program's write, or an `open`.
    pub fn outside_of_runs(version: u64) -> Self {
        Self { version, ..Self::default() }
    }
}

/// The kind of action that changed a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// Lines were inserted.
    Insert,
    /// Lines were replaced.
    ReplaceLines,
    /// Lines were deleted.
    DeleteLines,
    /// Lines were moved.
    MoveLines,
    /// Matches of a text were replaced.
    Replace,
    /// Statements became a function.
    ExtractMethod,
    /// A symbol was renamed.
    Rename,
    /// Lines or symbols were moved.
    Move,
    /// Two ranges changed places.
    Swap,
    /// Lines or symbols were deleted.
    Delete,
    /// The body of a symbol was replaced.
    ReplaceBody,
    Create,
    Apply,
    /// The text was reloaded from disk.
    Reload,
    Undo,
    Redo,
}

impl EditKind {
    /// True for an undo or a redo, which step through changes that were made before.
    pub fn steps_history(self) -> bool {
        matches!(self, EditKind::Undo | EditKind::Redo)
    }
}

/// Writes the name of the action, as it is saved and shown.
impl fmt::Display for EditKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EditKind::Insert => "insert",
            EditKind::ReplaceLines => "replace_lines",
            EditKind::DeleteLines => "delete_lines",
            EditKind::MoveLines => "move_lines",
            EditKind::ExtractMethod => "extract_method",
            EditKind::Replace => "replace",
            EditKind::Rename => "rename",
            EditKind::Move => "move",
            EditKind::Swap => "swap",
            EditKind::Delete => "delete",
            EditKind::ReplaceBody => "replace_body",
            EditKind::Create => "create",
            EditKind::Apply => "apply",
            EditKind::Reload => "reload",
            EditKind::Undo => "undo",
            EditKind::Redo => "redo",
        })
    }
}

/// The changes of one action in all files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The id of the change, which is never reused.
    pub id: String,
    pub kind: EditKind,
    /// The author of the change; once it is undone, the author of the undo.
    pub author: Author,
    /// The effect of the change on each file.
    pub files: Vec<FileChange>,
    /// The change that this one takes back or makes again, whatever came between them. It is an
    /// undo or a redo then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file's path without symlinks.
    pub path: PathBuf,
    /// The replacements in the file's text.
    pub splices: Vec<Splice>,
    pub lines: LineChange,
    /// The digest of the file before the change; `None` if there was no file.
    pub before: Option<u64>,
    /// The digest of the file after the change; `None` if the change deleted it.
    pub after: Option<u64>,
    /// True when the file begins with a byte order mark.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bom: bool,
    /// The permission bits of a file that was made or deleted, and those that a changed one was
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The permission bits before the change, if the change set others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_before: Option<u32>,
    /// True for a link, not for the file that it leads to. Its text is where it leads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

impl FileChange {
    /// Returns the change that takes this one back.
    pub fn inverse(&self) -> Self {
        Self {
            path: self.path.clone(),
            splices: inverse(&self.splices),
            lines: self.lines.inverse(),
            before: self.after,
            after: self.before,
            bom: self.bom,
            mode: self.mode_before.or(self.mode),
            mode_before: self.mode_before.and(self.mode),
            link: self.link,
        }
    }
}

impl Change {
    /// True for what another program or a person wrote to the disk, and no reader chose to take
    /// from it.
    pub fn is_foreign(&self) -> bool {
        self.kind == EditKind::Reload && self.author.reader.is_empty()
    }

    /// Identifies the change that this one is about: itself, or the one that it takes back or makes
    /// again.
    pub fn origin(&self) -> &str {
        self.of.as_deref().unwrap_or(&self.id)
    }

    /// True when both changes are about a file.
    pub fn shares_file_with(&self, other: &Self) -> bool {
        self.files.iter().any(|file| other.files.iter().any(|also| also.path == file.path))
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        let splices = self.files.iter().flat_map(|file| &file.splices);
        splices.map(|splice| splice.old.len() + splice.new.len() + 64).sum()
    }
}

/// Tracks which of a file's texts is saved; each text has its own number.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TextStates {
    /// The changes of this file alone, as saved by editors older than the change log.
    #[serde(default, skip_serializing)]
    pub(crate) done: VecDeque<FormerChange>,
    #[serde(default, skip_serializing)]
    pub(crate) undone: Vec<FormerChange>,
    state: u64,
    last_state: u64,
    saved: Option<u64>,
}

/// A change of one file, as saved by editors older than the change log.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FormerChange {
    pub id: String,
    #[serde(rename = "what")]
    pub kind: EditKind,
    pub author: Author,
    pub splices: Vec<Splice>,
    pub lines: LineChange,
}

impl FormerChange {
    /// Returns the change of a file that had these digests before and after it.
    pub(crate) fn adopt(self, path: &Path, (before, after): (u64, u64), bom: bool) -> Change {
        let Self { id, kind, author, splices, lines } = self;
        let (path, before, after) = (path.to_owned(), Some(before), Some(after));
        let file = FileChange {
            path,
            splices,
            lines,
            before,
            after,
            bom,
            mode: None,
            mode_before: None,
            link: false,
        };
        Change { id, kind, author, files: vec![file], of: None }
    }
}

impl TextStates {
    /// Takes the changes of this file alone: those that can be undone, oldest first, and those that
    /// can be redone, the next one last.
    pub(crate) fn take_former(&mut self) -> (VecDeque<FormerChange>, Vec<FormerChange>) {
        (std::mem::take(&mut self.done), std::mem::take(&mut self.undone))
    }

    /// Returns the states of a text that is the same as on disk.
    pub fn new() -> Self {
        Self { saved: Some(0), ..Self::default() }
    }

    /// True when the text is the one that was last read or written.
    pub fn is_saved(&self) -> bool {
        self.saved == Some(self.state)
    }

    /// Marks the text of a state as the one on disk.
    pub fn mark_saved_at(&mut self, state: u64) {
        self.saved = Some(state);
    }

    /// Records that the disk doesn't have the text.
    pub fn mark_unsaved(&mut self) {
        self.saved = None;
    }

    /// Identifies the present text.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// Records that there is another text.
    pub(crate) fn advance(&mut self) {
        self.last_state += 1;
        self.state = self.last_state;
    }
}
