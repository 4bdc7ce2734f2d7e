//! Lines of files that aren't open, in actions that take a first and a last line.

use docui::{Context, Line};

use crate::action::Action;
use crate::model::Editor;

use super::symbols::numbered;

impl Editor {
    /// Returns the action that does the same as one on numbered lines, and that reads a file which isn't open; `None` if
    /// the lines are elsewhere.
    pub(super) fn in_closed_file(&self, action: &Action, context: &Context) -> Option<Action> {
        Some(match action {
            Action::Lines { first, last } => {
                Action::LinesOf { range: self.closed_range(first, last, context)? }
            }
            Action::DeleteLines { first, last } => {
                Action::Delete { range: self.closed_range(first, last, context)? }
            }
            Action::ReplaceLines { first, last, text } => {
                let range = self.closed_range(first, last, context)?;
                Action::ReplaceRange { range, text: text.clone() }
            }
            Action::Insert { at, text } => {
                let (file, line) = self.closed_line(at, context)?;
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
                range: self.closed_range(first, last, context)?,
                before: Some(before.clone()),
                after: None,
                at_start_of: None,
                at_end_of: None,
            },
            _ => return None,
        })
    }

    /// The lines from one to another, as `a.rs:10-20`, if their file isn't open.
    fn closed_range(&self, first: &Line, last: &Line, context: &Context) -> Option<Line> {
        let (file, from) = self.closed_line(first, context)?;
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

    /// The file and the number of `a.rs:10`, if the file isn't open.
    fn closed_line<'a>(&self, line: &'a Line, context: &Context) -> Option<(&'a str, i64)> {
        let Line::Text(text) = line else { return None };
        let (file, number) = one_line(text)?;
        Some((file.filter(|file| !self.is_open(file, context))?, number))
    }
}

fn one_line(text: &str) -> Option<(Option<&str>, i64)> {
    let (file, first, last) = numbered(text.trim())?;
    (first == last && first >= 1).then_some((file, first))
}
