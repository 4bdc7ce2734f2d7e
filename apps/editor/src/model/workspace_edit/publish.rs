//! Moves the new texts of an edit into place: all files or none.

use std::fs;
use std::path::{Path, PathBuf};

use docui::Fault;
use pipemux_publish::Stage;

use crate::model::disk::{self, StagedFile, WriteMode, not_written};
use crate::model::file_stamp::FileStamp;

use super::links;
use super::planned_file::{PlannedFile, is_freed};

/// The published files and new folders that can still be rolled back.
struct Undo<'a> {
    published: Vec<&'a PlannedFile>,
    folders: Vec<PathBuf>,
}

/// Writes all files, or none of them. Returns their stamps.
pub(super) fn publish(planned: &[PlannedFile]) -> Result<Vec<Option<FileStamp>>, Fault> {
    let mut undo = Undo { published: Vec::new(), folders: Vec::new() };
    let result = try_publish(planned, &mut undo);
    result.map_err(|fault| undo.put_back(fault))
}

fn try_publish<'a>(
    planned: &'a [PlannedFile],
    undo: &mut Undo<'a>,
) -> Result<Vec<Option<FileStamp>>, Fault> {
    let mut staged: Vec<Option<StagedFile>> = Vec::new();
    let mut stage = Stage::default();
    for (at, file) in planned.iter().enumerate() {
        let path = &file.change.path;
        let is_there = fs::symlink_metadata(path).is_ok() && !is_freed(path, &planned[..at]);
        staged.push(match file.change.after {
            None => None,
            Some(_) if file.change.link => {
                make_folders(path, &mut undo.folders)?;
                None
            }
            Some(_) if is_there => {
                let staged = disk::stage_in(&mut stage, path, &file.after, WriteMode::Replace)?;
                Some(match (file.change.mode_before, file.change.mode) {
                    (Some(_), Some(mode)) => staged.with_mode(mode)?,
                    _ => staged,
                })
            }
            Some(_) => {
                make_folders(path, &mut undo.folders)?;
                let mode = file.change.mode.unwrap_or(0o666);
                Some(disk::stage_in(&mut stage, path, &file.after, WriteMode::Create(mode))?)
            }
        });
    }
    let mut stamps = Vec::new();
    for (file, staged) in planned.iter().zip(staged) {
        stamps.push(match staged {
            Some(staged) => Some(staged.publish(&file.accepted)?),
            None if file.change.link => {
                change_link(file)?;
                None
            }
            None => {
                disk::remove(&file.change.path, &file.accepted)?;
                None
            }
        });
        undo.published.push(file);
    }
    Ok(stamps)
}

fn change_link(file: &PlannedFile) -> Result<(), Fault> {
    match file.change.after {
        Some(_) => links::make(&file.change.path, &file.after.text()),
        None => links::remove(&file.change.path, &file.before.text()),
    }
}

/// Makes the folders of a file that don't exist yet.
pub(crate) fn make_folders(path: &Path, made: &mut Vec<PathBuf>) -> Result<(), Fault> {
    let missing: Vec<_> = path.ancestors().skip(1).take_while(|above| !above.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder).map_err(|error| not_written(folder, &error))?;
        made.push(folder.to_owned());
    }
    Ok(())
}

impl Undo<'_> {
    /// Puts back the files that took their places, and returns the fault with what couldn't be put
    /// back.
    fn put_back(self, mut fault: Fault) -> Fault {
        let mut left = Vec::new();
        for file in self.published.into_iter().rev() {
            let path = &file.change.path;
            let mode = file.change.mode.unwrap_or(0o666);
            let put_back = match (file.change.before, file.change.after) {
                (None, _) if file.change.link => links::remove(path, &file.after.text()),
                (Some(_), _) if file.change.link => links::make(path, &file.before.text()),
                (None, after) => disk::remove(path, &[after]),
                (Some(_), None) => {
                    disk::store(path, &file.before, WriteMode::Create(mode), &[]).map(drop)
                }
                (Some(_), after) => disk::stage(path, &file.before, WriteMode::Replace)
                    .and_then(|staged| match file.change.mode_before {
                        Some(mode) => staged.with_mode(mode),
                        None => Ok(staged),
                    })
                    .and_then(|staged| staged.publish(&[after]))
                    .map(drop),
            };
            if let Err(other) = put_back {
                left.push(format!("{} ({})", path.display(), other.message));
            }
        }
        for folder in self.folders.into_iter().rev() {
            // A folder that somebody else put something into stays.
            let _ = fs::remove_dir(folder);
        }
        if !left.is_empty() {
            // The others are as they were, but this took effect.
            let message = format!(
                "{}; what was written before has its new text and couldn't be put back: {}",
                fault.message,
                left.join(", ")
            );
            return Fault::failed(message).hint("look at these files: nothing else was changed");
        }
        if fault.hints.is_empty() {
            fault =
                fault.hint("nothing was changed; hold() keeps edits in the session until save()");
        }
        fault
    }
}
