//! The lines around an edit, which its outcome shows so that the reader needn't look again.

use std::ops::Range;
use std::path::{Path, PathBuf};

use docui::{Context, Done, View};

use crate::display::lines::visible_line;
use crate::display::wording::shown_lines;
use crate::model::open_file::OpenFile;
use crate::model::open_files::OpenFiles;

/// Maximum number of empty lines that a seam shows.
const EMPTY_LINES_MAX: usize = 3;
/// The largest block that is shown whole, in lines.
const SHORT_BLOCK: usize = 4;

/// A place in a file that an outcome shows, as byte offsets after the change.
#[derive(Debug, Clone)]
pub(crate) enum EditedPlace {
    /// Both ends of lines that were put somewhere, with the lines next to them.
    Block(PathBuf, Range<usize>),
    /// The lines around a gap.
    Gap(PathBuf, usize),
}

/// Adds seams to an outcome, in this order, below the lines that were replaced.
pub(crate) fn with_surroundings(
    open_files: &OpenFiles,
    done: Done,
    replaced: &str,
    edited_places: &[EditedPlace],
    context: &Context,
) -> Done {
    let mut text = replaced.to_owned();
    let mut numbers = Vec::new();
    // What is shown already, in order: the file, and its lines.
    let mut shown: Vec<(&Path, Range<usize>)> = Vec::new();
    for edited_place in edited_places {
        let (EditedPlace::Block(path, _) | EditedPlace::Gap(path, _)) = edited_place;
        let Some(index) = open_files.index(path) else { continue };
        let file = &open_files[index];
        let new = ranges(file, edited_place).into_iter();
        let new: Vec<_> = new.flat_map(|lines| without(lines, path, &shown)).collect();
        for lines in new {
            match shown.last() {
                Some((before, _)) if before != path => {
                    text += &format!("{}:\n", open_files.paths.display_path(path));
                }
                Some((_, before)) if before.end != lines.start => text += "…\n",
                _ => {}
            }
            for line in lines.clone() {
                text += &format!("{}\t{}\n", line + 1, visible_line(file, line));
            }
            numbers.push(shown_lines(file, &lines, context.next_version()));
            shown.push((path, lines));
        }
    }
    if text.is_empty() {
        return done.complete();
    }
    let mut view = View::new("");
    view.code("", text);
    done.content(view).shows(numbers).complete()
}

/// Returns the parts of lines that aren't shown yet.
fn without(lines: Range<usize>, path: &Path, shown: &[(&Path, Range<usize>)]) -> Vec<Range<usize>> {
    let mut parts = vec![lines];
    for (_, there) in shown.iter().filter(|(of, _)| *of == path) {
        let cut = |part: Range<usize>| {
            let (above, below) =
                (part.start..there.start.min(part.end), there.end.max(part.start)..part.end);
            [above, below]
        };
        parts = parts.into_iter().flat_map(cut).filter(|part| !part.is_empty()).collect();
    }
    parts
}

/// Returns the lines that a seam shows.
fn ranges(file: &OpenFile, edited_place: &EditedPlace) -> Vec<Range<usize>> {
    let count = file.buffer().line_count();
    let is_empty = |line: usize| file.buffer().line_head(line, 200).0.trim().is_empty();
    // The nearest line with something on it, above and below.
    let above = |line: usize| {
        let mut at = line;
        while at > 0 && line - at <= EMPTY_LINES_MAX {
            at -= 1;
            if !is_empty(at) {
                break;
            }
        }
        at
    };
    let below = |line: usize| {
        let mut at = line;
        while at < count && at - line <= EMPTY_LINES_MAX {
            at += 1;
            if !is_empty(at - 1) {
                break;
            }
        }
        at
    };
    match edited_place {
        EditedPlace::Gap(_, at) => {
            let line = match *at >= file.buffer().len() {
                true => count,
                false => file.buffer().line_at(*at),
            };
            let lines = above(line)..below(line);
            if lines.is_empty() { Vec::new() } else { Vec::from([lines]) }
        }
        EditedPlace::Block(_, bytes) => {
            let lines = file.buffer().lines_of(bytes);
            let lines = lines.start..lines.end.min(count);
            let (start, end) = (above(lines.start), below(lines.end));
            match lines.len() <= SHORT_BLOCK {
                true => {
                    let whole = start..end;
                    vec![whole]
                }
                false => vec![start..lines.start + 1, lines.end - 1..end],
            }
        }
    }
}
