//! Finds the project folder of a session.

use std::path::{Path, PathBuf};

use docui::{Fault, Opening};

/// The folder with a tree's files.
pub const FOLDER: &str = ".memotree";

/// Returns the folder that an `open` means: the one that it names, else the project of the caller's
/// directory.
///
/// # Errors
/// It names several, or none that there is.
pub fn root(opening: &Opening) -> Result<PathBuf, Fault> {
    let path = match opening.args.as_slice() {
        [] => return Ok(project_of(&opening.cwd)),
        [path] => opening.path(path),
        more => {
            return Err(Fault::usage(format!("expected one project folder, got {}", more.len()))
                .hint("pipemux open memotree"));
        }
    };
    let path = match path.file_name() {
        Some(name) if name == FOLDER => path.parent().unwrap_or(&path).to_owned(),
        _ => path,
    };
    match path.is_dir() {
        // Without `.` in it, as it is compared.
        true => Ok(path.canonicalize().unwrap_or(path)),
        false => Err(Fault::not_found(format!("{}: there is no such folder", path.display()))
            .hint("pipemux open memotree")),
    }
}

/// Returns the nearest folder with `.git` above a directory, or the directory itself.
fn project_of(directory: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let project = directory.ancestors().find(|above| above.join(".git").exists());
    project.unwrap_or(&directory).to_owned()
}

/// Returns a folder's name, for readers: no path.
pub fn name(root: &Path) -> String {
    root.file_name()
        .map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned())
}
