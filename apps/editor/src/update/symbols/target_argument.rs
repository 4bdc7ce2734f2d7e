//! Reads arguments for lines, before any file is read.

use docui::{Context, Fault, Line};

use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::update::resolve::{resolve_file_name, resolve_lines};

use super::target::{Target, numbered};

/// Reads an argument for lines: numbers, an anchor, a symbol, `body(symbol)`, or a file.
pub(crate) fn target(
    open_files: &OpenFiles,
    line: &Line,
    context: &Context,
) -> Result<Target, Fault> {
    let Line::Text(text) = line else { return lines_target(open_files, line, line, context) };
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::usage("expected lines ('10-20', 'a.rs:10-20') or a symbol ('foo')"));
    }
    if let Some((file, first, last)) = numbered(text) {
        let line = |number: i64| match file {
            Some(file) => Line::Text(format!("{file}:{number}")),
            None => Line::Number(number),
        };
        if file.is_none_or(|file| is_open(open_files, file, context)) {
            return lines_target(open_files, &line(first), &line(last), context);
        }
    }
    Ok(Target::Written { text: text.to_owned(), body: false })
}

/// Returns the lines that have these numbers now, in an open file.
pub(crate) fn present_lines(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Option<Target> {
    let place = |line: &Line| match line {
        Line::Number(number) => Some((None, *number, *number)),
        Line::Text(text) => {
            let (file, first, last) = numbered(text.trim())?;
            Some((file.map(str::to_owned), first, last))
        }
        Line::At(_) => None,
    };
    let ((file, first, _), (_, _, last)) = (place(first)?, place(last)?);
    let index = match file {
        Some(file) => resolve_file_name(open_files, &file).ok()?,
        None => seen_file_index(open_files, context).ok()?,
    };
    let count = open_files[index].buffer().line_count();
    let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?.min(count));
    let path = open_files[index].path().to_owned();
    (1..=last).contains(&first).then(|| Target::Lines { path, lines: first - 1..last })
}

pub(crate) fn lines_target(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<Target, Fault> {
    let found = resolve_lines(open_files, first, last, context)?;
    let path = open_files[found.file].path().to_owned();
    Ok(Target::Lines { path, lines: found.lines })
}

/// True if a name means an open file, by its path or the end of it.
pub(crate) fn is_open(open_files: &OpenFiles, name: &str, context: &Context) -> bool {
    let path = open_files.paths.caller_path(name, context);
    let tail = name.trim_start_matches("./");
    open_files.iter().any(|file| file.path() == path || file.path().ends_with(tail))
}
