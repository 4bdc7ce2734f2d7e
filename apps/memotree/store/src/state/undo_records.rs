//! The records by which changes are undone and made again.
//!
//! A change is *pending* while its files are written, then *done*. Undo makes it *undone*, redo
//! done again; while that goes on it is *undoing* or *redoing*. One that another change took back
//! is *reversed*, and that other one is a *reversal*: undo passes over both.

use rusqlite::{OptionalExtension, Transaction, params};

use super::{Result, State};
use crate::file_edit::{FileEdit, FileName, Part};

/// Changes that can be undone.
pub const CHANGES_MAX: u64 = 500;

/// Bytes of files that are kept to undo changes.
pub const CHANGES_BYTES_MAX: u64 = 64 << 20;

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The number of the change, which is never reused.
    pub id: i64,
    /// A description of the change in a few words.
    pub label: String,
    /// The changed files, in the order of the changes.
    pub files: Vec<FileEdit>,
}

impl State {
    /// Records a change that is about to be made. What was undone can't be redone any more.
    pub(crate) fn begin(&mut self, label: &str, files: &[FileEdit]) -> Result<i64> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM changes WHERE status = 'undone'", [])?;
        let sql = "INSERT INTO changes (label, status, bytes) VALUES (?1, 'pending', ?2)";
        transaction.execute(sql, params![label, bytes_of(files)])?;
        let id = transaction.last_insert_rowid();
        insert_files(&transaction, id, files)?;
        drop_oldest(&transaction)?;
        transaction.commit()?;
        Ok(id)
    }

    /// Notes how a change ended.
    pub(crate) fn set_status(&mut self, id: i64, status: Status) -> Result<()> {
        match status {
            Status::Dropped => {
                self.connection.execute("DELETE FROM changes WHERE id = ?1", [id])?
            }
            Status::Done | Status::Undone | Status::Undoing | Status::Redoing => {
                let word = match status {
                    Status::Done => "done",
                    Status::Undoing => "undoing",
                    Status::Redoing => "redoing",
                    Status::Undone | Status::Dropped => "undone",
                };
                self.connection
                    .execute("UPDATE changes SET status = ?2 WHERE id = ?1", params![id, word])?
            }
        };
        Ok(())
    }

    /// Returns the change that an undo would take back.
    pub fn last_done(&self) -> Result<Option<Change>> {
        self.change("SELECT id, label FROM changes WHERE status = 'done' ORDER BY id DESC LIMIT 1")
    }

    /// Returns a change that is in effect.
    pub(crate) fn reversible(&self, id: i64) -> Result<Option<Change>> {
        let sql = "SELECT id, label FROM changes WHERE status IN ('done', 'reversal') AND id = ";
        self.change(&format!("{sql}{id}"))
    }

    /// Returns the newest change if it is one that took another one back.
    pub(crate) fn last_reversal(&self) -> Result<Option<i64>> {
        let sql = "SELECT id FROM changes WHERE id = (SELECT max(id) FROM changes) AND status = 'reversal'";
        Ok(self.connection.query_row(sql, [], |row| row.get(0)).optional()?)
    }

    /// Notes that a change took another one back, which undo passes over from now on. If that one
    /// had itself taken one back, both go, and it is as if that one had never been. Returns the
    /// change that an undo of this takes back.
    pub(crate) fn note_reversal(&mut self, by: i64, of: i64) -> Result<i64> {
        let transaction = self.connection.transaction()?;
        let sql = "SELECT c.id FROM reversals r JOIN changes c ON c.id = r.of WHERE r.id = ?1";
        let first: Option<i64> = transaction.query_row(sql, [of], |row| row.get(0)).optional()?;
        let set = "UPDATE changes SET status = ?2 WHERE id = ?1";
        if let Some(first) = first {
            transaction.execute(set, params![first, "done"])?;
            transaction.execute("DELETE FROM changes WHERE id IN (?1, ?2)", [by, of])?;
        } else {
            transaction.execute(set, params![of, "reversed"])?;
            transaction.execute(set, params![by, "reversal"])?;
            transaction.execute("INSERT INTO reversals VALUES (?1, ?2)", [by, of])?;
        }
        transaction.commit()?;
        Ok(first.unwrap_or(by))
    }

    /// Returns the change that a redo would make again.
    pub fn next_undone(&self) -> Result<Option<Change>> {
        self.change("SELECT id, label FROM changes WHERE status = 'undone' ORDER BY id LIMIT 1")
    }

    /// Returns a change that was being made, taken back or made again when the process ended, with
    /// the status that it was to have, and the one that it had.
    pub(crate) fn interrupted(&self) -> Result<Option<(Change, Status, Status)>> {
        for (word, made, not_made) in [
            ("undoing", Status::Undone, Status::Done),
            ("redoing", Status::Done, Status::Undone),
            ("pending", Status::Done, Status::Dropped),
        ] {
            let sql = format!(
                "SELECT id, label FROM changes WHERE status = '{word}' ORDER BY id DESC LIMIT 1"
            );
            if let Some(change) = self.change(&sql)? {
                return Ok(Some((change, made, not_made)));
            }
        }
        Ok(None)
    }

    /// Makes two changes of one: what is done of it, which is undone next, and the rest, which is
    /// redone next.
    pub(crate) fn split(
        &mut self,
        change: &Change,
        done: &[FileEdit],
        rest: &[FileEdit],
    ) -> Result<()> {
        let transaction = self.connection.transaction()?;
        // The rest keeps the number: it comes before what was undone before it.
        transaction.execute("DELETE FROM files WHERE change = ?1", [change.id])?;
        insert_files(&transaction, change.id, rest)?;
        transaction.execute("UPDATE changes SET status = 'undone' WHERE id = ?1", [change.id])?;
        if rest.is_empty() {
            transaction.execute("DELETE FROM changes WHERE id = ?1", [change.id])?;
        }
        if !done.is_empty() {
            let sql = "INSERT INTO changes (label, status, bytes) VALUES (?1, 'done', ?2)";
            transaction.execute(sql, params![change.label, bytes_of(done)])?;
            insert_files(&transaction, transaction.last_insert_rowid(), done)?;
        }
        Ok(transaction.commit()?)
    }

    fn change(&self, sql: &str) -> Result<Option<Change>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = self.connection.query_row(sql, [], read).optional()?;
        let Some((id, label)) = found else { return Ok(None) };
        let sql = "SELECT part, name, before, after FROM files WHERE change = ?1 ORDER BY at";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([id], |row| {
            let part: String = row.get(0)?;
            let part = Part::named(&part).unwrap_or(Part::Nodes);
            let file = FileName::new(part, row.get::<_, String>(1)?);
            Ok(FileEdit { file, before: row.get(2)?, after: row.get(3)? })
        })?;
        let files = rows.collect::<rusqlite::Result<_>>()?;
        Ok(Some(Change { id, label, files }))
    }
}

/// The status of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The change is made.
    Done,
    /// The change is taken back.
    Undone,
    /// The change is being taken back.
    Undoing,
    /// The change is being redone.
    Redoing,
    /// The change failed and has no effect.
    Dropped,
}

fn bytes_of(files: &[FileEdit]) -> u64 {
    let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len) as u64;
    files.iter().map(|edit| length(&edit.before) + length(&edit.after)).sum()
}

fn insert_files(transaction: &Transaction<'_>, change: i64, files: &[FileEdit]) -> Result<()> {
    for (at, FileEdit { file, before, after }) in files.iter().enumerate() {
        transaction
            .prepare_cached("INSERT INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![change, at as u64, file.part.name(), file.name, before, after])?;
    }
    Ok(())
}

/// Forgets the oldest changes beyond the bounds; the newest one always stays.
fn drop_oldest(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "DELETE FROM changes WHERE id IN (
            SELECT id FROM (
                SELECT id, row_number() OVER newest AS n, sum(bytes) OVER newest AS total
                FROM changes WINDOW newest AS (ORDER BY id DESC)
            ) WHERE n > 1 AND (n > ?1 OR total > ?2)
        )";
    transaction.execute(sql, params![CHANGES_MAX, CHANGES_BYTES_MAX]).map(drop)
}
