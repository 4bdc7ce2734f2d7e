//! Which lines a caller means: numbers as the reader last saw them, anchors, and lines of other files.

use std::ops::Range;
use std::path::Path;

use docui::{Context, Fault, Line};

use crate::display::wording::count;
use crate::model::Editor;
use crate::model::current_file_log::SeenFile;
use crate::model::editor::SeenPart;
use crate::model::line_change::Unmapped;
use crate::model::open_file::OpenFile;

/// Lines of an open file as they are numbered now, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResolvedLines {
    /// The index of the file.
    pub file: usize,
    /// The lines; empty for a position between lines.
    pub lines: Range<usize>,
}

/// One end of a range, before it is resolved.
enum LinePosition {
    /// A number as the reader last saw it. `file_known` is false if it isn't known in which file they saw
    /// it.
    Seen { number: i64, file_known: bool },
    /// Lines as they are numbered now.
    Current(Range<usize>),
}

impl Editor {
    /// Returns the lines from `first` to `last`.
    pub(super) fn resolve_lines(
        &self,
        first: &Line,
        last: &Line,
        context: &Context,
    ) -> Result<ResolvedLines, Fault> {
        let (file, from) = self.parse_position("first", first, None, context)?;
        let (other, to) = self.parse_position("last", last, Some(file), context)?;
        if file != other {
            let (file, other) = (self.display_name(file), self.display_name(other));
            return Err(Fault::usage(format!("first is in {file}, but last is in {other}"))
                .hint("name lines of one file"));
        }
        let lines = match (from, to) {
            (
                LinePosition::Seen { number: from, file_known: from_known },
                LinePosition::Seen { number: to, file_known: to_known },
            ) => {
                if from > to {
                    return Err(Fault::usage(format!(
                        "first is {from}, after last, which is {to}"
                    ))
                    .hint(format!("did you mean first={to}, last={from}?")));
                }
                self.check_number("first", from, file, 0, context)?;
                self.check_number("last", to, file, 0, context)?;
                let seen = from as usize - 1..to as usize;
                self.current_lines(file, seen, from_known && to_known, context)?
            }
            (from, to) => {
                let from = self.resolve_position("first", from, file, context)?;
                let to = self.resolve_position("last", to, file, context)?;
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

    /// Returns the position before a line. The number after the last one means the end of the file. Numbers
    /// without a file name are about `default_file`, if it is given.
    pub(super) fn resolve_insertion_point(
        &self,
        name: &str,
        at: &Line,
        default_file: Option<usize>,
        context: &Context,
    ) -> Result<ResolvedLines, Fault> {
        let (file, position) = self.parse_position(name, at, default_file, context)?;
        if let LinePosition::Seen { number, file_known } = position {
            self.check_number(name, number, file, 1, context)?;
            let seen = self.seen_line_count(file, number, context).filter(|_| file_known);
            if seen.is_some_and(|seen| number as usize == seen + 1) {
                let end = self.files[file].buffer().line_count();
                return Ok(ResolvedLines { file, lines: end..end });
            }
        }
        let start = self.resolve_position(name, position, file, context)?.start;
        Ok(ResolvedLines { file, lines: start..start })
    }

    /// Returns the line to scroll to. Changes since the reader saw it don't matter.
    pub(super) fn resolve_goto_target(
        &self,
        line: &Line,
        context: &Context,
    ) -> Result<ResolvedLines, Fault> {
        let (file, position) = self.parse_position("line", line, None, context)?;
        let lines = match position {
            LinePosition::Current(lines) => lines,
            LinePosition::Seen { number, .. } => {
                self.check_number("line", number, file, 0, context)?;
                let log = self.files[file].line_log();
                let line = number as usize - 1;
                let baseline = self.baseline_at(file, line, context);
                let now = baseline.map_or(line, |baseline| log.nearest_line(line, baseline));
                now..now + 1
            }
        };
        let last = self.files[file].buffer().line_count().saturating_sub(1);
        Ok(ResolvedLines { file, lines: lines.start.min(last)..lines.end })
    }

    /// Returns the open file that is displayed with a name, or whose path ends with it.
    pub(super) fn resolve_file_name(&self, name: &str) -> Result<usize, Fault> {
        let exact = |file: &OpenFile| {
            self.display_path(file.path()) == name || file.path() == Path::new(name)
        };
        let mut found = self.files_where(exact);
        if found.is_empty() {
            let tail = Path::new(name.trim_start_matches("./"));
            found = self.files_where(|file| file.path().ends_with(tail));
        }
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let all: Vec<usize> = (0..self.files.len()).collect();
                let open = if all.is_empty() { "none".into() } else { self.display_names(&all) };
                Err(Fault::not_found(format!("no open file is called {name}; open: {open}"))
                    .hint(self.run_command(&format!("open({name:?})"))))
            }
            several => {
                let candidates = self.display_names(several);
                Err(Fault::usage(format!("{name} is ambiguous: {candidates}"))
                    .hint("write more of the path"))
            }
        }
    }

    fn files_where(&self, condition: impl Fn(&OpenFile) -> bool) -> Vec<usize> {
        (0..self.files.len()).filter(|index| condition(&self.files[*index])).collect()
    }

    fn display_names(&self, files: &[usize]) -> String {
        files.iter().map(|index| self.display_name(*index)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the file and the position that an argument called `name` means.
    fn parse_position(
        &self,
        name: &str,
        line: &Line,
        default_file: Option<usize>,
        context: &Context,
    ) -> Result<(usize, LinePosition), Fault> {
        let default = || default_file.map_or_else(|| self.seen_file_index(context), Ok);
        let file_known = !matches!(self.seen_file(context), SeenFile::Unknown);
        match line {
            Line::Number(number) => {
                Ok((default()?, LinePosition::Seen { number: *number, file_known }))
            }
            Line::At(anchor) => self.resolve_anchor(&anchor.key),
            Line::Text(text) => {
                let numbers = text.rsplit_once(':').map_or(text.as_str(), |(_, number)| number);
                if numbers.trim().parse::<i64>().is_err()
                    && let Some((file, bytes)) = self.symbol_in_open_files(text.trim(), context)?
                {
                    let lines = self.files[file].buffer().lines_of(&bytes);
                    return Ok((file, LinePosition::Current(lines)));
                }
                let (file, number, file_known) = match text.rsplit_once(':') {
                    Some((file, number)) => (self.resolve_file_name(file), number, true),
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

    fn resolve_anchor(&self, key: &str) -> Result<(usize, LinePosition), Fault> {
        if let Some(index) = self.file_index_by_key(key) {
            let all = 0..self.files[index].buffer().line_count();
            return Ok((index, LinePosition::Current(all)));
        }
        let (index, range) = self
            .existing_range(key)
            .ok_or_else(|| Fault::not_found("no such selection, match or file").about(key))?;
        let lines = self.files[index].buffer().lines_of(&range.bytes);
        Ok((index, LinePosition::Current(lines)))
    }

    fn resolve_position(
        &self,
        name: &str,
        position: LinePosition,
        file: usize,
        context: &Context,
    ) -> Result<Range<usize>, Fault> {
        match position {
            LinePosition::Current(lines) => Ok(lines),
            LinePosition::Seen { number, file_known } => {
                self.check_number(name, number, file, 1, context)?;
                self.current_lines(file, number as usize - 1..number as usize, file_known, context)
            }
        }
    }

    /// Returns how many lines the file had in the version in which the reader saw a number, if that is known.
    fn seen_line_count(&self, file: usize, number: i64, context: &Context) -> Option<usize> {
        let line = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let baseline = self.baseline_at(file, line.unwrap_or(0), context)?;
        let file = &self.files[file];
        let growth = file.line_log().growth_since(baseline)?;
        Some(file.buffer().line_count().saturating_add_signed(-growth))
    }

    /// Checks that a number is one of the lines that the reader saw, or at most `beyond` past the last one.
    fn check_number(
        &self,
        name: &str,
        number: i64,
        file: usize,
        beyond: usize,
        context: &Context,
    ) -> Result<(), Fault> {
        // If the reader's version isn't known, the number is stale rather than wrong, which is reported
        // later.
        let lines = self.seen_line_count(file, number, context);
        if lines.is_none() && number >= 1 {
            return Ok(());
        }
        let lines = lines.unwrap_or_else(|| self.files[file].buffer().line_count());
        if number >= 1 && usize::try_from(number).is_ok_and(|number| number <= lines + beyond) {
            return Ok(());
        }
        let shown = self.display_name(file);
        let expected = match lines + beyond {
            0 => "it is empty: insert(1, '…')".to_owned(),
            most => format!("expected 1-{most}"),
        };
        let lines = count(lines, "line");
        Err(Fault::usage(format!("{name}: {shown} has {lines}, not {number}")).hint(expected))
    }

    /// Returns where the lines that the reader saw are now.
    fn current_lines(
        &self,
        index: usize,
        seen: Range<usize>,
        file_known: bool,
        context: &Context,
    ) -> Result<Range<usize>, Fault> {
        let log = self.files[index].line_log();
        let mut mapped: Option<Range<usize>> = None;
        let parts = self.baselines(index, seen.clone(), context);
        for SeenPart { lines, baseline, .. } in &parts {
            let part = match *baseline {
                Some(baseline) if file_known => log.map_range(lines.clone(), baseline),
                Some(_) => Err(Unmapped::UnknownVersion),
                None => Err(Unmapped::Retired),
            };
            let restarted = baseline.is_some_and(|baseline| baseline.from_earlier_process);
            let part = part.map_err(|why| match why {
                Unmapped::ChangedByOther(changed) => {
                    self.changed_by_other(index, &seen, &parts, changed, context)
                }
                why => self.unmapped(index, &seen, why, restarted, context),
            })?;
            mapped = match mapped {
                None => Some(part),
                Some(before) if before.end != part.start => {
                    return Err(self.torn_apart(index, &seen, &parts, context));
                }
                Some(before) => Some(before.start..part.end),
            };
        }
        mapped.ok_or_else(|| self.unmapped(index, &seen, Unmapped::UnknownVersion, false, context))
    }
}
