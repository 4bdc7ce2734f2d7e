//! Merges two texts that were made of the same one, line by line.
//!
//! **Invariant: a merge is what `git merge-file` gives, or a conflict.** A test compares the two.
//! Changes of both texts that overlap or touch are a conflict, unless they are the same. Nothing
//! else is: there are no marks in the result.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// A place where both texts changed the same lines, each in its own way. Lines are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The conflicting lines of the common base.
    pub base: Range<usize>,
    /// The lines of the first text at this place.
    pub ours: Range<usize>,
    /// The lines of the second text at this place.
    pub theirs: Range<usize>,
}

/// One of the two texts, compared with their common base.
struct Side<'t> {
    lines: Vec<&'t [u8]>,
    hunks: Vec<Hunk>,
}

/// The hunks of a side that belong to one place.
#[derive(Default)]
struct Part {
    hunks: Range<usize>,
    /// The number of lines that the side is longer than the base before this place.
    shift: isize,
}

/// Makes one text of two that were made of `base`. What only one of them changed is taken from it.
///
/// # Errors
/// The places that both changed, in their order.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, Vec<Conflict>> {
    let (ours, theirs) = (Side::new(base, ours), Side::new(base, theirs));
    let base = lines(base);
    let (mut merged, mut conflicts) = (Vec::new(), Vec::new());
    let (mut one, mut other) = (Part::default(), Part::default());
    let mut copied = 0;
    while let Some(place) = next_place(&ours, &theirs, &mut one, &mut other) {
        merged.extend(base.get(copied..place.start).unwrap_or_default().iter().copied().flatten());
        copied = place.end;
        let (in_ours, in_theirs) = (one.range(&ours, &place), other.range(&theirs, &place));
        let mine = ours.lines.get(in_ours.clone()).unwrap_or_default();
        let its = theirs.lines.get(in_theirs.clone()).unwrap_or_default();
        match (one.hunks.is_empty(), other.hunks.is_empty()) {
            (true, _) => merged.extend(its.iter().copied().flatten()),
            (_, true) => merged.extend(mine.iter().copied().flatten()),
            _ if mine == its => merged.extend(mine.iter().copied().flatten()),
            _ => conflicts.push(Conflict { base: place, ours: in_ours, theirs: in_theirs }),
        }
    }
    merged.extend(base.get(copied..).unwrap_or_default().iter().copied().flatten());
    if conflicts.is_empty() { Ok(merged) } else { Err(conflicts) }
}

impl<'t> Side<'t> {
    fn new(base: &[u8], text: &'t [u8]) -> Self {
        let input = InternedInput::new(base, text);
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        Self { lines: lines(text), hunks: diff.hunks().collect() }
    }

    /// Returns the lines of the base that the hunk `at` replaces.
    fn replaced(&self, at: usize) -> Option<Range<usize>> {
        let hunk = self.hunks.get(at)?;
        Some(hunk.before.start as usize..hunk.before.end as usize)
    }
}

impl Part {
    /// Takes the next hunk of its side into the place, if it overlaps or touches it.
    fn take(&mut self, side: &Side<'_>, place: &mut Range<usize>) -> bool {
        let next = side.replaced(self.hunks.end);
        let Some(next) = next.filter(|next| next.start <= place.end) else { return false };
        place.start = place.start.min(next.start);
        place.end = place.end.max(next.end);
        self.hunks.end += 1;
        true
    }

    /// Goes behind the hunks that it has.
    fn leave(&mut self, side: &Side<'_>) {
        let grown = side.hunks.get(self.hunks.clone()).unwrap_or_default().iter();
        self.shift +=
            grown.map(|hunk| hunk.after.len() as isize - hunk.before.len() as isize).sum::<isize>();
        self.hunks.start = self.hunks.end;
    }

    /// Returns the lines that a side has in a place of the base.
    fn range(&self, side: &Side<'_>, place: &Range<usize>) -> Range<usize> {
        let grown = side.hunks.get(self.hunks.clone()).unwrap_or_default().iter();
        let grown: isize =
            grown.map(|hunk| hunk.after.len() as isize - hunk.before.len() as isize).sum();
        place.start.saturating_add_signed(self.shift)
            ..place.end.saturating_add_signed(self.shift + grown)
    }
}

/// Returns the next lines of the base that one of the sides changed, or both; what overlaps or
/// touches is one place.
fn next_place(
    ours: &Side<'_>,
    theirs: &Side<'_>,
    one: &mut Part,
    other: &mut Part,
) -> Option<Range<usize>> {
    one.leave(ours);
    other.leave(theirs);
    let (mine, its) = (ours.replaced(one.hunks.end), theirs.replaced(other.hunks.end));
    let mut place = match (mine, its) {
        (Some(mine), Some(its)) => {
            if mine.start <= its.start {
                mine
            } else {
                its
            }
        }
        (mine, its) => mine.or(its)?,
    };
    while one.take(ours, &mut place) || other.take(theirs, &mut place) {}
    Some(place)
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}
