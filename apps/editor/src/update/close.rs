//! Closing a file, after a question if it has unsaved changes.

use docui::{Anchor, Context, Done, Fault, Reply};

use crate::action;
use crate::model::Editor;
use crate::model::history::Author;

use super::question::{Choices, Token};
use super::save::{CHANGED_ON_DISK, ConflictChoice};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseChoice {
    Save,
    Discard,
    Keep,
}

const UNSAVED: Choices<CloseChoice> = Choices(&[
    (CloseChoice::Save, "save", "writes it, then closes it"),
    (CloseChoice::Discard, "discard", "closes it; the changes are lost"),
    (CloseChoice::Keep, "keep", "leaves it open"),
]);

impl Editor {
    pub(super) fn close(
        &mut self,
        file: Option<&Anchor<action::File>>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let index = match file {
            None => self.seen_file_index(context)?,
            Some(anchor) => {
                let found = self.file_index_by_key(&anchor.key);
                found.ok_or_else(|| Fault::not_found("no open file").about(anchor.key.clone()))?
            }
        };
        let file = &self.files[index];
        let (path, shown) = (file.path().to_owned(), self.display_name(index));
        if !file.is_unsaved() {
            self.close_file(index, "it was closed", &Author::of(context));
            return Ok(Done::new(shown).into());
        }
        let digest = file.buffer().digest();
        let choice = match Token::answered(context)? {
            Some((Token::Close { path: asked, text }, choice))
                if asked == path && text == digest =>
            {
                UNSAVED.chosen(choice)?
            }
            // The save before closing had to ask as well. To take the text on disk is to discard this
            // one; the other answers are about the save.
            Some((Token::DiskConflict { path: asked, disk }, choice)) if asked == path => {
                let reload =
                    disk.is_some() && CHANGED_ON_DISK.chosen(choice)? == ConflictChoice::Reload;
                if reload { CloseChoice::Discard } else { CloseChoice::Save }
            }
            _ => {
                let token = Token::Close { path, text: digest };
                return UNSAVED.ask(format!("{shown} has unsaved changes"), &token);
            }
        };
        match choice {
            CloseChoice::Save => {
                if let Reply::Ask(ask) = self.save_file(index, context)? {
                    return Ok(ask.into());
                }
                self.close_file(index, "it was closed", &Author::of(context));
                Ok(Done::new(format!("{shown}, saved")).into())
            }
            CloseChoice::Discard => {
                let reason = "it was closed, its changes discarded";
                self.close_file(index, reason, &Author::of(context));
                Ok(Done::new(format!("{shown}, changes discarded")).into())
            }
            // This is a failure although it was chosen, because later steps rely on the file being closed.
            CloseChoice::Keep => Err(Fault::failed(format!("{shown} is still open"))),
        }
    }
}
