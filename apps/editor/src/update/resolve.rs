//! Resolves the lines that a caller means: numbers as the reader last saw them, anchors, and lines
//! of other files.

use std::ops::Range;
use std::path::Path;

use docui::{Context, Fault, Line};

use crate::display::wording::count;
use crate::model::current_file_log::SeenFile;
use crate::model::line_change::Unmapped;
use crate::model::open_file::OpenFile;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::SeenPart;
use crate::model::seen_numbers::{baseline_at, baselines, seen_file, seen_file_index};
use crate::update::stale_lines::{changed_by_other, torn_apart, unmapped};
use crate::update::symbols::open_symbol::symbol_in_open_files;

/// Lines of an open file as they are numbered now, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedLines {
    pub file: usize,
    /// The lines; empty for a position between lines.
    pub lines: Range<usize>,
}

/// One end of an unresolved range.
enum LinePosition {
    /// A number as the reader last saw it. `file_known` is false if it isn't known in which file
    /// they saw it.
    Seen { number: i64, file_known: bool },
    /// Lines as they are numbered now.
    Current(Range<usize>),
}

/// Returns the lines from `first` to `last`.
pub(crate) fn resolve_lines(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<ResolvedLines, Fault> {
    let (file, from) = parse_position(open_files, "first", first, None, context)?;
    let (other, to) = parse_position(open_files, "last", last, Some(file), context)?;
    if file != other {
        let (file, other) = (open_files.display_name(file), open_files.display_name(other));
        return Err(Fault::usage(format!("first is in {file}, but last is in {other}"))
            .hint("name lines of one file"));
    }
    let lines = match (from, to) {
        (
            LinePosition::Seen { number: from, file_known: from_known },
            LinePosition::Seen { number: to, file_known: to_known },
        ) => {
            if from > to {
                return Err(Fault::usage(format!("first is {from}, after last, which is {to}"))
                    .hint(format!("did you mean first={to}, last={from}?")));
            }
            check_number(open_files, "first", from, file, 0, context)?;
            check_number(open_files, "last", to, file, 0, context)?;
            let seen = from as usize - 1..to as usize;
            current_lines(open_files, file, seen, from_known && to_known, context)?
        }
        (from, to) => {
            let from = resolve_position(open_files, "first", from, file, context)?;
            let to = resolve_position(open_files, "last", to, file, context)?;
            if from.start >= to.end {
                let (from, to) = (from.start + 1, to.end);
                let message = format!("first is line {from}, after last, which is line {to}");
                return Err(Fault::usage(message));
            }
            from.start..to.end
        }
    };
    Ok(ResolvedLines { file, lines })
}

/// Returns the position before a line. The number after the last one means the end of the file.
/// Numbers without a file name are about `default_file`, if it is given.
pub(crate) fn resolve_insertion_point(
    open_files: &OpenFiles,
    name: &str,
    at: &Line,
    default_file: Option<usize>,
    context: &Context,
) -> Result<ResolvedLines, Fault> {
    let (file, position) = parse_position(open_files, name, at, default_file, context)?;
    if let LinePosition::Seen { number, file_known } = position {
        check_number(open_files, name, number, file, 1, context)?;
        let seen = seen_line_count(open_files, file, number, context).filter(|_| file_known);
        if seen.is_some_and(|seen| number as usize == seen + 1) {
            let end = open_files[file].buffer().line_count();
            return Ok(ResolvedLines { file, lines: end..end });
        }
    }
    let start = resolve_position(open_files, name, position, file, context)?.start;
    Ok(ResolvedLines { file, lines: start..start })
}

/// Returns the line to scroll to. Changes since the reader saw it don't matter.
pub(crate) fn resolve_goto_target(
    open_files: &OpenFiles,
    line: &Line,
    context: &Context,
) -> Result<ResolvedLines, Fault> {
    let (file, position) = parse_position(open_files, "line", line, None, context)?;
    let lines = match position {
        LinePosition::Current(lines) => lines,
        LinePosition::Seen { number, .. } => {
            check_number(open_files, "line", number, file, 0, context)?;
            let log = open_files[file].line_log();
            let line = number as usize - 1;
            let baseline = baseline_at(open_files, file, line, context);
            let now = baseline.map_or(line, |baseline| log.nearest_line(line, baseline));
            now..now + 1
        }
    };
    let last = open_files[file].buffer().line_count().saturating_sub(1);
    Ok(ResolvedLines { file, lines: lines.start.min(last)..lines.end })
}

/// Returns the open file that is displayed with a name, or whose path ends with it.
pub(crate) fn resolve_file_name(open_files: &OpenFiles, name: &str) -> Result<usize, Fault> {
    let exact = |file: &OpenFile| {
        open_files.paths.display_path(file.path()) == name || file.path() == Path::new(name)
    };
    let mut found = files_where(open_files, exact);
    if found.is_empty() {
        let tail = Path::new(name.trim_start_matches("./"));
        found = files_where(open_files, |file| file.path().ends_with(tail));
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let all: Vec<usize> = (0..open_files.len()).collect();
            let open = if all.is_empty() { "none".into() } else { display_names(open_files, &all) };
            Err(Fault::not_found(format!("no open file is called {name}; open: {open}"))
                .hint(open_files.paths.run_command(&format!("open({name:?})"))))
        }
        several => {
            let candidates = display_names(open_files, several);
            Err(Fault::usage(format!("{name} is ambiguous: {candidates}"))
                .hint("write more of the path"))
        }
    }
}

fn files_where(open_files: &OpenFiles, condition: impl Fn(&OpenFile) -> bool) -> Vec<usize> {
    (0..open_files.len()).filter(|index| condition(&open_files[*index])).collect()
}

fn display_names(open_files: &OpenFiles, files: &[usize]) -> String {
    files.iter().map(|index| open_files.display_name(*index)).collect::<Vec<_>>().join(", ")
}

/// Returns the file and the position that an argument called `name` means.
fn parse_position(
    open_files: &OpenFiles,
    name: &str,
    line: &Line,
    default_file: Option<usize>,
    context: &Context,
) -> Result<(usize, LinePosition), Fault> {
    let default = || default_file.map_or_else(|| seen_file_index(open_files, context), Ok);
    let file_known = !matches!(seen_file(open_files, context), SeenFile::Unknown);
    match line {
        Line::Number(number) => {
            Ok((default()?, LinePosition::Seen { number: *number, file_known }))
        }
        Line::At(anchor) => resolve_anchor(open_files, &anchor.key),
        Line::Text(text) => {
            let numbers = text.rsplit_once(':').map_or(text.as_str(), |(_, number)| number);
            if numbers.trim().parse::<i64>().is_err()
                && let Some((file, bytes)) = symbol_in_open_files(open_files, text.trim(), context)?
            {
                let lines = open_files[file].buffer().lines_of(&bytes);
                return Ok((file, LinePosition::Current(lines)));
            }
            let (file, number, file_known) = match text.rsplit_once(':') {
                Some((file, number)) => (resolve_file_name(open_files, file), number, true),
                None => (default(), text.as_str(), file_known),
            };
            let number = number.trim().parse().map_err(|_| {
                Fault::usage(format!(
                    "{name}: expected a line number, 'file.rs:20', a symbol or an anchor"
                ))
            })?;
            Ok((file?, LinePosition::Seen { number, file_known }))
        }
    }
}

fn resolve_anchor(open_files: &OpenFiles, key: &str) -> Result<(usize, LinePosition), Fault> {
    if let Some(index) = open_files.index_by_key(key) {
        let all = 0..open_files[index].buffer().line_count();
        return Ok((index, LinePosition::Current(all)));
    }
    let (index, range) = open_files
        .existing_range(key)
        .ok_or_else(|| Fault::not_found("no such selection, match or file").about(key))?;
    let lines = open_files[index].buffer().lines_of(&range.bytes);
    Ok((index, LinePosition::Current(lines)))
}

fn resolve_position(
    open_files: &OpenFiles,
    name: &str,
    position: LinePosition,
    file: usize,
    context: &Context,
) -> Result<Range<usize>, Fault> {
    match position {
        LinePosition::Current(lines) => Ok(lines),
        LinePosition::Seen { number, file_known } => {
            check_number(open_files, name, number, file, 1, context)?;
            current_lines(
                open_files,
                file,
                number as usize - 1..number as usize,
                file_known,
                context,
            )
        }
    }
}

/// Returns how many lines the file had in the version in which the reader saw a number, if that is
/// known.
fn seen_line_count(
    open_files: &OpenFiles,
    file: usize,
    number: i64,
    context: &Context,
) -> Option<usize> {
    let line = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let baseline = baseline_at(open_files, file, line.unwrap_or(0), context)?;
    let file = &open_files[file];
    let growth = file.line_log().growth_since(baseline)?;
    Some(file.buffer().line_count().saturating_add_signed(-growth))
}

/// Checks that a number is one of the lines that the reader saw, or at most `beyond` past the last
/// one.
fn check_number(
    open_files: &OpenFiles,
    name: &str,
    number: i64,
    file: usize,
    beyond: usize,
    context: &Context,
) -> Result<(), Fault> {
    // If the reader's version isn't known, the number is stale rather than wrong, which is reported
    // later.
    let lines = seen_line_count(open_files, file, number, context);
    if lines.is_none() && number >= 1 {
        return Ok(());
    }
    let lines = lines.unwrap_or_else(|| open_files[file].buffer().line_count());
    if number >= 1 && usize::try_from(number).is_ok_and(|number| number <= lines + beyond) {
        return Ok(());
    }
    let shown = open_files.display_name(file);
    let expected = match lines + beyond {
        0 => "it is empty: insert(1, '…')".to_owned(),
        most => format!("expected 1-{most}"),
    };
    let lines = count(lines, "line");
    Err(Fault::usage(format!("{name}: {shown} has {lines}, not {number}")).hint(expected))
}

/// Returns where the lines that the reader saw are now.
fn current_lines(
    open_files: &OpenFiles,
    index: usize,
    seen: Range<usize>,
    file_known: bool,
    context: &Context,
) -> Result<Range<usize>, Fault> {
    let log = open_files[index].line_log();
    let mut mapped: Option<Range<usize>> = None;
    let parts = baselines(open_files, index, seen.clone(), context);
    for SeenPart { lines, baseline, .. } in &parts {
        let part = match *baseline {
            Some(baseline) if file_known => log.map_range(lines.clone(), baseline),
            Some(_) => Err(Unmapped::UnknownVersion),
            None => Err(Unmapped::Retired),
        };
        let restarted = baseline.is_some_and(|baseline| baseline.from_earlier_process);
        let part = part.map_err(|why| match why {
            Unmapped::ChangedByOther(changed) => {
                changed_by_other(open_files, index, &seen, &parts, changed, context)
            }
            why => unmapped(open_files, index, &seen, why, restarted, context),
        })?;
        mapped = match mapped {
            None => Some(part),
            Some(before) if before.end != part.start => {
                return Err(torn_apart(open_files, index, &seen, &parts, context));
            }
            Some(before) => Some(before.start..part.end),
        };
    }
    mapped
        .ok_or_else(|| unmapped(open_files, index, &seen, Unmapped::UnknownVersion, false, context))
}
