//! The files of the project.

use std::path::{Path, PathBuf};

use docui::Fault;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;

use crate::limits::PROJECT_FILES_MAX;

/// Returns the files that paths, folders and globs mean, relative to a folder; without any, all of the project.
/// What `.gitignore` lists and hidden files are left out.
pub(super) fn files(entries: &[String], base: &Path, root: &Path) -> Result<Vec<PathBuf>, Fault> {
    let mut found = Vec::new();
    if entries.is_empty() {
        walk(root, None, &mut found)?;
    }
    for entry in entries {
        let path = base.join(entry);
        let before = found.len();
        if path.is_file() {
            found.extend(path.canonicalize().ok());
        } else if path.is_dir() {
            walk(&path, None, &mut found)?;
        } else {
            let set = glob_of(entry, base)?;
            walk(base, Some(&set), &mut found)?;
        }
        if found.len() == before {
            return Err(Fault::not_found(format!("in: no file matches {entry}"))
                .hint("a path, a folder, a glob such as 'src/**/*.{rs,py}', or a list of these"));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn glob_of(entry: &str, base: &Path) -> Result<GlobSet, Fault> {
    let wrong = |error: globset::Error| Fault::usage(format!("in: {entry}: {error}"));
    let base = globset::escape(base.to_string_lossy().trim_end_matches('/'));
    let entry = entry.strip_prefix("./").unwrap_or(entry);
    let glob = match entry.contains('/') {
        true => format!("{base}/{entry}"),
        false => format!("{base}/**/{entry}"),
    };
    let glob = GlobBuilder::new(&glob).literal_separator(true).build().map_err(wrong)?;
    GlobSetBuilder::new().add(glob).build().map_err(wrong)
}

fn walk(folder: &Path, glob: Option<&GlobSet>, found: &mut Vec<PathBuf>) -> Result<(), Fault> {
    for entry in WalkBuilder::new(folder).build().flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && glob.is_none_or(|glob| glob.is_match(entry.path())) {
            found.extend(entry.path().canonicalize().ok());
        }
        if found.len() > PROJECT_FILES_MAX {
            let most = PROJECT_FILES_MAX;
            return Err(Fault::refused(format!("in: more than {most} files")).hint("name fewer"));
        }
    }
    Ok(())
}
