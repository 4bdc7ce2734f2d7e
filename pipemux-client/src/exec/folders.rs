//! Where a path leads, and what is below a folder. Only names and sizes are looked at here: texts
//! are the editor's.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Entries of one listing, past which the rest is left out.
pub const ENTRIES_MAX: usize = 5_000;
/// Deepest folder that is looked into.
const DEPTH_MAX: usize = 64;

/// Something below a folder.
#[derive(Debug)]
pub struct Entry {
    /// Its path.
    pub path: PathBuf,
    /// True for a folder; a link to one is none.
    pub is_folder: bool,
    /// The size of the entry in bytes.
    pub size: u64,
}

/// Returns what a path leads to, through all links, also if its end doesn't exist yet; `None` if
/// that is outside of `root`.
pub fn within(root: &Path, path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let mut existing = path;
    // A link that leads nowhere isn't followed by what makes files.
    while existing.symlink_metadata().is_err() {
        existing = existing.parent()?;
    }
    let rest = path.strip_prefix(existing).ok()?;
    let real = existing.canonicalize().ok()?;
    let real = if rest.as_os_str().is_empty() { real } else { real.join(rest) };
    real.starts_with(&root).then_some(real)
}

/// Returns what a folder has, by name.
///
/// # Errors
/// It can't be read.
pub fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)?.take(ENTRIES_MAX) {
        let entry = entry?;
        let about = entry.metadata()?;
        entries.push(Entry { path: entry.path(), is_folder: about.is_dir(), size: about.len() });
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

/// Returns what is below a folder, down to a depth, each folder before what it has. `wanted` says
/// of an entry whether it, and what is below it, is looked at.
pub fn below(folder: &Path, depth: usize, wanted: &dyn Fn(&Path) -> bool) -> Vec<Entry> {
    let mut found = Vec::new();
    collect(folder, depth.min(DEPTH_MAX), wanted, &mut found);
    found
}

fn collect(folder: &Path, depth: usize, wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<Entry>) {
    // What can't be read has nothing to show.
    for entry in entries(folder).unwrap_or_default() {
        if found.len() >= ENTRIES_MAX {
            return;
        }
        if !wanted(&entry.path) {
            continue;
        }
        let inner = entry.is_folder.then(|| entry.path.clone());
        found.push(entry);
        if let Some(inner) = inner.filter(|_| depth > 1) {
            collect(&inner, depth.saturating_sub(1), wanted, found);
        }
    }
}

/// Tells whether a path matches a glob: `*` and `?` within a name, `**` over folders.
pub fn matches(path: &str, glob: &str) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    let glob: Vec<&str> = glob.split('/').filter(|part| !part.is_empty()).collect();
    matches_parts(&path, &glob)
}

fn matches_parts(path: &[&str], glob: &[&str]) -> bool {
    match (glob.split_first(), path.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((&"**", rest)), first) => {
            matches_parts(path, rest) || first.is_some_and(|(_, path)| matches_parts(path, glob))
        }
        (Some((part, rest)), Some((name, path))) => {
            let (part, name): (Vec<char>, Vec<char>) =
                (part.chars().collect(), name.chars().collect());
            matches_name(&name, &part) && matches_parts(path, rest)
        }
        (Some(_), None) => false,
    }
}

/// Goes over each character once and, behind a `*`, back to it.
fn matches_name(name: &[char], glob: &[char]) -> bool {
    let (mut at, mut in_glob) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = name.get(at) {
        match glob.get(in_glob) {
            Some('*') => {
                star = Some((in_glob, at));
                in_glob = in_glob.saturating_add(1);
            }
            Some(wanted) if *wanted == '?' || wanted == c => {
                (at, in_glob) = (at.saturating_add(1), in_glob.saturating_add(1));
            }
            _ => match star {
                None => return false,
                Some((glob_at, name_at)) => {
                    let next = name_at.saturating_add(1);
                    star = Some((glob_at, next));
                    (at, in_glob) = (next, glob_at.saturating_add(1));
                }
            },
        }
    }
    glob.get(in_glob..).unwrap_or_default().iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_minimatch_does() {
        for (path, glob, expected) in [
            ("a.rs", "*.rs", true),
            ("b/a.rs", "*.rs", false),
            ("b/a.rs", "**/*.rs", true),
            ("a.rs", "**/*.rs", true),
            ("x/node_modules/y/z", "**/node_modules/**", true),
            ("a.rsx", "*.rs", false),
            ("深い.md", "??.md", true),
            ("aXbXc", "a*b*c", true),
            ("a", "", false),
        ] {
            assert_eq!(matches(path, glob), expected, "{path} {glob}");
        }
    }

    #[test]
    fn paths_that_lead_outside_are_none() {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().join("root");
        fs::create_dir_all(root.join("in")).unwrap();
        std::os::unix::fs::symlink(all.path(), root.join("out")).unwrap();
        std::os::unix::fs::symlink(all.path().join("nowhere"), root.join("dangling")).unwrap();
        for (path, expected) in [
            ("in/new/file", true),
            ("in/../../x", false),
            ("out/x", false),
            ("out", false),
            ("dangling", false),
            ("..", false),
        ] {
            assert_eq!(within(&root, &root.join(path)).is_some(), expected, "{path}");
        }
        assert!(within(&root, Path::new("/etc/passwd")).is_none());
    }
}
