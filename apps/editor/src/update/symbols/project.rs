//! The files of the project.

use std::path::{Path, PathBuf};

use docui::Fault;
use pipemux_search::Files;

/// Returns the files that paths, folders and globs mean, relative to a folder; without any, all of
/// the project.
pub(super) fn files(entries: &[String], base: &Path, root: &Path) -> Result<Vec<PathBuf>, Fault> {
    let files = Files::new(entries, base, root, &[]).and_then(|files| files.list());
    files.map_err(|error| {
        Fault::not_found(format!("in: {error}"))
            .hint("a path, a folder, a glob such as 'src/**/*.{rs,py}', or a list of these")
    })
}
