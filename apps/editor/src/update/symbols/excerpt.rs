//! Selects the part of a range or symbol to show: all of it, its signature with the matching lines,
//! or everything but long documentation.

use std::ops::Range;
use std::path::{Path, PathBuf};

use pipemux_search::LineMatcher;
use pipemux_syntax::{Language, Source};

use super::resolved::Resolved;
use crate::display::lines::readable_line;
use crate::display::wording::count;
use crate::limits::{AROUND_LINES, DOCS_SHOWN};
use crate::model::buffer::Buffer;
use crate::update::search::{Notes, lines_without};

/// Lines of a file that are to be shown, from 0.
#[derive(Debug, Clone)]
pub(crate) struct ExcerptRange {
    pub path: PathBuf,
    pub lines: Range<usize>,
    /// The lines shown regardless of matches; of a whole file only if nothing matches.
    pub signatures: Vec<Range<usize>>,
    pub is_file: bool,
    /// True for a file that wasn't named itself, of which nothing is shown where nothing matches.
    pub is_listed: bool,
}

impl ExcerptRange {
    pub fn of(found: &Resolved) -> Self {
        let lines = if found.bytes.is_empty() { 0..0 } else { found.lines() };
        let signature = match &found.symbol {
            Some(one) => found.source.signature(&one.symbol),
            None => lines.start..lines.end.min(lines.start + 1),
        };
        Self {
            path: found.path.clone(),
            lines,
            signatures: vec![signature],
            is_file: found.is_file,
            is_listed: false,
        }
    }
}

/// Returns places by file. Those that follow each other or overlap are one; `apart` keeps each by
/// itself.
pub(super) fn merged(places: Vec<ExcerptRange>, apart: bool) -> Vec<(PathBuf, Vec<ExcerptRange>)> {
    let mut files: Vec<(PathBuf, Vec<ExcerptRange>)> = Vec::new();
    for place in places {
        match files.iter_mut().find(|(path, _)| *path == place.path && !apart) {
            Some((_, all)) => all.push(place),
            None => files.push((place.path.clone(), vec![place])),
        }
    }
    for (_, all) in &mut files {
        all.sort_by_key(|place| (place.lines.start, place.lines.end));
        all.dedup_by(|next, last| {
            let follows = next.lines.start <= last.lines.end;
            if follows {
                last.lines.end = last.lines.end.max(next.lines.end);
                last.signatures.append(&mut next.signatures);
                last.is_file &= next.is_file;
                last.is_listed &= next.is_listed;
            }
            follows
        });
    }
    files
}

/// The options for excerpts of places.
#[derive(Debug)]
pub(crate) struct Excerpts {
    /// Leaves out the lines that it matches.
    pub not: Option<LineMatcher>,
    /// Leaves out what is far from a match: the regular expression as it was written, too.
    pub around: Option<(String, LineMatcher)>,
    /// False leaves out long documentation.
    pub docs: bool,
}

/// An excerpt of the places of a file.
#[derive(Debug, Default)]
pub(crate) struct Excerpt {
    /// The lines in order, counted from 0.
    pub lines: Vec<usize>,
    pub notes: Notes,
    /// The number of matching lines.
    pub matches: usize,
    /// The number of lines omitted because they match `not`.
    pub excluded: usize,
    /// True if only files are shown that weren't named themselves.
    pub of_listed: bool,
}

impl Excerpts {
    /// Returns what is shown of places of a file, which are in order and apart.
    pub fn of(&self, path: &Path, buffer: &Buffer, places: &[ExcerptRange]) -> Excerpt {
        let mut excerpt = Excerpt { of_listed: true, ..Excerpt::default() };
        let docs = if self.docs { Vec::new() } else { long_documentation(path, buffer) };
        for place in places {
            self.add(place, buffer, &docs, &mut excerpt);
            excerpt.of_listed &= place.is_listed;
        }
        excerpt
    }

    fn add(
        &self,
        place: &ExcerptRange,
        buffer: &Buffer,
        docs: &[Range<usize>],
        excerpt: &mut Excerpt,
    ) {
        let (mut lines, excluded) = lines_without(buffer, place.lines.clone(), self.not.as_ref());
        excerpt.excluded += excluded;
        let is_doc = |line: usize| docs.iter().any(|docs| docs.contains(&line));
        let Some((written, around)) = &self.around else {
            if !self.docs {
                lines.retain(|line| !is_doc(*line));
                for gap in gaps(&lines, &place.lines) {
                    for docs in docs.iter().map(|docs| overlap(docs, &gap)) {
                        if !docs.is_empty() {
                            let note = format!("… {} of documentation", count(docs.len(), "line"));
                            excerpt.notes.insert(docs.start, note);
                        }
                    }
                }
            }
            return excerpt.lines.extend(lines);
        };
        let text = |line: usize| buffer.slice(buffer.byte_range(&(line..line + 1)));
        let matching: Vec<usize> =
            lines.iter().copied().filter(|line| around.is_match(&text(*line))).collect();
        excerpt.matches += matching.len();
        if matching.is_empty() && place.is_listed {
            return;
        }
        let is_near = |line: usize| {
            let next = matching.partition_point(|found| found + AROUND_LINES < line);
            matching.get(next).is_some_and(|found| *found <= line + AROUND_LINES)
        };
        let signatures = place.signatures.iter().filter(|_| matching.is_empty() || !place.is_file);
        let in_signature = |line: usize| signatures.clone().any(|lines| lines.contains(&line));
        let shown: Vec<usize> =
            lines.iter().copied().filter(|line| is_near(*line) || in_signature(*line)).collect();
        // A line alone costs no more than to say that it is left out.
        let alone = gaps(&shown, &place.lines).into_iter().filter(|gap| gap.len() == 1);
        let alone: Vec<usize> = alone.map(|gap| gap.start).collect();
        lines.retain(|line| shown.contains(line) || alone.contains(line));
        let gaps = gaps(&lines, &place.lines);
        for gap in &gaps {
            excerpt.notes.insert(gap.start, format!("… {}", count(gap.len(), "line")));
        }
        if matching.is_empty() {
            let at = gaps.last().map_or(place.lines.end, |gap| gap.start);
            let all = count(place.lines.len(), "line");
            excerpt.notes.insert(at, format!("no match of '{}' in {all}", readable_line(written)));
        }
        excerpt.lines.extend(lines);
    }
}

/// Returns the parts of a range that lines, which are in order, don't have.
fn gaps(lines: &[usize], range: &Range<usize>) -> Vec<Range<usize>> {
    let starts = std::iter::once(range.start).chain(lines.iter().map(|line| line + 1));
    let ends = lines.iter().copied().chain([range.end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|gap| !gap.is_empty()).collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.max(other.start)..one.end.min(other.end)
}

/// Returns the lines of documentation that is longer than [`DOCS_SHOWN`].
fn long_documentation(path: &Path, buffer: &Buffer) -> Vec<Range<usize>> {
    let Some(language) = Language::of_path(path) else { return Vec::new() };
    let source = Source::parse(language, buffer.text());
    let docs = source.map(|source| source.documentation()).unwrap_or_default();
    docs.into_iter().filter(|lines| lines.len() > DOCS_SHOWN).collect()
}
