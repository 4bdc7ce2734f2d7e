//! Reading entries: what is shown, found and counted.

use std::path::{Path, PathBuf};

use docui::Fault;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow};

use crate::schema::{self, FileId};
use crate::words::Query;

/// Characters of a text that are read to show its beginning.
const HEAD: usize = 600;

/// An open store.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) file: Option<FileId>,
    data_version: i64,
}

/// Which entries: those that a search finds and that have a tag.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// What is searched for.
    pub query: Option<Query>,
    /// The tag.
    pub tag: Option<String>,
}

/// An entry without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The id; [`crate::entry::key`] makes the key of it.
    pub id: i64,
    /// Raised with each change of its content.
    pub rev: u64,
    /// Lines of its text.
    pub lines: u64,
    /// About how many tokens its text is.
    pub tokens: u64,
    /// True when the text changed after summary and gist were written.
    pub outdated: bool,
    /// One line.
    pub title: String,
    /// The author's gist, if any.
    pub gist: String,
    /// The author's summary, if any.
    pub summary: String,
    /// Where the text came from.
    pub origin: String,
    /// Sorted.
    pub tags: Vec<String>,
    /// The beginning of the text.
    pub head: String,
}

impl Store {
    /// Opens the store at a path.
    ///
    /// # Errors
    /// As [`schema::open`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let connection = schema::open(path)?;
        // From here on by its real name: symbolic links may be turned, directories left.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = FileId::of(&path);
        let mut store = Self { connection, path, file, data_version: 0 };
        store.refresh();
        Ok(store)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store's own id, the same as long as it lives.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn id(&self) -> Result<String, Fault> {
        self.one("SELECT value FROM meta WHERE name = 'id'", [])
    }

    /// True when another connection wrote something since this was last asked.
    pub fn refresh(&mut self) -> bool {
        match self.one("PRAGMA data_version", []) {
            Ok(version) => std::mem::replace(&mut self.data_version, version) != version,
            // What can't be read now is told by the view or the action that follows.
            Err(_) => false,
        }
    }

    /// Tells states of the store apart, for any connection: every write of a notebook changes it.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn mark(&self) -> Result<String, Fault> {
        // Ids only rise and each change has one; what deletes an entry leaves fewer of them.
        self.one(
            "SELECT count(*) || ' ' || coalesce(sum(id), 0) || ' ' || coalesce(sum(rev), 0) || ' ' ||
                coalesce((SELECT group_concat(seq, ' ') FROM
                    (SELECT seq FROM sqlite_sequence ORDER BY name)), '')
             FROM entries",
            [],
        )
    }

    /// How many entries there are.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn total(&self) -> Result<u64, Fault> {
        self.one("SELECT count(*) FROM entries", []).map(unsigned)
    }

    /// How many a selection has, and about how many tokens their texts are.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn count(&self, selection: &Selection) -> Result<(u64, u64), Fault> {
        let (from, params) = selection.scope();
        let sql = format!("SELECT count(*), coalesce(sum(tokens), 0) {from}");
        self.query(&sql, params, |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))))
            .map(|rows| rows.first().copied().unwrap_or_default())
    }

    /// The ids of a selection's first entries: a search's best first, else the newest first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn ids(&self, selection: &Selection, limit: u64) -> Result<Vec<i64>, Fault> {
        let (from, params) = selection.scope();
        // A hit in the title counts most, then tags, then the author's summary.
        let order = match selection.query {
            Some(Query::Terms(_)) => "bm25(words, 10.0, 1.0, 2.0, 5.0), entries.id DESC",
            _ => "entries.id DESC",
        };
        let sql = format!("SELECT entries.id {from} ORDER BY {order} LIMIT {limit}");
        self.query(&sql, params, |row| row.get(0))
    }

    /// One entry.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn get(&self, id: i64) -> Result<Option<Row>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM entries WHERE id = ?1");
        self.query(&sql, vec![id.into()], row).map(|rows| rows.into_iter().next())
    }

    /// An entry's rev.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn rev(&self, id: i64) -> Result<Option<u64>, Fault> {
        self.maybe("SELECT rev FROM entries WHERE id = ?1", [id])
            .map(|rev: Option<i64>| rev.map(unsigned))
    }

    /// An entry's text.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn text(&self, id: i64) -> Result<Option<String>, Fault> {
        self.maybe("SELECT text FROM entries WHERE id = ?1", [id])
    }

    /// True when there was an entry of that id, removed or not.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn was(&self, id: i64) -> Result<bool, Fault> {
        let last = self.maybe("SELECT seq FROM sqlite_sequence WHERE name = 'entries'", [])?;
        Ok(last.is_some_and(|last: i64| id <= last))
    }

    /// True when a selection has the entry.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn has(&self, selection: &Selection, id: i64) -> Result<bool, Fault> {
        if *selection == Selection::default() {
            return Ok(true);
        }
        let (from, mut params) = selection.scope();
        params.push(id.into());
        let sql = format!("SELECT 1 {from} AND entries.id = ?{}", params.len());
        self.query(&sql, params, |_| Ok(())).map(|rows| !rows.is_empty())
    }

    /// All tags with how many entries have them, the most used first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Fault> {
        let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY count(*) DESC, tag";
        self.query(sql, Vec::new(), |row| Ok((row.get(0)?, unsigned(row.get(1)?))))
    }

    /// What a SQLite error means here.
    pub(crate) fn fault(&self, error: &rusqlite::Error) -> Fault {
        schema::fault(error, &self.path)
    }

    fn one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<T, Fault> {
        self.connection.query_row(sql, params, |row| row.get(0)).map_err(|e| self.fault(&e))
    }

    fn maybe<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>, Fault> {
        let found = self.connection.query_row(sql, params, |row| row.get(0)).optional();
        found.map_err(|e| self.fault(&e))
    }

    fn query<T>(
        &self,
        sql: &str,
        params: Vec<Value>,
        take: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map(rusqlite::params_from_iter(params), take)?.collect()
        };
        rows().map_err(|e| self.fault(&e))
    }
}

impl Selection {
    /// `FROM … WHERE …` and the values of its numbered parameters.
    fn scope(&self) -> (String, Vec<Value>) {
        let (mut from, mut filters, mut params) = ("FROM entries".to_owned(), Vec::new(), vec![]);
        if let Some(tag) = &self.tag {
            params.push(tag.clone().into());
            from +=
                &format!(" JOIN tags ON tags.entry = entries.id AND tags.tag = ?{}", params.len());
        }
        match &self.query {
            None => {}
            Some(Query::Terms(terms)) => {
                let expressions: Vec<_> = terms.iter().map(|term| term.expression()).collect();
                params.push(expressions.join(" AND ").into());
                from += " JOIN words ON words.rowid = entries.id";
                filters.push(format!("words MATCH ?{}", params.len()));
            }
            Some(Query::Literal(literal)) => {
                params.push(literal.clone().into());
                let at = params.len();
                filters.push(format!(
                    "(instr(title, ?{at}) OR instr(text, ?{at}) OR instr(summary, ?{at}) \
                     OR instr(gist, ?{at}))"
                ));
            }
        }
        filters.push("TRUE".into());
        (format!("{from} WHERE {}", filters.join(" AND ")), params)
    }
}

const COLUMNS: &str = "entries.id, rev, lines, tokens, outdated, entries.title, gist, \
    entries.summary, origin, \
    (SELECT group_concat(tag, char(10)) FROM (SELECT tag FROM tags WHERE entry = entries.id \
     ORDER BY tag)), \
    substr(entries.text, 1, 600)";
const _: () = assert!(HEAD == 600, "as in COLUMNS");

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let tags: Option<String> = row.get(9)?;
    Ok(Row {
        id: row.get(0)?,
        rev: unsigned(row.get(1)?),
        lines: unsigned(row.get(2)?),
        tokens: unsigned(row.get(3)?),
        outdated: row.get(4)?,
        title: row.get(5)?,
        gist: row.get(6)?,
        summary: row.get(7)?,
        origin: row.get(8)?,
        tags: tags.map(|tags| tags.split('\n').map(Into::into).collect()).unwrap_or_default(),
        head: row.get(10)?,
    })
}

fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or(0)
}
