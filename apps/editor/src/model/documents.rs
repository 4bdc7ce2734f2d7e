//! The texts that an edit is planned on: those of the open files as they are in the session, and
//! those of other files as they are on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::Fault;

use super::buffer::Buffer;
use super::disk;
use super::history::FileChange;
use super::open_file::ReadFile;
use super::text_gate::TextGate;
use crate::display::lines::readable;

/// The texts of a session's files, for a thread that plans an edit. The open files are as they were
/// when it was begun.
#[derive(Debug)]
pub struct Documents {
    pub(crate) open: Vec<OpenDocument>,
    pub(crate) read: BTreeMap<PathBuf, ReadDocument>,
    pub(crate) root: PathBuf,
    pub(crate) state_dir: PathBuf,
    /// The command that opens files, without the paths.
    pub(crate) open_command: String,
}

#[derive(Debug)]
pub struct OpenDocument {
    /// The file's path without symlinks.
    pub path: PathBuf,
    pub buffer: Buffer,
    pub(crate) base_digest: Option<u64>,
    /// True when it has edits that are held.
    pub(crate) unsaved: bool,
    pub(crate) gate: Arc<TextGate>,
    pub(crate) revision: u64,
}

/// The contents of a file that isn't open.
#[derive(Debug)]
pub(crate) struct ReadDocument {
    pub buffer: Buffer,
    pub file: ReadFile,
}

impl Documents {
    pub fn open_files(&self) -> impl Iterator<Item = &OpenDocument> {
        self.open.iter()
    }

    /// Returns an open file by its path without symlinks.
    pub fn open_file(&self, path: &Path) -> Option<&OpenDocument> {
        self.open.iter().find(|open| open.path == path)
    }

    /// Returns the text of a file, which is read unless it is open. This may wait for a disk.
    ///
    /// # Errors
    /// There is no such file, or it is no text.
    pub fn text(&mut self, path: &Path) -> Result<&Buffer, Fault> {
        if let Some(at) = self.open.iter().position(|open| open.path == path) {
            return Ok(&self.open[at].buffer);
        }
        if !self.read.contains_key(path) {
            let file = ReadFile::read(path.to_owned(), self.state_dir.clone());
            let loaded = file.loaded()?;
            if file.has_unsaved_edits() {
                let shown = self.display(path);
                let message = format!("{shown} has unsaved edits from before a restart");
                return Err(Fault::refused(message).hint(format!("{} {shown}", self.open_command)));
            }
            let buffer = Buffer::new(&loaded.text, loaded.bom);
            self.read.insert(path.to_owned(), ReadDocument { buffer, file });
        }
        Ok(&self.read[path].buffer)
    }

    /// Returns what others wrote to a file that was read, since the session last wrote it.
    pub fn outside(&self, path: &Path) -> Option<&FileChange> {
        self.read.get(path)?.file.outside()
    }

    /// Returns the length of a file in bytes without reading it; `None` if there is none. This may
    /// wait for a disk.
    pub fn length(&self, path: &Path) -> Option<usize> {
        if let Some(open) = self.open_file(path) {
            return Some(open.buffer.len());
        }
        if let Some(read) = self.read.get(path) {
            return Some(read.buffer.len());
        }
        usize::try_from(std::fs::metadata(path).ok()?.len()).ok()
    }

    /// True when there is no such file, neither open nor on disk. This may wait for a disk.
    pub fn is_missing(&self, path: &Path) -> bool {
        match self.open_file(path) {
            Some(open) => !open.unsaved && open.base_digest.is_none() && !path.exists(),
            None => std::fs::symlink_metadata(path).is_err(),
        }
    }

    /// Says that there is nothing at a path, and which name in its folder is like it:
    /// `no such file: src/x.rs; near: src/xy.rs`. This may wait for a disk.
    pub fn missing(&self, path: &Path) -> String {
        let shown = readable(&self.display(path));
        match disk::similar_name(path) {
            Some(name) => {
                let near = readable(&self.display(&path.with_file_name(name)));
                format!("no such file: {shown}; near: {near}")
            }
            None => format!("no such file: {shown}"),
        }
    }

    /// Returns a path without symlinks, also of a file that doesn't exist yet. This may wait for a
    /// disk.
    ///
    /// # Errors
    /// As [`disk::resolve_new`].
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, Fault> {
        disk::resolve_new(path)
    }

    /// Returns a path as readers are shown it.
    pub fn display(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}
