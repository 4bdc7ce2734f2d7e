//! Writing a file to another path, after a question if there is a file already.

use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, FilePath, regular_file};

use crate::action::Action;
use crate::display::wording::count;
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::disk::{self, WriteMode};
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::model::workspace_edit::make_folders;
use crate::update::disk_task::at_disk;

use super::question::{Choices, QuestionToken};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverwriteChoice {
    Overwrite,
    Keep,
}

const EXISTS: Choices<OverwriteChoice> = Choices(&[
    (OverwriteChoice::Overwrite, "overwrite", "writes this text over it"),
    (OverwriteChoice::Keep, "keep", "writes nothing"),
]);

/// The data that another thread needs to write a text to another path.
struct SaveAsRequest {
    target: PathBuf,
    /// The path of the file whose text is written.
    own: PathBuf,
    buffer: Buffer,
    mode: u32,
    /// The paths of the files that are open in this session.
    open: Vec<PathBuf>,
    root: PathBuf,
    context: Context,
}

/// The result of writing a text to another path.
enum SavedAs {
    Written(PathBuf),
    /// The target file already exists: the reader must say what to do.
    Exists {
        path: PathBuf,
        disk: Option<u64>,
    },
    /// Nobody waits for it any more, so nothing was written.
    CalledOff,
}

impl SaveAsRequest {
    /// Writes the text. This may wait for a disk.
    fn run(self, commit: &CommitPoint) -> Result<SavedAs, Fault> {
        let path = disk::resolve_new(&self.target)?;
        let shown = match path.strip_prefix(&self.root) {
            // The root itself has no name below the root.
            Ok(below) if !below.as_os_str().is_empty() => below.display(),
            _ => path.display(),
        };
        if self.own == path {
            return Err(Fault::usage(format!("{shown} is the file itself")).hint("save() saves it"));
        }
        if self.open.contains(&path) {
            return Err(Fault::refused(format!("{shown} is open in this session"))
                .hint("close it first, or choose another name"));
        }
        let exists = match path.metadata() {
            Ok(metadata) => {
                regular_file::check(&metadata).map_err(|kind| {
                    Fault::refused(format!("{shown} is {kind}, expected a file's path"))
                        .hint("choose another name: nothing was written")
                })?;
                true
            }
            Err(_) => false,
        };
        let there = if exists { disk::digest(&path)? } else { None };
        if exists {
            let disk = there;
            if !may_overwrite(&path, disk, &shown.to_string(), &self.context)? {
                return Ok(SavedAs::Exists { path, disk });
            }
        }
        if !commit.begin() {
            return Ok(SavedAs::CalledOff);
        }
        make_folders(&path, &mut Vec::new())?;
        let mode = if exists { WriteMode::Replace } else { WriteMode::Create(self.mode) };
        disk::store(&path, &self.buffer, mode, &[there])?;
        Ok(SavedAs::Written(path))
    }
}

/// Writes a copy of the current file.
pub(crate) fn save_as(
    open_files: &OpenFiles,
    path: &str,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let index = seen_file_index(open_files, context)?;
    let target = open_files.paths.caller_path(path, context);
    let file = &open_files[index];
    let request = SaveAsRequest {
        target: target.clone(),
        own: file.path().to_owned(),
        buffer: file.buffer().clone(),
        // The copy is for editing, so it is not read-only as this file may be.
        mode: file.mode().map_or(0o666, |mode| mode | 0o200),
        open: open_files.iter().map(|file| file.path().to_owned()).collect(),
        root: open_files.paths.root.to_owned(),
        context: context.clone(),
    };
    let lines = file.buffer().line_count();
    let save = move |commit: &CommitPoint| request.run(commit);
    Ok(at_disk(open_files, &target, context, save, move |editor, saved, _, _| match saved? {
        SavedAs::Exists { path, disk } => {
            let shown = editor.files.paths.display_path(&path);
            EXISTS.ask(format!("{shown} already exists"), &QuestionToken::Overwrite { path, disk })
        }
        SavedAs::CalledOff => Err(Fault::failed("nothing was written")),
        SavedAs::Written(path) => {
            let shown = editor.files.paths.display_path(&path);
            let open = Action::Open { path: vec![FilePath(path.to_string_lossy().into_owned())] };
            let brief = format!("{shown}, {}, a copy", count(lines, "line"));
            let done = Done::new(brief).link("open it", &open);
            Ok(done.changed_files([path.to_string_lossy().into_owned()]).into())
        }
    }))
}

/// True when the reader agreed to overwrite a file as it is now; false when they weren't asked yet.
///
/// # Errors
/// The reader chose to keep the file.
fn may_overwrite(
    target: &Path,
    now: Option<u64>,
    shown: &str,
    context: &Context,
) -> Result<bool, Fault> {
    match QuestionToken::answered(context)? {
        Some((QuestionToken::Overwrite { path, disk }, choice))
            if path == target && disk == now =>
        {
            match EXISTS.chosen(choice)? {
                OverwriteChoice::Overwrite => Ok(true),
                OverwriteChoice::Keep => {
                    Err(Fault::failed(format!("{shown} was kept, nothing was saved")))
                }
            }
        }
        _ => Ok(false),
    }
}
