//! Shows entries within a budget.

use docui::{Anchor, Fault, Lod, View, ViewRequest, tokens};
use pipemux_notes::text::count;

use crate::action::Action;
use crate::block::{Block, FENCE_COST, head};
use crate::entry::{Level, key};
use crate::model::Notebook;
use crate::store::Row;

/// Budget in tokens of the one line at the level of detail `Gist`.
const GIST_TOKENS: u64 = 60;
/// Tokens reserved for the line that says what was cut.
const CUT_NOTE_TOKENS: u64 = 30;
/// Most entries that are read for one view.
const ROWS_MAX: u64 = 2000;
/// Most bytes of one view without its anchors, so that it fits into one frame whatever the budget.
const BYTES_MAX: usize = 700 * 1024;
/// Most lines of the summary that is made from the beginning of a text.
const LEAD_LINES: usize = 2;
/// Most characters in each of these lines.
const LEAD_CHARS: usize = 160;

/// Renders a notebook. If the store can't be read, readers are shown why.
pub fn view(notebook: &Notebook, request: &ViewRequest) -> View {
    Renderer::new(notebook, request)
        .and_then(|renderer| renderer.render())
        .unwrap_or_else(View::unreadable)
}

/// The data for rendering a view: the notebook and the request.
struct Renderer<'a> {
    notebook: &'a Notebook,
    lod: Lod,
    budget: u64,
    /// The number of entries in the store.
    total: u64,
    /// About how many tokens the texts of all entries take.
    tokens: u64,
}

impl<'a> Renderer<'a> {
    fn new(notebook: &'a Notebook, request: &ViewRequest) -> Result<Self, Fault> {
        let (total, tokens) = (notebook.store.total()?, notebook.store.tokens()?);
        let (lod, budget) = (request.lod, request.budget);
        Ok(Self { notebook, lod, budget, total, tokens })
    }

    fn render(&self) -> Result<View, Fault> {
        let (blocks, spent) = match self.lod {
            Lod::Gist => self.gist()?,
            Lod::Summary | Lod::Full => self.entries()?,
        };
        let mut view = View::new(self.title(blocks.len() as u64));
        if self.lod == Lod::Summary && self.notebook.view_state.is_focused() {
            view.nav("all as summaries", &Action::Focus { entries: Vec::new() });
        }
        view.hidden((self.tokens + 10 * self.total).saturating_sub(spent));
        if let Some(note) = self.notebook.store.database.put_back_note() {
            view.text(format!("{note}\n"));
        }
        let shown = blocks.len() as u64;
        let mut after_inline = false;
        if self.lod == Lod::Gist && shown > 0 {
            view.text("newest: ");
        }
        for EntryBlock { block, inline } in blocks {
            match (after_inline, inline) {
                (true, true) => view.text(" "),
                (true, false) => view.text("\n"),
                (false, _) => &mut view,
            };
            after_inline = inline;
            block.add_to(&mut view);
        }
        if after_inline {
            view.text("\n");
        }
        if let Some(rest) = self.rest(shown) {
            view.text(rest);
        }
        Ok(view)
    }

    fn title(&self, shown: u64) -> String {
        let all = count(self.total, "entry");
        if shown < self.total { format!("{shown} of {all}") } else { all }
    }

    /// Returns the line below the entries: why there are none, or how to see the others.
    fn rest(&self, shown: u64) -> Option<String> {
        let notebook = self.notebook;
        if self.total == 0 {
            let call = notebook.call("add(\"title\", text=stdin)");
            return Some(format!("No entries yet. pipemux run '{call}' < file\n"));
        }
        let more = self.total.checked_sub(shown).filter(|more| *more > 0)?;
        match self.lod {
            Lod::Gist => None,
            _ => Some(format!("… {more} more: pipemux ask '{}'\n", notebook.call("show()"))),
        }
    }

    /// Returns the ids of the entries to show: those in focus first, then the newest.
    fn ids(&self, limit: u64) -> Result<Vec<i64>, Fault> {
        let store = &self.notebook.store;
        let mut ids = self.notebook.view_state.focused();
        let newest = store.newest(limit)?;
        ids.extend(newest.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
        Ok(ids)
    }

    /// Returns the titles that fit into one line, and the tokens that they take.
    fn gist(&self) -> Result<(Vec<EntryBlock>, u64), Fault> {
        let mut list = BlockList::new(self.budget.min(GIST_TOKENS));
        for id in self.ids(GIST_TOKENS / 8)? {
            let Some(row) = self.notebook.store.get(id)? else { continue };
            if !list.add(EntryBlock { block: title(&row), inline: true }) {
                break;
            }
        }
        Ok((list.blocks, list.spent))
    }

    /// Returns the entries that fit into the budget, and the tokens that they take.
    fn entries(&self) -> Result<(Vec<EntryBlock>, u64), Fault> {
        let limit = (self.budget / 8 + 1).min(ROWS_MAX);
        let ids = self.ids(limit)?;
        let reserve = if self.total > 1 { CUT_NOTE_TOKENS } else { 0 };
        let mut list = BlockList::new(self.budget.saturating_sub(reserve));
        let last = ids.len().saturating_sub(1);
        for (index, id) in ids.into_iter().enumerate() {
            // Entries are read one by one, so that those that don't fit aren't read.
            let Some(row) = self.notebook.store.get(id)? else { continue };
            // One long text must leave some room for the entries after it.
            let room = if index == last { list.left() } else { list.left() * 3 / 4 };
            let block = self.entry(&row, room, list.bytes_left())?;
            if !list.add(block)
                && !list.add(summary(&row))
                && !list.add(EntryBlock { block: title(&row), inline: true })
            {
                break;
            }
        }
        Ok((list.blocks, list.spent))
    }

    /// Renders an entry at its level, in about `room` tokens and at most `bytes` bytes.
    fn entry(&self, row: &Row, room: u64, bytes: usize) -> Result<EntryBlock, Fault> {
        let own = self.notebook.view_state.level(row.id);
        let level = if self.lod == Lod::Full { Level::Full } else { own };
        match level {
            Level::Full => self.full(row, own, room, bytes),
            Level::Summary => Ok(summary(row)),
            Level::Gist if row.gist.is_empty() => {
                Ok(EntryBlock { block: title(row), inline: true })
            }
            Level::Gist => {
                let mut block = title(row);
                block.text(format!(" {}{}\n", row.gist, outdated(row.outdated.gist)));
                Ok(EntryBlock { block, inline: false })
            }
        }
    }

    /// Renders an entry with its text, which is cut to fit. `own` is the level that the entry has
    /// of itself; when the whole view is at level `Full`, it may be lower.
    fn full(&self, row: &Row, own: Level, room: u64, bytes: usize) -> Result<EntryBlock, Fault> {
        let text = self.notebook.store.text(row.id)?.unwrap_or_default();
        let mut block = heading(row);
        if own == Level::Full {
            block.link(
                "collapse",
                Action::Collapse { entries: vec![Anchor::new(key(row.id), row.rev)] },
            );
        }
        block.text("\n");
        if !row.origin.is_empty() {
            block.text(format!("from {}\n", row.origin));
        }
        let more = |left: u64| {
            let lines = count(row.lines, "line");
            let read = format!("pipemux read obj:{}:{}", self.notebook.address(), key(row.id));
            format!("… {left} of {lines} more: {read}\n")
        };
        // No number of lines that are left out takes more room than that of all lines.
        let spare = block.cost() + FENCE_COST + tokens::estimate(&more(row.lines)) + 1;
        let room = if tokens::estimate(&text) + spare <= room { u64::MAX } else { room };
        let (shown, left) = head(&text, room.saturating_sub(spare), bytes.saturating_sub(4096));
        match (shown.is_empty(), left) {
            (false, _) => block.code(shown),
            (true, 0) => {}
            // If no line of the text fits, a summary says more than the heading alone.
            (true, _) => return Ok(summary(row)),
        }
        if left > 0 {
            block.text(more(left));
        }
        Ok(EntryBlock { block, inline: false })
    }
}

struct EntryBlock {
    block: Block,
    /// True when it is shown in one line with its neighbours.
    inline: bool,
}

/// The entries added so far, within the limits of a view.
struct BlockList {
    blocks: Vec<EntryBlock>,
    budget: u64,
    spent: u64,
    bytes: usize,
}

impl BlockList {
    fn new(budget: u64) -> Self {
        Self { blocks: Vec::new(), budget, spent: 0, bytes: 0 }
    }

    fn left(&self) -> u64 {
        self.budget.saturating_sub(self.spent)
    }

    fn bytes_left(&self) -> usize {
        BYTES_MAX.saturating_sub(self.bytes)
    }

    /// Adds an entry if it fits, and returns whether it did. The first one is added in any case if
    /// it is only a title.
    fn add(&mut self, entry: EntryBlock) -> bool {
        let always = self.blocks.is_empty() && entry.inline;
        let fits = entry.block.cost() <= self.left() && entry.block.bytes() <= self.bytes_left();
        if !always && !fits {
            return false;
        }
        self.spent += entry.block.cost();
        self.bytes += entry.block.bytes();
        self.blocks.push(entry);
        true
    }
}

fn title(row: &Row) -> Block {
    let mut block = Block::default();
    block.entry(row);
    block
}

fn heading(row: &Row) -> Block {
    let mut block = title(row);
    let tags = if row.tags.is_empty() { "" } else { " · " };
    // Of an entry that holds only bytes it is said already how many.
    let lines = match row.lines == 0 && row.media.is_some() {
        true => String::new(),
        false => format!(" {}", count(row.lines, "line")),
    };
    block.text(format!("{lines}{tags}{}", row.tags.join(", ")));
    block
}

fn summary(row: &Row) -> EntryBlock {
    let mut block = heading(row);
    let (lines, whole) = match row.summary.is_empty() {
        true => lead(&row.head),
        false => (row.summary.lines().map(Into::into).collect(), false),
    };
    // If the whole text is shown, apart from blank lines, there is nothing to expand.
    if !(whole && row.lines <= LEAD_LINES as u64) {
        block.link("expand", expand(row));
    }
    block.text("\n");
    for line in lines {
        block.text(format!("  {line}\n"));
    }
    if !row.summary.is_empty() && row.outdated.summary {
        block.text(format!(" {}\n", outdated(true)));
    }
    EntryBlock { block, inline: false }
}

/// Returns the first lines of a text that are not blank, and whether none of them was cut.
fn lead(text: &str) -> (Vec<String>, bool) {
    let mut whole = true;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LEAD_LINES);
    let lines = lines.map(|line| match line.char_indices().nth(LEAD_CHARS) {
        None => line.to_owned(),
        Some((at, _)) => {
            whole = false;
            format!("{}…", &line[..at])
        }
    });
    (lines.collect(), whole)
}

fn expand(row: &Row) -> Action {
    let entries = vec![Anchor::new(key(row.id), row.rev)];
    Action::Expand { entries, level: None }
}

fn outdated(is_outdated: bool) -> &'static str {
    if is_outdated { " (outdated)" } else { "" }
}
