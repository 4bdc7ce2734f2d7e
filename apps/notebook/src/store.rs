//! The entries of a store.
//!
//! | module | purpose |
//! |---|---|
//! | `changes` | writes entries, and undoes that |
//! | `find` | finds the entries that fit a query |
//!
//! The methods that read fail only when the store can't be read.

mod changes;
mod find;

use std::path::Path;

use docui::{Fault, Media};
use rusqlite::Row as SqlRow;

use crate::change::ChangeId;
use crate::database::{Database, unsigned};
use crate::entry::Outdated;
use crate::undo_path;

/// Characters that are read of a text to show its beginning.
const HEAD: usize = 600;

/// An entry without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The entry's id. [`crate::entry::key`] makes its key.
    pub id: i64,
    /// The entry's revision, which increases with each change of its content.
    pub rev: u64,
    /// The number of lines of the text.
    pub lines: u64,
    /// About how many tokens the text takes.
    pub tokens: u64,
    /// The short forms that were written before the last change of the text.
    pub outdated: Outdated,
    /// The title, in one line.
    pub title: String,
    /// The author's gist; empty if there is none.
    pub gist: String,
    /// The author's summary; empty if there is none.
    pub summary: String,
    /// The source that the text was copied from; empty if it was written.
    pub origin: String,
    pub tags: Vec<String>,
    /// The beginning of the text.
    pub head: String,
    /// The media type of the binary content besides the text, if any.
    pub media: Option<Media>,
}

pub struct Store {
    pub(crate) database: Database,
}

impl Store {
    /// Opens the store at a path, for the session with this address: `notebook/main`.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open(path: &Path, address: &str) -> Result<Self, Fault> {
        Ok(Self { database: Database::open(path)?.of_session(address) })
    }

    /// Returns a fingerprint of the store's state. Every change that a notebook makes changes it.
    pub fn fingerprint(&self) -> Result<String, Fault> {
        // Every change but a removal gets an id that was never used before; a removal lowers the
        // count.
        self.database.query_one(
            "SELECT count(*) || ' ' || coalesce(sum(id), 0) || ' ' || coalesce(sum(rev), 0) || ' ' ||
                coalesce((SELECT group_concat(seq, ' ') FROM
                    (SELECT seq FROM sqlite_sequence ORDER BY name)), '')
             FROM entries",
            [],
        )
    }

    /// Returns how many entries there are.
    pub fn total(&self) -> Result<u64, Fault> {
        self.database.query_one("SELECT count(*) FROM entries", []).map(unsigned)
    }

    /// Returns about how many tokens the texts of all entries take.
    pub fn tokens(&self) -> Result<u64, Fault> {
        self.database.query_one("SELECT coalesce(sum(tokens), 0) FROM entries", []).map(unsigned)
    }

    /// Returns the ids of the newest `limit` entries, the newest first.
    pub fn newest(&self, limit: u64) -> Result<Vec<i64>, Fault> {
        let sql = format!("SELECT id FROM entries ORDER BY id DESC LIMIT {limit}");
        self.database.query_all(&sql, Vec::new(), |row| row.get(0))
    }

    /// Returns the ids of all entries, the oldest first.
    pub fn ids(&self) -> Result<Vec<i64>, Fault> {
        self.database.query_all("SELECT id FROM entries ORDER BY id", Vec::new(), |row| row.get(0))
    }

    /// Returns the ids of the entries with a tag, the oldest first.
    pub fn tagged(&self, tag: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT entry FROM tags WHERE tag = ?1 ORDER BY entry";
        self.database.query_all(sql, vec![tag.to_owned().into()], |row| row.get(0))
    }

    /// Returns the ids of the entries with a title, the oldest first.
    pub fn titled(&self, title: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT id FROM entries WHERE title = ?1 ORDER BY id";
        self.database.query_all(sql, vec![title.to_owned().into()], |row| row.get(0))
    }

    /// Returns the ids and titles of all entries, the oldest first.
    pub fn titles(&self) -> Result<Vec<(i64, String)>, Fault> {
        let sql = "SELECT id, title FROM entries ORDER BY id";
        self.database.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns an entry, or `None` if there is none with this id.
    pub fn get(&self, id: i64) -> Result<Option<Row>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE id = ?1");
        self.database.query_all(&sql, vec![id.into()], row).map(|rows| rows.into_iter().next())
    }

    /// Returns an entry's rev, or `None` if there is no entry with this id.
    pub fn rev(&self, id: i64) -> Result<Option<u64>, Fault> {
        self.database
            .query_optional("SELECT rev FROM entries WHERE id = ?1", [id])
            .map(|rev: Option<i64>| rev.map(unsigned))
    }

    /// Returns an entry's text, or `None` if there is no entry with this id.
    pub fn text(&self, id: i64) -> Result<Option<String>, Fault> {
        self.database.query_optional("SELECT text FROM entries WHERE id = ?1", [id])
    }

    /// Returns the bytes that an entry holds besides its text; `None` if it has none.
    pub fn bytes(&self, id: i64) -> Result<Option<Vec<u8>>, Fault> {
        let sql =
            "SELECT bytes FROM blobs WHERE id = (SELECT blob FROM attachments WHERE entry = ?1)";
        self.database.query_optional(sql, [id])
    }

    /// Returns whether an entry was ever created with this id.
    pub fn existed(&self, id: i64) -> Result<bool, Fault> {
        let last = self
            .database
            .query_optional("SELECT seq FROM sqlite_sequence WHERE name = 'entries'", [])?;
        Ok(last.is_some_and(|last: i64| id <= last))
    }

    /// Returns the action that removed an entry, if it can be undone.
    pub fn removal(&self, id: i64) -> Result<Option<ChangeId>, Fault> {
        self.database.read(|connection| undo_path::removal(connection, id))
    }

    /// Returns all tags with the numbers of entries that have them, the most used first.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Fault> {
        let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY count(*) DESC, tag";
        self.database.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, unsigned(row.get(1)?))))
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
