//! Replaces, creates and removes a file.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, OFlags};

use crate::lease::Lease;
use crate::{Expected, Folder, PublishError, late, private};

/// Has the staged text and the file change places, and removes what was displaced.
pub(crate) fn replace(
    (staged, text): (&Path, &File),
    path: &Path,
    expected: Expected<'_>,
) -> Result<(), PublishError> {
    let old = open(path)?;
    let lease = Lease::take(&old).ok_or(PublishError::Busy)?;
    if !expected(&old)? {
        return Err(PublishError::Changed);
    }
    let new = late::content(text);
    // Whoever reads while a text of somebody else is displaced doesn't see it: this must hardly
    // ever happen.
    if !is_same(path, &old) {
        return Err(PublishError::Changed);
    }
    if let Err(error) = exchange(staged, path) {
        return match error.kind() {
            io::ErrorKind::NotFound => Err(PublishError::Changed),
            // A file that is mounted by itself can't be renamed.
            io::ErrorKind::ResourceBusy => {
                drop(lease);
                write_in_place(text, path, expected)
            }
            // This file system can't.
            _ => rename_over(staged, path, &old),
        };
    }
    let is_displaced = is_same(staged, &old);
    drop(lease);
    // Whoever waited to write goes on now, with the file that was displaced.
    let busy = Lease::take(&old).is_none();
    let displaced = late::content(&old);
    // What can't be read now isn't known to be what was expected.
    if is_displaced && !busy && expected(&old).unwrap_or(false) {
        // The folder goes with what is left in it.
        let _ = fs::remove_file(staged);
        late::watch(old, displaced, path);
        return Ok(());
    }
    put_back(staged, path, (text, new))?;
    Err(if busy { PublishError::Busy } else { PublishError::Changed })
}

/// Gives the displaced file its place back, and has the new text where it was staged again.
fn put_back(
    staged: &Path,
    path: &Path,
    (text, new): (&File, Option<Vec<u8>>),
) -> Result<(), PublishError> {
    // Whatever fails from here on, what is staged may be somebody else's: it is kept.
    let kept = || PublishError::Kept(staged.to_owned());
    exchange(staged, path).map_err(|_| kept())?;
    let found = open(staged).map_err(|_| kept())?;
    if is_same(staged, text) {
        // What others wrote to it, or are about to write, is for the old text.
        late::watch(found, new, path);
        return Ok(());
    }
    // Somebody took the place of the new text meanwhile: theirs is newer than both, and keeps the
    // place.
    let _ = exchange(staged, path);
    Err(kept())
}

/// Puts a new file where there must be none.
pub(crate) fn create(staged: &Path, path: &Path) -> Result<(), PublishError> {
    let error = match fs::hard_link(staged, path) {
        Ok(()) => return Ok(fs::remove_file(staged)?),
        Err(error) => error,
    };
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Err(PublishError::Exists);
    }
    // This file system has no links.
    match rename_new(staged, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(PublishError::Exists),
        renamed => Ok(renamed?),
    }
}

/// Removes a file whose content is expected. A link is never followed: it must not be the path of
/// one.
///
/// # Errors
/// As [`PublishError`] says; the file is where it was then.
pub fn remove(path: &Path, expected: Expected<'_>) -> Result<(), PublishError> {
    private::refuse(path)?;
    let directory = path.parent().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
    let old = open(path)?;
    let lease = Lease::take(&old).ok_or(PublishError::Busy)?;
    if !expected(&old)? {
        return Err(PublishError::Changed);
    }
    let folder = Arc::new(Folder::new(directory)?);
    let aside = folder.text();
    fs::rename(path, &aside).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => PublishError::Changed,
        _ => PublishError::Io(error),
    })?;
    let is_displaced = is_same(&aside, &old);
    drop(lease);
    let busy = Lease::take(&old).is_none();
    if is_displaced && !busy && expected(&old).unwrap_or(false) {
        // The folder goes with it.
        return Ok(());
    }
    if rename_new(&aside, path).is_err() {
        // Somebody has made a new one there: both stay.
        return Err(PublishError::Kept(folder.keep(&aside)));
    }
    Err(if busy { PublishError::Busy } else { PublishError::Changed })
}

/// Removes a link that leads to `target`. What it leads to is not looked at.
///
/// # Errors
/// As [`PublishError`] says; what is at the path is there then.
pub fn remove_link(path: &Path, target: &Path) -> Result<(), PublishError> {
    private::refuse(path)?;
    let directory = path.parent().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
    let leads_there = |path: &Path| fs::read_link(path).is_ok_and(|found| found == target);
    if !leads_there(path) {
        return Err(PublishError::Changed);
    }
    let folder = Arc::new(Folder::new(directory)?);
    let aside = folder.text();
    fs::rename(path, &aside)?;
    if leads_there(&aside) {
        return Ok(());
    }
    if rename_new(&aside, path).is_err() {
        return Err(PublishError::Kept(folder.keep(&aside)));
    }
    Err(PublishError::Changed)
}

/// Renames a text over its file where files can't change places: what was there is looked at right
/// before.
fn rename_over(staged: &Path, path: &Path, old: &File) -> Result<(), PublishError> {
    if !is_same(path, old) {
        return Err(PublishError::Changed);
    }
    Ok(fs::rename(staged, path)?)
}

/// Writes the text into the file that is there. It isn't atomic: a loss of power can leave a part
/// of both.
fn write_in_place(text: &File, path: &Path, expected: Expected<'_>) -> Result<(), PublishError> {
    let mut file = File::options().read(true).write(true).open(path)?;
    if !expected(&file)? {
        return Err(PublishError::Changed);
    }
    let mut text = text;
    io::Seek::rewind(&mut text)?;
    io::Seek::rewind(&mut file)?;
    let length = io::copy(&mut text, &mut file)?;
    file.set_len(length)?;
    Ok(file.sync_all()?)
}

/// Opens a file to compare it; this never waits for somebody else's lease or for the other end of a
/// pipe.
fn open(path: &Path) -> Result<File, PublishError> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => PublishError::Changed,
        io::ErrorKind::WouldBlock => PublishError::Busy,
        _ => PublishError::Io(error),
    })
}

/// True if the path leads to the file that is open.
fn is_same(path: &Path, file: &File) -> bool {
    let (at, open) = (fs::symlink_metadata(path), file.metadata());
    matches!((at, open), (Ok(at), Ok(open)) if identity(&at) == identity(&open))
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Renames a file to where there must be none.
#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => rename_checked(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    let _ = CWD;
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_checked(from, to)
}

fn rename_checked(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}
