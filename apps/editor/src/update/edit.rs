//! Changing lines.

use std::ops::Range;

use docui::{Context, Done, Fault, Line, Reply, Text};

use crate::action::Action;
use crate::model::Editor;
use crate::model::buffer::{Buffer, Splice};
use crate::model::changes::trimmed;
use crate::model::linemap::{LineChange, LineMove, LineSplice};

use super::place::Span;
use super::{author, count, numbers};

impl Editor {
    pub(super) fn insert(
        &mut self,
        at: &Line,
        text: &Text,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let span = self.gap("at", at, None, context)?;
        let buffer = self.files[span.file].buffer();
        refuse_gutter(text, at, buffer, &span.lines)?;
        let new = lines_of(text, buffer);
        let inserted = new.matches('\n').count();
        let splice = put(buffer, span.lines.start, new);
        let start = span.lines.start;
        let change = LineSplice { start, removed: 0, inserted };
        self.edit(&span, "insert", vec![splice], LineChange::Splices(vec![change]), context)?;
        let now = numbers(&(start..start + inserted));
        Ok(self.edited(
            &span,
            format!("{}{}, now {now}", count(inserted, "line"), from(text)),
            context,
        ))
    }

    pub(super) fn replace_lines(
        &mut self,
        first: &Line,
        last: &Line,
        text: &Text,
        context: &Context,
    ) -> Result<Reply, Fault> {
        if text.text.is_empty() {
            return self.delete_lines(first, last, context);
        }
        let span = self.span(first, last, context)?;
        let buffer = self.files[span.file].buffer();
        refuse_gutter(text, first, buffer, &span.lines)?;
        let old = buffer.text_of(&span.lines);
        let mut new = lines_of(text, buffer);
        let inserted = new.matches('\n').count();
        // A last line without its newline is followed by one without.
        if !old.ends_with('\n') {
            new = open_ended(new);
        }
        let start = span.lines.start;
        let lines = trimmed(start, &old, &new).into_iter().collect();
        let at = buffer.start(start);
        let removed = span.lines.len();
        if old == new {
            return Ok(
                Done::new(format!("no change: {} are so already", numbers(&span.lines))).into()
            );
        }
        let splices = vec![Splice { at, old, new }];
        self.edit(&span, "replace_lines", splices, LineChange::Splices(lines), context)?;
        let now = numbers(&(start..start + inserted));
        let brief = match removed == inserted {
            true => format!("{}{}", now, from(text)),
            false => format!("{} by {inserted}{}, now {now}", count(removed, "line"), from(text)),
        };
        Ok(self.edited(&span, brief, context))
    }

    pub(super) fn delete_lines(
        &mut self,
        first: &Line,
        last: &Line,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let span = self.span(first, last, context)?;
        let buffer = self.files[span.file].buffer();
        let (at, old) = (buffer.start(span.lines.start), buffer.text_of(&span.lines));
        let removed = span.lines.len();
        let change = LineSplice { start: span.lines.start, removed, inserted: 0 };
        let splices = vec![Splice { at, old, new: String::new() }];
        let lines = LineChange::Splices(vec![change]);
        self.edit(&span, "delete_lines", splices, lines, context)?;
        Ok(self.edited(&span, count(removed, "line"), context))
    }

    pub(super) fn move_lines(
        &mut self,
        first: &Line,
        last: &Line,
        before: &Line,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let span = self.span(first, last, context)?;
        let to = self.gap("before", before, Some(span.file), context)?;
        if to.file != span.file {
            let [here, there] =
                [span.file, to.file].map(|file| self.shown(self.files[file].path()));
            return Err(Fault::usage(format!("{here} and {there}: lines move within one file"))
                .hint(self.command(&format!(
                    r#"insert("b.rs:20", text={0}.lines(1, 3)); {0}.delete_lines(1, 3)"#,
                    self.callee
                ))));
        }
        let (lines, before) = (span.lines.clone(), to.lines.start);
        if (lines.start..=lines.end).contains(&before) {
            let brief = format!("no change: {} stand there already", numbers(&lines));
            return Ok(Done::new(brief).into());
        }
        let moved = LineMove { first: lines.start, count: lines.len(), before };
        let buffer = self.files[span.file].buffer();
        let touched = moved.touched();
        let old = buffer.text_of(&touched);
        let block = buffer.text_of(&lines);
        let rest = match before < lines.start {
            true => buffer.text_of(&(before..lines.start)),
            false => buffer.text_of(&(lines.end..before)),
        };
        let new = match before < lines.start {
            true => join(block, rest),
            false => join(rest, block),
        };
        let splices = vec![Splice { at: buffer.start(touched.start), old, new }];
        self.edit(&span, "move_lines", splices, LineChange::Move(moved), context)?;
        let now = moved.landed()..moved.landed() + moved.count;
        let brief = format!("{} to {}", numbers(&lines), numbers(&now));
        let tail = match before < lines.start {
            true => before..lines.start,
            false => lines.end..before,
        };
        let shifted = moved.map(tail.start)..moved.map(tail.end - 1) + 1;
        Ok(self.finish(&span, format!("{brief}; {} now {}", are(&tail), bare(&shifted))))
    }

    /// Makes a change, under a name of its own.
    pub(super) fn edit(
        &mut self,
        span: &Span,
        what: &'static str,
        splices: Vec<Splice>,
        lines: LineChange,
        context: &Context,
    ) -> Result<(), Fault> {
        self.before_change(span.file)?;
        self.unlist();
        let id = self.names.make("change");
        self.files[span.file].change(id, what, author(context), splices, lines)
    }

    /// The outcome of a change: what was done, and which numbers moved.
    pub(super) fn edited(&self, span: &Span, brief: String, context: &Context) -> Reply {
        let brief = match self.moved(span.file, context) {
            Some(moved) => format!("{brief}; {moved}"),
            None => brief,
        };
        self.finish(span, brief)
    }

    fn finish(&self, span: &Span, brief: String) -> Reply {
        let file = &self.files[span.file];
        let brief = match self.current.as_deref() == Some(file.path()) {
            true => brief,
            false => format!("{}: {brief}", self.shown(file.path())),
        };
        let change = file.history().undoable().next().map(|change| change.id.clone());
        Done::new(brief).link("undo", &Action::Undo { steps: 1, change }).into()
    }

    /// Says which lines behind the changes have other numbers than those that were seen:
    /// `lines 4-412 are now 1-409`.
    pub(super) fn moved(&self, file: usize, context: &Context) -> Option<String> {
        let file = &self.files[file];
        let seen = self.seen(context);
        // A reader who doesn't know the numbers before isn't told of them.
        let growth = file.log().growth(seen).filter(|growth| *growth != 0)?;
        let tail = file.log().tail(seen)?..file.buffer().lines();
        let before =
            tail.start.checked_add_signed(-growth)?..tail.end.checked_add_signed(-growth)?;
        (!tail.is_empty()).then(|| format!("{} now {}", are(&before), bare(&tail)))
    }
}

/// Text as whole lines, ended as the file's are.
fn lines_of(text: &Text, buffer: &Buffer) -> String {
    let ending = buffer.ending();
    let (mut text, by_reference) = (text.text.as_str(), text.from.is_some());
    if by_reference {
        // Lines that come by reference have their last ending already, standard input has not.
        text = text.strip_suffix(ending).or(text.strip_suffix('\n')).unwrap_or(text);
    }
    let text = format!("{text}{ending}");
    match ending == "\r\n" && !text[..text.len() - 2].contains("\r\n") {
        true => text[..text.len() - 2].replace('\n', ending) + ending,
        false => text,
    }
}

/// Puts whole lines before a line, or at the end, where a missing newline stays missing.
fn put(buffer: &Buffer, line: usize, new: String) -> Splice {
    let (at, old) = (buffer.start(line), String::new());
    if line < buffer.lines() || buffer.is_empty() || buffer.ends_with_newline() {
        return Splice { at, old, new };
    }
    let new = format!("{}{}", buffer.ending(), open_ended(new));
    Splice { at, old, new }
}

/// Two blocks of lines in their new order; only the last line may lack its newline.
fn join(first: String, second: String) -> String {
    if first.ends_with('\n') {
        return first + &second;
    }
    let open = open_ended(second.clone());
    let ending = match &second[open.len()..] {
        // The newline of an empty last line is all there is of it.
        "" if second.ends_with("\r\n") => "\r\n",
        "" => "\n",
        ending => ending,
    };
    format!("{first}{ending}{open}")
}

/// Lines without the newline of the last one, if anything else is left of that one.
fn open_ended(mut lines: String) -> String {
    let body = lines.trim_end_matches('\n');
    let newlines = lines.len() - body.len();
    let body = body.strip_suffix('\r').unwrap_or(body);
    if newlines == 1 && !body.is_empty() && !body.ends_with('\n') {
        lines.truncate(body.len());
    }
    lines
}

/// Refuses text that begins with the numbers of the lines it is to stand on. What comes by reference
/// was never written from a window.
fn refuse_gutter(
    text: &Text,
    at: &Line,
    buffer: &Buffer,
    lines: &Range<usize>,
) -> Result<(), Fault> {
    let number =
        |line: &str| line.split_once('\t').and_then(|(number, _)| number.parse::<i64>().ok());
    let numbers: Option<Vec<_>> = text.text.lines().map(number).collect();
    let written = |numbers: &Vec<i64>| !numbers.is_empty() && text.from.is_none();
    let Some(numbers) = numbers.filter(written) else { return Ok(()) };
    let starts = match at {
        Line::Number(seen) => numbers[0] == *seen,
        _ => numbers[0] == lines.start as i64 + 1,
    };
    let counts = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    // A table whose lines are numbered is meant to look so.
    let table = (lines.start.saturating_sub(1)..lines.end.min(lines.start + 2))
        .any(|line| number(&buffer.head(line, 32).0).is_some());
    match starts && counts && !table {
        true => {
            Err(Fault::usage("text carries line numbers").hint("leave out `N<TAB>` on each line"))
        }
        false => Ok(()),
    }
}

fn from(text: &Text) -> String {
    let from = text.from.as_ref();
    from.map(|(_, label)| format!(" from {label}")).unwrap_or_default()
}

fn are(lines: &Range<usize>) -> String {
    format!("{} {}", numbers(lines), if lines.len() == 1 { "is" } else { "are" })
}

fn bare(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => format!("{}", lines.end),
        _ => format!("{}-{}", lines.start + 1, lines.end),
    }
}
