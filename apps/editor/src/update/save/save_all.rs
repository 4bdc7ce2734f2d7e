//! Writing files that are to be saved, all of them or none. This waits for their disks, so it is
//! done on another thread.

use std::fs;
use std::path::PathBuf;

use docui::Fault;
use docui::blocking::CommitPoint;

use crate::model::buffer::Buffer;
use crate::model::disk::{self, LoadedFile, StagedFile, WriteMode};
use crate::model::file_stamp::FileStamp;
use crate::model::text_diff::differing_lines;
use crate::model::workspace_edit::make_folders;
use crate::update::asked::AskedConflict;

use super::{Answered, ConflictChoice};

/// The data that another thread needs to save a file.
#[derive(Debug)]
pub(crate) struct SaveRequest {
    pub path: PathBuf,
    pub buffer: Buffer,
    pub base_digest: Option<u64>,
    /// True when there is nothing to save as long as the disk has what is known.
    pub saved: bool,
}

/// The result of saving a file.
#[derive(Debug)]
pub(crate) enum Saved {
    /// There was nothing to save.
    NoChanges,
    Written {
        digest: u64,
        stamp: FileStamp,
        /// The hard link count of the replaced file, if its text differed.
        links: u64,
    },
    /// The reader chose to reload the text on disk.
    Reload(Box<LoadedFile>),
    /// The write failed after other files were saved.
    Failed(Fault),
}

/// The result of saving files.
pub(crate) enum SavedAll {
    Done(Vec<Saved>),
    /// Other programs wrote these files: the reader must say what to do.
    Conflicts(Vec<Conflict>),
    /// The reader chose to write nothing.
    Kept,
    /// Nobody waits for it any more, so nothing was written.
    CalledOff,
}

/// A file that another program wrote, with a description of the lines that differ.
pub(crate) struct Conflict {
    pub file: AskedConflict,
    pub differs: Option<String>,
}

/// What is to be done with a file.
enum SaveStep {
    Nothing,
    /// A write, with the digests of the new text and of the text that it may replace.
    Write {
        digest: u64,
        there: Option<u64>,
        links: u64,
    },
    Reload,
}

impl SaveRequest {
    /// Finds out what is to be done, or that the disk has another text, or nothing.
    fn step(&self, choice: Option<&Answered>) -> Result<Result<SaveStep, Conflict>, Fault> {
        let disk = disk::digest(&self.path)
            .map_err(|fault| fault.hint("nothing was written: save_as('…') writes it elsewhere"))?;
        let deleted = fs::symlink_metadata(&self.path).is_err();
        let digest = self.buffer.digest();
        let there = disk;
        let write = || SaveStep::Write { digest, there, links: disk::hard_links(&self.path) };
        if deleted && self.base_digest.is_none() {
            return Ok(Ok(if self.saved { SaveStep::Nothing } else { write() }));
        }
        if disk == self.base_digest && !deleted {
            return Ok(Ok(if self.saved { SaveStep::Nothing } else { write() }));
        }
        if disk == Some(digest) {
            return Ok(Ok(SaveStep::Write { digest, there, links: 0 }));
        }
        let conflict = AskedConflict { path: self.path.clone(), disk, deleted };
        let answer = choice.filter(|answered| answered.files.contains(&conflict));
        Ok(match answer.map(|answered| answered.choice) {
            Some(ConflictChoice::Overwrite) => Ok(write()),
            Some(ConflictChoice::Reload) if !deleted => Ok(SaveStep::Reload),
            _ => {
                let theirs = disk::load(&self.path).ok();
                let ours = self.buffer.text();
                let differs = theirs.and_then(|theirs| differing_lines(&theirs.text, &ours));
                Err(Conflict { file: conflict, differs })
            }
        })
    }
}

/// Saves files, all of them or none. This may wait for their disks.
pub(super) fn save_all(
    requests: &[SaveRequest],
    answered: Option<&Answered>,
    commit: &CommitPoint,
) -> Result<SavedAll, Fault> {
    let (mut steps, mut conflicts) = (Vec::new(), Vec::new());
    for request in requests {
        match request.step(answered)? {
            Ok(step) => steps.push(step),
            Err(conflict) => conflicts.push(conflict),
        }
    }
    let kept = |answered: &&Answered| {
        answered.choice == ConflictChoice::Keep
            && answered.files.iter().eq(conflicts.iter().map(|conflict| &conflict.file))
    };
    if !conflicts.is_empty() {
        return Ok(match answered.filter(kept) {
            Some(_) => SavedAll::Kept,
            None => SavedAll::Conflicts(conflicts),
        });
    }
    if !commit.begin() {
        return Ok(SavedAll::CalledOff);
    }
    let (mut staged, mut folders) = (Vec::new(), Vec::new());
    for (request, step) in requests.iter().zip(&steps) {
        let stage = || -> Result<Option<StagedFile>, Fault> {
            match step {
                SaveStep::Write { .. } => {
                    make_folders(&request.path, &mut folders)?;
                    disk::stage(&request.path, &request.buffer, WriteMode::Replace).map(Some)
                }
                SaveStep::Nothing | SaveStep::Reload => Ok(None),
            }
        };
        let result = { stage }();
        staged.push(result?);
    }
    let mut written = false;
    let mut all = Vec::new();
    for ((request, step), staged) in requests.iter().zip(steps).zip(staged) {
        let saved = match (step, staged) {
            (SaveStep::Write { digest, there, links }, Some(staged)) => {
                staged.publish(&[there]).map(|stamp| Saved::Written { digest, stamp, links })
            }
            (SaveStep::Reload, _) => {
                disk::load(&request.path).map(|loaded| Saved::Reload(Box::new(loaded)))
            }
            _ => Ok(Saved::NoChanges),
        };
        all.push(match saved {
            // What was saved before must be taken in.
            Err(fault) if written => Saved::Failed(fault),
            saved => saved?,
        });
        written |= matches!(all.last(), Some(Saved::Written { .. }));
    }
    Ok(SavedAll::Done(all))
}
