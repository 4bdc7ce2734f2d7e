//! What belongs to a session and not to the tree: what views have expanded, and the records by which changes are undone.
//! It lies in the session's state directory, so that looking at the tree never changes a file of it.

use std::path::Path;
use std::time::Duration;

use pipemux_notes::migrations::migrate;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::error::StoreError;
use crate::folder::{FileName, Part};

/// Changes that can be undone.
pub const CHANGES_MAX: u64 = 500;

/// Bytes of files that are kept to undo changes.
pub const CHANGES_BYTES_MAX: u64 = 64 << 20;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        label TEXT NOT NULL,
        status TEXT NOT NULL,
        bytes INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS files (
        change INTEGER NOT NULL REFERENCES changes ON DELETE CASCADE,
        at INTEGER NOT NULL,
        part TEXT NOT NULL,
        name TEXT NOT NULL,
        before BLOB,
        after BLOB,
        PRIMARY KEY (change, at)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS reversals (
        id INTEGER PRIMARY KEY REFERENCES changes ON DELETE CASCADE,
        of INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS expanded (
        view TEXT NOT NULL,
        node TEXT NOT NULL,
        level INTEGER NOT NULL,
        PRIMARY KEY (view, node)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS views (
        view TEXT PRIMARY KEY,
        focus TEXT NOT NULL,
        used INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS settings (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// An early store of version 1 may lack some of the tables, which version 2 has for sure.
const MIGRATIONS: &[&str] = &[TABLES, TABLES];

/// How much of a node is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Those of its children that are expanded.
    Path,
    /// Its gist and its children.
    Gist,
    /// Its summary, too.
    Summary,
    /// Its text, too.
    Full,
}

impl Level {
    /// Returns the level as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Gist => "gist",
            Self::Summary => "summary",
            Self::Full => "full",
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::Path => -1,
            Self::Gist => 0,
            Self::Summary => 1,
            Self::Full => 2,
        }
    }

    fn of(number: i64) -> Self {
        match number {
            ..0 => Self::Path,
            0 => Self::Gist,
            1 => Self::Summary,
            2.. => Self::Full,
        }
    }
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub file: FileName,
    /// Its content before; none if there was no file.
    pub before: Option<Vec<u8>>,
    /// Its content after; none if it is removed.
    pub after: Option<Vec<u8>>,
}

impl FileEdit {
    /// Returns the change that takes this one back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { file: self.file.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}

/// A change as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its number; none is used twice.
    pub id: i64,
    /// What it was, in a few words.
    pub label: String,
    /// The files in the order in which they were changed.
    pub files: Vec<FileEdit>,
}

/// A view as this session knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewUse {
    /// The node that has the focus.
    pub focus: Option<String>,
    /// When it was last used, in seconds since 1970.
    pub used: i64,
}

/// A session's state.
#[derive(Debug)]
pub struct State {
    connection: Connection,
}

/// Why the state can't be read or written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StateError(#[from] rusqlite::Error);

impl From<StateError> for StoreError {
    fn from(error: StateError) -> Self {
        Self::State(error.0.to_string())
    }
}

type Result<T> = std::result::Result<T, StateError>;

impl State {
    /// Opens the state at a path.
    ///
    /// # Errors
    /// It can't be written.
    pub fn open(path: &Path) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
        )?;
        migrate(&mut connection, 0, MIGRATIONS)?;
        Ok(Self { connection })
    }

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
    ///
    /// # Errors
    /// The state can't be read.
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

    /// Notes that a change took another one back, which undo passes over from now on. If that one had itself taken one back,
    /// both go, and it is as if that one had never been. Returns the change that an undo of this takes back.
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
    ///
    /// # Errors
    /// The state can't be read.
    pub fn next_undone(&self) -> Result<Option<Change>> {
        self.change("SELECT id, label FROM changes WHERE status = 'undone' ORDER BY id LIMIT 1")
    }

    /// Returns a change that was being made, taken back or made again when the process ended, with the status that it was to
    /// have, and the one that it had.
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

    /// Makes two changes of one: what is done of it, which is undone next, and the rest, which is redone next.
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

    /// Returns the level to which a view has expanded a node; none if it is folded.
    ///
    /// # Errors
    /// The state can't be read.
    pub fn level(&self, view: &str, node: &str) -> Result<Option<Level>> {
        let sql = "SELECT level FROM expanded WHERE view = ?1 AND node = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([view, node], |row| row.get(0).map(Level::of)).optional()?)
    }

    /// Expands nodes in a view, or folds them.
    ///
    /// # Errors
    /// The state can't be written.
    pub fn set_levels(&mut self, view: &str, nodes: &[String], level: Option<Level>) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for node in nodes {
            match level {
                Some(level) => transaction
                    .prepare_cached("INSERT OR REPLACE INTO expanded VALUES (?1, ?2, ?3)")?
                    .execute(params![view, node, level.number()])?,
                None => transaction
                    .prepare_cached("DELETE FROM expanded WHERE view = ?1 AND node = ?2")?
                    .execute([view, node])?,
            };
        }
        transaction.commit()?;
        Ok(())
    }

    /// Returns the number of nodes that a view has expanded.
    ///
    /// # Errors
    /// The state can't be read.
    pub fn expanded(&self, view: &str) -> Result<u64> {
        let sql = "SELECT count(*) FROM expanded WHERE view = ?1 AND level >= 0";
        Ok(self.connection.query_row(sql, [view], |row| row.get(0))?)
    }

    /// Returns the nodes that a view has expanded, and those on the way to them, as a JSON array.
    pub(crate) fn open_ids(&self, view: &str) -> Result<String> {
        let sql = "SELECT json_group_array(node) FROM expanded WHERE view = ?1";
        Ok(self.connection.query_row(sql, [view], |row| row.get(0))?)
    }

    /// Returns what is known of a view.
    ///
    /// # Errors
    /// The state can't be read.
    pub fn view_use(&self, view: &str) -> Result<ViewUse> {
        let sql = "SELECT focus, used FROM views WHERE view = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let focus: String = row.get(0)?;
            Ok(ViewUse { focus: (!focus.is_empty()).then_some(focus), used: row.get(1)? })
        };
        Ok(self.connection.query_row(sql, [view], read).optional()?.unwrap_or_default())
    }

    /// Returns true if something is switched on for this session alone.
    ///
    /// # Errors
    /// The state can't be read.
    pub fn is_on(&self, name: &str) -> Result<bool> {
        let sql = "SELECT value = 'on' FROM settings WHERE name = ?1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// Switches something on or off for this session alone.
    ///
    /// # Errors
    /// The state can't be written.
    pub fn switch_on(&mut self, name: &str, on: bool) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO settings VALUES (?1, ?2)";
        self.connection.execute(sql, [name, if on { "on" } else { "off" }])?;
        Ok(())
    }

    /// Notes that a view is used.
    ///
    /// # Errors
    /// The state can't be written.
    pub fn use_view(&mut self, view: &str, focus: Option<&str>, used: i64) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO views VALUES (?1, ?2, ?3)";
        self.connection.execute(sql, params![view, focus.unwrap_or_default(), used])?;
        Ok(())
    }

    /// Gives what is known of a view to another name, or to none.
    ///
    /// # Errors
    /// The state can't be written.
    pub fn rename_view(&mut self, view: &str, to: Option<&str>) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for table in ["expanded", "views"] {
            if let Some(to) = to {
                transaction.execute(&format!("DELETE FROM {table} WHERE view = ?1"), [to])?;
                let sql = format!("UPDATE {table} SET view = ?2 WHERE view = ?1");
                transaction.execute(&sql, [view, to])?;
            } else {
                transaction.execute(&format!("DELETE FROM {table} WHERE view = ?1"), [view])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It is made.
    Done,
    /// It is taken back.
    Undone,
    /// It is being taken back.
    Undoing,
    /// It is being made again.
    Redoing,
    /// It failed, and is as if it had never been.
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
