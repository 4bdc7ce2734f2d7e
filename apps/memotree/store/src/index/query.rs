//! What is asked of the index. Nothing here depends on the number of all nodes, but searching for
//! what is in many of them.

use pipemux_notes::query::{expression, phrase};
use rusqlite::{OptionalExtension, params};

use super::{COLUMNS, Index, IndexError, NodeRow, read};

/// Most nodes that a search returns.
pub const SEARCH_MAX: usize = 200;

/// Nodes that a search ranks. Of a word that more nodes have, the rank says nothing.
const RANKED_MAX: usize = 5_000;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNodes {
    /// The matching nodes, the best first.
    pub nodes: Vec<NodeRow>,
    /// True when there are more than were returned.
    pub more: bool,
}

impl Index {
    /// Returns the number of nodes.
    pub fn total(&self) -> Result<u64, IndexError> {
        self.connection.query_row("SELECT coalesce(sum(n), 0) FROM counts", [], |row| row.get(0))
    }

    /// Returns the number of a node's children; of an empty id, of those at the root.
    pub fn child_count(&self, of: &str) -> Result<u64, IndexError> {
        let mut statement = self.connection.prepare_cached("SELECT n FROM counts WHERE up = ?1")?;
        Ok(statement.query_row([of], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    /// Returns at most `max` children of a node from a position on, in order; of `None`, those that
    /// stand at the root.
    pub fn children(
        &self,
        of: Option<&str>,
        from: usize,
        max: usize,
    ) -> Result<Vec<NodeRow>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM nodes n LEFT JOIN counts c ON c.up = n.id
             WHERE n.up = ?1 ORDER BY n.ord, n.id LIMIT ?3 OFFSET ?2"
        );
        self.rows(&sql, params![of.unwrap_or_default(), from as u64, max as u64])
    }

    /// Returns at most `max` of the children of a node that a JSON array of ids names, from a
    /// position on, in order.
    pub(crate) fn children_among(
        &self,
        of: &str,
        ids: &str,
        from: usize,
        max: usize,
    ) -> Result<Vec<NodeRow>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM nodes n LEFT JOIN counts c ON c.up = n.id
             WHERE n.up = ?1 AND n.id IN (SELECT value FROM json_each(?2))
             ORDER BY n.ord, n.id LIMIT ?4 OFFSET ?3"
        );
        self.rows(&sql, params![of, ids, from as u64, max as u64])
    }

    /// Returns how many children of a node a JSON array of ids names.
    pub(crate) fn count_among(&self, of: &str, ids: &str) -> Result<u64, IndexError> {
        let sql = "SELECT count(*) FROM nodes n
             WHERE n.up = ?1 AND n.id IN (SELECT value FROM json_each(?2))";
        self.connection.prepare_cached(sql)?.query_row([of, ids], |row| row.get(0))
    }

    /// Returns the order keys around the place before a node, among the children of `of`: of the
    /// sibling before it and of itself. Without a node: of the last one, and none. The node `moved`
    /// counts as if it weren't there.
    pub(crate) fn gap(
        &self,
        of: &str,
        before: Option<&str>,
        moved: &str,
    ) -> Result<(Option<String>, Option<String>), IndexError> {
        let after = match before {
            None => None,
            Some(id) => {
                let sql = "SELECT ord FROM nodes WHERE id = ?1 AND up = ?2";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.query_row([id, of], |row| row.get::<_, String>(0)).optional()?
            }
        };
        let previous = match (&after, before) {
            (Some(order), Some(id)) => {
                let sql =
                    "SELECT ord FROM nodes WHERE up = ?1 AND (ord, id) < (?2, ?3) AND id <> ?4
                     ORDER BY ord DESC, id DESC LIMIT 1";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.query_row([of, order, id, moved], |row| row.get(0)).optional()?
            }
            _ => {
                let sql = "SELECT ord FROM nodes WHERE up = ?1 AND id <> ?2
                     ORDER BY ord DESC, id DESC LIMIT 1";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.query_row([of, moved], |row| row.get(0)).optional()?
            }
        };
        Ok((previous, after))
    }

    /// Returns the ids of all children of a node, in order.
    pub(crate) fn child_ids(&self, of: &str) -> Result<Vec<String>, IndexError> {
        let sql = "SELECT id FROM nodes WHERE up = ?1 ORDER BY ord, id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([of], |row| row.get(0))?;
        rows.collect()
    }

    /// Returns the ids after one, in their order.
    pub(crate) fn ids_after(
        &self,
        id: Option<&str>,
        max: usize,
    ) -> Result<Vec<String>, IndexError> {
        let sql = "SELECT id FROM nodes WHERE id > ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![id.unwrap_or(""), max as u64], |row| row.get(0))?;
        rows.collect()
    }

    /// Returns true if a node has this id, whatever the case of its letters.
    pub(crate) fn has_id(&self, lower: &str) -> Result<bool, IndexError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM nodes WHERE lower(id) = ?1)";
        self.connection.prepare_cached(sql)?.query_row([lower], |row| row.get(0))
    }

    /// Returns true if a node stands below another one, or is the same.
    pub fn is_below(&self, id: &str, other: &str) -> Result<bool, IndexError> {
        let mut at = id.to_owned();
        while !at.is_empty() {
            if at == other {
                return Ok(true);
            }
            let sql = "SELECT up FROM nodes WHERE id = ?1";
            let mut statement = self.connection.prepare_cached(sql)?;
            at = statement.query_row([&at], |row| row.get(0)).optional()?.unwrap_or_default();
        }
        Ok(false)
    }

    /// Returns the nodes whose file or place has a problem.
    pub fn problems(&self, max: usize) -> Result<Vec<NodeRow>, IndexError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM nodes n LEFT JOIN counts c ON c.up = n.id
             WHERE n.problem IS NOT NULL OR n.lost <> 0 ORDER BY n.id LIMIT ?1"
        );
        self.rows(&sql, params![max as u64])
    }

    /// Returns nodes with this title, in lower case or as it is.
    pub fn titled(&self, title: &str, max: usize) -> Result<Vec<NodeRow>, IndexError> {
        let Some(expression) = phrase(title) else { return Ok(Vec::new()) };
        let mut found = self.matching(&format!("{{title}} : ({expression})"))?;
        found.retain(|row| row.title.trim().to_lowercase() == title.trim().to_lowercase());
        found.truncate(max);
        Ok(found)
    }

    /// Returns the nodes that have a tag, in the order of their ids; in any case of its letters.
    pub fn tagged(&self, tag: &str, max: usize) -> Result<Vec<NodeRow>, IndexError> {
        let Some(expression) = phrase(tag) else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT {COLUMNS} FROM words w JOIN nodes n ON n.number = w.rowid
             LEFT JOIN counts c ON c.up = n.id WHERE words MATCH ?1 ORDER BY n.id LIMIT ?2"
        );
        let mut found = self.rows(&sql, params![format!("tags : ({expression})"), max as u64])?;
        let wanted = tag.to_lowercase();
        found.retain(|row| row.tags.iter().any(|tag| tag.to_lowercase() == wanted));
        Ok(found)
    }

    /// Returns ids that begin like a name, to find what was meant.
    pub fn ids_near(&self, name: &str, max: usize) -> Result<Vec<String>, IndexError> {
        let start: String = name.chars().take(1).flat_map(char::to_lowercase).collect();
        let sql = "SELECT id FROM nodes WHERE id >= ?1 ORDER BY id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![start, max as u64], |row| row.get(0))?;
        rows.collect()
    }

    /// Returns the relations of a node: id, source, kind and target.
    pub fn relations(&self, id: &str) -> Result<Vec<[String; 4]>, IndexError> {
        let sql = "SELECT id, source, kind, target FROM relations WHERE source = ?1
             UNION SELECT id, source, kind, target FROM relations WHERE target = ?1 ORDER BY 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let read =
            |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        let rows = statement.query_map([id], read)?;
        rows.collect()
    }

    /// Returns a relation: its source, kind and target.
    pub fn relation(&self, id: &str) -> Result<Option<[String; 3]>, IndexError> {
        let sql = "SELECT source, kind, target FROM relations WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.query_row([id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).optional()
    }

    /// Finds nodes by words in any script, the best matches first: those in titles, then those that
    /// fit best.
    pub fn search(&self, query: &str, max: usize) -> Result<FoundNodes, IndexError> {
        let Some(expression) = expression(query) else {
            return Ok(FoundNodes { nodes: Vec::new(), more: false });
        };
        let max = max.min(SEARCH_MAX);
        let mut nodes = self.matching(&format!("{{title}} : ({expression})"))?;
        if nodes.len() <= max {
            let known: std::collections::HashSet<String> =
                nodes.iter().map(|row| row.id.to_string()).collect();
            let others = self.matching(&expression)?;
            nodes.extend(others.into_iter().filter(|row| !known.contains(row.id.as_str())));
        }
        let more = nodes.len() > max;
        nodes.truncate(max);
        Ok(FoundNodes { nodes, more })
    }

    fn matching(&self, expression: &str) -> Result<Vec<NodeRow>, IndexError> {
        // Weights of title, text, gist with summary, and tags.
        let sql = format!(
            "SELECT {COLUMNS} FROM (
                SELECT number, score FROM (
                    SELECT rowid AS number, bm25(words, 10.0, 1.0, 3.0, 5.0) AS score
                    FROM words WHERE words MATCH ?1 LIMIT {RANKED_MAX}
                ) ORDER BY score LIMIT {limit}
             ) f JOIN nodes n ON n.number = f.number LEFT JOIN counts c ON c.up = n.id
             ORDER BY f.score, n.id",
            limit = SEARCH_MAX + 1,
        );
        self.rows(&sql, params![expression])
    }

    fn rows(&self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<NodeRow>, IndexError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, read)?;
        rows.collect()
    }
}
