//! The changes of a session that can be undone and redone: each over all files that it touched.
//!
//! | module | holds |
//! |---|---|
//! | [`change_journal`] | the changes on disk, written before the files are |
//! | [`standing`] | whether a change is made or taken back, whatever came after it |
//!
//! **Invariant: the changes of a file lead from text to text.** The digest that a change left is
//! the one that the next change of the file began with, as long as nobody else wrote the file while
//! it wasn't open. Undo compares them and never applies a change to another text.

pub mod change_journal;
pub mod standing;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docui::Fault;

use crate::limits::{HISTORY_BYTES_MAX, HISTORY_MAX, SET_ASIDE_BYTES_MAX, SET_ASIDE_MAX};

use super::history::{Author, Change, FileChange};
use super::journal::unrecorded;
use change_journal::{ChangeJournal, Operation};

/// The undo and redo history of a session.
#[derive(Debug, Default)]
pub struct ChangeLog {
    done: VecDeque<Change>,
    undone: Vec<Change>,
    /// Changes undone before their files changed otherwise, oldest first; each is redoable.
    set_aside: Vec<Change>,
    bytes: usize,
    journal: Arc<Mutex<ChangeJournal>>,
}

impl ChangeLog {
    /// Reads the changes that earlier processes of the session recorded. Returns also those that
    /// were being written when the process ended, and a note for the reader if something is lost.
    pub fn read(state_dir: &Path) -> (Self, Vec<Operation>, Option<String>) {
        let (journal, recorded, note) = ChangeJournal::read(state_dir);
        let mut log = Self { journal: Arc::new(Mutex::new(journal)), ..Self::default() };
        for change in recorded.done {
            log.push_done(change);
        }
        log.undone = recorded.undone;
        log.set_aside = recorded.set_aside;
        (log, recorded.begun, note)
    }

    /// Iterates over the changes that can be undone, the latest first.
    pub fn undoable(&self) -> impl Iterator<Item = &Change> {
        self.done.iter().rev()
    }

    /// Iterates over the changes that can be redone, the next one first.
    pub fn redoable(&self) -> impl Iterator<Item = &Change> {
        self.undone.iter().rev()
    }

    /// Forgets which version each change was made in, because versions are counted from 0 again:
    /// whoever reads the session now sees what all of them did.
    pub fn forget_versions(&mut self) {
        let all = self.done.iter_mut().chain(&mut self.undone).chain(&mut self.set_aside);
        all.for_each(|change| change.author.version = 0);
    }

    /// The journal, for the thread that writes an edit. Rewrites it first if it has become too long
    /// or may end within a line.
    ///
    /// # Errors
    /// It can't be written; nothing may be changed.
    pub fn journal(&mut self) -> Result<Arc<Mutex<ChangeJournal>>, Fault> {
        let mut journal = lock(&self.journal);
        let aside: usize = self.set_aside.iter().map(Change::weight).sum();
        if journal.is_due(self.bytes + aside) {
            let rewritten = journal.rewrite(&self.set_aside, &self.done, &self.undone);
            rewritten.map_err(|error| unrecorded(journal.path(), &error))?;
        }
        drop(journal);
        Ok(self.journal.clone())
    }

    /// Takes in a change that was made. What was undone in its files isn't redone in turn any more.
    pub fn push(&mut self, change: Change) {
        lock(&self.journal).end(&change.id, Some(&change.author));
        set_aside(&mut self.undone, &mut self.set_aside, &change);
        self.push_done(change);
    }

    /// Takes in a change that another program made, or that a reader chose to take from the disk.
    pub fn push_reload(&mut self, change: Change) {
        // If it can't be recorded, the journal is rewritten before the next edit.
        let _ = lock(&self.journal).begin(&Operation::Edit(change.clone()));
        self.push(change);
    }

    /// Takes in a change that isn't there, and can be made: it counts as undone.
    pub fn push_undone(&mut self, change: Change) {
        let (ids, author) = (vec![change.id.clone()], change.author.clone());
        let files = change.files.iter().map(FileChange::inverse).collect();
        self.push_reload(change);
        // If it can't be recorded, the journal is rewritten before the next edit.
        let _ = lock(&self.journal).begin(&Operation::Undo { ids: ids.clone(), files });
        self.take_undo(&ids, &author);
    }

    /// Takes in that changes were undone, the latest first.
    pub fn take_undo(&mut self, ids: &[String], author: &Author) {
        self.end(ids, author);
        for id in ids {
            let Some(at) = self.done.iter().position(|change| change.id == *id) else { continue };
            if let Some(mut change) = self.done.remove(at) {
                self.bytes -= change.weight();
                change.author.clone_from(author);
                self.undone.push(change);
            }
        }
    }

    /// Takes in that changes were redone, the earliest first.
    pub fn take_redo(&mut self, ids: &[String], author: &Author) {
        self.end(ids, author);
        for id in ids {
            let Some(at) = self.undone.iter().position(|change| change.id == *id) else { continue };
            let mut change = self.undone.remove(at);
            change.author.clone_from(author);
            self.push_done(change);
        }
    }

    fn end(&self, ids: &[String], author: &Author) {
        if let Some(id) = ids.first() {
            lock(&self.journal).end(id, Some(author));
        }
    }

    /// Takes in that what was begun with a change was not done.
    pub fn take_failure(&mut self, id: &str) {
        lock(&self.journal).end(id, None);
    }

    /// Adds changes that were recorded elsewhere, oldest first.
    pub(crate) fn adopt(&mut self, done: Vec<Change>, undone: Vec<Change>) {
        done.into_iter().for_each(|change| self.push_done(change));
        self.undone.extend(undone);
        lock(&self.journal).outdate();
    }

    fn push_done(&mut self, change: Change) {
        self.bytes += change.weight();
        self.done.push_back(change);
        while self.done.len() > HISTORY_MAX
            || (self.bytes > HISTORY_BYTES_MAX && self.done.len() > 1)
        {
            let oldest = self.done.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.weight());
        }
    }
}

/// Moves the changes that were undone in files of another change to those that are set aside.
fn set_aside(undone: &mut Vec<Change>, aside: &mut Vec<Change>, change: &Change) {
    aside.extend(undone.extract_if(.., |undone| undone.shares_file_with(change)));
    let surplus = aside.len().saturating_sub(SET_ASIDE_MAX);
    aside.drain(..surplus);
    let mut bytes: usize = aside.iter().map(Change::weight).sum();
    while bytes > SET_ASIDE_BYTES_MAX && !aside.is_empty() {
        bytes -= aside.remove(0).weight();
    }
}

/// Locks the journal. A thread that panicked left at most an unfinished line, which is never read.
pub(crate) fn lock(journal: &Mutex<ChangeJournal>) -> MutexGuard<'_, ChangeJournal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
