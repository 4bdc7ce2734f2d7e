//! Reading files that are to be opened, on other threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use docui::blocking::Task;
use docui::deadline;
use docui::{Fault, Handle};
use pipemux_search::Files;

use crate::limits::{DISK_START, FILES_MAX};
use crate::model::binary_file::BinaryFile;
use crate::model::disk;
use crate::model::open_file::ReadFile;

/// A requested file.
#[derive(Debug)]
pub(crate) enum ReadArgument {
    /// The file was already open.
    AlreadyOpen(PathBuf),
    Read(Box<ReadFile>),
    /// The file doesn't exist; the string is the name of a similar file beside it, if any.
    New(PathBuf, Option<String>),
}

/// The files that an argument leads to.
#[derive(Debug)]
pub(crate) struct ReadArguments {
    pub files: Vec<ReadArgument>,
    /// A binary file named by the argument; `files` is empty then.
    pub binary: Option<BinaryFile>,
    /// The folder or glob that matched the files; `None` for a file named directly.
    pub found_in: Option<String>,
}

impl ReadArgument {
    /// Returns the file's path without symlinks.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::AlreadyOpen(path) => path,
            Self::Read(read) => read.path(),
            Self::New(path, _) => path,
        }
    }
}

/// The session data that another thread needs to read files for the session.
#[derive(Debug, Clone)]
pub(crate) struct FileReader {
    /// The paths of the open files, each with its displayed path.
    pub(super) open: Vec<(PathBuf, String)>,
    pub(super) state_dir: PathBuf,
    pub(super) root: PathBuf,
    pub(super) cwd: PathBuf,
}

impl FileReader {
    /// Reads what an argument leads to: a file, or the text files in a folder or of a glob. If
    /// there is nothing, it may be the path that an open file is displayed with, or else means a
    /// new file. This may wait for a disk.
    ///
    /// # Errors
    /// The path leads nowhere, or to too many files.
    pub(crate) fn read(&self, argument: &str) -> Result<ReadArguments, Fault> {
        let path = self.cwd.join(argument);
        let displayed = || self.open.iter().find(|(_, shown)| *shown == argument);
        if !path.is_dir() && (fs::symlink_metadata(&path).is_ok() || !is_glob(argument)) {
            let missing = fs::symlink_metadata(&path).is_err();
            let file = match (missing, displayed()) {
                (true, Some((path, _))) => ReadArgument::AlreadyOpen(path.clone()),
                (true, None) => {
                    let path = disk::resolve_new(&path)?;
                    match self.open.iter().any(|(open, _)| *open == path) {
                        true => ReadArgument::AlreadyOpen(path),
                        false => {
                            let similar = disk::similar_name(&path);
                            ReadArgument::New(path, similar)
                        }
                    }
                }
                (false, _) => self.read_file(disk::resolve(&path)?),
            };
            let binary = match &file {
                ReadArgument::Read(read) if read.loaded().is_err() => BinaryFile::read(read.path()),
                _ => None,
            };
            let files = if binary.is_some() { Vec::new() } else { vec![file] };
            return Ok(ReadArguments { files, binary, found_in: None });
        }
        let found = find_files(argument, &self.cwd, &self.root)?;
        if found.is_empty() {
            return Err(Fault::not_found(format!("{argument} has no files")));
        }
        if found.len() > FILES_MAX {
            let message = format!("{argument} has {} files", found.len());
            return Err(Fault::refused(format!(
                "{message}; a session has at most {FILES_MAX} open files"
            ))
            .hint("find, replace and outline take files that aren't open: in='…'"));
        }
        let files: Vec<_> = found.into_iter().map(|path| self.read_file(path)).collect();
        Ok(ReadArguments { files, binary: None, found_in: Some(argument.to_owned()) })
    }

    fn read_file(&self, path: PathBuf) -> ReadArgument {
        match self.open.iter().any(|(open, _)| *open == path) {
            true => ReadArgument::AlreadyOpen(path),
            false => ReadArgument::Read(Box::new(ReadFile::read(path, self.state_dir.clone()))),
        }
    }

    /// Reads the files that a session is started with. One whose disk doesn't answer keeps none of
    /// the others from being opened.
    pub(crate) fn read_at_start(
        &self,
        arguments: &[String],
        handle: &Handle,
    ) -> Vec<Result<ReadArguments, Fault>> {
        let paths: Vec<_> = arguments.iter().map(|argument| self.cwd.join(argument)).collect();
        let mut arguments = arguments.iter();
        read_soon(&paths, handle, |_| {
            let (reader, argument) = (self.clone(), arguments.next().cloned().unwrap_or_default());
            move || reader.read(&argument)
        })
    }

    /// Reads the files that a session had open, by their real paths, as
    /// [`FileReader::read_at_start`] does.
    pub(crate) fn read_again(
        &self,
        paths: &[PathBuf],
        handle: &Handle,
    ) -> Vec<Result<ReadFile, Fault>> {
        read_soon(paths, handle, |path| {
            let (path, state_dir) = (path.to_owned(), self.state_dir.clone());
            move || Ok(ReadFile::read(path, state_dir))
        })
    }
}

/// Does the work for each of the files on a thread of its own, and returns what is done soon.
fn read_soon<T: Send + 'static, W>(
    paths: &[PathBuf],
    handle: &Handle,
    mut work: impl FnMut(&Path) -> W,
) -> Vec<Result<T, Fault>>
where
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    // All are under way before the first one is waited for.
    let tasks: Vec<_> = paths.iter().map(|path| Task::start(handle, work(path))).collect();
    let deadline = deadline::after(DISK_START);
    let wait = |(path, task): (&PathBuf, Result<Task<_>, Fault>)| {
        let left = deadline.saturating_duration_since(Instant::now());
        task?.wait(left).unwrap_or_else(|| Err(silent_disk(path)))
    };
    paths.iter().zip(tasks).map(wait).collect()
}

/// Returns the error of a file whose disk didn't answer while the session started.
fn silent_disk(path: &Path) -> Fault {
    let seconds = DISK_START.as_secs();
    Fault::failed(format!("the disk of {} did not answer within {seconds} s", path.display()))
}

/// True when an argument that is no path is a glob.
fn is_glob(argument: &str) -> bool {
    argument.contains(['*', '?', '[', '{'])
}

/// Returns the files in a folder or of a glob, without what `.gitignore` and its kin leave out.
fn find_files(argument: &str, cwd: &Path, root: &Path) -> Result<Vec<PathBuf>, Fault> {
    let files = Files::new(&[argument.to_owned()], cwd, root, &[]).and_then(|files| files.list());
    files.map_err(|error| Fault::not_found(error.to_string()))
}
