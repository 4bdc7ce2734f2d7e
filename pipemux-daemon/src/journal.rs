//! The saved state: an append-only log of records.
//!
//! A file is a line that names its format, then records: `u32` length, `u32` checksum, MessagePack. A
//! record is written before anything that follows from it goes out, so a daemon that is killed loses
//! none; a helper thread syncs what was written, so a machine that loses power loses a moment's. A
//! record is whole or isn't there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pipemux_core::saved::Record;

use crate::checksum::crc32;
use crate::limits::{BAD_MAX, JOURNAL_GROWTH, RECORD_MAX, SYNC_MS, UNWRITTEN_MAX};
use crate::note::note;

const FORMAT: &[u8] = b"pipemux state 1\n";
const HEAD: usize = 8;

/// What an earlier daemon wrote.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// What was damaged, and what was done about it.
    pub problems: Vec<String>,
}

/// Reads the saved state. What is damaged ends it there; a file with more damage than a last record that
/// was cut short is kept beside it as `<name>.bad-<n>`.
///
/// # Errors
/// The file is there and can't be read.
pub fn load(path: &Path) -> io::Result<Loaded> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded::default()),
        Err(error) => return Err(error),
    };
    let (records, damage) = parse(&bytes);
    let mut loaded = Loaded { records, problems: Vec::new() };
    let Some(damage) = damage else { return Ok(loaded) };
    let (shown, kept) = (path.display(), loaded.records.len());
    loaded.problems.push(match damage {
        Damage::CutShort(at) => {
            let lost = bytes.len() - at;
            format!(
                "{shown}: the last record was cut short: {lost} bytes dropped, {kept} records kept"
            )
        }
        Damage::Corrupt(at) => {
            let aside = set_aside(path)?;
            format!(
                "{shown} is damaged at byte {at}: {kept} records kept, the whole file is {aside}"
            )
        }
        Damage::Unknown(count) => {
            let aside = set_aside(path)?;
            format!("{shown}: {count} records are of a newer release and left out; see {aside}")
        }
    });
    Ok(loaded)
}

/// The open log.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Arc<Mutex<File>>,
    length: u64,
    length_at_start: u64,
    unwritten: Vec<u8>,
    syncer: Option<Syncer>,
}

impl Journal {
    /// Begins a log with these records, in place of the one that is there, all at once.
    ///
    /// # Errors
    /// As the file system's; the old log is untouched then.
    pub fn create(path: &Path, records: &[Record]) -> io::Result<Self> {
        let (file, length) = write_anew(path, records)?;
        let file = Arc::new(Mutex::new(file));
        let syncer = Some(Syncer::start(Arc::clone(&file))?);
        let path = path.to_owned();
        Ok(Self { path, file, length, length_at_start: length, unwritten: Vec::new(), syncer })
    }

    /// Appends a record. When it can't be written it is kept, and written with the next.
    ///
    /// # Errors
    /// As `write`; past [`UNWRITTEN_MAX`] the record is lost.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        if self.unwritten.len() > UNWRITTEN_MAX {
            return Err(io::Error::other("a record is lost: too many wait to be written"));
        }
        encode(&mut self.unwritten, record)?;
        self.write_kept()
    }

    /// Writes what could not be written before.
    ///
    /// # Errors
    /// As `write`; it is kept then.
    pub fn write_kept(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&self.unwritten) {
            // A part of a record may be there: nothing could be read behind it.
            let _ = file.set_len(self.length);
            return Err(error);
        }
        drop(file);
        self.length += self.unwritten.len() as u64;
        self.unwritten.clear();
        if let Some(syncer) = &self.syncer {
            syncer.nudge();
        }
        Ok(())
    }

    /// True when most of the log has been overtaken by later records.
    pub fn is_overgrown(&self) -> bool {
        self.length > 2 * self.length_at_start + JOURNAL_GROWTH
    }

    /// Writes the log anew, with what all its records amount to.
    ///
    /// # Errors
    /// As the file system's; the log goes on as it was, and isn't overgrown for a while.
    pub fn rewrite(&mut self, records: &[Record]) -> io::Result<()> {
        self.length_at_start = self.length;
        let (file, length) = write_anew(&self.path, records)?;
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = file;
        (self.length, self.length_at_start) = (length, length);
        self.unwritten.clear();
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if let Some(syncer) = self.syncer.take() {
            syncer.stop();
        }
        let _ = self.file.lock().unwrap_or_else(PoisonError::into_inner).sync_data();
    }
}

/// The thread that syncs.
#[derive(Debug)]
struct Syncer {
    wanted: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Syncer {
    fn start(file: Arc<Mutex<File>>) -> io::Result<Self> {
        let (wanted, wants) = sync_channel::<()>(1);
        let thread = thread::Builder::new().name("sync".into()).spawn(move || {
            while wants.recv().is_ok() {
                thread::sleep(Duration::from_millis(SYNC_MS));
                while wants.try_recv().is_ok() {}
                // Synced through a descriptor of its own, so that nobody waits for it.
                let file = file.lock().unwrap_or_else(PoisonError::into_inner).try_clone();
                let synced = file.and_then(|file| file.sync_data());
                if let Err(error) = synced {
                    note(format_args!("the state is written but can't be synced: {error}"));
                }
            }
        })?;
        Ok(Self { wanted, thread })
    }

    fn nudge(&self) {
        // Full: it is told already, and has yet to begin.
        let _ = self.wanted.try_send(());
    }

    fn stop(self) {
        drop(self.wanted);
        let _ = self.thread.join();
    }
}

enum Damage {
    CutShort(usize),
    Corrupt(usize),
    Unknown(usize),
}

fn parse(bytes: &[u8]) -> (Vec<Record>, Option<Damage>) {
    let mut records = Vec::new();
    if !bytes.starts_with(FORMAT) {
        let damage = match FORMAT.starts_with(bytes) {
            true if bytes.is_empty() => None,
            true => Some(Damage::CutShort(0)),
            false => Some(Damage::Corrupt(0)),
        };
        return (records, damage);
    }
    let (mut at, mut unknown) = (FORMAT.len(), 0);
    while at < bytes.len() {
        let Some(head) = bytes[at..].first_chunk::<HEAD>() else {
            return (records, Some(Damage::CutShort(at)));
        };
        let [a, b, c, d, sum @ ..] = *head;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > RECORD_MAX {
            return (records, Some(Damage::Corrupt(at)));
        }
        let start = at + HEAD;
        let Some(body) = bytes.get(start..start + length) else {
            return (records, Some(Damage::CutShort(at)));
        };
        if crc32(body) != u32::from_be_bytes(sum) {
            return (records, Some(Damage::Corrupt(at)));
        }
        match rmp_serde::from_slice(body) {
            Ok(record) => records.push(record),
            Err(_) => unknown += 1,
        }
        at = start + length;
    }
    (records, (unknown > 0).then_some(Damage::Unknown(unknown)))
}

fn encode(out: &mut Vec<u8>, record: &Record) -> io::Result<()> {
    let body = rmp_serde::to_vec_named(record).map_err(io::Error::other)?;
    if body.len() > RECORD_MAX {
        return Err(io::Error::other(format!("a record of {} bytes is too long", body.len())));
    }
    out.extend((body.len() as u32).to_be_bytes());
    out.extend(crc32(&body).to_be_bytes());
    out.extend(body);
    Ok(())
}

fn write_anew(path: &Path, records: &[Record]) -> io::Result<(File, u64)> {
    let mut bytes = FORMAT.to_vec();
    for record in records {
        encode(&mut bytes, record)?;
    }
    let new = path.with_extension("new");
    let mut options = OpenOptions::new();
    // Appending, so that what was cut back after a failed write isn't left as a hole.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = options.append(true).create_new(true).mode(0o600).open(&new)?;
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&new, path)) {
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    if let Some(directory) = path.parent() {
        // The new name, too; where directories can't be synced it lasts anyhow, a little later.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    Ok((file, bytes.len() as u64))
}

/// Keeps the file under another name, and gives that name.
fn set_aside(path: &Path) -> io::Result<String> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".bad-{number}"));
        PathBuf::from(name)
    };
    let free = (1..BAD_MAX).find(|number| !name(*number).exists()).unwrap_or(BAD_MAX);
    let aside = name(free);
    let _ = fs::remove_file(&aside);
    // A second name, not a new one: what can be read of it must not be lost before it is written anew.
    fs::hard_link(path, &aside).or_else(|_| fs::copy(path, &aside).map(drop))?;
    Ok(aside.display().to_string())
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
