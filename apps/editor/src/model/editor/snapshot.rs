//! The whole state on disk during hibernation. The next process continues from it with the same
//! keys, undo steps and line numbers.
//!
//! A snapshot is the [`Editor`] as JSON, followed by a line with its hash. If it is incomplete or
//! has another format, the session restarts as after a crash, and the reader is told.
//!
//! **Invariant: a snapshot on disk holds the present state.** Whatever changes the state first
//! removes the snapshot, so that no later start finds an outdated one.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use docui::{Fault, Opening, regular_file};
use serde::{Deserialize, Serialize};

use crate::limits::SNAPSHOT_MAX;
use crate::model::binary_file::BinaryFiles;
use crate::model::change_log::change_journal::Operation;
use crate::model::current_file_log::CurrentFileLog;
use crate::model::edits::Edits;
use crate::model::ids::IdGenerator;
use crate::model::interrupted::settle;
use crate::model::open_file::OpenFile;
use crate::model::open_files::OpenFiles;
use crate::model::session_paths::SessionPaths;
use crate::model::shown_revisions::ShownRevisions;
use crate::model::stable_hash::{StableHasher, stable_hash};

use super::Editor;
use super::former_changes::adopt_former_changes;

const FORMAT: u32 = 1;
const FILE_NAME: &str = "asleep.json";
/// The number of bytes written at once.
const PIECE: usize = 256 * 1024;
/// The length of the last line in bytes: a newline before it, the hash in hexadecimal, a newline.
const HASH_LINE: usize = 18;

#[derive(Debug, Serialize, Deserialize)]
struct Snapshot<T> {
    format: u32,
    editor: T,
}

/// The saved state as it is read. The field names are those of format 1.
#[derive(Debug, Deserialize)]
struct SavedState {
    files: Vec<OpenFile>,
    #[serde(default)]
    binaries: BinaryFiles,
    current: Option<PathBuf>,
    cwd: PathBuf,
    root: PathBuf,
    witness: ShownRevisions,
    #[serde(default)]
    hold: bool,
    selection: Option<String>,
    version: u64,
    names: IdGenerator,
    switches: CurrentFileLog,
    closed: VecDeque<(String, String)>,
    #[serde(rename = "unlisted")]
    manifest_stale: bool,
}

/// The saved state as it is written, in the field order of format 1.
#[derive(Debug, Serialize)]
struct StateToSave<'a> {
    files: &'a [OpenFile],
    #[serde(skip_serializing_if = "BinaryFiles::is_empty")]
    binaries: &'a BinaryFiles,
    current: &'a Option<PathBuf>,
    cwd: &'a Path,
    root: &'a Path,
    witness: &'a ShownRevisions,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hold: bool,
    selection: &'a Option<String>,
    version: u64,
    names: &'a IdGenerator,
    switches: &'a CurrentFileLog,
    closed: &'a VecDeque<(String, String)>,
    unlisted: bool,
}

impl<'a> From<&'a Editor> for StateToSave<'a> {
    fn from(editor: &'a Editor) -> Self {
        let Editor { files, edits, selection, .. } = editor;
        Self {
            files: &files.list,
            binaries: &files.binaries,
            current: &files.current,
            cwd: &files.paths.cwd,
            root: &files.paths.root,
            witness: &files.shown_revisions,
            hold: files.hold,
            selection,
            version: edits.version,
            names: &edits.ids,
            switches: &files.current_file_log,
            closed: &files.closed,
            unlisted: files.manifest_stale,
        }
    }
}

impl Editor {
    /// Writes the snapshot unless the one on disk is valid.
    ///
    /// # Errors
    /// The state is too large, or the file can't be written: the session must stay awake.
    pub(crate) fn write_snapshot(&mut self) -> Result<(), Fault> {
        // A later crash goes by the manifest, so that must be up to date as well.
        self.files.write_manifest();
        if !self.snapshot_valid {
            write(self)?;
            self.snapshot_valid = true;
        }
        Ok(())
    }

    /// Removes the snapshot, because the state is about to change.
    pub(crate) fn invalidate_snapshot(&mut self) {
        if std::mem::take(&mut self.snapshot_valid) {
            remove(&self.files.paths.state_dir);
        }
    }
}

/// Reads the state that the process before this one saved.
///
/// # Errors
/// There is no usable snapshot; the message tells the reader what was lost.
pub(super) fn read(opening: &Opening) -> Result<Editor, String> {
    let path = opening.state_dir.join(FILE_NAME);
    let lost = "undo history, selections and search results are lost";
    let bytes = regular_file::read(&path).map_err(|error| {
        format!("The state saved before hibernation is missing ({error}): {lost}.")
    })?;
    let Some(saved) = parse(&bytes) else {
        let aside = path.with_extension("damaged");
        let kept = if fs::rename(&path, &aside).is_ok() { aside } else { path };
        let kept = kept.display();
        return Err(format!("The state saved before hibernation is damaged ({kept}): {lost}."));
    };
    let (mut editor, begun, lost) = restore(saved, opening);
    let Editor { files, edits, .. } = &mut editor;
    files.list.iter_mut().for_each(|file| file.resume(&opening.state_dir));
    adopt_former_changes(files, edits);
    let interrupted = settle(files, edits, begun, &opening.handle);
    editor.notes = lost.into_iter().chain(interrupted).collect();
    (editor.snapshot_valid, editor.resumed) = (true, true);
    Ok(editor)
}

/// Makes a session of a saved state. Also returns the operations that its last process was writing,
/// and a note if the log of changes was lost.
fn restore(saved: SavedState, opening: &Opening) -> (Editor, Vec<Operation>, Option<String>) {
    let paths = SessionPaths::restored(saved.root, saved.cwd, opening);
    let mut files = OpenFiles::new(paths, saved.files, saved.witness);
    (files.binaries, files.current, files.hold) = (saved.binaries, saved.current, saved.hold);
    (files.current_file_log, files.closed) = (saved.switches, saved.closed);
    files.manifest_stale = saved.manifest_stale;
    files.shown_revisions.set_state_dir(&opening.state_dir);
    let (edits, begun, lost) = Edits::read(opening, saved.names, saved.version);
    let mut editor = Editor::new(opening, files, edits);
    editor.selection = saved.selection;
    (editor, begun, lost)
}

/// Removes the snapshot.
pub(super) fn remove(state_dir: &Path) {
    // A missing snapshot is as good as a removed one. One that can't be removed is never read: only
    // a process that has just written its snapshot is followed by one that reads it.
    let _ = fs::remove_file(state_dir.join(FILE_NAME));
}

fn parse(bytes: &[u8]) -> Option<SavedState> {
    let (state, last) = bytes.split_at_checked(bytes.len().checked_sub(HASH_LINE)?)?;
    if last != hash_line(stable_hash(state)).as_bytes() {
        return None;
    }
    let snapshot: Snapshot<SavedState> = serde_json::from_slice(state).ok()?;
    (snapshot.format == FORMAT).then_some(snapshot.editor)
}

/// Writes the whole state of a session.
///
/// # Errors
/// It is too large, or the file can't be written.
fn write(editor: &Editor) -> Result<(), Fault> {
    let state_dir = &editor.files.paths.state_dir;
    let snapshot = Snapshot { format: FORMAT, editor: StateToSave::from(editor) };
    let path = state_dir.join(FILE_NAME);
    try_write(state_dir, &path, &snapshot, SNAPSHOT_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Fault::refused(format!(
            "texts and undo history exceed {} MiB, so the session stays awake",
            SNAPSHOT_MAX / 1024 / 1024
        ))
        .hint("close some files"),
        _ => Fault::failed(format!("{} can't be written: {error}", path.display())),
    })
}

/// Writes a snapshot of at most `max` bytes atomically.
fn try_write(
    state_dir: &Path,
    path: &Path,
    snapshot: &Snapshot<StateToSave<'_>>,
    max: usize,
) -> io::Result<()> {
    let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
    let hashing = HashingWriter {
        to: temporary.as_file_mut(),
        hasher: StableHasher::default(),
        remaining: max,
    };
    let mut out = BufWriter::with_capacity(PIECE, hashing);
    serde_json::to_writer(&mut out, snapshot)?;
    out.flush()?;
    let hash = out.get_ref().hasher.finish();
    drop(out);
    temporary.write_all(hash_line(hash).as_bytes())?;
    // There is no sync: a snapshot that a power cut damages is reported as lost, and the journals
    // hold the unsaved edits.
    temporary.persist(path).map(drop).map_err(|error| error.error)
}

fn hash_line(hash: u64) -> String {
    format!("\n{hash:016x}\n")
}

/// Hashes what is written through it, and fails once there is more than a bound.
struct HashingWriter<W> {
    to: W,
    hasher: StableHasher,
    remaining: usize,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.remaining =
            self.remaining.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.hasher.update(bytes);
        self.to.write_all(bytes)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use docui::App;
    use docui::testing::Host;
    use serde_json::Value;

    use crate::Action;

    use super::*;

    /// Returns a session that has a value for every field of the state.
    fn host(dir: &Path) -> Host<Editor> {
        fs::write(dir.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(dir.join("b.txt"), "b\n").unwrap();
        let mut host = Host::<Editor>::open(&["b.txt", "a.txt"], dir, dir).unwrap();
        let line = docui::Line::Number;
        for action in [
            Action::Insert { at: line(1), text: "new".into() },
            Action::MoveLines { first: line(1), last: line(1), before: line(4) },
            Action::Undo { steps: 1, change: None },
            Action::Select { first: line(1), last: line(2) },
        ] {
            host.project(docui::Lod::Full, 1_000).unwrap();
            host.invoke(&action);
        }
        host
    }

    #[test]
    fn too_large_snapshot_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        let path = dir.path().join("snapshot");
        let snapshot = Snapshot { format: FORMAT, editor: StateToSave::from(host.app().unwrap()) };
        let write = |most: usize| try_write(dir.path(), &path, &snapshot, most);
        let files = || fs::read_dir(dir.path()).unwrap().count();
        let before = files();
        assert_eq!(write(1_000).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(files(), before);
        write(100_000).unwrap();
        let length = fs::metadata(&path).unwrap().len() as usize - HASH_LINE;
        write(length).unwrap();
        assert_eq!(write(length - 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(parse(&fs::read(&path).unwrap()).is_some(), "the previous snapshot is complete");
    }

    /// Collects the path of each value's field names.
    fn field_paths(value: &Value, at: &str, all: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let name = if name.starts_with('/') { "path" } else { name };
                field_paths(value, &format!("{at}.{name}"), all);
            }),
            Value::Array(items) => items.iter().for_each(|item| field_paths(item, at, all)),
            _ => all.push(at.trim_start_matches('.').to_owned()),
        }
    }

    #[test]
    fn changed_snapshot_fields_need_a_new_format() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = host(dir.path());
        host.hibernate().unwrap();
        let bytes = fs::read(dir.path().join(FILE_NAME)).unwrap();
        let value: Value = serde_json::from_slice(&bytes[..bytes.len() - HASH_LINE]).unwrap();
        let mut all = Vec::new();
        field_paths(&value, "", &mut all);
        all.sort();
        all.dedup();
        let hash = stable_hash(all.join("\n").as_bytes());
        // If this fails, raise FORMAT too, unless a state without the new field reads as what it
        // meant: an editor that is updated during hibernation must not misread its state.
        assert_eq!((FORMAT, hash), (1, 4_206_107_240_524_016_298), "{}", all.join("\n"));
    }

    /// The changes of the files are in the change log now; everything else is written as it was
    /// read.
    #[test]
    fn snapshot_of_format_1_is_written_as_it_was_read_except_for_its_changes() {
        let bytes = include_bytes!("../../../tests/fixtures/format-1/asleep.json");
        let dir = tempfile::tempdir().unwrap();
        let state_dir = dir.path().to_owned();
        let opening = Opening { state_dir, ..Opening::default() };
        let (editor, ..) = restore(parse(bytes).unwrap(), &opening);
        let snapshot = Snapshot { format: FORMAT, editor: StateToSave::from(&editor) };
        let path = dir.path().join(FILE_NAME);
        try_write(dir.path(), &path, &snapshot, SNAPSHOT_MAX).unwrap();
        let written = fs::read(&path).unwrap();
        assert!(parse(&written).is_some());
        let value = |bytes: &[u8]| {
            serde_json::from_slice::<Value>(&bytes[..bytes.len() - HASH_LINE]).unwrap()
        };
        let (mut before, after) = (value(bytes), value(&written));
        // Matches are listed by the answer that found them, no longer by the window.
        assert!(before["editor"].as_object_mut().unwrap().remove("listing").is_some());
        for file in before["editor"]["files"].as_array_mut().unwrap() {
            let history = file["history"].as_object_mut().unwrap();
            let keys = ["done", "undone", "bytes"];
            assert!(keys.iter().all(|key| history.remove(*key).is_some()));
        }
        assert_eq!(before, after);
    }

    #[test]
    fn session_without_files_wakes_without_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = Host::<Editor>::open(&[], dir.path(), dir.path()).unwrap();
        fs::write(dir.path().join("a.txt"), "").unwrap();
        host.attach(&["a.txt"]).unwrap();
        host.invoke(&Action::Close { file: None });
        host.hibernate_and_wake(&[&[], &["a.txt"]]).unwrap();
        assert!(host.app().unwrap().current().is_none() && host.app().unwrap().resumed());
    }
}
