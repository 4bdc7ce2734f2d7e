//! Where problems are now: their places follow edits that were made since the command ran.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use docui::Fault;
use pipemux_problems::{Place, Report};

use crate::limits::{PLACES_FILE_BYTES, PLACES_FILES};

/// The places of a report's problems and failed tests, as they were when the command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    problems: Vec<Option<Located>>,
    failures: Vec<Option<Located>>,
    /// The files that git told of, with their hunks.
    files: Vec<(Option<Located>, Vec<Option<Located>>)>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1, when the command ended.
    pub line: usize,
    /// What the line and its neighbours said, if the file could be read.
    text: Option<[Option<String>; 3]>,
}

impl Places {
    /// Looks up the places of what a command told that ran in this directory.
    pub fn of(report: &Report, cwd: &Path) -> Self {
        let mut files: BTreeMap<PathBuf, Option<Vec<String>>> = BTreeMap::new();
        let mut at = |path: PathBuf, line: usize| {
            if files.len() < PLACES_FILES || files.contains_key(&path) {
                let lines = files.entry(path.clone()).or_insert_with(|| read(&path));
                let text = lines.as_ref().map(|lines| neighbours(lines, line));
                return Some(Located { path, line, text });
            }
            Some(Located { path, line, text: None })
        };
        let files = report.git.files.iter().map(|file| {
            let path = in_tree(cwd, &file.path);
            let first = file.hunks.first().map_or(1, |hunk| hunk.new_line);
            let lines = file.hunks.iter().map(|hunk| hunk.new_line);
            let hunks = lines.map(|line| at(path.clone(), line.max(1) as usize)).collect();
            (at(path.clone(), first.max(1) as usize), hunks)
        });
        let files = files.collect();
        let mut locate = |place: Option<&Place>| {
            let place = place?;
            let folder = place
                .directory
                .as_ref()
                .map_or_else(|| cwd.to_owned(), |directory| cwd.join(directory));
            let line = place.line.map_or(1, |line| line.max(1) as usize);
            at(clean(&folder.join(&place.file)), line)
        };
        Self {
            problems: report
                .problems
                .iter()
                .map(|problem| locate(problem.place.as_ref()))
                .collect(),
            failures: report
                .failures
                .iter()
                .map(|failure| locate(failure.place.as_ref()))
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
    /// Returns the line that it is now: the nearest one with the same text, of which one with the same neighbours first.
    ///
    /// # Errors
    /// The file is gone, or the line was edited since.
    pub fn now(&self) -> Result<usize, Fault> {
        let shown = self.path.display();
        let Some(text) = &self.text else {
            return match self.path.is_file() {
                true => Ok(self.line),
                false => Err(Fault::not_found(format!("there is no file {shown}"))),
            };
        };
        let lines = read(&self.path)
            .ok_or_else(|| Fault::not_found(format!("{shown} can't be read any more")))?;
        if neighbours(&lines, self.line) == *text {
            return Ok(self.line);
        }
        let wanted = text[1].as_deref();
        let is_same = |line: &usize| lines.get(line - 1).map(String::as_str) == wanted;
        let candidates = (1..=lines.len()).filter(is_same);
        let score = |line: usize| {
            let now = neighbours(&lines, line);
            let same = usize::from(now[0] == text[0]) + usize::from(now[2] == text[2]);
            (2 - same, line.abs_diff(self.line))
        };
        candidates.min_by_key(|line| score(*line)).ok_or_else(|| {
            let line = self.line;
            let was = wanted.unwrap_or_default().trim();
            Fault::refused(format!(
                "{shown}:{line} was edited since the command ran; it said: {was}"
            ))
            .hint("run it again")
        })
    }
}

/// Returns the file that git means: its paths begin where the repository does, or in the working directory.
fn in_tree(cwd: &Path, path: &str) -> PathBuf {
    let folders = cwd.ancestors().map(|folder| clean(&folder.join(path)));
    let found = folders.into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| clean(&cwd.join(path)))
}

fn neighbours(lines: &[String], line: usize) -> [Option<String>; 3] {
    let get = |number: usize| number.checked_sub(1).and_then(|index| lines.get(index)).cloned();
    [get(line - 1), get(line), get(line + 1)]
}

fn read(path: &Path) -> Option<Vec<String>> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > PLACES_FILE_BYTES {
        return None;
    }
    let bytes = docui::regular_file::read(path).ok()?;
    Some(
        String::from_utf8_lossy(&bytes)
            .split('\n')
            .map(|line| line.trim_end().to_owned())
            .collect(),
    )
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
        let mut reader = OutputReader::new();
        reader.feed(b"./a.c:5:3: error: 'x' undeclared\n");
        let report = reader.finish();
        let places = Places::of(&report, dir.path());
        let place = places.problem(0).unwrap();
        assert_eq!((place.path.as_path(), place.now()), (file.as_path(), Ok(5)));
        fs::write(&file, "new\nnew\none\n  x();\n}\ntwo\n  x();\nend\n").unwrap();
        assert_eq!(place.now(), Ok(7));
        fs::write(&file, "one\n  x();\n}\ntwo\n  y();\nend\n").unwrap();
        // The other line with that text has other neighbours; it is the best guess, and nothing else is.
        assert_eq!(place.now(), Ok(2));
        fs::write(&file, "one\n}\ntwo\n  y();\nend\n").unwrap();
        let fault = place.now().unwrap_err();
        assert!(
            fault.message.ends_with("a.c:5 was edited since the command ran; it said: x();"),
            "{fault}"
        );
        fs::remove_file(&file).unwrap();
        assert!(place.now().is_err());
    }
}
