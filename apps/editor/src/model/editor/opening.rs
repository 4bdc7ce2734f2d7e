//! Starting a session, opening files, and restoring them after a crash.

use std::path::PathBuf;

use docui::{Fault, Opening};

use crate::limits::FILES_MAX;
use crate::model::binary_file::BinaryFile;
use crate::model::edits::Edits;
use crate::model::history::Author;
use crate::model::ids::IdGenerator;
use crate::model::interrupted::settle;
use crate::model::journal;
use crate::model::manifest::Manifest;
use crate::model::open_file::OpenFile;
use crate::model::open_files::OpenFiles;
use crate::model::session_paths::SessionPaths;
use crate::model::shown_revisions::ShownRevisions;
use crate::model::written_files::take_outside;

use super::{Editor, snapshot};
use crate::model::file_reader::{ReadArgument, ReadArguments};

/// Starts a session: from its snapshot, from what a crash left, or with the files that are asked
/// for. Returns notes for the reader.
///
/// # Errors
/// As [`take_arguments`].
pub(crate) fn start(opening: &Opening) -> Result<(Editor, Vec<String>), Fault> {
    let mut lost_state = None;
    if opening.woken {
        match snapshot::read(opening) {
            Ok(editor) => return Ok((editor, Vec::new())),
            Err(note) => lost_state = Some(note),
        }
    }
    snapshot::remove(&opening.state_dir);
    let manifest = Manifest::read(&opening.state_dir);
    let (mut edits, begun, lost_changes) = Edits::read(opening, IdGenerator::new(), 0);
    edits.changes.forget_versions();
    let has_predecessor = opening.again || manifest.is_some();
    let shown_revisions = ShownRevisions::read(&opening.state_dir, has_predecessor);
    let mut files = OpenFiles::new(SessionPaths::new(opening), Vec::new(), shown_revisions);
    let interrupted = settle(&files, &mut edits, begun, &opening.handle);
    let notes = match manifest.filter(|_| opening.again) {
        Some(manifest) => restore(&mut files, &mut edits, manifest, opening),
        None => {
            let reader = files.file_reader(&opening.cwd);
            let read = reader.read_at_start(&arguments(opening), &opening.handle);
            take_arguments(&mut files, &mut edits, opening, read)?
        }
    };
    edits.version = 1;
    let kept = journal::files_with_unsaved_edits(&opening.state_dir);
    let kept = kept.into_iter().filter(|path| files.file(path).is_none());
    let kept = kept.map(|path| {
        let path = path.display();
        format!("Unsaved edits of {path} are kept; open the file to restore them.")
    });
    let before = lost_state.into_iter().chain(lost_changes).chain(interrupted);
    let notes = before.chain(notes).chain(kept).collect();
    Ok((Editor::new(opening, files, edits), notes))
}

/// Takes in the files that an `open` asks for, all of them or none, and makes the last one current.
/// They were read for this. Returns notes for the reader.
///
/// # Errors
/// A file can't be opened, or there are too many. When the daemon repeats an `open` after a crash,
/// such a file is skipped with a note instead.
pub(crate) fn take_arguments(
    files: &mut OpenFiles,
    edits: &mut Edits,
    opening: &Opening,
    read: Vec<Result<ReadArguments, Fault>>,
) -> Result<Vec<String>, Fault> {
    // The manifest has already restored these files, except those that were closed since.
    if opening.again && !files.list.is_empty() {
        return Ok(Vec::new());
    }
    files.hold |= is_held(opening);
    let mut notes = Vec::new();
    let mut opened: Vec<OpenFile> = Vec::new();
    let mut binaries: Vec<BinaryFile> = Vec::new();
    let mut last = None;
    for file in read.iter().flatten().flat_map(|read| &read.files) {
        files.list_file(file.path());
        if let ReadArgument::Read(read) = file {
            take_outside(files, edits, read);
        }
    }
    for (argument, read) in arguments(opening).into_iter().zip(read) {
        let mut take = |read: ReadArguments| match read.binary {
            Some(binary) => {
                notes.push(files.paths.binary_words(&binary));
                binaries.push(binary);
                Ok(None)
            }
            None => take_argument(files, edits, read, &mut opened, &mut notes),
        };
        match read.and_then(&mut take) {
            Ok(path) => last = path.or(last),
            Err(fault) if opening.again => {
                notes.push(format!("{argument} was not opened: {fault}."))
            }
            Err(fault) => return Err(fault),
        }
    }
    if !files.make_room(opened.len()) {
        let elsewhere = files.paths.open_elsewhere_command();
        return Err(Fault::refused(format!("a session has at most {FILES_MAX} open files"))
            .hint(format!("close some, or open another session: {elsewhere} FILE")));
    }
    binaries.into_iter().for_each(|file| files.binaries.put(file));
    for mut file in opened {
        record_shown(&mut files.shown_revisions, &mut file);
        files.list.push(file);
        files.record_use(files.len() - 1);
    }
    if let Some(last) = last {
        if let Some(index) = files.index(&last) {
            files.record_use(index);
        }
        files.set_current(Some(last), &Author::outside_of_runs(edits.version + 1));
    }
    files.write_manifest();
    Ok(notes)
}

/// Opens the files that an argument led to, unless they are open or among `opened`. Returns the
/// last file that was named or, in a folder, the first one.
fn take_argument(
    files: &OpenFiles,
    edits: &Edits,
    read: ReadArguments,
    opened: &mut Vec<OpenFile>,
    notes: &mut Vec<String>,
) -> Result<Option<PathBuf>, Fault> {
    let ReadArguments { files: asked, found_in, .. } = read;
    let (mut first, mut count, mut left_out) = (None, 0_usize, 0_usize);
    for read in asked {
        let path = read.path().to_owned();
        let version = edits.version + 1;
        let is_open = files.iter().chain(&*opened).any(|file| file.path() == path);
        let shown = files.paths.display_path(&path);
        match read {
            _ if is_open => {}
            ReadArgument::AlreadyOpen(path) => {
                // It was open when it was asked for, and was closed meanwhile.
                let message = format!("{shown} was closed meanwhile");
                let command = format!("{} {}", files.paths.open_command(), path.display());
                return Err(Fault::failed(message).hint(command));
            }
            ReadArgument::New(path, similar) => {
                notes.push(match similar {
                    Some(name) => format!("{shown} is a new file (there is {name})."),
                    None => format!("{shown} is a new file."),
                });
                opened.push(OpenFile::new_file(path, &files.paths.state_dir, version));
            }
            ReadArgument::Read(read) => match OpenFile::open(*read, &shown, version) {
                Ok((mut file, file_notes)) => {
                    // Readers who saw the file before it was closed may have seen other lines.
                    if files.close_reason(&file.key()).is_some() || files.closed.len() >= FILES_MAX
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
fn restore(
    files: &mut OpenFiles,
    edits: &mut Edits,
    manifest: Manifest,
    opening: &Opening,
) -> Vec<String> {
    let mut notes = Vec::new();
    files.hold = manifest.hold;
    // They are read by the first view.
    for path in manifest.binaries {
        files.binaries.put(BinaryFile::unread(path));
    }
    let paths: Vec<_> = manifest.files.iter().map(|entry| entry.path.clone()).collect();
    let read = files.file_reader(&opening.cwd).read_again(&paths, &opening.handle);
    for (entry, read) in manifest.files.into_iter().zip(read) {
        let shown = files.paths.display_path(&entry.path);
        let _ = read.as_ref().map(|read| take_outside(files, edits, read));
        match read.and_then(|read| OpenFile::open(read, &shown, 1)) {
            Ok((mut file, file_notes)) => {
                if file.base_digest() != entry.base_digest {
                    file.forget_lines(1);
                }
                record_shown(&mut files.shown_revisions, &mut file);
                files.list.push(file);
                notes.extend(file_notes);
            }
            // It was new, and nothing was written yet.
            Err(_) if entry.base_digest.is_none() && !entry.path.exists() => {
                files.list.push(OpenFile::new_file(entry.path, &files.paths.state_dir, 1));
            }
            Err(fault) => notes.push(format!("{shown} is no longer open: {fault}.")),
        }
    }
    let current = manifest.current.filter(|path| files.file(path).is_some());
    let current = current.or_else(|| files.list.last().map(|file| file.path().to_owned()));
    files.set_current(current, &Author::outside_of_runs(1));
    files.write_manifest();
    notes
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

/// Records that a file is about to be shown, and decides whether line numbers that readers saw in
/// earlier processes count in it.
fn record_shown(shown_revisions: &mut ShownRevisions, file: &mut OpenFile) {
    let digest = file.digest();
    if shown_revisions.is_only_revision(file.path(), digest) {
        file.trust_earlier_numbers();
    }
    shown_revisions.record_shown(file.path(), digest);
}
