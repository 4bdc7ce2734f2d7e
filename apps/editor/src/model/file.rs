//! One open file: its text, its past, and what the disk has.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

use crate::limits::{FILE_MAX, KEY_PATH_MAX};

use super::buffer::{Buffer, Splice, inverse};
use super::changes::difference;
use super::disk::{self, Loaded, Placing, Stamp};
use super::history::{Author, Change, History};
use super::journal::Journal;
use super::linemap::{LineChange, LineLog};
use super::marks::Marks;

/// What the disk has, compared with what was last read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDisk {
    /// The same.
    Same,
    /// Something else.
    Changed,
    /// Nothing.
    Deleted,
    /// Something that can't be taken in: why.
    Unusable(String),
}

/// One open file.
#[derive(Debug, Serialize, Deserialize)]
pub struct File {
    path: PathBuf,
    buffer: Buffer,
    history: History,
    log: LineLog,
    #[serde(skip)]
    journal: Journal,
    base: Option<u64>,
    stamp: Option<Stamp>,
    on_disk: OnDisk,
    /// Selections and matches.
    pub marks: Marks,
    /// The first line in view, from 0.
    pub top: usize,
    /// What the last change altered, in lines.
    pub spots: Vec<Range<usize>>,
    /// Where the last change altered something, in bytes, ascending.
    changed: Vec<usize>,
}

impl File {
    /// Opens a file as it is on disk, with the unsaved edits that its journal kept. Returns what the
    /// reader should know of it, by the name that they know it by.
    ///
    /// # Errors
    /// As [`disk::load`].
    pub fn open(
        path: PathBuf,
        shown: &str,
        state_dir: &Path,
        version: u64,
    ) -> Result<(Self, Vec<String>), Fault> {
        let journal = Journal::new(state_dir, &path);
        let loaded = disk::load(&path);
        let (recovered, mut notes) = match journal.recover() {
            Ok(recovered) => (recovered, Vec::new()),
            Err(fault) => (None, vec![format!("{fault}; {}.", fault.hints.join("; "))]),
        };
        let Some(recovered) = recovered else {
            return Ok((Self::from_disk(path, journal, loaded?, version), notes));
        };
        let (hash, stamp) = match &loaded {
            Ok(loaded) => (Some(loaded.hash), Some(loaded.stamp.clone())),
            Err(_) => (disk::digest(&path), Stamp::of(&path)),
        };
        let buffer = Buffer::new(&recovered.text, recovered.bom);
        // Saved, and ended before the journal was removed.
        if hash == Some(buffer.hash()) {
            let mut file = Self::from_disk(path, journal, loaded?, version);
            file.journal.clear();
            return Ok((file, notes));
        }
        let on_disk = match (&loaded, &stamp) {
            _ if hash == recovered.base && hash.is_some() => OnDisk::Same,
            (_, None) => OnDisk::Deleted,
            (Ok(_), _) => OnDisk::Changed,
            (Err(fault), _) => OnDisk::Unusable(fault.message.clone()),
        };
        let but = match on_disk {
            OnDisk::Same => "",
            OnDisk::Deleted => "; the file itself is gone from disk",
            _ => "; the file on disk has changed meanwhile: save() will ask",
        };
        notes.push(format!("{shown}: unsaved edits restored, undo history is lost{but}."));
        let mut file = Self::new(path, journal, buffer, version);
        // Who saw it before the edits saw other lines.
        file.forget_lines(version);
        file.history.mark_unsaved();
        (file.base, file.stamp, file.on_disk) = (recovered.base, stamp, on_disk);
        Ok((file, notes))
    }

    fn from_disk(path: PathBuf, journal: Journal, loaded: Loaded, version: u64) -> Self {
        let buffer = Buffer::new(&loaded.text, loaded.bom);
        let mut file = Self::new(path, journal, buffer, version);
        (file.base, file.stamp) = (Some(loaded.hash), Some(loaded.stamp));
        file
    }

    fn new(path: PathBuf, journal: Journal, buffer: Buffer, version: u64) -> Self {
        Self {
            path,
            buffer,
            history: History::new(true),
            log: LineLog::new(version, true),
            journal,
            base: None,
            stamp: None,
            on_disk: OnDisk::Same,
            marks: Marks::default(),
            top: 0,
            spots: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Takes its place again after a sleep: what is unsaved has a journal from here on.
    pub(crate) fn resume(&mut self, state_dir: &Path) {
        self.journal = Journal::new(state_dir, &self.path);
        if self.is_unsaved() {
            // The journal from before the sleep should be there; one that can't be written is told by
            // the next change.
            let _ = self.journal.ensure(self.base, &self.buffer);
        }
    }

    /// Where in a line the last change altered something first: a byte of the text.
    pub fn changed_in(&self, line: usize) -> Option<usize> {
        let bytes = self.buffer.bytes_of(&(line..line + 1));
        let next = self.changed.partition_point(|byte| *byte < bytes.start);
        self.changed.get(next).copied().filter(|byte| bytes.contains(byte))
    }

    /// Forgets where the last change was: it was looked at.
    pub fn settle(&mut self) {
        self.spots.clear();
        self.changed.clear();
    }

    /// Where it is; symlinks followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its key: the same whenever this path is open.
    pub fn key(&self) -> String {
        key(&self.path)
    }

    /// Its text.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// What can be undone and redone.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Its lines across versions.
    pub fn log(&self) -> &LineLog {
        &self.log
    }

    /// What the disk has.
    pub fn on_disk(&self) -> &OnDisk {
        &self.on_disk
    }

    /// The digest of the file as it was last read or written.
    pub fn base(&self) -> Option<u64> {
        self.base
    }

    /// The digest of its text as a file; costs nothing when there is nothing to save.
    pub fn digest(&self) -> u64 {
        let known = self.base.filter(|_| !self.is_unsaved());
        known.unwrap_or_else(|| self.buffer.hash())
    }

    /// True when there is something to save.
    pub fn is_unsaved(&self) -> bool {
        !self.history.is_saved()
    }

    /// Forgets what line numbers meant before a version.
    pub fn forget_lines(&mut self, version: u64) {
        self.log = LineLog::new(version, false);
    }

    /// Notes that readers of earlier lives saw just these lines.
    pub fn trust_lines(&mut self) {
        self.log.trust();
    }

    /// Changes the text, as one action.
    ///
    /// # Errors
    /// Text that no text file has, a file that would be too long, a journal that can't be written:
    /// nothing was changed.
    pub fn change(
        &mut self,
        id: String,
        what: &'static str,
        author: Author,
        splices: Vec<Splice>,
        lines: LineChange,
    ) -> Result<(), Fault> {
        if splices.iter().any(|splice| splice.new.contains('\0')) {
            return Err(Fault::usage("text has a NUL character: that makes a binary file"));
        }
        let added: usize = splices.iter().map(|splice| splice.new.len()).sum();
        if (self.buffer.len() + added) as u64 > FILE_MAX {
            let limit = FILE_MAX / 1024 / 1024;
            return Err(Fault::refused(format!("the file would pass the limit of {limit} MiB")));
        }
        self.perform(what, &author, &splices, &lines)?;
        self.history.push(id, what.into(), author, splices, lines);
        Ok(())
    }

    /// Takes back the latest change.
    ///
    /// # Errors
    /// There is none, or the journal can't be written.
    pub fn undo(&mut self, author: Author) -> Result<Cow<'static, str>, Fault> {
        let latest = self.history.undoable().next();
        let change = latest.ok_or_else(|| Fault::failed("nothing to undo"))?.clone();
        self.perform("undo", &author, &inverse(&change.splices), &change.lines.inverse())?;
        self.history.undo(author);
        self.tidy();
        Ok(change.what)
    }

    /// Makes the change again that was undone last.
    ///
    /// # Errors
    /// There is none, or the journal can't be written.
    pub fn redo(&mut self, author: Author) -> Result<Cow<'static, str>, Fault> {
        let next = self.history.redoable().next();
        let change: Change = next.ok_or_else(|| Fault::failed("nothing to redo"))?.clone();
        self.perform("redo", &author, &change.splices, &change.lines)?;
        self.history.redo(author);
        self.tidy();
        Ok(change.what)
    }

    /// Looks whether the file on disk is another one now, and takes it over when nothing is unsaved.
    /// Returns true when anything that is shown has changed.
    pub fn refresh(&mut self, id: impl FnOnce() -> String, version: u64) -> bool {
        let now = Stamp::of(&self.path);
        match (&self.stamp, &now) {
            // What changed while there was something unsaved is taken over once there isn't.
            _ if self.on_disk == OnDisk::Changed && !self.is_unsaved() => {}
            (Some(then), Some(now)) if then.proves(now) => return false,
            (None, None) => return false,
            _ => {}
        }
        self.stamp = now;
        let before = self.on_disk.clone();
        let hash = self.stamp.as_ref().and_then(|_| disk::digest(&self.path));
        self.on_disk = match (&self.stamp, hash) {
            (None, _) => OnDisk::Deleted,
            (_, hash) if hash.is_some() && hash == self.base => OnDisk::Same,
            _ if self.is_unsaved() => OnDisk::Changed,
            _ => {
                let author = Author { version, ..Author::default() };
                match self.reload(id(), author) {
                    Ok(()) => return true,
                    Err(fault) => OnDisk::Unusable(fault.message),
                }
            }
        };
        self.on_disk != before
    }

    /// Takes the text from disk, as a change that can be undone.
    ///
    /// # Errors
    /// As [`disk::load`], or the journal can't be written; nothing was changed.
    pub fn reload(&mut self, id: String, author: Author) -> Result<(), Fault> {
        let loaded = disk::load(&self.path)?;
        if loaded.bom != self.buffer.bom() {
            // What can be undone and the journal are about the text after the mark.
            let top = self.top;
            let journal = Journal::new(self.journal.directory(), &self.path);
            *self = Self::from_disk(self.path.clone(), journal, loaded, author.version);
            self.forget_lines(author.version);
            self.top = top;
            self.tidy();
            return Ok(());
        }
        let (splices, lines) = difference(&self.buffer.text(), &loaded.text);
        self.perform("reload", &author, &splices, &lines)?;
        self.history.push(id, "reload".into(), author, splices, lines);
        self.note_saved(loaded.hash, loaded.stamp);
        Ok(())
    }

    /// Writes the text to disk.
    ///
    /// # Errors
    /// As [`disk::store`]; the file on disk is as before.
    pub fn save(&mut self) -> Result<(), Fault> {
        let stamp = disk::store(&self.path, &self.buffer, Placing::Over)?;
        self.note_saved(self.buffer.hash(), stamp);
        Ok(())
    }

    /// Writes the text under another path and goes on with that one.
    ///
    /// # Errors
    /// As [`disk::store`].
    pub fn save_as(&mut self, path: PathBuf, how: Placing, state_dir: &Path) -> Result<(), Fault> {
        let stamp = disk::store(&path, &self.buffer, how)?;
        self.journal.clear();
        self.journal = Journal::new(state_dir, &path);
        self.path = path;
        self.note_saved(self.buffer.hash(), stamp);
        Ok(())
    }

    /// Gives up what is unsaved.
    pub fn discard(&mut self) {
        self.journal.clear();
    }

    fn note_saved(&mut self, hash: u64, stamp: Stamp) {
        (self.base, self.stamp, self.on_disk) = (Some(hash), Some(stamp), OnDisk::Same);
        self.history.mark_saved();
        self.tidy();
    }

    fn tidy(&mut self) {
        if !self.is_unsaved() {
            self.journal.clear();
        }
    }

    fn perform(
        &mut self,
        what: &str,
        author: &Author,
        splices: &[Splice],
        lines: &LineChange,
    ) -> Result<(), Fault> {
        self.journal.record(self.base, &self.buffer, splices)?;
        match lines {
            LineChange::Move(moved) => {
                let places = self.marks.moved(&self.buffer, moved);
                self.buffer.apply(splices);
                self.marks.settle(&self.buffer, &places);
            }
            LineChange::Splices(_) => {
                self.buffer.apply(splices);
                self.marks.follow(splices, &format!("its text went with {what}"));
            }
        }
        self.top = lines.drift(self.top).min(self.buffer.lines().saturating_sub(1));
        self.spots = lines.places();
        self.changed = altered(splices);
        self.log.push(author.version, &author.run, lines.clone());
        Ok(())
    }
}

/// Where the text differs first at each splice, counted in the text after all of them.
fn altered(splices: &[Splice]) -> Vec<usize> {
    let mut shift: isize = 0;
    let place = |splice: &Splice| {
        let chars = splice.old.chars().zip(splice.new.chars());
        let alike = chars.take_while(|(old, new)| old == new);
        let alike: usize = alike.map(|(old, _)| old.len_utf8()).sum();
        let at = splice.at.saturating_add_signed(shift) + alike;
        shift += splice.new.len() as isize - splice.old.len() as isize;
        at
    };
    splices.iter().map(place).collect()
}

/// A file's key.
pub fn key(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.len() {
        0..=KEY_PATH_MAX => text.into_owned(),
        _ => format!("path-{:016x}", disk::hash(text.as_bytes())),
    }
}
