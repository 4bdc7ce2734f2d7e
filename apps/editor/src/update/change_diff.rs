//! What a change did to files, as a unified diff without lines around it: for a person who reads the history.

use std::fmt::Write;
use std::ops::Range;

use crate::display::lines::readable_line;
use crate::display::wording::line_numbers;
use crate::limits::CHANGE_DIFF_MAX;
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::history::FileChange;
use crate::model::line_change::LineChange;
use crate::model::splice::inverse;

impl Editor {
    /// Returns the diff of a change that was just made, as far as there is room for it.
    pub(super) fn diff_of_change(&self, files: &[FileChange]) -> String {
        let mut diff = String::new();
        for (index, file) in files.iter().enumerate() {
            if diff.len() > CHANGE_DIFF_MAX {
                let _ = writeln!(diff, "… {} more files", files.len() - index);
                break;
            }
            let shown = self.display_path(&file.path);
            let old = if file.before.is_none() { "/dev/null" } else { &shown };
            let new = if file.after.is_none() { "/dev/null" } else { &shown };
            let _ = write!(diff, "--- {old}\n+++ {new}\n");
            let open = self.file_index(&file.path).filter(|_| file.after.is_some());
            if let Some(index) = open {
                write_hunks(&mut diff, file, self.files[index].buffer());
            }
        }
        diff
    }
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
