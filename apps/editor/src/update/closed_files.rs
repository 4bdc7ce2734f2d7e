//! Lines of files that aren't open, in actions that take a first and a last line.

use docui::{Context, Line};

use crate::action::Action;
use crate::model::open_files::OpenFiles;
use crate::update::symbols::target_argument::is_open;

use super::symbols::numbered;

/// Returns the action that does the same as one on numbered lines, and that reads a file which
/// isn't open; `None` if the lines are elsewhere.
pub(crate) fn in_closed_file(
    open_files: &OpenFiles,
    action: &Action,
    context: &Context,
) -> Option<Action> {
    Some(match action {
        Action::Lines { first, last } => {
            Action::LinesOf { range: closed_range(open_files, first, last, context)? }
        }
        Action::DeleteLines { first, last } => {
            Action::Delete { range: closed_range(open_files, first, last, context)? }
        }
        Action::ReplaceLines { first, last, text } => {
            let range = closed_range(open_files, first, last, context)?;
            Action::ReplaceRange { range, text: text.clone() }
        }
        Action::Insert { at, text } => {
            let (file, line) = closed_line(open_files, at, context)?;
            let neighbour = Line::Text(format!("{file}:{}", (line - 1).max(1)));
            let (before, after) = match line {
                1 => (Some(neighbour), None),
                _ => (None, Some(neighbour)),
            };
            let (at_start_of, at_end_of) = (None, None);
            let indent = "exact".into();
            let text = text.clone();
            Action::InsertBeside { text, before, after, at_start_of, at_end_of, indent }
        }
        Action::MoveLines { first, last, before } => Action::Move {
            range: closed_range(open_files, first, last, context)?,
            before: Some(before.clone()),
            after: None,
            at_start_of: None,
            at_end_of: None,
        },
        _ => return None,
    })
}

/// Returns the range between two lines as `a.rs:10-20`, if their file isn't open.
fn closed_range(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Option<Line> {
    let (file, from) = closed_line(open_files, first, context)?;
    let to = match last {
        Line::Number(number) => *number,
        Line::Text(text) => {
            let (other, number) = one_line(text)?;
            (other.is_none() || other == Some(file)).then_some(number)?
        }
        Line::At(_) => return None,
    };
    Some(Line::Text(format!("{file}:{from}-{to}")))
}

/// Returns the file and line number of `a.rs:10`, if the file isn't open.
fn closed_line<'a>(
    open_files: &OpenFiles,
    line: &'a Line,
    context: &Context,
) -> Option<(&'a str, i64)> {
    let Line::Text(text) = line else { return None };
    let (file, number) = one_line(text)?;
    Some((file.filter(|file| !is_open(open_files, file, context))?, number))
}

fn one_line(text: &str) -> Option<(Option<&str>, i64)> {
    let (file, first, last) = numbered(text.trim())?;
    (first == last && first >= 1).then_some((file, first))
}
