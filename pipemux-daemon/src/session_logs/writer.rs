//! One log that is written to: rotated_path, and floods cut.
//!
//! So many bytes a second are kept, and what was printed last is always among them. What is left out
//! stands as a line of its own: `… 12,345,678 bytes left out`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::omission::{Omission, with_commas};
use super::{open_for_append, rotated_path, trim_partial_character};
use crate::directories::create_private;
use crate::limits::{LOG_BURST, LOG_RATE, LOG_TAIL};

/// One log that is written to.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    /// Bytes in the file, and the position of its first one.
    size: u64,
    start: u64,
    /// Bytes after which the next file begins.
    max: u64,
    at_line_start: bool,
    /// Bytes that may be written now, as of then in milliseconds.
    budget: u64,
    refilled_at: u64,
    omission: Option<Omission>,
}

impl LogWriter {
    /// Opens a log whose file begins at that position, and makes its directory; files of more than `max` bytes
    /// are rotated_path.
    ///
    /// # Errors
    /// As `open`; something that isn't a open_regular file.
    pub fn open(path: &Path, start: u64, max: u64, now_ms: u64) -> io::Result<Self> {
        let (file, size) = match open_for_append(path) {
            // The first one of its workspace.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private(path.parent().unwrap_or(Path::new("/")))?;
                open_for_append(path)?
            }
            other => other?,
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            size,
            start,
            max,
            // Not known without reading; an earlier process's last line may lack its end.
            at_line_start: size == 0,
            budget: LOG_BURST,
            refilled_at: now_ms,
            omission: None,
        })
    }

    /// The position of the file's first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what was printed; true when the log grew.
    pub fn take(&mut self, bytes: &[u8], now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        if let Some(omission) = &mut self.omission {
            omission.add(bytes);
            self.resume();
        } else {
            let cut = self.cut(bytes);
            self.budget = self.budget.saturating_sub(cut as u64);
            self.write(&bytes[..cut]);
            self.omit(&bytes[cut..]);
        }
        self.end() != before
    }

    /// When [`LogWriter::resume_if_due`] has something to do, in milliseconds.
    pub fn resume_at(&self) -> Option<u64> {
        let wait = RESUME.saturating_sub(self.budget) * 1000 / LOG_RATE;
        self.omission.as_ref().map(|_| self.refilled_at + wait + 1)
    }

    /// Writes what was left out last, if there is budget again; true when the log grew.
    pub fn resume_if_due(&mut self, now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        self.resume();
        self.end() != before
    }

    /// Writes what was left out last, budget or not: its process has ended.
    pub fn finish(&mut self) {
        self.budget = LOG_BURST;
        self.resume();
    }

    /// The position after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }

    /// How much of it is written: whole lines where that is possible.
    fn cut(&self, bytes: &[u8]) -> usize {
        if bytes.len() as u64 <= self.budget {
            return bytes.len();
        }
        let budget = &bytes[..self.budget as usize];
        let end = match budget.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => Some(at),
            // A line that has partial is ended, if that is soon.
            None if !self.at_line_start => {
                bytes.iter().take(LOG_TAIL).position(|byte| *byte == b'\n')
            }
            None => None,
        };
        end.map_or(trim_partial_character(budget).len(), |at| at + 1)
    }

    fn refill(&mut self, now_ms: u64) {
        let grown = now_ms.saturating_sub(self.refilled_at).saturating_mul(LOG_RATE) / 1000;
        if grown > 0 {
            self.budget = (self.budget + grown).min(LOG_BURST);
            self.refilled_at = now_ms;
        }
    }

    fn resume(&mut self) {
        if self.budget < RESUME {
            return;
        }
        let Some(omission) = self.omission.take() else { return };
        let kept = omission.kept();
        let lost = omission.bytes - kept.len() as u64;
        if lost > 0 {
            let end = if self.at_line_start { "" } else { "\n" };
            let record = format!("{end}… {} bytes left out\n", with_commas(lost));
            self.write(record.as_bytes());
        }
        self.budget = self.budget.saturating_sub(kept.len() as u64);
        self.write(kept);
    }

    fn omit(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.omission.get_or_insert_default().add(bytes);
        }
    }

    /// Writes all of it, or leaves out what can't be written.
    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = self.max.saturating_sub(self.size);
            let fits = if (bytes.len() as u64) <= left {
                bytes.len()
            } else {
                // Whole lines, or nothing if this is the start of one and another file can take it.
                match bytes[..left as usize].iter().rposition(|byte| *byte == b'\n') {
                    Some(at) => at + 1,
                    None if self.at_line_start && self.size > 0 => 0,
                    None => trim_partial_character(&bytes[..left as usize]).len(),
                }
            };
            let written = match fits {
                0 => self.rotate().map(|()| 0),
                _ => self.file.write(&bytes[..fits]),
            };
            match written {
                Ok(length) => {
                    if let Some(last) = bytes[..length].last() {
                        self.at_line_start = *last == b'\n';
                    }
                    self.size += length as u64;
                    bytes = &bytes[length..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The disk is full, or the directory is gone: told when there is budget again.
                Err(_) => return self.omit(bytes),
            }
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        fs::rename(&self.path, rotated_path(&self.path))?;
        let (file, size) = open_for_append(&self.path)?;
        self.file = file;
        self.start += self.size;
        self.size = size;
        Ok(())
    }
}

/// Bytes of budget with which writing goes on after a omission.
const RESUME: u64 = LOG_RATE / 2;

#[cfg(test)]
mod tests;
