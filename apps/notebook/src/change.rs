//! Writes entries: one transaction per action, with a record from which the change can be undone.

use std::fmt;
use std::str::FromStr;

use docui::Fault;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::entry::{self, Content};
use crate::schema::{FileId, StoreError};
use crate::store::{Store, unsigned};
use crate::undo_path;

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
                let message = format!("change {change} is no longer kept");
                let hint =
                    format!("only the last {CHANGES_MAX} changes of existing entries are kept");
                return Err(Fault::not_found(message).hint(hint).into());
            };
            let later = recorded.changes_to_undo_first();
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

/// Reads an entry's content, if its rev is still the one that was seen.
fn read(transaction: &Transaction<'_>, entry: EntryRef) -> Result<Content, StoreError> {
    let key = entry::key(entry.id);
    match current(transaction, entry.id)? {
        None => Err(Fault::not_found("removed").about(key).into()),
        Some((rev, _)) if rev != entry.rev => {
            Err(Fault::stale("changed since it was seen").about(key).into())
        }
        Some((_, content)) => Ok(content),
    }
}

/// Returns an entry's rev and content, or `None` if there is no entry with this id.
pub(crate) fn current(
    transaction: &Transaction<'_>,
    id: i64,
) -> rusqlite::Result<Option<(u64, Content)>> {
    transaction
        .query_row(
            "SELECT id, rev, title, text, summary, gist,
                coalesce((SELECT group_concat(tag, char(10)) FROM
                    (SELECT tag FROM tags WHERE entry = ?1 ORDER BY tag)), ''),
                origin, outdated FROM entries WHERE id = ?1",
            [id],
            |row| Ok((unsigned(row.get(1)?), content(row, row.get(2)?)?)),
        )
        .optional()
}

/// Reads a content from columns 3 to 8 of a row. The title, which may be NULL there, is given.
pub(crate) fn content(row: &rusqlite::Row<'_>, title: String) -> rusqlite::Result<Content> {
    let tags: String = row.get(6)?;
    Ok(Content {
        title,
        text: row.get(3)?,
        summary: row.get(4)?,
        gist: row.get(5)?,
        tags: tags.split('\n').filter(|tag| !tag.is_empty()).map(Into::into).collect(),
        origin: row.get(7)?,
        outdated: row.get(8)?,
    })
}

fn insert(transaction: &Transaction<'_>, content: &Content) -> rusqlite::Result<i64> {
    transaction.execute(
        "INSERT INTO entries (rev, lines, tokens, outdated, title, gist, summary, origin, text)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            content.lines() as i64,
            docui::tokens::estimate(&content.text) as i64,
            content.outdated,
            content.title,
            content.gist,
            content.summary,
            content.origin,
            content.text,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    index(transaction, id, content)?;
    Ok(id)
}

/// Replaces an entry's content. Returns its new rev.
fn update(
    transaction: &Transaction<'_>,
    entry: EntryRef,
    content: &Content,
) -> rusqlite::Result<u64> {
    let rev = entry.rev + 1;
    transaction.execute(
        "UPDATE entries SET rev = ?2, lines = ?3, tokens = ?4, outdated = ?5, title = ?6, gist = ?7,
         summary = ?8, origin = ?9, text = ?10 WHERE id = ?1",
        params![
            entry.id,
            rev as i64,
            content.lines() as i64,
            docui::tokens::estimate(&content.text) as i64,
            content.outdated,
            content.title,
            content.gist,
            content.summary,
            content.origin,
            content.text,
        ],
    )?;
    transaction.execute("DELETE FROM words WHERE rowid = ?1", [entry.id])?;
    transaction.execute("DELETE FROM tags WHERE entry = ?1", [entry.id])?;
    index(transaction, entry.id, content)?;
    Ok(rev)
}

fn delete(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM words WHERE rowid = ?1", [id])?;
    // The foreign keys delete its tags and changes too.
    transaction.execute("DELETE FROM entries WHERE id = ?1", [id])?;
    Ok(())
}

/// Writes an entry's tags and its row in the search index.
fn index(transaction: &Transaction<'_>, id: i64, content: &Content) -> rusqlite::Result<()> {
    let mut insert_tag = transaction.prepare("INSERT INTO tags (entry, tag) VALUES (?1, ?2)")?;
    for tag in &content.tags {
        insert_tag.execute(params![id, tag])?;
    }
    let tokens = crate::search::index_text;
    transaction.execute(
        "INSERT INTO words (rowid, title, text, summary, tags) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            id,
            tokens(&content.title),
            tokens(&content.text),
            tokens(&format!("{}\n{}", content.summary, content.gist)),
            tokens(&content.tags.join("\n")),
        ],
    )?;
    Ok(())
}

/// Records the content that an entry had before a change, and drops the oldest records beyond the
/// bounds. `before` is `None` when the change created the entry.
fn record(
    transaction: &Transaction<'_>,
    entry: i64,
    kind: ChangeKind,
    rev_after: u64,
    before: Option<&Content>,
) -> rusqlite::Result<ChangeId> {
    let none = Content::default();
    let content = before.unwrap_or(&none);
    transaction.execute(
        "INSERT INTO changes
         (entry, what, rev_after, size, title, text, summary, gist, tags, origin, outdated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            entry,
            kind.as_str(),
            rev_after as i64,
            content.text.len() as i64,
            before.map(|before| &before.title),
            content.text,
            content.summary,
            content.gist,
            content.tags.join("\n"),
            content.origin,
            content.outdated,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    transaction.execute(
        "DELETE FROM changes WHERE id <= ?1 OR id IN (
             SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) AS bytes FROM changes)
             WHERE bytes > ?2)",
        params![id - CHANGES_MAX, CHANGES_BYTES_MAX],
    )?;
    Ok(ChangeId(id))
}
