//! The journal: the saved state, as an append-only file of records.
//!
//! | module | contents |
//! |---|---|
//! | `journal` | loads the journal, appends to it, ends it |
//! | `journal::format` | the encoding of records, and how damage is recognised |
//! | `journal::file` | one file: appends to it, and truncates it after a failed write |
//! | `journal::compaction` | rewrites the journal in the background |
//! | `journal::sync` | the thread that syncs |
//!
//! A record is written before anything that follows from it goes out, so a daemon that is killed loses no
//! record. The records of one turn of the driver are written together. What is written is synced within 50
//! ms, so a power loss costs the records of a moment. A record is there completely or not at all.
//!
//! Records are written on the driver's own thread: a write into the system's cache takes microseconds, less
//! than passing the records to another thread and waiting for it. Threads do what takes longer: syncing and
//! compaction.
//!
//! **Invariant: damage is never fatal.** What can't be read is set aside and reported. What can't be written
//! is kept in memory, and acts are refused meanwhile.

mod compaction;
mod file;
mod format;
mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_core::Loss;
use pipemux_core::saved::Record;

use crate::limits::{JOURNAL_GROWTH, UNSYNCED_MAX, UNWRITTEN_MAX};
use compaction::{Compaction, CompactionStep, temp_path};
use file::{JournalFile, rename_into_place, set_aside};
use format::{Damage, JournalMarker, Parsed, parse};
use sync::Syncer;

/// What an earlier daemon wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LoadedJournal {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// Descriptions of the damage and of what was done about it, for the daemon's log.
    pub problems: Vec<String>,
    /// What is lost, for the core to continue from.
    pub loss: Option<Loss>,
    /// True when that daemon stopped in order.
    pub clean_shutdown: bool,
}

/// Reads the saved state up to the first damage. A damaged or unreadable file is kept beside it as
/// `<name>.bad-<n>`.
pub fn load(path: &Path) -> LoadedJournal {
    load_with_boot_id(path, current_boot_id().as_deref())
}

/// Describes what is wrong with a saved state, without changing it.
///
/// # Errors
/// As `read`.
pub fn check(path: &Path) -> io::Result<Option<String>> {
    let bytes = fs::read(path)?;
    let parsed = parse(&bytes);
    let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
    // A truncated end isn't reported: a daemon that was killed, or that is writing just now, leaves one, and
    // nothing is lost.
    Ok(describe_problem(&parsed, &bytes, lost_bytes)
        .filter(|_| parsed.damage != Some(Damage::Truncated)))
}

fn load_with_boot_id(path: &Path, boot_id: Option<&str>) -> LoadedJournal {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return LoadedJournal::default(),
        Err(error) => return unreadable(path, &error),
    };
    let parsed = parse(&bytes);
    let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
    let mut loaded =
        LoadedJournal { loss: loss(&parsed, lost_bytes, boot_id), ..LoadedJournal::default() };
    if let Some(what) = describe_problem(&parsed, &bytes, lost_bytes) {
        let shown = path.display();
        let kept = parsed.records.len();
        let mut problem = format!("{shown} {what}: {kept} records kept");
        if parsed.damage != Some(Damage::Truncated) {
            let note = set_aside_note(path, true);
            problem += &format!(", {note}");
            loaded.loss = loaded.loss.map(|loss| Loss { told: Some(reader_notice(&note)), ..loss });
        }
        loaded.problems.push(problem);
    }
    loaded.clean_shutdown = parsed.clean_shutdown;
    loaded.records = parsed.records;
    loaded
}

/// Describes the damage for people.
fn describe_problem(parsed: &Parsed, bytes: &[u8], lost_bytes: u64) -> Option<String> {
    let at = parsed.valid_length;
    match (parsed.damage, parsed.unknown_records) {
        (Some(Damage::Truncated), _) => {
            Some(format!("ends in the middle of a record: {lost_bytes} bytes dropped"))
        }
        (Some(Damage::Corrupt), _) => Some(format!("is damaged at byte {at}")),
        (Some(Damage::NotAJournal), _) if bytes.starts_with(b"pipemux state ") => {
            Some("was written by another release".to_owned())
        }
        (Some(Damage::NotAJournal), _) => Some("is not a saved state".to_owned()),
        (None, 0) => None,
        (None, count) => Some(format!("has {count} records of a newer release, which are skipped")),
    }
}

fn loss(parsed: &Parsed, lost_bytes: u64, boot_id: Option<&str>) -> Option<Loss> {
    // Within the same boot of the machine everything that was written is there, synced or not.
    let synced =
        parsed.clean_shutdown || (boot_id.is_some() && parsed.boot_id.as_deref() == boot_id);
    let unsynced = if synced { 0 } else { UNSYNCED_MAX };
    if parsed.damage.is_none() && parsed.unknown_records == 0 && synced {
        return None;
    }
    let whole = parsed.damage.is_some() && !parsed.snapshot_complete;
    Some(Loss { told: None, bytes: lost_bytes + unsynced, workspaces: whole })
}

fn unreadable(path: &Path, error: &io::Error) -> LoadedJournal {
    let note = set_aside_note(path, false);
    let problem = format!("{} can't be read: {error}: {note}", path.display());
    let loss = Loss { told: Some(reader_notice(&note)), bytes: 0, workspaces: true };
    LoadedJournal { problems: vec![problem], loss: Some(loss), ..LoadedJournal::default() }
}

fn set_aside_note(path: &Path, readable: bool) -> String {
    match set_aside(path, readable) {
        Ok(aside) => format!("the file is kept as {}", aside.display()),
        Err(error) => format!("the file can't be set aside: {error}"),
    }
}

/// Returns the notice for readers.
fn reader_notice(set_aside_note: &str) -> String {
    format!(
        "the daemon's saved state was damaged: windows, history and questions may be outdated or \
         missing, apps have kept their own data; check with: pipemux view, pipemux history ({set_aside_note})"
    )
}

/// The open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    boot_id: Option<String>,
    file: Option<JournalFile>,
    /// The first content of the file, kept until the file can be created.
    initial: Vec<u8>,
    compacted_length: u64,
    pending: Vec<u8>,
    compaction: Option<Compaction>,
    syncer: Syncer,
}

impl Journal {
    /// Creates a journal with these records, which replaces the existing one in a single step. When that
    /// fails, it is tried again with every write; the existing journal stays untouched until it succeeds.
    ///
    /// # Errors
    /// The thread that syncs can't be started.
    pub fn create(path: &Path, records: &[Record]) -> io::Result<Self> {
        let boot_id = current_boot_id();
        let initial = format::encode_journal(records, boot_id.as_deref())?;
        let (path, syncer) = (path.to_owned(), Syncer::start()?);
        let mut journal = Self {
            path,
            boot_id,
            file: None,
            initial,
            compacted_length: 0,
            pending: Vec::new(),
            compaction: None,
            syncer,
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
        format::encode(&mut self.pending, record)
    }

    /// Returns how many bytes of records are pending.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Writes the pending records. If that fails they stay pending, and the next call tries again.
    ///
    /// # Errors
    /// As `write`; the disk has no room for later records.
    pub fn flush(&mut self) -> io::Result<()> {
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
        if self.pending.is_empty() {
            return file.reserve();
        }
        file.append(&self.pending)?;
        if let Some(compaction) = &mut self.compaction
            && let Err(error) = compaction.append(&self.pending)
        {
            file.remove_last(self.pending.len());
            return Err(error);
        }
        self.pending.clear();
        self.syncer.request_sync();
        file.reserve()
    }

    /// True when later records have replaced most of the journal and no compaction is running.
    pub fn needs_compaction(&self) -> bool {
        let length = self.file.as_ref().map_or(0, |file| file.length);
        self.compaction.is_none() && length > 2 * self.compacted_length + JOURNAL_GROWTH
    }

    /// Starts a compaction with the records that the state amounts to.
    ///
    /// # Errors
    /// The thread can't be started. The journal goes on as it was, and needs no compaction for a while.
    pub fn start_compaction(&mut self, records: Vec<Record>) -> io::Result<()> {
        self.compacted_length = self.file.as_ref().map_or(0, |file| file.length);
        // These records include the pending ones, which change nothing when they are applied a second time.
        self.compaction = Some(Compaction::begin(&self.path, records, self.boot_id.clone())?);
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
        let Some(file) = &mut self.file else { return };
        if !self.pending.is_empty() || file.handle.sync_data().is_err() {
            return;
        }
        let mut end = Vec::new();
        let written = format::encode(&mut end, &JournalMarker::CleanShutdown)
            .and_then(|()| file.append(&end));
        let _ = written.and_then(|()| file.handle.sync_data());
    }
}

/// Returns what identifies this boot of the machine, where the system tells it.
fn current_boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
