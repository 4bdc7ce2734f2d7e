//! Maps Python module names to files, and files to module names.

use std::path::{Path, PathBuf};

use super::specifiers::parts;

/// Returns the file that a module's name means in a file, and the folder that the name begins in.
pub(super) fn resolve(
    file: &Path,
    module: &str,
    exists: &dyn Fn(&Path) -> bool,
) -> Option<(PathBuf, PathBuf)> {
    let rest = module.trim_start_matches('.');
    let dots = module.len() - rest.len();
    let names: Vec<&str> = rest.split('.').filter(|name| !name.is_empty()).collect();
    let found = |folder: &Path| {
        let path = names.iter().fold(folder.to_owned(), |path, name| path.join(name));
        let with = |end: &str| path.with_file_name(format!("{}{end}", names.last().unwrap_or(&"")));
        let mut candidates = vec![path.join("__init__.py"), path.join("__init__.pyi")];
        if !names.is_empty() {
            candidates.extend([with(".py"), with(".pyi")]);
        }
        candidates.into_iter().find(|path| exists(path))
    };
    if dots > 0 {
        let folder = file.ancestors().nth(dots)?;
        return found(folder).map(|path| (path, folder.to_owned()));
    }
    if names.is_empty() {
        return None;
    }
    let folders = file.ancestors().skip(1).filter(|folder| !exists(&folder.join("__init__.py")));
    let folders: Vec<PathBuf> =
        folders.flat_map(|folder| [folder.to_owned(), folder.join("src")]).collect();
    folders.into_iter().find_map(|folder| found(&folder).map(|path| (path, folder.clone())))
}

/// Returns the relative name of the module that a file is.
pub(super) fn relative(file: &Path, target: &Path) -> Option<String> {
    let (from, to) = (parts(file.parent()?)?, names(target)?);
    let common = from.iter().zip(&to).take_while(|(one, other)| *one == *other).count();
    let dots = ".".repeat(from.len() - common + 1);
    to[common..].iter().all(|name| is_name(name)).then(|| dots + &to[common..].join("."))
}

/// Returns the name of the module that a file is for those that begin in a folder.
pub(super) fn absolute(folder: &Path, target: &Path) -> Option<String> {
    let (folder, names) = (parts(folder)?, names(target)?);
    let rest = names.get(folder.len()..).filter(|rest| !rest.is_empty())?;
    let is_written = names.starts_with(&folder) && rest.iter().all(|name| is_name(name));
    is_written.then(|| rest.join("."))
}

/// Returns true for what can stand in an import: files of other names are no modules,
/// `make-data.py`.
fn is_name(part: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    part.starts_with(|c: char| !c.is_numeric()) && part.chars().all(is_part)
}

/// Returns the folder in which absolute names of a file's package begin.
pub(super) fn top_folder<'p>(file: &'p Path, exists: &dyn Fn(&Path) -> bool) -> Option<&'p Path> {
    file.ancestors().skip(1).find(|folder| !exists(&folder.join("__init__.py")))
}

fn names(file: &Path) -> Option<Vec<&str>> {
    let mut names = parts(file)?;
    let last = names.pop()?.split('.').next()?;
    if last != "__init__" {
        names.push(last);
    }
    Some(names)
}
