//! Lists notes within a budget: the content of a query's answer.

use std::collections::HashSet;

use docui::{Fault, Object, View, command, tokens};
use pipemux_notes::excerpts::found_lines;
use pipemux_notes::query::Query;
use pipemux_notes::text::count;

use crate::block::{FENCE_COST, head};
use crate::entry;
use crate::format::{first_line, hash_tags, list_tags};
use crate::model::Notebook;
use crate::store::Row;

/// Tokens that are reserved for the line that says what was cut.
const CUT_NOTE_TOKENS: u64 = 40;
/// About how many tokens an anchor takes besides its label.
const ANCHOR_COST: u64 = 8;
/// Most notes that one answer lists.
pub const LISTED_MAX: usize = 2000;
/// Most bytes of texts in one answer, so that it fits into one frame whatever the budget.
const BYTES_MAX: usize = 700 * 1024;

/// The content of an answer, written within a budget.
pub struct List<'a> {
    notebook: &'a Notebook,
    /// Titles that several entries have: only an anchor tells these apart.
    shared: HashSet<String>,
    /// The output written so far.
    pub view: View,
    left: u64,
    bytes: usize,
}

impl<'a> List<'a> {
    /// Begins an answer that takes about `budget` tokens.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn new(notebook: &'a Notebook, budget: u64) -> Result<Self, Fault> {
        let sql = "SELECT title FROM entries GROUP BY title HAVING count(*) > 1";
        let shared = notebook.store.database.query_all(sql, Vec::new(), |row| row.get(0))?;
        Ok(Self {
            notebook,
            shared: shared.into_iter().collect(),
            view: View::new(""),
            left: budget.saturating_sub(CUT_NOTE_TOKENS),
            bytes: BYTES_MAX,
        })
    }

    fn rows(&self, ids: &[i64]) -> Result<Vec<Row>, Fault> {
        let mut rows = Vec::new();
        for id in ids.iter().take(LISTED_MAX) {
            rows.extend(self.notebook.store.get(*id)?);
        }
        Ok(rows)
    }

    /// Adds one line for each entry. Where not all fit, the last ones have just their titles,
    /// together on one line. Returns how many were shown if not all were.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn gists(&mut self, ids: &[i64]) -> Result<Option<usize>, Fault> {
        let rows = self.rows(ids)?;
        let lines: Vec<String> = rows.iter().map(gist_line).collect();
        let costs: Vec<u64> =
            rows.iter().zip(&lines).map(|(row, line)| self.cost(row, line)).collect();
        let title = |row: &Row| self.cost(row, "");
        // What the entries from each one on take with their titles only.
        let mut as_titles = vec![0; rows.len() + 1];
        for index in (0..rows.len()).rev() {
            as_titles[index] = as_titles[index + 1] + title(&rows[index]);
        }
        let whole = rows.len() == ids.len();
        // Where nothing is cut, there is no note that needs room.
        if whole && costs.iter().sum::<u64>() <= self.left + CUT_NOTE_TOKENS {
            self.left += CUT_NOTE_TOKENS;
        }
        let (mut spent, mut in_lines, mut in_all) = (0, None, 0);
        for (index, rest_as_titles) in as_titles.iter().enumerate() {
            if spent > self.left {
                break;
            }
            in_all = index;
            if whole && spent + rest_as_titles <= self.left {
                in_lines = Some(index);
            }
            spent += costs.get(index).copied().unwrap_or(0);
        }
        let in_lines_shown = in_lines.unwrap_or(in_all);
        for (row, line) in rows.iter().zip(&lines).take(in_lines_shown) {
            self.title(row);
            self.text(format!("{line}\n"));
        }
        if in_lines.is_none() {
            return Ok((in_all < ids.len()).then_some(in_all));
        }
        for (index, row) in rows[in_lines_shown..].iter().enumerate() {
            self.text(if index == 0 { "" } else { " " });
            self.title(row);
        }
        let bare = rows.len() - in_lines_shown;
        if bare > 0 {
            self.text(format!(
                "\n… {} without room: a larger --budget shows them\n",
                count(bare as u64, "gist")
            ));
        }
        Ok(None)
    }

    /// Adds the summary of each entry, or the beginning of its text. Returns how many were shown if
    /// not all were.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn summaries(&mut self, ids: &[i64]) -> Result<Option<usize>, Fault> {
        for (index, row) in self.rows(ids)?.iter().enumerate() {
            let (lines, outdated) = match row.summary.is_empty() {
                true => (
                    row.head
                        .lines()
                        .filter(|line| !line.trim().is_empty())
                        .take(2)
                        .map(first_line)
                        .collect(),
                    "",
                ),
                false if row.outdated.summary => {
                    (row.summary.lines().map(str::to_owned).collect::<Vec<_>>(), " (outdated)")
                }
                false => (row.summary.lines().map(str::to_owned).collect(), ""),
            };
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            let text = format!("{} {}{outdated}\n{lines}", tags_of(row), count(row.lines, "line"));
            if index > 0 && self.cost(row, &text) > self.left {
                return Ok(Some(index));
            }
            self.title(row);
            self.text(text);
        }
        Ok((ids.len() > LISTED_MAX).then_some(LISTED_MAX))
    }

    /// Adds the text of each entry. Returns how many were shown if not all were.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn texts(&mut self, ids: &[i64]) -> Result<Option<usize>, Fault> {
        for (index, row) in self.rows(ids)?.iter().enumerate() {
            let text = self.notebook.store.text(row.id)?.unwrap_or_default();
            let head_cost = self.cost(row, &tags_of(row)) + FENCE_COST;
            let fits = head_cost + tokens::estimate(&text) <= self.left && text.len() <= self.bytes;
            if !fits && index > 0 {
                return Ok(Some(index));
            }
            self.title(row);
            self.text(format!("{}\n", tags_of(row)));
            let (shown, left) = match fits {
                true => (text.as_str(), 0),
                false => head(&text, self.left.saturating_sub(FENCE_COST), self.bytes),
            };
            if !shown.is_empty() {
                self.left = self.left.saturating_sub(tokens::estimate(shown) + FENCE_COST);
                self.bytes = self.bytes.saturating_sub(shown.len());
                self.view.code("", shown);
            }
            if left > 0 {
                let of = format!("obj:{}:{}", self.notebook.address(), entry::key(row.id));
                let lines = count(row.lines, "line");
                self.text(format!("… {left} of {lines} more: pipemux read {of}\n"));
            }
        }
        Ok((ids.len() > LISTED_MAX).then_some(LISTED_MAX))
    }

    /// Adds each entry with the lines in which words of the query were found. Returns how many were
    /// shown if not all were.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn found(&mut self, ids: &[i64], query: &Query) -> Result<Option<usize>, Fault> {
        for (index, row) in self.rows(ids)?.iter().enumerate() {
            let text = self.notebook.store.text(row.id)?.unwrap_or_default();
            let lines = found_lines(&text, query);
            let mut lines: Vec<String> =
                lines.iter().map(|line| format!("{}: {}", line.number, line.text)).collect();
            // What was found outside the text is shown as well.
            let summary = found_lines(&row.summary, query);
            lines.extend(summary.into_iter().map(|line| format!("summary: {}", line.text)));
            let in_gist = !found_lines(&row.gist, query).is_empty();
            let line = match lines.is_empty() || in_gist {
                true if lines.is_empty() => gist_line(row),
                true => format!("{} · {}", gist_line(row), lines.join(" · ")),
                false => format!("{} {}", tags_of(row), lines.join(" · ")),
            };
            if index > 0 && self.cost(row, &line) > self.left {
                return Ok(Some(index));
            }
            self.title(row);
            self.text(format!("{line}\n"));
        }
        Ok((ids.len() > LISTED_MAX).then_some(LISTED_MAX))
    }

    /// Adds a line that tells which tags there are.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn tags(&mut self) -> Result<(), Fault> {
        let tags = self.notebook.store.tags()?;
        match tags.is_empty() {
            true => self.text("no note has a tag\n"),
            false => self.text(format!("tags: {}\n", list_tags(&tags))),
        }
        Ok(())
    }

    /// Says how to see what was cut, if anything was. `again` makes the call that goes on behind as
    /// many entries.
    pub fn cut_note(
        &mut self,
        shown: Option<usize>,
        skip: usize,
        again: impl Fn(usize) -> Option<String>,
    ) {
        let Some(shown) = shown else { return };
        match again(skip + shown.max(1)) {
            Some(call) => {
                let ask = self.ask(&call);
                self.view.text(format!("… more: {ask}\n"));
            }
            None => {
                self.view
                    .text("… more: the same call with a larger --budget, or with fewer titles\n");
            }
        }
    }

    /// Returns the command that runs a query of this session.
    pub fn ask(&self, call: &str) -> String {
        command::join(&["pipemux", "ask", &self.notebook.call(call)])
    }

    fn title(&mut self, row: &Row) {
        self.left = self.left.saturating_sub(self.cost(row, ""));
        if self.shared.contains(&row.title) {
            let object = Object::new(entry::key(row.id), &row.title).ty("entry").rev(row.rev);
            self.view.object(object.detail(first_line(&row.head)));
        } else {
            self.view.text(format!("[{}]", row.title));
        }
    }

    fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.left = self.left.saturating_sub(tokens::estimate(&text));
        self.view.text(text);
    }

    /// About how many tokens a line takes that begins with an entry's title.
    fn cost(&self, row: &Row, line: &str) -> u64 {
        let anchor = if self.shared.contains(&row.title) { ANCHOR_COST } else { 1 };
        tokens::estimate(&row.title) + anchor + tokens::estimate(line) + 1
    }
}

/// Returns the tags with a space before them.
fn tags_of(row: &Row) -> String {
    if row.tags.is_empty() { String::new() } else { format!(" {}", hash_tags(&row.tags)) }
}

/// Returns what follows the title in a list: tags, and the gist or the beginning of the text.
fn gist_line(row: &Row) -> String {
    let outdated = if row.outdated.gist { " (outdated)" } else { "" };
    let gist = match row.gist.is_empty() {
        true => first_line(&row.head),
        false => format!("{}{outdated}", row.gist),
    };
    let space = if gist.is_empty() { "" } else { " " };
    format!("{}{space}{gist}", tags_of(row))
}
