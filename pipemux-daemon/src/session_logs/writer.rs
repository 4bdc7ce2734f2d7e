//! Writes a log: rotates it, and limits floods.
//!
//! A limited number of bytes per second is kept, and what was printed last is always among them. A
//! line of its own stands for what is left out: `… 12,345,678 bytes left out`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{ends_with_line, open_for_append, rotated_path, trim_partial_character};
use super::omission::{Omission, with_commas};
use crate::directories::create_private;
use crate::limits::{LOG_BURST, LOG_RATE, LOG_TAIL};

/// A log that is open for writing.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    /// Length of the file, and the position of its first byte.
    length: u64,
    start: u64,
    /// The length at which the next file is begun, in bytes.
    max: u64,
    at_line_start: bool,
    /// The bytes that may be written now, and the time of that calculation, in milliseconds.
    budget: u64,
    refilled_at: u64,
    omission: Option<Omission>,
}

impl LogWriter {
    /// Opens a log whose file begins at position `start`, and creates its directory. The file is
    /// rotated after `max` bytes.
    ///
    /// # Errors
    /// As `open`; the log isn't a regular file.
    pub fn open(path: &Path, start: u64, max: u64, now_ms: u64) -> io::Result<Self> {
        let (file, length) = match open_for_append(path) {
            // The first log of its workspace.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private(path.parent().unwrap_or(Path::new("/")))?;
                open_for_append(path)?
            }
            other => other?,
        };
        let at_line_start = ends_with_line(&file, length);
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            start,
            max,
            // An earlier process's last line may lack its end.
            at_line_start,
            budget: LOG_BURST,
            refilled_at: now_ms,
            omission: None,
        })
    }

    /// Returns the position of the file's first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was printed, within the limits; returns whether the log grew.
    pub fn write_output(&mut self, bytes: &[u8], now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        if let Some(omission) = &mut self.omission {
            omission.add(bytes);
            self.resume();
        } else {
            let length = self.affordable_length(bytes);
            self.budget = self.budget.saturating_sub(length as u64);
            self.write(&bytes[..length]);
            self.omit(&bytes[length..]);
        }
        self.end() != before
    }

    /// Writes a line of the daemon's own that can wait; returns whether it did. In the middle of a
    /// line of the app, it doesn't.
    pub fn write_line(&mut self, line: &str, now_ms: u64) -> bool {
        self.at_line_start && self.write_output(format!("{line}\n").as_bytes(), now_ms)
    }

    /// Writes a line that no process printed; returns whether the log grew.
    pub fn write_note(&mut self, line: &str, now_ms: u64) -> bool {
        let start = if self.at_line_start { "" } else { "\n" };
        self.write_output(format!("{start}{line}\n").as_bytes(), now_ms)
    }

    /// Returns when to call [`LogWriter::resume_if_due`], in milliseconds; `None` when nothing is
    /// left out.
    pub fn resume_at(&self) -> Option<u64> {
        let wait = RESUME.saturating_sub(self.budget) * 1000 / LOG_RATE;
        self.omission.as_ref().map(|_| self.refilled_at + wait + 1)
    }

    /// Writes the end of what was left out if the budget allows it; returns whether the log grew.
    pub fn resume_if_due(&mut self, now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        self.resume();
        self.end() != before
    }

    /// Writes the end of what was left out in any case, because the process exited.
    pub fn finish(&mut self) {
        self.budget = LOG_BURST;
        self.resume();
    }

    /// Returns the position after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.length
    }

    /// Returns how many of the bytes to write: complete lines where possible.
    fn affordable_length(&self, bytes: &[u8]) -> usize {
        if bytes.len() as u64 <= self.budget {
            return bytes.len();
        }
        let affordable = &bytes[..self.budget as usize];
        let end = match affordable.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => Some(at),
            // Ends a line that has begun, if its end is near.
            None if !self.at_line_start => {
                bytes.iter().take(LOG_TAIL).position(|byte| *byte == b'\n')
            }
            None => None,
        };
        end.map_or(trim_partial_character(affordable).len(), |at| at + 1)
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
        let end = omission.end();
        let omitted = omission.bytes - end.len() as u64;
        if omitted > 0 {
            let line_end = if self.at_line_start { "" } else { "\n" };
            let line = format!("{line_end}… {} bytes left out\n", with_commas(omitted));
            self.write(line.as_bytes());
        }
        self.budget = self.budget.saturating_sub(end.len() as u64);
        self.write(end);
    }

    fn omit(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.omission.get_or_insert_default().add(bytes);
        }
    }

    /// Writes the bytes; leaves out what can't be written.
    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = self.max.saturating_sub(self.length);
            let fits = if (bytes.len() as u64) <= left {
                bytes.len()
            } else {
                // Complete lines; nothing if a line begins here and the next file has room for it.
                match bytes[..left as usize].iter().rposition(|byte| *byte == b'\n') {
                    Some(at) => at + 1,
                    None if self.at_line_start && self.length > 0 => 0,
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
                    self.length += length as u64;
                    bytes = &bytes[length..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The disk is full, or the directory is gone. A line in the log says so when
                // writing works again.
                Err(_) => return self.omit(bytes),
            }
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        fs::rename(&self.path, rotated_path(&self.path))?;
        let (file, length) = open_for_append(&self.path)?;
        self.file = file;
        self.start += self.length;
        self.length = length;
        Ok(())
    }
}

/// The budget at which writing resumes after an omission, in bytes.
const RESUME: u64 = LOG_RATE / 2;

#[cfg(test)]
mod tests;
