//! The changes of a window since a reader saw it.

use rustc_hash::FxHashMap;

use crate::views::inert;
use crate::views::line_changes::{KeptLines, KeptList, LineChanges, Sign, line_changes};
use crate::workspaces::Rendered;
use crate::workspaces::content::{Line, NumberedLines};

/// Lines of a window beyond which a delta isn't sought; the whole window is shown instead.
const DIFF_LINES_MAX: usize = 2_000;
/// Pairs of lines that a delta compares at most; past it the whole window is shown instead.
const DIFF_STEPS_MAX: usize = 1_000_000;
/// Moves of lines that an answer tells of a window; past it the window is shown whole.
const MOVES_TOLD_MAX: usize = 4;

/// The part of a window that is shown after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Nothing, because the window didn't change.
    Same,
    /// The heading and the changed lines.
    Lines(String),
    /// The complete window, because it is shorter to read than the changes.
    Whole,
}

/// The reader's knowledge other than the window that it saw.
#[derive(Default)]
pub struct Known<'a> {
    /// True when lines that vanished are to be shown: for changes by others, and for what an undo
    /// took back.
    pub removed: bool,
    /// True when another process showed that window: its identities of lines mean nothing now.
    pub restarted: bool,
    /// Says whether the same answer has told that a line moved from one number to another.
    pub told: Option<&'a dyn Fn(u64, u64) -> bool>,
    /// Says whether the reader was shown a number in another version than the window's since.
    pub renumbered: Option<&'a dyn Fn(u64) -> bool>,
}

/// Compares a window with what the reader saw last. Returns also what is left out.
pub fn delta(seen: &Rendered, now: &Rendered, known: &Known<'_>) -> (Delta, Vec<KeptLines>) {
    let whole = || (Delta::Whole, Vec::new());
    // Lines that are equal in two documents aren't unchanged lines, and their numbers name other
    // lines.
    if seen.document != now.document || (known.restarted && now.content.is_numbered()) {
        return whole();
    }
    let same = seen.heading == now.heading && seen.nav == now.nav;
    let now_lines = now.content.line_count();
    let too_long = seen.content.line_count().max(now_lines) > DIFF_LINES_MAX;
    if seen.content == now.content && (same || !too_long) {
        let kept = unchanged_lines(now);
        return (if same { Delta::Same } else { Delta::Lines(changed_head(seen, now)) }, kept);
    }
    if too_long {
        return whole();
    }
    // The daemon's own fences are left out: a line of the app may look like one.
    let (before, after) = (content_lines(seen), content_lines(now));
    // Of lines with identities, only the same line with the same text counts as unchanged. Lines
    // are compared by numbers: the texts of long ones may have much in common.
    let mut numbers = FxHashMap::default();
    let mut number = |(identity, text): (Option<u64>, _)| {
        let next = numbers.len();
        *numbers.entry((identity, text)).or_insert(next)
    };
    let old: Vec<usize> = before.iter().map(|line| number((line.identity, line.text))).collect();
    let new: Vec<usize> = after.iter().map(|line| number((line.identity, line.text))).collect();
    pipemux_tokens::work::spend(seen.content.text().len() + now.content.text().len());
    let steps = differing_lines(&old, &new);
    pipemux_tokens::work::spend(steps);
    if steps > DIFF_STEPS_MAX {
        return whole();
    }
    let LineChanges { changed, kept, comparable } =
        line_changes((&before, &after), (&old, &new), known.removed, now.hidden_tokens > 0);
    let told = |kept: &KeptLines| {
        known.told.is_some_and(|told| {
            (0..kept.count).all(|at| told(kept.old.saturating_add(at), kept.new.saturating_add(at)))
        })
    };
    let moves: Vec<&KeptLines> =
        kept.iter().filter(|kept| kept.old != kept.new && !told(kept)).collect();
    // A move is told only of lines that are known to be the same, and whose numbers the reader
    // still has as they were in that window.
    let tellable = |kept: &&KeptLines| {
        let renumbered = |number| known.renumbered.is_some_and(|renumbered| renumbered(number));
        kept.identified && !(kept.old..kept.old.saturating_add(kept.count)).any(renumbered)
    };
    if !comparable || moves.len() > MOVES_TOLD_MAX || !moves.iter().all(tellable) {
        return whole();
    }
    if changed.is_empty() && moves.is_empty() && same {
        return (Delta::Same, kept);
    }
    let mut out = changed_head(seen, now);
    if !moves.is_empty() {
        let moves: Vec<String> = moves.into_iter().map(KeptLines::describe).collect();
        out += &moves.join(", ");
        out.push('\n');
    }
    out += &write_changes(&changed);
    // The shorter one is shown; removed lines may double the length. A diff that repeats most of a
    // window is also harder to read than the window.
    let repeats = changed.len() > 8 && changed.len() * 4 > now_lines * 3;
    let longest = now.tokens * if known.removed { 2 } else { 1 };
    if repeats || (!changed.is_empty() && pipemux_tokens::estimate(&out) > longest) {
        whole()
    } else {
        (Delta::Lines(out), kept)
    }
}

/// Returns how many pairs of lines a comparison may look at: those between the first and the last
/// line that differ.
fn differing_lines(old: &[usize], new: &[usize]) -> usize {
    let equal = |(one, other): &(&usize, &usize)| one == other;
    let begin = old.iter().zip(new).take_while(equal).count();
    let end = old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(equal).count();
    (old.len() - begin - end) * (new.len() - begin - end)
}

/// Returns the text above the changed lines: the heading, and the row of links if it changed.
fn changed_head(seen: &Rendered, now: &Rendered) -> String {
    let nav = if seen.nav == now.nav { "" } else { &*now.nav };
    [&*now.heading, "\n", nav, if nav.is_empty() { "" } else { "\n" }].concat()
}

/// Returns the numbered lines of a window whose content is as it was.
fn unchanged_lines(window: &Rendered) -> Vec<KeptLines> {
    let mut kept = KeptList::default();
    for NumberedLines { first, count, identified } in window.content.numbered_lines() {
        kept.push(KeptLines { old: first, new: first, count, identified });
    }
    kept.0
}

impl KeptLines {
    /// `lines 4-412 are now 1-409`
    fn describe(&self) -> String {
        let range = |first: u64| match self.count {
            1 => first.to_string(),
            count => format!("{first}-{}", first.saturating_add(count - 1)),
        };
        let (noun, verb) = if self.count == 1 { ("line", "is") } else { ("lines", "are") };
        format!("{noun} {} {verb} now {}", range(self.old), range(self.new))
    }
}

fn content_lines(rendered: &Rendered) -> Vec<Line<'_>> {
    rendered.content.lines().filter(|line| !line.fence).collect()
}

/// Writes changed lines. Exact text that would act as Markdown outside of a fence gets a fence,
/// since it can't be escaped and stay exact.
fn write_changes(changed: &[(Sign, &Line<'_>)]) -> String {
    let plain: String = changed.iter().map(|(sign, line)| signed(*sign, line)).collect();
    let acts = |(_, line): &(Sign, &Line<'_>)| line.exact && inert::line(line.text) != line.text;
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

fn signed(sign: Sign, line: &Line<'_>) -> String {
    let sign = match sign {
        Sign::Context => ' ',
        Sign::Added => '+',
        Sign::Removed => '-',
        Sign::Moved => return format!("moved {}\n", line.text),
    };
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

    fn delta(seen: &Rendered, now: &Rendered, removed: bool) -> Delta {
        super::delta(seen, now, &Known { removed, ..Known::default() }).0
    }

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
    fn things_come_with_their_heading_and_say_that_they_moved_or_are_gone() {
        let before = "### Todo\n- [A](obj:1)\n- [B](obj:2)\n### Done\n- [C](obj:3)\nrest\n";
        let shown = |after: &str, removed| match delta(&window(before), &window(after), removed) {
            Delta::Lines(lines) => lines.trim_start_matches("## n\n").to_owned(),
            other => panic!("{other:?}"),
        };
        let moved = "### Todo\n- [B](obj:2)\n### Done\n- [C](obj:3)\n- [A](obj:1)\nrest\n";
        for removed in [false, true] {
            assert_eq!(shown(moved, removed), "  ### Done\nmoved - [A](obj:1)\n");
        }
        let added = before.replace("rest", "- [D](obj:4)\nrest");
        assert_eq!(shown(&added, false), "  ### Done\n+ - [D](obj:4)\n");
        let gone = before.replace("- [B](obj:2)\n", "");
        assert_eq!(shown(&gone, false), "  ### Todo\n- - [B](obj:2)\n");
        let changed = before.replace("[B](obj:2)", "[B](obj:2) soon");
        assert_eq!(shown(&changed, false), "  ### Todo\n+ - [B](obj:2) soon\n");
        // A thing that moved and has another text is shown as it is now.
        let both = moved.replace("[A](obj:1)", "[A](obj:1) done");
        assert_eq!(shown(&both, false), "  ### Done\n+ - [A](obj:1) done\n");
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
