//! Formats the names of files and of the session for readers: displayed paths, and commands in
//! hints.
//!
//! **Invariant: a displayed path means the same file to every reader.** The root never changes.

use std::path::{Path, PathBuf};

use docui::{Context, Opening, command};

use super::binary_file::BinaryFile;
use crate::limits::READABLE_MAX;

/// The directories of a session and the prefix of calls on it.
#[derive(Debug)]
pub(crate) struct SessionPaths {
    /// The working directory of the first `open`, used for callers whose directory isn't known.
    pub cwd: PathBuf,
    /// The directory that displayed paths are relative to.
    pub root: PathBuf,
    pub state_dir: PathBuf,
    /// The prefix of calls on this session: `editor`.
    callee: String,
    /// `editor/main`.
    address: String,
}

impl SessionPaths {
    /// Returns the paths of a new session, whose root is the project around its directory.
    pub(crate) fn new(opening: &Opening) -> Self {
        let cwd = without_symlinks(&opening.cwd);
        Self::restored(project_root(&cwd), cwd, opening)
    }

    /// Returns the paths of a session whose directories were saved.
    pub(crate) fn restored(root: PathBuf, cwd: PathBuf, opening: &Opening) -> Self {
        Self {
            cwd,
            root,
            state_dir: opening.state_dir.clone(),
            callee: opening.callee(),
            address: opening.address(),
        }
    }

    /// Returns the path that a caller's argument means: relative to the caller's directory.
    pub(crate) fn caller_path(&self, argument: &str, context: &Context) -> PathBuf {
        self.cwd.join(context.path(argument))
    }

    /// Returns a path as every reader is shown it: relative to the session's root if it is below
    /// it.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Returns the prefix of calls on this session: `editor`.
    pub(crate) fn callee(&self) -> &str {
        &self.callee
    }

    /// Returns the command that makes a call on this session: `pipemux run 'editor.undo(steps=2)'`.
    /// Write the call's strings in double quotes.
    pub(crate) fn run_command(&self, call: &str) -> String {
        command::run(&format!("{}.{call}", self.callee))
    }

    /// Returns the command that opens files in this session; the paths are still to be added.
    pub(crate) fn open_command(&self) -> String {
        format!("pipemux open {}", self.callee)
    }

    /// Returns the command that opens files in another session of this app.
    pub(crate) fn open_elsewhere_command(&self) -> String {
        let provider = self.address.split('/').next().unwrap_or_default();
        format!("pipemux open {provider}/two")
    }

    /// Returns the hint to look at the session as it is now.
    pub(crate) fn view_hint(&self) -> String {
        format!("look: {}", self.view_command())
    }

    /// Returns the command that shows the session as it is now.
    pub(crate) fn view_command(&self) -> String {
        format!("pipemux view {}", self.address)
    }

    /// Returns the key of an open file that is no text: the path that readers are shown.
    pub(crate) fn binary_key(&self, file: &BinaryFile) -> String {
        self.display_path(file.path())
    }

    /// Says what an open file that is no text is, and how to have its bytes.
    pub(crate) fn binary_words(&self, file: &BinaryFile) -> String {
        let (shown, bytes) = (self.display_path(file.path()), file.media().bytes);
        let bytes = grouped(bytes);
        match file.bytes() {
            Ok(read) if read.len() as u64 <= READABLE_MAX => {
                let of = docui::object_ref(&self.address, Some("file"), &self.binary_key(file));
                let read = command::join(&["pipemux", "read", &of]);
                // Never its own name: the shell would empty the file first.
                let name = file.path().file_name().unwrap_or_default().to_string_lossy();
                let copy = command::join(&[&format!("copy-of-{name}")]);
                format!("{shown} is binary, {bytes} bytes: {read} > {copy}")
            }
            _ => format!("{shown} is binary, {bytes} bytes"),
        }
    }
}

/// Writes a number with a comma between thousands.
fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

fn without_symlinks(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// Returns the root of the project that a directory is in: the nearest ancestor with `.git`, or the
/// directory itself.
fn project_root(directory: &Path) -> PathBuf {
    let project = directory.ancestors().find(|above| above.join(".git").exists());
    project.unwrap_or(directory).to_owned()
}
