//! Finds the files that a name in a patch may mean, by names alone. Links are up to the caller.

use std::path::{Component, Path, PathBuf};

use crate::limits::PATH_MAX;
use crate::model::Name;

/// The directories in which a patch may change files.
#[derive(Clone, Debug)]
pub struct PathScope {
    root: PathBuf,
    directory: PathBuf,
}

/// The reason why a name can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// The name points outside of the project.
    Outside,
    /// The name is empty, too long, or contains a NUL.
    Invalid,
}

impl PathScope {
    /// The project's folder and the caller's directory, both absolute. A directory outside of the
    /// project is taken for a project of its own.
    #[must_use]
    pub fn new(root: &Path, directory: &Path) -> Self {
        let root = normalize(root);
        let directory = normalize(directory);
        let root = if directory.starts_with(&root) { root } else { directory.clone() };
        Self { root, directory }
    }

    /// All paths that a name may mean, the likely ones first.
    ///
    /// # Errors
    /// If none of its readings can be used.
    pub fn resolve(&self, name: &Name) -> Result<Vec<PathBuf>, NameError> {
        let mut found = Vec::new();
        let mut error = NameError::Invalid;
        for reading in &name.readings {
            let bases = if name.from_root {
                [&self.root, &self.directory]
            } else {
                [&self.directory, &self.root]
            };
            for base in bases {
                match self.resolve_in(base, reading) {
                    Ok(path) if !found.contains(&path) => found.push(path),
                    Ok(_) => {}
                    Err(problem) => error = problem,
                }
            }
        }
        if found.is_empty() { Err(error) } else { Ok(found) }
    }

    /// Returns true if a path without symlinks is inside the project.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// Returns true if a path is below the caller's directory.
    pub(crate) fn in_directory(&self, path: &Path) -> bool {
        path.starts_with(&self.directory)
    }

    fn resolve_in(&self, base: &Path, name: &str) -> Result<PathBuf, NameError> {
        let last = name.rsplit('/').next().unwrap_or("");
        if name.len() > PATH_MAX || name.contains('\0') || matches!(last, "" | "." | "..") {
            return Err(NameError::Invalid);
        }
        let path = normalize(&base.join(name));
        if path == self.root {
            return Err(NameError::Invalid);
        }
        if path.starts_with(&self.root) { Ok(path) } else { Err(NameError::Outside) }
    }
}

/// Without `.` and `..`, by names alone.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(name: &str) -> Result<Vec<PathBuf>, NameError> {
        PathScope::new(Path::new("/p"), Path::new("/p/sub")).resolve(&Name::plain(name))
    }

    #[test]
    fn names_stay_inside_the_project() {
        assert_eq!(resolve("a.rs").unwrap(), [Path::new("/p/sub/a.rs"), Path::new("/p/a.rs")]);
        assert_eq!(resolve("../a.rs").unwrap(), [Path::new("/p/a.rs")]);
        assert_eq!(resolve("/p/x/./a.rs").unwrap(), [Path::new("/p/x/a.rs")]);
        for outside in ["../../a.rs", "/etc/passwd", "x/../../../q", "/p/../etc/passwd", "/pp/a"] {
            assert_eq!(resolve(outside), Err(NameError::Outside), "{outside}");
        }
        for invalid in ["", ".", "a\0b", "src/", ".."] {
            assert_eq!(resolve(invalid), Err(NameError::Invalid), "{invalid}");
        }
    }
}
