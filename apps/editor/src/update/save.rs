//! Saving a file, after a question if the file on disk has changed.

use std::path::{Path, PathBuf};

use docui::{Context, Done, Fault, Reply};

use crate::action::Action;
use crate::limits::UNSAVED_NAMED;
use crate::model::Editor;
use crate::model::disk;
use crate::model::history::Author;
use crate::model::ids::IdKind;
use crate::model::open_file::DiskState;

use super::question::{Choices, Token};

/// What to do about a file that somebody else changed or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConflictChoice {
    Overwrite,
    Reload,
    Keep,
}

pub(super) const CHANGED_ON_DISK: Choices<ConflictChoice> = Choices(&[
    (ConflictChoice::Overwrite, "overwrite", "writes your text over theirs"),
    (ConflictChoice::Reload, "reload", "replaces your changes with theirs; undo brings yours back"),
    (ConflictChoice::Keep, "keep", "writes nothing, goes on editing"),
]);

const DELETED_ON_DISK: Choices<ConflictChoice> = Choices(&[
    (ConflictChoice::Overwrite, "write", "writes it again"),
    (ConflictChoice::Keep, "keep", "writes nothing, goes on editing"),
]);

impl Editor {
    pub(super) fn save(&mut self, context: &Context) -> Result<Reply, Fault> {
        let index = self.seen_file_index(context)?;
        self.save_file(index, context)
    }

    pub(super) fn save_file(&mut self, index: usize, context: &Context) -> Result<Reply, Fault> {
        let file = &self.files[index];
        let (path, shown) = (file.path().to_owned(), self.display_name(index));
        let disk = disk::digest(&path);
        let deleted = !path.exists();
        if disk == file.base_digest() && !deleted {
            if !file.is_unsaved() && *file.disk_state() == DiskState::Same {
                let others = self.other_unsaved_files(index);
                return Ok(Done::new(format!("{shown}, no changes{others}")).into());
            }
        } else if disk.is_some() && disk == Some(file.buffer().digest()) {
            // Somebody else has written exactly this text.
            self.files[index].save()?;
            self.write_manifest();
            return Ok(Done::new(format!("{shown}{}", self.other_unsaved_files(index))).into());
        } else {
            match conflict_choice(&path, disk, deleted, context)? {
                None => return ask_about_conflict(&shown, path, disk, deleted),
                Some(ConflictChoice::Overwrite) => {}
                Some(ConflictChoice::Reload) => return self.reload(index, context),
                // This is a failure although it was chosen, because later steps rely on the saved file.
                Some(ConflictChoice::Keep) => {
                    return Err(Fault::failed(format!("{shown} was not saved"))
                        .hint(self.run_command("diff()")));
                }
            }
        }
        let links = disk::hard_links(&path);
        self.files[index].save()?;
        self.write_manifest();
        let mut brief = shown;
        match links {
            0 | 1 => {}
            2 => brief += " · its other hard link keeps the old text",
            more => brief += &format!(" · its {} other hard links keep the old text", more - 1),
        }
        Ok(Done::new(brief + &self.other_unsaved_files(index)).into())
    }

    /// Names the other files that are still to be saved, as the end of a sentence; empty if there are none.
    fn other_unsaved_files(&self, saved: usize) -> String {
        let unsaved = self.files.iter().enumerate().filter(|(index, _)| *index != saved);
        let unsaved: Vec<_> = unsaved.filter(|(_, file)| file.is_unsaved()).collect();
        let names = unsaved.iter().take(UNSAVED_NAMED).map(|(index, _)| self.display_name(*index));
        let names = names.collect::<Vec<_>>().join(", ");
        match unsaved.len().saturating_sub(UNSAVED_NAMED) {
            _ if unsaved.is_empty() => String::new(),
            0 => format!(" · still unsaved: {names}"),
            more => format!(" · still unsaved: {names} and {more} more"),
        }
    }

    fn reload(&mut self, index: usize, context: &Context) -> Result<Reply, Fault> {
        self.before_change(index)?;
        self.hide_search_results();
        let id = self.ids.next(IdKind::Change);
        self.files[index].reload(id, Author::of(context))?;
        self.write_manifest();
        let change = self.files[index].last_change_id().map(Into::into);
        Ok(Done::new("reloaded from disk, nothing written")
            .link("undo", &Action::Undo { steps: 1, change })
            .into())
    }
}

/// Returns what was answered about the file as it is on disk now; `None` if that wasn't asked yet.
fn conflict_choice(
    path: &Path,
    disk: Option<u64>,
    deleted: bool,
    context: &Context,
) -> Result<Option<ConflictChoice>, Fault> {
    match Token::answered(context)? {
        Some((Token::DiskConflict { path: asked, disk: then }, choice))
            if asked == path && then == disk =>
        {
            let choices = if deleted { DELETED_ON_DISK } else { CHANGED_ON_DISK };
            choices.chosen(choice).map(Some)
        }
        _ => Ok(None),
    }
}

fn ask_about_conflict(
    shown: &str,
    path: PathBuf,
    disk: Option<u64>,
    deleted: bool,
) -> Result<Reply, Fault> {
    let token = Token::DiskConflict { path, disk };
    match deleted {
        true => DELETED_ON_DISK.ask(format!("{shown} was deleted on disk"), &token),
        false => {
            CHANGED_ON_DISK.ask(format!("{shown} was changed on disk by someone else"), &token)
        }
    }
}
