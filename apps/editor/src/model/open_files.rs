//! The open files of a session: their texts, which one is current, and what readers were shown of
//! them.
//!
//! **Invariant: the manifest on disk lists what is open here**, or `manifest_stale` is set until it
//! does.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use std::path::{Path, PathBuf};

use docui::Fault;

use super::binary_file::{BinaryFile, BinaryFiles};
use super::current_file_log::CurrentFileLog;
use super::documents::{Documents, OpenDocument};
use super::file_reader::FileReader;
use super::history::Author;
use super::journal::unrecorded;
use super::manifest::{Manifest, ManifestEntry};
use super::open_file::OpenFile;
use super::session_paths::SessionPaths;
use super::shown_revisions::ShownRevisions;
use super::tracked_ranges::TrackedRange;
use crate::limits::{FILES_MAX, FILES_NAMED};

/// The open files of a session, with the history of the current file and of shown texts.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    pub list: Vec<OpenFile>,
    pub binaries: BinaryFiles,
    /// The path of the current file, to which actions without a file name apply.
    pub current: Option<PathBuf>,
    pub paths: SessionPaths,
    pub shown_revisions: ShownRevisions,
    pub current_file_log: CurrentFileLog,
    /// True while edits stay in the session until they are saved.
    pub hold: bool,
    /// The keys of files that were closed, each with what happened to the file; at most
    /// [`FILES_MAX`].
    pub closed: VecDeque<(String, String)>,
    /// True when the manifest on disk is behind.
    pub manifest_stale: bool,
    /// Counts uses of files.
    uses: u64,
}

impl Index<usize> for OpenFiles {
    type Output = OpenFile;

    fn index(&self, index: usize) -> &OpenFile {
        &self.list[index]
    }
}

impl IndexMut<usize> for OpenFiles {
    fn index_mut(&mut self, index: usize) -> &mut OpenFile {
        &mut self.list[index]
    }
}

impl OpenFiles {
    /// Returns the files of a session that has just these, none of which is current.
    pub(crate) fn new(
        paths: SessionPaths,
        list: Vec<OpenFile>,
        shown_revisions: ShownRevisions,
    ) -> Self {
        Self {
            list,
            binaries: BinaryFiles::default(),
            current: None,
            paths,
            shown_revisions,
            current_file_log: CurrentFileLog::default(),
            hold: false,
            closed: VecDeque::new(),
            manifest_stale: false,
            uses: 0,
        }
    }

    /// Returns how many text files are open.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, OpenFile> {
        self.list.iter()
    }

    /// Returns the open file with a path.
    pub(crate) fn file(&self, path: &Path) -> Option<&OpenFile> {
        self.list.iter().find(|file| file.path() == path)
    }

    /// Returns the index of the open file with a path.
    pub(crate) fn index(&self, path: &Path) -> Option<usize> {
        self.list.iter().position(|file| file.path() == path)
    }

    /// Returns the index of the open file with a key.
    pub(crate) fn index_by_key(&self, key: &str) -> Option<usize> {
        self.list.iter().position(|file| file.key() == key)
    }

    pub(crate) fn current(&self) -> Option<&OpenFile> {
        self.current.as_deref().and_then(|path| self.file(path))
    }

    /// Returns the open file that is no text and has a key.
    pub(crate) fn binary(&self, key: &str) -> Option<&BinaryFile> {
        self.binaries.iter().find(|file| self.paths.binary_key(file) == key)
    }

    /// True when a file is the current one.
    pub(crate) fn is_current(&self, file: &OpenFile) -> bool {
        self.current.as_deref() == Some(file.path())
    }

    /// Returns the selection or match with a key, also when its text is gone, and its file's index.
    pub(crate) fn range(&self, key: &str) -> Option<(usize, &TrackedRange)> {
        let mut files = self.list.iter().enumerate();
        files.find_map(|(index, file)| Some((index, file.ranges.get(key)?)))
    }

    /// Returns the selection or match with a key if its text still exists, and its file's index.
    pub(crate) fn existing_range(&self, key: &str) -> Option<(usize, &TrackedRange)> {
        self.range(key).filter(|(_, range)| range.gone.is_none())
    }

    /// Makes a file the current one.
    pub(crate) fn set_current(&mut self, to: Option<PathBuf>, author: &Author) {
        // A run that goes to the file that is current anyway is recorded too: its later numbers
        // refer to that file.
        let last_run = self.current_file_log.latest().map(|change| change.run.as_str());
        if self.current == to && last_run == Some(author.run.as_str()) {
            return;
        }
        self.manifest_stale |= self.current != to;
        if let Some(to) = &to {
            self.list_file(to);
            self.shown_revisions.record_current(to);
        }
        self.current.clone_from(&to);
        self.current_file_log.record(to, author);
    }

    /// Records that a file is used, so that it is among the last ones to be closed to make room.
    pub(crate) fn record_use(&mut self, index: usize) {
        self.uses += 1;
        self.list[index].last_used = self.uses;
    }

    /// Closes a file. If it was current, the next one in the list becomes current.
    pub(crate) fn close_file(&mut self, index: usize, reason: &str, author: &Author) {
        let mut file = self.list.remove(index);
        file.discard();
        // The file may have another text when it is opened again.
        self.shown_revisions.record_changed(file.path());
        if self.closed.len() >= FILES_MAX {
            self.closed.pop_front();
        }
        self.record_closed(file.key(), reason.to_owned());
        if self.is_current(&file) {
            let next = self.list.get(index).or(self.list.last());
            let next = next.map(|file| file.path().to_owned());
            self.set_current(next, author);
        }
        self.write_manifest();
    }

    /// Records why the file with a key is no longer open.
    pub(crate) fn record_closed(&mut self, key: String, reason: String) {
        self.closed.push_back((key, reason));
    }

    /// Returns what happened to the file with a key; `None` if it wasn't closed.
    pub(crate) fn close_reason(&self, key: &str) -> Option<String> {
        self.closed.iter().rev().find(|(closed, _)| closed == key).map(|(_, reason)| reason.clone())
    }

    /// Writes down which files are open, for a restart. If that fails, the next change tries again.
    pub(crate) fn write_manifest(&mut self) {
        let entry = |file: &OpenFile| ManifestEntry {
            path: file.path().to_owned(),
            base_digest: file.base_digest(),
        };
        let files = self.listed_files().map(entry).collect();
        let binaries = self.binaries.iter().map(|file| file.path().to_owned()).collect();
        let manifest = Manifest::new(files, binaries, self.current.clone(), self.hold);
        self.manifest_stale =
            manifest.write(&self.paths.state_dir).is_err() || self.shown_revisions.write().is_err();
    }

    /// Writes the manifest if the one on disk is behind.
    pub(crate) fn write_manifest_if_stale(&mut self) {
        if self.manifest_stale {
            self.write_manifest();
        }
    }

    /// Returns the displayed path of an open file.
    pub(crate) fn display_name(&self, file: usize) -> String {
        self.paths.display_path(self.list[file].path())
    }

    /// Returns the error of an action that needs a file when none is open, or none is the current
    /// one.
    pub(crate) fn no_file_open(&self) -> Fault {
        let Some(last) = self.list.iter().max_by_key(|file| file.last_used) else {
            return Fault::not_found("no file is open")
                .hint(format!("{} FILE", self.paths.open_command()));
        };
        let message = format!("no file is the current one; loaded: {}", self.loaded_names());
        let goto = format!("goto({:?})", format!("{}:1", self.paths.display_path(last.path())));
        Fault::not_found(message).hint(self.paths.run_command(&goto))
    }

    /// Returns the names of the first few open files: `a.rs, b.rs and 3 more`.
    pub(crate) fn loaded_names(&self) -> String {
        let mut recent: Vec<_> = self.list.iter().collect();
        recent.sort_by_key(|file| std::cmp::Reverse(file.last_used));
        let named: Vec<_> = recent
            .iter()
            .take(FILES_NAMED)
            .map(|file| self.paths.display_path(file.path()))
            .collect();
        let more = match recent.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        named.join(", ") + &more
    }

    /// Lists a file from now on, if it is open.
    pub(crate) fn list_file(&mut self, path: &Path) {
        let file = self.list.iter_mut().find(|file| file.path() == path);
        if let Some(file) = file.filter(|file| file.unlisted) {
            file.unlisted = false;
            self.manifest_stale = true;
        }
    }

    /// Iterates over the files that windows list.
    pub(crate) fn listed_files(&self) -> impl Iterator<Item = &OpenFile> {
        self.list.iter().filter(|file| !file.unlisted)
    }

    /// Returns the texts of the session's files for a thread that plans an edit.
    pub(crate) fn documents(&self) -> Documents {
        let open = self.list.iter().map(|file| OpenDocument {
            path: file.path().to_owned(),
            buffer: file.buffer().clone(),
            base_digest: file.base_digest(),
            unsaved: file.is_unsaved(),
            gate: file.gate().clone(),
            revision: file.gate().revision(),
        });
        Documents {
            open: open.collect(),
            read: Default::default(),
            root: self.paths.root.clone(),
            state_dir: self.paths.state_dir.clone(),
            open_command: self.paths.open_command(),
        }
    }

    /// Records that a file was opened without becoming current, which readers may have seen before
    /// with other lines.
    pub(crate) fn record_opened(&mut self, index: usize, version: u64) {
        let file = &mut self.list[index];
        if self.closed.iter().any(|(key, _)| *key == file.key()) || self.closed.len() >= FILES_MAX {
            file.forget_lines(version);
        }
        self.record_other_text(index);
    }

    /// Makes room for files by closing saved ones, those first that were used longest ago. Returns
    /// false if there isn't room for all of them; then nothing was closed.
    pub(crate) fn make_room(&mut self, new: usize) -> bool {
        let surplus = (self.list.len() + new).saturating_sub(FILES_MAX);
        let may_close = |file: &&OpenFile| {
            !file.is_unsaved() && !file.is_being_written() && !self.is_current(file)
        };
        let mut idle: Vec<_> = self.list.iter().filter(may_close).collect();
        idle.sort_by_key(|file| (!file.unlisted, file.last_used));
        let idle: Vec<PathBuf> =
            idle.into_iter().take(surplus).map(|file| file.path().to_owned()).collect();
        if idle.len() < surplus {
            return false;
        }
        for path in idle {
            if let Some(index) = self.index(&path) {
                self.close_file(index, "it was closed to make room", &Author::default());
            }
        }
        true
    }

    /// Records that a file's text is about to change, after which no number from an earlier process
    /// counts for it.
    ///
    /// # Errors
    /// This can't be written down; the change must not be made.
    pub(crate) fn before_change(&mut self, index: usize) -> Result<(), Fault> {
        self.shown_revisions.record_changed(self.list[index].path());
        self.shown_revisions.write().map_err(|error| unrecorded(&self.paths.state_dir, &error))
    }

    /// Records that a path has another text than readers saw there before.
    pub(crate) fn record_other_text(&mut self, index: usize) {
        let file = &self.list[index];
        self.shown_revisions.record_shown(file.path(), file.buffer().digest());
        self.shown_revisions.record_changed(file.path());
    }

    /// Records that a file has changed on disk. Unlike in [`OpenFiles::before_change`] there is no
    /// caller to refuse the change to, so it is written down with the manifest.
    pub(crate) fn record_changed_on_disk(&mut self, path: &Path) {
        self.shown_revisions.record_changed(path);
    }

    /// Returns what another thread must know of the session to read files for it. Paths are
    /// relative to `cwd`.
    pub(crate) fn file_reader(&self, cwd: &Path) -> FileReader {
        let paths = self.list.iter().map(|file| file.path().to_owned());
        let open = paths.map(|path| (path.clone(), self.paths.display_path(&path))).collect();
        let (state_dir, root) = (self.paths.state_dir.clone(), self.paths.root.clone());
        FileReader { open, state_dir, root, cwd: self.paths.cwd.join(cwd) }
    }
}
