//! Moving lines within a file.

use std::ops::Range;

use docui::{Context, Done, Fault, Line};

use crate::display::wording::{count, line_range, lines_are, renumbered, shown_lines};
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::line_change::{LineChange, LineMove};
use crate::model::open_files::OpenFiles;
use crate::model::renumbering::renumbering;
use crate::model::splice::Splice;
use crate::update::edit::edit_file;
use crate::update::resolve::{resolve_insertion_point, resolve_lines};

use super::edit::Work;
use super::whole_lines::join;

pub(crate) fn move_lines(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    first: &Line,
    last: &Line,
    before: &Line,
    context: &Context,
) -> Result<Work, Fault> {
    let source = resolve_lines(open_files, first, last, context)?;
    let target = resolve_insertion_point(open_files, "before", before, Some(source.file), context)?;
    if target.file != source.file {
        return Err(different_files(open_files, source.file, target.file));
    }
    let (lines, before) = (source.lines, target.lines.start);
    if (lines.start..=lines.end).contains(&before) {
        let brief = format!("no change: {} already there", lines_are(&lines));
        let shown = shown_lines(&open_files[source.file], &lines, context.next_version());
        return Ok(Done::new(brief).shows([shown]).into());
    }
    let moved = LineMove { first: lines.start, count: lines.len(), before };
    let buffer = open_files[source.file].buffer();
    let touched = moved.touched();
    let upwards = before < lines.start;
    let jumped_over = if upwards { before..lines.start } else { lines.end..before };
    let old = buffer.text_of(&touched);
    let (block, rest) = (buffer.text_of(&lines), buffer.text_of(&jumped_over));
    let new = if upwards { join(block, rest) } else { join(rest, block) };
    let splices = vec![Splice { at: buffer.line_start(touched.start), old, new }];
    let change = LineChange::Move(moved);
    let now = moved.destination()..moved.destination() + moved.count;
    let shifted = moved.map(jumped_over.start)..moved.map(jumped_over.end - 1) + 1;
    let change = (splices, Some(change));
    edit_file(
        open_files,
        edits,
        source.file,
        EditKind::MoveLines,
        change,
        context,
        move |editor, file, context| {
            // In numbers that the reader knows, or not at all: others moved these lines before it
            // may be.
            let told = renumbering(&editor.files, file, context).moves;
            let knows = |was: &Range<usize>, to: usize| {
                told.iter().any(|(lines, now)| lines == was && *now == to)
            };
            let brief = match knows(&lines, now.start) && knows(&jumped_over, shifted.start) {
                true => format!(
                    "{} to {}; {}",
                    line_range(&lines),
                    line_range(&now),
                    renumbered(&jumped_over, &shifted)
                ),
                false => format!("{}, now {}", count(lines.len(), "line"), line_range(&now)),
            };
            (brief, vec![now])
        },
    )
}

fn different_files(open_files: &OpenFiles, source: usize, target: usize) -> Fault {
    let (source, target) = (open_files.display_name(source), open_files.display_name(target));
    let callee = open_files.paths.callee();
    let calls =
        format!(r#"insert("b.rs:20", text={callee}.lines(1, 3)); {callee}.delete_lines(1, 3)"#);
    Fault::usage(format!("lines move within one file, not from {source} to {target}"))
        .hint(open_files.paths.run_command(&calls))
}
