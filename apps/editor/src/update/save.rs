//! Saving files, after a question if other programs have changed them.

use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply};

use crate::display::wording::{count, other_names};
use crate::limits::UNSAVED_NAMED;
use crate::model::Editor;
use crate::model::disk::LoadedFile;
use crate::model::history::{Author, Change, EditKind};
use crate::model::ids::IdKind;
use crate::model::open_file::DiskState;
use crate::model::text_gate::GateGuard;

use super::question::{AskedConflict, Choices, Token};

mod save_all;

use save_all::{Conflict, SaveRequest, Saved, SavedAll, save_all};

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
    /// Edits are written at once from then on.
    EndHold,
}

impl Editor {
    /// Saves all files that have something to save.
    pub(super) fn save(&mut self, context: &Context) -> Result<Blocking<Self>, Fault> {
        if self.files.is_empty() {
            return Err(self.no_file_open());
        }
        self.save_files((0..self.files.len()).collect(), AfterSave::Nothing, context)
    }

    pub(super) fn save_files(
        &mut self,
        indexes: Vec<usize>,
        after: AfterSave,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let mut requests = Vec::new();
        let (mut saving, mut busy) = (Vec::new(), Vec::new());
        for index in indexes {
            let file = &self.files[index];
            let saved = !file.is_unsaved() && *file.disk_state() == DiskState::Same;
            if saved && after != AfterSave::Close {
                continue;
            }
            let Some(guard) = file.begin_save() else {
                busy.push(index);
                continue;
            };
            requests.push(SaveRequest {
                path: file.path().to_owned(),
                buffer: file.buffer().clone(),
                base_digest: file.base_digest(),
                saved,
            });
            saving.push(Saving {
                path: file.path().to_owned(),
                state: file.states().state(),
                guard,
            });
        }
        // A disk that doesn't answer keeps no other file from being saved.
        let busy = (!busy.is_empty()).then(|| self.being_written(&busy));
        if requests.is_empty()
            && let Some(busy) = busy
        {
            return Err(busy);
        }
        let answered = Answered::of(context)?;
        let shown = match saving.as_slice() {
            [one] => self.display_path(&one.path),
            several => count(several.len(), "file"),
        };
        let save = move |commit: &CommitPoint| save_all(&requests, answered.as_ref(), commit);
        let waits_for = format!("the disk of {shown}");
        let deadline = crate::limits::DISK_DEADLINE;
        Ok(self.disk_task(
            waits_for,
            deadline,
            context,
            save,
            move |editor, all, context, completion| {
                let all = match all? {
                    SavedAll::Conflicts(conflicts) => return editor.ask_about_conflicts(conflicts),
                    // This is a failure although it was chosen, because later steps rely on saved files.
                    SavedAll::Kept => {
                        return Err(Fault::failed(format!("{shown} was not saved"))
                            .hint(editor.run_command("diff()")));
                    }
                    SavedAll::CalledOff => {
                        return Err(Fault::failed(format!("{shown} was not saved")));
                    }
                    SavedAll::Done(all) => all,
                };
                let written = |(saving, saved): (&Saving, &Saved)| {
                    let is_written = matches!(saved, Saved::Written { .. });
                    is_written.then(|| saving.path.to_string_lossy().into_owned())
                };
                let written: Vec<_> = saving.iter().zip(&all).filter_map(written).collect();
                let done = editor.take_saved(saving, all, context)?;
                // Later steps rely on saved files.
                if let Some(fault) = busy {
                    return Err(match done {
                        Some(done) => {
                            Fault { message: format!("{}; saved: {done}", fault.message), ..fault }
                        }
                        None => fault,
                    });
                }
                let brief = match after {
                    AfterSave::Close if !completion.late => editor.close_saved(&shown, context)?,
                    AfterSave::EndHold => {
                        editor.manifest_stale |= std::mem::replace(&mut editor.hold, false);
                        let saved = done.map_or(String::new(), |done| format!(" · saved {done}"));
                        format!("off{saved}")
                    }
                    _ => done.unwrap_or_else(|| "no changes".to_owned()),
                };
                Ok(Done::new(brief).changed_files(written).into())
            },
        ))
    }

    fn close_saved(&mut self, shown: &str, context: &Context) -> Result<String, Fault> {
        let index = (0..self.files.len()).find(|index| self.display_name(*index) == shown);
        let index = index.ok_or_else(|| Fault::failed("the file was closed meanwhile"))?;
        if self.files[index].is_unsaved() {
            let message = format!("{shown} was saved, and changed again meanwhile");
            return Err(Fault::failed(message).hint(self.view_hint()));
        }
        self.close_file(index, "it was closed", &Author::of(context));
        Ok(format!("{shown}, saved"))
    }

    /// Takes in what became of a save, and names the files; `None` if there was nothing to save.
    fn take_saved(
        &mut self,
        saving: Vec<Saving>,
        all: Vec<Saved>,
        context: &Context,
    ) -> Result<Option<String>, Fault> {
        let (mut names, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
        for (Saving { path, state, guard }, saved) in saving.into_iter().zip(all) {
            drop(guard);
            let Some(index) = self.file_index(&path) else { continue };
            match saved {
                Saved::NoChanges => {}
                Saved::Failed(fault) => failed = Some(fault),
                Saved::Reload(loaded) => {
                    let shown = self.display_name(index);
                    self.reload(index, *loaded, context)?;
                    notes.push(format!("{shown} reloaded from disk, nothing written"));
                }
                Saved::Written { digest, stamp, links } => {
                    self.files[index].take_write(state, digest, stamp);
                    names.push(self.display_name(index));
                    notes.extend(other_names(links));
                }
            }
        }
        self.write_manifest();
        if let Some(fault) = failed {
            return Err(match names.is_empty() {
                true => fault,
                false => Fault {
                    message: format!("{}; saved: {}", fault.message, names.join(", ")),
                    ..fault
                },
            });
        }
        let named = names.iter().take(UNSAVED_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let brief = match names.len().saturating_sub(UNSAVED_NAMED) {
            _ if names.is_empty() => String::new(),
            0 => named,
            more => format!("{}: {named} and {more} more", count(names.len(), "file")),
        };
        let parts = [brief].into_iter().filter(|brief| !brief.is_empty()).chain(notes);
        let parts = parts.collect::<Vec<_>>().join(" · ");
        Ok((!parts.is_empty()).then_some(parts))
    }

    fn reload(&mut self, index: usize, loaded: LoadedFile, context: &Context) -> Result<(), Fault> {
        self.before_change(index)?;
        let author = Author::of(context);
        if let Some(change) = self.files[index].reload(loaded, &author) {
            let id = self.ids.next(IdKind::Change);
            let (kind, files) = (EditKind::Reload, vec![change]);
            self.changes.push_reload(Change { id, kind, author, files, of: None });
        }
        Ok(())
    }

    fn ask_about_conflicts(&self, conflicts: Vec<Conflict>) -> Result<Reply, Fault> {
        let said = conflicts.iter().map(|Conflict { file, differs }| {
            let shown = self.display_path(&file.path);
            let differs = differs.as_ref().map_or(String::new(), |lines| format!(" (its {lines})"));
            match file.deleted {
                true => format!("{shown} was deleted on disk"),
                false => format!("{shown} was changed on disk by someone else{differs}"),
            }
        });
        let question = said.collect::<Vec<_>>().join(", ");
        let can_reload = conflicts.iter().all(|conflict| !conflict.file.deleted);
        let choices = if can_reload { CHANGED_ON_DISK } else { DELETED_ON_DISK };
        let files = conflicts.into_iter().map(|conflict| conflict.file).collect();
        choices.ask(question, &Token::SaveConflict { files })
    }

    /// Returns the error of an action that can't be done while a write of these files is under way.
    pub(super) fn being_written(&self, indexes: &[usize]) -> Fault {
        let shown: Vec<_> = indexes.iter().map(|index| self.display_name(*index)).collect();
        let shown = shown.join(", ");
        let message = format!("{shown} is being written, its disk has not answered yet");
        Fault::refused(message).hint("save_as('…') writes it elsewhere")
    }
}

/// A file that is being saved.
struct Saving {
    path: PathBuf,
    /// Identifies the text that is written.
    state: u64,
    guard: GateGuard,
}

/// What was answered about files on disk, as they were then.
#[derive(Debug)]
pub(super) struct Answered {
    pub files: Vec<AskedConflict>,
    pub choice: ConflictChoice,
}

impl Answered {
    /// Returns the answer about files on disk; `None` if that wasn't asked yet.
    pub(super) fn of(context: &Context) -> Result<Option<Self>, Fault> {
        let (files, choice) = match Token::answered(context)? {
            Some((Token::SaveConflict { files }, choice)) => (files, choice),
            // As editors asked that saved one file at a time.
            Some((Token::DiskConflict { path, disk }, choice)) => {
                let deleted = disk.is_none() && !Path::new(&path).exists();
                (vec![AskedConflict { path, disk, deleted }], choice)
            }
            _ => return Ok(None),
        };
        let can_reload = files.iter().all(|file| !file.deleted);
        let choices = if can_reload { CHANGED_ON_DISK } else { DELETED_ON_DISK };
        choices.chosen(choice).map(|choice| Some(Self { files, choice }))
    }
}
