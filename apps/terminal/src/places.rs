//! Tracks the locations of problems through edits made since the command ran.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use docui::Fault;
use docui::deadline;
use pipemux_problems::{Place, Report};
use similar::{Algorithm, DiffOp};

use crate::limits::{PLACES_FILE_BYTES, PLACES_FILES, PLACES_LINES, PLACES_PATIENCE};

/// The places of a report's problems and failed tests, as they were when the command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    problems: Vec<Option<Located>>,
    failures: Vec<Option<Located>>,
    /// The places of the files in git's output, each with those of its hunks.
    files: Vec<(Option<Located>, Vec<Option<Located>>)>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    /// The line as the command reported it, counted from 1.
    pub line: usize,
    file: Arc<Snapshot>,
    /// The contents of the line, if they are known.
    text: Option<String>,
    /// True if the file was changed while the command ran, and nothing it told says that the line
    /// is still the one it meant.
    uncertain: bool,
}

/// The state of a file when the command ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Snapshot {
    changed: Option<SystemTime>,
    bytes: u64,
    /// Digests of its lines; none if it is too large, or isn't there.
    lines: Option<Vec<u64>>,
}

impl Places {
    /// Looks up the places of what a command told that ran in this directory since then.
    pub fn of(report: &Report, cwd: &Path, began: SystemTime) -> Self {
        let mut files: BTreeMap<PathBuf, (Arc<Snapshot>, Vec<String>)> = BTreeMap::new();
        let mut lines_left = PLACES_LINES;
        let mut at = |path: PathBuf, line: usize, told: &[String]| {
            let is_room = files.len() < PLACES_FILES || files.contains_key(&path);
            let (file, lines) = match is_room {
                true => files
                    .entry(path.clone())
                    .or_insert_with(|| {
                        let (snapshot, lines) = snapshot(&path, lines_left);
                        lines_left -= lines.len();
                        (Arc::new(snapshot), lines)
                    })
                    .clone(),
                false => (Arc::new(stamp(&path)), Vec::new()),
            };
            let text = lines.get(line - 1).cloned();
            let is_told = text.as_ref().is_some_and(|text| {
                let text = text.trim();
                !text.is_empty() && told.iter().any(|told| told.contains(text))
            });
            let uncertain = !is_told && file.changed.is_some_and(|changed| changed >= began);
            Some(Located { path, line, file, text, uncertain })
        };
        let files = report.git.files.iter().map(|file| {
            let path = in_tree(cwd, &file.path);
            let first = file.hunks.first().map_or(1, |hunk| hunk.new_line);
            let lines = file.hunks.iter().map(|hunk| hunk.new_line);
            let hunks = lines.map(|line| at(path.clone(), line.max(1) as usize, &[])).collect();
            (at(path.clone(), first.max(1) as usize, &[]), hunks)
        });
        let files = files.collect();
        let mut locate = |place: Option<&Place>, told: &[String]| {
            let place = place?;
            let folder = place
                .directory
                .as_ref()
                .map_or_else(|| cwd.to_owned(), |directory| cwd.join(directory));
            let line = place.line.map_or(1, |line| line.max(1) as usize);
            at(clean(&folder.join(&place.file)), line, told)
        };
        Self {
            problems: report
                .problems
                .iter()
                .map(|problem| locate(problem.place.as_ref(), &problem.detail))
                .collect(),
            failures: report
                .failures
                .iter()
                .map(|failure| locate(failure.place.as_ref(), &failure.detail))
                .collect(),
            files,
        }
    }

    /// Returns the place of a problem.
    pub fn problem(&self, index: usize) -> Option<&Located> {
        self.problems.get(index)?.as_ref()
    }

    /// Returns the place of a failed test.
    pub fn failure(&self, index: usize) -> Option<&Located> {
        self.failures.get(index)?.as_ref()
    }
}

impl Places {
    /// Returns the place of a file that git told of, or of one of its hunks.
    pub fn file(&self, index: usize, hunk: Option<usize>) -> Option<&Located> {
        let (file, hunks) = self.files.get(index)?;
        match hunk {
            Some(hunk) => hunks.get(hunk)?.as_ref(),
            None => file.as_ref(),
        }
    }
}

impl Located {
    /// Returns the line that it is now: the one that the edits since left of it. A line that only
    /// says the same isn't it.
    ///
    /// # Errors
    /// The file is gone, or the line was edited since, or nobody knows.
    pub fn now(&self) -> Result<usize, Fault> {
        let (shown, line) = (self.path.display(), self.line);
        if !self.path.is_file() {
            return Err(Fault::not_found(format!("there is no file {shown}")));
        }
        if self.uncertain {
            return Err(Fault::refused(format!(
                "{shown} was changed while the command ran: its line {line} may be another one now"
            ))
            .hint("run it again"));
        }
        let now = stamp(&self.path);
        if (now.changed, now.bytes) == (self.file.changed, self.file.bytes) {
            return Ok(line);
        }
        let edited = || {
            let was = self.text.as_deref().unwrap_or_default().trim();
            let was = if was.is_empty() { String::new() } else { format!("; it said: {was}") };
            Fault::refused(format!("{shown}:{line} was edited since the command ran{was}"))
                .hint("run it again")
        };
        let Some(old) = &self.file.lines else {
            return Err(Fault::refused(format!(
                "{shown} was edited since the command ran, and is too large to be followed"
            ))
            .hint("run it again"));
        };
        let (new, _) = snapshot(&self.path, PLACES_LINES);
        let new = new.lines.ok_or_else(edited)?;
        moved(old, &new, line - 1).map(|index| index + 1).ok_or_else(edited)
    }
}

/// Returns the file that git means: its paths begin where the repository does, or in the working
/// directory.
fn in_tree(cwd: &Path, path: &str) -> PathBuf {
    let folders = cwd.ancestors().map(|folder| clean(&folder.join(path)));
    let found = folders.into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| clean(&cwd.join(path)))
}

/// Returns where a line of the old text is in the new one, if it is one of those that stayed.
fn moved(old: &[u64], new: &[u64], index: usize) -> Option<usize> {
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let behind = old[before..].iter().rev().zip(new[before..].iter().rev());
    let behind = behind.take_while(|(old, new)| old == new).count();
    if index < before.min(old.len()) {
        return Some(index);
    }
    if index >= old.len() {
        return None;
    }
    if index >= old.len() - behind {
        return Some(index + new.len() - old.len());
    }
    let (old, new) = (&old[before..old.len() - behind], &new[before..new.len() - behind]);
    // Edits in many places: those that stayed, in the shortest way from the old to the new.
    let deadline = deadline::after(PLACES_PATIENCE);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Patience, old, new, Some(deadline));
    let wanted = index - before;
    ops.iter().find_map(|op| match *op {
        DiffOp::Equal { old_index, new_index, len }
            if (old_index..old_index + len).contains(&wanted) =>
        {
            Some(before + new_index + wanted - old_index)
        }
        _ => None,
    })
}

/// Returns when a file was changed last, and its size.
fn stamp(path: &Path) -> Snapshot {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    let changed = found.as_ref().and_then(|found| found.modified().ok());
    Snapshot { changed, bytes: found.map_or(0, |found| found.len()), lines: None }
}

/// Returns what a file is, and its lines unless they are too many.
fn snapshot(path: &Path, lines_max: usize) -> (Snapshot, Vec<String>) {
    let before = stamp(path);
    let is_small = before.changed.is_some() && before.bytes <= PLACES_FILE_BYTES;
    let bytes = is_small.then(|| docui::regular_file::read(path).ok()).flatten();
    let Some(bytes) = bytes else { return (before, Vec::new()) };
    let lines: Vec<String> = String::from_utf8_lossy(&bytes)
        .split('\n')
        .map(|line| line.trim_end().to_owned())
        .collect();
    if lines.len() > lines_max {
        return (before, Vec::new());
    }
    let digests = lines.iter().map(|line| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    });
    (Snapshot { lines: Some(digests.collect()), ..before }, lines)
}

/// Removes `.` and `..` from a path, without looking at the disk.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_problems::OutputReader;

    #[test]
    fn place_follows_edits_and_says_when_it_cannot() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.c");
        fs::write(&file, "one\n  x();\n}\ntwo\n  x();\nend\n").unwrap();
        let place = place(dir.path(), "./a.c:5:3: error: 'x' undeclared\n", began());
        assert_eq!((place.path.as_path(), place.now()), (file.as_path(), Ok(5)));
        fs::write(&file, "new\nnew\none\n  x();\n}\ntwo\n  x();\nend\n").unwrap();
        assert_eq!(place.now(), Ok(7));
        fs::write(&file, "zero\none\n  x();\n}\nmore\ntwo\n  x();\nend!\n").unwrap();
        assert_eq!(place.now(), Ok(7));
        // The other line with that text is other code, also when a neighbour says the same.
        for text in
            ["one\n  x();\n}\ntwo\n  y();\nend\n", "two\n  x();\n}\ntwo\n", "one\n  x();\n}\n", ""]
        {
            fs::write(&file, text).unwrap();
            let fault = place.now().unwrap_err();
            assert!(
                fault.message.ends_with("a.c:5 was edited since the command ran; it said: x();"),
                "{text:?}: {fault}"
            );
        }
        fs::remove_file(&file).unwrap();
        assert!(place.now().is_err());
    }

    /// The start time of a command that ran after all writes of a test.
    fn began() -> SystemTime {
        SystemTime::now() + std::time::Duration::from_secs(3600)
    }

    fn place(dir: &Path, output: &str, began: SystemTime) -> Located {
        let mut reader = OutputReader::new();
        reader.feed(output.as_bytes());
        let places = Places::of(&reader.finish(), dir, began);
        places.problem(0).unwrap().clone()
    }

    #[test]
    fn file_that_was_changed_while_the_command_ran_is_uncertain() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.c"), "new\none\ntwo\nBAD\n").unwrap();
        let edited = place(dir.path(), "a.c:3:1: error: BAD\n", SystemTime::UNIX_EPOCH);
        assert!(edited.now().unwrap_err().message.contains("was changed while the command ran"));
        // What the tool shows of the line tells that it is the one.
        let told = "a.c:3:1: error: BAD\n    3 | two\n      | ^\n";
        assert_eq!(place(dir.path(), told, SystemTime::UNIX_EPOCH).now(), Ok(3));
        assert_eq!(place(dir.path(), "a.c:3:1: error: BAD\n", began()).now(), Ok(3));
    }

    #[test]
    fn large_files_are_told_by_their_time_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.c");
        fs::write(&file, "x\n".repeat(PLACES_LINES + 1)).unwrap();
        let place = place(dir.path(), "a.c:5:3: error: x\n", began());
        assert_eq!(place.now(), Ok(5));
        fs::write(&file, "y\n").unwrap();
        assert!(place.now().unwrap_err().message.ends_with("too large to be followed"));
    }
}
