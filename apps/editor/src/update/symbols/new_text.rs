//! Text that a caller wrote, put beside or inside items, or in place of lines.

use docui::{Context, Done, Fault, Line, Text};
use pipemux_syntax::{Block, plan_insert, plan_replace_body};

use crate::display::wording::{count, line_numbers, line_range};
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::{Plan, Work};
use crate::update::gutter::refuse_gutter;
use crate::update::symbols::arranging::arrange;
use crate::update::symbols::place::place_of;
use crate::update::symbols::target_argument::target;
use crate::update::whole_lines::{lines_in_place_of, whole_lines, without_last_newline};

use super::arranged_lines::{lines_in, shift_note, splices};
use super::arranging::ArrangeReport;
use super::place::InsertPlace;
use super::surroundings::EditedPlace;

/// Inserts lines beside or inside an item.
pub(crate) fn insert_beside(
    open_files: &OpenFiles,
    edits: &mut Edits,
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
    let (side, to) = place_of(open_files, place, context)?;
    let text = text.clone();
    arrange(open_files, edits, context, move |resolver| {
        let to = resolver.resolve(&to)?.into_items();
        let lines = whole_lines(&text, resolver.documents.text(&to.path)?);
        let exact = exact || side.takes_as_written(&to);
        let lines = side.apart(&to, lines);
        let block = Block { text: lines, exact };
        let planned = plan_insert(&to.source, &side.place(&to)?, &block);
        let new = planned.apply(to.source.text());
        let now = lines_in(&new, &planned.placed);
        let brief = format!(
            "{} {} {}, now {}{}",
            count(now.len(), "line"),
            side.word(),
            side.name_of(&to),
            line_numbers(&now),
            shift_note(&planned, true)
        );
        let edited_places = vec![EditedPlace::Block(to.path.clone(), planned.placed.clone())];
        let edit = WorkspaceEdit::new(EditKind::Insert)
            .splices(to.path.clone(), splices(&to.source, &planned));
        Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }))
    })
}

/// Replaces what stands between the braces of a symbol.
pub(crate) fn replace_body(
    open_files: &OpenFiles,
    edits: &mut Edits,
    symbol: &Line,
    text: &Text,
    context: &Context,
) -> Result<Work, Fault> {
    let target = target(open_files, symbol, context)?;
    let text = text.clone();
    arrange(open_files, edits, context, move |resolver| {
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
        let edited_places = vec![EditedPlace::Block(target.path.clone(), planned.placed.clone())];
        let edit = WorkspaceEdit::new(EditKind::ReplaceBody)
            .splices(target.path.clone(), splices(&target.source, &planned));
        Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }))
    })
}

/// Replaces lines, or an item with its doc comment and attributes; with an empty text it deletes
/// them.
pub(crate) fn replace_range(
    open_files: &OpenFiles,
    edits: &mut Edits,
    range: &Line,
    text: &Text,
    context: &Context,
) -> Result<Work, Fault> {
    let target = target(open_files, range, context)?;
    let (text, range) = (text.clone(), range.clone());
    arrange(open_files, edits, context, move |resolver| {
        let target = resolver.resolve(&target)?;
        let (bytes, lines) = (target.item()?, target.lines());
        let buffer = resolver.documents.text(&target.path)?;
        refuse_gutter(&text, &range, buffer, &lines)?;
        let old = target.source.text()[bytes.clone()].to_owned();
        let mut new = match text.text.is_empty() {
            true => String::new(),
            false => lines_in_place_of(&old, &text, buffer),
        };
        if !old.ends_with('\n') {
            new = without_last_newline(new);
        }
        if old == new {
            let brief = format!("no change: {} already matches", target.name());
            return Ok(Plan::Reply(Done::new(brief).complete().into()));
        }
        let now = lines.start..lines.start + new.lines().count();
        let what = match &target.symbol {
            Some(found) => format!("{}, {}", found.qualified, line_range(&lines)),
            None => line_range(&lines),
        };
        let brief = match (now.len(), lines.len()) {
            (0, _) => format!("{what}, deleted"),
            (inserted, removed) if inserted == removed => what,
            (inserted, _) => format!("{what} with {inserted}, now {}", line_numbers(&now)),
        };
        let placed = bytes.start..bytes.start + new.len();
        let edited_place = match new.is_empty() {
            true => EditedPlace::Gap(target.path.clone(), bytes.start),
            false => EditedPlace::Block(target.path.clone(), placed),
        };
        let replaced = Some((target.path.clone(), lines.start, old.clone()));
        let splices = vec![Splice { at: bytes.start, old, new }];
        let edit = WorkspaceEdit::new(EditKind::ReplaceLines);
        let edit = edit.splices(target.path.clone(), splices);
        Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places: vec![edited_place], replaced }))
    })
}
