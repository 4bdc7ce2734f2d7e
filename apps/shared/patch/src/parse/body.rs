//! The lines of a hunk, as unified diffs and the envelope write them.

use std::borrow::Cow;

use crate::model::{Hunk, HunkLine, Tag};

/// The contents of a hunk header, a line with `@@`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head<'p> {
    pub(super) old: Option<(usize, Option<usize>)>,
    pub(super) new: Option<(usize, Option<usize>)>,
    pub(super) heading: &'p str,
}

/// Reads `@@ -1,2 +3,4 @@ heading` and what models make of it: `@@`, `@@ ... @@`, `@@ heading`,
/// missing numbers, missing counts.
pub(super) fn head(line: &str) -> Option<Head<'_>> {
    let rest = line.trim_start().strip_prefix("@@")?;
    if rest.starts_with('@') {
        return None;
    }
    let rest = rest.trim_end_matches('\r');
    let mut head = Head::default();
    let (mut words, mut tail) = (rest, None);
    if let Some((numbers, heading)) = rest.split_once("@@") {
        (words, tail) = (numbers, Some(heading));
    }
    let mut seen = words.trim_start();
    for _ in 0..2 {
        let word = seen.split([' ', '\t']).next().unwrap_or("");
        let known = if let Some(numbers) = word.strip_prefix('-') {
            range(numbers).map(|numbers| head.old = Some(numbers))
        } else if let Some(numbers) = word.strip_prefix('+') {
            range(numbers).map(|numbers| head.new = Some(numbers))
        } else {
            None
        };
        if known.is_none() {
            break;
        }
        seen = seen[word.len()..].trim_start();
    }
    let numbered = head.old.is_some() || head.new.is_some();
    head.heading = match tail {
        Some(heading) if numbered || !heading.trim().is_empty() => heading,
        _ if numbered => seen,
        // `@@ heading @@`
        _ => words,
    };
    let text = head.heading.trim();
    head.heading = if text == "..." || text.starts_with("line ") {
        ""
    } else {
        head.heading.strip_prefix(' ').unwrap_or(head.heading).trim_end()
    };
    Some(head)
}

fn range(numbers: &str) -> Option<(usize, Option<usize>)> {
    let (start, count) = match numbers.split_once(',') {
        Some((start, count)) => (start, Some(count.parse().ok()?)),
        None => (numbers, None),
    };
    Some((start.parse().ok()?, count))
}

impl<'p> Head<'p> {
    /// Returns the numbers of old and new lines that follow.
    fn counts(&self) -> Option<(usize, usize)> {
        Some((self.old?.1.unwrap_or(1), self.new?.1.unwrap_or(1)))
    }

    pub(super) fn describe(&self, at: usize) -> Hunk<'p> {
        let before = self.old.is_some_and(|(_, count)| count == Some(0));
        Hunk {
            at,
            // A new file's hunk has the number 0.
            number: self.old.map(|(start, _)| start).filter(|&start| start > 0 || before),
            number_is_before: before,
            headings: heading(self.heading),
            ..Hunk::default()
        }
    }
}

fn heading(text: &str) -> Vec<Cow<'_, str>> {
    if text.trim().is_empty() { Vec::new() } else { vec![Cow::Borrowed(text)] }
}

/// Reads a hunk's lines from `start` on; returns where they end. `boundary` says where they must.
pub(super) fn read<'p>(
    lines: &[&'p str],
    start: usize,
    head: &Head<'p>,
    hunk: &mut Hunk<'p>,
    boundary: impl Fn(usize) -> bool,
) -> usize {
    if let Some(counts) = head.counts()
        && let Some(end) = counted(lines, start, counts)
        && (end == lines.len() || boundary(end) || !lines[end].starts_with([' ', '+', '-']))
    {
        take(&lines[start..end], hunk);
        return end;
    }
    let limit = (start..lines.len()).find(|&at| boundary(at)).unwrap_or(lines.len());
    let changed = |line: &&str| line.starts_with(['+', '-']);
    let mut end =
        start + lines[start..limit].iter().rposition(changed).map_or(0, |position| position + 1);
    // Context goes on behind the last change; prose doesn't belong to it.
    while end < limit && (lines[end].is_empty() || lines[end].starts_with([' ', '\t', '\\'])) {
        end += 1;
    }
    let mut kept = end;
    while kept > start && lines[kept - 1].trim().is_empty() && !lines[kept - 1].starts_with(' ') {
        kept -= 1;
    }
    take(&lines[start..kept], hunk);
    end
}

/// Returns the end of the lines by their counts, if all lines have a prefix.
fn counted(lines: &[&str], start: usize, (mut old, mut new): (usize, usize)) -> Option<usize> {
    let mut at = start;
    while old > 0 || new > 0 {
        match lines.get(at)?.as_bytes().first() {
            Some(b' ') | None => {
                old = old.checked_sub(1)?;
                new = new.checked_sub(1)?;
            }
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b'\\') => {}
            Some(_) => return None,
        }
        at += 1;
    }
    while lines.get(at).is_some_and(|line| line.starts_with('\\')) {
        at += 1;
    }
    Some(at)
}

fn take<'p>(lines: &[&'p str], hunk: &mut Hunk<'p>) {
    for &line in lines {
        let (tag, text) = match line.as_bytes().first() {
            Some(b'+') => (Tag::Add, &line[1..]),
            Some(b'-') => (Tag::Remove, &line[1..]),
            Some(b' ') => (Tag::Keep, &line[1..]),
            Some(b'\\') => {
                let last = hunk.lines.last().map(|line| line.tag);
                hunk.old_no_newline |= last.is_some_and(|tag| tag != Tag::Add);
                hunk.new_no_newline |= last.is_some_and(|tag| tag != Tag::Remove);
                continue;
            }
            // A context line whose prefix was forgotten, or an empty one whose space was trimmed.
            _ => (Tag::Keep, line),
        };
        // A byte order mark stands before a file's first line and is no part of it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        hunk.lines.push(HunkLine { tag, text, crlf: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_every_kind_are_read() {
        let of = |line| head(line).unwrap();
        let full = of("@@ -1,2 +3,4 @@ fn a() {");
        assert_eq!((full.old, full.new), (Some((1, Some(2))), Some((3, Some(4)))));
        assert_eq!(full.heading, "fn a() {");
        assert_eq!(of("@@ -7 +7 @@").old, Some((7, None)));
        assert_eq!(of("@@ ... @@"), Head::default());
        assert_eq!(of("@@"), Head::default());
        assert_eq!(of("@@ @@"), Head::default());
        assert_eq!(of("@@ class A:").heading, "class A:");
        assert_eq!(of("@@ class A: @@").heading, "class A: ".trim_end());
        assert_eq!(of("@@     def b(self):").heading, "    def b(self):");
        assert_eq!(of("@@ -5,6 @@").old, Some((5, Some(6))));
        assert_eq!(of("@@ -99999999999999999999,1 +1 @@").old, None);
        assert_eq!(head("@@@ -1 -1 +1 @@@"), None);
    }
}
