//! Writes a tree and its panels as sections for the merge of `pipemux-context`. What is read
//! depends on what is shown, not on the number of nodes.

use std::rc::Rc;

use pipemux_context::outline::{Filled, Outline, fill};
use pipemux_context::slots::SlotLine;
use pipemux_context::{Line, RenderSection, Share, Size};
use pipemux_proto::projection::Piece;

use crate::config::TokenForm;
use crate::error::StoreError;
use crate::index::NodeRow;
use crate::node_files::OutsideChanges;
use crate::state::Level;
use crate::store::Store;
use crate::token::{Token, TokenKind, inert};
use crate::views::{self, DEFAULT_VIEW, View};

/// Maximum number of times that a tree is reread because files changed during rendering.
const PASSES: usize = 3;

/// Views that the panel lists besides the current one, unless told otherwise.
pub const OTHER_VIEWS: usize = 5;

/// Characters that the panel shows of what another view is for.
const OTHER_CHARS: usize = 60;

/// Characters that a folded node shows of its gist.
const FOLDED_GIST_CHARS: usize = 100;

/// A tree as displayed by a view.
#[derive(Debug)]
pub struct RenderedTree {
    /// The rendered lines.
    pub section: RenderSection<SlotLine>,
    /// The displayed nodes, in the order of their lines.
    pub shown: Vec<NodeRow>,
    /// What other programs changed, as far as this was noticed now.
    pub changes: OutsideChanges,
}

#[derive(Debug, Clone)]
enum TreeLine {
    /// The title line of a node; if expanded, its body and `children` children follow.
    Node { row: Box<NodeRow>, level: Option<Level>, body: Rc<str>, children: u64, text: String },
    /// A line of a node's body.
    Body { text: String },
}

/// The tree as an outline for the merge.
struct TreeOutline<'a> {
    store: &'a mut Store,
    view: &'a str,
    form: TokenForm,
    /// The expanded nodes of the view and their ancestors.
    open: String,
}

impl Outline for TreeOutline<'_> {
    type Node = TreeLine;
    type Error = StoreError;

    fn children(
        &mut self,
        of: Option<&TreeLine>,
        from: usize,
        max: usize,
    ) -> Result<Vec<TreeLine>, StoreError> {
        let (id, body, level) = match of {
            None => (None, "", None),
            Some(TreeLine::Node { row, level: level @ Some(_), body, .. }) => {
                (Some(row.id.as_str()), &**body, *level)
            }
            Some(_) => return Ok(Vec::new()),
        };
        let mut lines: Vec<TreeLine> = Vec::new();
        lines.extend(
            body.lines()
                .skip(from)
                .take(max)
                .map(|line| TreeLine::Body { text: inert(line).into_owned() }),
        );
        if lines.len() == max {
            return Ok(lines);
        }
        let from = from.saturating_sub(body.lines().count());
        let max = max - lines.len();
        let rows = match (level, id) {
            (Some(Level::Path), Some(id)) => {
                self.store.files.index.children_among(id, &self.open, from, max)?
            }
            _ => self.store.files.index.children(id, from, max)?,
        };
        for row in rows {
            lines.push(self.line(row)?);
        }
        Ok(lines)
    }

    fn size(&mut self, line: &TreeLine, depth: u32) -> Size {
        Size::of_lines(&written(line, depth))
    }
}

impl TreeOutline<'_> {
    fn line(&mut self, row: NodeRow) -> Result<TreeLine, StoreError> {
        let id = row.id.as_str();
        let mut level = self.store.state.level(self.view, id)?;
        let mut children = row.children;
        if level == Some(Level::Path) {
            children = self.store.files.index.count_among(id, &self.open)?;
            level = level.filter(|_| children > 0);
        }
        let body = match level {
            Some(level) => body_of(self.store, &row, level)?,
            None => String::new(),
        };
        let text = title_line(&row, level, children, self.form);
        Ok(TreeLine::Node { row: Box::new(row), level, body: body.into(), children, text })
    }
}

/// Writes the tree as a view shows it, as far as it fits in a share. Files of shown nodes that
/// other programs changed are read again first.
///
/// # Errors
/// The folder isn't readable.
pub fn tree(
    store: &mut Store,
    view: &str,
    share: &Share,
    form: TokenForm,
) -> Result<RenderedTree, StoreError> {
    let mut changes = store.files.refresh()?;
    let open = store.state.open_ids(view)?;
    let filled =
        |store: &mut Store| fill(&mut TreeOutline { store, view, form, open: open.clone() }, share);
    for _ in 1..PASSES {
        let filled = filled(store)?;
        let shown = nodes(&filled);
        let noticed = store.files.verify(shown.iter().map(|row| row.id.as_str()))?;
        if noticed.is_empty() {
            return rendered(store, filled, shown, changes);
        }
        changes.added.extend(noticed.added);
        changes.changed.extend(noticed.changed);
        changes.removed.extend(noticed.removed);
    }
    let filled = filled(store)?;
    let shown = nodes(&filled);
    rendered(store, filled, shown, changes)
}

fn rendered(
    store: &Store,
    filled: Filled<TreeLine>,
    shown: Vec<NodeRow>,
    changes: OutsideChanges,
) -> Result<RenderedTree, StoreError> {
    let hidden = if filled.is_cut { hidden(store, &filled)? } else { 0 };
    let lines = filled.lines.into_iter().map(|line| {
        let text = written(&line.content, line.depth);
        Line::new(SlotLine::Pieces(vec![Piece::Text(text)]), line.size).at(line.depth)
    });
    let section = RenderSection::new("tree", "Workspace tree", lines.collect()).hiding(hidden);
    Ok(RenderedTree { section, shown, changes })
}

/// Returns the lines that didn't fit: of what is expanded, those right below what is shown.
fn hidden(store: &Store, filled: &Filled<TreeLine>) -> Result<u64, StoreError> {
    let roots = store.files.index.child_count("")?;
    let mut all = roots;
    for line in &filled.lines {
        if let TreeLine::Node { level: Some(_), body, children, .. } = &line.content {
            all += children + body.lines().count() as u64;
        }
    }
    Ok(all.saturating_sub(filled.lines.len() as u64))
}

/// Writes the panel of views: the current one, the last used others, and how to work with them:
/// `command` makes of a call what can be pasted.
///
/// # Errors
/// The folder isn't readable.
pub fn views(
    store: &Store,
    current: &str,
    others: usize,
    command: impl Fn(&str) -> String,
) -> Result<RenderSection<SlotLine>, StoreError> {
    let views = views::all(store)?;
    let mut lines = Vec::new();
    if let Some(view) = views.iter().find(|view| view.name == current) {
        lines.push(text_line(format!("current: {}\n", view_line(view, usize::MAX)), 0));
    }
    let rest: Vec<&View> = views.iter().filter(|view| view.name != current).collect();
    for view in rest.iter().take(others) {
        lines.push(text_line(format!("- {}\n", view_line(view, OTHER_CHARS)), 1));
    }
    let hidden = rest.len().saturating_sub(others) as u64;
    let is_free = |name: &String| !views.iter().any(|view| view.name == *name);
    let free = (1..).map(|number| format!("view-{number}")).find(is_free).unwrap_or_default();
    let mut calls = vec![format!("create(\"{free}\", \"what it is for\")")];
    let others = || views.iter().map(|view| &view.name);
    if let Some(other) = others().filter(|name| *name != current).min() {
        calls.insert(0, format!("switch(\"{other}\")"));
    }
    if let Some(own) = others().filter(|name| *name != DEFAULT_VIEW).min() {
        calls.extend([format!("rename(\"{own}\", \"{free}\")"), format!("delete(\"{own}\")")]);
    }
    lines.extend(calls.iter().map(|call| text_line(command(call) + "\n", 1)));
    Ok(RenderSection::new("views", "Views", lines).hiding(hidden))
}

/// Writes what is known of the tree as a whole: no path, no user, no environment. `time` says when
/// it is, or when something changed last, and `version` which program shows it. Of broken files it
/// names so many.
///
/// # Errors
/// The index isn't readable.
pub fn environment(
    store: &Store,
    project: &str,
    view: &str,
    version: &str,
    time: Option<&str>,
    problems_max: usize,
) -> Result<RenderSection<SlotLine>, StoreError> {
    let total = store.files.index.total()?;
    let expanded = store.state.expanded(view)?;
    let nodes = if total == 1 { "node" } else { "nodes" };
    let mut line = format!("{} · {total} {nodes}, {expanded} expanded", inert(project));
    if !store.exists() {
        line += " · no .memotree yet: the first node makes it";
    }
    let mut meta = format!("Context UI {} · memotree {version}", pipemux_context::VERSION);
    if let Some(time) = time {
        meta += &format!(" · {time}");
    }
    let problems = store.files.index.problems(problems_max.saturating_add(1))?;
    let mut lines = vec![text_line(meta + "\n", 0), text_line(line + "\n", 0)];
    for row in problems.iter().take(problems_max) {
        let problem = row.problem.as_deref().unwrap_or_default();
        lines.push(text_line(format!("problem: {}: {}\n", row.id, inert(problem)), 1));
    }
    let hidden = problems.len().saturating_sub(problems_max) as u64;
    Ok(RenderSection::new("environment", "Environment", lines).hiding(hidden))
}
fn text_line(text: String, depth: u32) -> Line<SlotLine> {
    let size = Size::of_lines(&text);
    Line::new(SlotLine::Pieces(vec![Piece::Text(text)]), size).at(depth)
}

/// Writes what is known of a view: its name, its token, so many characters of what it is for, and
/// when that was written.
pub fn view_line(view: &View, chars: usize) -> String {
    let mut line = format!("{} {}", view.name, Token::new(TokenKind::View, &view.name));
    if !view.description.is_empty() {
        line += &format!(" · {}", inert(&clipped(&view.description, chars)));
    }
    if let Some(day) = &view.changed_day {
        line += &format!(" · changed {day}");
    }
    if let Some(problem) = &view.problem {
        line += &format!(" · {}", inert(problem));
    }
    line
}

fn nodes(filled: &Filled<TreeLine>) -> Vec<NodeRow> {
    let nodes = filled.lines.iter().filter_map(|line| match &line.content {
        TreeLine::Node { row, .. } => Some((**row).clone()),
        TreeLine::Body { .. } => None,
    });
    nodes.collect()
}

fn written(line: &TreeLine, depth: u32) -> String {
    let indent = "  ".repeat(depth as usize);
    match line {
        TreeLine::Node { text, .. } => format!("{indent}- {text}\n"),
        TreeLine::Body { text } if text.is_empty() => "\n".to_owned(),
        TreeLine::Body { text } => format!("{indent}{text}\n"),
    }
}

/// Writes the title line of a node, without its indent. `children` of its children are shown below
/// it if it is expanded. One that is folded tells what it is about.
fn title_line(row: &NodeRow, level: Option<Level>, children: u64, form: TokenForm) -> String {
    let token = Token::new(TokenKind::Node, row.id.as_str());
    let title = inert(&row.title);
    let mut line = match (level, form) {
        (Some(_), TokenForm::Long) => format!("[{title}] [{}] {token}", row.id),
        _ => format!("{title} {token}"),
    };
    match level {
        None if row.children > 0 => line += &format!(" · {}", counted(row.children, "node")),
        Some(Level::Path) if children < row.children => {
            line += &format!(" · {children} of {}", counted(row.children, "node"));
        }
        _ => {}
    }
    // That there is one line is what one expects.
    if level != Some(Level::Full) && row.lines > 1 {
        line += &format!(" · {}", counted(row.lines, "line"));
    }
    if level.is_none() && !row.gist.is_empty() {
        line += &format!(" · {}", inert(&clipped(&row.gist, FOLDED_GIST_CHARS)));
    }
    if level.is_some() {
        row.tags.iter().for_each(|tag| line += &format!(" #{}", inert(tag)));
    }
    if let Some(problem) = &row.problem {
        line += &format!(" · {}", inert(problem));
    }
    line
}

/// Returns a text, cut to so many characters.
fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns what is shown below the title of a node at a level.
fn body_of(store: &mut Store, row: &NodeRow, level: Level) -> Result<String, StoreError> {
    let mut body = String::new();
    if !row.gist.is_empty() {
        body = format!("{}\n", row.gist);
    }
    if level <= Level::Gist || (level == Level::Summary && !row.has_summary) {
        return Ok(body);
    }
    let (summary, text) = match store.files.text(row.id.as_str()) {
        Ok(texts) => texts,
        // It costs this node only.
        Err(StoreError::Folder(_) | StoreError::NoNode { .. }) => return Ok(body),
        Err(error) => return Err(error),
    };
    if !summary.is_empty() {
        body += &format!("{summary}\n");
    }
    if level == Level::Full {
        body += &text;
    }
    Ok(body)
}
