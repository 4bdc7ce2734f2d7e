//! A screenful of the current file. Costs as much as it shows, however long the file is.

mod text;

use std::ops::Range;

use docui::{Line, Lod, Look, Object, View, tokens};

use crate::action::Action;
use crate::limits::{PAGE, SPOT_LINES};
use crate::model::Editor;
use crate::model::file::{File, OnDisk};

pub(crate) use text::{language, match_row, readable, visible};

/// About what a link or an anchor costs beside its label.
const ANCHOR_TOKENS: u64 = 7;
/// Tokens that a byte is taken for when nothing is shown to measure by: one for four.
const BYTES_A_TOKEN: u64 = 4;

/// Lines that are shown, and what they cost.
#[derive(Debug, Default)]
struct Shown {
    lines: Range<usize>,
    text: String,
    tokens: u64,
}

impl Editor {
    pub(crate) fn show(&self, look: &Look) -> View {
        let Some(file) = self.current() else { return self.show_nothing() };
        let mut view = View::new(self.title(file));
        view.bind("file", self.object(file)).focus(file.key());
        view.custom("path", file.path().display().to_string());
        view.custom("lines", file.buffer().lines());
        view.custom("unsaved", file.is_unsaved());
        self.bind_selection(&mut view);
        if look.lod == Lod::Gist {
            view.hidden(cost(file.buffer().len() as u64, &Shown::default()));
            return view;
        }
        let mut spent = tokens::estimate(&self.title(file)) + 4 * ANCHOR_TOKENS;
        let lists = look.budget / 2;
        self.list_open(&mut view, &mut spent, lists);
        self.list_found(&mut view, file, &mut spent, lists);
        let room = look.budget.saturating_sub(spent);
        let shown = match look.lod {
            Lod::Full => page(file, usize::MAX, room),
            _ => page(file, PAGE, room),
        };
        self.links(&mut view, file, &shown.lines);
        let language = language(file.path());
        if !shown.lines.is_empty() {
            view.lines(&language, shown.lines.start as u64 + 1, shown.text.clone());
        }
        let mut left = room.saturating_sub(shown.tokens);
        for spot in spots(file, &shown.lines) {
            let spot = lines(file, spot, left);
            left = left.saturating_sub(spot.tokens);
            if !spot.lines.is_empty() {
                view.lines(&language, spot.lines.start as u64 + 1, spot.text);
            }
        }
        view.position(match (shown.lines.len(), file.buffer().lines()) {
            (_, 0) => "empty".to_owned(),
            (0, _) => format!("at line {}", file.top + 1),
            (1, _) => format!("line {}", shown.lines.end),
            _ => format!("lines {}-{}", shown.lines.start + 1, shown.lines.end),
        });
        let bytes = file.buffer().bytes_of(&shown.lines).len();
        view.hidden(cost(file.buffer().len().saturating_sub(bytes) as u64, &shown));
        view
    }

    fn show_nothing(&self) -> View {
        let mut view = View::new("no file");
        view.text(format!("Nothing is open: {} <path>…\n", self.open_command("")));
        view.only(["open"]);
        view
    }

    fn title(&self, file: &File) -> String {
        let lines = match file.buffer().lines() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let state = if file.is_unsaved() { "unsaved" } else { "saved" };
        let disk = match file.on_disk() {
            OnDisk::Same => "",
            OnDisk::Changed => " · changed on disk",
            OnDisk::Deleted => " · deleted on disk",
            OnDisk::Unusable(_) => " · changed on disk to what can't be opened",
        };
        format!("{} · {lines} · {state}{disk}", readable(&self.shown(file.path())))
    }

    fn object(&self, file: &File) -> Object {
        Object::new(file.key(), readable(&self.shown(file.path()))).ty("file")
    }

    fn bind_selection(&self, view: &mut View) {
        if let Some((object, _)) = self.selection_object() {
            view.bind("selection", object);
        }
    }

    fn selection_object(&self) -> Option<(Object, String)> {
        let key = self.selection.as_deref()?;
        let find = |file: &File| file.marks.get(key).filter(|mark| mark.gone.is_none()).cloned();
        let (index, mark) =
            self.files.iter().enumerate().find_map(|(index, file)| Some((index, find(file)?)))?;
        let buffer = self.files[index].buffer();
        let lines =
            buffer.line_at(mark.bytes.start)..buffer.line_at(mark.bytes.end.saturating_sub(1)) + 1;
        let label = readable(&self.place_name(index, &lines));
        Some((Object::new(key, label.clone()).ty("selection").rev(mark.rev), label))
    }

    fn list_open(&self, view: &mut View, spent: &mut u64, most: u64) {
        if self.files.len() > 1 {
            for (index, file) in self.files.iter().enumerate() {
                let current = self.current.as_deref() == Some(file.path());
                let marks = [(current, " current"), (file.is_unsaved() && !current, " unsaved")];
                let mark: String =
                    marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
                let before = if index > 0 { " · " } else { "" };
                if *spent > most && index > 0 {
                    view.text(format!(" and {} more", self.files.len() - index));
                    break;
                }
                *spent += tokens::estimate(&self.shown(file.path())) + ANCHOR_TOKENS + 2;
                view.text(before).object(self.object(file)).text(mark);
            }
            view.text("\n");
        }
        if let Some((object, label)) = self.selection_object() {
            *spent += tokens::estimate(&label) + ANCHOR_TOKENS + 3;
            view.text("selection: ").object(object).text("\n");
        }
    }

    fn list_found(&self, view: &mut View, file: &File, spent: &mut u64, most: u64) {
        let listing = self.listing.as_ref().filter(|l| l.shown && l.path == file.path());
        let Some(listing) = listing else { return };
        let buffer = file.buffer();
        let marks = listing.keys.iter().filter_map(|key| file.marks.get(key));
        let marks: Vec<_> = marks.filter(|mark| mark.gone.is_none()).collect();
        let lines: Vec<_> = marks.iter().map(|mark| buffer.line_at(mark.bytes.start)).collect();
        let mut more = listing.more + marks.len();
        for (index, mark) in marks.iter().enumerate() {
            let line = lines[index];
            let several = lines.iter().filter(|other| **other == line).count() > 1;
            let label = format!("line {}", line + 1);
            let row = format!(" {}\n", match_row(buffer, &mark.bytes, several));
            let cost = tokens::estimate(&label) + tokens::estimate(&row) + ANCHOR_TOKENS;
            if *spent + cost > most {
                break;
            }
            more -= 1;
            *spent += cost;
            view.object(Object::new(&*mark.key, label).ty("match").rev(mark.rev)).text(row);
        }
        if more > 0 {
            view.text(format!("{more} more {}\n", if more == 1 { "match" } else { "matches" }));
        }
    }

    fn links(&self, view: &mut View, file: &File, shown: &Range<usize>) {
        let goto = |line: usize| Action::Goto { line: Line::Number(line as i64 + 1) };
        if shown.start > 0 && !shown.is_empty() {
            view.nav("previous page", &goto(shown.start.saturating_sub(shown.len())));
        }
        if shown.end < file.buffer().lines() && !shown.is_empty() {
            view.nav("next page", &goto(shown.end));
        }
        if let Some(change) = file.history().undoable().next() {
            view.nav("undo", &Action::Undo { steps: 1, change: Some(change.id.clone()) });
        }
        if let Some(change) = file.history().redoable().next() {
            view.nav("redo", &Action::Redo { steps: 1, change: Some(change.id.clone()) });
        }
        if file.is_unsaved() || *file.on_disk() == OnDisk::Deleted {
            view.nav("save", &Action::Save {});
        }
    }
}

/// Lines from the top of the view on, and some above when the end is reached early.
fn page(file: &File, most: usize, room: u64) -> Shown {
    let all = file.buffer().lines();
    let top = file.top.min(all.saturating_sub(1));
    let mut shown = lines(file, top..all.min(top.saturating_add(most)), room);
    if shown.lines.end < all || shown.lines.is_empty() {
        return shown;
    }
    let mut above = Vec::new();
    while shown.lines.start > 0 && shown.lines.len() < most {
        let (line, tokens) = shown_line(file, shown.lines.start - 1);
        if shown.tokens + tokens > room {
            break;
        }
        shown.tokens += tokens;
        shown.lines.start -= 1;
        above.push(line);
    }
    let above: String = above.into_iter().rev().collect();
    shown.text.insert_str(0, &above);
    shown
}

/// As many of the lines as there is room for.
fn lines(file: &File, wanted: Range<usize>, room: u64) -> Shown {
    let mut shown = Shown { lines: wanted.start..wanted.start, ..Shown::default() };
    for line in wanted {
        let (text, tokens) = shown_line(file, line);
        if shown.tokens + tokens > room {
            break;
        }
        shown.text += &text;
        shown.tokens += tokens;
        shown.lines.end += 1;
    }
    shown
}

fn shown_line(file: &File, line: usize) -> (String, u64) {
    let text = visible(file, line) + "\n";
    let tokens = tokens::estimate(&format!("{}\t{text}", line + 1));
    (text, tokens)
}

/// What the last change altered out of view.
fn spots(file: &File, shown: &Range<usize>) -> Vec<Range<usize>> {
    let mut left = SPOT_LINES;
    let mut spots: Vec<Range<usize>> = Vec::new();
    let all = file.buffer().lines();
    for spot in &file.spots {
        let before = spot.start..spot.end.min(shown.start);
        let behind = spot.start.max(shown.end)..spot.end.min(all);
        for part in [before, behind] {
            let part = part.start..part.end.min(part.start.saturating_add(left));
            if part.is_empty() || left == 0 {
                continue;
            }
            left -= part.len();
            match spots.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                _ => spots.push(part),
            }
        }
    }
    spots
}

/// About what the bytes that aren't shown would cost, measured by those that are.
fn cost(hidden: u64, shown: &Shown) -> u64 {
    match shown.text.len() as u64 {
        0 => hidden / BYTES_A_TOKEN,
        bytes => hidden.saturating_mul(shown.tokens) / bytes,
    }
}
