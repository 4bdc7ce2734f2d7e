//! Selecting, reading and scrolling to lines.

use docui::{Context, Done, Fault, Line, LineNumbers, Reply};

use crate::display::wording::{count, range_name, shown_lines};
use crate::model::history::Author;
use crate::model::ids::{IdGenerator, IdKind};
use crate::model::open_files::OpenFiles;
use crate::model::tracked_ranges::RangeKind;
use crate::update::resolve::{resolve_goto_target, resolve_lines};

use super::resolve::ResolvedLines;

/// Binds the name `selection` to lines.
pub(crate) fn select(
    open_files: &mut OpenFiles,
    ids: &mut IdGenerator,
    selection: &mut Option<String>,
    (first, last): (&Line, &Line),
    context: &Context,
) -> Result<Reply, Fault> {
    let target = resolve_lines(open_files, first, last, context)?;
    let file = &mut open_files[target.file];
    let bytes = file.buffer().byte_range(&target.lines);
    if bytes.is_empty() {
        return Err(Fault::failed("there is nothing to select: the file is empty"));
    }
    let bound = selection.as_deref().and_then(|key| file.ranges.existing(key));
    if bound.is_none_or(|range| range.bytes != bytes) {
        let key = ids.next(IdKind::Selection);
        file.ranges.add(key.clone(), RangeKind::Selection, bytes);
        *selection = Some(key);
    }
    let lines = count(target.lines.len(), "line");
    let shown = shown(open_files, &target, context);
    Ok(Done::new(format!("{}, {lines}", name_of(open_files, &target))).shows([shown]).into())
}

pub(crate) fn goto(
    open_files: &mut OpenFiles,
    line: &Line,
    context: &Context,
) -> Result<Reply, Fault> {
    let target = resolve_goto_target(open_files, line, context)?;
    scroll_to(open_files, target.file, target.lines.start, context);
    let shown = open_files.display_name(target.file);
    let line = target.lines.start;
    let numbers = shown_lines(&open_files[target.file], &(line..line + 1), context.next_version());
    Ok(Done::new(format!("{shown}:{}", line + 1)).shows([numbers]).into())
}

/// Makes a file the current one and shows it from a line on.
pub(crate) fn scroll_to(open_files: &mut OpenFiles, index: usize, line: usize, context: &Context) {
    let file = &mut open_files[index];
    file.scroll_to(line, &context.run_id);
    let path = file.path().to_owned();
    open_files.set_current(Some(path), &Author::of(context));
}

fn shown(open_files: &OpenFiles, target: &ResolvedLines, context: &Context) -> LineNumbers {
    shown_lines(&open_files[target.file], &target.lines, context.next_version())
}

fn name_of(open_files: &OpenFiles, target: &ResolvedLines) -> String {
    range_name(&open_files.display_name(target.file), &target.lines)
}
