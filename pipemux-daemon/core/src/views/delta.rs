//! What changed in a window since a reader saw it.

use pipemux_proto::tokens;
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::limits::DIFF_LINES_MAX;
use crate::views::content::Line;
use crate::views::inert;
use crate::views::window_renderer::Rendered;

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
/// set: others' changes, and what an undo took back.
pub fn delta(seen: &Rendered, now: &Rendered, removed: bool) -> Delta {
    if seen.heading == now.heading && seen.nav == now.nav && seen.content == now.content {
        return Delta::Same;
    }
    let now_lines = now.content.line_count();
    if seen.content.line_count().max(now_lines) > DIFF_LINES_MAX {
        return Delta::Whole;
    }
    // The daemon's own fences are no content: one must not pass for a line that looks like it.
    let (before, after) = (content(seen), content(now));
    let old: Vec<&str> = before.iter().map(|line| line.text).collect();
    let new: Vec<&str> = after.iter().map(|line| line.text).collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&old, &new);
    let mut changed: Vec<(char, &Line<'_>)> = Vec::new();
    let mut shift = Shift::default();
    let mut owner = Owner::default();
    let mut explained = true;
    for change in diff.iter_all_changes() {
        let (old, new) = (
            change.old_index().and_then(|index| before.get(index)),
            change.new_index().and_then(|index| after.get(index)),
        );
        match (change.tag(), old, new) {
            (ChangeTag::Equal, Some(old), Some(new)) => {
                // The same text at a number that no change explains is another line.
                explained &= shift.explains(old, new);
                owner.stays(new);
            }
            (ChangeTag::Delete, Some(old), _) => {
                shift.moved -= i64::from(old.number.is_some());
                let above = owner.above(old, removed);
                if removed {
                    changed.extend(above.map(|line| (' ', line)));
                    changed.push(('-', old));
                }
            }
            (ChangeTag::Insert, _, Some(new)) => {
                shift.moved += i64::from(new.number.is_some());
                changed.extend(owner.above(new, true).map(|line| (' ', line)));
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
    out += &written(&changed);
    // Whichever is shorter; what others took away is worth as much again. A diff that repeats most of
    // a window is also harder to read than the window.
    let repeats = changed.len() > 8 && changed.len() * 4 > now_lines * 3;
    let longest = now.tokens * if removed { 2 } else { 1 };
    if repeats || (!changed.is_empty() && tokens::estimate(&out) > longest) {
        Delta::Whole
    } else {
        Delta::Lines(out)
    }
}

/// What changed lines belong to: the line above them that shows a thing, as an entry's title stands above
/// its text. Numbered lines say by themselves where they are.
#[derive(Default)]
struct Owner<'a> {
    /// That line, until the diff has it.
    unsaid: Option<&'a Line<'a>>,
}

impl<'a> Owner<'a> {
    fn stays(&mut self, line: &'a Line<'a>) {
        if shows_a_thing(line) {
            self.unsaid = Some(line);
        }
    }

    /// What the diff has to say before a changed line, if it shows that one.
    fn above(&mut self, line: &Line<'_>, shown: bool) -> Option<&'a Line<'a>> {
        if shows_a_thing(line) {
            self.unsaid = None;
        }
        let belongs = line.number.is_none() && (line.exact || line.text.starts_with(' '));
        self.unsaid.take_if(|_| belongs && shown)
    }
}

fn shows_a_thing(line: &Line<'_>) -> bool {
    !line.exact && !line.text.starts_with(' ') && line.text.contains("](obj:")
}

/// How far line numbers have moved: by what is shown, and by what happened above the window.
#[derive(Default)]
struct Shift {
    /// Of the first line that stayed.
    base: Option<i64>,
    /// By the changes so far.
    moved: i64,
}

impl Shift {
    /// True unless the window moved away from what it showed: then what looks the same is other lines.
    fn overlaps(&self, before: &[Line<'_>], after: &[Line<'_>]) -> bool {
        let base = self.base.unwrap_or(0).unsigned_abs();
        let shown = before.len().min(after.len()) as u64;
        base == 0 || base < shown / 2
    }

    fn explains(&mut self, old: &Line<'_>, new: &Line<'_>) -> bool {
        let (Some(was), Some(is)) = (old.number, new.number) else {
            return old.number.is_none() && new.number.is_none();
        };
        let by = is as i64 - was as i64 - self.moved;
        by == *self.base.get_or_insert(by)
    }
}

fn content(rendered: &Rendered) -> Vec<Line<'_>> {
    rendered.content.lines().filter(|line| !line.fence).collect()
}

/// Changed lines as they are shown. Exact text that would act outside of a fence gets one, so that it
/// stays letter by letter what it is.
fn written(changed: &[(char, &Line<'_>)]) -> String {
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
    use crate::views::content::Content;

    /// A window of lines; one that begins with `|` is exact text.
    fn window(text: &str) -> Rendered {
        let lines = text.lines().map(|line| match line.strip_prefix('|') {
            Some(exact) => (exact, true),
            None => (line, false),
        });
        let content = Rc::new(Content::of_lines(lines));
        Rendered { heading: "## n".into(), content, tokens: 1_000, ..Rendered::default() }
    }

    #[test]
    fn lines_that_belong_to_a_thing_come_with_the_line_that_names_it() {
        let before = "[A](obj:1)\n|a one\n|a two\n[B](obj:2)\n  b\nlast\nrest\n";
        let cases = [
            // Once for all of its lines; not when its own line is in the diff.
            (
                before.replace("a one", "a 1").replace("a two", "a 2"),
                "  [A](obj:1)\n+ a 1\n+ a 2\n",
            ),
            (before.replace("  b", "  b\n  c"), "  [B](obj:2)\n+   c\n"),
            (before.replace("[B](obj:2)\n  b", "[B!](obj:2)\n  c"), "+ [B!](obj:2)\n+   c\n"),
            (before.replace("rest", "more"), "+ more\n"),
            (before.replace("last", "[C](obj:3)\n|c"), "+ [C](obj:3)\n+ c\n"),
        ];
        for (after, told) in cases {
            let lines = delta(&window(before), &window(&after), false);
            assert_eq!(lines, Delta::Lines(format!("## n\n{told}")));
        }
        let told = "## n\n  [A](obj:1)\n- a two\n";
        let after = before.replace("|a two\n", "");
        assert_eq!(delta(&window(before), &window(&after), true), Delta::Lines(told.into()));
        assert_eq!(delta(&window(before), &window(&after), false), Delta::Same);
    }
}
