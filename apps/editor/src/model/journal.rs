//! Unsaved edits on disk, so that a crash loses none of them.
//!
//! A journal consists of a JSON header line, the whole text as it was when the journal was started,
//! a newline, and one JSON line for each change since. If the last line has no newline, the process
//! ended while writing it: that change was never confirmed to anybody and doesn't count.

use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use serde::{Deserialize, Serialize};

use crate::limits::JOURNAL_EDITS_MAX;

use super::buffer::Buffer;
use super::splice::Splice;
use super::stable_hash::stable_hash;

const FORMAT: u32 = 1;
const EXTENSION: &str = "unsaved";
/// The longest header, in bytes: a path and some numbers.
const HEADER_MAX: u64 = 64 * 1024;

#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    edited_file: PathBuf,
    /// The journal, open for appending; `None` if the next change has to start it over.
    writer: Option<File>,
    /// The length of the text that the journal begins with, in bytes.
    text_bytes: usize,
    /// The length of the changes written after the text, in bytes.
    change_bytes: usize,
    /// The length of the last written change, in bytes.
    last_record: usize,
}

#[derive(Debug)]
pub struct RecoveredText {
    /// The text without its byte order mark.
    pub text: String,
    /// True when the file begins with a byte order mark.
    pub bom: bool,
    /// The digest of the edited file on disk; `None` if there was no file.
    pub base_digest: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    path: PathBuf,
    #[serde(rename = "base")]
    base_digest: Option<u64>,
    bom: bool,
    bytes: usize,
}

impl Journal {
    /// Returns the journal of a file, in the session's state directory. Nothing is written yet.
    pub fn new(state_dir: &Path, edited_file: &Path) -> Self {
        let hash = stable_hash(edited_file.as_os_str().as_encoded_bytes());
        let path = state_dir.join(format!("{hash:016x}.{EXTENSION}"));
        Self { path, edited_file: edited_file.to_owned(), ..Self::default() }
    }

    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Writes a change before it is made. `before` is the text before the change.
    ///
    /// # Errors
    /// The journal can't be written; the change must not be made.
    pub fn record(
        &mut self,
        base_digest: Option<u64>,
        before: &Buffer,
        splices: &[Splice],
    ) -> Result<(), Fault> {
        let written = self.try_record(base_digest, before, splices);
        written.map_err(|error| {
            // The journal may now end within a line, so the next change starts it over.
            self.writer = None;
            unrecorded(&self.path, &error)
        })
    }

    /// Starts the journal of an unsaved text unless it exists.
    ///
    /// # Errors
    /// The journal doesn't exist and can't be written.
    pub fn ensure_exists(&mut self, base_digest: Option<u64>, unsaved: &Buffer) -> io::Result<()> {
        if !self.path.exists() {
            self.writer = Some(self.start(base_digest, unsaved)?);
        }
        Ok(())
    }

    /// Starts the journal over from an unsaved text, because the file on disk is another one now.
    pub fn start_over(&mut self, base_digest: Option<u64>, unsaved: &Buffer) {
        // If this fails, the previous journal has the text, and the next change tries again.
        self.writer = self.start(base_digest, unsaved).ok();
    }

    /// Makes the journal hold a text that is older than its last record. If it can't be rewritten,
    /// the last record is cut off.
    pub fn take_back(&mut self, base_digest: Option<u64>, unsaved: &Buffer) {
        match self.start(base_digest, unsaved) {
            Ok(writer) => self.writer = Some(writer),
            Err(_) => self.cut_last_record(),
        }
    }

    fn cut_last_record(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        // If this fails too, the disk is of no use; the next change reports it.
        let end = writer.metadata().map(|metadata| metadata.len());
        let _ = end.and_then(|end| writer.set_len(end.saturating_sub(self.last_record as u64)));
    }

    /// Removes the journal, because the text was saved or given up.
    pub fn remove(&mut self) {
        self.writer = None;
        // A missing journal is as good as a removed one, and one that can't be removed is read
        // again at the next start.
        let _ = fs::remove_file(&self.path);
    }

    /// Reads the text that the journal restores; `None` if there is no journal.
    ///
    /// # Errors
    /// The journal can't be read. It was set aside under the name in the error.
    pub fn recover(&self) -> Result<Option<RecoveredText>, Fault> {
        let bytes = match regular_file::read(&self.path).map_err(io::Error::from) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.set_aside(&error.to_string())),
        };
        match replay(&bytes) {
            Some((header, _)) if header.path != self.edited_file => {
                Err(self.set_aside("the journal belongs to another file"))
            }
            Some((header, text)) => {
                Ok(Some(RecoveredText { text, bom: header.bom, base_digest: header.base_digest }))
            }
            None => Err(self.set_aside("the journal is damaged")),
        }
    }

    fn try_record(
        &mut self,
        base_digest: Option<u64>,
        before: &Buffer,
        splices: &[Splice],
    ) -> io::Result<()> {
        if self.change_bytes > self.text_bytes.max(JOURNAL_EDITS_MAX) {
            self.writer = None;
        }
        let mut line = serde_json::to_vec(splices)?;
        line.push(b'\n');
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.start(base_digest, before)?,
        };
        writer.write_all(&line)?;
        self.change_bytes += line.len();
        self.last_record = line.len();
        self.writer = Some(writer);
        Ok(())
    }

    /// Starts the journal over from a text. The previous journal stays until the new one is
    /// complete.
    fn start(&mut self, base_digest: Option<u64>, before: &Buffer) -> io::Result<File> {
        let mut temporary = tempfile::NamedTempFile::new_in(self.directory())?;
        let header = Header {
            format: FORMAT,
            path: self.edited_file.clone(),
            base_digest,
            bom: before.has_bom(),
            bytes: before.len(),
        };
        let mut out = io::BufWriter::new(temporary.as_file_mut());
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        before.write_text(&mut out)?;
        out.write_all(b"\n")?;
        out.flush()?;
        drop(out);
        let writer = temporary.persist(&self.path).map_err(|error| error.error)?;
        (self.text_bytes, self.change_bytes) = (header.bytes, 0);
        Ok(writer)
    }

    fn set_aside(&self, why: &str) -> Fault {
        let aside = self.path.with_extension("damaged");
        let kept = match fs::rename(&self.path, &aside) {
            Ok(()) => aside,
            Err(_) => self.path.clone(),
        };
        let file = self.edited_file.display();
        Fault::failed(format!("unsaved edits of {file} couldn't be restored: {why}"))
            .hint(format!("they are kept in {}", kept.display()))
    }
}

/// Returns the error of a change that was refused because it couldn't be recorded.
pub fn unrecorded(path: &Path, error: &io::Error) -> Fault {
    Fault::failed(format!("the change couldn't be recorded in {}: {error}", path.display()))
        .hint("nothing was changed: free some disk space and try again")
}

/// Lists the files whose unsaved edits are kept in a session's state directory.
pub fn files_with_unsaved_edits(state_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state_dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = entries.filter(|path| path.extension().is_some_and(|end| end == EXTENSION));
    let edited_file = |path: PathBuf| {
        let mut line = String::new();
        io::BufReader::new(regular_file::open(&path).ok()?.0.take(HEADER_MAX))
            .read_line(&mut line)
            .ok()?;
        serde_json::from_str::<Header>(&line).ok().map(|header| header.path)
    };
    let mut files: Vec<_> = journals.filter_map(edited_file).collect();
    files.sort();
    files
}

/// Applies a journal's changes to its text; `None` if the journal is damaged.
fn replay(bytes: &[u8]) -> Option<(Header, String)> {
    let split = bytes.iter().position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(&bytes[..split]).ok()?;
    let (text, changes) = bytes[split + 1..].split_at_checked(header.bytes)?;
    if header.format != FORMAT {
        return None;
    }
    let mut buffer = Buffer::new(std::str::from_utf8(text).ok()?, header.bom);
    for line in changes.strip_prefix(b"\n")?.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let splices: Vec<Splice> = serde_json::from_slice(line).ok()?;
        let disjoint = splices.is_sorted_by(|a, b| a.old_end() <= b.at);
        if !disjoint || !splices.iter().all(|splice| buffer.accepts(splice)) {
            return None;
        }
        buffer.apply(&splices);
    }
    Some((header, buffer.text()))
}
