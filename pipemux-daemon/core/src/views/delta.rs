//! The changes of a window since a reader saw it.

use similar::{Algorithm, ChangeTag, TextDiff};

use crate::limits::DIFF_LINES_MAX;
use crate::views::inert;
use crate::workspaces::Rendered;
use crate::workspaces::content::Line;

/// What to show of a window after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Nothing: it didn't change.
    Same,
    /// Its heading and the changed lines.
    Lines(String),
    /// The complete window: so much changed that this is shorter to read.
    Whole,
}

/// Compares a window with what the reader saw last. Lines that vanished are shown when `removed` is set: for
/// changes by others, and for what an undo took back.
pub fn delta(seen: &Rendered, now: &Rendered, removed: bool) -> Delta {
    // Lines that are equal in two documents aren't unchanged lines, and their numbers name other lines.
    if seen.document != now.document {
        return Delta::Whole;
    }
    if seen.heading == now.heading && seen.nav == now.nav && seen.content == now.content {
        return Delta::Same;
    }
    let now_lines = now.content.line_count();
    if seen.content.line_count().max(now_lines) > DIFF_LINES_MAX {
        return Delta::Whole;
    }
    // The daemon's own fences are left out: a line of the app may look like one.
    let (before, after) = (content_lines(seen), content_lines(now));
    let old: Vec<&str> = before.iter().map(|line| line.text).collect();
    let new: Vec<&str> = after.iter().map(|line| line.text).collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&old, &new);
    let mut changed: Vec<(char, &Line<'_>)> = Vec::new();
    let mut shift = NumberShift::default();
    let mut title = Title::default();
    let mut explained = true;
    for change in diff.iter_all_changes() {
        let (old, new) = (
            change.old_index().and_then(|index| before.get(index)),
            change.new_index().and_then(|index| after.get(index)),
        );
        match (change.tag(), old, new) {
            (ChangeTag::Equal, Some(old), Some(new)) => {
                // The same text at a line number that no change explains is another line.
                explained &= shift.explains(old, new);
                title.keep(new);
            }
            (ChangeTag::Delete, Some(old), _) => {
                shift.moved -= i64::from(old.number.is_some());
                let above = title.before_change(old, removed);
                if removed {
                    changed.extend(above.map(|line| (' ', line)));
                    changed.push(('-', old));
                }
            }
            (ChangeTag::Insert, _, Some(new)) => {
                shift.moved += i64::from(new.number.is_some());
                changed.extend(title.before_change(new, true).map(|line| (' ', line)));
                changed.push(('+', new));
            }
            _ => {}
        }
    }
    if !explained || !shift.overlaps(&before, &after) {
        return Delta::Whole;
    }
    if changed.is_empty() && seen.heading == now.heading && seen.nav == now.nav {
        return Delta::Same;
    }
    let mut out = format!("{}\n", now.heading);
    if seen.nav != now.nav && !now.nav.is_empty() {
        out += &now.nav;
        out.push('\n');
    }
    out += &write_changes(&changed);
    // The shorter one is shown; removed lines may double the length. A diff that repeats most of a window is
    // also harder to read than the window.
    let repeats = changed.len() > 8 && changed.len() * 4 > now_lines * 3;
    let longest = now.tokens * if removed { 2 } else { 1 };
    if repeats || (!changed.is_empty() && pipemux_tokens::estimate(&out) > longest) {
        Delta::Whole
    } else {
        Delta::Lines(out)
    }
}

/// The title of changed lines: the line above them that shows an object, as an entry's title is above its
/// text. Numbered lines need none.
#[derive(Default)]
struct Title<'a> {
    /// The title, until the diff has it.
    pending: Option<&'a Line<'a>>,
}

impl<'a> Title<'a> {
    /// Notes an unchanged line, which may be the title of those below.
    fn keep(&mut self, line: &'a Line<'a>) {
        if is_title(line) {
            self.pending = Some(line);
        }
    }

    /// Returns the title that the diff needs before a changed line, if that line is shown.
    fn before_change(&mut self, line: &Line<'_>, shown: bool) -> Option<&'a Line<'a>> {
        if is_title(line) {
            self.pending = None;
        }
        let belongs = line.number.is_none() && (line.exact || line.text.starts_with(' '));
        self.pending.take_if(|_| belongs && shown)
    }
}

fn is_title(line: &Line<'_>) -> bool {
    !line.exact && !line.text.starts_with(' ') && line.text.contains("](obj:")
}

/// How far line numbers have moved: by the changes in the window, and by changes above it.
#[derive(Default)]
struct NumberShift {
    /// How far the first unchanged line has moved.
    base: Option<i64>,
    /// How far lines have moved by the changes so far.
    moved: i64,
}

impl NumberShift {
    /// Returns true unless the window moved away from what it showed: then lines that look the same are others.
    fn overlaps(&self, before: &[Line<'_>], after: &[Line<'_>]) -> bool {
        let base = self.base.unwrap_or(0).unsigned_abs();
        let shown = before.len().min(after.len()) as u64;
        base == 0 || base < shown / 2
    }

    /// Returns true when the changes so far explain the new number of an unchanged line.
    fn explains(&mut self, old: &Line<'_>, new: &Line<'_>) -> bool {
        let (Some(before), Some(after)) = (old.number, new.number) else {
            return old.number.is_none() && new.number.is_none();
        };
        let by = after as i64 - before as i64 - self.moved;
        by == *self.base.get_or_insert(by)
    }
}

fn content_lines(rendered: &Rendered) -> Vec<Line<'_>> {
    rendered.content.lines().filter(|line| !line.fence).collect()
}

/// Writes changed lines. Exact text that would act as Markdown outside of a fence gets a fence, since it can't
/// be escaped and stay exact.
fn write_changes(changed: &[(char, &Line<'_>)]) -> String {
    let plain: String = changed.iter().map(|(sign, line)| signed(*sign, line)).collect();
    let acts = |(_, line): &(char, &Line<'_>)| line.exact && inert::line(line.text) != line.text;
    if !changed.iter().any(acts) {
        return plain;
    }
    let mut out = String::new();
    for group in changed.chunk_by(|(_, one), (_, next)| one.exact == next.exact) {
        let lines: String = group.iter().map(|(sign, line)| signed(*sign, line)).collect();
        if group.iter().any(acts) {
            let fence = "`".repeat(inert::longest_run(&lines, '`').max(2) + 1);
            out += &format!("{fence}diff\n{lines}{fence}\n");
        } else {
            out += &lines;
        }
    }
    out
}

fn signed(sign: char, line: &Line<'_>) -> String {
    match line.number {
        Some(number) => format!("{sign}{number}\t{}\n", line.text),
        None => format!("{sign} {}\n", line.text),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::workspaces::content::Content;

    /// Makes a window of lines; a line that begins with `|` is exact text.
    fn window(text: &str) -> Rendered {
        let lines = text.lines().map(|line| match line.strip_prefix('|') {
            Some(exact) => (exact, true),
            None => (line, false),
        });
        let content = Rc::new(Content::for_lines(lines));
        Rendered { heading: "## n".into(), content, tokens: 1_000, ..Rendered::default() }
    }

    #[test]
    fn changed_lines_come_with_the_title_above_them() {
        let before = "[A](obj:1)\n|a one\n|a two\n[B](obj:2)\n  b\nlast\nrest\n";
        let cases = [
            // Once for all lines below it; not when the title itself is in the diff.
            (
                before.replace("a one", "a 1").replace("a two", "a 2"),
                "  [A](obj:1)\n+ a 1\n+ a 2\n",
            ),
            (before.replace("  b", "  b\n  c"), "  [B](obj:2)\n+   c\n"),
            (before.replace("[B](obj:2)\n  b", "[B!](obj:2)\n  c"), "+ [B!](obj:2)\n+   c\n"),
            (before.replace("rest", "more"), "+ more\n"),
            (before.replace("last", "[C](obj:3)\n|c"), "+ [C](obj:3)\n+ c\n"),
        ];
        for (after, expected) in cases {
            let lines = delta(&window(before), &window(&after), false);
            assert_eq!(lines, Delta::Lines(format!("## n\n{expected}")));
        }
        let expected = "## n\n  [A](obj:1)\n- a two\n";
        let after = before.replace("|a two\n", "");
        assert_eq!(delta(&window(before), &window(&after), true), Delta::Lines(expected.into()));
        assert_eq!(delta(&window(before), &window(&after), false), Delta::Same);
    }

    #[test]
    fn another_document_is_never_shown_as_a_difference() {
        let named = |text: &str, document: Option<&str>| Rendered {
            document: document.map(Into::into),
            ..window(text)
        };
        let of = |document| named("a\nb\n", Some(document));
        assert_eq!(delta(&of("a.txt"), &of("a.txt"), true), Delta::Same);
        assert_eq!(delta(&of("a.txt"), &of("b.txt"), true), Delta::Whole, "equal text");
        assert_eq!(delta(&named("a\nb\n", None), &of("b.txt"), true), Delta::Whole);
        let changed = named("a\nc\n", Some("a.txt"));
        assert!(matches!(delta(&of("a.txt"), &changed, true), Delta::Lines(_)));
        assert_eq!(delta(&of("b.txt"), &changed, true), Delta::Whole);
    }
}
