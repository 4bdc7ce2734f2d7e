//! Showing what was replaced or deleted to a reader that was never shown it: an edit by number is
//! then no guess that nobody notices.

use docui::{Context, tokens};

use crate::display::lines::readable_line;
use crate::limits::REPLACED_SHARE;
use crate::model::open_files::OpenFiles;
use crate::model::renumbering::has_seen;

/// Returns the lines that an edit replaced as they were numbered before it, as far as a small share
/// of the budget goes; `None` if the reader had seen them.
pub(crate) fn unseen_lines(
    open_files: &OpenFiles,
    file: usize,
    first: usize,
    old: &str,
    context: &Context,
) -> Option<String> {
    let total = old.lines().count();
    if total == 0 || has_seen(open_files, file, &(first..first + total), context) {
        return None;
    }
    let budget = u64::from(context.budget) / REPLACED_SHARE;
    let (mut text, mut spent) = (String::new(), 0);
    for (index, line) in old.lines().enumerate() {
        let line = format!("-{}\t{}\n", first + index + 1, readable_line(line));
        spent += tokens::estimate(&line) + 1;
        if spent > budget && index > 0 && index + 1 < total {
            text += &format!("… {} more\n", total - index);
            break;
        }
        text += &line;
    }
    Some(text)
}
