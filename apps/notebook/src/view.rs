//! Showing entries within a budget.

use docui::{Anchor, Fault, Lod, Look, View, tokens};

use crate::action::Action;
use crate::app::Notebook;
use crate::block::{Block, head};
use crate::entry::{Level, count, key};
use crate::shown::quoted;
use crate::store::{Row, Selection};
use crate::words;

/// Tokens of the one line of level of detail `Gist`.
const GIST: u64 = 60;
/// Tokens kept for saying what was cut.
const RESERVE: u64 = 30;
/// Entries read for one view at most.
const ROWS_MAX: u64 = 2000;
/// Bytes of one view, so that with its anchors it fits one frame whatever the budget.
const BYTES_MAX: usize = 700 * 1024;
/// Lines and characters a line of the summary that is made of a text's beginning.
const HEAD_LINES: usize = 2;
const HEAD_CHARS: usize = 160;

/// Shows a notebook.
pub fn view(notebook: &Notebook, look: &Look) -> View {
    Page::new(notebook, look).and_then(|page| page.build()).unwrap_or_else(|fault| {
        let mut view = View::new("unreadable");
        view.text(fault.message);
        fault.hints.iter().for_each(|hint| {
            view.text(format!("\n{hint}"));
        });
        view
    })
}

struct Page<'a> {
    notebook: &'a Notebook,
    selection: Selection,
    lod: Lod,
    budget: u64,
    total: u64,
    count: u64,
    tokens: u64,
}

impl<'a> Page<'a> {
    fn new(notebook: &'a Notebook, look: &Look) -> Result<Self, Fault> {
        let selection = notebook.shown.selection();
        let (count, tokens) = notebook.store.count(&selection)?;
        let total = notebook.store.total()?;
        let (lod, budget) = (look.lod, look.budget);
        Ok(Self { notebook, selection, lod, budget, total, count, tokens })
    }

    fn build(&self) -> Result<View, Fault> {
        let (blocks, spent) = match self.lod {
            Lod::Gist => self.gist()?,
            Lod::Summary | Lod::Full => self.entries()?,
        };
        let mut view = View::new(self.title(blocks.len() as u64));
        if self.notebook.shown.is_narrowed() {
            view.nav("show all", &Action::ShowAll {});
        }
        if self.lod == Lod::Summary && self.notebook.shown.is_focused() {
            view.nav("all as summaries", &Action::Focus { entries: Vec::new() });
        }
        view.hidden((self.tokens + 10 * self.count).saturating_sub(spent));
        let shown = blocks.len() as u64;
        let mut in_line = false;
        if self.lod == Lod::Gist && shown > 0 {
            view.text(if self.selection.query.is_some() { "best: " } else { "newest: " });
        }
        for Shape { block, compact } in blocks {
            match (in_line, compact) {
                (true, true) => view.text(" "),
                (true, false) => view.text("\n"),
                (false, _) => &mut view,
            };
            in_line = compact;
            block.put(&mut view);
        }
        if in_line {
            view.text("\n");
        }
        if let Some(rest) = self.rest(shown) {
            view.text(rest);
        }
        Ok(view)
    }

    fn title(&self, shown: u64) -> String {
        let all = count(self.total, "entry");
        match self.notebook.shown.describe() {
            what if !what.is_empty() => format!("{} of {all} · {what}", self.count),
            _ if shown < self.count => format!("{shown} of {all}"),
            _ => all,
        }
    }

    /// What stands below the entries: why there are none, or how to see the others.
    fn rest(&self, shown: u64) -> Option<String> {
        let notebook = self.notebook;
        if self.total == 0 {
            let call = notebook.call("add(\"title\", text=stdin)");
            return Some(format!("No entries yet. pipemux run '{call}' < file\n"));
        }
        if self.count == 0 {
            let what = match notebook.shown.query.as_str() {
                "" => notebook.shown.describe(),
                query => quoted(query),
            };
            return Some(format!("0 results for {what}\n"));
        }
        let more = self.count.checked_sub(shown).filter(|more| *more > 0)?;
        Some(match (self.lod, notebook.shown.is_narrowed()) {
            (Lod::Gist, _) => return None,
            (_, false) => {
                format!("… {more} more: pipemux run '{}'\n", notebook.call("search(\"…\")"))
            }
            (_, true) => {
                let budget = self.budget.saturating_mul(4).max(1000);
                format!("… {more} more: pipemux view {} --budget {budget}\n", notebook.address())
            }
        })
    }

    fn gist(&self) -> Result<(Vec<Shape>, u64), Fault> {
        let mut fit = Fit::new(self.budget.min(GIST));
        for id in self.notebook.store.ids(&self.selection, GIST / 8)? {
            let Some(row) = self.notebook.store.get(id)? else { continue };
            if !fit.add(Shape { block: title(&row), compact: true }) {
                break;
            }
        }
        Ok((fit.shapes, fit.spent))
    }

    fn entries(&self) -> Result<(Vec<Shape>, u64), Fault> {
        let limit = (self.budget / 8 + 1).min(ROWS_MAX);
        let ids = self.notebook.store.ids(&self.selection, limit)?;
        let reserve = if self.count > 1 { RESERVE } else { 0 };
        let mut fit = Fit::new(self.budget.saturating_sub(reserve));
        let last = ids.len().saturating_sub(1);
        for (index, id) in ids.into_iter().enumerate() {
            // Read one by one: what doesn't fit isn't read.
            let Some(row) = self.notebook.store.get(id)? else { continue };
            // One long text leaves some room for what follows.
            let room = if index == last { fit.left() } else { fit.left() * 3 / 4 };
            let shape = self.entry(&row, room, fit.bytes_left())?;
            if !fit.add(shape) && !fit.add(Shape { block: title(&row), compact: true }) {
                break;
            }
        }
        Ok((fit.shapes, fit.spent))
    }

    fn entry(&self, row: &Row, room: u64, bytes: usize) -> Result<Shape, Fault> {
        let own = self.notebook.shown.level(row.id);
        let level = if self.lod == Lod::Full { Level::Full } else { own };
        match (level, &self.selection.query) {
            (Level::Full, _) => self.full(row, own, room, bytes),
            (_, Some(query)) => {
                let text = self.notebook.store.text(row.id)?.unwrap_or_default();
                let line = words::snippet(&text, query).or_else(|| lead(&text).0.pop());
                let mut block = heading(row);
                block.link("expand", expand(row));
                block.text("\n");
                line.into_iter().for_each(|line| block.text(format!("  {line}\n")));
                Ok(Shape { block, compact: false })
            }
            (Level::Summary, None) => Ok(summary(row)),
            (Level::Gist, None) if row.gist.is_empty() => {
                Ok(Shape { block: title(row), compact: true })
            }
            (Level::Gist, None) => {
                let mut block = title(row);
                block.text(format!(" {}{}\n", row.gist, outdated(row)));
                Ok(Shape { block, compact: false })
            }
        }
    }

    fn full(&self, row: &Row, own: Level, room: u64, bytes: usize) -> Result<Shape, Fault> {
        let text = self.notebook.store.text(row.id)?.unwrap_or_default();
        let mut block = heading(row);
        if own == Level::Full {
            block.link("fold", Action::Fold { entry: Anchor::new(key(row.id), row.rev) });
        }
        block.text("\n");
        if !row.origin.is_empty() {
            block.text(format!("from {}\n", row.origin));
        }
        let more = format!(": pipemux read obj:{}:{}\n", self.notebook.address(), key(row.id));
        let spare = block.cost() + tokens::estimate(&more) + 12;
        let room = if tokens::estimate(&text) + spare <= room { u64::MAX } else { room };
        let (shown, left) = head(&text, room.saturating_sub(spare), bytes.saturating_sub(4096));
        match (shown.is_empty(), left) {
            (false, _) => block.code(shown),
            (true, 0) => {}
            // A heading alone says less than the beginning in short.
            (true, _) => return Ok(summary(row)),
        }
        if left > 0 {
            block.text(format!("… {left} of {} more{more}", count(row.lines, "line")));
        }
        Ok(Shape { block, compact: false })
    }
}

/// What one entry is shown as.
struct Shape {
    block: Block,
    /// True when it stands in one line with others.
    compact: bool,
}

/// What was added so far, and the room that is left.
struct Fit {
    shapes: Vec<Shape>,
    budget: u64,
    spent: u64,
    bytes: usize,
}

impl Fit {
    fn new(budget: u64) -> Self {
        Self { shapes: Vec::new(), budget, spent: 0, bytes: 0 }
    }

    fn left(&self) -> u64 {
        self.budget.saturating_sub(self.spent)
    }

    fn bytes_left(&self) -> usize {
        BYTES_MAX.saturating_sub(self.bytes)
    }

    /// Adds what fits; the first entry's title is added in any case.
    fn add(&mut self, shape: Shape) -> bool {
        let first = self.shapes.is_empty() && shape.compact;
        if !first && (shape.block.cost() > self.left() || shape.block.bytes() > self.bytes_left()) {
            return false;
        }
        self.spent += shape.block.cost();
        self.bytes += shape.block.bytes();
        self.shapes.push(shape);
        true
    }
}

fn title(row: &Row) -> Block {
    let mut block = Block::default();
    block.entry(key(row.id), row.rev, &row.title);
    block
}

fn heading(row: &Row) -> Block {
    let mut block = title(row);
    let tags = if row.tags.is_empty() { "" } else { " · " };
    block.text(format!(" {}{tags}{}", count(row.lines, "line"), row.tags.join(", ")));
    block
}

fn summary(row: &Row) -> Shape {
    let mut block = heading(row);
    let (lines, whole) = match row.summary.is_empty() {
        true => lead(&row.head),
        false => (row.summary.lines().map(Into::into).collect(), false),
    };
    // Nothing more to see: no link. Blank lines aside, what is shown is the text.
    if !(whole && row.lines <= HEAD_LINES as u64) {
        block.link("expand", expand(row));
    }
    block.text("\n");
    for line in lines {
        block.text(format!("  {line}\n"));
    }
    if !row.summary.is_empty() && row.outdated {
        block.text(format!(" {}\n", outdated(row)));
    }
    Shape { block, compact: false }
}

/// The first lines of a text that say something, and whether none of them was cut.
fn lead(text: &str) -> (Vec<String>, bool) {
    let mut whole = true;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(HEAD_LINES);
    let lines = lines.map(|line| match line.char_indices().nth(HEAD_CHARS) {
        None => line.to_owned(),
        Some((at, _)) => {
            whole = false;
            format!("{}…", &line[..at])
        }
    });
    (lines.collect(), whole)
}

fn expand(row: &Row) -> Action {
    Action::Expand { entry: Anchor::new(key(row.id), row.rev) }
}

fn outdated(row: &Row) -> &'static str {
    if row.outdated { " (of an earlier text)" } else { "" }
}
