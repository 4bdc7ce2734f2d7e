//! Finds nodes within a budget.

use docui::{Done, Fault, Value, View, command, tokens};
use pipemux_memotree_store::index::{NodeRow, SEARCH_MAX};
use pipemux_memotree_store::token::inert;
use pipemux_memotree_store::views;
use pipemux_notes::query::{Part, expression, has_dangling_or, parts, tag};
use pipemux_notes::text::{count, one_line};

use crate::action::Words;
use crate::faults::fault;
use crate::format;
use crate::model::MemoTree;
use crate::query::{CUT_NOTE, SNIPPET_CHARS, outline_line};

/// Lines that a search shows of a text.
const SNIPPET_LINES: usize = 3;

/// Finds nodes.
///
/// # Errors
/// There is no word to search for, or the index can't be read.
pub fn search(tree: &MemoTree, words: &Words, skip: i64, budget: u64) -> Result<Done, Fault> {
    let store = tree.store();
    let query = match words {
        Words::Saved(saved) => {
            views::query(&store, &saved.key).map_err(|error| tree.fault(error))?
        }
        Words::Text(text) => match pipemux_memotree_store::Token::parse(text.trim()) {
            Ok(token) => views::query(&store, &token.name).map_err(|error| tree.fault(error))?,
            // A saved search, by its name.
            Err(_) => views::query(&store, text.trim()).unwrap_or_else(|_| text.clone()),
        },
    };
    if expression(&query).is_none() {
        let all = tree.call("show()");
        return Err(Fault::usage("query: expected a word to search for")
            .hint(format!("all nodes: pipemux ask '{all}'")));
    }
    let skip = usize::try_from(skip).map_err(|_| Fault::usage("skip: expected 0 or more"))?;
    let found = store.index().search(&query, SEARCH_MAX).map_err(fault)?;
    drop(store);
    let mut view = View::new("");
    let mut left = budget.saturating_sub(CUT_NOTE);
    let rows = found.nodes.get(skip..).unwrap_or_default();
    let (mut shown, terms) = (0, terms(&query));
    for row in rows {
        let line = found_line(tree, row, &terms);
        let cost = tokens::estimate(&line);
        if cost > left && shown > 0 {
            break;
        }
        left = left.saturating_sub(cost);
        view.text(line);
        shown += 1;
    }
    if shown < rows.len() {
        let again = format::quoted(&query);
        let call = tree.call(&format!("search({again}, skip={})", skip + shown));
        let ask = command::command(&["ask", &call]);
        view.text(format!("… {} more: {ask}\n", rows.len() - shown));
    }
    if has_dangling_or(&query) {
        view.text("OR stands between two words: a OR b; without one it was left out\n");
    }
    if found.nodes.is_empty() {
        view.text(nothing_found(tree, &query));
    }
    let total = tree.store().index().total().map_err(fault)?;
    let number = found.nodes.len();
    let more = if found.more { "more than " } else { "" };
    let done = Done::new(format!("{more}{number} of {}", count(total, "node"))).content(view);
    let ids = found.nodes.iter().map(|row| Value::from(row.id.as_str())).collect();
    Ok(if found.nodes.is_empty() { done } else { done.value(Value::List(ids)) })
}

/// Says what to try when a search found nothing.
fn nothing_found(tree: &MemoTree, query: &str) -> String {
    let terms: Vec<&str> = query.split_whitespace().collect();
    let ask = |call: String| command::command(&["ask", &tree.call(&call)]);
    let search = |text: String| ask(format!("search({})", format::quoted(&text)));
    match terms.as_slice() {
        [one] if tag(one).is_some() => {
            let plain = one.trim_start_matches('#').to_owned();
            format!("no node has this tag; as a word: {}\n", search(plain))
        }
        [_, _, ..] if !query.contains(['"', '“', '”']) && !terms.contains(&"OR") => {
            format!("any of the words: {}\n", search(terms.join(" OR ")))
        }
        _ => format!("all titles: {}\n", ask("show()".to_owned())),
    }
}

/// Writes a found node: its title line, its gist, and the lines of its text that have most of the
/// query.
fn found_line(tree: &MemoTree, row: &NodeRow, terms: &[String]) -> String {
    let mut line = outline_line(row, 0, true, None);
    if row.lines == 0 {
        return line;
    }
    let Ok((_, text)) = tree.store().files.text(row.id.as_str()) else { return line };
    let score = |line: &str| {
        let line = line.to_lowercase();
        let found = terms.iter().filter(|term| line.contains(term.as_str()));
        found.map(|term| term.split_whitespace().count()).sum::<usize>()
    };
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let best = lines().map(score).max().unwrap_or_default();
    // The words may be in the title alone: the beginning tells what it is about.
    let most = if best > 0 { SNIPPET_LINES } else { 1 };
    for found in lines().filter(|line| score(line) == best).take(most) {
        line += &format!("  {}\n", inert(&one_line(found, SNIPPET_CHARS)));
    }
    line
}

/// Returns the words and phrases of a query that a text may have, in lower case.
fn terms(query: &str) -> Vec<String> {
    let terms = parts(query).filter_map(|part| match part {
        Part::Or => None,
        Part::Word(word) => Some(word),
        Part::Quoted(phrase) => Some(phrase.trim()),
    });
    terms.filter(|term| !term.is_empty() && tag(term).is_none()).map(str::to_lowercase).collect()
}
