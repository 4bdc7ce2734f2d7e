//! What changed in a window since a reader saw it.

use pipemux_proto::tokens;
use similar::{Algorithm, ChangeTag, TextDiff};

use super::inert;
use super::window::{Line, Rendered};
use crate::limits::DIFF_LINES_MAX;

/// What to show of a window after an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Nothing of it changed.
    Same,
    /// Heading and changed lines.
    Lines(String),
    /// So much changed that the whole window is shorter to read.
    Whole,
}

/// Compares a window with what the reader last had. Lines that vanished are shown when `removed` is
/// set: others' changes, never the reader's own.
pub fn delta(seen: &Rendered, now: &Rendered, removed: bool) -> Delta {
    let head_same = seen.heading == now.heading && seen.nav == now.nav;
    if head_same && texts(seen) == texts(now) {
        return Delta::Same;
    }
    if seen.lines.len().max(now.lines.len()) > DIFF_LINES_MAX {
        return Delta::Whole;
    }
    let mut out = format!("{}\n", now.heading);
    if seen.nav != now.nav && !now.nav.is_empty() {
        out += &now.nav;
        out.push('\n');
    }
    // The daemon's own fences are no content: one must not pass for a line that looks like it.
    let (before, after) = (content(seen), content(now));
    let old: Vec<&str> = before.iter().map(|line| line.text.as_str()).collect();
    let new: Vec<&str> = after.iter().map(|line| line.text.as_str()).collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&old, &new);
    let mut shown = 0;
    for change in diff.iter_all_changes() {
        let (sign, line) = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete if !removed => continue,
            ChangeTag::Delete => ('-', change.old_index().and_then(|i| before.get(i))),
            ChangeTag::Insert => ('+', change.new_index().and_then(|i| after.get(i))),
        };
        if let Some(line) = line {
            out += &signed(sign, line);
            shown += 1;
        }
    }
    // Whichever is shorter; what others took away is worth as much again. A diff that repeats most of a window is also harder to read than it.
    let repeats = shown > 8 && shown * 4 > now.lines.len() * 3;
    if repeats || (shown > 0 && tokens::estimate(&out) > now.tokens * if removed { 2 } else { 1 }) {
        Delta::Whole
    } else {
        Delta::Lines(out)
    }
}

fn texts(rendered: &Rendered) -> Vec<&str> {
    rendered.lines.iter().map(|line| line.text.as_str()).collect()
}

fn content(rendered: &Rendered) -> Vec<&Line> {
    rendered.lines.iter().filter(|line| !line.fence).collect()
}

fn signed(sign: char, line: &Line) -> String {
    // Exact text stands here without its fence.
    let text = if line.exact { inert::line(&line.text) } else { line.text.clone() };
    match line.number {
        Some(number) => format!("{sign}{number}\t{text}\n"),
        None => format!("{sign} {text}\n"),
    }
}
