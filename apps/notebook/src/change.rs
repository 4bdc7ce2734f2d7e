//! Writes entries: one transaction per action, with a record from which the change can be undone.
//!
//! | module | purpose |
//! |---|---|
//! | `bytes` | entries that hold bytes besides their text |
//! | `rows` | the rows that a change reads and writes |

mod bytes;
pub(crate) mod rows;

use std::fmt;
use std::str::FromStr;

use docui::Fault;
use rusqlite::{Transaction, TransactionBehavior};

use crate::entry::Content;
use crate::schema::{FileId, StoreError};
use crate::store::Store;
use crate::undo_path::{self, RecordedChange};

use rows::{Batch, delete, drop_unused_blobs, insert, read, update};

/// How many actions can be undone, over all entries.
pub const CHANGES_MAX: i64 = 200;
/// Bytes of earlier texts that are kept for undo, over all actions. The newest action is kept in any case.
pub const CHANGES_BYTES_MAX: i64 = 16 * 1024 * 1024;

/// An entry as the caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef {
    /// The entry's id.
    pub id: i64,
    /// The rev that the caller saw.
    pub rev: u64,
}

/// Identifies the recorded changes of one action: the number of the first one. In calls it is written as `c12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeId(pub(crate) i64);

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl FromStr for ChangeId {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let number = text.strip_prefix('c').and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| {
            Fault::usage(format!("change: expected an id like c12, not {text:?}"))
                .hint("click the [undo] link in the answer to the change")
        })
    }
}

/// The actions that change an entry's content. Each recorded change names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The entry was created.
    Add,
    /// The text was replaced.
    Edit,
    /// Lines were added at the end.
    Append,
    /// The title was changed.
    Rename,
    /// The tags were replaced.
    Tag,
    /// The gist was set.
    Gist,
    /// The summary was set.
    Summary,
    /// The entry was removed.
    Remove,
    /// An earlier action was undone.
    Undo,
}

impl ChangeKind {
    /// Returns the value of the column `changes.what`.
    fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Edit => "edit",
            Self::Append => "append",
            Self::Rename => "rename",
            Self::Tag => "tag",
            Self::Gist => "gist",
            Self::Summary => "summary",
            Self::Remove => "remove",
            Self::Undo => "undo",
        }
    }
}

/// The result of [`Store::add`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The action, for [`Store::undo`].
    pub change: ChangeId,
    /// The ids of the new entries.
    pub entries: Vec<i64>,
}

/// The result of [`Store::remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The action, for [`Store::undo`].
    pub change: ChangeId,
    /// The contents of the removed entries.
    pub contents: Vec<Content>,
}

/// The result of [`Store::amend`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amended {
    /// The change, for [`Store::undo`].
    pub change: ChangeId,
    /// The entry's content before the change.
    pub before: Content,
    /// The entry's content after the change.
    pub after: Content,
}

/// The result of [`Store::undo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The undo itself. Undoing it redoes the action.
    pub change: ChangeId,
    /// What became of each entry that the action had changed.
    pub entries: Vec<UndoneEntry>,
}

/// An entry that an undo changed. At least one of the contents is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneEntry {
    /// The content before the undo; `None` if the entry had been removed.
    pub before: Option<Content>,
    /// The content after it; `None` if the entry is removed again.
    pub after: Option<Content>,
}

/// Why an action was not undone. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoError {
    /// An entry is not as the action left it.
    ChangedSince {
        /// The action.
        change: ChangeId,
        /// The entry's title.
        title: String,
        /// The actions that lead back to what the action left, to be undone in this order.
        later: Vec<ChangeId>,
    },
    /// The entries are as they were before the action.
    AlreadyUndone {
        /// The action.
        change: ChangeId,
        /// The title of one of them.
        title: String,
        /// The actions that lead back to what the action left, to be undone in this order.
        redo: Vec<ChangeId>,
    },
    /// The action isn't known, or the store can't be written.
    Refused(Fault),
}

impl Store {
    /// Adds all of these entries or none.
    ///
    /// # Errors
    /// A part of a content exceeds its bounds, or the store can't be written.
    pub fn add(&mut self, contents: &[Content]) -> Result<Added, Fault> {
        contents.iter().try_for_each(Content::check)?;
        self.write(|transaction| {
            let mut batch = Batch::new(ChangeKind::Add, None);
            let mut entries = Vec::with_capacity(contents.len());
            for content in contents {
                let entry = insert(transaction, None, content)?;
                batch.record(transaction, entry, 1, None)?;
                entries.push(entry);
            }
            Ok(Added { change: batch.end(transaction)?, entries })
        })
    }

    /// Changes an entry's content with `edit`. Returns `None` when that made no difference.
    ///
    /// # Errors
    /// The entry was changed or removed since it was seen, a part of the new content exceeds its
    /// bounds, or the store can't be written.
    pub fn amend(
        &mut self,
        entry: EntryRef,
        kind: ChangeKind,
        edit: impl FnOnce(&mut Content),
    ) -> Result<Option<Amended>, Fault> {
        self.write(|transaction| {
            let before = read(transaction, entry)?;
            let mut after = before.clone();
            edit(&mut after);
            if after == before {
                return Ok(None);
            }
            after.check()?;
            let rev = update(transaction, entry, &after)?;
            let mut batch = Batch::new(kind, None);
            batch.record(transaction, entry.id, rev, Some(&before))?;
            Ok(Some(Amended { change: batch.end(transaction)?, before, after }))
        })
    }

    /// Removes all of these entries or none.
    ///
    /// # Errors
    /// An entry was changed or removed since it was seen, or the store can't be written.
    pub fn remove(&mut self, entries: &[EntryRef]) -> Result<Removed, Fault> {
        self.write(|transaction| {
            let mut batch = Batch::new(ChangeKind::Remove, None);
            let mut contents = Vec::with_capacity(entries.len());
            for entry in entries {
                let content = read(transaction, *entry)?;
                delete(transaction, entry.id)?;
                batch.record(transaction, entry.id, entry.rev, Some(&content))?;
                contents.push(content);
            }
            Ok(Removed { change: batch.end(transaction)?, contents })
        })
    }

    /// Deletes all of these entries or none, together with all records of their contents. Returns these.
    ///
    /// # Errors
    /// An entry was changed or removed since it was seen, or the store can't be written.
    pub fn purge(&mut self, entries: &[EntryRef]) -> Result<Vec<Content>, Fault> {
        self.write(|transaction| {
            let mut contents = Vec::with_capacity(entries.len());
            for entry in entries {
                contents.push(read(transaction, *entry)?);
                delete(transaction, entry.id)?;
                transaction.execute("DELETE FROM changes WHERE entry = ?1", [entry.id])?;
            }
            drop_unused_blobs(transaction)?;
            Ok(contents)
        })
    }

    /// Undoes one action. The undo is an action of its own, which can be undone in turn.
    ///
    /// The entries must be as the action left them: either nothing has changed them since, or all that did is
    /// undone.
    ///
    /// # Errors
    /// The action is no longer recorded, an entry is not as it left it, or the store can't be written.
    pub fn undo(&mut self, change: ChangeId) -> Result<Undone, UndoError> {
        self.undo_all(|_| Ok(vec![change])).map(|mut undone| undone.remove(0))
    }

    /// Undoes the last actions that are not undone yet, the newest first: all of them or none.
    ///
    /// # Errors
    /// As [`Store::undo`]; also when there are fewer.
    pub fn undo_last(&mut self, steps: usize) -> Result<Vec<Undone>, UndoError> {
        self.undo_all(|transaction| {
            let last = undo_path::not_undone(transaction, steps)?;
            match last.len() {
                0 => Err(Fault::refused("nothing to undo").into()),
                fewer if fewer < steps => {
                    let message = format!("only {fewer} changes can be undone, not {steps}");
                    Err(Fault::refused(message).into())
                }
                _ => Ok(last),
            }
        })
    }

    fn undo_all(
        &mut self,
        choose: impl FnOnce(&Transaction<'_>) -> Result<Vec<ChangeId>, StoreError>,
    ) -> Result<Vec<Undone>, UndoError> {
        let mut changed_since = None;
        let undone = self.write(|transaction| {
            let mut all = Vec::new();
            for change in choose(transaction)? {
                match undo_one(transaction, change)? {
                    Ok(undone) => all.push(undone),
                    Err(error) => {
                        changed_since = Some(error);
                        // Rolls back what the steps before it did.
                        return Err(Fault::failed("changed since").into());
                    }
                }
            }
            Ok(all)
        });
        match changed_since {
            Some(error) => Err(error),
            None => undone.map_err(UndoError::Refused),
        }
    }

    /// Runs `work` in a transaction, which is rolled back if it fails.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Fault> {
        self.check_usable()?;
        if FileId::of(&self.path) != self.file {
            // SQLite would go on writing to the file that has lost its name, and all would be lost.
            // One that was deleted has been written again, unless its directory can't be written.
            let message = format!(
                "{} was moved, deleted or replaced since it was opened; nothing was written",
                self.path.display(),
            );
            return Err(Fault::refused(message).hint("put it back, or open the session again"));
        }
        let run = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let written = run().map_err(|error: StoreError| match error {
            StoreError::Sqlite(error) => self.fault(&error),
            StoreError::Refused(fault) => fault,
        })?;
        self.raise_highest();
        Ok(written)
    }
}

fn undo_one(
    transaction: &Transaction<'_>,
    change: ChangeId,
) -> Result<Result<Undone, UndoError>, StoreError> {
    let recorded = undo_path::load(transaction, change)?;
    if recorded.is_empty() {
        return Err(unknown_change(transaction, change)?.into());
    }
    if let Some((title, later)) = undo_path::changes_to_undo_first(transaction, &recorded)? {
        return Ok(Err(match recorded.iter().all(RecordedChange::is_undone) {
            true => UndoError::AlreadyUndone { change, title, redo: later },
            false => UndoError::ChangedSince { change, title, later },
        }));
    }
    let mut batch = Batch::new(ChangeKind::Undo, Some(change));
    let mut entries = Vec::with_capacity(recorded.len());
    // In the order that the action had, so that entries that were added last are removed first.
    for record in recorded.into_iter().rev() {
        let (id, after) = (record.entry, record.earlier);
        let rev = match (record.current.as_ref(), &after) {
            (Some((rev, _)), Some(content)) => {
                update(transaction, EntryRef { id, rev: *rev }, content)?
            }
            (Some((rev, _)), None) => {
                delete(transaction, id)?;
                *rev
            }
            (None, Some(content)) => {
                let rev = record.rev_to_restore;
                insert(transaction, Some(EntryRef { id, rev }), content)?;
                rev
            }
            (None, None) => record.rev_to_restore,
        };
        let before = record.current.map(|(_, content)| content);
        batch.record(transaction, id, rev, before.as_ref())?;
        entries.push(UndoneEntry { before, after });
    }
    entries.reverse();
    Ok(Ok(Undone { change: batch.end(transaction)?, entries }))
}

/// Says why a change isn't recorded.
fn unknown_change(transaction: &Transaction<'_>, change: ChangeId) -> rusqlite::Result<Fault> {
    let newest: i64 = transaction.query_row(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)",
        [],
        |row| row.get(0),
    )?;
    if change.0 <= newest && change.0 > 0 {
        let fault = Fault::not_found(format!("change {change} is no longer kept"));
        return Ok(fault.hint(format!("only the last {CHANGES_MAX} changes are kept")));
    }
    let fault = Fault::not_found(format!("there was never a change {change}"));
    Ok(match newest {
        0 => fault.hint("nothing was changed in this store so far"),
        _ => fault.hint(format!("the newest one is {}", ChangeId(newest))),
    })
}
