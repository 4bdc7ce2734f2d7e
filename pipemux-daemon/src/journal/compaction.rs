//! Compaction: rewrites the journal in the background, so that no turn of the driver waits for it.
//!
//! 1. A thread writes the records that the state amounts to into a new file, and syncs it.
//!    Meanwhile the driver writes records to the old file, and keeps them.
//! 2. The driver appends the kept records to the new file. From now on it writes records to both
//!    files.
//! 3. The thread syncs the new file, gives it the journal's name, and syncs once more.
//! 4. The driver continues with the new file alone.
//!
//! So at every moment the file with the journal's name holds every record, however the daemon ends.
//! Power loss costs, in either file, what was written since the last sync.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use pipemux_core::saved::Record;

use super::file::{JournalFile, rename_into_place};
use super::format;
use crate::daemon_log::log;

/// A compaction in progress.
#[derive(Debug)]
pub struct Compaction {
    file_written: Receiver<io::Result<JournalFile>>,
    go: Sender<()>,
    renamed: Receiver<io::Result<()>>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The thread writes the new file; these records are then appended to it.
    Writing(Vec<u8>),
    /// Records go to both files.
    Both(JournalFile),
}

/// The progress of a compaction.
#[derive(Debug)]
pub enum CompactionStep {
    /// There is no progress to report.
    Pending,
    /// From now on, records are written to both files.
    Both,
    /// This file has the journal's name.
    Done(JournalFile),
}

impl Compaction {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn begin(
        path: &Path,
        records: Vec<Record>,
        boot_id: Option<String>,
        generation: u64,
    ) -> io::Result<Self> {
        let ((tell_written, file_written), (tell_renamed, renamed)) = (channel(), channel());
        let (go, told) = channel();
        let path = path.to_owned();
        let work = Work { new: temp_path(&path), path, records, boot_id, generation };
        let run = move || work.run(&tell_written, &told, &tell_renamed);
        thread::Builder::new().name("compaction".into()).spawn(run)?;
        Ok(Self { file_written, go, renamed, phase: Phase::Writing(Vec::new()) })
    }

    /// Takes records that were written to the old file.
    ///
    /// # Errors
    /// As `write`; then the caller must remove the records from the old file.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.phase {
            Phase::Writing(records) => {
                records.extend_from_slice(bytes);
                Ok(())
            }
            Phase::Both(log) => log.append(bytes),
        }
    }

    /// Returns the new file while records go to both.
    pub fn file_in_both(&self) -> Option<&JournalFile> {
        match &self.phase {
            Phase::Writing(_) => None,
            Phase::Both(log) => Some(log),
        }
    }

    /// Continues, without waiting.
    ///
    /// # Errors
    /// As the file system's; the old file stays in use.
    pub fn poll(mut self) -> io::Result<(CompactionStep, Option<Self>)> {
        match self.phase {
            Phase::Writing(records) => match self.file_written.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.phase = Phase::Writing(records);
                    Ok((CompactionStep::Pending, Some(self)))
                }
                Err(TryRecvError::Disconnected) => Err(lost()),
                Ok(Err(error)) => Err(error),
                Ok(Ok(mut log)) => {
                    // If this fails, `go` is dropped with the rest, and the thread removes the
                    // file.
                    log.append(&records)?;
                    self.phase = Phase::Both(log);
                    let _ = self.go.send(());
                    Ok((CompactionStep::Both, Some(self)))
                }
            },
            Phase::Both(log) => match self.renamed.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.phase = Phase::Both(log);
                    Ok((CompactionStep::Pending, Some(self)))
                }
                Err(TryRecvError::Disconnected) => Err(lost()),
                Ok(Err(error)) => Err(error),
                Ok(Ok(())) => Ok((CompactionStep::Done(log), None)),
            },
        }
    }

    /// Waits until the new file has the journal's name, if records go to both already; otherwise
    /// gives the compaction up.
    pub fn finish(self) -> Option<JournalFile> {
        match self.phase {
            Phase::Writing(_) => None,
            Phase::Both(log) => matches!(self.renamed.recv(), Ok(Ok(()))).then_some(log),
        }
    }
}

/// Returns the path that a new journal is written to.
pub fn temp_path(path: &Path) -> PathBuf {
    path.with_extension("new")
}

struct Work {
    path: PathBuf,
    new: PathBuf,
    records: Vec<Record>,
    boot_id: Option<String>,
    generation: u64,
}

impl Work {
    fn run(
        self,
        written: &Sender<io::Result<JournalFile>>,
        go: &Receiver<()>,
        renamed: &Sender<io::Result<()>>,
    ) {
        let Self { path, new, records, boot_id, generation } = self;
        let made = format::encode_journal(&records, boot_id.as_deref(), generation)
            .and_then(|bytes| JournalFile::create(&new, &bytes));
        drop(records);
        let Ok(file) = made.as_ref().map(|log| log.handle.clone()) else {
            let _ = written.send(made);
            return;
        };
        if written.send(made).is_err() || go.recv().is_err() {
            let _ = fs::remove_file(&new);
            return;
        }
        let done = file.sync_data().and_then(|()| rename_into_place(&new, &path));
        match &done {
            Err(_) => drop(fs::remove_file(&new)),
            // Records that came since the first sync are now as safe as they were in the old file.
            Ok(()) => {
                if let Err(error) = file.sync_data() {
                    log(format_args!("the saved state is written but can't be synced: {error}"));
                }
            }
        }
        let _ = renamed.send(done);
    }
}

fn lost() -> io::Error {
    io::Error::other("the thread of the compaction is lost")
}
