//! The changes on disk: one JSON line for what is begun, and one when it has ended.
//!
//! What is begun is written before any file is. So after the end of the process it is known which
//! files may have another text, and both texts' digests are known. A last line without its newline
//! was never confirmed to anybody and doesn't count.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use docui::regular_file;
use serde::{Deserialize, Serialize};

use crate::limits::JOURNAL_EDITS_MAX;
use crate::model::history::{Author, Change, FileChange};

const FORMAT: u32 = 1;
const FILE_NAME: &str = "changes.jsonl";

/// An operation that the journal records, identified by the id of its first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Edit(Change),
    /// The undo of changes, the latest first, with its effect on each file.
    Undo {
        ids: Vec<String>,
        files: Vec<FileChange>,
    },
    /// The redo of changes, the earliest first, with its effect on each file.
    Redo {
        ids: Vec<String>,
        files: Vec<FileChange>,
    },
}

impl Operation {
    /// Identifies it.
    pub fn id(&self) -> &str {
        match self {
            Operation::Edit(change) => &change.id,
            Operation::Undo { ids, .. } | Operation::Redo { ids, .. } => {
                ids.first().map_or("", String::as_str)
            }
        }
    }

    /// Returns the effect of the operation on each file.
    pub fn files(&self) -> &[FileChange] {
        match self {
            Operation::Edit(Change { files, .. })
            | Operation::Undo { files, .. }
            | Operation::Redo { files, .. } => files,
        }
    }
}

/// One line of the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalLine<'a> {
    Format(u32),
    Begin(Cow<'a, Operation>),
    End {
        id: String,
        /// Absent when what was begun was not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Author>,
    },
}

/// The state read from a journal.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The changes that were made, oldest first.
    pub done: Vec<Change>,
    /// The changes that were undone, the next one to be redone last.
    pub undone: Vec<Change>,
    /// The changes that were undone before their files changed otherwise, oldest first.
    pub set_aside: Vec<Change>,
    /// The operations that were begun but not ended.
    pub begun: Vec<Operation>,
}

/// The change journal of a session.
#[derive(Debug, Default)]
pub struct ChangeJournal {
    path: PathBuf,
    /// The file, open for appending; `None` until it is needed, or when it has to be rewritten.
    writer: Option<File>,
    bytes: usize,
    /// True when the file doesn't have what it should.
    outdated: bool,
}

impl ChangeJournal {
    /// Reads the journal of a session. The note says what is lost.
    pub fn read(state_dir: &Path) -> (Self, Recorded, Option<String>) {
        let path = state_dir.join(FILE_NAME);
        let mut journal = Self { path, ..Self::default() };
        let bytes = match regular_file::read(&journal.path).map_err(io::Error::from) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (journal, Recorded::default(), None);
            }
            Err(error) => {
                let note = format!("Undo history is lost: {error}.");
                journal.outdated = true;
                return (journal, Recorded::default(), Some(note));
            }
        };
        let (recorded, whole) = replay(&bytes);
        journal.bytes = bytes.len();
        // A line that is cut off must not be continued.
        journal.outdated = whole != bytes.len();
        let torn = bytes[whole..].iter().all(|byte| *byte != b'\n');
        let note = (!torn).then(|| {
            let aside = journal.path.with_extension("damaged");
            let kept =
                if fs::copy(&journal.path, &aside).is_ok() { aside } else { journal.path.clone() };
            format!(
                "The record of changes is damaged ({}): newer undo history is lost.",
                kept.display()
            )
        });
        (journal, recorded, note)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when it must be rewritten before the next change: `live` is how many bytes of changes
    /// count.
    pub fn is_due(&self, live: usize) -> bool {
        self.outdated || self.bytes > 2 * live + JOURNAL_EDITS_MAX
    }

    /// Marks it as to be rewritten.
    pub fn outdate(&mut self) {
        self.outdated = true;
    }

    /// Records what is begun, before anything is changed.
    ///
    /// # Errors
    /// It can't be written; nothing may be changed.
    pub fn begin(&mut self, operation: &Operation) -> io::Result<()> {
        self.append(&JournalLine::Begin(Cow::Borrowed(operation)))
    }

    /// Records that what was begun has ended: by whom it was done, or that it was not.
    pub fn end(&mut self, id: &str, by: Option<&Author>) {
        // If this fails, the journal is rewritten before the next change. Until then the digests of
        // the files tell what was done.
        let _ = self.append(&JournalLine::End { id: id.to_owned(), by: by.cloned() });
    }

    /// Writes the whole journal to a new file.
    ///
    /// # Errors
    /// It can't be written. The previous one is still there.
    pub fn rewrite(
        &mut self,
        set_aside: &[Change],
        done: &VecDeque<Change>,
        undone: &[Change],
    ) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        let mut out = BufWriter::new(temporary.as_file_mut());
        let mut bytes = 0;
        let mut write = |entry: &JournalLine<'_>| {
            let line = line(entry)?;
            bytes += line.len();
            out.write_all(&line)
        };
        write(&JournalLine::Format(FORMAT))?;
        let mut begin_and_end = |change: &Change, operation: Operation| {
            write(&JournalLine::Begin(Cow::Owned(operation)))?;
            write(&JournalLine::End { id: change.id.clone(), by: Some(change.author.clone()) })
        };
        let undo =
            |change: &Change| Operation::Undo { ids: vec![change.id.clone()], files: Vec::new() };
        // What comes after them in their files sets them aside again.
        for change in set_aside {
            begin_and_end(change, Operation::Edit(change.clone()))?;
            begin_and_end(change, undo(change))?;
        }
        for change in done.iter().chain(undone) {
            begin_and_end(change, Operation::Edit(change.clone()))?;
        }
        for change in undone {
            begin_and_end(change, undo(change))?;
        }
        out.flush()?;
        drop(out);
        self.writer = Some(temporary.persist(&self.path).map_err(|error| error.error)?);
        (self.bytes, self.outdated) = (bytes, false);
        Ok(())
    }

    fn append(&mut self, entry: &JournalLine<'_>) -> io::Result<()> {
        if self.outdated {
            return Err(io::Error::other("an earlier change couldn't be recorded"));
        }
        let appended = self.try_append(entry);
        // It may now end within a line.
        self.outdated = appended.is_err();
        appended
    }

    fn try_append(&mut self, entry: &JournalLine<'_>) -> io::Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
                if file.metadata()?.len() == 0 {
                    file.write_all(&line(&JournalLine::Format(FORMAT))?)?;
                }
                file
            }
        };
        let line = line(entry)?;
        writer.write_all(&line)?;
        self.bytes += line.len();
        self.writer = Some(writer);
        Ok(())
    }
}

fn line(entry: &JournalLine<'_>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}

/// Returns what the lines recorded, and how many bytes of them could be read.
fn replay(bytes: &[u8]) -> (Recorded, usize) {
    let mut recorded = Recorded::default();
    let mut whole = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        match serde_json::from_slice(line) {
            Ok(JournalLine::Format(FORMAT)) => {}
            Ok(JournalLine::Begin(operation)) => recorded.begun.push(operation.into_owned()),
            Ok(JournalLine::End { id, by }) => recorded.end(&id, by),
            Ok(JournalLine::Format(_)) | Err(_) => break,
        }
        whole += line.len();
    }
    (recorded, whole)
}

impl Recorded {
    fn end(&mut self, id: &str, by: Option<Author>) {
        let Some(at) = self.begun.iter().position(|operation| operation.id() == id) else { return };
        let operation = self.begun.remove(at);
        if let Some(author) = by {
            self.take(operation, author);
        }
    }

    /// Takes in what was done.
    pub fn take(&mut self, operation: Operation, author: Author) {
        let (done, undone) = (&mut self.done, &mut self.undone);
        let take = |from: &mut Vec<Change>, id: &str| {
            let at = from.iter().rposition(|change| change.id == id)?;
            let mut change = from.remove(at);
            change.author.clone_from(&author);
            Some(change)
        };
        match operation {
            Operation::Edit(mut change) => {
                super::set_aside(undone, &mut self.set_aside, &change);
                change.author = author;
                done.push(change);
            }
            Operation::Undo { ids, .. } => {
                ids.iter().for_each(|id| undone.extend(take(done, id)));
            }
            Operation::Redo { ids, .. } => {
                ids.iter().for_each(|id| done.extend(take(undone, id)));
            }
        }
    }
}
