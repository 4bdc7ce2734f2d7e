//! Detects accesses that the sandbox probably refused a command, from the paths in its output.

use std::path::{Path, PathBuf};

use pipemux_confine::real_path::follow;
use rustix::fs::{Access, access};

use crate::job::Job;
use crate::limits::REFUSAL_BYTES;

/// Phrases by which programs report that the system refused something, in lower case.
const REFUSALS: &[&str] = &[
    "permission denied",
    "eacces",
    "read-only file system",
    "erofs",
    "cross-device link",
    "exdev",
    "operation not permitted",
];

/// Lines above a refusal in which its path may stand: some programs tell the cause behind what they
/// wanted to do.
const LINES_ABOVE: usize = 4;

/// Says which path a command couldn't write to because it is confined, and how a person allows it.
/// Behind a pipe a command that failed seems to succeed, so how it ended doesn't count.
pub fn line(job: &Job) -> Option<String> {
    let domain = job.domain.as_ref()?;
    let tail = job.with(|state| {
        let tail = state.tail();
        String::from_utf8_lossy(&tail[tail.len().saturating_sub(REFUSAL_BYTES)..]).into_owned()
    });
    let lines: Vec<&str> = tail.lines().collect();
    let is_refusal = |line: &str| {
        let line = line.to_lowercase();
        REFUSALS.iter().any(|refusal| line.contains(refusal))
    };
    let refusals = (0..lines.len()).rev().filter(|at| is_refusal(lines[*at]));
    let told = refusals.flat_map(|at| lines[at.saturating_sub(LINES_ABOVE)..=at].iter().rev());
    let paths = told.flat_map(|line| paths(line, &job.order.cwd));
    // What the user couldn't write to either, the confinement doesn't refuse.
    let mut refused = paths.filter_map(|path| {
        let path = follow(&path).path;
        let there = path.ancestors().find(|above| above.exists())?;
        let is_held = !domain.grants.allows(&path) && access(there, Access::WRITE_OK).is_ok();
        is_held.then_some(path)
    });
    let path = refused.next()?;
    let (widened, is_there) = domain.grants.to_widen(&path);
    let make = if is_there { "" } else { " makes it and" };
    let home = job.order.env.get("HOME").map(Path::new);
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
