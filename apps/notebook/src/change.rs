//! Writing entries: one transaction an action, and what is needed to take it back.

use docui::Fault;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::entry::{self, Content};
use crate::schema::FileId;
use crate::store::Store;

/// Changes that can be taken back, over all entries.
pub const CHANGES_MAX: i64 = 200;
/// Bytes of earlier texts that are kept for taking changes back.
pub const CHANGES_BYTES_MAX: i64 = 16 * 1024 * 1024;

/// An entry as the caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Its id.
    pub id: i64,
    /// Its rev then.
    pub rev: u64,
}

/// A change that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Names it for [`Store::undo`].
    pub id: i64,
    /// The entry.
    pub entry: i64,
    /// How the entry was before; none: it wasn't there.
    pub before: Option<Content>,
    /// How it is now; none: it is gone.
    pub after: Option<Content>,
}

impl Store {
    /// Adds an entry.
    ///
    /// # Errors
    /// A part out of its bounds; the store can't be written.
    pub fn add(&mut self, content: Content) -> Result<Change, Fault> {
        content.check()?;
        self.write(|transaction| {
            let entry = insert(transaction, &content)?;
            let id = record(transaction, entry, "add", 1, None)?;
            Ok(Ok(Change { id, entry, before: None, after: Some(content) }))
        })
    }

    /// Changes an entry's content; none when that made no difference.
    ///
    /// # Errors
    /// Changed or removed since it was seen; a part out of its bounds; the store can't be written.
    pub fn amend(
        &mut self,
        seen: Seen,
        what: &str,
        change: impl FnOnce(&mut Content),
    ) -> Result<Option<Change>, Fault> {
        self.write(|transaction| {
            let before = match content(transaction, seen)? {
                Ok(before) => before,
                Err(fault) => return Ok(Err(fault)),
            };
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Ok(Ok(None));
            }
            if let Err(fault) = after.check() {
                return Ok(Err(fault));
            }
            let rev = update(transaction, seen, &after)?;
            let id = record(transaction, seen.id, what, rev, Some(&before))?;
            Ok(Ok(Some(Change { id, entry: seen.id, before: Some(before), after: Some(after) })))
        })
    }

    /// Deletes entries, with what was kept for taking their changes back: all of them or none.
    ///
    /// # Errors
    /// One was changed or removed since it was seen; the store can't be written.
    pub fn remove(&mut self, entries: &[Seen]) -> Result<Vec<Content>, Fault> {
        self.write(|transaction| {
            let mut removed = Vec::with_capacity(entries.len());
            for seen in entries {
                match content(transaction, *seen)? {
                    Ok(before) => removed.push(before),
                    Err(fault) => return Ok(Err(fault)),
                }
                delete(transaction, seen.id)?;
            }
            Ok(Ok(removed))
        })
    }

    /// Takes one change back. Unless it was an `add`, that is a change of its own.
    ///
    /// # Errors
    /// No longer kept; the entry changed since; the store can't be written.
    pub fn undo(&mut self, change: i64) -> Result<Change, Fault> {
        self.write(|transaction| {
            let found = transaction
                .query_row(
                    "SELECT entry, rev_after, title, text, summary, gist, tags, origin, outdated
                     FROM changes WHERE id = ?1",
                    [change],
                    |row| {
                        let seen = Seen { id: row.get(0)?, rev: unsigned(row.get(1)?) };
                        let title: Option<String> = row.get(2)?;
                        Ok((seen, title.map(|title| earlier(row, title)).transpose()?))
                    },
                )
                .optional()?;
            let Some((seen, earlier)) = found else {
                let message = format!("change {change} is not kept any more");
                let hint = format!("the last {CHANGES_MAX} are, of entries that are still there");
                return Ok(Err(Fault::not_found(message).hint(hint)));
            };
            let now = match content(transaction, seen)? {
                Ok(now) => now,
                Err(_) => {
                    let fault = Fault::stale("the entry was changed again since; nothing undone")
                        .hint("nothing was undone: take back what was changed since first, the newest before the others");
                    return Ok(Err(fault.about(entry::key(seen.id))));
                }
            };
            let id = match &earlier {
                None => delete(transaction, seen.id).map(|()| change)?,
                Some(earlier) => {
                    let rev = update(transaction, seen, earlier)?;
                    record(transaction, seen.id, "undo", rev, Some(&now))?
                }
            };
            Ok(Ok(Change { id, entry: seen.id, before: Some(now), after: earlier }))
        })
    }

    /// Runs one transaction; a fault rolls it back.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, Fault>>,
    ) -> Result<T, Fault> {
        if FileId::of(&self.path) != self.file {
            // SQLite would go on writing into the file without a name, and all would be lost.
            let message = format!(
                "{} was moved, deleted or replaced since it was opened; nothing was written",
                self.path.display(),
            );
            return Err(Fault::refused(message).hint("put it back, or open the session anew"));
        }
        let outcome = (|| {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcome = work(&transaction)?;
            if outcome.is_ok() {
                transaction.commit()?;
            }
            Ok(outcome)
        })();
        outcome.map_err(|error| self.fault(&error))?
    }
}

fn content(transaction: &Transaction<'_>, seen: Seen) -> rusqlite::Result<Result<Content, Fault>> {
    let found = transaction
        .query_row(
            "SELECT id, rev, title, text, summary, gist,
                coalesce((SELECT group_concat(tag, char(10)) FROM
                    (SELECT tag FROM tags WHERE entry = ?1 ORDER BY tag)), ''),
                origin, outdated FROM entries WHERE id = ?1",
            [seen.id],
            |row| Ok((unsigned(row.get(1)?), earlier(row, row.get(2)?)?)),
        )
        .optional()?;
    let key = entry::key(seen.id);
    Ok(match found {
        None => Err(Fault::not_found("removed").about(key)),
        Some((rev, _)) if rev != seen.rev => {
            Err(Fault::stale("changed since it was seen").about(key))
        }
        Some((_, content)) => Ok(content),
    })
}

/// The content in columns 3 to 8 of a row.
fn earlier(row: &rusqlite::Row<'_>, title: String) -> rusqlite::Result<Content> {
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

fn update(transaction: &Transaction<'_>, seen: Seen, content: &Content) -> rusqlite::Result<u64> {
    let rev = seen.rev + 1;
    transaction.execute(
        "UPDATE entries SET rev = ?2, lines = ?3, tokens = ?4, outdated = ?5, title = ?6, gist = ?7,
         summary = ?8, origin = ?9, text = ?10 WHERE id = ?1",
        params![
            seen.id,
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
    transaction.execute("DELETE FROM words WHERE rowid = ?1", [seen.id])?;
    transaction.execute("DELETE FROM tags WHERE entry = ?1", [seen.id])?;
    index(transaction, seen.id, content)?;
    Ok(rev)
}

fn delete(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM words WHERE rowid = ?1", [id])?;
    // Tags and changes go with it.
    transaction.execute("DELETE FROM entries WHERE id = ?1", [id])?;
    Ok(())
}

fn index(transaction: &Transaction<'_>, id: i64, content: &Content) -> rusqlite::Result<()> {
    let mut tag = transaction.prepare("INSERT INTO tags (entry, tag) VALUES (?1, ?2)")?;
    for name in &content.tags {
        tag.execute(params![id, name])?;
    }
    let tokens = crate::words::indexed;
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

/// Keeps how an entry was before a change, and forgets the oldest past the bounds.
fn record(
    transaction: &Transaction<'_>,
    entry: i64,
    what: &str,
    rev_after: u64,
    before: Option<&Content>,
) -> rusqlite::Result<i64> {
    let none = Content::default();
    let content = before.unwrap_or(&none);
    transaction.execute(
        "INSERT INTO changes
         (entry, what, rev_after, size, title, text, summary, gist, tags, origin, outdated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            entry,
            what,
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
    Ok(id)
}

fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}
