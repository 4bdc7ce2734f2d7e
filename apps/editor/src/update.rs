//! What each action does.
//!
//! | module | holds |
//! |---|---|
//! | `open`, `close`, `save`, `save_as` | files |
//! | `line_edits`, `move_lines`, `replace` | changes of the text |
//! | `extract_method` | statements that become a function |
//! | `undo` | undo and redo |
//! | `find`, `navigate`, `diff` | actions that change no text |
//! | `resolve` | which lines a caller means |
//! | `commit` | making a change and reporting it |
//! | `disk_work` | what actions do at the disk, on another thread |
//! | `question` | questions, and what comes back with their answers |
//! | `text_search` | where a text occurs, and where something similar does |
//! | `whole_lines`, `gutter` | text of whole lines; line numbers that were copied with it |

mod close;
mod commit;
mod diff;
mod disk_work;
mod extract_method;
mod find;
mod gutter;
mod line_edits;
mod move_lines;
mod navigate;
mod open;
mod question;
mod replace;
mod resolve;
mod save;
mod save_as;
mod text_search;
mod undo;
mod whole_lines;

use docui::{Context, Fault, Reply};

use crate::action::Action;
use crate::model::Editor;

impl Editor {
    /// Carries out an action.
    pub(crate) fn perform(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
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
            Action::Close { file } => self.close(file.as_ref(), context),
            Action::Undo { steps, change } => {
                self.undo(steps, change.as_ref().map(|change| change.0.as_str()), context)
            }
            Action::Redo { steps, change } => {
                self.redo(steps, change.as_ref().map(|change| change.0.as_str()), context)
            }
            Action::Find { text } => self.find_text(&text, context),
            Action::Select { first, last } => self.select(&first, &last, context),
            Action::Lines { first, last } => self.lines(&first, &last, context),
            Action::Goto { line } => self.goto(&line, context),
            // These are done at the disk.
            Action::Save {} | Action::SaveAs { .. } | Action::Open { .. } | Action::Diff {} => {
                Err(Fault::failed("the action was not begun"))
            }
            Action::ExtractMethod { range, name, types } => {
                self.extract_method(&range, &name, &types, context)
            }
        }
    }
}
