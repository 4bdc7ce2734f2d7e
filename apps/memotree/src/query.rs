//! Answers queries within a budget. Nothing is changed, not even the window.

use std::convert::Infallible;

use docui::{Anchor, Done, Fault, Lod, Value, View, tokens};
use pipemux_context::outline::{Outline, fill};
use pipemux_context::{Budgets, Frame, RenderSource, Share, Size, shares};
use pipemux_memotree_store::index::NodeRow;
use pipemux_memotree_store::render::view_line;
use pipemux_memotree_store::token::inert;
use pipemux_memotree_store::views;
use pipemux_memotree_store::{NodeId, Store, StoreError};
use pipemux_notes::text::{count, one_line};

use crate::action::{LevelName, Node};
use crate::faults::fault;
use crate::model::MemoTree;
use crate::{format, names};

/// The prefix of each node in a list.
const BULLET: &str = "- ";

/// Tokens of the fences around a text.
const FENCE_TOKENS: u64 = 8;

/// Tokens that are kept for the line that says what was cut.
pub(crate) const CUT_NOTE: u64 = 40;

/// Characters of the line that a search shows of a text.
pub(crate) const SNIPPET_CHARS: usize = 160;

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
                count(cut, "node")
            ));
        }
        let total = tree.store().index().total().map_err(fault)?;
        return Ok(Done::new(count(total, "node")).content(view));
    }
    let mut left = budget.saturating_sub(CUT_NOTE);
    let mut values = Vec::new();
    let nodes = names::ids(tree, nodes)?;
    for (position, id) in nodes.iter().enumerate() {
        // What the nodes after it have room for, too.
        let room = match nodes.len() - position {
            1 => left,
            _ => left * 3 / 4,
        };
        let (text, spent) = one(tree, id, level, room, &mut view)?;
        left = left.saturating_sub(spent);
        values.push(text);
    }
    let label = match nodes.as_slice() {
        [one] => one.clone(),
        several => count(several.len() as u64, "node"),
    };
    let brief = match nodes.len() {
        ..=BRIEF_IDS_MAX => format::list(&nodes),
        several => count(several as u64, "node"),
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
    let row = tree.store().files.node(id).map_err(|error| tree.fault(error))?;
    let (summary, text) = tree.store().files.text(id).map_err(|error| tree.fault(error))?;
    let above = row.shown_under.as_ref().map(NodeId::as_str);
    let mut head = outline_line(&row, 0, level != LevelName::Full, above);
    head.replace_range(..BULLET.len(), "");
    if level != LevelName::Gist && !summary.is_empty() {
        summary.lines().for_each(|line| head += &format!("{}\n", inert(line)));
    }
    for relation in tree.store().index().relations(id).map_err(fault)? {
        let [relation, source, kind, target] = &relation;
        let shown =
            if source == id { format!("{kind} {target}") } else { format!("{source} {kind} this") };
        head += &format!("{} [[MT:Relation:{relation}]]\n", inert(&shown));
    }
    let mut spent = tokens::estimate(&head);
    view.text(head);
    if level == LevelName::Full && !text.is_empty() {
        let (shown, more) = first_lines(&text, room.saturating_sub(spent));
        spent += tokens::estimate(shown) + FENCE_TOKENS;
        body(shown, 0, view);
        if more > 0 {
            let show = tree.call(&format!("show(\"{id}\")"));
            let budget = tokens::estimate(&text) + 200;
            let more = count(more, "more line");
            view.text(format!("… {more}: pipemux ask '{show}' --budget {budget}\n"));
        }
    }
    let first = (level == LevelName::Gist).then(|| first_line(&row, &text)).flatten();
    if let Some(first) = first {
        view.text(format!("  {}\n", inert(&first)));
    }
    let outlined = OutlineOf { node: Some(id), depth: 1, level: below };
    let cut = outline(tree, &outlined, room.saturating_sub(spent).max(CUT_NOTE), view)?;
    if cut > 0 {
        view.text(format!("… {} below\n", count(cut, "more node")));
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

/// The options of an outline.
struct OutlineOf<'a> {
    /// The node whose children the outline begins with; `None` for the roots.
    node: Option<&'a str>,
    /// The indentation depth of these children, in levels.
    depth: u32,
    /// The amount of text shown of each node; `None` for titles and gists only.
    level: Option<LevelName>,
}

/// The descendants of a node, or all nodes.
struct Below<'a> {
    store: &'a mut Store,
    of: &'a OutlineOf<'a>,
}

impl Below<'_> {
    /// Returns what is shown of a node below its line.
    fn text(&mut self, row: &NodeRow) -> String {
        let has_text = row.lines > 0 || row.has_summary;
        let Some(level) = self.of.level.filter(|_| has_text) else { return String::new() };
        // Of a file that can't be read, the line says so.
        let (summary, text) = self.store.files.text(row.id.as_str()).unwrap_or_default();
        match level {
            LevelName::Gist => first_line(row, &text).unwrap_or_default(),
            LevelName::Summary => summary,
            LevelName::Full => text,
        }
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
        let fences = Size::tokens(FENCE_TOKENS)
            .zip(Size::ZERO, |size, none| if size == u64::MAX { none } else { size });
        let text = self.text(row);
        let size = Size::of_lines(&(outline_line(row, depth, text.is_empty(), None) + &text));
        if text.is_empty() { size } else { size.plus(fences) }
    }
}

/// Returns the line that stands for a node's gist where it has none.
fn first_line(row: &NodeRow, text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && row.gist.is_empty());
    lines.next().map(|line| one_line(line, SNIPPET_CHARS))
}

/// Writes a node's text below its line. A text of one line needs no fences.
fn body(text: &str, depth: u32, view: &mut View) {
    match text.trim_end().lines().count() {
        0 => {}
        1 => {
            let indent = "  ".repeat(depth as usize + 1);
            view.text(format!("{indent}{}\n", inert(text.trim())));
        }
        _ => {
            view.code("markdown", text);
        }
    }
}

/// Writes a node of an outline. Its title names it; the id follows only where the title doesn't
/// make it. `counts` tells how long its text is, which stands there only where that says something:
/// not of one line, and not where the text follows.
pub fn outline_line(row: &NodeRow, depth: u32, counts: bool, above: Option<&str>) -> String {
    let mut line = format!("{}{BULLET}{}", "  ".repeat(depth as usize), inert(&row.title));
    let made = NodeId::from_title::<Infallible>(&row.title, |_| Ok(false));
    if made.as_ref() != Ok(&row.id) {
        line += &format!(" [{}]", row.id);
    }
    for tag in &row.tags {
        line += &format!(" #{}", inert(tag));
    }
    let lines = if counts && row.lines > 1 { row.lines } else { 0 };
    for (number, what) in [(row.children, "node"), (lines, "line")] {
        if number > 0 {
            line += &format!(" · {}", count(number, what));
        }
    }
    if let Some(above) = above {
        line += &format!(" · below {above}");
    }
    for text in [Some(row.gist.as_str()), row.problem.as_deref()].into_iter().flatten() {
        if !text.is_empty() {
            line += &format!(" · {}", inert(text));
        }
    }
    line + "\n"
}

/// Writes the nodes below one, or all, as far as they fit: those on top first. Returns how many of
/// those right below the shown ones are left out.
fn outline(
    tree: &MemoTree,
    of: &OutlineOf<'_>,
    budget: u64,
    view: &mut View,
) -> Result<u64, Fault> {
    let mut store = tree.store();
    let mut nodes = Below { store: &mut store, of };
    let filled = fill(&mut nodes, &share(budget)).map_err(|error| tree.fault(error))?;
    let top = nodes.store.index().child_count(of.node.unwrap_or_default()).map_err(fault)?;
    let below: u64 = filled.lines.iter().map(|line| line.content.children).sum();
    for line in &filled.lines {
        let depth = line.depth + of.depth;
        let text = nodes.text(&line.content);
        view.text(outline_line(&line.content, depth, text.is_empty(), None));
        body(&text, depth, view);
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

/// Lists views and saved searches.
///
/// # Errors
/// The folder isn't readable.
pub fn list(tree: &MemoTree) -> Result<Done, Fault> {
    let store = tree.store();
    let views = views::all(&store).map_err(|error| tree.fault(error))?;
    let queries = views::queries(&store).map_err(|error| tree.fault(error))?;
    let mut view = View::new("");
    for one in &views {
        let current = if one.name == tree.view { " · current" } else { "" };
        let expanded = store.state.expanded(&one.name).map_err(|error| tree.fault(error))?;
        let line = view_line(one, usize::MAX);
        view.text(format!("- {line} · {expanded} expanded{current}\n"));
    }
    for (name, query) in &queries {
        view.text(format!("- {name} [[MT:Query:{name}]] · {}\n", inert(query)));
    }
    let names = views.iter().map(|view| Value::from(view.name.as_str())).collect();
    let brief = match queries.len() as u64 {
        0 => count(views.len() as u64, "view"),
        saved => format!("{}, {}", count(views.len() as u64, "view"), count(saved, "saved query")),
    };
    Ok(Done::new(brief).content(view).value(Value::List(names)))
}

/// Lists what was removed.
///
/// # Errors
/// The trash isn't readable.
pub fn trash(tree: &MemoTree) -> Result<Done, Fault> {
    let ids = tree.store().trash().map_err(|error| tree.fault(error))?;
    let brief = count(ids.len() as u64, "node");
    let mut view = View::new("");
    if !ids.is_empty() {
        let restore = tree.call(&format!("restore(\"{}\")", ids[0]));
        view.text(format!("{}\nto bring one back: pipemux run '{restore}'\n", format::list(&ids)));
    }
    let done = Done::new(brief).content(view);
    let ids: Vec<Value> = ids.iter().map(|id| Value::from(id.as_str())).collect();
    Ok(if ids.is_empty() { done } else { done.value(Value::List(ids)) })
}

/// Returns the value of what a key names: a node's text, a view's description, a saved search's
/// words.
///
/// # Errors
/// There is nothing of this key, or its file can't be read.
pub fn value_of(tree: &MemoTree, key: &str) -> Result<String, Fault> {
    let mut store = tree.store();
    if store.index().node(key).map_err(fault)?.is_some() {
        return store.files.text(key).map(|(_, text)| text).map_err(|error| tree.fault(error));
    }
    if let Ok(view) = views::get(&store, key) {
        return Ok(view.description);
    }
    views::query(&store, key).map_err(|_| Fault::not_found("there is no such node").about(key))
}
