//! The journal: the saved state, as an append-only file of records.
//!
//! | module | contents |
//! |---|---|
//! | `journal` | loads the journal, appends to it, ends it |
//! | `journal::format` | the encoding of records, and how damage is recognised |
//! | `journal::file` | one file: appends to it, and truncates it after a failed write |
//! | `journal::mark` | how far numbers came and how long the journal was, in a file of its own |
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
mod mark;
mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_core::Loss;
use pipemux_core::saved::Record;

use crate::limits::{JOURNAL_GROWTH, UNSYNCED_MAX, UNWRITTEN_MAX};
use compaction::{Compaction, CompactionStep, temp_path};
use file::{FileIdentity, JournalFile, rename_into_place, set_aside};
use format::{Damage, JournalMarker, Parsed, parse};
use mark::{JournalLength, Mark, MarkFile};
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
    let mark = mark::read(path);
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return missing(path, mark),
        Err(error) => return unreadable(path, &error, mark),
    };
    let parsed = parse(&bytes);
    let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
    let cut = mark.as_ref().and_then(|mark| what_is_cut(&parsed, mark, boot_id));
    let mut loaded = LoadedJournal {
        loss: loss(&parsed, lost_bytes, boot_id, mark),
        ..LoadedJournal::default()
    };
    let shown = path.display();
    let kept = parsed.records.len();
    if let Some(what) = describe_problem(&parsed, &bytes, lost_bytes) {
        let mut problem = format!("{shown} {what}: {kept} records kept");
        if parsed.damage != Some(Damage::Truncated) {
            let note = set_aside_note(path, true);
            problem += &format!(", {note}");
            let told = Some(reader_notice("was damaged", &note));
            loaded.loss = loaded.loss.map(|loss| Loss { told, acts: true, ..loss });
        }
        loaded.problems.push(problem);
    }
    if let Some(what) = cut {
        loaded.problems.push(format!("{shown} {what}: {kept} records kept"));
        let loss = loaded.loss.take().unwrap_or_default();
        let told = loss.told.or_else(|| Some(reader_notice(&what, &format!("in {shown}"))));
        let high_water = mark.map(|mark| mark.high_water);
        let workspaces = loss.workspaces || !parsed.snapshot_complete;
        loaded.loss = Some(Loss { told, acts: true, high_water, workspaces, ..loss });
    }
    loaded.clean_shutdown = parsed.clean_shutdown;
    loaded.records = parsed.records;
    loaded
}

/// Describes a journal that lacks records at its end, or has others than the latest; none when it has all that its mark
/// says.
fn what_is_cut(parsed: &Parsed, mark: &Mark, boot_id: Option<&str>) -> Option<String> {
    let generation = parsed.generation?;
    let Some(of) = mark.journals.iter().find(|journal| journal.generation == generation) else {
        // A later one than the mark knows took its place just before the daemon was killed.
        return (generation < mark.generation()).then(|| "is an older copy".to_owned());
    };
    let missing = of.length.saturating_sub(parsed.valid_length as u64);
    // A loss of power may cost what was written last.
    let excused = if is_synced(parsed, boot_id) { 0 } else { UNSYNCED_MAX };
    (missing > excused).then(|| format!("was cut: {missing} bytes are missing"))
}

/// True when everything that was written is there, synced or not: within the same boot of the machine it is.
fn is_synced(parsed: &Parsed, boot_id: Option<&str>) -> bool {
    parsed.clean_shutdown || (boot_id.is_some() && parsed.boot_id.as_deref() == boot_id)
}

/// Loads a journal that isn't there: at the first start of a daemon, or because somebody removed it.
fn missing(path: &Path, mark: Option<Mark>) -> LoadedJournal {
    let sessions = path.with_file_name("sessions");
    let was_used = fs::read_dir(sessions).is_ok_and(|mut entries| entries.next().is_some());
    if mark.is_none() && !was_used {
        return LoadedJournal::default();
    }
    let problem = format!("{} is gone, though a daemon has written it", path.display());
    let told = Some(reader_notice("was removed", &format!("it was {}", path.display())));
    LoadedJournal {
        problems: vec![problem],
        loss: Some(all_lost(told, mark)),
        ..Default::default()
    }
}

fn all_lost(told: Option<String>, mark: Option<Mark>) -> Loss {
    let high_water = mark.map(|mark| mark.high_water);
    Loss { told, bytes: 0, workspaces: true, acts: true, high_water }
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

fn loss(
    parsed: &Parsed,
    lost_bytes: u64,
    boot_id: Option<&str>,
    mark: Option<Mark>,
) -> Option<Loss> {
    let synced = is_synced(parsed, boot_id);
    let unsynced = if synced { 0 } else { UNSYNCED_MAX };
    if parsed.damage.is_none() && parsed.unknown_records == 0 && synced {
        return None;
    }
    let whole = parsed.damage.is_some() && !parsed.snapshot_complete;
    // Nothing followed from an incomplete record, and the mark knows the numbers of complete ones.
    let known = synced && mark.is_some() && parsed.unknown_records == 0;
    let bytes = if known { 0 } else { lost_bytes + unsynced };
    let high_water = mark.map(|mark| mark.high_water);
    Some(Loss { told: None, bytes, workspaces: whole, acts: !synced, high_water })
}

fn unreadable(path: &Path, error: &io::Error, mark: Option<Mark>) -> LoadedJournal {
    let note = set_aside_note(path, false);
    let problem = format!("{} can't be read: {error}: {note}", path.display());
    let loss = all_lost(Some(reader_notice("was damaged", &note)), mark);
    LoadedJournal { problems: vec![problem], loss: Some(loss), ..LoadedJournal::default() }
}

fn set_aside_note(path: &Path, readable: bool) -> String {
    match set_aside(path, readable) {
        Ok(aside) => format!("the file is kept as {}", aside.display()),
        Err(error) => format!("the file can't be set aside: {error}"),
    }
}

/// Returns the notice for readers.
fn reader_notice(what: &str, note: &str) -> String {
    format!(
        "the daemon's saved state {what}: windows, history and questions may be outdated or \
         missing, apps have kept their own data; check with: pipemux view, pipemux history ({note})"
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
    generation: u64,
    mark: Mark,
    mark_file: MarkFile,
    /// True while the file isn't at its path, or not whole: nothing is written then.
    is_lost: bool,
}

impl Journal {
    /// Creates a journal with these records, which replaces the existing one in a single step. When that
    /// fails, it is tried again with every write; the existing journal stays untouched until it succeeds.
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

    /// Writes how far numbers came and how long the journal is.
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
        self.mark_file.write(&self.mark)
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
        self.mark_file.check();
        match self.file {
            Some(_) if !self.is_lost => self.write_mark(),
            _ => Ok(()),
        }
    }

    /// The directory of the file.
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

    /// Writes the journal with these records, which are the whole state, in place of one that was lost. What is at its
    /// path is set aside.
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
    /// The thread can't be started. The journal goes on as it was, and needs no compaction for a while.
    pub fn start_compaction(&mut self, records: Vec<Record>) -> io::Result<()> {
        self.compacted_length = self.file.as_ref().map_or(0, |file| file.length);
        // These records include the pending ones, which change nothing when they are applied a second time.
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

/// Returns what identifies this boot of the machine, where the system tells it.
fn current_boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
