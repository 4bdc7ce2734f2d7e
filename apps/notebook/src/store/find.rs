//! Finds the entries that fit a query.

use std::collections::{HashMap, HashSet};

use docui::Fault;

use super::Store;
use crate::search::{Alternative, Query, Term};

/// Most words of one alternative that are also looked for inside other words of titles, gists and tags.
const INSIDE_TERMS_MAX: usize = 32;

/// What is looked at to find words inside other words: title, gist and tags, in lower case.
type Heads = Vec<(i64, String)>;

impl Store {
    /// Returns the ids of the entries that fit a query, the best matches first.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn search(&self, query: &Query) -> Result<Vec<i64>, Fault> {
        // By id: how well it fits, a lower number being better. Those that only have a word inside another one
        // come last.
        let mut found: HashMap<i64, f64> = HashMap::new();
        let mut heads: Option<Heads> = None;
        for alternative in &query.alternatives {
            match alternative {
                Alternative::Literal(literal) => {
                    for id in self.having(literal)? {
                        found.entry(id).or_insert(0.0);
                    }
                }
                Alternative::Terms(terms) => {
                    for (id, score) in self.matching(terms)? {
                        let best = found.entry(id).or_insert(score);
                        *best = best.min(score);
                    }
                    if terms.len() <= INSIDE_TERMS_MAX && terms.iter().any(|t| t.inside().is_some())
                    {
                        if heads.is_none() {
                            heads = Some(self.heads()?);
                        }
                        for id in self.with_words_inside(terms, heads.as_deref().unwrap_or(&[]))? {
                            found.entry(id).or_insert(f64::MAX);
                        }
                    }
                }
            }
        }
        let mut found: Vec<(i64, f64)> = found.into_iter().collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns the entries with all terms, and how well they match.
    fn matching(&self, terms: &[Term]) -> Result<Vec<(i64, f64)>, Fault> {
        let expressions: Vec<_> = terms.iter().map(Term::expression).collect();
        // A match in the title weighs most, then tags, then what the author wrote in short.
        let sql = "SELECT rowid, bm25(words, 10.0, 1.0, 2.0, 5.0) FROM words WHERE words MATCH ?1";
        let expression = expressions.join(" AND ");
        self.query_all(sql, vec![expression.into()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the entries that have each term, some of them inside another word of the head.
    fn with_words_inside(
        &self,
        terms: &[Term],
        heads: &[(i64, String)],
    ) -> Result<Vec<i64>, Fault> {
        let mut left: Option<HashSet<i64>> = None;
        for term in terms {
            let matching = self.matching(std::slice::from_ref(term))?;
            let mut having: HashSet<i64> = matching.into_iter().map(|(id, _)| id).collect();
            if let Some(word) = term.inside() {
                let inside = heads.iter().filter(|(_, head)| head.contains(word));
                having.extend(inside.map(|(id, _)| *id));
            }
            left = Some(match left {
                None => having,
                Some(before) => before.intersection(&having).copied().collect(),
            });
        }
        Ok(left.into_iter().flatten().collect())
    }

    fn heads(&self) -> Result<Heads, Fault> {
        let sql = "SELECT id, title || char(10) || gist || char(10) ||
                coalesce((SELECT group_concat(tag, char(10)) FROM tags WHERE entry = id), '')
             FROM entries";
        let heads = self.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let lower = |(id, head): (i64, String)| (id, head.to_lowercase());
        Ok(heads.into_iter().map(lower).collect())
    }

    /// Returns the entries that have exactly this text somewhere.
    fn having(&self, literal: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT id FROM entries WHERE instr(title, ?1) OR instr(text, ?1)
             OR instr(summary, ?1) OR instr(gist, ?1)";
        self.query_all(sql, vec![literal.to_owned().into()], |row| row.get(0))
    }
}
