//! The rows that a change reads and writes, within its transaction: of the entry, its tags, the
//! search index, and the record from which the change can be undone.

use docui::Fault;
use pipemux_notes::full_text::{self, SearchedText};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::change::{CHANGES_BYTES_MAX, CHANGES_MAX, ChangeId, ChangeKind, EntryRef};
use crate::database::unsigned;
use crate::entry::{self, Content, Outdated};
use crate::schema::StoreError;

/// Reads an entry's content, if its rev is still the one that was seen.
pub(crate) fn read(transaction: &Transaction<'_>, entry: EntryRef) -> Result<Content, StoreError> {
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
        .prepare_cached(
            "SELECT id, rev, title, text, summary, gist,
                coalesce((SELECT group_concat(tag, char(10)) FROM
                    (SELECT tag FROM tags WHERE entry = ?1 ORDER BY tag)), ''),
                origin, outdated, (SELECT blob FROM attachments WHERE entry = ?1)
             FROM entries WHERE id = ?1",
        )?
        .query_row([id], |row| Ok((unsigned(row.get(1)?), content(row, row.get(2)?)?)))
        .optional()
}

/// Reads a content from columns 3 to 9 of a row. The title, which may be NULL there, is given.
pub(crate) fn content(row: &rusqlite::Row<'_>, title: String) -> rusqlite::Result<Content> {
    let tags: String = row.get(6)?;
    Ok(Content {
        title,
        text: row.get(3)?,
        summary: row.get(4)?,
        gist: row.get(5)?,
        tags: tags.split('\n').filter(|tag| !tag.is_empty()).map(Into::into).collect(),
        origin: row.get(7)?,
        outdated: Outdated::from_bits(row.get(8)?),
        blob: row.get(9)?,
    })
}

/// The columns of an entry's row, in the order of the table; without an id it is a new one.
fn columns(id: Option<i64>, rev: u64, content: &Content) -> impl rusqlite::Params {
    (
        id,
        rev as i64,
        content.lines() as i64,
        docui::tokens::estimate(&content.text) as i64,
        content.outdated.bits(),
        &content.title,
        &content.gist,
        &content.summary,
        &content.origin,
        &content.text,
    )
}

/// Adds an entry: a new one, or one that was removed, with the id and rev that are given. Returns
/// its id.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    restored: Option<EntryRef>,
    content: &Content,
) -> rusqlite::Result<i64> {
    execute(
        transaction,
        "INSERT INTO entries (id, rev, lines, tokens, outdated, title, gist, summary, origin, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        columns(restored.map(|entry| entry.id), restored.map_or(1, |entry| entry.rev), content),
    )?;
    let id = transaction.last_insert_rowid();
    index(transaction, id, content)?;
    attach(transaction, id, content)?;
    Ok(id)
}

/// Replaces an entry's content. Returns its new rev.
pub(crate) fn update(
    transaction: &Transaction<'_>,
    entry: EntryRef,
    content: &Content,
) -> rusqlite::Result<u64> {
    let rev = entry.rev + 1;
    execute(transaction, "UPDATE entries SET rev = ?2, lines = ?3, tokens = ?4, outdated = ?5, title = ?6, gist = ?7,
         summary = ?8, origin = ?9, text = ?10 WHERE id = ?1",
        columns(Some(entry.id), rev, content),
    )?;
    full_text::remove(transaction, entry.id)?;
    execute(transaction, "DELETE FROM tags WHERE entry = ?1", [entry.id])?;
    index(transaction, entry.id, content)?;
    execute(transaction, "DELETE FROM attachments WHERE entry = ?1", [entry.id])?;
    attach(transaction, entry.id, content)?;
    Ok(rev)
}

pub(crate) fn delete(transaction: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    full_text::remove(transaction, id)?;
    // The foreign keys delete its tags and its attachment too.
    execute(transaction, "DELETE FROM entries WHERE id = ?1", [id])?;
    Ok(())
}

/// Adds bytes to the store. Returns their id.
pub(crate) fn insert_blob(
    transaction: &Transaction<'_>,
    media: &str,
    bytes: &[u8],
) -> rusqlite::Result<i64> {
    execute(
        transaction,
        "INSERT INTO blobs (media, bytes) VALUES (?1, ?2)",
        params![media, bytes],
    )?;
    Ok(transaction.last_insert_rowid())
}

/// Removes the bytes that neither an entry nor a record of a change has.
pub(crate) fn drop_unused_blobs(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    execute(
        transaction,
        "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM attachments WHERE blob = blobs.id)
             AND NOT EXISTS (SELECT 1 FROM changes WHERE blob = blobs.id)",
        [],
    )?;
    Ok(())
}

/// Writes which bytes an entry holds.
fn attach(transaction: &Transaction<'_>, id: i64, content: &Content) -> rusqlite::Result<()> {
    if let Some(blob) = content.blob {
        execute(
            transaction,
            "INSERT INTO attachments (entry, blob) VALUES (?1, ?2)",
            params![id, blob],
        )?;
    }
    Ok(())
}

/// Writes an entry's tags and its row in the search index.
fn index(transaction: &Transaction<'_>, id: i64, content: &Content) -> rusqlite::Result<()> {
    let mut insert_tag =
        transaction.prepare_cached("INSERT INTO tags (entry, tag) VALUES (?1, ?2)")?;
    for tag in &content.tags {
        insert_tag.execute(params![id, tag])?;
    }
    let short = format!("{}\n{}", content.summary, content.gist);
    let (title, text, tags) = (&content.title, &content.text, &content.tags);
    SearchedText { title, text, short: &short, tags }.insert(transaction, id, "summary")
}

/// The changes of one action, which are undone together.
#[derive(Debug)]
pub(crate) struct Batch {
    kind: ChangeKind,
    undoes: Option<ChangeId>,
    first: Option<i64>,
}

impl Batch {
    /// Begins the changes of an action. `undoes` is the batch that it takes back, if it is an undo.
    pub(crate) fn new(kind: ChangeKind, undoes: Option<ChangeId>) -> Self {
        Self { kind, undoes, first: None }
    }

    /// Records the content that an entry had before a change: `None` if there was no entry.
    /// `rev_after` is the entry's rev after the change, or its last one if the change removed it.
    pub(crate) fn record(
        &mut self,
        transaction: &Transaction<'_>,
        entry: i64,
        rev_after: u64,
        before: Option<&Content>,
    ) -> rusqlite::Result<()> {
        let none = Content::default();
        let content = before.unwrap_or(&none);
        execute(transaction, "INSERT INTO changes (batch, undoes, entry, what, rev_after, size, title, text, summary, gist,
                 tags, origin, outdated, blob)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6 + coalesce((SELECT length(bytes) FROM blobs WHERE id = ?14), 0),
                 ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                // The first one's id isn't known yet.
                self.first.unwrap_or_default(),
                self.undoes.map(|batch| batch.0),
                entry,
                self.kind.as_str(),
                rev_after as i64,
                content.text.len() as i64,
                before.map(|before| &before.title),
                content.text,
                content.summary,
                content.gist,
                content.tags.join("\n"),
                content.origin,
                content.outdated.bits(),
                content.blob,
            ],
        )?;
        if self.first.is_none() {
            let id = transaction.last_insert_rowid();
            execute(transaction, "UPDATE changes SET batch = id WHERE id = ?1", [id])?;
            self.first = Some(id);
        }
        Ok(())
    }

    /// Returns the id of the action, and drops the records of the oldest actions beyond the bounds.
    /// The newest one can always be undone.
    pub(crate) fn end(self, transaction: &Transaction<'_>) -> rusqlite::Result<ChangeId> {
        let batch = self.first.unwrap_or_default();
        execute(
            transaction,
            "DELETE FROM changes WHERE batch <> ?1 AND (
                 batch NOT IN (SELECT DISTINCT batch FROM changes ORDER BY batch DESC LIMIT ?2)
                 OR batch IN (
                     SELECT batch FROM
                         (SELECT batch, sum(size) OVER (ORDER BY id DESC) AS bytes FROM changes)
                     WHERE bytes > ?3))",
            params![batch, CHANGES_MAX, CHANGES_BYTES_MAX],
        )?;
        drop_unused_blobs(transaction)?;
        Ok(ChangeId(batch))
    }
}

/// Executes a statement, which is prepared only once for a connection.
fn execute(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl rusqlite::Params,
) -> rusqlite::Result<usize> {
    transaction.prepare_cached(sql)?.execute(params)
}
