//! The full-text index of a store: a table `words` of FTS5 that holds nothing but tokens.

use rusqlite::{Connection, params};

use crate::tokenizer::index_text;

/// The searchable fields of a note.
#[derive(Debug, Clone, Copy)]
pub struct SearchedText<'a> {
    pub title: &'a str,
    pub text: &'a str,
    /// The short forms of the text: gist and summary.
    pub short: &'a str,
    pub tags: &'a [String],
}

impl SearchedText<'_> {
    /// Adds a note to the table `words`, whose columns are `title`, `text`, `short_column` and
    /// `tags`.
    ///
    /// # Errors
    /// The store can't be written, or the row is taken.
    pub fn insert(
        &self,
        connection: &Connection,
        row: i64,
        short_column: &str,
    ) -> rusqlite::Result<()> {
        let sql = format!(
            "INSERT INTO words (rowid, title, text, {short_column}, tags) VALUES (?1, ?2, ?3, ?4, ?5)"
        );
        let texts = [self.title, self.text, self.short, &self.tags.join("\n")];
        let [title, text, short, tags] = texts.map(index_text);
        connection.prepare_cached(&sql)?.execute(params![row, title, text, short, tags])?;
        Ok(())
    }
}

/// Removes a note from the table `words`.
///
/// # Errors
/// The store can't be written.
pub fn remove(connection: &Connection, row: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([row]).map(drop)
}
