//! Counting the numbers in an answer as seen, in files that are open or not.

use std::ops::Range;
use std::path::{Path, PathBuf};

use docui::{Context, LineNumbers};
use pipemux_search::Match;

use crate::display::wording::shown_lines;
use crate::limits::NUMBERS_TOLD;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;
use crate::model::unlisted_files::open_unlisted;

/// Lines of files, from 0, that an answer shows.
#[derive(Debug, Default)]
pub(crate) struct ShownLines(Vec<(PathBuf, Vec<Range<usize>>)>);

impl ShownLines {
    /// Adds the first line of a match.
    pub(super) fn add_match(&mut self, path: &Path, found: &Match) {
        let line = to_usize(found.line) - 1;
        self.add(path, line..line + 1);
    }

    /// Adds lines of a file; those that follow each other become one range.
    pub(in crate::update) fn add(&mut self, path: &Path, lines: Range<usize>) {
        let known = self.0.iter().position(|(other, _)| other == path);
        let index = known.unwrap_or_else(|| {
            self.0.push((path.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let ranges = &mut self.0[index].1;
        match ranges.last_mut().filter(|last| last.end == lines.start) {
            Some(last) => last.end = lines.end,
            None => ranges.push(lines),
        }
    }
}

/// Returns the numbers in an answer as they count. Files that aren't open are opened for that
/// without being listed; those for which there is no room are left out. `began` is the version of
/// the open files when their texts were taken.
pub(crate) fn numbers_shown(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    shown: ShownLines,
    documents: &mut Documents,
    began: u64,
    context: &Context,
) -> Vec<LineNumbers> {
    let mut numbers = Vec::new();
    for (path, lines) in shown.0 {
        let was_open = documents.open_file(&path).is_some();
        let read = documents.read.remove(&path);
        let (index, version) = match (open_files.index(&path), read) {
            (Some(index), _) if was_open => (Some(index), began),
            (Some(index), Some(read)) => {
                let same = open_files[index].buffer().digest() == read.buffer.digest();
                (same.then_some(index), context.version)
            }
            (None, Some(read)) => (open_unlisted(open_files, edits, read.file), context.version),
            (_, None) => (None, 0),
        };
        let Some(index) = index else { continue };
        let file = &open_files[index];
        numbers.extend(lines.iter().map(|lines| shown_lines(file, lines, version)));
        if numbers.len() >= NUMBERS_TOLD {
            numbers.truncate(NUMBERS_TOLD);
            break;
        }
    }
    numbers
}

/// Converts a number of a line.
pub(super) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
