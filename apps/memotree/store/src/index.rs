//! The index: what is needed of all nodes without reading their files. It can be removed at any
//! time; the files are the truth, and it is made of them again.
//!
//! | module | purpose |
//! |---|---|
//! | `schema` | opens the index, or makes another one in place of one that isn't usable |
//! | `place` | where nodes stand: missing parents, circles |
//! | `query` | children, siblings, search |
//!
//! **Invariant: the index is a function of the files.** Which of a circle's nodes stands at the
//! root, or which of two files that claim one id counts, doesn't depend on the order in which files
//! were noticed.

mod place;
mod query;
mod schema;

use std::path::Path;

use pipemux_notes::full_text::{self, SearchedText};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

pub use query::{FoundNodes, SEARCH_MAX};

use crate::name::NodeId;
use crate::stamp::Stamp;

/// The error of an unusable index, which is then rebuilt.
pub type IndexError = rusqlite::Error;

/// The index entry of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    pub id: NodeId,
    /// The parent named in the node's file; empty if there is none.
    pub parent: String,
    /// The displayed parent; `None` if the parent is missing or in a circle.
    pub shown_under: Option<NodeId>,
    pub order: String,
    pub title: String,
    pub gist: String,
    pub tags: Vec<String>,
    /// Lines of its content.
    pub lines: u64,
    /// True when it has a summary.
    pub has_summary: bool,
    /// The last modification: the date, or the text in the node's file.
    pub modified: String,
    /// The problem with the node's file or place; `None` if there is none.
    pub problem: Option<String>,
    /// The hash of the node's file, which differs for different contents.
    pub hash: u64,
    pub children: u64,
}

/// The data that a node's file contributes to the index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexedFile {
    /// The file's name, which may spell the id in another Unicode normal form.
    pub file: String,
    /// The parent named in the file.
    pub parent: String,
    pub order: String,
    pub title: String,
    pub gist: String,
    pub summary: String,
    pub tags: Vec<String>,
    pub content: String,
    /// The last modification, as in [`NodeRow::modified`].
    pub modified: String,
    /// The problem with the file; `None` if there is none.
    pub problem: Option<String>,
    /// The relations: id, kind and the other node.
    pub relations: Vec<(String, String, String)>,
    /// The hash of the file's bytes.
    pub hash: u64,
    /// The stamp from when the file was read; `None` if a later change could have the same.
    pub stamp: Option<Stamp>,
}

/// A node file's name and the stamp from when it was read, `None` if unreliable.
pub(crate) type KnownFile = (String, Option<Vec<u8>>);

/// The index of a tree. Its methods fail when it can't be read or written; it is then made again.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}

const COLUMNS: &str =
    "n.id, n.parent, n.up, n.ord, n.title, n.gist, n.tags, n.lines, n.has_summary,
    n.modified, n.problem, n.lost, n.hash, coalesce(c.n, 0)";

impl Index {
    /// Opens the index at a path. One that is damaged or of another version is made again, and is
    /// then empty.
    ///
    /// # Errors
    /// The place can't be written.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        schema::open(path).map(|connection| Self { connection })
    }

    /// Returns the stamp of the folder when the index was last the same as the files, if it was
    /// complete then.
    pub(crate) fn folder_stamp(&self) -> Result<Option<Vec<u8>>, IndexError> {
        let sql = "SELECT value FROM meta WHERE name = 'folder'";
        self.connection.query_row(sql, [], |row| row.get(0)).optional()
    }

    /// Notes that the index is the same as the files; none: that it may not be.
    pub(crate) fn set_folder_stamp(&self, stamp: Option<Stamp>) -> Result<(), IndexError> {
        match stamp {
            Some(stamp) => self.connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('folder', ?1)",
                [stamp.to_bytes().as_slice()],
            ),
            None => self.connection.execute("DELETE FROM meta WHERE name = 'folder'", []),
        }
        .map(drop)
    }

    /// Changes several files at once.
    pub(crate) fn change<T, E: From<IndexError>>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = self.connection.transaction()?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Sets what is known of many nodes before anything else is: without what is kept up to date
    /// one by one.
    pub(crate) fn fill<E: From<IndexError>>(
        &mut self,
        work: impl FnOnce(
            &mut dyn FnMut(&NodeId, &IndexedFile) -> Result<(), IndexError>,
        ) -> Result<(), E>,
    ) -> Result<(), E> {
        let transaction = self.connection.transaction()?;
        schema::clear(&transaction)?;
        work(&mut |id, file| insert(&transaction, id, file))?;
        place::settle_all(&transaction)?;
        schema::keep_counts(&transaction)?;
        transaction.commit()?;
        Ok(())
    }

    /// Returns a node.
    pub fn node(&self, id: &str) -> Result<Option<NodeRow>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM nodes n LEFT JOIN counts c ON c.up = n.id WHERE n.id = ?1"
        );
        self.connection.prepare_cached(&sql)?.query_row([id], read).optional()
    }

    /// Returns the name of a node's file and its stamp, by its id.
    pub(crate) fn file_of(&self, id: &str) -> Result<Option<KnownFile>, IndexError> {
        let mut statement =
            self.connection.prepare_cached("SELECT file, stamp FROM nodes WHERE id = ?1")?;
        statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
    }

    /// Calls `each` with the id, the file and the stamp of each node.
    pub(crate) fn stamps(
        &self,
        mut each: impl FnMut(String, String, Option<Vec<u8>>),
    ) -> Result<(), IndexError> {
        let mut statement = self.connection.prepare("SELECT id, file, stamp FROM nodes")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            each(row.get(0)?, row.get(1)?, row.get(2)?);
        }
        Ok(())
    }
}

/// Sets what is known of a node; none removes it. Other nodes whose places depend on it follow.
pub(crate) fn set(
    transaction: &Transaction<'_>,
    id: &NodeId,
    file: Option<&IndexedFile>,
) -> Result<(), IndexError> {
    let old: Option<i64> = transaction
        .prepare_cached("SELECT number FROM nodes WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(number) = old {
        full_text::remove(transaction, number)?;
        transaction.prepare_cached("DELETE FROM nodes WHERE number = ?1")?.execute([number])?;
        let sql = "DELETE FROM relations WHERE source = ?1";
        transaction.prepare_cached(sql)?.execute([id.as_str()])?;
    }
    if let Some(file) = file {
        insert(transaction, id, file)?;
    }
    place::settle(transaction, id.as_str())
}

/// Notes the stamp of a file whose content is known.
pub(crate) fn set_stamp(
    transaction: &Transaction<'_>,
    id: &str,
    stamp: Option<Stamp>,
) -> Result<(), IndexError> {
    let bytes = stamp.map(Stamp::to_bytes);
    let sql = "UPDATE nodes SET stamp = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![id, bytes.as_ref().map(|b| &b[..])])?;
    Ok(())
}

fn insert(
    transaction: &Transaction<'_>,
    id: &NodeId,
    file: &IndexedFile,
) -> Result<(), IndexError> {
    let stamp = file.stamp.map(Stamp::to_bytes);
    transaction
        .prepare_cached(
            "INSERT INTO nodes (id, file, parent, up, ord, title, gist, tags, lines, has_summary,
                modified, problem, lost, hash, stamp)
             VALUES (?1, ?2, ?3, '', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?13)",
        )?
        .execute(params![
            id.as_str(),
            file.file,
            file.parent,
            file.order,
            file.title,
            file.gist,
            file.tags.join("\n"),
            file.content.lines().count() as u64,
            !file.summary.is_empty(),
            file.modified,
            file.problem,
            file.hash.cast_signed(),
            stamp.as_ref().map(|bytes| &bytes[..]),
        ])?;
    let number = transaction.last_insert_rowid();
    let short = format!("{}\n{}", file.gist, file.summary);
    let (title, text, tags) = (&file.title, &file.content, &file.tags);
    SearchedText { title, text, short: &short, tags }.insert(transaction, number, "short")?;
    for (relation, kind, target) in &file.relations {
        let sql = "INSERT OR IGNORE INTO relations VALUES (?1, ?2, ?3, ?4)";
        let values = params![relation, id.as_str(), kind, target];
        transaction.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<NodeRow> {
    let id: String = row.get(0)?;
    let up: String = row.get(2)?;
    let tags: String = row.get(6)?;
    let problem: Option<String> = row.get(10)?;
    let parent: String = row.get(1)?;
    let lost: i64 = row.get(11)?;
    let place = match lost {
        place::ORPHAN => Some(format!("its parent `{parent}` is missing")),
        place::CIRCLE => Some(format!("it is below itself: its parent is `{parent}`")),
        _ => None,
    };
    let hash: i64 = row.get(12)?;
    let named = |text: String| {
        NodeId::parse(&text).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(
                0,
                rusqlite::types::Type::Text,
                Box::new(error),
            )
        })
    };
    Ok(NodeRow {
        id: named(id)?,
        parent,
        shown_under: (!up.is_empty()).then(|| named(up)).transpose()?,
        order: row.get(3)?,
        title: row.get(4)?,
        gist: row.get(5)?,
        tags: tags.split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        lines: row.get(7)?,
        has_summary: row.get(8)?,
        modified: row.get(9)?,
        problem: problem.or(place),
        hash: hash.cast_unsigned(),
        children: row.get(13)?,
    })
}
