//! Counts, and what the filters left out, in words.

use std::path::{Path, PathBuf};

use docui::FilePath;
use pipemux_search::{Counts, FileCounts, LeftOut, LeftOutLines, SkipReason};

use super::Searched;
use super::shown_lines::to_usize;
use crate::display::wording::count;
use crate::limits::LEFT_PLACES_NAMED;

/// `35 matches in 33 lines of 2 files`
pub(super) fn found(counts: Counts, files: usize) -> String {
    let matches = count(to_usize(counts.matches), "match");
    let lines = count(to_usize(counts.lines), "line");
    match files {
        0 | 1 => format!("{matches} in {lines}"),
        files => format!("{matches} in {lines} of {files} files"),
    }
}

/// A description of what a filter left out, with the lines that it names.
#[derive(Debug, Default)]
pub(crate) struct LeftInWords {
    /// `left: 2 in comments (1014, 1446), 9 not whole words`; empty if nothing was.
    pub text: String,
    /// The files and their lines, from 1.
    pub places: Vec<(PathBuf, u64)>,
}

/// Tells what the filters left out, with the places where there are few.
pub(super) fn left_out(searched: &Searched, display: &dyn Fn(&Path) -> String) -> LeftInWords {
    type Category = (fn(&LeftOut) -> &LeftOutLines, &'static str);
    const CATEGORIES: [Category; 6] = [
        (|left| &left.code, "in code"),
        (|left| &left.comments, "in comments"),
        (|left| &left.strings, "in strings"),
        (|left| &left.excluded, "on lines that `not` leaves out"),
        (|left| &left.unknown, "in files whose language isn't known"),
        (|left| &left.not_words, "not whole words"),
    ];
    let mut said = LeftInWords::default();
    let mut parts = Vec::new();
    let files = &searched.found.files;
    for (lines, words) in CATEGORIES {
        let matches: u64 = files.iter().map(|file| lines(&file.left).matches).sum();
        if matches == 0 {
            continue;
        }
        let places = places(files, lines).filter(|places| places.len() <= LEFT_PLACES_NAMED);
        let places = places.unwrap_or_default();
        let shown = places.iter().map(|(path, line)| match searched.files.as_slice() {
            [_] => line.to_string(),
            _ => format!("{}:{line}", display(path)),
        });
        let shown: Vec<_> = shown.collect();
        parts.push(match shown.is_empty() {
            true => format!("{matches} {words}"),
            false if to_usize(matches) == shown.len() => {
                format!("{matches} {words} ({})", shown.join(", "))
            }
            false => format!(
                "{matches} {words}, on {} ({})",
                count(shown.len(), "line"),
                shown.join(", ")
            ),
        });
        said.places.extend(places.into_iter().map(|(path, line)| (path.to_owned(), line)));
    }
    parts.extend(skipped(searched, display));
    if !parts.is_empty() {
        said.text = format!("left: {}", parts.join(", "));
    }
    said
}

/// The lines of a kind in all files; `None` if there are too many to tell.
fn places(files: &[FileCounts], lines: fn(&LeftOut) -> &LeftOutLines) -> Option<Vec<(&Path, u64)>> {
    let mut places = Vec::new();
    for file in files {
        let lines = lines(&file.left).all()?;
        places.extend(lines.iter().map(|line| (file.path.as_path(), *line)));
    }
    Some(places)
}

/// Names files that weren't searched: of the binary ones those only that were asked for.
fn skipped(searched: &Searched, display: &dyn Fn(&Path) -> String) -> Vec<String> {
    let skipped = searched.found.skipped.iter();
    let mut told: Vec<String> = skipped
        .filter_map(|file| {
            let why = match file.why {
                SkipReason::Binary if !searched.named.contains(&file.path) => return None,
                SkipReason::Binary => "is binary",
                SkipReason::NotUtf8 => "isn't UTF-8",
                SkipReason::TooLong => "is too long",
                SkipReason::NotAFile => "is no file",
                SkipReason::Unreadable(_) => "can't be read",
            };
            Some(format!("{} {why}", display(&file.path)))
        })
        .collect();
    if told.len() > LEFT_PLACES_NAMED {
        let more = told.len() - LEFT_PLACES_NAMED;
        told.truncate(LEFT_PLACES_NAMED);
        told.push(format!("{more} more files"));
    }
    told
}

/// Returns the text of an option; callers who spell every option out write '' for none.
pub(super) fn given(option: &str) -> Option<String> {
    (!option.is_empty()).then(|| option.to_owned())
}

/// Returns the files that a call names; an empty name is none.
pub(super) fn named_files(files: &[FilePath]) -> Vec<FilePath> {
    files.iter().filter(|file| !file.0.is_empty()).cloned().collect()
}
