//! Writing a file to another path, after a question if there is a file already.

use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply, command, regular_file};

use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::disk::{self, WriteMode};
use crate::model::file_stamp::FileStamp;
use crate::model::history::Author;

use super::question::{Choices, Token};
use super::save::{SaveRequest, Saved};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverwriteChoice {
    Overwrite,
    Keep,
}

const EXISTS: Choices<OverwriteChoice> = Choices(&[
    (OverwriteChoice::Overwrite, "overwrite", "writes this text over it"),
    (OverwriteChoice::Keep, "keep", "writes nothing"),
]);

/// A text that is to be written to another path, as another thread needs it.
struct SaveAsRequest {
    target: PathBuf,
    /// The file itself, in case the path leads to it.
    own: SaveRequest,
    buffer: Buffer,
    /// The permission bits of a new file.
    mode: u32,
    /// The files that are open in this session.
    open: Vec<PathBuf>,
    root: PathBuf,
    context: Context,
}

/// What became of a text that is to be written to another path.
enum SavedAs {
    /// The path leads to the file itself, which was saved.
    Itself(Saved),
    /// The text was written.
    Written { path: PathBuf, digest: u64, stamp: FileStamp },
    /// There is a file already: the reader must say what to do.
    Exists { path: PathBuf, disk: Option<u64> },
    /// Nobody waits for it any more, so nothing was written.
    CalledOff,
}

impl SaveAsRequest {
    /// Writes the text. This may wait for a disk.
    fn run(self, commit: &CommitPoint) -> Result<SavedAs, Fault> {
        let path = disk::resolve(&self.target).map_err(|fault| match self.target.parent() {
            Some(parent) if !parent.exists() => fault.hint(format!(
                "make it: {}",
                command::join(&["mkdir", "-p", &parent.to_string_lossy()])
            )),
            _ => fault,
        })?;
        if self.own.is_of(&path) {
            return self.own.run(commit).map(SavedAs::Itself);
        }
        let shown = match path.strip_prefix(&self.root) {
            // The root itself has no name below the root.
            Ok(below) if !below.as_os_str().is_empty() => below.display(),
            _ => path.display(),
        };
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
        if exists {
            let disk = disk::digest(&path)?;
            if !may_overwrite(&path, disk, &shown.to_string(), &self.context)? {
                return Ok(SavedAs::Exists { path, disk });
            }
        }
        if !commit.begin() {
            return Ok(SavedAs::CalledOff);
        }
        let mode = if exists { WriteMode::Replace } else { WriteMode::Create(self.mode) };
        let stamp = disk::store(&path, &self.buffer, mode)?;
        Ok(SavedAs::Written { digest: self.buffer.digest(), path, stamp })
    }
}

impl Editor {
    pub(super) fn save_as(
        &mut self,
        path: &str,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let index = self.seen_file_index(context)?;
        let target = self.caller_path(path, context);
        let own = self.save_request(index, context);
        let file = &self.files[index];
        let state = file.history().state();
        let request = SaveAsRequest {
            target: target.clone(),
            own,
            buffer: file.buffer().clone(),
            // The reader goes on editing there, so the new file is not read-only as this one may be.
            mode: file.mode().map_or(0o666, |mode| mode | 0o200),
            open: self.files.iter().map(|file| file.path().to_owned()).collect(),
            root: self.root().to_owned(),
            context: context.clone(),
        };
        // A write to the file's own path that is under way doesn't stand in the way of this one.
        let identity = file.identity();
        let save = move |commit: &CommitPoint| request.run(commit);
        Ok(self.at_disk(&target, context, save, move |editor, saved, context, _| {
            let index = editor.still_open(&identity)?;
            match saved? {
                SavedAs::Itself(saved) => editor.take_saved(index, state, saved, context),
                SavedAs::Exists { path, disk } => {
                    let shown = editor.display_path(&path);
                    EXISTS.ask(format!("{shown} already exists"), &Token::Overwrite { path, disk })
                }
                SavedAs::CalledOff => Err(Fault::failed("nothing was written")),
                SavedAs::Written { path, digest, stamp } => {
                    editor.take_saved_as(index, state, (path, digest, stamp), context)
                }
            }
        }))
    }

    /// Takes in that the text of a state was written to another path.
    fn take_saved_as(
        &mut self,
        index: usize,
        state: u64,
        (target, digest, stamp): (PathBuf, u64, FileStamp),
        context: &Context,
    ) -> Result<Reply, Fault> {
        let shown = self.display_path(&target);
        if self.file_index(&target).is_some() {
            let message = format!("{shown} was written, and was opened in this session meanwhile");
            return Err(Fault::failed(message).hint(self.view_hint()));
        }
        let file = &self.files[index];
        let (old_path, old_key) = (file.path().to_owned(), file.key());
        let was_current = self.is_current(file);
        let state_dir = self.state_dir.clone();
        // Readers may have seen another text under either path.
        self.before_change(index)?;
        let named = (target.clone(), context.next_version());
        self.files[index].take_write_as(named, state, digest, stamp, &state_dir);
        self.record_closed(old_key, format!("it was saved as {shown}"));
        self.record_rename(&old_path, &target);
        self.record_other_text(index);
        if was_current {
            self.set_current(Some(target), &Author::of(context));
        }
        self.write_manifest();
        Ok(Done::new(format!("now {shown}")).into())
    }
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
    match Token::answered(context)? {
        Some((Token::Overwrite { path, disk }, choice)) if path == target && disk == now => {
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
