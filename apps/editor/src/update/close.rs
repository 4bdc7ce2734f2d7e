//! Closing a file, after a question if it has unsaved changes.

use docui::{Anchor, Blocking, Context, Done, Fault, Reply};

use crate::action;
use crate::model::Editor;
use crate::model::history::Author;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::update::save::{being_written, save_files};

use super::question::{Choices, QuestionToken};
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

pub(crate) fn close(
    open_files: &mut OpenFiles,
    file: Option<&Anchor<action::File>>,
    context: &Context,
) -> Result<Reply, Fault> {
    if let Some(binary) = file.and_then(|file| open_files.binary(&file.key)) {
        let (path, shown) = (binary.path().to_owned(), open_files.paths.binary_key(binary));
        open_files.binaries.remove(&path);
        open_files.record_closed(shown.clone(), "it was closed".to_owned());
        open_files.write_manifest();
        return Ok(Done::new(shown).into());
    }
    let index = file_to_close(open_files, file, context)?;
    if open_files[index].is_being_written() {
        return Err(being_written(open_files, &[index]));
    }
    let shown = open_files.display_name(index);
    if !open_files[index].is_unsaved() {
        open_files.close_file(index, "it was closed", &Author::of(context));
        return Ok(Done::new(shown).into());
    }
    match close_choice(open_files, index, context)? {
        None => {
            let file = &open_files[index];
            let (path, text) = (file.path().to_owned(), file.buffer().digest());
            let token = QuestionToken::Close { path, text };
            UNSAVED.ask(format!("{shown} has unsaved changes"), &token)
        }
        Some(CloseChoice::Discard) => {
            let reason = "it was closed, its changes discarded";
            open_files.close_file(index, reason, &Author::of(context));
            Ok(Done::new(format!("{shown}, changes discarded")).into())
        }
        // This is a failure although it was chosen, because later steps rely on the file being
        // closed.
        Some(CloseChoice::Keep) => Err(Fault::failed(format!("{shown} is still open"))),
        // It is saved first, at the disk.
        Some(CloseChoice::Save) => Err(Fault::failed("the save was not begun")),
    }
}

/// Returns the save of a file that is to be closed, if the reader chose to save it.
pub(crate) fn save_before_closing(
    open_files: &OpenFiles,
    file: Option<&Anchor<action::File>>,
    context: &Context,
) -> Result<Option<Blocking<Editor>>, Fault> {
    if file.is_some_and(|file| open_files.binary(&file.key).is_some()) {
        return Ok(None);
    }
    let index = file_to_close(open_files, file, context)?;
    let unsaved = open_files[index].is_unsaved();
    match unsaved && close_choice(open_files, index, context)? == Some(CloseChoice::Save) {
        true => save_files(open_files, vec![index], AfterSave::Close, context).map(Some),
        false => Ok(None),
    }
}

fn file_to_close(
    open_files: &OpenFiles,
    file: Option<&Anchor<action::File>>,
    context: &Context,
) -> Result<usize, Fault> {
    match file {
        None => seen_file_index(open_files, context),
        Some(anchor) => {
            let found = open_files.index_by_key(&anchor.key);
            found.ok_or_else(|| Fault::not_found("no open file").about(anchor.key.clone()))
        }
    }
}

/// Returns what the reader chose to do about unsaved changes; `None` if that wasn't asked yet.
fn close_choice(
    open_files: &OpenFiles,
    index: usize,
    context: &Context,
) -> Result<Option<CloseChoice>, Fault> {
    let file = &open_files[index];
    match QuestionToken::answered(context)? {
        Some((QuestionToken::Close { path, text }, choice))
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
