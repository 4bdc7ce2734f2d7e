//! Finds the entries that fit a query.

use std::collections::{HashMap, HashSet};

use docui::Fault;

use super::Store;
use pipemux_notes::query::{Alternative, Query, Term, all_of};

/// Most words of one alternative that are also looked for inside other words of titles, gists and
/// tags.
const INSIDE_TERMS_MAX: usize = 32;

/// For word-part searches: entry id, and its title, gist and tags in lower case.
type Heads = Vec<(i64, String)>;

impl Store {
    /// Returns the ids of the entries that fit a query, the best matches first: those in titles,
    /// then those that fit best, and of those that fit about equally well in the order of their
    /// titles.
    pub fn search(&self, query: &Query) -> Result<Vec<i64>, Fault> {
        // By id: how well it fits, a lower number being better. Those that only have a word inside
        // another one come last.
        let mut found: HashMap<i64, f64> = HashMap::new();
        let mut in_title: HashSet<i64> = HashSet::new();
        let mut heads: Option<Heads> = None;
        for alternative in &query.alternatives {
            match alternative {
                Alternative::Literal(literal) => {
                    for id in self.having(literal)? {
                        found.entry(id).or_insert(0.0);
                    }
                }
                Alternative::Terms(terms) => {
                    in_title
                        .extend(self.matching("{title} : ", terms)?.into_iter().map(|(id, _)| id));
                    for (id, score) in self.matching("", terms)? {
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
        let best = found.values().copied().fold(0.0, f64::min);
        let titles = self.titles()?.into_iter().map(|(id, title)| (id, title.to_lowercase()));
        let titles: HashMap<i64, String> = titles.collect();
        let mut found: Vec<(bool, u8, &str, i64)> = found
            .into_iter()
            .map(|(id, score)| {
                let title = titles.get(&id).map_or("", String::as_str);
                (!in_title.contains(&id), rank(score, best), title, id)
            })
            .collect();
        found.sort_unstable();
        Ok(found.into_iter().map(|(.., id)| id).collect())
    }

    /// Returns the entries with all terms, and how well they match. `columns` narrows where the
    /// terms are.
    fn matching(&self, columns: &str, terms: &[Term]) -> Result<Vec<(i64, f64)>, Fault> {
        // A match in the title weighs most, then tags, then what the author wrote in short.
        let sql = "SELECT rowid, bm25(words, 10.0, 1.0, 2.0, 5.0) FROM words WHERE words MATCH ?1";
        let expression = columns.to_owned() + &all_of(terms);
        self.database.query_all(sql, vec![expression.into()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns the entries that have each term, some of them inside another word of the head.
    fn with_words_inside(
        &self,
        terms: &[Term],
        heads: &[(i64, String)],
    ) -> Result<Vec<i64>, Fault> {
        let mut left: Option<HashSet<i64>> = None;
        for term in terms {
            let matching = self.matching("", std::slice::from_ref(term))?;
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
        let heads =
            self.database.query_all(sql, Vec::new(), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let lower = |(id, head): (i64, String)| (id, head.to_lowercase());
        Ok(heads.into_iter().map(lower).collect())
    }

    /// Returns the entries that have exactly this text somewhere.
    fn having(&self, literal: &str) -> Result<Vec<i64>, Fault> {
        let sql = "SELECT id FROM entries WHERE instr(title, ?1) OR instr(text, ?1)
             OR instr(summary, ?1) OR instr(gist, ?1)";
        self.database.query_all(sql, vec![literal.to_owned().into()], |row| row.get(0))
    }
}

/// Returns how well an entry fits compared to the best one: 0 for more than half as well. A score
/// is the better the lower it is; shorter notes have better ones, so that small differences mean
/// nothing.
fn rank(score: f64, best: f64) -> u8 {
    match score {
        inside if inside == f64::MAX => u8::MAX,
        _ if best >= 0.0 => 0,
        score if score >= 0.0 => u8::MAX - 1,
        // A float that is converted stays within the bounds of the integer.
        score => (best / score).log2().clamp(0.0, 100.0) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_that_differ_little_have_the_same_rank() {
        let ranks = [-8.0, -5.0, -3.0, -1.5, -0.5, 0.0, f64::MAX].map(|score| rank(score, -8.0));
        assert_eq!(ranks, [0, 0, 1, 2, 4, 254, 255]);
        assert_eq!([rank(0.0, 0.0), rank(f64::MAX, 0.0)], [0, 255]);
    }
}
