//! The lines around what was done, which an outcome shows so that nobody has to look again.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Done, View};

use crate::display::lines::visible_line;
use crate::display::wording::shown_lines;
use crate::model::Editor;
use crate::model::open_file::OpenFile;

/// The most empty lines that a seam shows.
const EMPTY_LINES_MAX: usize = 3;
/// A block of at most so many lines is shown whole.
const SHORT_BLOCK: usize = 4;

/// A place in a file that an outcome shows. Bytes count after the change.
#[derive(Debug, Clone)]
pub(super) enum Seam {
    /// Both ends of lines that were put somewhere, with the lines next to them.
    Block(PathBuf, Range<usize>),
    /// The lines around a gap.
    Gap(PathBuf, usize),
}

impl Editor {
    /// Adds seams to an outcome, in this order.
    pub(super) fn with_seams(&self, done: Done, seams: &[Seam], context: &Context) -> Done {
        let mut text = String::new();
        let mut numbers = Vec::new();
        let mut before: Option<PathBuf> = None;
        let mut shown_to: HashMap<PathBuf, usize> = HashMap::new();
        for seam in seams {
            let (Seam::Block(path, _) | Seam::Gap(path, _)) = seam;
            let Some(index) = self.file_index(path) else { continue };
            let file = &self.files[index];
            if before.as_ref().is_some_and(|before| before != path) {
                text += &format!("{}:\n", self.display_path(path));
            } else if before.is_some() {
                text += "…\n";
            }
            before = Some(path.clone());
            for (index, lines) in ranges(file, seam).into_iter().enumerate() {
                if index > 0 {
                    text += "…\n";
                }
                // What an earlier seam of the file shows isn't shown again.
                let end = shown_to.get(path).copied().filter(|end| lines.contains(end));
                let lines = end.unwrap_or(lines.start)..lines.end;
                shown_to.insert(path.clone(), lines.end);
                for line in lines.clone() {
                    text += &format!("{}\t{}\n", line + 1, visible_line(file, line));
                }
                numbers.push(shown_lines(file, &lines, context.next_version()));
            }
        }
        if text.is_empty() {
            return done.complete();
        }
        let mut view = View::new("");
        view.code("", text);
        done.content(view).shows(numbers).complete()
    }
}

/// Returns the lines that a seam shows.
fn ranges(file: &OpenFile, seam: &Seam) -> Vec<Range<usize>> {
    let count = file.buffer().line_count();
    let is_empty = |line: usize| file.buffer().line_head(line, 200).0.trim().is_empty();
    // The nearest line with something on it, above and below.
    let above = |line: usize| {
        let mut at = line;
        while at > 0 && line - at <= EMPTY_LINES_MAX {
            at -= 1;
            if !is_empty(at) {
                break;
            }
        }
        at
    };
    let below = |line: usize| {
        let mut at = line;
        while at < count && at - line <= EMPTY_LINES_MAX {
            at += 1;
            if !is_empty(at - 1) {
                break;
            }
        }
        at
    };
    match seam {
        Seam::Gap(_, at) => {
            let line = match *at >= file.buffer().len() {
                true => count,
                false => file.buffer().line_at(*at),
            };
            let lines = above(line)..below(line);
            if lines.is_empty() { Vec::new() } else { Vec::from([lines]) }
        }
        Seam::Block(_, bytes) => {
            let lines = file.buffer().lines_of(bytes);
            let lines = lines.start..lines.end.min(count);
            let (start, end) = (above(lines.start), below(lines.end));
            match lines.len() <= SHORT_BLOCK {
                true => {
                    let whole = start..end;
                    vec![whole]
                }
                false => vec![start..lines.start + 2, lines.end - 1..end],
            }
        }
    }
}
