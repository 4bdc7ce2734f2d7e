//! Writes entries: one transaction per action, with a record from which the change can be undone.

use docui::{Fault, Media};
use rusqlite::Transaction;

use super::Store;
use crate::change::{
    Added, Amended, CHANGES_MAX, ChangeId, ChangeKind, EntryRef, Removed, UndoError, Undone,
    UndoneEntry,
};
use crate::entry::{BLOB_MAX, Content};
use crate::entry_rows::{Batch, delete, drop_unused_blobs, insert, insert_blob, read, update};
use crate::schema::StoreError;
use crate::undo_path::{self, RecordedChange};

impl Store {
    /// Adds all of these entries or none.
    ///
    /// # Errors
    /// A part of a content exceeds its bounds, or the store can't be written.
    pub fn add(&mut self, contents: &[Content]) -> Result<Added, Fault> {
        contents.iter().try_for_each(Content::check)?;
        self.database.write(|transaction| {
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

    /// Adds an entry that holds bytes besides its text. `media` says what they are.
    ///
    /// # Errors
    /// As [`Store::add`]; also if there are too many bytes.
    pub fn add_bytes(
        &mut self,
        content: &Content,
        media: &Media,
        bytes: &[u8],
    ) -> Result<Added, Fault> {
        content.check()?;
        if bytes.len() > BLOB_MAX {
            let (length, most) = (bytes.len() / 1024, BLOB_MAX / 1024);
            return Err(Fault::refused(format!("text: {length} KiB, at most {most} KiB")));
        }
        let media =
            serde_json::to_string(media).map_err(|error| Fault::failed(error.to_string()))?;
        self.database.write(|transaction| {
            let blob = Some(insert_blob(transaction, &media, bytes)?);
            let entry = insert(transaction, None, &Content { blob, ..content.clone() })?;
            let mut batch = Batch::new(ChangeKind::Add, None);
            batch.record(transaction, entry, 1, None)?;
            Ok(Added { change: batch.end(transaction)?, entries: vec![entry] })
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
        self.database.write(|transaction| {
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
        self.database.write(|transaction| {
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

    /// Deletes all of these entries or none, together with all records of their contents. Returns
    /// these.
    ///
    /// # Errors
    /// An entry was changed or removed since it was seen, or the store can't be written.
    pub fn purge(&mut self, entries: &[EntryRef]) -> Result<Vec<Content>, Fault> {
        self.database.write(|transaction| {
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
    /// The entries must be as the action left them: either nothing has changed them since, or all
    /// that did is undone.
    ///
    /// # Errors
    /// The action is no longer recorded, an entry is not as it left it, or the store can't be
    /// written.
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
        let undone = self.database.write(|transaction| {
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
