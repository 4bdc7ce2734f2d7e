//! What the confinement probably refused a command that failed: its output names the path.

use std::path::{Path, PathBuf};

use pipemux_confine::real_path::follow;
use rustix::fs::{Access, access};

use crate::job::{Ended, Job};
use crate::limits::REFUSAL_BYTES;

/// What programs print of the system's refusals, in lower case.
const REFUSALS: &[&str] = &[
    "permission denied",
    "eacces",
    "read-only file system",
    "erofs",
    "cross-device link",
    "exdev",
    "operation not permitted",
];

/// Says which path a command that failed couldn't write to because it is confined, and how a person allows it.
pub fn line(job: &Job, ended: &Ended) -> Option<String> {
    let domain = job.domain.as_ref().filter(|_| !ended.how.is_success())?;
    let tail = job.with(|state| {
        let tail = state.tail();
        String::from_utf8_lossy(&tail[tail.len().saturating_sub(REFUSAL_BYTES)..]).into_owned()
    });
    let is_refusal = |line: &&str| {
        let line = line.to_lowercase();
        REFUSALS.iter().any(|refusal| line.contains(refusal))
    };
    let paths = tail.lines().rev().filter(is_refusal).flat_map(|line| paths(line, &job.order.cwd));
    // What the user couldn't write to either, the confinement doesn't refuse.
    let mut refused = paths.filter_map(|path| {
        let path = follow(&path).path;
        let there = path.ancestors().find(|above| above.exists())?;
        let is_held = !domain.grants().allows(&path) && access(there, Access::WRITE_OK).is_ok();
        is_held.then_some(path)
    });
    let path = refused.next()?;
    let home = job.order.env.get("HOME").map(Path::new);
    let (widened, is_there) = to_widen(&path, home);
    let make = if is_there { "" } else { " makes it and" };
    let shown = |path: &Path| match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    Some(format!(
        "{} is outside of what commands may write to; a person{make} allows it: write = [{:?}] below [terminal] in {}\n",
        shown(&path),
        shown(&widened),
        job.config_file
    ))
}

/// Returns what a person would grant for a path: its folder, or what is on the way to it in a folder that has everything in
/// it. Also says whether that is there.
fn to_widen(path: &Path, home: Option<&Path>) -> (PathBuf, bool) {
    let is_wide = |folder: &Path| {
        folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
    };
    let folder = path.ancestors().find(|above| above.is_dir()).unwrap_or(path);
    match is_wide(folder) {
        false => (folder.to_owned(), true),
        true => {
            let below = path.ancestors().take_while(|above| *above != folder).last();
            let below = below.unwrap_or(path);
            (below.to_owned(), below.exists())
        }
    }
}

/// Returns what in a line could be a path.
fn paths(line: &str, folder: &Path) -> Vec<PathBuf> {
    let quotes = |c: char| "'\"`‘’“”".contains(c);
    let blanks = |c: char| c.is_whitespace() || quotes(c) || ",;()[]<>=".contains(c);
    let words = line.split(quotes).chain(line.split(blanks));
    let trimmed = words.map(|word| word.trim().trim_end_matches([':', '.']));
    let is_path = |word: &&str| word.contains('/') && !word.contains("://") && !word.contains('\0');
    trimmed.filter(is_path).map(|word| folder.join(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn person_is_told_the_narrowest_folder_that_helps() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("data")).unwrap();
        let of = |path: &str| to_widen(&home.join(path), Some(&home));
        assert_eq!(of("data/a/b"), (home.join("data"), true));
        assert_eq!(of("data"), (home.join("data"), true));
        assert_eq!(of(".gitconfig"), (home.join(".gitconfig"), false));
        assert_eq!(of("new/a/b"), (home.join("new"), false));
        assert_eq!(to_widen(Path::new("/no-such/x"), Some(&home)), ("/no-such".into(), false));
    }

    #[test]
    fn paths_are_found_in_what_programs_print() {
        for line in [
            "bash: line 1: /etc/x y: Permission denied",
            "touch: cannot touch '/etc/x y': Permission denied",
            "PermissionError: [Errno 13] Permission denied: '/etc/x y'",
            "Error: EACCES: permission denied, open '/etc/x y'",
            "open \"/etc/x y\": permission denied",
        ] {
            let found = paths(line, Path::new("/p"));
            let is_found = |path: &str| found.contains(&PathBuf::from(path));
            assert!(is_found("/etc/x y") || is_found("/etc/x"), "{line}: {found:?}");
        }
        assert_eq!(
            paths("cp: a/b: Permission denied", Path::new("/p")).last(),
            Some(&"/p/a/b".into())
        );
        assert!(
            paths("git@x: Permission denied (publickey). https://x/y", Path::new("/p")).is_empty()
        );
    }
}
