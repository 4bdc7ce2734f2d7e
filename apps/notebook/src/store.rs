//! Reads entries: looks up, lists and counts them.
//!
//! | module | purpose |
//! |---|---|
//! | `find` | finds the entries that fit a query |
//! | `reopen` | keeps the store usable when its file is written, damaged or replaced by others |

mod find;
mod reopen;

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use docui::{Fault, Media};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow};

use crate::change::ChangeId;
use crate::entry::Outdated;
use crate::schema::{self, FileId, Highest};
use crate::undo_path;

/// Characters that are read of a text to show its beginning.
const HEAD: usize = 600;

/// An open store.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) file: Option<FileId>,
    /// The same file, which is still there when it has lost its name. It is closed after the connection: closing it
    /// before would release the connection's locks.
    handle: Option<File>,
    /// What readers should be told: the file was deleted, and written again.
    put_back: Option<String>,
    /// The file of SQLite's write-ahead log, which belongs to `file`.
    log: Option<FileId>,
    data_version: i64,
    id: String,
    /// The highest numbers that this process has seen in the store.
    pub(crate) highest: Highest,
    /// Why the store can't be used now. Each refresh tries to open it again.
    unusable: RefCell<Option<Fault>>,
    /// The session's address, for hints.
    address: String,
}

/// An entry without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The entry's id. [`crate::entry::key`] makes its key.
    pub id: i64,
    /// The entry's revision, raised with each change of its content.
    pub rev: u64,
    /// How many lines the text has.
    pub lines: u64,
    /// About how many tokens the text takes.
    pub tokens: u64,
    /// Whether the text changed after the gist and the summary were written.
    pub outdated: Outdated,
    /// The title, one line.
    pub title: String,
    /// The author's gist; empty if there is none.
    pub gist: String,
    /// The author's summary; empty if there is none.
    pub summary: String,
    /// Where the text was copied from; empty if it was written.
    pub origin: String,
    /// The tags, sorted.
    pub tags: Vec<String>,
    /// The beginning of the text.
    pub head: String,
    /// What the bytes are that it holds besides its text.
    pub media: Option<Media>,
}

impl Store {
    /// Opens the store at a path.
    ///
    /// # Errors
    /// As [`schema::open`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let connection = schema::open(path)?;
        // From here on the real path is used: symbolic links may change.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = FileId::of(&path);
        let handle = reopen::hold(&path, file);
        let (unusable, address) = (RefCell::default(), "notebook/main".to_owned());
        let (id, highest) = (String::new(), Highest::default());
        let mut store = Self {
            connection,
            path,
            file,
            handle,
            put_back: None,
            log: None,
            data_version: 0,
            id,
            highest,
            unusable,
            address,
        };
        store.id = store.query_one("SELECT value FROM meta WHERE name = 'id'", [])?;
        store.refresh();
        Ok(store)
    }

    /// Sets the session's address, for hints: `notebook/main`.
    #[must_use]
    pub fn of_session(mut self, address: &str) -> Self {
        self.address = address.to_owned();
        self
    }

    /// Returns the real path of the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the store's own id, a random one that it was created with.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns a fingerprint of the store's state. Every change that a notebook makes changes it.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn fingerprint(&self) -> Result<String, Fault> {
        // Every change but a removal gets an id that was never used before; a removal lowers the count.
        self.query_one(
            "SELECT count(*) || ' ' || coalesce(sum(id), 0) || ' ' || coalesce(sum(rev), 0) || ' ' ||
                coalesce((SELECT group_concat(seq, ' ') FROM
                    (SELECT seq FROM sqlite_sequence ORDER BY name)), '')
             FROM entries",
            [],
        )
    }

    /// Returns how many entries there are.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn total(&self) -> Result<u64, Fault> {
        self.query_one("SELECT count(*) FROM entries", []).map(unsigned)
    }

    /// Returns about how many tokens the texts of all entries take.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn tokens(&self) -> Result<u64, Fault> {
        self.query_one("SELECT coalesce(sum(tokens), 0) FROM entries", []).map(unsigned)
    }

    /// Returns the ids of the newest `limit` entries, the newest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn newest(&self, limit: u64) -> Result<Vec<i64>, Fault> {
        let sql = format!("SELECT id FROM entries ORDER BY id DESC LIMIT {limit}");
        self.query_all(&sql, Vec::new(), |row| row.get(0))
    }

    /// Returns the ids of all entries, the oldest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn ids(&self) -> Result<Vec<i64>, Fault> {
        self.query_all("SELECT id FROM entries ORDER BY id", Vec::new(), |row| row.get(0))
    }

    /// Returns the ids of the entries with a tag, the oldest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn tagged(&self, tag: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT entry FROM tags WHERE tag = ?1 ORDER BY entry";
        self.query_all(sql, vec![tag.to_owned().into()], |row| row.get(0))
    }

    /// Returns the ids of the entries with a title, the oldest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn titled(&self, title: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT id FROM entries WHERE title = ?1 ORDER BY id";
        self.query_all(sql, vec![title.to_owned().into()], |row| row.get(0))
    }

    /// Returns the ids and titles of all entries, the oldest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn titles(&self) -> Result<Vec<(i64, String)>, Fault> {
        let sql = "SELECT id, title FROM entries ORDER BY id";
        self.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns an entry, or `None` if there is none with this id.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn get(&self, id: i64) -> Result<Option<Row>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE id = ?1");
        self.query_all(&sql, vec![id.into()], row).map(|rows| rows.into_iter().next())
    }

    /// Returns an entry's rev, or `None` if there is no entry with this id.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn rev(&self, id: i64) -> Result<Option<u64>, Fault> {
        self.query_optional("SELECT rev FROM entries WHERE id = ?1", [id])
            .map(|rev: Option<i64>| rev.map(unsigned))
    }

    /// Returns an entry's text, or `None` if there is no entry with this id.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn text(&self, id: i64) -> Result<Option<String>, Fault> {
        self.query_optional("SELECT text FROM entries WHERE id = ?1", [id])
    }

    /// Returns the bytes that an entry holds besides its text; `None` if it has none.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn bytes(&self, id: i64) -> Result<Option<Vec<u8>>, Fault> {
        let sql =
            "SELECT bytes FROM blobs WHERE id = (SELECT blob FROM attachments WHERE entry = ?1)";
        self.query_optional(sql, [id])
    }

    /// Returns whether an entry was ever created with this id.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn existed(&self, id: i64) -> Result<bool, Fault> {
        let last =
            self.query_optional("SELECT seq FROM sqlite_sequence WHERE name = 'entries'", [])?;
        Ok(last.is_some_and(|last: i64| id <= last))
    }

    /// Returns the action that removed an entry, if it can be undone.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn removal(&self, id: i64) -> Result<Option<ChangeId>, Fault> {
        self.check_usable()?;
        undo_path::removal(&self.connection, id).map_err(|error| self.fault(&error))
    }

    /// Returns all tags with the numbers of entries that have them, the most used first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Fault> {
        let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY count(*) DESC, tag";
        self.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, unsigned(row.get(1)?))))
    }

    pub(crate) fn query_one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<T, Fault> {
        self.check_usable()?;
        let found = self.connection.prepare_cached(sql);
        let found = found.and_then(|mut one| one.query_row(params, |row| row.get(0)));
        found.map_err(|error| self.fault(&error))
    }

    fn query_optional<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>, Fault> {
        self.check_usable()?;
        let found = self.connection.prepare_cached(sql);
        let found = found.and_then(|mut one| one.query_row(params, |row| row.get(0)));
        found.optional().map_err(|error| self.fault(&error))
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: Vec<Value>,
        take: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        self.check_usable()?;
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(rusqlite::params_from_iter(params), take)?.collect()
        };
        rows().map_err(|error| self.fault(&error))
    }
}

const COLUMNS: &str = "entries.id, rev, lines, tokens, outdated, entries.title, gist, \
    entries.summary, origin, \
    (SELECT group_concat(tag, char(10)) FROM (SELECT tag FROM tags WHERE entry = entries.id \
     ORDER BY tag)), \
    substr(entries.text, 1, 600), \
    (SELECT media FROM blobs WHERE id = (SELECT blob FROM attachments WHERE entry = entries.id))";
const _: () = assert!(HEAD == 600, "COLUMNS repeats it");

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let tags: Option<String> = row.get(9)?;
    Ok(Row {
        id: row.get(0)?,
        rev: unsigned(row.get(1)?),
        lines: unsigned(row.get(2)?),
        tokens: unsigned(row.get(3)?),
        outdated: Outdated::from_bits(row.get(4)?),
        title: row.get(5)?,
        gist: row.get(6)?,
        summary: row.get(7)?,
        origin: row.get(8)?,
        tags: tags.map(|tags| tags.split('\n').map(Into::into).collect()).unwrap_or_default(),
        head: row.get(10)?,
        media: row
            .get::<_, Option<String>>(11)?
            .and_then(|media| serde_json::from_str(&media).ok()),
    })
}

/// Converts a count or revision, which SQLite stores as a signed number.
pub(crate) fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}
