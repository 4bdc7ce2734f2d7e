//! An edit of any number of files, as it is planned.

use std::path::PathBuf;

use crate::model::history::{EditKind, FileChange};
use crate::model::line_change::LineChange;
use crate::model::splice::Splice;

/// An edit of any number of files, as it is planned.
#[derive(Debug, Clone)]
pub struct WorkspaceEdit {
    /// The kind of action.
    pub kind: EditKind,
    /// The edit of each file. Several edits of one file are made one after the other.
    pub files: Vec<FileEdit>,
}

/// The edit of one file.
#[derive(Debug, Clone)]
pub struct FileEdit {
    /// The file's path without symlinks.
    pub path: PathBuf,
    /// What becomes of it.
    pub edit: TextEdit,
    /// The permission bits that it is given; a file that is there keeps its own otherwise.
    pub mode: Option<u32>,
}

/// What becomes of a file.
#[derive(Debug, Clone)]
pub enum TextEdit {
    /// Replacements in its text, as [`Documents::text`] has it.
    Splices(Vec<Splice>),
    /// Replacements whose effect on the lines is known: lines that move keep their identity.
    Lines(Vec<Splice>, LineChange),
    /// A new file with this text. Its folders are made. It must not exist.
    Create(String),
    /// The file is deleted.
    Delete,
    /// A new link that leads there. There must be nothing at its path.
    CreateLink(String),
    /// The link is removed; what it leads to stays.
    DeleteLink,
    /// This very change, if the file is as it was before it.
    Exact(FileChange),
}

impl WorkspaceEdit {
    /// Returns an edit of nothing yet.
    pub fn new(kind: EditKind) -> Self {
        Self { kind, files: Vec::new() }
    }

    /// Adds the edit of a file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, edit: TextEdit) -> Self {
        self.files.push(FileEdit { path: path.into(), edit, mode: None });
        self
    }

    /// Gives the file that was added last these permission bits.
    #[must_use]
    pub fn with_mode(mut self, mode: Option<u32>) -> Self {
        if let Some(file) = self.files.last_mut() {
            file.mode = mode;
        }
        self
    }

    /// Adds replacements in a file.
    #[must_use]
    pub fn splices(self, path: impl Into<PathBuf>, splices: Vec<Splice>) -> Self {
        self.file(path, TextEdit::Splices(splices))
    }
}
