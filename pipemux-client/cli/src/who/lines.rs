//! Which round each line of a file comes from: the differences of rounds are taken back, the newest
//! first, as far as they are found in the text.

use std::ops::Range;

/// The difference that a round made in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    hunks: Vec<Hunk>,
}

/// A replaced range: the lines from a line on, counted from 0, and their replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Hunk {
    at: usize,
    /// The lines before and after; context lines are in both.
    lines: Vec<(Kind, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kept,
    Removed,
    Added,
}

/// A line of the text at some time, and which line it is now, counted from 0, if it still is one.
#[derive(Debug, Clone)]
struct Line {
    text: String,
    now: Option<usize>,
}

impl Difference {
    /// Reads the part of a unified difference that concerns a file; none if there is no such part.
    /// The paths in it are relative to a project, and `files` are the absolute paths of all files
    /// that it concerns, if they are known.
    pub fn of_file(unified: &str, path: &str, files: &[String]) -> Option<Self> {
        let parts = parts(unified);
        let root_of = |name: &str| path.strip_suffix(name)?.strip_suffix('/');
        let fits = |root: &str| {
            parts.iter().all(|(name, _)| files.iter().any(|file| *file == format!("{root}/{name}")))
        };
        let mut meant = parts.iter().filter(|(name, _)| *name == path || root_of(name).is_some());
        let (_, hunks) = match (meant.next()?, meant.next()) {
            (one, None) => one,
            // Of two that end alike, the one whose project has all the others.
            _ => parts.iter().find(|(name, _)| root_of(name).is_some_and(fits))?,
        };
        (!hunks.is_empty()).then(|| Self { hunks: hunks.clone() })
    }

    /// Takes the difference back in a text, from its end on, and passes the lines of today that it
    /// had added to `own`. A place that isn't found, since somebody else wrote there, is left.
    fn take_back(&self, text: &mut Vec<Line>, mut own: impl FnMut(usize)) {
        for hunk in self.hunks.iter().rev() {
            let after: Vec<&str> = hunk.side(Kind::Added).map(|(_, line)| line).collect();
            let Some(place) = find(text, &after, hunk.at) else { continue };
            let mut there: Vec<Line> = text.drain(place.clone()).collect();
            let mut there = there.drain(..);
            let mut before = Vec::new();
            for (kind, line) in &hunk.lines {
                match kind {
                    Kind::Kept => before.extend(there.next()),
                    Kind::Added => {
                        there.next().and_then(|line| line.now).into_iter().for_each(&mut own)
                    }
                    Kind::Removed => before.push(Line { text: line.clone(), now: None }),
                }
            }
            text.splice(place.start..place.start, before);
        }
    }
}

impl Hunk {
    /// The lines of one side: those of a kind, and the context.
    fn side(&self, kind: Kind) -> impl Iterator<Item = (Kind, &str)> {
        let lines = self.lines.iter().map(|(kind, line)| (*kind, line.as_str()));
        lines.filter(move |(one, _)| *one == kind || *one == Kind::Kept)
    }
}

/// Returns the index of the difference that each line of a text comes from; the newest difference
/// is first.
pub fn origins(text: &str, differences: &[Option<Difference>]) -> Vec<Option<usize>> {
    let lines = text.lines().enumerate();
    let mut then: Vec<Line> =
        lines.map(|(now, text)| Line { text: text.to_owned(), now: Some(now) }).collect();
    let mut origins = vec![None; then.len()];
    for (index, difference) in differences.iter().enumerate() {
        // What stood before a change of which nothing is known isn't known either.
        let Some(difference) = difference else { break };
        difference.take_back(&mut then, |line| {
            if let Some(origin) = origins.get_mut(line) {
                *origin = Some(index);
            }
        });
    }
    origins
}

/// Finds lines in a text: where they are expected, otherwise at the one place that has them all.
fn find(text: &[Line], wanted: &[&str], expected: usize) -> Option<Range<usize>> {
    let last = text.len().checked_sub(wanted.len())?;
    let is_there = |at: &usize| {
        let there = text.iter().skip(*at).zip(wanted);
        there.into_iter().all(|(line, wanted)| line.text.trim_end_matches('\r') == *wanted)
    };
    let expected = expected.min(last);
    // Of lines that are gone only the place is known.
    let reach = if wanted.is_empty() { 0 } else { last };
    if is_there(&expected) {
        return Some(expected..expected + wanted.len());
    }
    // Elsewhere it may be another place with the same lines, unless there is one only.
    let mut places = (0..=reach).filter(is_there);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some(at..at + wanted.len())
}

/// Splits a unified difference into its files, with their names after the change, or before it if
/// it removed them.
fn parts(unified: &str) -> Vec<(&str, Vec<Hunk>)> {
    let mut parts: Vec<(&str, Vec<Hunk>)> = Vec::new();
    // How many lines of the last hunk are to come, before and after.
    let (mut before, mut after) = (0, 0);
    for line in unified.lines() {
        let hunk = parts.last_mut().and_then(|(_, hunks)| hunks.last_mut());
        if let Some(hunk) = hunk.filter(|_| before + after > 0) {
            let (kind, text) = match line.split_at_checked(1) {
                Some(("-", text)) => (Kind::Removed, text),
                Some(("+", text)) => (Kind::Added, text),
                Some((" ", text)) => (Kind::Kept, text),
                Some(("\\", _)) => continue,
                // It was cut off.
                _ => break,
            };
            before -= usize::from(kind != Kind::Added && before > 0);
            after -= usize::from(kind != Kind::Removed && after > 0);
            hunk.lines.push((kind, text.trim_end_matches('\r').to_owned()));
        } else if let Some(name) = line.strip_prefix("--- ") {
            parts.push((name, Vec::new()));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            if let Some(part) = parts.last_mut().filter(|_| name != "/dev/null") {
                part.0 = name;
            }
        } else if let Some((part, sizes)) = parts.last_mut().zip(sizes(line)) {
            let at;
            (at, before, after) = sizes;
            part.1.push(Hunk { at, lines: Vec::new() });
        }
    }
    // Of a hunk that was cut off nothing can be found.
    if before + after > 0
        && let Some((_, hunks)) = parts.last_mut()
    {
        hunks.pop();
    }
    parts
}

/// Reads the head of a hunk: where it begins after the change, counted from 0, and its numbers of
/// lines.
fn sizes(line: &str) -> Option<(usize, usize, usize)> {
    let (before, after) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    let ((_, before), (first, after)) = (range(before)?, range(after)?);
    // Where nothing is left, the line before is named.
    let at = if after == 0 { first } else { first.checked_sub(1)? };
    Some((at, before, after))
}

#[cfg(test)]
mod tests;
