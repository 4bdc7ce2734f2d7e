//! What a change did to files, or would do, as a unified diff without lines around it: for a person
//! who reads the history, or decides whether to make the change.

use std::fmt::Write;
use std::ops::Range;

use docui::{Done, View};

use crate::display::lines::readable_line;
use crate::display::wording::{count, line_numbers};
use crate::limits::{CHANGE_DIFF_MAX, PREVIEW_FILES_NAMED};
use crate::model::buffer::Buffer;
use crate::model::history::FileChange;
use crate::model::line_change::LineChange;
use crate::model::open_file::OpenFile;
use crate::model::open_files::OpenFiles;
use crate::model::splice::inverse;

/// Returns the diff of a change that was just made, as far as there is room for it.
pub(crate) fn diff_of_change(open_files: &OpenFiles, files: &[FileChange]) -> String {
    let after = |file: &FileChange| open_files.file(&file.path).map(OpenFile::buffer);
    write_diff(open_files, files.iter().map(|file| (file, after(file))))
}

/// Makes the outcome of a change that is only shown: where it would change how much, and the diff.
pub(crate) fn preview_of(open_files: &OpenFiles, planned: &[(FileChange, Buffer)]) -> Done {
    let places = |file: &FileChange| match &file.lines {
        LineChange::Splices(splices) => splices.len(),
        LineChange::Move(_) => 1,
    };
    let one = |(file, _): &(FileChange, Buffer)| {
        let shown = open_files.paths.display_path(&file.path);
        match (file.before, file.after) {
            (None, _) => format!("{shown} (new)"),
            (_, None) => format!("{shown} (deleted)"),
            _ => format!("{shown} ({})", places(file)),
        }
    };
    let mut named: Vec<String> = planned.iter().take(PREVIEW_FILES_NAMED).map(one).collect();
    let more = planned.len() - named.len();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let all: usize = planned.iter().map(|(file, _)| places(file)).sum();
    let (places, files) = (count(all, "place"), count(planned.len(), "file"));
    let brief = match planned {
        [] => "would change nothing".to_owned(),
        _ => format!("would change {places} in {files}: {}", named.join(", ")),
    };
    let mut view = View::new("");
    let diff = write_diff(open_files, planned.iter().map(|(file, after)| (file, Some(after))));
    if !diff.is_empty() {
        view.code("diff", diff);
    }
    Done::new(brief).content(view)
}

/// Writes the diffs of files, with the text that each has after its change.
fn write_diff<'a>(
    open_files: &OpenFiles,
    files: impl ExactSizeIterator<Item = (&'a FileChange, Option<&'a Buffer>)>,
) -> String {
    let mut diff = String::new();
    let total = files.len();
    for (index, (file, after)) in files.enumerate() {
        if diff.len() > CHANGE_DIFF_MAX {
            let _ = writeln!(diff, "… {} more files", total - index);
            break;
        }
        let shown = open_files.paths.display_path(&file.path);
        let old = if file.before.is_none() { "/dev/null" } else { &shown };
        let new = if file.after.is_none() { "/dev/null" } else { &shown };
        let _ = write!(diff, "--- {old}\n+++ {new}\n");
        if let Some(after) = after.filter(|_| file.after.is_some()) {
            write_hunks(&mut diff, file, after);
        }
    }
    diff
}

fn write_hunks(diff: &mut String, file: &FileChange, after: &Buffer) {
    let splices = match &file.lines {
        LineChange::Splices(splices) => splices,
        LineChange::Move(moved) => {
            let to = moved.destination();
            let (from, to) = (moved.first..moved.first + moved.count, to..to + moved.count);
            let _ = writeln!(diff, "@@ -{} +{} @@ moved", line_numbers(&from), line_numbers(&to));
            return;
        }
    };
    let mut before = after.clone();
    before.apply(&inverse(&file.splices));
    for (splice, new) in splices.iter().zip(file.lines.changed_lines()) {
        if diff.len() > CHANGE_DIFF_MAX {
            diff.push_str("…\n");
            return;
        }
        let old = splice.start..splice.start + splice.removed;
        let _ = writeln!(diff, "@@ -{} +{} @@", place(&old), place(&new));
        for (sign, buffer, lines) in [('-', &before, &old), ('+', after, &new)] {
            for line in lines.clone() {
                let (text, _) = buffer.line_head(line, CHANGE_DIFF_MAX);
                let _ = writeln!(diff, "{sign}{}", readable_line(&text));
                if diff.len() > CHANGE_DIFF_MAX && line + 1 < lines.end {
                    let _ = writeln!(diff, "… {} more lines", lines.end - line - 1);
                    break;
                }
            }
        }
    }
}

/// Writes a range as unified diffs do.
pub(super) fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        many => format!("{},{many}", lines.start + 1),
    }
}
