//! Keeping an open file and the file on disk together: opening, reloading, saving.

use std::path::{Path, PathBuf};

use docui::Fault;

use crate::model::buffer::Buffer;
use crate::model::disk::{self, LoadedFile};
use crate::model::disk_check::{DiskCheck, DiskFinding, FoundFile, KnownFile};
use crate::model::file_stamp::FileStamp;
use crate::model::history::{Author, EditKind, FileChange};
use crate::model::journal::{Journal, RecoveredText};
use crate::model::last_text;
use crate::model::line_ids::LineIds;
use crate::model::text_diff::difference;

use super::{DiskState, OpenFile};

/// A file read from disk with its unsaved edits: everything needed to open the file.
#[derive(Debug)]
pub struct ReadFile {
    path: PathBuf,
    state_dir: PathBuf,
    loaded: Result<LoadedFile, Fault>,
    digest: Option<u64>,
    stamp: Option<FileStamp>,
    recovered: Result<Option<RecoveredText>, Fault>,
    /// The changes made by others since the session last wrote the file.
    outside: Option<FileChange>,
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
        let outside = match (&loaded, &recovered) {
            (Ok(loaded), Ok(None)) => last_text::read(&state_dir, &path, loaded.bom)
                .and_then(|last| written_by_others(&path, &last, loaded)),
            _ => None,
        };
        Self { path, state_dir, loaded, digest, stamp, recovered, outside }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file as it is on disk.
    ///
    /// # Errors
    /// As [`disk::load`].
    pub fn loaded(&self) -> Result<&LoadedFile, Fault> {
        self.loaded.as_ref().map_err(Clone::clone)
    }

    /// True when its journal kept edits that were never saved.
    pub fn has_unsaved_edits(&self) -> bool {
        !matches!(self.recovered, Ok(None))
    }

    /// Returns the changes by others since the session last wrote the file, if known.
    pub fn outside(&self) -> Option<&FileChange> {
        self.outside.as_ref()
    }

    /// Returns the digest of the file on disk; `None` if it can't be read.
    pub fn digest(&self) -> Option<u64> {
        self.digest
    }
}

impl OpenFile {
    /// Opens a file as it was read, with the unsaved edits that its journal kept. Returns notes for
    /// the reader, who knows the file by the name `shown`.
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
            file.access.journal.remove();
            return Ok((file, Vec::new()));
        }
        let disk_state = match (&loaded, &stamp) {
            _ if digest == recovered.base_digest && digest.is_some() => DiskState::Same,
            // A new file that was never written.
            (_, None) if recovered.base_digest.is_none() => DiskState::Same,
            (_, None) => DiskState::Deleted,
            (Ok(_), _) => DiskState::Changed,
            (Err(fault), _) => DiskState::Unusable(fault.message.clone()),
        };
        let warning = match disk_state {
            DiskState::Same => "",
            DiskState::Deleted => "; the file itself no longer exists on disk",
            _ => "; the file on disk has changed in the meantime: save() will ask",
        };
        let note = format!("{shown}: unsaved edits restored{warning}.");
        let mut file = Self::new(path, journal, buffer, version);
        // Readers who saw the file before these edits saw other lines.
        file.forget_lines(version);
        file.states.mark_unsaved();
        (file.base_digest, file.stamp) = (recovered.base_digest, stamp);
        file.disk_state = disk_state;
        Ok((file, vec![note]))
    }

    /// Returns a file that doesn't exist yet.
    pub fn new_file(path: PathBuf, state_dir: &Path, version: u64) -> Self {
        let journal = Journal::new(state_dir, &path);
        Self::new(path, journal, Buffer::default(), version)
    }

    fn from_disk(path: PathBuf, journal: Journal, loaded: LoadedFile, version: u64) -> Self {
        let buffer = Buffer::new(&loaded.text, loaded.bom);
        let mut file = Self::new(path, journal, buffer, version);
        (file.base_digest, file.stamp) = (Some(loaded.digest), Some(loaded.stamp));
        file.access.mode = Some(loaded.mode);
        file
    }

    /// Restores what a snapshot doesn't hold: from here on, unsaved text has a journal again.
    pub(crate) fn resume(&mut self, state_dir: &Path) {
        self.access.journal = Journal::new(state_dir, self.path());
        if self.line_ids.line_count() != self.buffer.line_count() {
            // The state was saved before lines had identities.
            self.line_ids = LineIds::new(self.buffer.line_count(), 0);
        }
        if self.is_unsaved() {
            // The journal from before the hibernation should exist. If it is missing and can't be
            // written, the next change reports that.
            let _ = self.access.journal.ensure_exists(self.base_digest, &self.buffer);
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

    /// Takes in what a check found: if nothing is unsaved, also the file's new text. Returns true
    /// if anything that is shown has changed, and the change of the text if there was one.
    pub fn take_finding(
        &mut self,
        finding: DiskFinding,
        version: u64,
    ) -> (bool, Option<FileChange>) {
        // The file was read or written since the check began, or is being written: the next check
        // counts.
        if finding.known != self.known_file() || self.is_being_written() {
            return (false, None);
        }
        self.access.mode = finding.mode.or(self.access.mode);
        let before = self.disk_state.clone();
        self.disk_state = match finding.found {
            FoundFile::Unchanged => return (false, None),
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
                    Some(Ok(loaded)) => {
                        let change = self.reload(loaded, &Author::outside_of_runs(version));
                        return (true, change);
                    }
                    Some(Err(fault)) => DiskState::Unusable(fault.message),
                }
            }
        };
        (self.disk_state != before, None)
    }

    /// Takes a text that was read from disk. Returns the change; `None` if it can't be undone.
    pub fn reload(&mut self, loaded: LoadedFile, author: &Author) -> Option<FileChange> {
        if loaded.bom != self.buffer.has_bom() {
            // A change knows only the text after a byte order mark.
            let (top_line, gate) = (self.top_line, self.access.gate.clone());
            let journal = Journal::new(self.access.journal.directory(), self.path());
            *self = Self::from_disk(self.path.clone(), journal, loaded, author.version);
            self.access.gate = gate;
            self.access.gate.advance();
            self.forget_lines(author.version);
            self.top_line = top_line;
            self.access.journal.remove();
            return None;
        }
        let change = written_change(&self.path, &self.buffer, &loaded);
        self.access.mode = Some(loaded.mode);
        self.take_change(EditKind::Reload, author, &change, loaded.stamp);
        Some(change)
    }

    /// Takes in that the text of a state was written to disk. The text may have changed since.
    pub(crate) fn take_write(&mut self, state: u64, digest: u64, stamp: FileStamp) {
        (self.base_digest, self.stamp) = (Some(digest), Some(stamp));
        self.disk_state = DiskState::Same;
        self.states.mark_saved_at(state);
        if self.is_unsaved() {
            self.access.journal.start_over(self.base_digest, &self.buffer);
        } else {
            self.access.journal.remove();
        }
    }

    /// Gives up the unsaved edits.
    pub fn discard(&mut self) {
        self.access.journal.remove();
    }
}

/// Returns what others wrote to a file that had another text before.
fn written_change(path: &Path, before: &Buffer, loaded: &LoadedFile) -> FileChange {
    let (splices, lines) = difference(&before.text(), &loaded.text);
    FileChange {
        path: path.to_owned(),
        splices,
        lines,
        before: Some(before.digest()),
        after: Some(loaded.digest),
        bom: loaded.bom,
        mode: None,
        mode_before: None,
        link: false,
    }
}

fn written_by_others(path: &Path, before: &Buffer, loaded: &LoadedFile) -> Option<FileChange> {
    (before.digest() != loaded.digest).then(|| written_change(path, before, loaded))
}
