//! State that belongs to a session rather than to the tree: the expanded nodes of views, and the
//! undo records. It is kept in the session's state directory, so that viewing the tree never
//! changes its files.

mod undo_records;

use std::path::Path;
use std::time::Duration;

use pipemux_notes::migrations::migrate;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;
pub(crate) use undo_records::Status;
pub use undo_records::{CHANGES_BYTES_MAX, CHANGES_MAX, Change};

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

/// The level of detail of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Only those of the node's children that are expanded.
    Path,
    /// The node's gist and children.
    Gist,
    /// The gist, children and summary.
    Summary,
    /// The gist, children, summary and text.
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

/// A session's own data on a view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewUse {
    /// The id of the focused node.
    pub focus: Option<String>,
    /// The time of the last use, in seconds since 1970.
    pub used: i64,
}

/// A session's state. Its methods fail when its file can't be read or written.
#[derive(Debug)]
pub struct State {
    connection: Connection,
}

/// The reason why the state can't be read or written.
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

    /// Returns the level to which a view has expanded a node; none if it is folded.
    pub fn level(&self, view: &str, node: &str) -> Result<Option<Level>> {
        let sql = "SELECT level FROM expanded WHERE view = ?1 AND node = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([view, node], |row| row.get(0).map(Level::of)).optional()?)
    }

    /// Expands nodes in a view, or folds them.
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
    pub fn view_use(&self, view: &str) -> Result<ViewUse> {
        let sql = "SELECT focus, used FROM views WHERE view = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let focus: String = row.get(0)?;
            Ok(ViewUse { focus: (!focus.is_empty()).then_some(focus), used: row.get(1)? })
        };
        Ok(self.connection.query_row(sql, [view], read).optional()?.unwrap_or_default())
    }

    /// Returns true if something is switched on for this session alone.
    pub fn is_on(&self, name: &str) -> Result<bool> {
        let sql = "SELECT value = 'on' FROM settings WHERE name = ?1";
        Ok(self.connection.query_row(sql, [name], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// Switches something on or off for this session alone.
    pub fn switch_on(&mut self, name: &str, on: bool) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO settings VALUES (?1, ?2)";
        self.connection.execute(sql, [name, if on { "on" } else { "off" }])?;
        Ok(())
    }

    /// Notes that a view is used.
    pub fn use_view(&mut self, view: &str, focus: Option<&str>, used: i64) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO views VALUES (?1, ?2, ?3)";
        self.connection.execute(sql, params![view, focus.unwrap_or_default(), used])?;
        Ok(())
    }

    /// Gives what is known of a view to another name, or to none.
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
