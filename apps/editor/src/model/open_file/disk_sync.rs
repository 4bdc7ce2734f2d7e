//! Keeping an open file and the file on disk together: opening, reloading, saving.

use std::path::{Path, PathBuf};

use docui::Fault;

use crate::limits::FORMER_KEYS_MAX;
use crate::model::buffer::Buffer;
use crate::model::disk::{self, LoadedFile, WriteMode};
use crate::model::file_stamp::FileStamp;
use crate::model::history::{Author, EditKind};
use crate::model::journal::{Journal, RecoveredText};
use crate::model::line_ids::LineIds;
use crate::model::text_diff::difference;

use super::{DiskState, OpenFile};

impl OpenFile {
    /// Opens a file as it is on disk, with the unsaved edits that its journal kept. Returns notes for the
    /// reader, who knows the file by the name `shown`.
    ///
    /// # Errors
    /// As [`disk::load`].
    pub fn open(
        path: PathBuf,
        shown: &str,
        state_dir: &Path,
        version: u64,
    ) -> Result<(Self, Vec<String>), Fault> {
        let journal = Journal::new(state_dir, &path);
        let loaded = disk::load(&path);
        match journal.recover() {
            Ok(None) => Ok((Self::from_disk(path, journal, loaded?, version), Vec::new())),
            Ok(Some(recovered)) => {
                Self::open_recovered(path, journal, loaded, recovered, shown, version)
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
        loaded: Result<LoadedFile, Fault>,
        recovered: RecoveredText,
        shown: &str,
        version: u64,
    ) -> Result<(Self, Vec<String>), Fault> {
        let (digest, stamp) = match &loaded {
            Ok(loaded) => (Some(loaded.digest), Some(loaded.stamp.clone())),
            Err(_) => (disk::digest(&path), FileStamp::of(&path)),
        };
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

    /// Checks whether the file on disk has changed and, if nothing is unsaved, takes its text. Returns true
    /// if anything that is shown has changed.
    pub fn refresh(&mut self, new_id: impl FnOnce() -> String, version: u64) -> bool {
        let now = FileStamp::of(self.path());
        match (&self.stamp, &now) {
            // A change that was seen while there was something unsaved is taken once there isn't.
            _ if self.disk_state == DiskState::Changed && !self.is_unsaved() => {}
            (Some(then), Some(now)) if then.proves_unchanged(now) => return false,
            (None, None) => return false,
            _ => {}
        }
        self.stamp = now;
        let before = self.disk_state.clone();
        let digest = self.stamp.as_ref().and_then(|_| disk::digest(self.path()));
        self.disk_state = match (&self.stamp, digest) {
            (None, _) => DiskState::Deleted,
            (_, digest) if digest.is_some() && digest == self.base_digest => DiskState::Same,
            _ if self.is_unsaved() => DiskState::Changed,
            _ => match self.reload(new_id(), Author::outside_of_runs(version)) {
                Ok(()) => return true,
                Err(fault) => DiskState::Unusable(fault.message),
            },
        };
        self.disk_state != before
    }

    /// Takes the text from disk, as a change that can be undone.
    ///
    /// # Errors
    /// As [`disk::load`], or the journal can't be written. Nothing was changed.
    pub fn reload(&mut self, id: String, author: Author) -> Result<(), Fault> {
        let loaded = disk::load(self.path())?;
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
        self.mark_saved(loaded.digest, loaded.stamp);
        Ok(())
    }

    /// Writes the text to disk.
    ///
    /// # Errors
    /// As [`disk::store`]; the file on disk is unchanged.
    pub fn save(&mut self) -> Result<(), Fault> {
        let stamp = disk::store(self.path(), &self.buffer, WriteMode::Replace)?;
        self.mark_saved(self.buffer.digest(), stamp);
        Ok(())
    }

    /// Writes the text to another path, which becomes the file's path.
    ///
    /// # Errors
    /// As [`disk::store`].
    pub fn save_as(
        &mut self,
        path: PathBuf,
        mode: WriteMode,
        state_dir: &Path,
        version: u64,
    ) -> Result<(), Fault> {
        let stamp = disk::store(&path, &self.buffer, mode)?;
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
        self.mark_saved(self.buffer.digest(), stamp);
        Ok(())
    }

    /// Gives up the unsaved edits.
    pub fn discard(&mut self) {
        self.journal.remove();
    }

    fn mark_saved(&mut self, digest: u64, stamp: FileStamp) {
        (self.base_digest, self.stamp) = (Some(digest), Some(stamp));
        self.disk_state = DiskState::Same;
        self.history.mark_saved();
        self.remove_journal_if_saved();
    }
}
