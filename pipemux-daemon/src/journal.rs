//! The saved state: an append-only log of records.
//!
//! | module | holds |
//! |---|---|
//! | `journal` | the log from its loading to its end |
//! | `journal::format` | how records lie in it, and what damage looks like |
//! | `journal::file` | one file: appended to, cut back after a write that failed |
//! | `journal::rewrite` | writing it anew, beside the driver |
//! | `journal::sync` | the thread that syncs |
//!
//! A record is written before anything that follows from it goes out, so a daemon that is killed loses
//! none; those of one turn of the driver are written together. What was written is synced within 50 ms, so
//! a machine that loses power loses a moment's. A record is whole or isn't there.
//!
//! Records are written on the driver's own thread: into the system's memory that takes microseconds,
//! less than handing them to another thread and waiting for its word. What takes longer (syncing, and
//! writing all of it anew) is done by threads.
//!
//! **Invariant: damage is never fatal.** What can't be read is kept aside and told; what can't be written
//! is kept in memory, and acts are refused meanwhile.

mod file;
mod format;
mod rewrite;
mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_core::Loss;
use pipemux_core::saved::Record;

use crate::limits::{JOURNAL_GROWTH, UNSYNCED, UNWRITTEN_MAX};
use file::{LogFile, put_in_place, set_aside};
use format::{Damage, Mark, Parsed, parse};
use rewrite::{Rewrite, Step, new_name};
use sync::Syncer;

/// What an earlier daemon wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// What was damaged, and what was done about it: for the daemon's log.
    pub problems: Vec<String>,
    /// What is gone, for the core to go on from.
    pub loss: Option<Loss>,
    /// True when the daemon that wrote them ended in order.
    pub ended: bool,
}

/// Reads the saved state. What is damaged ends it there, and the file is kept beside it as
/// `<name>.bad-<n>`; what can't be read at all is kept so, too.
pub fn load(path: &Path) -> Loaded {
    load_in(path, boot().as_deref())
}

/// What is wrong with a saved state, without touching it.
///
/// # Errors
/// As `read`.
pub fn damage(path: &Path) -> io::Result<Option<String>> {
    let bytes = fs::read(path)?;
    let parsed = parse(&bytes);
    let gone = (bytes.len() - parsed.sound) as u64;
    // A daemon that was killed, or one that writes just now, leaves such an end; nothing is lost by it.
    Ok(told(&parsed, &bytes, gone).filter(|_| parsed.damage != Some(Damage::CutShort)))
}

fn load_in(path: &Path, boot: Option<&str>) -> Loaded {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Loaded::default(),
        Err(error) => return unreadable(path, &error),
    };
    let parsed = parse(&bytes);
    let gone = (bytes.len() - parsed.sound) as u64;
    let mut loaded = Loaded { loss: loss(&parsed, gone, boot), ..Loaded::default() };
    if let Some(what) = told(&parsed, &bytes, gone) {
        let shown = path.display();
        let kept = parsed.records.len();
        let mut problem = format!("{shown} {what}: {kept} records kept");
        if parsed.damage != Some(Damage::CutShort) {
            let aside = aside(path, true);
            problem += &format!(", {aside}");
            loaded.loss = loaded.loss.map(|loss| Loss { told: Some(sentence(&aside)), ..loss });
        }
        loaded.problems.push(problem);
    }
    loaded.ended = parsed.ended;
    loaded.records = parsed.records;
    loaded
}

/// What was found of it, for people.
fn told(parsed: &Parsed, bytes: &[u8], gone: u64) -> Option<String> {
    let at = parsed.sound;
    match (parsed.damage, parsed.unknown) {
        (Some(Damage::CutShort), _) => {
            Some(format!("ends in the middle of a record: {gone} bytes dropped"))
        }
        (Some(Damage::Corrupt), _) => Some(format!("is damaged at byte {at}")),
        (Some(Damage::NotOurs), _) if bytes.starts_with(b"pipemux state ") => {
            Some("was written by another release".to_owned())
        }
        (Some(Damage::NotOurs), _) => Some("is no saved state".to_owned()),
        (None, 0) => None,
        (None, count) => Some(format!("has {count} records of a newer release, left out")),
    }
}

fn loss(parsed: &Parsed, gone: u64, boot: Option<&str>) -> Option<Loss> {
    // In the same start of the machine all that was written is there.
    let synced = parsed.ended || (boot.is_some() && parsed.boot.as_deref() == boot);
    let unsynced = if synced { 0 } else { UNSYNCED };
    if parsed.damage.is_none() && parsed.unknown == 0 && synced {
        return None;
    }
    let whole = parsed.damage.is_some() && !parsed.whole;
    Some(Loss { told: None, bytes: gone + unsynced, workspaces: whole })
}

fn unreadable(path: &Path, error: &io::Error) -> Loaded {
    let aside = aside(path, false);
    let problem = format!("{} can't be read: {error}: {aside}", path.display());
    let loss = Loss { told: Some(sentence(&aside)), bytes: 0, workspaces: true };
    Loaded { problems: vec![problem], loss: Some(loss), ..Loaded::default() }
}

fn aside(path: &Path, readable: bool) -> String {
    match set_aside(path, readable) {
        Ok(aside) => format!("what was found is kept as {}", aside.display()),
        Err(error) => format!("what was found can't be kept aside: {error}"),
    }
}

/// What readers are told.
fn sentence(aside: &str) -> String {
    format!(
        "the daemon's saved state was damaged: windows, history and questions may be older or \
         missing, apps have kept what is theirs; look with: pipemux view, pipemux history ({aside})"
    )
}

/// The open log.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    boot: Option<String>,
    log: Option<LogFile>,
    /// What the log begins with, while it can't be made.
    first: Vec<u8>,
    length_at_start: u64,
    unwritten: Vec<u8>,
    rewrite: Option<Rewrite>,
    syncer: Syncer,
}

impl Journal {
    /// Begins a log with these records, in place of the one that is there, all at once. When that can't be
    /// done it is tried again with every record; the old one is untouched until then.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn create(path: &Path, records: &[Record]) -> io::Result<Self> {
        let boot = boot();
        let first = format::begin(records, boot.as_deref())?;
        let (path, syncer) = (path.to_owned(), Syncer::start()?);
        let mut journal = Self {
            path,
            boot,
            log: None,
            first,
            length_at_start: 0,
            unwritten: Vec::new(),
            rewrite: None,
            syncer,
        };
        // Told with the first record that can't be written.
        let _ = journal.write_kept();
        Ok(journal)
    }

    /// Notes a record, to be written by [`Journal::write_kept`] with what else is noted by then.
    ///
    /// # Errors
    /// Past [`UNWRITTEN_MAX`] bytes of unwritten records it is lost.
    pub fn note(&mut self, record: &Record) -> io::Result<()> {
        if self.unwritten.len() > UNWRITTEN_MAX {
            return Err(io::Error::other("a record is lost: too many wait to be written"));
        }
        format::encode(&mut self.unwritten, record)
    }

    /// Bytes of records that are noted and not written.
    pub fn unwritten(&self) -> usize {
        self.unwritten.len()
    }

    /// Writes what is noted. What can't be written is kept, and written with the next.
    ///
    /// # Errors
    /// As `write`, it is kept then; room for what comes next is scarce.
    pub fn write_kept(&mut self) -> io::Result<()> {
        let log = match &mut self.log {
            Some(log) => log,
            none => {
                let new = new_name(&self.path);
                let log = LogFile::create(&new, &self.first)?;
                put_in_place(&new, &self.path).inspect_err(|_| drop(fs::remove_file(&new)))?;
                self.length_at_start = log.length;
                self.first = Vec::new();
                self.syncer.watch(vec![Arc::clone(&log.file)]);
                none.insert(log)
            }
        };
        if self.unwritten.is_empty() {
            return log.make_room();
        }
        log.append(&self.unwritten)?;
        if let Some(rewrite) = &mut self.rewrite
            && let Err(error) = rewrite.append(&self.unwritten)
        {
            log.take_back(self.unwritten.len());
            return Err(error);
        }
        self.unwritten.clear();
        self.syncer.nudge();
        log.make_room()
    }

    /// True when most of the log has been overtaken by later records, and it isn't being written anew.
    pub fn is_overgrown(&self) -> bool {
        let length = self.log.as_ref().map_or(0, |log| log.length);
        self.rewrite.is_none() && length > 2 * self.length_at_start + JOURNAL_GROWTH
    }

    /// Begins to write the log anew, with what all its records amount to.
    ///
    /// # Errors
    /// There can be no thread; the log goes on as it was, and isn't overgrown for a while.
    pub fn begin_rewrite(&mut self, records: Vec<Record>) -> io::Result<()> {
        self.length_at_start = self.log.as_ref().map_or(0, |log| log.length);
        // Records that wait to be written are in these, too: once more they change nothing.
        self.rewrite = Some(Rewrite::begin(&self.path, records, self.boot.clone())?);
        Ok(())
    }

    /// Goes on with that, without waiting.
    ///
    /// # Errors
    /// As the file system's: as with [`Journal::begin_rewrite`].
    pub fn go_on(&mut self) -> io::Result<()> {
        let Some(rewrite) = self.rewrite.take() else { return Ok(()) };
        let (step, rest) = rewrite.poll()?;
        self.rewrite = rest;
        match step {
            Step::Waits => {}
            Step::Both => {
                let new = self.rewrite.as_ref().and_then(Rewrite::both);
                let files = [self.log.as_ref(), new].into_iter().flatten();
                self.syncer.watch(files.map(|log| Arc::clone(&log.file)).collect());
            }
            Step::Done(log) => self.go_on_with(log),
        }
        Ok(())
    }

    fn go_on_with(&mut self, log: LogFile) {
        self.length_at_start = log.length;
        self.syncer.watch(vec![Arc::clone(&log.file)]);
        self.log = Some(log);
    }
}

impl Drop for Journal {
    /// An ordered end: all is synced, and says so.
    fn drop(&mut self) {
        if let Some(log) = self.rewrite.take().and_then(Rewrite::settle) {
            self.go_on_with(log);
        }
        let Some(log) = &mut self.log else { return };
        if !self.unwritten.is_empty() || log.file.sync_data().is_err() {
            return;
        }
        let mut end = Vec::new();
        let written = format::encode(&mut end, &Mark::Ended).and_then(|()| log.append(&end));
        let _ = written.and_then(|()| log.file.sync_data());
    }
}

/// Tells one start of the machine from another; none where the system doesn't tell.
fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests;
