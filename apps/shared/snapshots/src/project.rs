//! Finds a project and its git repository, without asking git: the repository's settings could name
//! programs.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::Unavailable;
use crate::limits::SETTINGS_BYTES;

/// A project whose files are in a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The topmost folder.
    pub root: PathBuf,
    /// The repository's object directory; `None` if objects use another hash.
    pub objects: Option<PathBuf>,
    /// The repository's own ignore rules, besides those in `.gitignore`.
    pub exclude: PathBuf,
}

impl Project {
    /// Finds the project that a folder belongs to.
    ///
    /// # Errors
    /// The folder is in no git repository.
    pub fn of(folder: &Path) -> Result<Self, Unavailable> {
        let folder = fs::canonicalize(folder).map_err(|_| Unavailable::NoRepository)?;
        let found = folder.ancestors().find_map(|root| {
            let common = common_directory(&git_directory(&root.join(".git"))?)?;
            // Objects that are named by another hash aren't found by the names that they have here.
            let settings = read(&common.join("config")).unwrap_or_default();
            let is_sha1 =
                !String::from_utf8_lossy(&settings).to_lowercase().contains("objectformat");
            let objects = Some(common.join("objects")).filter(|_| is_sha1);
            Some(Self { root: root.to_owned(), objects, exclude: common.join("info/exclude") })
        });
        found.ok_or(Unavailable::NoRepository)
    }
}

/// Returns the directory that `.git` is or names.
fn git_directory(git: &Path) -> Option<PathBuf> {
    let found = fs::metadata(git).ok()?;
    let directory = match found.is_dir() {
        true => git.to_owned(),
        false => {
            let named = read(git)?;
            let named = named.strip_prefix(b"gitdir:")?.trim_ascii();
            git.parent()?.join(std::ffi::OsStr::from_bytes(named))
        }
    };
    directory.join("HEAD").is_file().then_some(directory)
}

/// Returns the directory that all work trees of a repository share.
fn common_directory(directory: &Path) -> Option<PathBuf> {
    let common = match read(&directory.join("commondir")) {
        Some(named) => directory.join(std::ffi::OsStr::from_bytes(named.trim_ascii())),
        None => directory.to_owned(),
    };
    common.join("objects").is_dir().then_some(common)
}

/// Reads a file of a repository, as far as it is read. A pipe in its place is none: whoever opens
/// it would wait.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut bytes = Vec::new();
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| file.take(SETTINGS_BYTES).read_to_end(&mut bytes).ok()).flatten()?;
    Some(bytes)
}

/// Returns the path of git: the first in `PATH` that is none of the project's own programs.
pub(crate) fn find_git(root: &Path) -> Result<PathBuf, Unavailable> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |program: &PathBuf| {
        let real = fs::canonicalize(program).unwrap_or_default();
        let runs = |found: fs::Metadata| found.is_file() && found.permissions().mode() & 0o111 != 0;
        fs::metadata(program).is_ok_and(runs) && !real.starts_with(root)
    };
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join("git")).find(is_program).ok_or(Unavailable::NoGit)
}
