//! Reading files that are to be opened, on other threads.

use std::path::{Path, PathBuf};
use std::time::Instant;

use docui::blocking::Task;
use docui::{Fault, Waker};

use crate::limits::DISK_START;
use crate::model::disk;
use crate::model::open_file::ReadFile;

use super::Editor;

/// A file that was asked for.
#[derive(Debug)]
pub(crate) enum ReadArgument {
    /// It was open already.
    AlreadyOpen(PathBuf),
    /// It was read.
    Read(Box<ReadFile>),
}

impl ReadArgument {
    /// The file's path without symlinks.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::AlreadyOpen(path) => path,
            Self::Read(read) => read.path(),
        }
    }
}

/// What another thread must know of a session to read files for it.
#[derive(Debug, Clone)]
pub(crate) struct FileReader {
    /// The paths of the open files, with the paths that readers are shown.
    open: Vec<(PathBuf, String)>,
    state_dir: PathBuf,
}

impl Editor {
    /// Returns what another thread must know of the session to read files for it.
    pub(crate) fn file_reader(&self) -> FileReader {
        let paths = self.files.iter().map(|file| file.path().to_owned());
        let open = paths.map(|path| (path.clone(), self.display_path(&path))).collect();
        FileReader { open, state_dir: self.state_dir.clone() }
    }
}

impl FileReader {
    /// Reads a file, unless it is open. If there is none, `displayed` may be the path that an open file is
    /// displayed with. This may wait for a disk.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub(crate) fn read(&self, path: &Path, displayed: Option<&str>) -> Result<ReadArgument, Fault> {
        let path = disk::resolve(path).or_else(|fault| {
            let open = self.open.iter().find(|(_, shown)| Some(shown.as_str()) == displayed);
            open.map(|(path, _)| path.clone()).ok_or(fault)
        })?;
        Ok(match self.open.iter().any(|(open, _)| *open == path) {
            true => ReadArgument::AlreadyOpen(path),
            false => ReadArgument::Read(Box::new(ReadFile::read(path, self.state_dir.clone()))),
        })
    }

    /// Reads the files that a session is started with. One whose disk doesn't answer keeps none of the
    /// others from being opened.
    pub(crate) fn read_at_start(
        &self,
        paths: &[PathBuf],
        waker: &Waker,
    ) -> Vec<Result<ReadArgument, Fault>> {
        read_soon(paths, waker, |path| {
            let (reader, path) = (self.clone(), path.to_owned());
            move || reader.read(&path, None)
        })
    }

    /// Reads the files that a session had open, by their real paths, as [`FileReader::read_at_start`] does.
    pub(crate) fn read_again(
        &self,
        paths: &[PathBuf],
        waker: &Waker,
    ) -> Vec<Result<ReadFile, Fault>> {
        read_soon(paths, waker, |path| {
            let (path, state_dir) = (path.to_owned(), self.state_dir.clone());
            move || Ok(ReadFile::read(path, state_dir))
        })
    }
}

/// Does the work for each of the files on a thread of its own, and returns what is done soon.
fn read_soon<T: Send + 'static, W>(
    paths: &[PathBuf],
    waker: &Waker,
    work: impl Fn(&Path) -> W,
) -> Vec<Result<T, Fault>>
where
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    // All are under way before the first one is waited for.
    let tasks: Vec<_> = paths.iter().map(|path| Task::start(waker, work(path))).collect();
    let deadline = Instant::now() + DISK_START;
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
