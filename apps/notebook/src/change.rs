//! Writes entries: one transaction per action, with a record from which the change can be undone.
//!
//! | module | purpose |
//! |---|---|
//! | `rows` | the rows that a change reads and writes |

pub(crate) mod rows;

use std::fmt;
use std::str::FromStr;

use docui::Fault;
use rusqlite::{Transaction, TransactionBehavior};

use crate::entry::Content;
use crate::schema::{FileId, StoreError};
use crate::store::Store;
use crate::undo_path;

use rows::{delete, insert, read, record, update};

/// How many changes can be undone, over all entries.
pub const CHANGES_MAX: i64 = 200;
/// Bytes of earlier texts that are kept for undo, over all changes.
pub const CHANGES_BYTES_MAX: i64 = 16 * 1024 * 1024;

/// An entry as the caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryRef {
    /// The entry's id.
    pub id: i64,
    /// The rev that the caller saw.
    pub rev: u64,
}

/// Identifies a recorded change. In calls it is written as `c12`.
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
    /// An earlier change was undone.
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
            Self::Undo => "undo",
        }
    }
}

/// The result of [`Store::add`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The change, for [`Store::undo`].
    pub change: ChangeId,
    /// The new entry's id.
    pub entry: i64,
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
pub enum Undone {
    /// The change had created the entry, which is removed again.
    Removed {
        /// The removed content.
        content: Content,
    },
    /// The entry has its earlier content again.
    Restored {
        /// The change that the undo itself made. Undoing it redoes the original change.
        change: ChangeId,
        /// The restored content.
        content: Content,
    },
}

/// Why a change was not undone. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoError {
    /// The entry is not as the change left it.
    ChangedSince {
        /// The entry's title.
        title: String,
        /// The changes that lead back to what the change left, to be undone in this order.
        later: Vec<ChangeId>,
    },
    /// The entry is as it was before the change.
    AlreadyUndone {
        /// The entry's title.
        title: String,
        /// The changes that lead back to what the change left, to be undone in this order.
        redo: Vec<ChangeId>,
    },
    /// The change isn't known, or the store can't be written.
    Refused(Fault),
}

impl Store {
    /// Adds an entry.
    ///
    /// # Errors
    /// A part of the content exceeds its bounds, or the store can't be written.
    pub fn add(&mut self, content: &Content) -> Result<Added, Fault> {
        content.check()?;
        self.write(|transaction| {
            let entry = insert(transaction, content)?;
            let change = record(transaction, entry, ChangeKind::Add, 1, None)?;
            Ok(Added { change, entry })
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
            let change = record(transaction, entry.id, kind, rev, Some(&before))?;
            Ok(Some(Amended { change, before, after }))
        })
    }

    /// Deletes all of these entries or none, together with the records of their changes. Returns their
    /// contents.
    ///
    /// # Errors
    /// An entry was changed or removed since it was seen, or the store can't be written.
    pub fn remove(&mut self, entries: &[EntryRef]) -> Result<Vec<Content>, Fault> {
        self.write(|transaction| {
            let mut removed = Vec::with_capacity(entries.len());
            for entry in entries {
                removed.push(read(transaction, *entry)?);
                delete(transaction, entry.id)?;
            }
            Ok(removed)
        })
    }

    /// Undoes one change. Unless the change had created the entry, the undo is a change of its own, which
    /// can be undone in turn.
    ///
    /// The entry must be as the change left it: either nothing has changed it since, or all that did is
    /// undone.
    ///
    /// # Errors
    /// The change is no longer recorded, the entry is not as the change left it, or the store can't be
    /// written.
    pub fn undo(&mut self, change: ChangeId) -> Result<Undone, UndoError> {
        self.write(|transaction| {
            let Some(recorded) = undo_path::load(transaction, change)? else {
                return Err(unknown_change(transaction, change)?.into());
            };
            let later = recorded.changes_to_undo_first();
            if recorded.earlier.as_ref() == Some(&recorded.current) {
                let title = recorded.current.title;
                return Ok(Err(UndoError::AlreadyUndone { title, redo: later }));
            }
            if !later.is_empty() {
                return Ok(Err(UndoError::ChangedSince { title: recorded.current.title, later }));
            }
            let (entry, current) = (recorded.entry, recorded.current);
            Ok(Ok(match recorded.earlier {
                None => {
                    delete(transaction, entry.id)?;
                    Undone::Removed { content: current }
                }
                Some(content) => {
                    let rev = update(transaction, entry, &content)?;
                    let kind = ChangeKind::Undo;
                    let change = record(transaction, entry.id, kind, rev, Some(&current))?;
                    Undone::Restored { change, content }
                }
            }))
        })
        .map_err(UndoError::Refused)
        .flatten()
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

/// Says why a change isn't recorded.
fn unknown_change(transaction: &Transaction<'_>, change: ChangeId) -> rusqlite::Result<Fault> {
    let newest: i64 = transaction.query_row(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)",
        [],
        |row| row.get(0),
    )?;
    if change.0 <= newest && change.0 > 0 {
        let fault = Fault::not_found(format!("change {change} is no longer kept"));
        return Ok(fault.hint(format!(
            "its entry was removed, or its addition undone, or there are {CHANGES_MAX} newer changes"
        )));
    }
    let fault = Fault::not_found(format!("there was never a change {change}"));
    Ok(match newest {
        0 => fault.hint("nothing was changed in this store so far"),
        _ => fault.hint(format!("the newest one is {}", ChangeId(newest))),
    })
}
