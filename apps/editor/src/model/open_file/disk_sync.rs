//! Keeping an open file and the file on disk together: opening, reloading, saving.

use std::path::{Path, PathBuf};
use std::sync::Weak;

use docui::Fault;

use crate::limits::FORMER_KEYS_MAX;
use crate::model::buffer::Buffer;
use crate::model::disk::{self, LoadedFile};
use crate::model::disk_check::{DiskCheck, DiskFinding, FoundFile, KnownFile};
use crate::model::file_stamp::FileStamp;
use crate::model::history::{Author, EditKind};
use crate::model::journal::{Journal, RecoveredText};
use crate::model::line_ids::LineIds;
use crate::model::text_diff::difference;

use super::{DiskState, OpenFile};

/// What the disk has of a file and of its unsaved edits: everything that is needed to open it.
#[derive(Debug)]
pub struct ReadFile {
    path: PathBuf,
    state_dir: PathBuf,
    loaded: Result<LoadedFile, Fault>,
    digest: Option<u64>,
    stamp: Option<FileStamp>,
    recovered: Result<Option<RecoveredText>, Fault>,
}

impl ReadFile {
    /// Reads a file. This may wait for its disk.
    pub fn read(path: PathBuf, state_dir: PathBuf) -> Self {
        let loaded = disk::load(&path);
        let recovered = Journal::new(&state_dir, &path).recover();
        let (digest, stamp) = match &loaded {
            Ok(loaded) => (Some(loaded.digest), Some(loaded.stamp.clone())),
            Err(_) if matches!(recovered, Ok(Some(_))) => {
                (disk::digest(&path).ok().flatten(), FileStamp::of(&path))
            }
            Err(_) => (None, None),
        };
        Self { path, state_dir, loaded, digest, stamp, recovered }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl OpenFile {
    /// Opens a file as it was read, with the unsaved edits that its journal kept. Returns notes for the
    /// reader, who knows the file by the name `shown`.
    ///
    /// # Errors
    /// As [`disk::load`].
    pub fn open(read: ReadFile, shown: &str, version: u64) -> Result<(Self, Vec<String>), Fault> {
        let journal = Journal::new(&read.state_dir, &read.path);
        let ReadFile { path, loaded, digest, stamp, recovered, .. } = read;
        match recovered {
            Ok(None) => Ok((Self::from_disk(path, journal, loaded?, version), Vec::new())),
            Ok(Some(recovered)) => {
                let disk = (loaded, digest, stamp);
                Self::open_recovered(path, journal, disk, recovered, shown, version)
            }
            Err(fault) => {
                let note = format!("{fault}; {}.", fault.hints.join("; "));
                Ok((Self::from_disk(path, journal, loaded?, version), vec![note]))
            }
        }
    }

    /// Opens a file with the text that its journal kept.
    fn open_recovered(
        path: PathBuf,
        journal: Journal,
        (loaded, digest, stamp): (Result<LoadedFile, Fault>, Option<u64>, Option<FileStamp>),
        recovered: RecoveredText,
        shown: &str,
        version: u64,
    ) -> Result<(Self, Vec<String>), Fault> {
        let buffer = Buffer::new(&recovered.text, recovered.bom);
        // The process ended after it had saved the text and before it removed the journal.
        if digest == Some(buffer.digest()) {
            let mut file = Self::from_disk(path, journal, loaded?, version);
            file.journal.remove();
            return Ok((file, Vec::new()));
        }
        let disk_state = match (&loaded, &stamp) {
            _ if digest == recovered.base_digest && digest.is_some() => DiskState::Same,
            (_, None) => DiskState::Deleted,
            (Ok(_), _) => DiskState::Changed,
            (Err(fault), _) => DiskState::Unusable(fault.message.clone()),
        };
        let warning = match disk_state {
            DiskState::Same => "",
            DiskState::Deleted => "; the file itself no longer exists on disk",
            _ => "; the file on disk has changed in the meantime: save() will ask",
        };
        let note = format!("{shown}: unsaved edits restored, undo history is lost{warning}.");
        let mut file = Self::new(path, journal, buffer, version);
        // Readers who saw the file before these edits saw other lines.
        file.forget_lines(version);
        file.history.mark_unsaved();
        (file.base_digest, file.stamp) = (recovered.base_digest, stamp);
        file.disk_state = disk_state;
        Ok((file, vec![note]))
    }

    fn from_disk(path: PathBuf, journal: Journal, loaded: LoadedFile, version: u64) -> Self {
        let buffer = Buffer::new(&loaded.text, loaded.bom);
        let mut file = Self::new(path, journal, buffer, version);
        (file.base_digest, file.stamp) = (Some(loaded.digest), Some(loaded.stamp));
        file.mode = Some(loaded.mode);
        file
    }

    /// Restores what a snapshot doesn't hold: from here on, unsaved text has a journal again.
    pub(crate) fn resume(&mut self, state_dir: &Path) {
        self.journal = Journal::new(state_dir, self.path());
        if self.line_ids.line_count() != self.buffer.line_count() {
            // The state was saved before lines had identities.
            self.line_ids = LineIds::new(self.buffer.line_count(), 0);
        }
        if self.is_unsaved() {
            // The journal from before the hibernation should exist. If it is missing and can't be
            // written, the next change reports that.
            let _ = self.journal.ensure_exists(self.base_digest, &self.buffer);
        }
    }

    /// Returns the check whether the file on disk has changed; `None` while it is being written.
    pub fn disk_check(&self) -> Option<DiskCheck> {
        (!self.is_being_written()).then(|| DiskCheck {
            path: self.path.clone(),
            known: self.known_file(),
            // A change that was seen while there was something unsaved is taken once there isn't.
            read_again: self.disk_state == DiskState::Changed && !self.is_unsaved(),
            wants_text: !self.is_unsaved(),
        })
    }

    fn known_file(&self) -> KnownFile {
        KnownFile { stamp: self.stamp.clone(), digest: self.base_digest }
    }

    /// Takes in what a check found: if nothing is unsaved, also the file's new text. Returns true if anything
    /// that is shown has changed.
    pub fn take_finding(
        &mut self,
        finding: DiskFinding,
        new_id: impl FnOnce() -> String,
        version: u64,
    ) -> bool {
        // The file was read or written since the check began, or is being written: the next check counts.
        if finding.known != self.known_file() || self.is_being_written() {
            return false;
        }
        self.mode = finding.mode.or(self.mode);
        let before = self.disk_state.clone();
        self.disk_state = match finding.found {
            FoundFile::Unchanged => return false,
            FoundFile::Missing => {
                self.stamp = None;
                DiskState::Deleted
            }
            FoundFile::Other(fault) => DiskState::Unusable(fault.message),
            FoundFile::Present { stamp, digest, text } => {
                self.stamp = Some(stamp);
                match text {
                    _ if digest.is_some() && digest == self.base_digest => DiskState::Same,
                    // Without a text, the next check reads it, unless something is unsaved.
                    None => DiskState::Changed,
                    Some(_) if self.is_unsaved() => DiskState::Changed,
                    Some(text) => {
                        let author = Author::outside_of_runs(version);
                        match text.and_then(|loaded| self.reload(loaded, new_id(), author)) {
                            Ok(()) => return true,
                            Err(fault) => DiskState::Unusable(fault.message),
                        }
                    }
                }
            }
        };
        self.disk_state != before
    }

    /// Takes a text that was read from disk, as a change that can be undone.
    ///
    /// # Errors
    /// The journal can't be written. Nothing was changed.
    pub fn reload(&mut self, loaded: LoadedFile, id: String, author: Author) -> Result<(), Fault> {
        if loaded.bom != self.buffer.has_bom() {
            // Undo and the journal know only the text after a byte order mark, so they start over.
            let top_line = self.top_line;
            let journal = Journal::new(self.journal.directory(), self.path());
            *self = Self::from_disk(self.path.clone(), journal, loaded, author.version);
            self.forget_lines(author.version);
            self.top_line = top_line;
            self.remove_journal_if_saved();
            return Ok(());
        }
        let (splices, lines) = difference(&self.buffer.text(), &loaded.text);
        self.apply(EditKind::Reload, &author, &splices, &lines)?;
        self.history.push(id, EditKind::Reload, author, splices, lines);
        self.mode = Some(loaded.mode);
        let state = self.history.state();
        self.take_write(state, loaded.digest, loaded.stamp);
        Ok(())
    }

    /// Takes in that the text of a state was written to disk. The text may have changed since.
    pub(crate) fn take_write(&mut self, state: u64, digest: u64, stamp: FileStamp) {
        (self.base_digest, self.stamp) = (Some(digest), Some(stamp));
        self.disk_state = DiskState::Same;
        self.history.mark_saved_at(state);
        if self.is_unsaved() {
            self.journal.start_over(self.base_digest, &self.buffer);
        } else {
            self.journal.remove();
        }
    }

    /// Takes in that the text of a state was written to another path, which becomes the file's path.
    pub(crate) fn take_write_as(
        &mut self,
        (path, version): (PathBuf, u64),
        state: u64,
        digest: u64,
        stamp: FileStamp,
        state_dir: &Path,
    ) {
        self.journal.remove();
        self.journal = Journal::new(state_dir, &path);
        let former = self.key();
        self.path = path;
        // What readers were shown under the new path before was another file.
        let now = self.key();
        self.former_keys.retain(|(key, _)| *key != now);
        self.former_keys.push((former, version));
        if self.former_keys.len() > FORMER_KEYS_MAX {
            self.former_keys.remove(0);
        }
        self.named_since = version;
        self.mode = None;
        // A write to the earlier path may still be under way; it is no longer this file's.
        self.write = Weak::new();
        self.take_write(state, digest, stamp);
    }

    /// Gives up the unsaved edits.
    pub fn discard(&mut self) {
        self.journal.remove();
    }
}
