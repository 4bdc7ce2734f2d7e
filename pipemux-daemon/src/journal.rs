//! The journal: the saved state, as an append-only file of records.
//!
//! | module | contents |
//! |---|---|
//! | `journal` | appends to the journal, ends it |
//! | `journal::load` | loads it, and finds out what is missing |
//! | `journal::format` | the encoding of records, and how damage is recognised |
//! | `journal::file` | one file: appends to it, and truncates it after a failed write |
//! | `journal::mark` | how far numbers came and how long the journal was, in a file of its own |
//! | `journal::compaction` | rewrites the journal in the background |
//! | `journal::sync` | the thread that syncs |
//!
//! A record is written before anything that follows from it goes out, so a daemon that is killed
//! loses no record. The records of one turn of the driver are written together. What is written is
//! synced within 50 ms, so a power loss costs the records of a moment. A record is there completely
//! or not at all.
//!
//! Records are written on the driver's own thread: a write into the system's cache takes
//! microseconds, less than passing the records to another thread and waiting for it. Threads do
//! what takes longer: syncing and compaction.
//!
//! **Invariant: damage is never fatal.** What can't be read is set aside and reported. What can't
//! be written is kept in memory, and acts are refused meanwhile.

mod compaction;
mod file;
mod format;
mod load;
mod mark;
mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_core::saved::Record;

use crate::limits::{JOURNAL_GROWTH, UNWRITTEN_MAX};
use compaction::{Compaction, CompactionStep, temp_path};
use file::{FileIdentity, JournalFile, rename_into_place, set_aside};
use format::JournalMarker;
use load::current_boot_id;
use mark::{JournalLength, Mark, MarkFile};
use sync::Syncer;

pub use load::{check, load};

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    boot_id: Option<String>,
    file: Option<JournalFile>,
    /// The initial content of the file, kept until the file can be created.
    initial: Vec<u8>,
    compacted_length: u64,
    pending: Vec<u8>,
    compaction: Option<Compaction>,
    syncer: Syncer,
    generation: u64,
    mark: Mark,
    mark_file: MarkFile,
    /// True while the file isn't at its path, or not whole: nothing is written then.
    is_lost: bool,
}

impl Journal {
    /// Creates a journal with these records, which replaces the existing one in a single step. When
    /// that fails, it is tried again with every write; the existing journal stays untouched until
    /// it succeeds.
    ///
    /// # Errors
    /// The thread that syncs can't be started.
    pub fn create(path: &Path, records: &[Record]) -> io::Result<Self> {
        let boot_id = current_boot_id();
        let mut mark = mark::read(path).unwrap_or_default();
        let generation = mark.generation() + 1;
        for record in records {
            mark.high_water.rise(record);
        }
        let initial = format::encode_journal(records, boot_id.as_deref(), generation)?;
        let mark_file = MarkFile::new(path);
        let (path, syncer) = (path.to_owned(), Syncer::start(mark_file.clone())?);
        let mut journal = Self {
            path,
            boot_id,
            file: None,
            initial,
            compacted_length: 0,
            pending: Vec::new(),
            compaction: None,
            syncer,
            generation,
            mark,
            mark_file,
            is_lost: false,
        };
        // A failure is reported by the first record that can't be written.
        let _ = journal.flush();
        Ok(journal)
    }

    /// Adds a record, which the next [`Journal::flush`] writes.
    ///
    /// # Errors
    /// The record is lost because more than [`UNWRITTEN_MAX`] bytes are pending.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        if self.pending.len() > UNWRITTEN_MAX {
            return Err(io::Error::other("a record is lost: too many records are pending"));
        }
        self.mark.high_water.rise(record);
        format::encode(&mut self.pending, record)
    }

    /// Returns how many bytes of records are pending.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Writes the pending records. If that fails they stay pending, and the next call tries again.
    ///
    /// # Errors
    /// As `write`; the disk has no room for later records; the file is lost.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.is_lost {
            return Err(self.lost());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let new = temp_path(&self.path);
                let file = JournalFile::create(&new, &self.initial)?;
                rename_into_place(&new, &self.path).inspect_err(|_| drop(fs::remove_file(&new)))?;
                self.compacted_length = file.length;
                self.initial = Vec::new();
                self.syncer.set_files(vec![Arc::clone(&file.handle)]);
                none.insert(file)
            }
        };
        if !self.pending.is_empty() {
            file.append(&self.pending)?;
            if let Some(compaction) = &mut self.compaction
                && let Err(error) = compaction.append(&self.pending)
            {
                file.remove_last(self.pending.len());
                return Err(error);
            }
            self.pending.clear();
            self.syncer.request_sync();
        }
        self.write_mark()?;
        self.file.as_mut().map_or(Ok(()), JournalFile::reserve)
    }

    /// Tells the mark how far numbers came and how long the journal is.
    fn write_mark(&mut self) -> io::Result<()> {
        let length = |generation, file: Option<&JournalFile>| {
            file.map_or(JournalLength::default(), |file| JournalLength {
                generation,
                length: file.length,
            })
        };
        let next = self.compaction.as_ref().and_then(Compaction::file_in_both);
        self.mark.journals =
            [length(self.generation, self.file.as_ref()), length(self.generation + 1, next)];
        self.mark_file.set(self.mark)
    }

    /// Looks whether the file is at its path and whole. Nothing is written while it isn't.
    ///
    /// # Errors
    /// It isn't: in words.
    pub fn check_in_place(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let next = self.compaction.as_ref().and_then(Compaction::file_in_both);
        let is_it = |found: FileIdentity, length: u64| {
            let mut own = [Some(file), next].into_iter().flatten();
            own.any(|own| own.identity == found && own.length <= length)
        };
        let found = FileIdentity::at(&self.path);
        self.is_lost = !found.is_ok_and(|(found, length)| is_it(found, length));
        if self.is_lost { Err(self.lost()) } else { Ok(()) }
    }

    /// Makes the mark again if it was removed.
    ///
    /// # Errors
    /// As `write`.
    pub fn check_mark(&mut self) -> io::Result<()> {
        match self.file {
            Some(_) if !self.is_lost => self.mark_file.restore(),
            _ => Ok(()),
        }
    }

    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// True while the file isn't at its path, or not whole.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn lost(&self) -> io::Error {
        let path = self.path.display();
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{path} was removed, replaced or cut while the daemon ran"),
        )
    }

    /// Writes the journal with these records, which are the whole state, in place of one that was
    /// lost. What is at its path is set aside.
    ///
    /// # Errors
    /// As `write`.
    pub fn write_again(&mut self, records: &[Record]) -> io::Result<()> {
        drop(self.compaction.take());
        if fs::symlink_metadata(&self.path).is_ok() {
            set_aside(&self.path, false)?;
        }
        self.generation = self.generation.max(self.mark.generation()) + 1;
        self.initial = format::encode_journal(records, self.boot_id.as_deref(), self.generation)?;
        (self.file, self.is_lost) = (None, false);
        self.pending.clear();
        self.flush()
    }

    /// True when later records have replaced most of the journal and no compaction is running.
    pub fn needs_compaction(&self) -> bool {
        let length = self.file.as_ref().map_or(0, |file| file.length);
        self.compaction.is_none() && length > 2 * self.compacted_length + JOURNAL_GROWTH
    }

    /// Starts a compaction with the records that the state amounts to.
    ///
    /// # Errors
    /// The thread can't be started. The journal goes on as it was, and needs no compaction for a
    /// while.
    pub fn start_compaction(&mut self, records: Vec<Record>) -> io::Result<()> {
        self.compacted_length = self.file.as_ref().map_or(0, |file| file.length);
        // These records include the pending ones, which change nothing when they are applied a
        // second time.
        self.compaction = Some(Compaction::begin(
            &self.path,
            records,
            self.boot_id.clone(),
            self.generation + 1,
        )?);
        Ok(())
    }

    /// Continues the compaction, without waiting.
    ///
    /// # Errors
    /// As for [`Journal::start_compaction`], when the file system fails.
    pub fn poll_compaction(&mut self) -> io::Result<()> {
        let Some(compaction) = self.compaction.take() else { return Ok(()) };
        let (step, rest) = compaction.poll()?;
        self.compaction = rest;
        match step {
            CompactionStep::Pending => {}
            CompactionStep::Both => {
                let new = self.compaction.as_ref().and_then(Compaction::file_in_both);
                let files = [self.file.as_ref(), new].into_iter().flatten();
                self.syncer.set_files(files.map(|file| Arc::clone(&file.handle)).collect());
            }
            CompactionStep::Done(file) => self.switch_to(file),
        }
        Ok(())
    }

    fn switch_to(&mut self, file: JournalFile) {
        self.generation += 1;
        self.compacted_length = file.length;
        self.syncer.set_files(vec![Arc::clone(&file.handle)]);
        self.file = Some(file);
    }
}

impl Drop for Journal {
    /// Ends in order: syncs everything and records that.
    fn drop(&mut self) {
        if let Some(file) = self.compaction.take().and_then(Compaction::finish) {
            self.switch_to(file);
        }
        if self.check_in_place().is_err() {
            return;
        }
        let Some(file) = &mut self.file else { return };
        if !self.pending.is_empty() || file.handle.sync_data().is_err() {
            return;
        }
        let mut end = Vec::new();
        let written = format::encode(&mut end, &JournalMarker::CleanShutdown)
            .and_then(|()| file.append(&end));
        let synced = written.and_then(|()| file.handle.sync_data());
        let _ = synced.and_then(|()| self.write_mark()).and_then(|()| self.mark_file.sync());
    }
}

#[cfg(test)]
mod tests;
