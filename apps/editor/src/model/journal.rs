//! Unsaved edits on disk, so that the end of the process loses none.
//!
//! A journal is a line of JSON, the whole text as of its start, a newline, and a line of JSON for each
//! change since. A last line without its newline was being written when the process ended: its change
//! was never answered and doesn't count.

use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

use crate::limits::JOURNAL_EDITS_MAX;

use super::buffer::{Buffer, Splice};
use super::disk::hash;

const FORMAT: u32 = 1;
const EXTENSION: &str = "unsaved";
/// Longest header, in bytes: a path and some numbers.
const HEADER_MAX: u64 = 64 * 1024;

/// One file's journal.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    of: PathBuf,
    open: Option<File>,
    snapshot: usize,
    written: usize,
}

/// What a journal held.
#[derive(Debug)]
pub struct Recovered {
    /// The text without its byte order mark.
    pub text: String,
    /// True when a byte order mark stands before it.
    pub bom: bool,
    /// The digest of the file on disk that it was an edit of; none when there was none.
    pub base: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    path: PathBuf,
    base: Option<u64>,
    bom: bool,
    bytes: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    at: usize,
    old: String,
    new: String,
}

impl Journal {
    /// Of that file, in the session's directory.
    pub fn new(state_dir: &Path, of: &Path) -> Self {
        let name = format!("{:016x}.{EXTENSION}", hash(of.as_os_str().as_encoded_bytes()));
        let path = state_dir.join(name);
        Self { path, of: of.to_owned(), open: None, snapshot: 0, written: 0 }
    }

    /// The session's directory.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Writes down a change before it is made to the text.
    ///
    /// # Errors
    /// It couldn't be written; the change must not be made.
    pub fn record(
        &mut self,
        base: Option<u64>,
        before: &Buffer,
        splices: &[Splice],
    ) -> Result<(), Fault> {
        let written = self.try_record(base, before, splices);
        written.map_err(|error| {
            // What is there may end within a line: the next record starts over.
            self.open = None;
            Fault::failed(format!(
                "the change couldn't be kept safe in {}: {error}",
                self.path.display()
            ))
            .hint("nothing was changed; free some disk space and do it again")
        })
    }

    /// Makes sure that there is a journal of a text that is unsaved.
    ///
    /// # Errors
    /// There is none, and none can be written.
    pub fn ensure(&mut self, base: Option<u64>, unsaved: &Buffer) -> io::Result<()> {
        if !self.path.exists() {
            self.open = Some(self.start(base, unsaved)?);
        }
        Ok(())
    }

    /// Forgets everything: the text is as on disk, or was given up.
    pub fn clear(&mut self) {
        self.open = None;
        // Not there is as good as removed; anything else shows when the journal is next read.
        let _ = fs::remove_file(&self.path);
    }

    /// What was kept; none when there is nothing.
    ///
    /// # Errors
    /// A journal that can't be read; it was put aside under the name that the error tells.
    pub fn recover(&self) -> Result<Option<Recovered>, Fault> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.put_aside(&error.to_string())),
        };
        match replay(&bytes) {
            Some((header, _)) if header.path != self.of => {
                Err(self.put_aside("it belongs to another file"))
            }
            Some((header, text)) => {
                Ok(Some(Recovered { text, bom: header.bom, base: header.base }))
            }
            None => Err(self.put_aside("it is damaged")),
        }
    }

    fn try_record(
        &mut self,
        base: Option<u64>,
        before: &Buffer,
        splices: &[Splice],
    ) -> io::Result<()> {
        if self.written > self.snapshot.max(JOURNAL_EDITS_MAX) {
            self.open = None;
        }
        let records = splices.iter().map(|splice| Record {
            at: splice.at,
            old: splice.old.clone(),
            new: splice.new.clone(),
        });
        let mut line = serde_json::to_vec(&records.collect::<Vec<_>>())?;
        line.push(b'\n');
        let mut file = match self.open.take() {
            Some(file) => file,
            None => self.start(base, before)?,
        };
        file.write_all(&line)?;
        self.written += line.len();
        self.open = Some(file);
        Ok(())
    }

    /// Starts anew from the text as it is; the journal before stays until the new one is whole.
    fn start(&mut self, base: Option<u64>, before: &Buffer) -> io::Result<File> {
        let mut temporary = tempfile::NamedTempFile::new_in(self.directory())?;
        let (path, bytes) = (self.of.clone(), before.len());
        let header = Header { format: FORMAT, path, base, bom: before.bom(), bytes };
        let mut out = io::BufWriter::new(temporary.as_file_mut());
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        before.write_text(&mut out)?;
        out.write_all(b"\n")?;
        out.flush()?;
        drop(out);
        let file = temporary.persist(&self.path).map_err(|error| error.error)?;
        (self.snapshot, self.written) = (bytes, 0);
        Ok(file)
    }

    fn put_aside(&self, why: &str) -> Fault {
        let aside = self.path.with_extension("damaged");
        let kept = match fs::rename(&self.path, &aside) {
            Ok(()) => aside,
            Err(_) => self.path.clone(),
        };
        Fault::failed(format!("unsaved edits of {} couldn't be restored: {why}", self.of.display()))
            .hint(format!("they are kept in {}", kept.display()))
    }
}

/// The files whose unsaved edits are kept in a session's directory.
pub fn kept(state_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state_dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = entries.filter(|path| path.extension().is_some_and(|end| end == EXTENSION));
    let of = |path: PathBuf| {
        let mut line = String::new();
        io::BufReader::new(File::open(path).ok()?.take(HEADER_MAX)).read_line(&mut line).ok()?;
        serde_json::from_str::<Header>(&line).ok().map(|header| header.path)
    };
    let mut kept: Vec<_> = journals.filter_map(of).collect();
    kept.sort();
    kept
}

fn replay(bytes: &[u8]) -> Option<(Header, String)> {
    let split = bytes.iter().position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(&bytes[..split]).ok()?;
    let (text, edits) = bytes[split + 1..].split_at_checked(header.bytes)?;
    if header.format != FORMAT {
        return None;
    }
    let mut buffer = Buffer::new(std::str::from_utf8(text).ok()?, header.bom);
    for line in edits.strip_prefix(b"\n")?.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let records: Vec<Record> = serde_json::from_slice(line).ok()?;
        let splices: Vec<_> = records
            .into_iter()
            .map(|record| Splice { at: record.at, old: record.old, new: record.new })
            .collect();
        let apart = splices.is_sorted_by(|a, b| a.at + a.old.len() <= b.at);
        if !apart || !splices.iter().all(|splice| buffer.fits(splice)) {
            return None;
        }
        buffer.apply(&splices);
    }
    Some((header, buffer.text()))
}
