//! Reads and writes files whole, and shows differences.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use pipemux_client::ClientError;
use similar::TextDiff;

/// Longest configuration that is read, in bytes.
const FILE_MAX: u64 = 16 * 1024 * 1024;
/// Lines around a difference.
const CONTEXT: usize = 3;

/// Reads a file; `None` if there is none.
///
/// # Errors
/// It can't be read, is no regular file, is not UTF-8, or is too long.
pub fn read(path: &Path) -> Result<Option<String>, ClientError> {
    let unusable = |why: String| {
        ClientError::invalid(format!("{}: {why}; nothing was written", path.display()))
    };
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(unusable("it is no regular file".to_owned())),
        Ok(found) if found.len() > FILE_MAX => {
            return Err(unusable(format!("it is longer than {FILE_MAX} bytes")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(error.to_string())),
    }
    fs::read_to_string(path).map(Some).map_err(|error| unusable(error.to_string()))
}

/// A file with its old and new text. `None` stands for no file.
pub type Replacement<'a> = (&'a Path, Option<&'a str>, Option<&'a str>);

/// The result of replacing files.
#[derive(Debug, PartialEq, Eq)]
pub enum Replaced {
    All,
    /// No file was replaced: another program changed one of them after it was read.
    Changed,
}

/// Replaces files, all of them or none. New ones get this mode, as far as the process's mask
/// allows.
///
/// # Errors
/// One can't be written. The others are as they were, or are named.
pub fn replace(replacements: &[Replacement<'_>], mode: u32) -> Result<Replaced, ClientError> {
    let is_missing = |(path, ..): &Replacement<'_>| !directory(path).exists();
    let missing: Vec<bool> = replacements.iter().map(is_missing).collect();
    for (at, (path, before, after)) in replacements.iter().enumerate() {
        let written = read(path).and_then(|found| match found.as_deref() == *before {
            true => write_with(path, *after, mode).map(|()| Replaced::All),
            false => Ok(Replaced::Changed),
        });
        if matches!(written, Ok(Replaced::All)) {
            continue;
        }
        let mut left: Vec<&Path> = Vec::new();
        for ((path, before, _), was_missing) in replacements[..at].iter().zip(&missing) {
            match write_with(path, *before, mode) {
                Err(_) => left.push(path),
                // An empty one is all that is left.
                Ok(()) if *was_missing => drop(fs::remove_dir(directory(path))),
                Ok(()) => {}
            }
        }
        return match (left.as_slice(), written) {
            ([], Ok(ended)) => Ok(ended),
            ([], Err(error)) => {
                let fault = error.fault();
                let error = ClientError::invalid(format!("{}; no file was changed", fault.message));
                Err(error.hint("see who owns it: ls -ld of the file and of its directory"))
            }
            (left, _) => {
                let names: Vec<String> =
                    left.iter().map(|path| path.display().to_string()).collect();
                let why = format!(
                    "{} can't be written, and what was written before can't be put back: {}",
                    path.display(),
                    names.join(", ")
                );
                Err(ClientError::invalid(why).hint("mend the permissions, then do it again"))
            }
        };
    }
    Ok(Replaced::All)
}

/// Writes a file whole, or removes it. A link stays a link: the file that it leads to is replaced,
/// also one that isn't there yet. Permissions and owner stay.
///
/// # Errors
/// It can't be written; then it is as it was.
pub fn write(path: &Path, text: Option<&str>) -> Result<(), ClientError> {
    write_with(path, text, 0o600)
}

/// As [`write`]; a file that is new gets this mode.
///
/// # Errors
/// It can't be written; then it is as it was.
fn write_with(path: &Path, text: Option<&str>, mode: u32) -> Result<(), ClientError> {
    let failed = |error: std::io::Error| {
        ClientError::invalid(format!("{} can't be written: {error}", path.display()))
    };
    let real = linked_file(path);
    let Some(text) = text else {
        return match fs::remove_file(&real) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    };
    let parent = directory(path);
    fs::create_dir_all(&parent).map_err(failed)?;
    let found = fs::metadata(&real).ok();
    let kept_mode = found.as_ref().map(|found| found.permissions().mode() & 0o7777);
    let mode = kept_mode.unwrap_or(mode);
    // A file that root makes in another user's directory is that user's.
    let owner =
        found.or_else(|| fs::metadata(&parent).ok()).map(|found| (found.uid(), found.gid()));
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = parent.join(format!(".{name}.pipemux-{}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            if let Some((user, group)) = owner {
                // Only root may give files away; a user's file is that user's anyway.
                let _ = std::os::unix::fs::fchown(&file, Some(user), Some(group));
            }
            if let Some(mode) = kept_mode {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
            }
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, &real));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        failed(error)
    })
}

/// Returns the directory of the file that a path leads to.
pub fn directory(path: &Path) -> PathBuf {
    linked_file(path).parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Checks that what a path leads to, by its own links and those of its directories, is inside of a
/// directory.
///
/// # Errors
/// It isn't.
pub fn check_inside(path: &Path, root: &Path) -> Result<(), ClientError> {
    let real = linked_file(path);
    // Of folders that are still to be made nobody can say where `..` leads.
    let climbs = real.components().any(|part| part == Component::ParentDir);
    let steps = if climbs { 1 } else { usize::MAX };
    let above = real.ancestors().skip(1).take(steps).find_map(|above| above.canonicalize().ok());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    if above.is_some_and(|above| above.starts_with(&root)) {
        return Ok(());
    }
    let (path, real) = (path.display(), real.display());
    let why = format!("{path} leads out of the project, to {real}: no file was changed");
    Err(ClientError::invalid(why).hint("remove the link, or leave out --project"))
}

/// Links that are followed, as many as the system follows.
const LINKS_MAX: usize = 40;

/// Returns the file that a path leads to, whether it is there or not.
fn linked_file(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or(target.clone(), |parent| parent.join(target));
    }
    path
}

/// Writes the difference between two texts as a patch.
pub fn difference(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = path.display().to_string();
    let side =
        |text: Option<&str>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(&side(before), &side(after)).to_string()
}
