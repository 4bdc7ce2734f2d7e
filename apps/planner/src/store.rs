//! A topic's files below `.planning/<topic>/`: the journal, of which all else is made, and what is
//! made of it.
//!
//! | file | content |
//! |---|---|
//! | `journal.jsonl` | each accepted entry, one a line, written before it is answered |
//! | `planning.clarification.jsonl` | the meeting, a line as it is said |
//! | `planning.ai.json`, `planning.draft.md` | the newest plan or draft |
//! | `versions/v{n}/` | what there was after cycle n |
//! | `versions/kept-{n}.*` | what others wrote into the plan or the draft, that was none and gave way |
//! | `handoffs/h{n}/` | what was handed over: see `handoff` |

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::time::Instant;

use docui::{Fault, deadline, regular_file, state_file};
use pipemux_planner_course::artifact::Artifact;
use pipemux_planner_course::event::SIGNED;
use pipemux_planner_course::{Course, Entry, Event, ordered};

use crate::limits::{LOCK_PATIENCE, LOCK_PAUSE, WRITE_PATIENCE};

/// The folder in a project.
pub const FOLDER: &str = ".planning";

const JOURNAL: &str = "journal.jsonl";
const CLARIFICATION: &str = "planning.clarification.jsonl";

/// The files of a topic.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    /// Bytes of the journal that were taken in.
    length: u64,
}

/// The findings of writing files.
#[derive(Debug, Default)]
pub struct Written {
    /// The text of the artifact as someone edited it by hand.
    pub edited: Option<String>,
    /// Notices for readers about texts that others wrote and that are kept in other files.
    pub kept: Vec<String>,
}

/// The contents of a topic's files.
#[derive(Debug, Default)]
pub struct Loaded {
    pub course: Course,
    /// Notices for readers.
    pub notes: Vec<String>,
}

impl Store {
    /// Returns the topics of a project, the one first that was used last.
    pub fn topics(root: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(root.join(FOLDER)) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let changed = entry.path().join(JOURNAL).metadata().ok()?.modified().ok()?;
                Some((std::cmp::Reverse(changed), entry.file_name().into_string().ok()?))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// Opens a topic, and mends what a kill left half done.
    ///
    /// # Errors
    /// Its journal can't be read.
    pub fn open(root: &Path, topic: &str) -> Result<(Self, Loaded), Fault> {
        let mut store = Self { folder: root.join(FOLDER).join(topic), length: 0 };
        let loaded = store.load()?;
        Ok((store, loaded))
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// It can't be read.
    pub fn load(&mut self) -> Result<Loaded, Fault> {
        let path = self.folder.join(JOURNAL);
        if !path.exists() {
            self.length = 0;
            return Ok(Loaded::default());
        }
        let reading = |error: String| failed(&path, &error);
        // Nobody writes while this is held, so that a torn line is one that a kill left behind.
        let _held = hold(&path).map_err(|error| reading(error.to_string()))?;
        let bytes = regular_file::read(&path).map_err(|error| reading(error.to_string()))?;
        let mut loaded = Loaded::default();
        // A line without its end was never answered for.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            let cut = OpenOptions::new()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_len(whole as u64));
            cut.map_err(|error| reading(error.to_string()))?;
        }
        self.length = whole as u64;
        let (mut skipped, mut repeated, mut kept) = (0, 0, Vec::new());
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let entry = serde_json::from_slice::<Entry>(line).ok();
            let is_edit =
                entry.as_ref().is_some_and(|entry| matches!(entry.event, Event::Edited { .. }));
            let is_taken = entry.is_some_and(|entry| loaded.course.apply(&entry).is_ok());
            // An edit that changes nothing says nothing: earlier versions wrote thousands of them.
            if is_edit && !is_taken {
                repeated += 1;
                continue;
            }
            skipped += usize::from(!is_taken);
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
        if repeated > 0 {
            replace(&path, &kept)?;
            self.length = kept.len() as u64;
            loaded.notes.push(format!(
                "{repeated} entries of {} were taken out: edits by hand that changed nothing",
                path.display()
            ));
        }
        if skipped > 0 {
            loaded.notes.push(format!(
                "{skipped} lines of {} were left out: they say nothing that fits",
                path.display()
            ));
        }
        Ok(loaded)
    }

    /// Returns true if somebody else wrote to the journal.
    pub fn was_changed_outside(&self) -> bool {
        self.folder.join(JOURNAL).metadata().map_or(0, |found| found.len()) != self.length
    }

    /// Adds an entry to the journal: from then on it is never lost. Returns false if another
    /// session has written to it meanwhile: then nothing was added, because the entry may not fit
    /// any more.
    ///
    /// # Errors
    /// The disk is full, or the folder can't be written. Nothing was added.
    pub fn append(&mut self, entry: &Entry) -> Result<bool, Fault> {
        let path = self.folder.join(JOURNAL);
        let mut line =
            serde_json::to_vec(entry).map_err(|error| Fault::failed(error.to_string()))?;
        line.push(b'\n');
        let added = append(&path, self.length, self.length, &line);
        if added.map_err(|error| failed(&path, &error.to_string()))? {
            self.length += line.len() as u64;
            return Ok(true);
        }
        Ok(false)
    }

    /// Claims the right to have the topic's roles played by drivers, which one session of a project
    /// has at a time, so that no role is asked twice. It ends with the file or the process.
    pub fn claim(&self) -> Option<File> {
        let folder = File::open(&self.folder).ok()?;
        match folder.try_lock() {
            Ok(()) => Some(folder),
            Err(fs::TryLockError::WouldBlock) => None,
            // Where folders can't be locked, every session plays.
            Err(fs::TryLockError::Error(_)) => Some(folder),
        }
    }

    /// Brings the other files to what the course says. What others wrote into a file that gives way
    /// is kept beside.
    ///
    /// # Errors
    /// A file can't be written. It is tried again with the next change.
    pub fn write_out(&self, course: &Course) -> Result<Written, Fault> {
        self.write_lines(course)?;
        let mut written = Written::default();
        let (Some(version), Some(text)) = (course.versions.newest(), course.versions.file_text())
        else {
            return Ok(written);
        };
        let name = version.artifact.file();
        let snapshot = self.folder.join("versions").join(format!("v{}", version.number));
        let is_new = !snapshot.exists();
        let path = self.folder.join(name);
        match read_whole(&path)?.map(String::from_utf8) {
            Some(Ok(found)) if found == text => {}
            // As earlier versions of this program wrote it.
            Some(Ok(found))
                if course.rules < SIGNED && version.artifact.is_earlier_form(&found) => {}
            Some(Ok(found)) if !is_new && !found.trim().is_empty() => {
                written.edited = Some(found);
                return Ok(written);
            }
            found => {
                let bytes =
                    found.map(|found| found.map_or_else(FromUtf8Error::into_bytes, Into::into));
                written.kept.extend(self.keep(course, name, bytes)?);
                replace(&path, text.as_bytes())?;
            }
        }
        // Last, since without it the file is written again: a kill in between leaves no earlier
        // version's text for an edit.
        if is_new {
            self.snapshot(&snapshot, name, &version.text())?;
        }
        let other = match version.artifact {
            Artifact::Plan(_) => "planning.draft.md",
            Artifact::Draft(_) => "planning.ai.json",
        };
        let path = self.folder.join(other);
        // The snapshot of its version has it.
        written.kept.extend(self.keep(course, other, read(&path)?)?);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(&path, &error.to_string()))
            }
            _ => Ok(written),
        }
    }

    /// Keeps the bytes of an artifact's file that gives way, unless they are a version's. Returns
    /// what readers should know.
    fn keep(
        &self,
        course: &Course,
        name: &str,
        found: Option<Vec<u8>>,
    ) -> Result<Option<String>, Fault> {
        let Some(found) = found else { return Ok(None) };
        let is_known = course.versions.all.iter().any(|version| {
            let text = version.text();
            text.as_bytes() == found
                || std::str::from_utf8(&found)
                    .is_ok_and(|found| version.artifact.is_earlier_form(found))
        });
        if is_known {
            return Ok(None);
        }
        let folder = self.folder.join("versions");
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error.to_string()))?;
        let numbered = (1..u32::MAX).map(|number| format!("kept-{number}.{name}"));
        let free = numbered.map(|kept| folder.join(kept)).find(|kept| !kept.exists());
        let kept = free.ok_or_else(|| failed(&folder, "it is full"))?;
        replace(&kept, &found)?;
        let shown = kept.file_name().unwrap_or_default().display();
        Ok(Some(format!(
            "{name} was changed by hand and was no {}: what it said is kept in versions/{shown}",
            if name.ends_with(".md") { "draft that was taken" } else { "plan that was taken" },
        )))
    }

    /// Adds the lines of the meeting that its file doesn't have yet.
    fn write_lines(&self, course: &Course) -> Result<(), Fault> {
        if course.record.lines.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(CLARIFICATION);
        loop {
            let bytes = regular_file::read(&path).unwrap_or_default();
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let there = bytes[..whole].iter().filter(|byte| **byte == b'\n').count();
            let mut more = Vec::new();
            for line in course.record.lines.iter().skip(there) {
                more.extend_from_slice(ordered::line(line).as_bytes());
                more.push(b'\n');
            }
            let is_whole = more.is_empty() && whole == bytes.len();
            let added = || append(&path, bytes.len() as u64, whole as u64, &more);
            if is_whole || added().map_err(|error| failed(&path, &error.to_string()))? {
                return Ok(());
            }
            // Another session has written lines meanwhile.
        }
    }

    /// Makes a version's folder, all of it or nothing.
    fn snapshot(&self, folder: &Path, name: &str, text: &str) -> Result<(), Fault> {
        let fresh = folder.with_extension("new");
        let make = || -> io::Result<()> {
            match fs::remove_dir_all(&fresh) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            fs::create_dir_all(&fresh)?;
            fs::write(fresh.join(name), text)?;
            for other in [CLARIFICATION, JOURNAL] {
                let from = self.folder.join(other);
                if from.exists() {
                    fs::copy(from, fresh.join(other))?;
                }
            }
            fs::rename(&fresh, folder)
        };
        make().map_err(|error| failed(folder, &error.to_string()))
    }
}

/// Writes a file of a project atomically; unlike a session's own state, others may read it.
///
/// # Errors
/// It can't be written.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Fault> {
    state_file::replace(path, content)?;
    use std::os::unix::fs::PermissionsExt;
    // The content counts, whoever may read it.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o644));
    Ok(())
}

/// Reads a file, if there is one.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    // What is no file, or a link to none, gives way: nothing in it is lost.
    if !path.is_file() {
        return Ok(None);
    }
    regular_file::read(path).map(Some).map_err(|error| failed(path, &error.to_string()))
}

/// As [`read`], of a file that others write: many a program empties it first, and what it writes
/// next would be lost with the file that is replaced.
fn read_whole(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let until = deadline::after(WRITE_PATIENCE);
    loop {
        let found = read(path)?;
        let is_empty = found.as_ref().is_some_and(Vec::is_empty);
        if !is_empty || Instant::now() >= until {
            return Ok(found);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}

/// Keeps others from writing to a file while the result lives.
fn hold(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    // Without the lock, the length of the journal still tells that others have written to it.
    let _ = lock(&file)?;
    Ok(file)
}

/// Locks a file, which everybody can lock who can read it: so this waits for a short time only.
/// Returns whether it is locked; where files can't be locked, it counts as locked.
fn lock(file: &File) -> io::Result<bool> {
    let until = deadline::after(LOCK_PATIENCE);
    loop {
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(LOCK_PAUSE);
            }
            Err(fs::TryLockError::WouldBlock) => return Ok(false),
            Ok(()) | Err(fs::TryLockError::Error(_)) => return Ok(true),
        }
    }
}

/// Adds bytes to a file that was read when it had `read` bytes, the first `length` of which are
/// good: all of them or none. Returns false if somebody has changed it since.
fn append(path: &Path, read: u64, length: u64, bytes: &[u8]) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if !lock(&file)? {
        return Err(io::Error::other(
            "another program holds a lock on it; try again once it is gone",
        ));
    }
    let found = file.metadata()?;
    // Another session may have put a shorter journal in its place.
    let is_there = path.metadata().is_ok_and(|there| there.ino() == found.ino());
    if found.len() != read || !is_there {
        return Ok(false);
    }
    if read > length {
        file.set_len(length)?;
    }
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    if written.is_err() {
        // What was written in part would be the beginning of the next line.
        let _ = file.set_len(length);
    }
    written.map(|()| true)
}

fn failed(path: &Path, why: &str) -> Fault {
    Fault::failed(format!("{}: {why}; nothing was changed", path.display()))
}
