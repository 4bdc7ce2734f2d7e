//! Describes, for the outcome of an action, how the line numbers that a reader knows have changed.
//!
//! **Invariant: an outcome maps a number, or retires it, or leaves it in the version in which it
//! was shown.**

use std::ops::Range;

use docui::{Context, LineNumbers};

use crate::limits::{MOVES_TOLD, PIECES_MAX};
use crate::model::line_log::Baseline;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::{baselines, unlisted_baseline};

/// The line numbers of a file, as known to a reader, after an action. Lines count from 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Renumbering {
    /// Lines that have other numbers than the reader knows: their lines then, and the first of them
    /// now.
    pub moves: Vec<(Range<usize>, usize)>,
    /// The first displayed line number that the outcome doesn't account for.
    pub retired_from: Option<u64>,
    /// True when an earlier step of the run has told `retired_from`.
    pub retired_before: bool,
    /// Moves that an earlier step of the run has told.
    told: Vec<(Range<usize>, usize)>,
    /// Numbers that an earlier step of the run has given to lines. They are retired, unless they
    /// still stand or this step says something else of them: a number must not keep the meaning of
    /// a step that was taken back.
    given_before: Vec<Range<usize>>,
    /// Lines whose numbers are as the reader was shown them.
    kept: Vec<Range<usize>>,
    /// Lines whose numbers are as in the version that the reader saw, though it wasn't shown them.
    unshown: Vec<Range<usize>>,
}

/// Numbers that a reader knows, and what they count in.
struct KnownLines<'a> {
    lines: Range<usize>,
    baseline: Baseline<'a>,
    /// True when the reader was shown these numbers.
    shown: bool,
}

/// Returns what the numbers of a file that the reader knows are once an action has taken effect.
pub(crate) fn renumbering(files: &OpenFiles, index: usize, context: &Context) -> Renumbering {
    let mut all = renumbering_until(files, index, context.next_version(), context);
    // What an earlier step of the run has told isn't told again, but taken back when it is no
    // longer so.
    let run_changed = files[index].line_log().has_change_by(&context.run_id, context.version);
    if run_changed {
        let told = renumbering_until(files, index, context.version, context);
        all.subtract(&told);
    }
    all
}

fn renumbering_until(
    files: &OpenFiles,
    index: usize,
    until: u64,
    context: &Context,
) -> Renumbering {
    let log = files[index].line_log();
    let mut all = Renumbering::default();
    for KnownLines { lines, baseline, shown } in known_lines(files, index, context) {
        let Ok((now, complete)) = log.survivors(lines.clone(), baseline, until, PIECES_MAX) else {
            continue;
        };
        if !complete {
            let end = now.last().map_or(lines.start, |(lines, _)| lines.end);
            all.retired_from = Some(end as u64 + 1);
        }
        for (lines, to) in now {
            match lines.start == to {
                false => all.add_move(lines, to),
                true if shown => all.kept.push(lines),
                true => all.unshown.push(lines),
            }
        }
        if all.retired_from.is_some() {
            break;
        }
    }
    all.limit();
    all
}

/// False for a reader who has seen neither the window nor any number of a file.
pub(crate) fn knows_numbers(files: &OpenFiles, index: usize, context: &Context) -> bool {
    let key = files[index].key();
    let listed = |numbers: &LineNumbers| numbers.version.is_some() && numbers.document == key;
    context.seen_version > 0 || context.seen_lost || context.numbers.iter().any(listed)
}

/// True when the reader was shown all of these lines, as they were numbered before the action.
pub(crate) fn has_seen(
    files: &OpenFiles,
    index: usize,
    lines: &Range<usize>,
    context: &Context,
) -> bool {
    let log = files[index].line_log();
    let shown = known_lines(files, index, context).into_iter().filter(|known| known.shown);
    let now = shown.filter_map(|known| {
        log.survivors(known.lines, known.baseline, context.version, PIECES_MAX).ok()
    });
    let now = now.flat_map(|(pieces, _)| pieces);
    let seen: usize = now
        .filter_map(|(then, to)| overlap(&(to..to + then.len()), lines))
        .map(|both| both.len())
        .sum();
    seen >= lines.len()
}

/// Returns the numbers of a file that the reader knows: those that it was shown, and those of the
/// version that it saw last.
fn known_lines<'a>(files: &OpenFiles, index: usize, context: &'a Context) -> Vec<KnownLines<'a>> {
    let file = &files[index];
    let count = |baseline: Baseline<'_>| {
        let growth = file.line_log().growth_since(baseline)?;
        Some(file.buffer().line_count().saturating_add_signed(-growth))
    };
    let listed = context.numbers.iter().filter(|numbers| numbers.version.is_some());
    let last = listed.map(|numbers| numbers.last).max().unwrap_or(0);
    let unlisted = unlisted_baseline(files, index, context);
    let all = unlisted.and_then(count).unwrap_or(0).max(last as usize);
    let parts = baselines(files, index, 0..all, context).into_iter();
    let known = parts.filter_map(|part| {
        let baseline = part.baseline?;
        let end = part.lines.end.min(count(baseline)?);
        let lines = part.lines.start..end;
        (!lines.is_empty()).then_some(KnownLines { lines, baseline, shown: part.listed })
    });
    known.collect()
}

impl Renumbering {
    /// Returns what to tell the daemon: later numbers take precedence.
    pub fn numbers(&self, document: &str, version: u64) -> Vec<LineNumbers> {
        let numbers = |lines: &Range<usize>| {
            LineNumbers::shown(document, lines.start as u64 + 1, lines.end as u64, version)
        };
        let retired = self.retired_from.map(|first| LineNumbers {
            version: None,
            last: u64::MAX,
            ..LineNumbers::shown(document, first, first, version)
        });
        let given = self.given_before.iter();
        let given = given.map(|lines| LineNumbers { version: None, ..numbers(lines) });
        // What is as it was isn't mentioned.
        let was = |lines: &Range<usize>| Some(lines.start as u64 + 1);
        let kept = self.kept.iter().map(|lines| LineNumbers { was: was(lines), ..numbers(lines) });
        let moves = self.told.iter().chain(&self.moves).map(|(lines, to)| LineNumbers {
            was: was(lines).filter(|_| lines.start != *to),
            ..numbers(&(*to..*to + lines.len()))
        });
        retired.into_iter().chain(given).chain(kept).chain(moves).collect()
    }

    /// Leaves out what is already told, and tells again what is as it was before.
    fn subtract(&mut self, before: &Renumbering) {
        let is_told = |(lines, to): &(Range<usize>, usize)| {
            before.moves.iter().any(|(told, there)| {
                overlap(told, lines).as_ref() == Some(lines)
                    && there + (lines.start - told.start) == *to
            })
        };
        self.given_before = before.moves.iter().map(|(lines, to)| *to..*to + lines.len()).collect();
        let moves = std::mem::take(&mut self.moves);
        (self.told, self.moves) = moves.into_iter().partition(is_told);
        let same = self.kept.iter().chain(&self.unshown);
        let back = same.flat_map(|lines| {
            before.moves.iter().filter_map(|(told, _)| overlap(told, lines)).collect::<Vec<_>>()
        });
        let back: Vec<_> = back.collect();
        back.into_iter().for_each(|lines| self.add_move(lines.clone(), lines.start));
        self.moves.sort_by_key(|(lines, _)| lines.start);
        if self.retired_from.is_some() && self.retired_from == before.retired_from {
            self.retired_before = true;
        }
        self.limit();
    }

    fn add_move(&mut self, lines: Range<usize>, to: usize) {
        match self.moves.last_mut() {
            Some((before, at)) if before.end == lines.start && *at + before.len() == to => {
                before.end = lines.end;
            }
            _ => self.moves.push((lines, to)),
        }
    }

    /// Retires the numbers from the first move on that is one too many.
    fn limit(&mut self) {
        if self.moves.len() > MOVES_TOLD {
            let untold = self.moves.split_off(MOVES_TOLD);
            let first = untold.iter().map(|(lines, to)| lines.start.min(*to)).min();
            let first = first.map_or(u64::MAX, |first| first as u64 + 1);
            self.retired_from = Some(self.retired_from.map_or(first, |from| from.min(first)));
        }
        let Some(from) = self.retired_from else { return };
        // What was told of later numbers stays true.
        let told = self
            .told
            .iter()
            .chain(&self.moves)
            .map(|(lines, to)| (to + lines.len()) as u64 + 1)
            .max();
        let from = from.max(told.unwrap_or(0));
        self.retired_from = Some(from);
        let end = (from - 1) as usize;
        self.kept.retain_mut(|lines| {
            lines.end = lines.end.min(end);
            lines.start < lines.end
        });
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> Option<Range<usize>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (!both.is_empty()).then_some(both)
}
