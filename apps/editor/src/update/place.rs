//! Which lines an argument means: numbers as last seen, anchors, and other files' lines.

use std::ops::Range;
use std::path::Path;

use docui::{Context, Fault, Line};

use crate::limits::EXCERPT_LINES;
use crate::model::Editor;
use crate::model::file::File;
use crate::model::linemap::Lost;
use crate::view::visible;

use super::{count, numbers};

/// Lines of a file, as they are now; counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// Which of the open files.
    pub file: usize,
    /// The lines; none for a place between lines.
    pub lines: Range<usize>,
}

enum Point {
    /// A number as last seen. `known` is false when it can't be told in which file.
    Seen { number: i64, known: bool },
    /// Lines as they are now.
    Now(Range<usize>),
}

impl Editor {
    /// The lines from `first` to `last`.
    pub(crate) fn span(&self, first: &Line, last: &Line, context: &Context) -> Result<Span, Fault> {
        let (file, from) = self.point("first", first, None, context)?;
        let (other, to) = self.point("last", last, Some(file), context)?;
        if file != other {
            let names = [file, other].map(|file| self.shown(self.files[file].path()));
            return Err(Fault::usage(format!("first is in {}, last in {}", names[0], names[1]))
                .hint("name lines of one file"));
        }
        let lines = match (from, to) {
            (
                Point::Seen { number: from, known: one },
                Point::Seen { number: to, known: other },
            ) => {
                if from > to {
                    return Err(Fault::usage(format!("first is {from}, after last, {to}"))
                        .hint(format!("did you mean first={to}, last={from}?")));
                }
                self.check_number("first", from, file, 0, context)?;
                self.check_number("last", to, file, 0, context)?;
                self.now(file, from as usize - 1..to as usize, one && other, context)?
            }
            (from, to) => {
                let from = self.settle("first", from, file, context)?;
                let to = self.settle("last", to, file, context)?;
                if from.start >= to.end {
                    let (from, to) = (from.start + 1, to.end);
                    return Err(Fault::usage(format!(
                        "first is line {from}, after last, line {to}"
                    )));
                }
                from.start..to.end
            }
        };
        Ok(Span { file, lines })
    }

    /// The place before a line; the number after the last one is the end. Bare numbers are about
    /// `within`, when there is one.
    pub(crate) fn gap(
        &self,
        name: &str,
        at: &Line,
        within: Option<usize>,
        context: &Context,
    ) -> Result<Span, Fault> {
        let (file, point) = self.point(name, at, within, context)?;
        if let Point::Seen { number, known } = point {
            self.check_number(name, number, file, 1, context)?;
            let seen = self.seen_lines(file, context).filter(|_| known);
            if seen.is_some_and(|seen| number as usize == seen + 1) {
                let end = self.files[file].buffer().lines();
                return Ok(Span { file, lines: end..end });
            }
        }
        let start = self.settle(name, point, file, context)?.start;
        Ok(Span { file, lines: start..start })
    }

    /// A line to go to: what changed since it was seen doesn't matter.
    pub(crate) fn target(&self, line: &Line, context: &Context) -> Result<Span, Fault> {
        let (file, point) = self.point("line", line, None, context)?;
        let lines = match point {
            Point::Now(lines) => lines,
            Point::Seen { number, .. } => {
                self.check_number("line", number, file, 0, context)?;
                let now = self.files[file].log().drift(number as usize - 1, self.seen(context));
                now..now + 1
            }
        };
        let last = self.files[file].buffer().lines().saturating_sub(1);
        Ok(Span { file, lines: lines.start.min(last)..lines.end })
    }

    /// The open file whose path ends with a name.
    pub(crate) fn named(&self, name: &str) -> Result<usize, Fault> {
        let fits = |file: &&File| {
            let shown = self.shown(file.path());
            shown == name || file.path() == Path::new(name)
        };
        let mut found: Vec<usize> = self.positions(fits);
        if found.is_empty() {
            let tail = Path::new(name.trim_start_matches("./"));
            found = self.positions(|file| file.path().ends_with(tail));
        }
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let open = self.open_names(0..self.files.len());
                Err(Fault::not_found(format!("no open file is called {name}; open: {open}"))
                    .hint(self.command(&format!("open({name:?})"))))
            }
            several => Err(Fault::usage(format!(
                "{name} may be {}",
                self.open_names(several.iter().copied())
            ))
            .hint("write more of the path")),
        }
    }

    /// The lines around a place, as they are now.
    pub(crate) fn excerpt(&self, file: usize, around: &Range<usize>) -> String {
        let file = &self.files[file];
        let start = around.start.saturating_sub(2);
        let end = (around.end + 2).min(start + EXCERPT_LINES).min(file.buffer().lines());
        let line = |line: usize| format!("{}\t{}", line + 1, visible(file, line));
        (start..end).map(line).collect::<Vec<_>>().join("\n")
    }

    fn positions(&self, fits: impl Fn(&&File) -> bool) -> Vec<usize> {
        (0..self.files.len()).filter(|index| fits(&&self.files[*index])).collect()
    }

    fn open_names(&self, files: impl Iterator<Item = usize>) -> String {
        let names: Vec<_> = files.map(|index| self.shown(self.files[index].path())).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }

    fn point(
        &self,
        name: &str,
        line: &Line,
        within: Option<usize>,
        context: &Context,
    ) -> Result<(usize, Point), Fault> {
        let here = || within.map_or_else(|| self.seen_current(context), Ok);
        let known = self.seen_path(context).is_some();
        match line {
            Line::Number(number) => Ok((here()?, Point::Seen { number: *number, known })),
            Line::At(anchor) => self.anchored(&anchor.key),
            Line::Text(text) => {
                let (file, number, known) = match text.rsplit_once(':') {
                    Some((file, number)) => (self.named(file), number, true),
                    None => (here(), text.as_str(), known),
                };
                let number = number.trim().parse().map_err(|_| {
                    Fault::usage(format!(
                        "{name}: expected a line number, 'file.rs:20' or an anchor"
                    ))
                })?;
                Ok((file?, Point::Seen { number, known }))
            }
        }
    }

    fn anchored(&self, key: &str) -> Result<(usize, Point), Fault> {
        if let Some(index) = self.files.iter().position(|file| file.key() == key) {
            return Ok((index, Point::Now(0..self.files[index].buffer().lines())));
        }
        for (index, file) in self.files.iter().enumerate() {
            if let Some(mark) = file.marks.get(key).filter(|mark| mark.gone.is_none()) {
                let first = file.buffer().line_at(mark.bytes.start);
                let last = file.buffer().line_at(mark.bytes.end.saturating_sub(1));
                return Ok((index, Point::Now(first..last.max(first) + 1)));
            }
        }
        Err(Fault::not_found("gone").about(key))
    }

    fn settle(
        &self,
        name: &str,
        point: Point,
        file: usize,
        context: &Context,
    ) -> Result<Range<usize>, Fault> {
        match point {
            Point::Now(lines) => Ok(lines),
            Point::Seen { number, known } => {
                self.check_number(name, number, file, 1, context)?;
                self.now(file, number as usize - 1..number as usize, known, context)
            }
        }
    }

    /// How many lines the file had in the version that was seen, if that is known.
    fn seen_lines(&self, file: usize, context: &Context) -> Option<usize> {
        let file = &self.files[file];
        let growth = file.log().growth(self.seen(context))?;
        Some(file.buffer().lines().saturating_add_signed(-growth))
    }

    fn check_number(
        &self,
        name: &str,
        number: i64,
        file: usize,
        beyond: usize,
        context: &Context,
    ) -> Result<(), Fault> {
        // A number of lines that aren't known is no mistake: it is stale, which is found later.
        let lines = self.seen_lines(file, context);
        if lines.is_none() && number >= 1 {
            return Ok(());
        }
        let lines = lines.unwrap_or_else(|| self.files[file].buffer().lines());
        if number >= 1 && usize::try_from(number).is_ok_and(|number| number <= lines + beyond) {
            return Ok(());
        }
        let shown = self.shown(self.files[file].path());
        let expected = match lines + beyond {
            0 => "it is empty: insert(1, '…')".to_owned(),
            most => format!("expected 1-{most}"),
        };
        let lines = count(lines, "line");
        Err(Fault::usage(format!("{name}: {shown} has {lines}, not {number}")).hint(expected))
    }

    /// Where lines are now that were seen.
    fn now(
        &self,
        index: usize,
        seen: Range<usize>,
        known: bool,
        context: &Context,
    ) -> Result<Range<usize>, Fault> {
        let file = &self.files[index];
        let place = format!("{} of {}", numbers(&seen), self.shown(file.path()));
        let stale = |why: &str, around: Range<usize>| {
            let around = around.start.min(file.buffer().lines())..around.end;
            let lines = self.excerpt(index, &around);
            Fault::stale(format!("{place} {why}; now:\n{lines}"))
                .hint("nothing was changed: call again with the numbers as they are now")
        };
        let found = match known {
            true => file.log().map(seen.clone(), self.seen(context)),
            false => Err(Lost::Unknown),
        };
        found.map_err(|lost| match lost {
            Lost::Unknown if context.seen_lost => {
                stale("can't be told: the editor was restarted since you saw it", seen.clone())
            }
            Lost::Unknown => {
                stale("can't be told: the file changed since you saw it", seen.clone())
            }
            Lost::Changed(now) => stale("changed since you saw it", now),
            Lost::Replaced(now) => {
                let now = numbers(&now);
                Fault::failed(format!(
                    "{place}: an earlier step of this run replaced it, now {now}"
                ))
                .hint("replace all of it, or do it in a run of its own")
            }
            Lost::Deleted => {
                Fault::failed(format!("{place}: an earlier step of this run deleted it"))
                    .hint("numbers are the ones you saw before the run: name a line that is left")
            }
            Lost::Apart => Fault::failed(format!(
                "{place}: an earlier step of this run moved lines out of it or into it"
            ))
            .hint("do it in a run of its own"),
        })
    }
}
