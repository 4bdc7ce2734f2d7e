//! Puts files in their places: all of them, or none.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

use pipemux_publish::{Durability, Place, Stage, Staged, remove, remove_link};

use super::{Now, Replacement};
use crate::shown;

/// Carries out all steps, or none of them.
///
/// # Errors
/// What can't be written, and what couldn't be put back then.
pub(super) fn publish(root: &Path, steps: &[Replacement]) -> Result<(), String> {
    let (mut done, mut folders) = (Vec::new(), Vec::new());
    let result = try_publish(steps, &mut done, &mut folders);
    let told = |step: &Replacement, error: &dyn std::fmt::Display| {
        let path = step.path.strip_prefix(root).unwrap_or(&step.path);
        format!("{}: {error}", shown(path))
    };
    let Err((failed, error)) = result else {
        for step in steps.iter().filter(|step| step.new == Now::Nothing) {
            // As git does it: a folder goes with its last file.
            let above = step.path.ancestors().skip(1).take_while(|folder| *folder != root);
            for folder in above {
                if fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
        return Ok(());
    };
    let mut left = Vec::new();
    for step in done.into_iter().rev() {
        let (now, new) = (step.new.clone(), step.now.clone());
        let back = Replacement { path: step.path.clone(), now, new };
        let put = stage(&mut Stage::default(), &back, &mut Vec::new());
        if let Err(error) = put.and_then(|staged| carry_out(&back, staged)) {
            left.push(told(step, &error));
        }
    }
    for folder in folders.into_iter().rev() {
        // A folder that somebody else put something into stays.
        let _ = fs::remove_dir(folder);
    }
    Err(match left.is_empty() {
        true => format!("{}; nothing was changed", told(failed, &error)),
        false => {
            let left = left.join(", ");
            format!("{}; written before it, and not put back: {left}", told(failed, &error))
        }
    })
}

fn try_publish<'s>(
    steps: &'s [Replacement],
    done: &mut Vec<&'s Replacement>,
    folders: &mut Vec<PathBuf>,
) -> Result<(), (&'s Replacement, io::Error)> {
    // A file may go where a folder comes, and the other way round.
    let (going, coming): (Vec<&Replacement>, Vec<&Replacement>) =
        steps.iter().partition(|step| step.new == Now::Nothing);
    let mut stage_of_all = Stage::default();
    let mut staged = Vec::new();
    // What can be staged before anything changes is staged.
    let (there, new): (Vec<&Replacement>, Vec<&Replacement>) =
        coming.into_iter().partition(|step| step.now != Now::Nothing);
    for step in there {
        let text = stage(&mut stage_of_all, step, folders).map_err(|error| (step, error))?;
        staged.push((step, text));
    }
    for step in going {
        carry_out(step, None).map_err(|error| (step, error))?;
        done.push(step);
    }
    for (step, text) in staged {
        carry_out(step, text).map_err(|error| (step, error))?;
        done.push(step);
    }
    for step in new {
        let text = stage(&mut stage_of_all, step, folders).map_err(|error| (step, error))?;
        carry_out(step, text).map_err(|error| (step, error))?;
        done.push(step);
    }
    Ok(())
}

/// Writes the text of a file beside its place.
fn stage(
    stage: &mut Stage,
    step: &Replacement,
    folders: &mut Vec<PathBuf>,
) -> io::Result<Option<Staged>> {
    if step.now == Now::Nothing {
        make_folders(&step.path, folders)?;
    }
    let Now::File(bytes, mode) = &step.new else { return Ok(None) };
    let (place, changed) = match step.now {
        Now::File(_, old) => (Place::Existing, (old != *mode).then_some(*mode)),
        // Those of a file that was there before; the others are what the umask leaves.
        _ => (Place::New(*mode), Some(*mode).filter(|mode| !matches!(mode, 0o666 | 0o777))),
    };
    let staged = stage.text(&step.path, place, Durability::Process, |out| out.write_all(bytes))?;
    if let Some(mode) = changed {
        staged.set_mode(mode)?;
    }
    Ok(Some(staged))
}

fn carry_out(step: &Replacement, staged: Option<Staged>) -> io::Result<()> {
    let path = &step.path;
    let expected = |file: &File| match &step.now {
        Now::File(bytes, _) => has(file, bytes),
        _ => Ok(false),
    };
    match &step.now {
        Now::Link(target) => {
            let target = Path::new(std::ffi::OsStr::from_bytes(target));
            remove_link(path, target).map_err(io::Error::other)?;
        }
        Now::File(..) if staged.is_none() => remove(path, &expected).map_err(io::Error::other)?,
        _ => {}
    }
    match (&step.new, staged) {
        (Now::Link(target), _) => symlink(std::ffi::OsStr::from_bytes(target), path),
        (_, Some(staged)) => staged.publish(&expected).map(drop).map_err(io::Error::other),
        _ => Ok(()),
    }
}

fn make_folders(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().skip(1).take_while(|above| !above.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    Ok(())
}

/// Returns true if a file has this content.
fn has(file: &File, bytes: &[u8]) -> io::Result<bool> {
    if file.metadata()?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let (mut part, mut at) = (vec![0; 64 * 1024], 0);
    loop {
        let read = file.read_at(&mut part, at as u64)?;
        let expected = bytes.get(at..).unwrap_or_default();
        match (read, part.get(..read)) {
            (0, _) => return Ok(expected.is_empty()),
            (_, Some(part)) if expected.starts_with(part) => at += read,
            _ => return Ok(false),
        }
    }
}
