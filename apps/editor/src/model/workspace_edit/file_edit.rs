//! A planned edit of any number of files.

use std::path::PathBuf;

use crate::model::history::{EditKind, FileChange};
use crate::model::line_change::LineChange;
use crate::model::splice::Splice;

/// A planned edit of any number of files.
#[derive(Debug, Clone)]
pub struct WorkspaceEdit {
    pub kind: EditKind,
    /// The edit of each file. Several edits of one file are applied in sequence.
    pub files: Vec<FileEdit>,
}

#[derive(Debug, Clone)]
pub struct FileEdit {
    /// The file's path without symlinks.
    pub path: PathBuf,
    pub edit: TextEdit,
    /// The permission bits to set; `None` keeps those of an existing file.
    pub mode: Option<u32>,
}

/// The edit of a file's text, or its creation or deletion.
#[derive(Debug, Clone)]
pub enum TextEdit {
    /// Replacements in its text, as [`Documents::text`] has it.
    Splices(Vec<Splice>),
    /// Replacements whose effect on the lines is known: lines that move keep their identity.
    Lines(Vec<Splice>, LineChange),
    /// Creates a file with this text, including its folders. The file must not exist.
    Create(String),
    /// Deletes the file.
    Delete,
    /// Creates a link to this target. Nothing may exist at the link's path.
    CreateLink(String),
    /// Removes the link; its target stays.
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
