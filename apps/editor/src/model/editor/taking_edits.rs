//! Planning edits on other threads, and taking in what they wrote.

use std::path::{Path, PathBuf};

use docui::Fault;

use super::Editor;
use crate::limits::FILES_MAX;
use crate::model::documents::{Documents, OpenDocument};
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::ids::IdKind;
use crate::model::open_file::{OpenFile, ReadFile};
use crate::model::workspace_edit::WrittenFile;

impl Editor {
    /// Returns the texts of the session's files for a thread that plans an edit.
    pub(crate) fn documents(&self) -> Documents {
        let open = self.files.iter().map(|file| OpenDocument {
            path: file.path().to_owned(),
            buffer: file.buffer().clone(),
            base_digest: file.base_digest(),
            unsaved: file.is_unsaved(),
            gate: file.gate().clone(),
            revision: file.gate().revision(),
        });
        Documents {
            open: open.collect(),
            read: Default::default(),
            root: self.root().to_owned(),
            state_dir: self.state_dir.clone(),
            open_command: self.open_command(),
        }
    }

    /// Takes in what others wrote to a file while no process of the session ran, before the file is opened: what the session
    /// did earlier can then be taken back around it.
    pub(crate) fn take_outside(&mut self, read: &ReadFile) {
        let Some(change) = read.outside().filter(|_| self.file_index(read.path()).is_none()) else {
            return;
        };
        let knows = |text| self.changes.knows(&change.path, text);
        if knows(change.before) && !knows(change.after) {
            let (id, author) =
                (self.ids.next(IdKind::Change), Author::outside_of_runs(self.version));
            let (kind, files) = (EditKind::Reload, vec![change.clone()]);
            self.changes.push_reload(Change { id, kind, author, files, of: None });
        }
    }

    /// Opens a file that was read, without making it current, so that its line numbers can be shown. They count
    /// from `version` on: a query leaves the session in its version. Returns its index, also if it was open before.
    ///
    /// # Errors
    /// It can't be opened, or there is no room for it.
    pub(crate) fn open_silently(&mut self, read: ReadFile, version: u64) -> Result<usize, Fault> {
        if let Some(index) = self.file_index(read.path()) {
            return Ok(index);
        }
        if !self.make_room(1) {
            return Err(Fault::refused(format!("a session has at most {FILES_MAX} open files"))
                .hint(self.run_command("save()")));
        }
        let shown = self.display_path(read.path());
        self.take_outside(&read);
        let (file, _) = OpenFile::open(read, &shown, version)?;
        self.files.push(file);
        let index = self.files.len() - 1;
        self.record_use(index);
        self.record_opened(index, version);
        self.manifest_stale = true;
        Ok(index)
    }

    /// Takes in files that an edit wrote, or that it changed in the session only. Those that aren't open are
    /// opened without becoming current, as far as there is room; held ones must fit.
    ///
    /// # Errors
    /// Held edits can't be recorded, or there are too many held files. Nothing was changed.
    pub(crate) fn take_written(
        &mut self,
        kind: EditKind,
        author: &Author,
        written: Vec<WrittenFile>,
        hold: bool,
    ) -> Result<(), Fault> {
        for file in &written {
            self.record_changed_on_disk(&file.change.path);
            self.list_file(&file.change.path);
        }
        match hold {
            true => self.take_held(kind, author, written)?,
            false => written.into_iter().for_each(|file| self.take_file(kind, author, file)),
        }
        self.write_manifest();
        Ok(())
    }

    fn take_file(&mut self, kind: EditKind, author: &Author, written: WrittenFile) {
        let WrittenFile { change, stamp, read, guard, .. } = written;
        drop(guard);
        let open = self.file_index(&change.path);
        let index = match (open, stamp.is_some()) {
            (Some(index), false) => {
                self.close_file(index, &format!("{kind} deleted it"), author);
                return;
            }
            (None, false) => return,
            (Some(index), true) => index,
            (None, true) => {
                if !self.make_room(1) {
                    return;
                }
                let version = author.version;
                let opened = match read {
                    Some(read) => {
                        self.take_outside(&read.file);
                        let shown = self.display_path(&change.path);
                        OpenFile::open(read.file, &shown, version).map(|(file, _)| file)
                    }
                    None => Ok(OpenFile::new_file(change.path.clone(), &self.state_dir, version)),
                };
                // It was read a moment ago.
                let Ok(file) = opened else { return };
                self.files.push(file);
                self.files.len() - 1
            }
        };
        if let Some(stamp) = stamp {
            self.files[index].take_change(kind, author, &change, stamp);
        }
        self.record_use(index);
        if open.is_none() {
            self.record_opened(index, author.version);
        }
    }

    fn take_held(
        &mut self,
        kind: EditKind,
        author: &Author,
        written: Vec<WrittenFile>,
    ) -> Result<(), Fault> {
        let new = written.iter().filter(|file| self.file_index(&file.change.path).is_none());
        let new = new.count();
        let is_on_disk = |path: &Path| match self.file(path) {
            Some(file) => file.base_digest().is_some(),
            None => true,
        };
        let unheld = |file: &&WrittenFile| {
            let change = &file.change;
            let deleted = change.after.is_none() && is_on_disk(&change.path);
            deleted || change.link || change.mode_before.is_some()
        };
        if let Some(unheld) = written.iter().find(unheld) {
            let shown = self.display_path(&unheld.change.path);
            let what = if unheld.change.after.is_none() { "deleted" } else { "changed like this" };
            return Err(Fault::refused(format!("{shown} can't be {what} while edits are held"))
                .hint(self.run_command("hold(false)")));
        }
        if !self.make_room(new) {
            return Err(Fault::refused(format!(
                "{new} more files are too many to hold: a session has at most {FILES_MAX} open files"
            ))
            .hint(self.run_command("save()")));
        }
        let mut taken: Vec<FileChange> = Vec::new();
        let mut failed = None;
        for WrittenFile { change, read, guard, .. } in written {
            drop(guard);
            let open = self.file_index(&change.path);
            let held = match open {
                Some(index) => Ok(index),
                None => {
                    let shown = self.display_path(&change.path);
                    let version = author.version;
                    let opened = match read {
                        Some(read) => {
                            self.take_outside(&read.file);
                            OpenFile::open(read.file, &shown, version).map(|(file, _)| file)
                        }
                        None => {
                            Ok(OpenFile::new_file(change.path.clone(), &self.state_dir, version))
                        }
                    };
                    opened.map(|file| {
                        self.files.push(file);
                        self.files.len() - 1
                    })
                }
            };
            let held = held.and_then(|index| {
                self.files[index].hold_change(kind, author, &change)?;
                Ok(index)
            });
            match held {
                Ok(index) => {
                    self.record_use(index);
                    if open.is_none() {
                        self.record_opened(index, author.version);
                    }
                    taken.push(change);
                }
                Err(fault) => {
                    failed = Some(fault);
                    break;
                }
            }
        }
        let Some(fault) = failed else { return Ok(()) };
        for change in taken.iter().rev() {
            if let Some(index) = self.file_index(&change.path) {
                self.files[index].take_back(author, &change.inverse());
            }
        }
        Err(fault)
    }

    /// Records that a file was opened without becoming current, which readers may have seen before with other
    /// lines.
    pub(super) fn record_opened(&mut self, index: usize, version: u64) {
        let file = &mut self.files[index];
        if self.closed.iter().any(|(key, _)| *key == file.key()) || self.closed.len() >= FILES_MAX {
            file.forget_lines(version);
        }
        self.record_other_text(index);
    }

    /// Makes room for files by closing saved ones, those first that were used longest ago. Returns false if
    /// there isn't room for all of them; then nothing was closed.
    pub(crate) fn make_room(&mut self, new: usize) -> bool {
        let surplus = (self.files.len() + new).saturating_sub(FILES_MAX);
        let may_close = |file: &&OpenFile| {
            !file.is_unsaved() && !file.is_being_written() && !self.is_current(file)
        };
        let mut idle: Vec<_> = self.files.iter().filter(may_close).collect();
        idle.sort_by_key(|file| (!file.unlisted, file.last_used));
        let idle: Vec<PathBuf> =
            idle.into_iter().take(surplus).map(|file| file.path().to_owned()).collect();
        if idle.len() < surplus {
            return false;
        }
        for path in idle {
            if let Some(index) = self.file_index(&path) {
                self.close_file(index, "it was closed to make room", &Author::default());
            }
        }
        true
    }

    /// Takes over the changes that an editor saved that had a history for each file.
    pub(super) fn adopt_former_changes(&mut self) {
        let (mut done, mut undone) = (Vec::new(), Vec::new());
        for file in &mut self.files {
            let (before, after) = file.take_former_changes();
            done.extend(before);
            undone.extend(after);
        }
        if done.is_empty() && undone.is_empty() {
            return;
        }
        done.sort_by_key(|change| change.author.version);
        // The one that was undone last is redone first.
        undone.sort_by_key(|change| change.author.version);
        self.changes.adopt(done, undone);
    }
}
