//! The audit log: one line of JSON for each act, appended and never changed.
//!
//! | module | contents |
//! |---|---|
//! | `audit_log` | the file: appended to, divided, kept for a time |
//! | `audit_log::line` | one line |
//!
//! The lines of one turn of the driver are written together, before anything of that turn goes out:
//! whoever was told of an act finds it here. Unlike the saved state, a log that can't be written
//! keeps nobody from acting: its lines are kept in memory for a while, and what is lost of it is
//! counted in the next line.

mod line;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_core::audit::AuditEntry;

use crate::daemon_log::log;
use crate::limits::{AUDIT_FILES, AUDIT_PENDING_MAX};
use crate::settings::AuditSettings;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The audit log of one state directory.
#[derive(Debug)]
pub struct AuditLog {
    /// The newest file; older ones have a number appended, from 1.
    path: PathBuf,
    settings: AuditSettings,
    file: Option<OpenFile>,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    /// Lines that were dropped since the last one was written.
    lost: u64,
    /// True while it can't be written; logged once.
    failing: bool,
    /// The time of the next search for expired files, in milliseconds since 1970.
    expire_at: u64,
}

/// The newest file.
#[derive(Debug)]
struct OpenFile {
    file: File,
    length: u64,
    /// The time at which the file was begun, in milliseconds since 1970.
    began: u64,
}

impl AuditLog {
    /// Continues the log of a state directory; nothing is opened before there is a line to write.
    pub fn open(state_dir: &Path, settings: AuditSettings) -> Self {
        Self {
            path: state_dir.join("audit.log"),
            settings,
            file: None,
            pending: Vec::new(),
            lost: 0,
            failing: false,
            expire_at: 0,
        }
    }

    /// Adds a line, which the next [`AuditLog::flush`] writes.
    pub fn append(&mut self, entry: &AuditEntry) {
        if self.settings.keep_days == 0 {
            return;
        }
        if self.pending.len() > AUDIT_PENDING_MAX {
            self.lost += 1;
            return;
        }
        line::write(&mut self.pending, entry);
    }

    /// Writes the lines that were added, in one write.
    pub fn flush(&mut self, now: u64) {
        if self.pending.is_empty() {
            return;
        }
        match self.write(now) {
            Ok(()) => {
                if std::mem::take(&mut self.failing) {
                    log("the audit log can be written again");
                }
            }
            Err(error) => {
                self.file = None;
                if !std::mem::replace(&mut self.failing, true) {
                    let path = self.path.display();
                    log(format_args!("can't write {path}, its lines are kept in memory: {error}"));
                }
            }
        }
    }

    /// Begins the file again if somebody removed it: the next line tells of that.
    pub fn check(&mut self, now: u64) {
        let is_gone = |open: &OpenFile| open.file.metadata().is_ok_and(|found| found.nlink() == 0);
        if self.file.as_ref().is_some_and(is_gone) {
            self.file = None;
            let mut first = Vec::new();
            line::write_removed(&mut first, now);
            self.pending.splice(0..0, first);
            self.flush(now);
        }
    }

    fn write(&mut self, now: u64) -> io::Result<()> {
        if self.lost > 0 && self.pending.len() <= AUDIT_PENDING_MAX {
            line::write_lost(&mut self.pending, now, self.lost);
            self.lost = 0;
        }
        self.expire(now);
        self.continue_file(now)?;
        let Some(open) = &mut self.file else { return Ok(()) };
        if let Err(error) = open.file.write_all(&self.pending) {
            // What was written of it is written again later.
            let _ = open.file.set_len(open.length);
            return Err(error);
        }
        open.length += self.pending.len() as u64;
        self.pending.clear();
        if self.lost > 0 {
            line::write_lost(&mut self.pending, now, std::mem::take(&mut self.lost));
            return self.write(now);
        }
        Ok(())
    }

    /// Makes sure that the file to write to is open, in its place and not too long or too old.
    fn continue_file(&mut self, now: u64) -> io::Result<()> {
        let files = u64::from(AUDIT_FILES);
        let (most, age) = (self.settings.size.0 / files, self.settings.keep_days * DAY_MS / files);
        if self.file.is_none() {
            self.file = Some(OpenFile::open(&self.path, now)?);
        }
        let pending = self.pending.len() as u64;
        let full = |open: &OpenFile| {
            open.length > 0 && (open.length + pending > most || now > open.began + age)
        };
        if self.file.as_ref().is_some_and(full) {
            self.file = None;
            for number in (1..AUDIT_FILES - 1).rev() {
                rename_if_there(&self.older(number), &self.older(number + 1))?;
            }
            rename_if_there(&self.path, &self.older(1))?;
            self.file = Some(OpenFile::open(&self.path, now)?);
        }
        Ok(())
    }

    /// Removes files whose last line is too old, once a day.
    fn expire(&mut self, now: u64) {
        if now < self.expire_at {
            return;
        }
        self.expire_at = now + DAY_MS;
        let oldest = now.saturating_sub(self.settings.keep_days * DAY_MS);
        for path in (1..AUDIT_FILES).map(|number| self.older(number)) {
            if modified(&path).is_some_and(|at| at < oldest) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn older(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

impl OpenFile {
    fn open(path: &Path, now: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).mode(0o600).open(path)?;
        let mut length = file.metadata()?.len();
        if length > 0 {
            // A power failure may have left a part of a line.
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
                length += 1;
            }
        }
        let began = if length == 0 { now } else { line::first_time(&mut file).unwrap_or(now) };
        Ok(Self { file, length, began })
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed,
    }
}

fn modified(path: &Path) -> Option<u64> {
    let at = fs::metadata(path).ok()?.modified().unwrap_or(SystemTime::now());
    u64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests;
