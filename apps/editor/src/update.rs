//! What each action does.
//!
//! | module | holds |
//! |---|---|
//! | [`ask`] | what a question brings back |
//! | [`edit`] | inserting, replacing, deleting, moving lines |
//! | [`files`] | open, save, save as, close |
//! | [`look`] | find, select, lines, goto, diff |
//! | [`matching`] | where a text stands, and where it nearly does |
//! | [`place`] | which lines are meant |
//! | [`replace`] | replacing text, and asking which |
//! | [`undo`] | undo and redo |

mod ask;
mod edit;
mod files;
mod look;
mod matching;
mod place;
mod replace;
mod undo;

use docui::{Context, Fault, Reply};

use crate::action::Action;
use crate::model::Editor;
use crate::model::history::Author;

impl Editor {
    pub(crate) fn act(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Replace { old, new, all } => self.replace(&old, &new.text, all, context),
            Action::ReplaceLines { first, last, text } => {
                self.replace_lines(&first, &last, &text, context)
            }
            Action::MoveLines { first, last, before } => {
                self.move_lines(&first, &last, &before, context)
            }
            Action::Insert { at, text } => self.insert(&at, &text, context),
            Action::DeleteLines { first, last } => self.delete_lines(&first, &last, context),
            Action::Save {} => self.save(context),
            Action::SaveAs { path } => self.save_as(&path, context),
            Action::Open { path } => self.open_path(&path, context),
            Action::Close { file } => self.close(file.as_ref(), context),
            Action::Undo { steps, change } => self.undo(steps, change.as_deref(), context),
            Action::Redo { steps, change } => self.redo(steps, change.as_deref(), context),
            Action::Find { text } => self.find_text(&text, context),
            Action::Select { first, last } => self.select(&first, &last, context),
            Action::Lines { first, last } => self.lines(&first, &last, context),
            Action::Goto { line } => self.goto(&line, context),
            Action::Diff {} => self.diff(context),
        }
    }
}

/// Who acts, and the version that comes of it.
pub(crate) fn author(context: &Context) -> Author {
    Author {
        reader: context.reader.clone(),
        run: context.run_id.clone(),
        version: context.next_version(),
    }
}

/// `3 matches`, `1 line`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = match (number, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// `line 5`, `lines 5-7`: of lines counted from 0.
pub(crate) fn numbers(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("line {}", lines.start + 1),
        _ => format!("lines {}-{}", lines.start + 1, lines.end),
    }
}
