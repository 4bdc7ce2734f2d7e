//! Starting a session, opening files, and restoring them after a crash.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use docui::{Fault, Opening};

use crate::limits::FILES_MAX;
use crate::model::change_log::ChangeLog;
use crate::model::current_file_log::CurrentFileLog;
use crate::model::disk_watch::DiskWatch;
use crate::model::history::Author;
use crate::model::ids::IdGenerator;
use crate::model::journal;
use crate::model::manifest::Manifest;
use crate::model::open_file::OpenFile;
use crate::model::shown_revisions::ShownRevisions;

use super::reading::ReadArgument;
use super::{Editor, snapshot};

/// What opening one argument led to.
enum OpenedArgument {
    /// The file was open before.
    AlreadyOpen(PathBuf),
    /// The file was opened, with notes for the reader.
    Opened(Box<OpenFile>, Vec<String>),
}

impl Editor {
    /// Starts a session: from its snapshot, from what a crash left, or with the files that are asked for.
    /// Returns notes for the reader.
    ///
    /// # Errors
    /// As [`Editor::take_arguments`].
    pub(crate) fn start(opening: &Opening) -> Result<(Self, Vec<String>), Fault> {
        let mut lost_state = None;
        if opening.woken {
            match Self::from_snapshot(opening) {
                Ok(editor) => return Ok((editor, Vec::new())),
                Err(note) => lost_state = Some(note),
            }
        }
        snapshot::remove(&opening.state_dir);
        let manifest = Manifest::read(&opening.state_dir);
        let (changes, begun, lost_changes) = ChangeLog::read(&opening.state_dir);
        let mut editor = Self::empty(opening, opening.again || manifest.is_some());
        editor.changes = changes;
        editor.changes.forget_versions();
        let interrupted = editor.settle(begun);
        let notes = match manifest.filter(|_| opening.again) {
            Some(manifest) => editor.restore(manifest, opening),
            None => {
                let reader = editor.file_reader();
                let read = reader.read_at_start(&argument_paths(opening), &opening.waker);
                editor.take_arguments(opening, read)?
            }
        };
        editor.version = 1;
        let kept = journal::files_with_unsaved_edits(&opening.state_dir);
        let kept = kept.into_iter().filter(|path| editor.file(path).is_none());
        let kept = kept.map(|path| {
            let path = path.display();
            format!("Unsaved edits of {path} are kept; open the file to restore them.")
        });
        let before = lost_state.into_iter().chain(lost_changes).chain(interrupted);
        let notes = before.chain(notes).chain(kept).collect();
        Ok((editor, notes))
    }

    fn empty(opening: &Opening, has_predecessor: bool) -> Self {
        let mut disk_watch = DiskWatch::default();
        disk_watch.set_waker(opening.waker.clone());
        let cwd = without_symlinks(&opening.cwd);
        Self {
            root: project_root(&cwd),
            shown_revisions: ShownRevisions::read(&opening.state_dir, has_predecessor),
            files: Vec::new(),
            current: None,
            cwd,
            callee: opening.callee(),
            address: opening.address(),
            state_dir: opening.state_dir.clone(),
            changes: ChangeLog::default(),
            hold: false,
            overwrite: Vec::new(),
            uses: 0,
            selection: None,
            version: 0,
            ids: IdGenerator::new(),
            notes: Vec::new(),
            current_file_log: CurrentFileLog::default(),
            closed: VecDeque::new(),
            manifest_stale: false,
            snapshot_valid: false,
            disk_watch,
            resumed: false,
        }
    }

    /// Takes in the files that an `open` asks for, all of them or none, and makes the last one current. They
    /// were read for this. Returns notes for the reader.
    ///
    /// # Errors
    /// A file can't be opened, or there are too many. When the daemon repeats an `open` after a crash, such
    /// a file is skipped with a note instead.
    pub(crate) fn take_arguments(
        &mut self,
        opening: &Opening,
        read: Vec<Result<ReadArgument, Fault>>,
    ) -> Result<Vec<String>, Fault> {
        // The manifest has already restored these files, except those that were closed since.
        if opening.again && (self.resumed || !self.files.is_empty()) {
            return Ok(Vec::new());
        }
        let mut notes = Vec::new();
        let mut opened: Vec<OpenFile> = Vec::new();
        let mut last = None;
        let arguments = opening.args.iter().filter(|argument| *argument != "--");
        for (argument, read) in arguments.zip(read) {
            match read.and_then(|read| self.take_argument(read, &opened)) {
                Ok(OpenedArgument::AlreadyOpen(path)) => {
                    self.list_file(&path);
                    last = Some(path);
                }
                Ok(OpenedArgument::Opened(file, file_notes)) => {
                    last = Some(file.path().to_owned());
                    notes.extend(file_notes);
                    opened.push(*file);
                }
                Err(fault) if opening.again => {
                    notes.push(format!("{argument} was not opened: {fault}."))
                }
                Err(fault) => return Err(fault),
            }
        }
        opened.iter_mut().for_each(|file| record_shown(&mut self.shown_revisions, file));
        self.files.append(&mut opened);
        if let Some(last) = last {
            self.set_current(Some(last), &Author::outside_of_runs(self.version + 1));
        }
        self.write_manifest();
        Ok(notes)
    }

    /// Opens one file that was read, unless it is open or among `opened`.
    fn take_argument(
        &self,
        read: ReadArgument,
        opened: &[OpenFile],
    ) -> Result<OpenedArgument, Fault> {
        let path = read.path().to_owned();
        if self.files.iter().chain(opened).any(|file| file.path() == path) {
            return Ok(OpenedArgument::AlreadyOpen(path));
        }
        if self.files.len() + opened.len() >= FILES_MAX {
            let elsewhere = self.open_elsewhere_command();
            return Err(Fault::refused(format!("a session has at most {FILES_MAX} open files"))
                .hint(format!("close some, or open another session: {elsewhere} FILE")));
        }
        let ReadArgument::Read(read) = read else {
            // It was open when it was asked for, and was closed meanwhile.
            let message = format!("{} was closed meanwhile", self.display_path(&path));
            return Err(Fault::failed(message).hint(format!(
                "{} {}",
                self.open_command(),
                path.display()
            )));
        };
        let (version, shown) = (self.version + 1, self.display_path(&path));
        let (mut file, notes) = OpenFile::open(*read, &shown, version)?;
        // Readers who saw the file before it was closed may have seen other lines.
        if self.close_reason(&file.key()).is_some() || self.closed.len() >= FILES_MAX {
            file.forget_lines(version);
        }
        Ok(OpenedArgument::Opened(Box::new(file), notes))
    }

    /// Opens the files that were open before a crash. Returns notes for the reader.
    fn restore(&mut self, manifest: Manifest, opening: &Opening) -> Vec<String> {
        let mut notes = Vec::new();
        let paths: Vec<_> = manifest.files.iter().map(|entry| entry.path.clone()).collect();
        let read = self.file_reader().read_again(&paths, &opening.waker);
        for (entry, read) in manifest.files.into_iter().zip(read) {
            let shown = self.display_path(&entry.path);
            match read.and_then(|read| OpenFile::open(read, &shown, 1)) {
                Ok((mut file, file_notes)) => {
                    if file.base_digest() != entry.base_digest {
                        file.forget_lines(1);
                    }
                    record_shown(&mut self.shown_revisions, &mut file);
                    self.files.push(file);
                    notes.extend(file_notes);
                }
                Err(fault) => notes.push(format!("{shown} is no longer open: {fault}.")),
            }
        }
        let current = manifest.current.filter(|path| self.file(path).is_some());
        let current = current.or_else(|| self.files.last().map(|file| file.path().to_owned()));
        self.set_current(current, &Author::outside_of_runs(1));
        self.write_manifest();
        notes
    }
}

/// Returns the paths that an `open` asks for.
pub(crate) fn argument_paths(opening: &Opening) -> Vec<PathBuf> {
    let arguments = opening.args.iter().filter(|argument| *argument != "--");
    arguments.map(|argument| opening.path(argument)).collect()
}

/// Records that a file is about to be shown, and decides whether line numbers that readers saw in earlier
/// processes count in it.
fn record_shown(shown_revisions: &mut ShownRevisions, file: &mut OpenFile) {
    let digest = file.digest();
    if shown_revisions.is_only_revision(file.path(), digest) {
        file.trust_earlier_numbers();
    }
    shown_revisions.record_shown(file.path(), digest);
}

fn without_symlinks(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// Returns the root of the project that a directory is in: the nearest ancestor with `.git`, or the
/// directory itself.
fn project_root(directory: &Path) -> PathBuf {
    let project = directory.ancestors().find(|above| above.join(".git").exists());
    project.unwrap_or(directory).to_owned()
}
