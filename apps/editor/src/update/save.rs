//! Saving files, after a question if other programs have changed them.

use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply};

use crate::display::wording::{count, other_names};
use crate::limits::UNSAVED_NAMED;
use crate::model::Editor;
use crate::model::disk::LoadedFile;
use crate::model::edits::Edits;
use crate::model::history::{Author, Change, EditKind};
use crate::model::ids::IdKind;
use crate::model::open_file::DiskState;
use crate::model::open_files::OpenFiles;
use crate::model::text_gate::GateGuard;
use crate::update::disk_task::disk_task;

use super::asked::AskedConflict;
use super::question::{Choices, QuestionToken};

pub(super) mod save_all;

use save_all::{Conflict, SaveRequest, Saved, SavedAll, save_all};

/// The choice for a file that another program changed or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConflictChoice {
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

/// The action that follows a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterSave {
    Nothing,
    Close,
    /// Edits are written at once from then on.
    EndHold,
}

/// Saves all files that have something to save.
pub(crate) fn save(open_files: &OpenFiles, context: &Context) -> Result<Blocking<Editor>, Fault> {
    if open_files.list.is_empty() {
        return Err(open_files.no_file_open());
    }
    save_files(open_files, (0..open_files.len()).collect(), AfterSave::Nothing, context)
}

pub(crate) fn save_files(
    open_files: &OpenFiles,
    indexes: Vec<usize>,
    after: AfterSave,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let SavesBegun { requests, saving, busy } = begin_saves(open_files, indexes, after);
    // A disk that doesn't answer keeps no other file from being saved.
    let busy = (!busy.is_empty()).then(|| being_written(open_files, &busy));
    if requests.is_empty()
        && let Some(busy) = busy
    {
        return Err(busy);
    }
    let answered = Answered::of(context)?;
    let shown = match saving.as_slice() {
        [one] => open_files.paths.display_path(&one.path),
        several => count(several.len(), "file"),
    };
    let save = move |commit: &CommitPoint| save_all(&requests, answered.as_ref(), commit);
    let waits_for = format!("the disk of {shown}");
    let deadline = crate::limits::DISK_DEADLINE;
    Ok(disk_task(waits_for, deadline, context, save, move |editor, all, context, completion| {
        let all = match all? {
            SavedAll::Conflicts(conflicts) => return ask_about_conflicts(&editor.files, conflicts),
            // This is a failure although it was chosen, because later steps rely on saved files.
            SavedAll::Kept => {
                return Err(Fault::failed(format!("{shown} was not saved"))
                    .hint(editor.files.paths.run_command("diff()")));
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
        let done = take_saved(&mut editor.files, &mut editor.edits, saving, all, context)?;
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
            AfterSave::Close if !completion.late => {
                close_saved(&mut editor.files, &shown, context)?
            }
            AfterSave::EndHold => {
                editor.files.manifest_stale |= std::mem::replace(&mut editor.files.hold, false);
                let saved = done.map_or(String::new(), |done| format!(" · saved {done}"));
                format!("off{saved}")
            }
            _ => done.unwrap_or_else(|| "no changes".to_owned()),
        };
        Ok(Done::new(brief).changed_files(written).into())
    }))
}

/// Begins to save those of the files that have something to save.
fn begin_saves(open_files: &OpenFiles, indexes: Vec<usize>, after: AfterSave) -> SavesBegun {
    let mut requests = Vec::new();
    let (mut saving, mut busy) = (Vec::new(), Vec::new());
    for index in indexes {
        let file = &open_files[index];
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
        saving.push(Saving { path: file.path().to_owned(), state: file.states().state(), guard });
    }
    SavesBegun { requests, saving, busy }
}

fn close_saved(
    open_files: &mut OpenFiles,
    shown: &str,
    context: &Context,
) -> Result<String, Fault> {
    let index = (0..open_files.len()).find(|index| open_files.display_name(*index) == shown);
    let index = index.ok_or_else(|| Fault::failed("the file was closed meanwhile"))?;
    if open_files[index].is_unsaved() {
        let message = format!("{shown} was saved, and changed again meanwhile");
        return Err(Fault::failed(message).hint(open_files.paths.view_hint()));
    }
    open_files.close_file(index, "it was closed", &Author::of(context));
    Ok(format!("{shown}, saved"))
}

/// Takes in what became of a save, and names the files; `None` if there was nothing to save.
fn take_saved(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    saving: Vec<Saving>,
    all: Vec<Saved>,
    context: &Context,
) -> Result<Option<String>, Fault> {
    let (mut names, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
    for (Saving { path, state, guard }, saved) in saving.into_iter().zip(all) {
        drop(guard);
        let Some(index) = open_files.index(&path) else { continue };
        match saved {
            Saved::NoChanges => {}
            Saved::Failed(fault) => failed = Some(fault),
            Saved::Reload(loaded) => {
                let shown = open_files.display_name(index);
                reload(open_files, edits, index, *loaded, context)?;
                notes.push(format!("{shown} reloaded from disk, nothing written"));
            }
            Saved::Written { digest, stamp, links } => {
                open_files[index].take_write(state, digest, stamp);
                names.push(open_files.display_name(index));
                notes.extend(other_names(links));
            }
        }
    }
    open_files.write_manifest();
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

fn reload(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    index: usize,
    loaded: LoadedFile,
    context: &Context,
) -> Result<(), Fault> {
    open_files.before_change(index)?;
    let author = Author::of(context);
    if let Some(change) = open_files[index].reload(loaded, &author) {
        let id = edits.ids.next(IdKind::Change);
        let (kind, files) = (EditKind::Reload, vec![change]);
        edits.changes.push_reload(Change { id, kind, author, files, of: None });
    }
    Ok(())
}

fn ask_about_conflicts(open_files: &OpenFiles, conflicts: Vec<Conflict>) -> Result<Reply, Fault> {
    let said = conflicts.iter().map(|Conflict { file, differs }| {
        let shown = open_files.paths.display_path(&file.path);
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
    choices.ask(question, &QuestionToken::SaveConflict { files })
}

/// Returns the error of an action that can't be done while a write of these files is under way.
pub(crate) fn being_written(open_files: &OpenFiles, indexes: &[usize]) -> Fault {
    let shown: Vec<_> = indexes.iter().map(|index| open_files.display_name(*index)).collect();
    let shown = shown.join(", ");
    let message = format!("{shown} is being written, its disk has not answered yet");
    Fault::refused(message).hint("save_as('…') writes it elsewhere")
}

struct SavesBegun {
    requests: Vec<SaveRequest>,
    saving: Vec<Saving>,
    /// The indexes of the files that are already being written.
    busy: Vec<usize>,
}

/// A file that is being saved.
struct Saving {
    path: PathBuf,
    /// Identifies the text that is written.
    state: u64,
    guard: GateGuard,
}

/// The answer to a question about files on disk, with their state at that time.
#[derive(Debug)]
pub(crate) struct Answered {
    pub files: Vec<AskedConflict>,
    pub choice: ConflictChoice,
}

impl Answered {
    /// Returns the answer about files on disk; `None` if that wasn't asked yet.
    pub(super) fn of(context: &Context) -> Result<Option<Self>, Fault> {
        let (files, choice) = match QuestionToken::answered(context)? {
            Some((QuestionToken::SaveConflict { files }, choice)) => (files, choice),
            // As editors asked that saved one file at a time.
            Some((QuestionToken::DiskConflict { path, disk }, choice)) => {
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
