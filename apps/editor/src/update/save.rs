//! Saving a file, after a question if the file on disk has changed.

use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply};

use crate::action::Action;
use crate::limits::UNSAVED_NAMED;
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::disk::{self, LoadedFile, WriteMode};
use crate::model::file_stamp::FileStamp;
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

/// What follows a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterSave {
    Nothing,
    Close,
}

/// A file that is to be saved, as another thread needs it.
#[derive(Debug)]
pub(super) struct SaveRequest {
    path: PathBuf,
    buffer: Buffer,
    base_digest: Option<u64>,
    /// True when there is nothing to save as long as the disk has what is known.
    saved: bool,
    context: Context,
}

/// What became of a save.
#[derive(Debug)]
pub(super) enum Saved {
    /// There was nothing to save.
    NoChanges,
    /// The text was written.
    Written {
        digest: u64,
        stamp: FileStamp,
        /// How many names the replaced file had, if it had another text.
        links: u64,
    },
    /// The disk has another text, or nothing: the reader must say what to do.
    Conflict { disk: Option<u64>, deleted: bool },
    /// The reader chose the text on disk.
    Reload(Box<LoadedFile>),
    /// The reader chose to write nothing.
    Kept,
    /// Nobody waits for it any more, so nothing was written.
    CalledOff,
}

impl SaveRequest {
    /// True if this is the path of the file.
    pub(super) fn is_of(&self, path: &Path) -> bool {
        self.path == path
    }

    /// Saves the file. This may wait for its disk.
    pub(super) fn run(self, commit: &CommitPoint) -> Result<Saved, Fault> {
        let disk = disk::digest(&self.path)
            .map_err(|fault| fault.hint("nothing was written: save_as('…') writes it elsewhere"))?;
        let deleted = !self.path.exists();
        let digest = self.buffer.digest();
        let mut links = 0;
        if disk == self.base_digest && !deleted {
            if self.saved {
                return Ok(Saved::NoChanges);
            }
            links = disk::hard_links(&self.path);
        } else if disk.is_none() || disk != Some(digest) {
            match conflict_choice(&self.path, disk, deleted, &self.context)? {
                None => return Ok(Saved::Conflict { disk, deleted }),
                Some(ConflictChoice::Overwrite) => links = disk::hard_links(&self.path),
                Some(ConflictChoice::Reload) => {
                    return disk::load(&self.path).map(|loaded| Saved::Reload(Box::new(loaded)));
                }
                Some(ConflictChoice::Keep) => return Ok(Saved::Kept),
            }
        }
        if !commit.begin() {
            return Ok(Saved::CalledOff);
        }
        let stamp = disk::store(&self.path, &self.buffer, WriteMode::Replace)?;
        Ok(Saved::Written { digest, stamp, links })
    }
}

impl Editor {
    /// Returns what another thread needs to save a file.
    pub(super) fn save_request(&self, index: usize, context: &Context) -> SaveRequest {
        let file = &self.files[index];
        SaveRequest {
            path: file.path().to_owned(),
            buffer: file.buffer().clone(),
            base_digest: file.base_digest(),
            saved: !file.is_unsaved() && *file.disk_state() == DiskState::Same,
            context: context.clone(),
        }
    }

    pub(super) fn save_file(
        &mut self,
        index: usize,
        after: AfterSave,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        self.check_not_being_written(index)?;
        let request = self.save_request(index, context);
        let path = request.path.clone();
        let state = self.files[index].history().state();
        let write = self.files[index].begin_write();
        let identity = self.files[index].identity();
        let saved_path = path.clone();
        let save = move |commit: &CommitPoint| request.run(commit);
        Ok(self.at_disk(&path, context, save, move |editor, saved, context, completion| {
            drop(write);
            let (index, saved) = (editor.still_open(&identity)?, saved?);
            let written = matches!(saved, Saved::Written { .. });
            if editor.files[index].path() != saved_path || (completion.late && !written) {
                // Nobody waits for it any more, or the file is saved elsewhere by now.
                let became = if written { "was written" } else { "was not saved" };
                return Err(Fault::failed(format!("{} {became}", saved_path.display())));
            }
            let reply = editor.take_saved(index, state, saved, context)?;
            match (after, &reply) {
                (AfterSave::Close, Reply::Done(_)) if !completion.late => {
                    let shown = editor.display_name(index);
                    if editor.files[index].is_unsaved() {
                        let message = format!("{shown} was saved, and changed again meanwhile");
                        return Err(Fault::failed(message).hint(editor.view_hint()));
                    }
                    editor.close_file(index, "it was closed", &Author::of(context));
                    Ok(Done::new(format!("{shown}, saved")).into())
                }
                _ => Ok(reply),
            }
        }))
    }

    /// Takes in what became of a save of the text of a state.
    pub(super) fn take_saved(
        &mut self,
        index: usize,
        state: u64,
        saved: Saved,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let shown = self.display_name(index);
        let (digest, stamp, links) = match saved {
            Saved::NoChanges => {
                let others = self.other_unsaved_files(index);
                return Ok(Done::new(format!("{shown}, no changes{others}")).into());
            }
            Saved::Conflict { disk, deleted } => {
                let path = self.files[index].path().to_owned();
                return ask_about_conflict(&shown, path, disk, deleted);
            }
            Saved::Reload(loaded) => return self.reload(index, *loaded, context),
            // This is a failure although it was chosen, because later steps rely on the saved file.
            Saved::Kept => {
                return Err(Fault::failed(format!("{shown} was not saved"))
                    .hint(self.run_command("diff()")));
            }
            Saved::CalledOff => return Err(Fault::failed(format!("{shown} was not saved"))),
            Saved::Written { digest, stamp, links } => (digest, stamp, links),
        };
        self.files[index].take_write(state, digest, stamp);
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

    fn reload(
        &mut self,
        index: usize,
        loaded: LoadedFile,
        context: &Context,
    ) -> Result<Reply, Fault> {
        self.before_change(index)?;
        self.hide_search_results();
        let id = self.ids.next(IdKind::Change);
        self.files[index].reload(loaded, id, Author::of(context))?;
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
