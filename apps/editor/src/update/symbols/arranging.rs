//! Moving, swapping and deleting items.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Done, Fault, Line};
use pipemux_syntax::{Block, keeps_items_apart, plan_delete, plan_insert, plan_move, plan_swap};

use crate::display::wording::{line_numbers, line_range};
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::line_change::LineChange;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::text_diff::move_of;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};
use crate::update::edit::edit;
use crate::update::edit::{Plan, Work};
use crate::update::renumbering::brief_about;
use crate::update::replaced_lines::unseen_lines;
use crate::update::symbols::place::place_of;
use crate::update::symbols::surroundings::with_surroundings;
use crate::update::symbols::target::scope;
use crate::update::symbols::target_argument::target;

use super::arranged_lines::{gap_after, in_endings_of, lines_in, shift_note, splices};
use super::imports::mended;
use super::place::{InsertPlace, Side, is_new};
use super::resolved::{Resolved, Unresolved, unless_asked};
use super::resolver::Resolver;
use super::surroundings::EditedPlace;
use super::users::users_note;

/// What an outcome tells.
pub(crate) struct ArrangeReport {
    pub brief: String,
    pub edited_places: Vec<EditedPlace>,
    /// Text that was replaced by another, with its first line in the file before that, from 0.
    pub replaced: Option<(PathBuf, usize, String)>,
}

/// Moves an item or lines.
pub(crate) fn move_range(
    open_files: &OpenFiles,
    edits: &mut Edits,
    range: &Line,
    place: InsertPlace<'_>,
    context: &Context,
) -> Result<Work, Fault> {
    let moved = target(open_files, range, context)?;
    let (side, to) = place_of(open_files, place, context)?;
    arrange(open_files, edits, context, move |resolver| {
        let moved = resolver.resolve(&moved)?.into_items();
        let to = side.resolve(&to, resolver)?;
        match moved.path == to.path {
            true => move_within(resolver, &moved, side, &to),
            false => move_across(resolver, &moved, side, &to),
        }
    })
}

/// Moves an item or lines within its file.
fn move_within(
    resolver: &mut Resolver<'_>,
    moved: &Resolved,
    side: Side,
    to: &Resolved,
) -> Result<Plan<ArrangeReport>, Unresolved> {
    let exact = moved.is_exact();
    let bytes = moved.item()?;
    let place = side.place(to)?;
    let within = bytes.start < to.bytes.end && to.bytes.start < bytes.end;
    if within && !(to.bytes.start <= bytes.start && bytes.end <= to.bytes.end) {
        let (moved, to) = (moved.name(), side.name_of(to));
        return Err(Fault::usage(format!("{to} is within {moved}")).into());
    }
    let planned = plan_move(&moved.source, &bytes, &place, exact);
    let Some(planned) = planned else {
        let brief =
            format!("no change: {} is already {} {}", moved.name(), side.word(), side.name_of(to));
        return Ok(Plan::Reply(Done::new(brief).complete().into()));
    };
    let gap = gap_after(&planned, &bytes);
    let new = planned.apply(moved.source.text());
    let now = lines_in(&new, &planned.placed);
    let shift = shift_note(&planned, false);
    let brief = format!("{}, now {}{shift}", described(moved), line_numbers(&now));
    let path = moved.path.clone();
    let edited_places = vec![
        EditedPlace::Block(path.clone(), planned.placed.clone()),
        EditedPlace::Gap(path.clone(), gap),
    ];
    let splices = splices(&moved.source, &planned);
    let text = match move_of(resolver.documents.text(&path)?, &splices, &moved.lines()) {
        Some(lines) => TextEdit::Lines(splices, LineChange::Move(lines)),
        None => TextEdit::Splices(splices),
    };
    let edit = WorkspaceEdit::new(EditKind::Move).file(path, text);
    Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }))
}

/// Moves an item or lines to another file, and mends the imports of all files that use it.
fn move_across(
    resolver: &mut Resolver<'_>,
    moved: &Resolved,
    side: Side,
    to: &Resolved,
) -> Result<Plan<ArrangeReport>, Unresolved> {
    let exact = moved.is_exact();
    let bytes = moved.item()?;
    let place = side.place(to)?;
    let text = &moved.source.text()[bytes.clone()];
    let text = in_endings_of(text, to.source.text());
    let block = Block { text, exact };
    let inserted = plan_insert(&to.source, &place, &block);
    // A line between items that comes with the block, or not, comes and goes on both sides.
    let apart = to.is_file || keeps_items_apart(&to.source, &place);
    let removed = plan_delete(&moved.source, &bytes, exact || !apart);
    let new = inserted.apply(to.source.text());
    let shown = resolver.documents.display(&to.path);
    let is_new = is_new(resolver, &to.path);
    let made = if is_new { " (new file)" } else { "" };
    let shift = made.to_owned() + &shift_note(&inserted, false);
    let mut edit = WorkspaceEdit::new(EditKind::Move);
    let (here, there) = ((moved, &removed), (to, &inserted));
    let mended = mended(resolver, here, there)?;
    let users = match &mended {
        Some(mended) => mended.note.clone(),
        None => users_note(resolver, moved, &bytes, &to.path)?,
    };
    let mended = mended.unwrap_or_default();
    let placed =
        mended.after(&to.path, inserted.placed.start)..mended.after(&to.path, inserted.placed.end);
    let gap = mended.after(&moved.path, gap_after(&removed, &bytes));
    let text = mended.text(&to.path, &new);
    let about = format!("{}{shift}{users}", line_numbers(&lines_in(&text, &placed)));
    for (path, edit_of_it) in mended.edits(here, there) {
        edit = match is_new && path == to.path {
            true => edit.file(path, TextEdit::Create(text.clone())),
            false => edit.splices(path, edit_of_it),
        };
    }
    let brief = format!("{}, now {shown}:{about}", described(moved));
    let edited_places = vec![
        EditedPlace::Block(to.path.clone(), placed),
        EditedPlace::Gap(moved.path.clone(), gap),
    ];
    Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }))
}

/// Exchanges two items, or two ranges of lines, of one file or of two.
pub(crate) fn swap(
    open_files: &OpenFiles,
    edits: &mut Edits,
    one: &Line,
    other: &Line,
    context: &Context,
) -> Result<Work, Fault> {
    let (one, other) = (target(open_files, one, context)?, target(open_files, other, context)?);
    arrange(open_files, edits, context, move |resolver| {
        let one = resolver.resolve(&one)?.into_items();
        let other = resolver.resolve(&other)?.into_items();
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
            let edited_places = vec![
                EditedPlace::Block(path.clone(), planned.placed.clone()),
                EditedPlace::Block(path.clone(), last),
            ];
            let edit = edit.splices(path, splices(&one.source, &planned));
            return Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }));
        }
        let replaced = |at: &Resolved, lines: &Range<usize>, by: &Resolved, text: &Range<usize>| {
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
        let edited_places = vec![
            EditedPlace::Block(one.path.clone(), placed_first),
            EditedPlace::Block(other.path.clone(), placed_second),
        ];
        let edit = edit.splices(one.path.clone(), to_first).splices(other.path.clone(), to_second);
        Ok(Plan::Edit(edit, ArrangeReport { brief, edited_places, replaced: None }))
    })
}

/// Deletes an item or lines.
pub(crate) fn delete(
    open_files: &OpenFiles,
    edits: &mut Edits,
    range: &Line,
    context: &Context,
) -> Result<Work, Fault> {
    let target = target(open_files, range, context)?;
    arrange(open_files, edits, context, move |resolver| {
        let target = resolver.resolve(&target)?.into_items();
        let bytes = target.item()?;
        let planned = plan_delete(&target.source, &bytes, target.is_exact());
        let edited_places =
            vec![EditedPlace::Gap(target.path.clone(), gap_after(&planned, &bytes))];
        let edit = WorkspaceEdit::new(EditKind::Delete)
            .splices(target.path.clone(), splices(&target.source, &planned));
        Ok(Plan::Edit(
            edit,
            ArrangeReport { brief: described(&target), edited_places, replaced: None },
        ))
    })
}

pub(crate) fn arrange(
    open_files: &OpenFiles,
    edits: &mut Edits,
    context: &Context,
    plan: impl FnOnce(&mut Resolver<'_>) -> Result<Plan<ArrangeReport>, Unresolved> + Send + 'static,
) -> Result<Work, Fault> {
    let scope = scope(open_files, context)?;
    let plan =
        move |documents: &mut Documents| unless_asked(plan(&mut Resolver::new(documents, scope)));
    let blocking = edit(
        open_files,
        edits,
        "the project's disk",
        context,
        plan,
        |editor, made, about, context| {
            let ArrangeReport { brief, edited_places, replaced } = about;
            let path: Option<PathBuf> = made.files.first().map(|file| file.path.clone());
            let index = path.and_then(|path| editor.files.index(&path));
            let brief = match index {
                Some(file) if made.files.len() == 1 => brief_about(&editor.files, file, brief),
                _ => brief,
            };
            let replaced = replaced.and_then(|(path, first, old)| {
                let file = editor.files.index(&path)?;
                unseen_lines(&editor.files, file, first, &old, context)
            });
            let replaced = replaced.unwrap_or_default();
            with_surroundings(&editor.files, Done::new(brief), &replaced, &edited_places, context)
        },
    )?;
    Ok(blocking.into())
}

pub(super) fn described(target: &Resolved) -> String {
    match &target.symbol {
        Some(found) => format!("{}, {}", found.qualified, line_range(&target.lines())),
        None => line_range(&target.lines()),
    }
}

fn upper_end(first: &Range<usize>, second: &Range<usize>) -> usize {
    first.end.max(second.end)
}
