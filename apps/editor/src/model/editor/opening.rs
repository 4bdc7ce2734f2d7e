//! Starting a session, opening files, and restoring them after a crash.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::{Fault, Opening};

use crate::limits::{FILES_MAX, READABLE_MAX};
use crate::model::binary_file::{BinaryFile, BinaryFiles};
use crate::model::change_log::ChangeLog;
use crate::model::current_file_log::CurrentFileLog;
use crate::model::disk_watch::DiskWatch;
use crate::model::history::Author;
use crate::model::ids::IdGenerator;
use crate::model::journal;
use crate::model::manifest::Manifest;
use crate::model::open_file::OpenFile;
use crate::model::shown_revisions::ShownRevisions;

use super::reading::{ReadArgument, ReadArguments};
use super::{Editor, snapshot};

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
        let interrupted = editor.settle(begun, &opening.handle);
        let notes = match manifest.filter(|_| opening.again) {
            Some(manifest) => editor.restore(manifest, opening),
            None => {
                let reader = editor.file_reader(&opening.cwd);
                let read = reader.read_at_start(&arguments(opening), &opening.handle);
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
        disk_watch.set_handle(opening.handle.clone());
        let cwd = without_symlinks(&opening.cwd);
        Self {
            root: project_root(&cwd),
            shown_revisions: ShownRevisions::read(&opening.state_dir, has_predecessor),
            files: Vec::new(),
            binaries: BinaryFiles::default(),
            current: None,
            cwd,
            callee: opening.callee(),
            address: opening.address(),
            state_dir: opening.state_dir.clone(),
            changes: ChangeLog::default(),
            hold: false,
            overwrite: Vec::new(),
            leftovers: Arc::default(),
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
        read: Vec<Result<ReadArguments, Fault>>,
    ) -> Result<Vec<String>, Fault> {
        // The manifest has already restored these files, except those that were closed since.
        if opening.again && (self.resumed || !self.files.is_empty()) {
            return Ok(Vec::new());
        }
        self.hold |= is_held(opening);
        let mut notes = Vec::new();
        let mut opened: Vec<OpenFile> = Vec::new();
        let mut binaries: Vec<BinaryFile> = Vec::new();
        let mut last = None;
        for file in read.iter().flatten().flat_map(|read| &read.files) {
            self.list_file(file.path());
            if let ReadArgument::Read(read) = file {
                self.take_outside(read);
            }
        }
        for (argument, read) in arguments(opening).into_iter().zip(read) {
            let mut take = |read: ReadArguments| match read.binary {
                Some(binary) => {
                    notes.push(self.binary_words(&binary));
                    binaries.push(binary);
                    Ok(None)
                }
                None => self.take_argument(read, &mut opened, &mut notes),
            };
            match read.and_then(&mut take) {
                Ok(path) => last = path.or(last),
                Err(fault) if opening.again => {
                    notes.push(format!("{argument} was not opened: {fault}."))
                }
                Err(fault) => return Err(fault),
            }
        }
        if !self.make_room(opened.len()) {
            let elsewhere = self.open_elsewhere_command();
            return Err(Fault::refused(format!("a session has at most {FILES_MAX} open files"))
                .hint(format!("close some, or open another session: {elsewhere} FILE")));
        }
        binaries.into_iter().for_each(|file| self.binaries.put(file));
        for mut file in opened {
            record_shown(&mut self.shown_revisions, &mut file);
            self.files.push(file);
            self.record_use(self.files.len() - 1);
        }
        if let Some(last) = last {
            if let Some(index) = self.file_index(&last) {
                self.record_use(index);
            }
            self.set_current(Some(last), &Author::outside_of_runs(self.version + 1));
        }
        self.write_manifest();
        Ok(notes)
    }

    /// Says what an open file that is no text is, and how to have its bytes.
    pub(crate) fn binary_words(&self, file: &BinaryFile) -> String {
        let (shown, bytes) = (self.display_path(file.path()), file.media().bytes);
        let bytes = grouped(bytes);
        match file.bytes() {
            Ok(read) if read.len() as u64 <= READABLE_MAX => {
                let of = docui::object_ref(&self.address, Some("file"), &self.binary_key(file));
                let read = docui::command::join(&["pipemux", "read", &of]);
                // Never its own name: the shell would empty the file first.
                let name = file.path().file_name().unwrap_or_default().to_string_lossy();
                let copy = docui::command::join(&[&format!("copy-of-{name}")]);
                format!("{shown} is binary, {bytes} bytes: {read} > {copy}")
            }
            _ => format!("{shown} is binary, {bytes} bytes"),
        }
    }

    /// Opens the files that an argument led to, unless they are open or among `opened`. Returns the last file that
    /// was named or, in a folder, the first one.
    fn take_argument(
        &self,
        read: ReadArguments,
        opened: &mut Vec<OpenFile>,
        notes: &mut Vec<String>,
    ) -> Result<Option<PathBuf>, Fault> {
        let ReadArguments { files, found_in, .. } = read;
        let (mut first, mut count, mut left_out) = (None, 0_usize, 0_usize);
        for read in files {
            let path = read.path().to_owned();
            let version = self.version + 1;
            let is_open = self.files.iter().chain(&*opened).any(|file| file.path() == path);
            let shown = self.display_path(&path);
            match read {
                _ if is_open => {}
                ReadArgument::AlreadyOpen(path) => {
                    // It was open when it was asked for, and was closed meanwhile.
                    let message = format!("{shown} was closed meanwhile");
                    let command = format!("{} {}", self.open_command(), path.display());
                    return Err(Fault::failed(message).hint(command));
                }
                ReadArgument::New(path, similar) => {
                    notes.push(match similar {
                        Some(name) => format!("{shown} is a new file (there is {name})."),
                        None => format!("{shown} is a new file."),
                    });
                    opened.push(OpenFile::new_file(path, &self.state_dir, version));
                }
                ReadArgument::Read(read) => match OpenFile::open(*read, &shown, version) {
                    Ok((mut file, file_notes)) => {
                        // Readers who saw the file before it was closed may have seen other lines.
                        if self.close_reason(&file.key()).is_some()
                            || self.closed.len() >= FILES_MAX
                        {
                            file.forget_lines(version);
                        }
                        notes.extend(file_notes);
                        opened.push(file);
                    }
                    // Files that aren't text are left out of a folder.
                    Err(_) if found_in.is_some() => {
                        left_out += 1;
                        continue;
                    }
                    Err(fault) => return Err(fault),
                },
            }
            count += 1;
            first.get_or_insert(path);
        }
        if let Some(found_in) = found_in {
            let left_out = match left_out {
                0 => String::new(),
                some => format!("; {some} not text"),
            };
            let files = if count == 1 { "file" } else { "files" };
            notes.push(format!("{count} {files} open in {found_in}{left_out}."));
        }
        Ok(first)
    }

    /// Opens the files that were open before a crash. Returns notes for the reader.
    fn restore(&mut self, manifest: Manifest, opening: &Opening) -> Vec<String> {
        let mut notes = Vec::new();
        self.hold = manifest.hold;
        // They are read by the first view.
        for path in manifest.binaries {
            self.binaries.put(BinaryFile::unread(path));
        }
        let paths: Vec<_> = manifest.files.iter().map(|entry| entry.path.clone()).collect();
        let read = self.file_reader(&opening.cwd).read_again(&paths, &opening.handle);
        for (entry, read) in manifest.files.into_iter().zip(read) {
            let shown = self.display_path(&entry.path);
            let _ = read.as_ref().map(|read| self.take_outside(read));
            match read.and_then(|read| OpenFile::open(read, &shown, 1)) {
                Ok((mut file, file_notes)) => {
                    if file.base_digest() != entry.base_digest {
                        file.forget_lines(1);
                    }
                    record_shown(&mut self.shown_revisions, &mut file);
                    self.files.push(file);
                    notes.extend(file_notes);
                }
                // It was new, and nothing was written yet.
                Err(_) if entry.base_digest.is_none() && !entry.path.exists() => {
                    self.files.push(OpenFile::new_file(entry.path, &self.state_dir, 1));
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

/// Writes a number with a comma between thousands.
fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// Keeps edits in the session until they are saved. A file of this name is opened as `./--hold`.
const HOLD: &str = "--hold";

/// Returns the paths, folders and globs that an `open` asks for.
pub(crate) fn arguments(opening: &Opening) -> Vec<String> {
    let paths = opening.args.iter().filter(|argument| !["--", HOLD].contains(&argument.as_str()));
    paths.cloned().collect()
}

/// True when an `open` asks for edits to stay in the session.
fn is_held(opening: &Opening) -> bool {
    opening.args.iter().any(|argument| argument == HOLD)
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
