//! Moving, swapping, deleting and inserting items; replacing their bodies.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Done, Fault, Line, Text};
use pipemux_syntax::{
    Arrangement, Block, Place, plan_delete, plan_insert, plan_move, plan_replace_body, plan_swap,
};

use crate::display::wording::{count, line_numbers, line_range};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::history::EditKind;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::{Plan, Work};
use crate::update::whole_lines::whole_lines;

use super::resolver::{Resolved, Resolver, Stop, unless_asked};
use super::seams::Seam;
use super::target::Target;

/// Where something goes: exactly one of these is given.
#[derive(Debug, Clone, Copy)]
pub(in crate::update) struct InsertPlace<'a> {
    pub before: Option<&'a Line>,
    pub after: Option<&'a Line>,
    pub at_start_of: Option<&'a Line>,
    pub at_end_of: Option<&'a Line>,
}

/// Which side of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    StartOf,
    EndOf,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Side::Before => "before",
            Side::After => "after",
            Side::StartOf => "at the start of",
            Side::EndOf => "at the end of",
        }
    }

    fn place(self, target: &Resolved) -> Result<Place, Fault> {
        Ok(match self {
            Side::Before => Place::Before(target.item()?),
            Side::After => Place::After(target.item()?),
            Side::StartOf | Side::EndOf => {
                let symbol = target.symbol.as_ref().filter(|found| found.symbol.interior.is_some());
                let symbol = symbol.ok_or_else(|| {
                    Fault::usage(format!("{} has no braces to go into", target.name()))
                        .hint("use before= or after=")
                })?;
                match self {
                    Side::StartOf => Place::StartOf(symbol.symbol.clone()),
                    _ => Place::EndOf(symbol.symbol.clone()),
                }
            }
        })
    }
}

/// What an outcome tells.
struct About {
    brief: String,
    seams: Vec<Seam>,
}

impl Editor {
    /// Moves an item or lines.
    pub(in crate::update) fn move_range(
        &mut self,
        range: &Line,
        place: InsertPlace<'_>,
        context: &Context,
    ) -> Result<Work, Fault> {
        let moved = self.target(range, context)?;
        let (side, to) = self.place_of(place, context)?;
        self.arrange(context, move |resolver| {
            let moved = resolver.resolve(&moved)?;
            let to = resolver.resolve(&to)?;
            let exact = moved.symbol.is_none();
            let bytes = moved.item()?;
            let place = side.place(&to)?;
            if moved.path == to.path {
                let within = bytes.start < to.bytes.end && to.bytes.start < bytes.end;
                if within && !(to.bytes.start <= bytes.start && bytes.end <= to.bytes.end) {
                    let (moved, to) = (moved.name(), to.name());
                    return Err(Fault::usage(format!("{to} is within {moved}")).into());
                }
                let planned = plan_move(&moved.source, &bytes, &place, exact);
                let Some(planned) = planned else {
                    let brief = format!(
                        "no change: {} is already {} {}",
                        moved.name(),
                        side.word(),
                        to.name()
                    );
                    return Ok(Plan::Reply(Done::new(brief).complete().into()));
                };
                let gap = gap_after(&planned, &bytes);
                let new = planned.apply(moved.source.text());
                let now = lines_in(&new, &planned.placed);
                let shift = shift_note(&planned, false);
                let brief = format!("{}, now {}{shift}", described(&moved), line_numbers(&now));
                let path = moved.path.clone();
                let seams = vec![
                    Seam::Block(path.clone(), planned.placed.clone()),
                    Seam::Gap(path.clone(), gap),
                ];
                let edit = WorkspaceEdit::new(EditKind::Move);
                let edit = edit.splices(path, splices(&moved.source, &planned));
                return Ok(Plan::Edit(edit, About { brief, seams }));
            }
            let text = &moved.source.text()[bytes.clone()];
            let text = in_endings_of(text, to.source.text());
            let block = Block { text, exact };
            let inserted = plan_insert(&to.source, &place, &block);
            let removed = plan_delete(&moved.source, &bytes, exact);
            let now = lines_in(&inserted.apply(to.source.text()), &inserted.placed);
            let shown = resolver.documents.display(&to.path);
            let shift = shift_note(&inserted, false);
            let brief = format!("{}, now {shown}:{}{shift}", described(&moved), line_numbers(&now));
            let seams = vec![
                Seam::Block(to.path.clone(), inserted.placed.clone()),
                Seam::Gap(moved.path.clone(), gap_after(&removed, &bytes)),
            ];
            let edit = WorkspaceEdit::new(EditKind::Move)
                .splices(to.path.clone(), splices(&to.source, &inserted))
                .splices(moved.path.clone(), splices(&moved.source, &removed));
            Ok(Plan::Edit(edit, About { brief, seams }))
        })
    }

    /// Exchanges two items, or two ranges of lines, of one file or of two.
    pub(in crate::update) fn swap(
        &mut self,
        one: &Line,
        other: &Line,
        context: &Context,
    ) -> Result<Work, Fault> {
        let (one, other) = (self.target(one, context)?, self.target(other, context)?);
        self.arrange(context, move |resolver| {
            let (one, other) = (resolver.resolve(&one)?, resolver.resolve(&other)?);
            let (first, second) = (one.item()?, other.item()?);
            let edit = WorkspaceEdit::new(EditKind::Swap);
            if one.path == other.path {
                let planned = plan_swap(&one.source, &first, &second).ok_or_else(|| {
                    Fault::usage(format!("{} and {} overlap", one.name(), other.name()))
                })?;
                let (lower, upper) =
                    if first.start < second.start { (&other, &one) } else { (&one, &other) };
                let text = planned.apply(one.source.text());
                let end = text.len() - (one.source.text().len() - upper_end(&first, &second));
                let length = planned.edits.last().map_or(0, |edit| edit.new.len());
                let last = end.saturating_sub(length)..end;
                let brief = format!(
                    "{} now {}, {} now {}",
                    lower.name(),
                    line_numbers(&lines_in(&text, &planned.placed)),
                    upper.name(),
                    line_numbers(&lines_in(&text, &last)),
                );
                let path = one.path.clone();
                let seams = vec![
                    Seam::Block(path.clone(), planned.placed.clone()),
                    Seam::Block(path.clone(), last),
                ];
                let edit = edit.splices(path, splices(&one.source, &planned));
                return Ok(Plan::Edit(edit, About { brief, seams }));
            }
            let replaced =
                |at: &Resolved, lines: &Range<usize>, by: &Resolved, text: &Range<usize>| {
                    let text = in_endings_of(&by.source.text()[text.clone()], at.source.text());
                    let indent = at.source.text()[lines.clone()].lines().next().unwrap_or_default();
                    let indent = &indent[..indent.len() - indent.trim_start().len()];
                    let language = Some(at.source.language()).filter(|_| !at.source.is_plain());
                    let text = pipemux_syntax::arrange::reindented(&text, indent, language);
                    let old = at.source.text()[lines.clone()].to_owned();
                    let placed = lines.start..lines.start + text.len();
                    (vec![Splice { at: lines.start, old, new: text }], placed)
                };
            let (to_first, placed_first) = replaced(&one, &first, &other, &second);
            let (to_second, placed_second) = replaced(&other, &second, &one, &first);
            let brief = format!("{} and {}", described(&one), described(&other));
            let seams = vec![
                Seam::Block(one.path.clone(), placed_first),
                Seam::Block(other.path.clone(), placed_second),
            ];
            let edit =
                edit.splices(one.path.clone(), to_first).splices(other.path.clone(), to_second);
            Ok(Plan::Edit(edit, About { brief, seams }))
        })
    }

    /// Deletes an item or lines.
    pub(in crate::update) fn delete(
        &mut self,
        range: &Line,
        context: &Context,
    ) -> Result<Work, Fault> {
        let target = self.target(range, context)?;
        self.arrange(context, move |resolver| {
            let target = resolver.resolve(&target)?;
            let bytes = target.item()?;
            let planned = plan_delete(&target.source, &bytes, target.symbol.is_none());
            let seams = vec![Seam::Gap(target.path.clone(), gap_after(&planned, &bytes))];
            let edit = WorkspaceEdit::new(EditKind::Delete)
                .splices(target.path.clone(), splices(&target.source, &planned));
            Ok(Plan::Edit(edit, About { brief: described(&target), seams }))
        })
    }

    /// Inserts lines beside or inside an item.
    pub(in crate::update) fn insert_beside(
        &mut self,
        text: &Text,
        place: InsertPlace<'_>,
        indent: &str,
        context: &Context,
    ) -> Result<Work, Fault> {
        let exact = match indent {
            "" => false,
            "exact" => true,
            other => {
                return Err(Fault::usage(format!("indent is {other:?}: expected 'exact'")));
            }
        };
        let (side, to) = self.place_of(place, context)?;
        let text = text.clone();
        self.arrange(context, move |resolver| {
            let to = resolver.resolve(&to)?;
            let lines = whole_lines(&text, resolver.documents.text(&to.path)?);
            // Beside lines that are no item, the text goes in as it is.
            let exact = exact || to.symbol.is_none();
            let block = Block { text: lines, exact };
            let planned = plan_insert(&to.source, &side.place(&to)?, &block);
            let new = planned.apply(to.source.text());
            let now = lines_in(&new, &planned.placed);
            let brief = format!(
                "{} {} {}, now {}{}",
                count(now.len(), "line"),
                side.word(),
                to.name(),
                line_numbers(&now),
                shift_note(&planned, true)
            );
            let seams = vec![Seam::Block(to.path.clone(), planned.placed.clone())];
            let edit = WorkspaceEdit::new(EditKind::Insert)
                .splices(to.path.clone(), splices(&to.source, &planned));
            Ok(Plan::Edit(edit, About { brief, seams }))
        })
    }

    /// Replaces what stands between the braces of a symbol.
    pub(in crate::update) fn replace_body(
        &mut self,
        symbol: &Line,
        text: &Text,
        context: &Context,
    ) -> Result<Work, Fault> {
        let target = self.target(symbol, context)?;
        let text = text.clone();
        self.arrange(context, move |resolver| {
            let target = resolver.resolve(&target)?;
            let missing = || Fault::usage(format!("{} has no body", target.name()));
            let found = target.symbol.as_ref().ok_or_else(missing)?;
            let lines = whole_lines(&text, resolver.documents.text(&target.path)?);
            let block = Block { text: lines, exact: false };
            let planned = plan_replace_body(&target.source, &found.symbol, &block);
            let planned = planned.ok_or_else(missing)?;
            let was = found.symbol.interior.clone().unwrap_or_default();
            let old = target.source.text()[was].lines().count();
            let new = planned.apply(target.source.text());
            let now = lines_in(&new, &planned.placed);
            let brief = format!(
                "{}: {} with {}, now {}{}",
                found.qualified,
                count(old, "line"),
                now.len(),
                line_numbers(&now),
                shift_note(&planned, true)
            );
            let seams = vec![Seam::Block(target.path.clone(), planned.placed.clone())];
            let edit = WorkspaceEdit::new(EditKind::ReplaceBody)
                .splices(target.path.clone(), splices(&target.source, &planned));
            Ok(Plan::Edit(edit, About { brief, seams }))
        })
    }

    fn place_of(&self, place: InsertPlace<'_>, context: &Context) -> Result<(Side, Target), Fault> {
        let all = [
            (Side::Before, place.before),
            (Side::After, place.after),
            (Side::StartOf, place.at_start_of),
            (Side::EndOf, place.at_end_of),
        ];
        let mut given = all.into_iter().filter_map(|(side, line)| Some((side, line?)));
        match (given.next(), given.next()) {
            (Some((side, line)), None) => Ok((side, self.target(line, context)?)),
            _ => Err(Fault::usage("expected one of before, after, at_start_of, at_end_of")),
        }
    }

    fn arrange(
        &mut self,
        context: &Context,
        plan: impl FnOnce(&mut Resolver<'_>) -> Result<Plan<About>, Stop> + Send + 'static,
    ) -> Result<Work, Fault> {
        let scope = self.scope(context)?;
        let plan = move |documents: &mut Documents| {
            unless_asked(plan(&mut Resolver::new(documents, scope)))
        };
        let blocking =
            self.edit("the project's disk", context, plan, |editor, made, about, context| {
                let About { brief, seams } = about;
                let path: Option<PathBuf> = made.files.first().map(|file| file.path.clone());
                let index = path.and_then(|path| editor.file_index(&path));
                let brief = match index {
                    Some(file) if made.files.len() == 1 => editor.brief_about(file, brief),
                    _ => brief,
                };
                editor.with_seams(Done::new(brief), &seams, context)
            })?;
        Ok(blocking.into())
    }
}

fn described(target: &Resolved) -> String {
    match &target.symbol {
        Some(found) => format!("{}, {}", found.qualified, line_range(&target.lines())),
        None => line_range(&target.lines()),
    }
}

fn upper_end(first: &Range<usize>, second: &Range<usize>) -> usize {
    first.end.max(second.end)
}

/// Returns the lines of a range of a text, from 0.
fn lines_in(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let line =
        |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let first = line(bytes.start);
    first..line(bytes.end.saturating_sub(1).max(bytes.start)) + 1
}

/// Returns the byte of the new text where lines were taken out.
fn gap_after(planned: &Arrangement, lines: &Range<usize>) -> usize {
    let mut shift: isize = 0;
    for edit in &planned.edits {
        if edit.range.start <= lines.start
            && lines.start < edit.range.end.max(edit.range.start + 1)
            && edit.range.end > lines.start
        {
            break;
        }
        if edit.range.start > lines.start {
            break;
        }
        shift += edit.new.len() as isize - edit.range.len() as isize;
    }
    let removed = planned.edits.iter().find(|edit| edit.range.contains(&lines.start));
    let at = removed.map_or(lines.start, |edit| edit.range.start);
    at.saturating_add_signed(shift)
}

/// Says to which indentation a block was shifted.
fn shift_note(planned: &Arrangement, may_be_exact: bool) -> String {
    let Some((had, has)) = &planned.shifted else { return String::new() };
    let told = |indent: &str| match indent {
        "" => "none".to_owned(),
        indent if indent.chars().all(|c| c == '\t') => count(indent.len(), "tab"),
        indent => count(indent.chars().count(), "space"),
    };
    let off = if may_be_exact { " (indent='exact' keeps it)" } else { "" };
    let off = if may_be_exact && had == has { "" } else { off };
    format!(", indentation {} → {}{off}", told(had), told(has))
}

fn splices(source: &pipemux_syntax::Source, planned: &Arrangement) -> Vec<Splice> {
    let edits = planned.edits.iter();
    edits
        .map(|edit| Splice {
            at: edit.range.start,
            old: source.text()[edit.range.clone()].to_owned(),
            new: edit.new.clone(),
        })
        .collect()
}

/// Returns lines with the line endings of another text.
fn in_endings_of(lines: &str, text: &str) -> String {
    let crlf = text.matches("\r\n").count() * 2 > text.matches('\n').count();
    let mut plain = lines.replace("\r\n", "\n");
    if !plain.ends_with('\n') {
        plain.push('\n');
    }
    if crlf { plain.replace('\n', "\r\n") } else { plain }
}
