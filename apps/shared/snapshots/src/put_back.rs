//! Takes a change back, or makes it again: all of its files, or none.
//!
//! A text that was changed since is merged, as `git merge-file` does it, of what the change left,
//! what it is now, and what it was before. Where that is a conflict nothing is written, and both
//! texts are shown.

mod publish;
mod texts;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pipemux_merge::merge;

use crate::change::{Change, FileChange, Kind, Version};
use crate::git::Objects;
use crate::limits::{CONFLICTS_SHOWN, FILE_BYTES_MAX};
use crate::store::{Store, open};
use crate::{Unavailable, shown};
use publish::publish;
use texts::{conflict, is_binary};

/// The direction of restoring a change: taking it back or making it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Restores the state before the change.
    Back,
    /// Restores the state after the change.
    Again,
}

/// The result of restoring a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBack {
    /// The files that were written, created or removed, relative to the project.
    pub files: Vec<PathBuf>,
    /// The number of the change's files that already had the wanted state.
    pub same: usize,
    /// The files that seem to be new and were left: ignore rules changed, too, so that they may
    /// have been there before.
    pub unsure: Vec<PathBuf>,
}

/// The reason why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The snapshots can't be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Files were changed since; each place, with what it has now and what would take its place.
    #[error("changed again since, nothing was written\n{0}")]
    Conflict(String),
    /// A file can't be written.
    #[error("{0}")]
    Disk(String),
}

/// The present state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    Nothing,
    /// A file with these permission bits.
    File(Vec<u8>, u32),
    Link(Vec<u8>),
    Other(&'static str),
}

/// The replacement of the present state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Replacement {
    path: PathBuf,
    now: Now,
    new: Now,
}

/// The content of one side of a change.
struct Side {
    kind: Kind,
    bytes: Vec<u8>,
    mode: Option<u32>,
}

impl Store {
    /// Takes a change back, or makes it again.
    ///
    /// # Errors
    /// As [`Refused`] says; the files are as they were.
    pub fn put(&self, change: &Change, direction: Direction) -> Result<PutBack, Refused> {
        let contents = self.contents(change)?;
        let (mut steps, mut conflicts, mut same) = (Vec::new(), Vec::new(), 0);
        let mut unsure = Vec::new();
        let rules = rules_changed(change, &contents);
        let goes = |file: &&FileChange| match direction {
            Direction::Back => file.before.is_none(),
            Direction::Again => file.after.is_none(),
        };
        let going: HashSet<&Path> =
            change.files.iter().filter(goes).map(|file| &*file.path).collect();
        for file in &change.files {
            let side = |version: &Option<Version>| {
                version.as_ref().map(|version| {
                    let bytes = contents.get(&version.content).cloned();
                    let bytes = bytes.ok_or_else(|| not_kept(&file.path))?;
                    Ok::<_, Refused>(Side { kind: version.kind, bytes, mode: version.mode })
                })
            };
            let (before, after) = (side(&file.before).transpose()?, side(&file.after).transpose()?);
            let (from, to) = match direction {
                Direction::Back => (after, before),
                Direction::Again => (before, after),
            };
            let path = self.root.join(&file.path);
            let now = self.now(&file.path, &going);
            let may_be_old =
                file.before.is_none() && rules.iter().any(|folder| file.path.starts_with(folder));
            match wanted(file, &now, from, to) {
                Ok(Now::Nothing) if may_be_old && now != Now::Nothing => {
                    unsure.push(file.path.clone());
                }
                Ok(new) if new == now => same += 1,
                Ok(new) => steps.push(Replacement { path, now, new }),
                Err(conflict) => conflicts.push(conflict),
            }
        }
        if !conflicts.is_empty() {
            let more = conflicts.len().saturating_sub(CONFLICTS_SHOWN);
            conflicts.truncate(CONFLICTS_SHOWN);
            let more = if more > 0 { format!("and {more} more\n") } else { String::new() };
            return Err(Refused::Conflict((conflicts.concat() + &more).trim_end().to_owned()));
        }
        publish(&self.root, &steps).map_err(Refused::Disk)?;
        let below = |step: Replacement| step.path.strip_prefix(&self.root).map(Path::to_owned).ok();
        Ok(PutBack { files: steps.into_iter().filter_map(below).collect(), same, unsure })
    }

    /// Reads the contents of all versions.
    fn contents(&self, change: &Change) -> Result<HashMap<String, Vec<u8>>, Unavailable> {
        let versions = change.files.iter().flat_map(|file| [&file.before, &file.after]).flatten();
        let asked: String = versions.map(|version| format!("{}\n", version.content)).collect();
        let told =
            self.git.run(&["cat-file", "--batch"], Objects::AlsoOfProject, asked.as_bytes())?;
        let (mut contents, mut rest) = (HashMap::new(), told.as_slice());
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, behind) = rest.split_at(end);
            let head = String::from_utf8_lossy(head);
            let behind = behind.get(1..).unwrap_or_default();
            let words: Vec<&str> = head.split(' ').collect();
            rest = match words.as_slice() {
                [id, "blob", size] => {
                    let size: usize = size.parse().unwrap_or(usize::MAX);
                    let content = behind.get(..size).unwrap_or_default();
                    contents.insert((*id).to_owned(), content.to_vec());
                    behind.get(size.saturating_add(1)..).unwrap_or_default()
                }
                _ => behind,
            };
        }
        Ok(contents)
    }

    /// Looks what is at a path. What goes with the same change is no folder in its way.
    fn now(&self, path: &Path, going: &HashSet<&Path>) -> Now {
        let mut above = self.root.clone();
        for part in path.parent().into_iter().flat_map(Path::components) {
            above.push(part);
            match fs::symlink_metadata(&above) {
                Err(_) => return Now::Nothing,
                Ok(found) if found.is_dir() => {}
                Ok(_)
                    if above.strip_prefix(&self.root).is_ok_and(|above| going.contains(above)) =>
                {
                    return Now::Nothing;
                }
                // What is behind a link is another file.
                Ok(_) => return Now::Other("in a folder that is none any more"),
            }
        }
        let path = self.root.join(path);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Now::Nothing,
            Ok(found) if found.is_symlink() => match fs::read_link(&path) {
                Ok(target) => Now::Link(target.as_os_str().as_bytes().to_vec()),
                Err(_) => Now::Other("a link that can't be read"),
            },
            Ok(found) if found.is_dir() => Now::Other("a folder"),
            Ok(found) if found.len() > FILE_BYTES_MAX => Now::Other("too large"),
            Ok(found) => {
                let mut bytes = Vec::new();
                let mode = found.permissions().mode() & 0o7777;
                match open(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
                    Ok(_) => Now::File(bytes, mode),
                    Err(_) => Now::Other("not a file that can be read"),
                }
            }
            Err(_) => Now::Other("not a file that can be read"),
        }
    }
}

/// Returns the folders in which ignore rules may leave out less than before: a file that seems to
/// be new there may have been there before. A list that came only adds rules, unless it takes some
/// back.
fn rules_changed(change: &Change, contents: &HashMap<String, Vec<u8>>) -> Vec<PathBuf> {
    let takes_back = |version: &Version| {
        let text = contents.get(&version.content);
        let mut lines = text.into_iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
        lines.any(|line| line.starts_with(b"!"))
    };
    let is_list = |file: &&FileChange| {
        file.path.file_name().is_some_and(|name| name == ".gitignore")
            && (file.before.is_some() || file.after.as_ref().is_some_and(takes_back))
    };
    let folders = change.files.iter().filter(is_list).filter_map(|file| file.path.parent());
    let all = change.rules_changed.then(PathBuf::new);
    folders.map(PathBuf::from).chain(all).collect()
}

/// Returns what is to be at a path, of what one side of the change has and the other one.
///
/// # Errors
/// It was changed since: both, as they are shown.
fn wanted(
    file: &FileChange,
    now: &Now,
    from: Option<Side>,
    to: Option<Side>,
) -> Result<Now, String> {
    let name = shown(&file.path);
    let is = |now: &Now, side: Option<&Side>| match (now, side) {
        (Now::Nothing, None) => true,
        (Now::Link(target), Some(Side { kind: Kind::Link, bytes, .. })) => target == bytes,
        (Now::File(now, mode), Some(Side { kind, bytes, .. })) => {
            *kind != Kind::Link
                && now == bytes
                && is_executable(*mode) == (*kind == Kind::Executable)
        }
        _ => false,
    };
    if is(now, to.as_ref()) {
        return Ok(now.clone());
    }
    if is(now, from.as_ref()) {
        return match to {
            None => Ok(Now::Nothing),
            Some(Side { kind: Kind::Link, bytes, .. }) => Ok(Now::Link(bytes)),
            Some(Side { kind, bytes, mode }) => {
                let mode = match now {
                    Now::File(_, mode) => with_kind(*mode, kind),
                    _ => mode.unwrap_or(with_kind(0o666, kind)),
                };
                Ok(Now::File(bytes, mode))
            }
        };
    }
    let (Now::File(bytes, mode), Some(from), Some(to)) = (now, &from, &to) else {
        let now = match now {
            Now::Nothing => "gone",
            Now::Link(_) => "another link",
            Now::File(..) => "another text",
            Now::Other(what) => what,
        };
        return Err(format!("{name} is {now} now\n"));
    };
    if from.kind == Kind::Link || to.kind == Kind::Link {
        return Err(format!("{name} is another text now\n"));
    }
    // Permission bits that it was given since are kept.
    let was_executable = from.kind == Kind::Executable;
    let mode =
        if is_executable(*mode) == was_executable { with_kind(*mode, to.kind) } else { *mode };
    if from.bytes == to.bytes || *bytes == to.bytes {
        return Ok(Now::File(bytes.clone(), mode));
    }
    if *bytes == from.bytes {
        return Ok(Now::File(to.bytes.clone(), mode));
    }
    if [bytes, &from.bytes, &to.bytes].iter().any(|text| is_binary(text)) {
        return Err(format!("{name} is binary, and another one now\n"));
    }
    match merge(&from.bytes, bytes, &to.bytes) {
        Ok(merged) => Ok(Now::File(merged, mode)),
        Err(places) => {
            Err(places.iter().map(|place| conflict(&name, bytes, &to.bytes, place)).collect())
        }
    }
}

fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

/// Returns permission bits with those to execute for whom may read, or without.
fn with_kind(mode: u32, kind: Kind) -> u32 {
    match kind {
        Kind::Executable => mode | (mode & 0o444) >> 2,
        _ => mode & !0o111,
    }
}

fn not_kept(path: &Path) -> Refused {
    let why = format!("what {} was isn't kept any more", shown(path));
    Refused::Unavailable(Unavailable::Failed(why))
}
