//! Chooses the location of a hunk among the places where its lines occur.

use std::borrow::Cow;

use crate::document::{DocumentLine, LineEdit, NewLine};
use crate::limits::{CANDIDATES_MAX, LOOKAHEAD};
use crate::matching::{IndexedLines, SPACE, Shift, Tolerance, TooMuchWork, Work};
use crate::model::{Hunk, Tag};
use crate::nearest::{Nearest, nearest};
use crate::plan::outcome::HunkOutcome;

/// The place at which a hunk applies.
#[derive(Clone, Debug)]
pub(crate) struct HunkPosition {
    /// The line where the place begins, from 0.
    pub(crate) start: usize,
    pub(crate) tolerance: Tolerance,
    shift: Shift,
}

/// The decision about the place of a hunk.
pub(crate) enum Decision {
    At(Vec<HunkPosition>),
    /// The new lines are already in the file, in this range of lines: start, end.
    Already(usize, usize),
    /// Several places are equally possible; `more` is true if there are others.
    Several {
        starts: Vec<usize>,
        tolerance: Tolerance,
        more: bool,
    },
    Nowhere(Option<Nearest>),
    /// The hunk has no line that determines its place.
    NoContext,
}

/// The constraints from the previous hunks.
pub(crate) struct Order {
    /// True if hunks come in the order of the file.
    pub(crate) ordered: bool,
    /// The line where the previous hunk ended, from 0.
    pub(crate) floor: usize,
    /// The offset of the patch's line numbers at the previous hunk.
    pub(crate) drift: isize,
}

impl Order {
    /// Records where a hunk was placed, and where its changes end.
    pub(crate) fn follow(&mut self, hunk: &Hunk<'_>, places: &[HunkPosition], end: usize) {
        self.floor = end;
        if let (Some(number), [place], false) = (hunk.number, places, hunk.number_is_before) {
            self.drift = (place.start + 1).cast_signed() - number.cast_signed();
        }
    }

    /// Records the changes that were made.
    pub(crate) fn shift(&mut self, made: &[HunkOutcome]) {
        let grown: isize = made.iter().map(HunkOutcome::grown).sum();
        self.floor = self.floor.saturating_add_signed(grown);
        self.drift = self.drift.saturating_add(grown);
    }
}

/// Looks for the place of `hunks[index]` in the lines of a file.
pub(crate) struct Locator<'s, 'l, 'p> {
    pub(crate) lines: &'s IndexedLines<'l, 'p>,
    pub(crate) hunks: &'s [Hunk<'p>],
    pub(crate) index: usize,
    pub(crate) order: &'s Order,
}

impl Locator<'_, '_, '_> {
    /// Decides where the hunk goes. `picks` are the caller's, of the candidates that were told.
    pub(crate) fn decide(
        &self,
        picks: Option<&[usize]>,
        work: &mut Work,
    ) -> Result<Decision, TooMuchWork> {
        let (lines, hunk, order) = (self.lines, &self.hunks[self.index], self.order);
        let old = hunk.old_lines();
        if old.is_empty() {
            return Ok(insertion(lines, hunk, order));
        }
        let raw = hunk.number.map(|number| number.saturating_sub(1));
        let drifted = raw.map(|number| number.saturating_add_signed(order.drift));
        let place = |start: usize, tolerance: Tolerance| HunkPosition {
            start,
            tolerance,
            shift: match tolerance {
                Tolerance::Indentation => Shift::at(lines.all, start, &old),
                _ => Shift::None,
            },
        };
        let mut repeated = None;
        for tolerance in Tolerance::ALL {
            let found = lines.find(&old, tolerance, drifted, work)?;
            let mut starts = found.starts;
            let expected = [drifted, raw].into_iter().flatten().find(|at| starts.contains(at));
            starts.retain(|&start| match repeats(lines.all, hunk, start, old.len(), tolerance) {
                Some(range) => {
                    repeated = repeated.or(Some(range));
                    false
                }
                None => true,
            });
            if starts.is_empty() {
                continue;
            }
            if let Some(expected) = expected.filter(|expected| starts.contains(expected)) {
                return Ok(Decision::At(vec![place(expected, tolerance)]));
            }
            if tolerance == Tolerance::Exact
                && let Some(range) = stands_at(lines, hunk, [drifted, raw], work)?
            {
                return Ok(Decision::Already(range.0, range.1));
            }
            self.disambiguate(drifted, &mut starts, found.more, work)?;
            if let Some(picks) = picks {
                let picked = picks.iter().filter_map(|&pick| starts.get(pick));
                return Ok(Decision::At(picked.map(|&start| place(start, tolerance)).collect()));
            }
            return Ok(match starts[..] {
                [start] => Decision::At(vec![place(start, tolerance)]),
                _ => Decision::Several { starts, tolerance, more: found.more },
            });
        }
        if let Some((from, to)) = repeated {
            return Ok(Decision::Already(from, to));
        }
        if let Some((from, to)) = already(lines, hunk, drifted, work)? {
            return Ok(Decision::Already(from, to));
        }
        Ok(Decision::Nowhere(nearest(lines, &old, drifted, work)?))
    }

    /// Leaves the places that the order of the hunks, a heading or a number allows.
    fn disambiguate(
        &self,
        near: Option<usize>,
        starts: &mut Vec<usize>,
        more: bool,
        work: &mut Work,
    ) -> Result<(), TooMuchWork> {
        let (lines, hunk, order) = (self.lines, &self.hunks[self.index], self.order);
        let length = hunk.lines.iter().filter(|line| line.tag != Tag::Add).count();
        let leading = hunk.context().map_or(0, |(before, _)| before);
        if starts.len() < 2 {
            return Ok(());
        }
        if hunk.at_end {
            only(starts, |start| start + length == lines.all.len());
        }
        if order.ordered {
            only(starts, |start| start + leading >= order.floor);
        }
        if let Some(range) = scope_of(lines.all, hunk, order.floor) {
            only(starts, |start| range.contains(&start) || range.contains(&(start + leading)));
        }
        if starts.len() < 2 {
            return Ok(());
        }
        if let Some(near) = near {
            let mut distances: Vec<_> =
                starts.iter().map(|&start| (start.abs_diff(near), start)).collect();
            distances.sort_unstable();
            if let [(first, start), (second, _), ..] = distances[..]
                && 2 * first < second
            {
                *starts = vec![start];
            }
            return Ok(());
        }
        if order.ordered && !more {
            // The first hunk below that stands in one place only is the end of where this one may
            // stand.
            for next in self.hunks.iter().skip(self.index + 1).take(LOOKAHEAD) {
                let old = next.old_lines();
                if old.is_empty() {
                    continue;
                }
                if let [one] = lines.find(&old, Tolerance::Exact, None, work)?.starts[..] {
                    only(starts, |start| start < one);
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A hunk without any old line.
fn insertion(lines: &IndexedLines<'_, '_>, hunk: &Hunk<'_>, order: &Order) -> Decision {
    let at = |start| {
        Decision::At(vec![HunkPosition { start, tolerance: Tolerance::Exact, shift: Shift::None }])
    };
    if lines.all.is_empty() {
        return at(0);
    }
    let numbered = hunk.number.map(|number| {
        let before = if hunk.number_is_before { number } else { number.saturating_sub(1) };
        before.saturating_add_signed(order.drift)
    });
    if let Some(heading) = hunk.headings.last() {
        // Diffs without context name a line above the place, not the one right before it.
        let stands_above = |start: usize| {
            headed(lines.all, heading, 0).first().is_some_and(|&first| first < start)
        };
        match numbered.filter(|start| hunk.number_is_before && *start <= lines.all.len()) {
            Some(start) if stands_above(start) => return at(start),
            _ => {}
        }
        if let [one] = headed(lines.all, heading, order.floor)[..] {
            return at(one + 1);
        }
    }
    if let Some(start) = numbered {
        return if start <= lines.all.len() { at(start) } else { Decision::NoContext };
    }
    if hunk.at_end || hunk.appends && hunk.headings.is_empty() {
        return at(lines.all.len());
    }
    Decision::NoContext
}

/// Keeps what is allowed, if anything is.
fn only(starts: &mut Vec<usize>, allowed: impl Fn(usize) -> bool) {
    if starts.iter().any(|&start| allowed(start)) {
        starts.retain(|&start| allowed(start));
    }
}

/// The lines that a heading stands for, from `from` on.
fn headed(lines: &[DocumentLine<'_>], heading: &str, from: usize) -> Vec<usize> {
    let wanted = heading.trim();
    let tests: [&dyn Fn(&str) -> bool; 3] = [
        &|line| line == heading,
        &|line| line.trim() == wanted,
        // Diffs cut headings, models leave their ends away.
        &|line| line.trim_start().starts_with(wanted),
    ];
    for from in [from.min(lines.len()), 0] {
        for test in tests {
            let found = (from..lines.len()).filter(|&at| test(&lines[at].text));
            let found: Vec<_> = found.take(CANDIDATES_MAX).collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// What belongs to a hunk's headings: from the last one to where the indentation ends.
fn scope_of(
    lines: &[DocumentLine<'_>],
    hunk: &Hunk<'_>,
    floor: usize,
) -> Option<std::ops::Range<usize>> {
    let mut from = floor;
    let mut found = None;
    for heading in &hunk.headings {
        let at = *headed(lines, heading, from).first()?;
        (from, found) = (at + 1, Some(at));
    }
    let start = found?;
    let width = |line: &str| line.len() - line.trim_start_matches(SPACE).len();
    let own = width(&lines[start].text);
    let end = (start + 1..lines.len())
        .find(|&at| {
            let line = lines[at].text.as_ref();
            let closes = line.trim_start().starts_with(['}', ')', ']', '{']);
            !line.trim().is_empty() && width(line) <= own && !closes
        })
        .unwrap_or(lines.len());
    Some(start..end)
}

/// Returns the place where a hunk that only adds lines at its edge already added them.
fn repeats(
    lines: &[DocumentLine<'_>],
    hunk: &Hunk<'_>,
    start: usize,
    old: usize,
    tolerance: Tolerance,
) -> Option<(usize, usize)> {
    if hunk.has(Tag::Remove) {
        return None;
    }
    let (before, after) = hunk.context()?;
    let added: Vec<_> = hunk.lines[before..hunk.lines.len() - after].iter().collect();
    if added.iter().any(|line| line.tag == Tag::Keep) {
        return None;
    }
    let stands = |from: usize| {
        lines.get(from..from + added.len()).is_some_and(|lines| {
            lines.iter().zip(&added).all(|(line, added)| {
                tolerance.normalize(&line.text) == tolerance.normalize(added.text)
            })
        })
    };
    let from = if after == 0 {
        start + old
    } else if before == 0 {
        start.checked_sub(added.len())?
    } else {
        return None;
    };
    stands(from).then(|| (from, from + added.len()))
}

/// Returns the range of the new lines if they are exactly where the patch expects them.
fn stands_at(
    lines: &IndexedLines<'_, '_>,
    hunk: &Hunk<'_>,
    expected: [Option<usize>; 2],
    work: &mut Work,
) -> Result<Option<(usize, usize)>, TooMuchWork> {
    let new = hunk.new_lines();
    if telling(&hunk.added().collect::<Vec<_>>()) {
        for start in expected.into_iter().flatten() {
            if lines.matches(start, &new, Tolerance::Exact, work)? {
                return Ok(Some((start, start + new.len())));
            }
        }
    }
    Ok(None)
}

/// Returns the range of the new lines if the old ones aren't found.
fn already(
    lines: &IndexedLines<'_, '_>,
    hunk: &Hunk<'_>,
    near: Option<usize>,
    work: &mut Work,
) -> Result<Option<(usize, usize)>, TooMuchWork> {
    let new = hunk.new_lines();
    let added: Vec<_> = hunk.added().collect();
    let (before, after) = hunk.context().unwrap_or_default();
    let kept: Vec<_> =
        hunk.lines.iter().filter(|line| line.tag == Tag::Keep).map(|line| line.text).collect();
    // A few brackets stand everywhere: they prove nothing.
    let proves = telling(&added) || before > 0 && after > 0 && telling(&kept);
    if !proves || new.is_empty() {
        return Ok(None);
    }
    for tolerance in [Tolerance::Exact, Tolerance::TrailingSpace] {
        if let Some(&start) = lines.find(&new, tolerance, near, work)?.starts.first() {
            return Ok(Some((start, start + new.len())));
        }
    }
    Ok(None)
}

fn telling(lines: &[&str]) -> bool {
    lines
        .iter()
        .flat_map(|line| line.chars())
        .filter(|letter| letter.is_alphanumeric())
        .take(4)
        .count()
        == 4
}

/// The changes that a hunk makes at its place in a file of so many lines.
pub(crate) fn edits<'p>(hunk: &Hunk<'p>, place: &HunkPosition, lines: usize) -> Vec<LineEdit<'p>> {
    let mut edits: Vec<LineEdit<'p>> = Vec::new();
    let mut at = place.start;
    let mut open = false;
    for line in &hunk.lines {
        if line.tag == Tag::Keep {
            at += 1;
            open = false;
            continue;
        }
        if !open {
            edits.push(LineEdit { at, remove: 0, add: Vec::new(), final_newline: None });
            open = true;
        }
        let Some(edit) = edits.last_mut() else { continue };
        match line.tag {
            Tag::Add => {
                let text = match &place.shift {
                    Shift::None => Cow::Borrowed(line.text),
                    shift => shift.line(line.text),
                };
                edit.add.push(NewLine { text, crlf: line.crlf });
            }
            _ => {
                edit.remove += 1;
                at += 1;
            }
        }
    }
    if at == lines
        && let Some(last) = edits.last_mut()
    {
        last.final_newline = match (hunk.old_no_newline, hunk.new_no_newline) {
            (false, true) => Some(false),
            (true, false) => Some(true),
            _ => None,
        };
    }
    edits
}

/// Returns true if a hunk changes only the final newline.
pub(crate) fn only_final_newline(hunk: &Hunk<'_>) -> bool {
    hunk.old_no_newline != hunk.new_no_newline && hunk.old_lines() == hunk.new_lines()
}
