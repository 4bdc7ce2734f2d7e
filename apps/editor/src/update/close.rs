//! Closing a file, after a question if it has unsaved changes.

use docui::{Anchor, Blocking, Context, Done, Fault, Reply};

use crate::action;
use crate::model::Editor;
use crate::model::history::Author;

use super::question::{Choices, Token};
use super::save::{AfterSave, Answered, ConflictChoice};

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
        if let Some(binary) = file.and_then(|file| self.binary(&file.key)) {
            let (path, shown) = (binary.path().to_owned(), self.binary_key(binary));
            self.binaries.remove(&path);
            self.record_closed(shown.clone(), "it was closed".to_owned());
            self.write_manifest();
            return Ok(Done::new(shown).into());
        }
        let index = self.file_to_close(file, context)?;
        if self.files[index].is_being_written() {
            return Err(self.being_written(&[index]));
        }
        let shown = self.display_name(index);
        if !self.files[index].is_unsaved() {
            self.close_file(index, "it was closed", &Author::of(context));
            return Ok(Done::new(shown).into());
        }
        match self.close_choice(index, context)? {
            None => {
                let file = &self.files[index];
                let (path, text) = (file.path().to_owned(), file.buffer().digest());
                let token = Token::Close { path, text };
                UNSAVED.ask(format!("{shown} has unsaved changes"), &token)
            }
            Some(CloseChoice::Discard) => {
                let reason = "it was closed, its changes discarded";
                self.close_file(index, reason, &Author::of(context));
                Ok(Done::new(format!("{shown}, changes discarded")).into())
            }
            // This is a failure although it was chosen, because later steps rely on the file being closed.
            Some(CloseChoice::Keep) => Err(Fault::failed(format!("{shown} is still open"))),
            // It is saved first, at the disk.
            Some(CloseChoice::Save) => Err(Fault::failed("the save was not begun")),
        }
    }

    /// Returns the save of a file that is to be closed, if the reader chose to save it.
    pub(super) fn save_before_closing(
        &mut self,
        file: Option<&Anchor<action::File>>,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        if file.is_some_and(|file| self.binary(&file.key).is_some()) {
            return Ok(None);
        }
        let index = self.file_to_close(file, context)?;
        let unsaved = self.files[index].is_unsaved();
        match unsaved && self.close_choice(index, context)? == Some(CloseChoice::Save) {
            true => self.save_files(vec![index], AfterSave::Close, context).map(Some),
            false => Ok(None),
        }
    }

    fn file_to_close(
        &self,
        file: Option<&Anchor<action::File>>,
        context: &Context,
    ) -> Result<usize, Fault> {
        match file {
            None => self.seen_file_index(context),
            Some(anchor) => {
                let found = self.file_index_by_key(&anchor.key);
                found.ok_or_else(|| Fault::not_found("no open file").about(anchor.key.clone()))
            }
        }
    }

    /// Returns what the reader chose to do about unsaved changes; `None` if that wasn't asked yet.
    fn close_choice(&self, index: usize, context: &Context) -> Result<Option<CloseChoice>, Fault> {
        let file = &self.files[index];
        match Token::answered(context)? {
            Some((Token::Close { path, text }, choice))
                if path == file.path() && text == file.buffer().digest() =>
            {
                UNSAVED.chosen(choice).map(Some)
            }
            // The save before closing had to ask as well. To take the text on disk is to discard this
            // one; the other answers are about the save.
            _ => Ok(Answered::of(context)?
                .filter(|answered| answered.files.iter().any(|asked| asked.path == file.path()))
                .map(|answered| match answered.choice {
                    ConflictChoice::Reload => CloseChoice::Discard,
                    ConflictChoice::Overwrite | ConflictChoice::Keep => CloseChoice::Save,
                })),
        }
    }
}
