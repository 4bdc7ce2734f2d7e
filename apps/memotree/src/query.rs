//! Answers queries within a budget. Nothing is changed, not even the window.

use std::convert::Infallible;

use docui::{Anchor, Done, Fault, Lod, Value, View, tokens};
use pipemux_context::outline::{Outline, fill};
use pipemux_context::{Budgets, Frame, RenderSource, Share, Size, shares};
use pipemux_memotree_store::index::{NodeRow, SEARCH_MAX};
use pipemux_memotree_store::render::title_line;
use pipemux_memotree_store::token::inert;
use pipemux_memotree_store::{NodeId, Store, StoreError};

use crate::action::{LevelName, Node, Words};
use crate::faults::fault;
use crate::model::MemoTree;
use crate::update::index_fault;
use crate::words;

/// Tokens that are kept for the line that says what was cut.
const CUT_NOTE: u64 = 40;

/// Characters of the line that a search shows of a text.
const SNIPPET_CHARS: usize = 160;

/// Found nodes whose texts are read for the line that has the words.
const SNIPPETS_MAX: usize = 20;

/// Nodes that a query's brief names.
const BRIEF_IDS_MAX: usize = 3;

/// Bytes of a text that a query shows, so that the answer fits into a frame.
const BYTES_MAX: usize = 600 * 1024;

/// Shows nodes, or the outline of the tree.
///
/// # Errors
/// There is no such node, or a file can't be read.
pub fn show(
    tree: &MemoTree,
    nodes: &[Anchor<Node>],
    level: Option<LevelName>,
    budget: u64,
) -> Result<Done, Fault> {
    let mut view = View::new("");
    if nodes.is_empty() {
        let all = OutlineOf { node: None, depth: 0, level };
        let cut = outline(tree, &all, budget.saturating_sub(CUT_NOTE), &mut view)?;
        if cut > 0 {
            let show = tree.call("show(\"…\")");
            view.text(format!(
                "… {} more: pipemux ask '{show}' with a node's id\n",
                words::count(cut, "node")
            ));
        }
        let total = tree.store().index().total().map_err(index_fault)?;
        return Ok(Done::new(words::count(total, "node")).content(view));
    }
    let mut left = budget.saturating_sub(CUT_NOTE);
    let mut values = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        // What the nodes after it have room for, too.
        let room = match nodes.len() - position {
            1 => left,
            _ => left * 3 / 4,
        };
        let (text, spent) = one(tree, &node.key, level, room, &mut view)?;
        left = left.saturating_sub(spent);
        values.push(text);
    }
    let label = match nodes {
        [one] => one.key.clone(),
        several => words::count(several.len() as u64, "node"),
    };
    let brief = match nodes.len() {
        ..=BRIEF_IDS_MAX => words::list(nodes.iter().map(|node| &node.key)),
        several => words::count(several as u64, "node"),
    };
    Ok(Done::new(brief).content(view).value(values.join("\n")).label(label))
}

/// Writes one node. Returns its text, and the tokens that it took.
fn one(
    tree: &MemoTree,
    id: &str,
    below: Option<LevelName>,
    room: u64,
    view: &mut View,
) -> Result<(String, u64), Fault> {
    let level = below.unwrap_or(LevelName::Full);
    let row = tree.store().node(id).map_err(fault)?;
    let (summary, text) = tree.store().text(id).map_err(fault)?;
    let mut head = title_line(&row, Some(level.into()), tree.config.tokens) + "\n";
    if let Some(parent) = &row.shown_under {
        head += &format!("below {parent}\n");
    }
    if !row.gist.is_empty() {
        head += &format!("{}\n", inert(&row.gist));
    }
    if level != LevelName::Gist && !summary.is_empty() {
        head += &format!("{}\n", inert(&summary));
    }
    for relation in tree.store().index().relations(id).map_err(index_fault)? {
        let [relation, source, kind, target] = &relation;
        let shown =
            if source == id { format!("{kind} {target}") } else { format!("{source} {kind} this") };
        head += &format!("{} [[MT:Relation:{relation}]]\n", inert(&shown));
    }
    let mut spent = tokens::estimate(&head);
    view.text(head);
    if level == LevelName::Full && !text.is_empty() {
        let (shown, more) = first_lines(&text, room.saturating_sub(spent));
        spent += tokens::estimate(shown) + 8;
        if !shown.is_empty() {
            view.code("markdown", shown);
        }
        if more > 0 {
            let show = tree.call(&format!("show(\"{id}\")"));
            let budget = tokens::estimate(&text) + 200;
            let more = words::count(more, "more line");
            view.text(format!("… {more}: pipemux ask '{show}' --budget {budget}\n"));
        }
    }
    let outlined = OutlineOf { node: Some(id), depth: 1, level: below };
    let cut = outline(tree, &outlined, room.saturating_sub(spent).max(CUT_NOTE), view)?;
    if cut > 0 {
        view.text(format!("… {} below\n", words::count(cut, "more node")));
    }
    let value = match level {
        LevelName::Full => text,
        LevelName::Summary if !summary.is_empty() => summary,
        LevelName::Summary | LevelName::Gist => row.gist,
    };
    Ok((value, spent))
}

/// Returns the first lines that fit, and how many more there are.
fn first_lines(text: &str, room: u64) -> (&str, u64) {
    if text.len() <= BYTES_MAX && tokens::estimate(text) <= room {
        return (text, 0);
    }
    let (mut end, mut spent) = (0, 0);
    for line in text.split_inclusive('\n') {
        spent += tokens::estimate(line);
        if spent > room || end + line.len() > BYTES_MAX {
            break;
        }
        end += line.len();
    }
    (&text[..end], text[end..].lines().count() as u64)
}

/// What an outline shows.
struct OutlineOf<'a> {
    /// The node whose children it begins with; none for the roots.
    node: Option<&'a str>,
    /// How far these stand to the right.
    depth: u32,
    /// How much it shows of each node's text; none for titles and gists alone.
    level: Option<LevelName>,
}

/// The nodes below one, or all.
struct Below<'a> {
    store: &'a mut Store,
    of: &'a OutlineOf<'a>,
}

impl Below<'_> {
    /// Returns what is shown of a node below its line.
    fn text(&mut self, row: &NodeRow) -> String {
        let has_text = row.lines > 0 || row.has_summary;
        let wanted = self.of.level.filter(|level| has_text && *level != LevelName::Gist);
        let Some(level) = wanted else { return String::new() };
        // Of a file that can't be read, the line says so.
        let (summary, text) = self.store.text(row.id.as_str()).unwrap_or_default();
        if level == LevelName::Summary { summary } else { text }
    }
}

impl Outline for Below<'_> {
    type Node = NodeRow;
    type Error = StoreError;

    fn children(
        &mut self,
        of: Option<&NodeRow>,
        from: usize,
        max: usize,
    ) -> Result<Vec<NodeRow>, StoreError> {
        let id = of.map(|row| row.id.as_str()).or(self.of.node);
        Ok(self.store.index().children(id, from, max)?)
    }

    fn size(&mut self, row: &NodeRow, depth: u32) -> Size {
        // Fences, as far as there are any.
        let fences = Size::tokens(8)
            .zip(Size::ZERO, |size, none| if size == u64::MAX { none } else { size });
        let text = self.text(row);
        let size = Size::of_lines(&(outline_line(row, depth) + &text));
        if text.is_empty() { size } else { size.plus(fences) }
    }
}

/// Writes a node of an outline. Its title names it; the id follows only where the title doesn't make it.
fn outline_line(row: &NodeRow, depth: u32) -> String {
    let mut line = format!("{}- {}", "  ".repeat(depth as usize), inert(&row.title));
    let made = NodeId::from_title::<Infallible>(&row.title, |_| Ok(false));
    if made.as_ref() != Ok(&row.id) {
        line += &format!(" [{}]", row.id);
    }
    for tag in &row.tags {
        line += &format!(" #{}", inert(tag));
    }
    for (count, what) in [(row.children, "node"), (row.lines, "line")] {
        if count > 0 {
            line += &format!(" · {}", words::count(count, what));
        }
    }
    for text in [Some(row.gist.as_str()), row.problem.as_deref()].into_iter().flatten() {
        if !text.is_empty() {
            line += &format!(" · {}", inert(text));
        }
    }
    line + "\n"
}

/// Writes the nodes below one, or all, as far as they fit: those on top first. Returns how many of those right below the shown
/// ones are left out.
fn outline(
    tree: &MemoTree,
    of: &OutlineOf<'_>,
    budget: u64,
    view: &mut View,
) -> Result<u64, Fault> {
    let mut store = tree.store();
    let mut nodes = Below { store: &mut store, of };
    let filled = fill(&mut nodes, &share(budget)).map_err(fault)?;
    let top = nodes.store.index().child_count(of.node.unwrap_or_default()).map_err(index_fault)?;
    let below: u64 = filled.lines.iter().map(|line| line.content.children).sum();
    for line in &filled.lines {
        let depth = line.depth + of.depth;
        view.text(outline_line(&line.content, depth));
        let text = nodes.text(&line.content);
        match text.trim_end().lines().count() {
            0 => {}
            1 => {
                let indent = "  ".repeat(depth as usize + 1);
                view.text(format!("{indent}{}\n", inert(text.trim())));
            }
            _ => {
                view.code("markdown", &text);
            }
        }
    }
    Ok((top + below).saturating_sub(filled.lines.len() as u64))
}

/// Returns all of a budget as a share.
pub fn share(budget: u64) -> Share {
    let budgets = Budgets::new(Size { tokens: budget, bytes: BYTES_MAX as u64, ..Size::UNLIMITED });
    let budgets = budgets.framed_by(Frame::Caller);
    let source = RenderSource::new("tree", "").lod(Lod::Full);
    shares(&[source], &budgets).first().copied().unwrap_or_default()
}

/// Finds nodes.
///
/// # Errors
/// There is no word to search for, or the index can't be read.
pub fn search(tree: &MemoTree, words: &Words, skip: i64, budget: u64) -> Result<Done, Fault> {
    let store = tree.store();
    let query = match words {
        Words::Saved(saved) => store.query(&saved.key).map_err(fault)?,
        Words::Text(text) => match pipemux_memotree_store::Token::parse(text.trim()) {
            Ok(token) => store.query(&token.name).map_err(fault)?,
            // A saved search, by its name.
            Err(_) => store.query(text.trim()).unwrap_or_else(|_| text.clone()),
        },
    };
    if pipemux_memotree_store::words::expression(&query).is_none() {
        let all = tree.call("show()");
        return Err(Fault::usage("query: expected a word to search for")
            .hint(format!("all nodes: pipemux ask '{all}'")));
    }
    let skip = usize::try_from(skip).map_err(|_| Fault::usage("skip: expected 0 or more"))?;
    let found = store.index().search(&query, SEARCH_MAX).map_err(index_fault)?;
    drop(store);
    let mut view = View::new("");
    let mut left = budget.saturating_sub(CUT_NOTE);
    let rows = found.nodes.get(skip..).unwrap_or_default();
    let mut shown = 0;
    for row in rows {
        let line = found_line(tree, row, &query, shown < SNIPPETS_MAX);
        let cost = tokens::estimate(&line);
        if cost > left && shown > 0 {
            break;
        }
        left = left.saturating_sub(cost);
        view.text(line);
        shown += 1;
    }
    if shown < rows.len() {
        let again = Value::from(query.as_str());
        let call = tree.call(&format!("search({again}, skip={})", skip + shown));
        view.text(format!("… {} more: pipemux ask '{call}'\n", rows.len() - shown));
    }
    let total = tree.store().index().total().map_err(index_fault)?;
    let number = found.nodes.len();
    let more = if found.more { "more than " } else { "" };
    let done =
        Done::new(format!("{more}{number} of {}", words::count(total, "node"))).content(view);
    let ids = found.nodes.iter().map(|row| Value::from(row.id.as_str())).collect();
    Ok(if found.nodes.is_empty() { done } else { done.value(Value::List(ids)) })
}

/// Writes a found node: its title line, its gist, and the first line of its text that has a word of the query.
fn found_line(tree: &MemoTree, row: &NodeRow, query: &str, reads: bool) -> String {
    let mut line = outline_line(row, 0);
    let words: Vec<String> = query
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '“', '”']).to_lowercase())
        .filter(|word| !word.is_empty() && word != "or")
        .collect();
    if !reads || row.lines == 0 {
        return line;
    }
    let Ok((_, text)) = tree.store().text(row.id.as_str()) else { return line };
    let has_word = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word.as_str()))
    };
    // The words may be in the title alone: the beginning tells what it is about.
    let first = || text.lines().find(|line| !line.trim().is_empty());
    if let Some(found) = text.lines().find(has_word).or_else(first) {
        line += &format!("  {}\n", inert(&words::cut(found, SNIPPET_CHARS)));
    }
    line
}

/// Lists views and saved searches.
///
/// # Errors
/// The folder isn't readable.
pub fn list(tree: &MemoTree) -> Result<Done, Fault> {
    let store = tree.store();
    let views = store.views().map_err(fault)?;
    let queries = store.queries().map_err(fault)?;
    let mut view = View::new("");
    for one in &views {
        let current = if one.name == tree.view { " · current" } else { "" };
        let about = match one.description.as_str() {
            "" => String::new(),
            text => format!(": {}", inert(text)),
        };
        let expanded = store.state.expanded(&one.name).map_err(StoreError::from).map_err(fault)?;
        let problem = one.problem.as_deref().map(|why| format!(" · {}", inert(why)));
        view.text(format!(
            "- {} [[MT:View:{}]]{about} · {expanded} expanded{current}{}\n",
            one.name,
            one.name,
            problem.unwrap_or_default()
        ));
    }
    for (name, query) in &queries {
        view.text(format!("- {name} [[MT:Query:{name}]]: {}\n", inert(query)));
    }
    let names = views.iter().map(|view| Value::from(view.name.as_str())).collect();
    let brief = match queries.len() as u64 {
        0 => words::count(views.len() as u64, "view"),
        saved => format!(
            "{}, {}",
            words::count(views.len() as u64, "view"),
            words::count(saved, "saved query")
        ),
    };
    Ok(Done::new(brief).content(view).value(Value::List(names)))
}

/// Lists what was removed.
///
/// # Errors
/// The trash isn't readable.
pub fn trash(tree: &MemoTree) -> Result<Done, Fault> {
    let ids = tree.store().trash().map_err(fault)?;
    let brief = words::count(ids.len() as u64, "node");
    let mut view = View::new("");
    if !ids.is_empty() {
        let restore = tree.call(&format!("restore(\"{}\")", ids[0]));
        view.text(format!("{}\nto bring one back: pipemux run '{restore}'\n", words::list(&ids)));
    }
    let done = Done::new(brief).content(view);
    let ids: Vec<Value> = ids.iter().map(|id| Value::from(id.as_str())).collect();
    Ok(if ids.is_empty() { done } else { done.value(Value::List(ids)) })
}

/// Returns the value of what a key names: a node's text, a view's description, a saved search's words.
///
/// # Errors
/// There is nothing of this key, or its file can't be read.
pub fn value_of(tree: &MemoTree, key: &str) -> Result<String, Fault> {
    let mut store = tree.store();
    if store.index().node(key).map_err(index_fault)?.is_some() {
        return store.text(key).map(|(_, text)| text).map_err(fault);
    }
    if let Ok(view) = store.view(key) {
        return Ok(view.description);
    }
    store.query(key).map_err(|_| Fault::not_found("there is no such node").about(key))
}
