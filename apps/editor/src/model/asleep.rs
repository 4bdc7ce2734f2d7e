//! The whole state on disk while the process sleeps: the next one goes on as if it had been there all
//! the time, with the same keys, undo steps, and line numbers across versions.
//!
//! It is the model itself as JSON, then a line with its digest. A file that isn't whole, or is of
//! another format, counts as none: then it is a restart like that after a crash, and told.
//!
//! **Invariant: the file is there only as long as it has the present state.** Whatever changes the state
//! removes it first, so that no later start finds an old one.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use docui::{Fault, Opening};
use serde::{Deserialize, Serialize};

use crate::limits::ASLEEP_MAX;

use super::Editor;
use super::disk::{Hasher, hash};

const FORMAT: u32 = 1;
const NAME: &str = "asleep.json";
/// Bytes that are written at once.
const PIECE: usize = 256 * 1024;
/// Bytes of the last line: a newline before it, the digest in hexadecimal, a newline.
const LAST_LINE: usize = 18;

#[derive(Debug, Serialize, Deserialize)]
struct Asleep<T> {
    format: u32,
    editor: T,
}

impl Editor {
    /// Writes the whole state down for the process that is woken later; does nothing when that is done
    /// already.
    pub(crate) fn fall_asleep(&mut self) -> Result<(), Fault> {
        // What a later crash goes by must not be behind either.
        self.list_files();
        if !self.asleep {
            write(&self.state_dir, &Asleep { format: FORMAT, editor: &*self })?;
            self.asleep = true;
        }
        Ok(())
    }

    /// Notes that the state is about to become another one than was written down.
    pub(crate) fn stir(&mut self) {
        if std::mem::take(&mut self.asleep) {
            forget(&self.state_dir);
        }
    }

    /// The state as it was put to sleep.
    ///
    /// # Errors
    /// It can't be taken up: what the reader should know of it.
    pub(crate) fn wake_up(opening: &Opening) -> Result<Self, String> {
        let path = opening.state_dir.join(NAME);
        let lost = "undo history, selections and search results are lost";
        let bytes = fs::read(&path).map_err(|error| {
            format!("What was saved before the sleep is gone ({error}): {lost}.")
        })?;
        let Some(Asleep { editor: mut found, .. }) = parse(&bytes) else {
            let aside = path.with_extension("damaged");
            let kept = if fs::rename(&path, &aside).is_ok() { aside } else { path };
            let kept = kept.display();
            return Err(format!("What was saved before the sleep is damaged ({kept}): {lost}."));
        };
        (found.callee, found.address) = (opening.callee(), opening.address());
        found.state_dir.clone_from(&opening.state_dir);
        found.witness.keep_in(&opening.state_dir);
        found.files.iter_mut().for_each(|file| file.resume(&opening.state_dir));
        (found.asleep, found.resumed) = (true, true);
        Ok(found)
    }
}

/// Removes what was written: it is not the state any more.
pub(crate) fn forget(state_dir: &Path) {
    // Not there is as good as removed. One that stays is never asked for: only a process that saved its
    // state is followed by one that is woken.
    let _ = fs::remove_file(state_dir.join(NAME));
}

fn parse(bytes: &[u8]) -> Option<Asleep<Editor>> {
    let (state, last) = bytes.split_at_checked(bytes.len().checked_sub(LAST_LINE)?)?;
    if last != last_line(hash(state)).as_bytes() {
        return None;
    }
    serde_json::from_slice(state).ok().filter(|found: &Asleep<Editor>| found.format == FORMAT)
}

/// Writes it whole or not at all.
fn write(state_dir: &Path, state: &Asleep<&Editor>) -> Result<(), Fault> {
    let path = state_dir.join(NAME);
    try_write(state_dir, &path, state, ASLEEP_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Fault::refused(format!(
            "the texts and what can be undone come to more than {} MiB: it stays awake",
            ASLEEP_MAX / 1024 / 1024
        ))
        .hint("close some files"),
        _ => Fault::failed(format!("{} can't be written: {error}", path.display())),
    })
}

fn try_write(
    state_dir: &Path,
    path: &Path,
    state: &Asleep<&Editor>,
    most: usize,
) -> io::Result<()> {
    let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
    let tally = Tally { to: temporary.as_file_mut(), hasher: Hasher::default(), left: most };
    let mut out = BufWriter::with_capacity(PIECE, tally);
    serde_json::to_writer(&mut out, state)?;
    out.flush()?;
    let digest = out.get_ref().hasher.finish();
    drop(out);
    temporary.write_all(last_line(digest).as_bytes())?;
    // No sync: after a power cut it is missing or damaged, which is told; the journals are what counts.
    temporary.persist(path).map(drop).map_err(|error| error.error)
}

fn last_line(digest: u64) -> String {
    format!("\n{digest:016x}\n")
}

/// Digests what goes through it, and lets no more through than there is room for.
struct Tally<W> {
    to: W,
    hasher: Hasher,
    left: usize,
}

impl<W: Write> Write for Tally<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.hasher.write_all(bytes)?;
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

    /// A session with something of everything.
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
            Action::Find { text: "o".into() },
        ] {
            host.project(docui::Lod::Full, 1_000).unwrap();
            host.invoke(&action);
        }
        host
    }

    #[test]
    fn more_than_there_is_room_for_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        let path = dir.path().join("there");
        let state = Asleep { format: FORMAT, editor: host.app().unwrap() };
        let write = |most: usize| try_write(dir.path(), &path, &state, most);
        let files = || fs::read_dir(dir.path()).unwrap().count();
        let before = files();
        assert_eq!(write(1_000).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(files(), before);
        write(100_000).unwrap();
        let length = fs::metadata(&path).unwrap().len() as usize - LAST_LINE;
        write(length).unwrap();
        assert_eq!(write(length - 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(parse(&fs::read(&path).unwrap()).is_some(), "the one before is whole");
    }

    /// The names in a value, each once, as a path.
    fn names(value: &Value, at: &str, all: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                let name = if name.starts_with('/') { "path" } else { name };
                names(value, &format!("{at}.{name}"), all);
            }),
            Value::Array(items) => items.iter().for_each(|item| names(item, at, all)),
            _ => all.push(at.trim_start_matches('.').to_owned()),
        }
    }

    #[test]
    fn another_shape_is_another_format() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = host(dir.path());
        host.sleep().unwrap();
        let bytes = fs::read(dir.path().join(NAME)).unwrap();
        let value: Value = serde_json::from_slice(&bytes[..bytes.len() - LAST_LINE]).unwrap();
        let mut all = Vec::new();
        names(&value, "", &mut all);
        all.sort();
        all.dedup();
        let digest = hash(all.join("\n").as_bytes());
        // Raise FORMAT with it: a process that was updated while it slept must not misread its state.
        assert_eq!((FORMAT, digest), (1, 10_903_633_847_053_304_240), "{}", all.join("\n"));
    }

    #[test]
    fn snapshot_of_format_1_is_written_as_it_was_read() {
        let bytes = include_bytes!("../../tests/fixtures/format-1/asleep.json");
        let read = parse(bytes).unwrap();
        let state = Asleep { format: FORMAT, editor: &read.editor };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        try_write(dir.path(), &path, &state, ASLEEP_MAX).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), std::str::from_utf8(bytes).unwrap());
    }

    #[test]
    fn a_session_without_files_wakes_without_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = Host::<Editor>::open(&[], dir.path(), dir.path()).unwrap();
        fs::write(dir.path().join("a.txt"), "").unwrap();
        host.attach(&["a.txt"]).unwrap();
        host.invoke(&Action::Close { file: None });
        host.sleep_and_wake(&[&[], &["a.txt"]]).unwrap();
        assert!(host.app().unwrap().current().is_none() && host.app().unwrap().resumed());
    }
}
