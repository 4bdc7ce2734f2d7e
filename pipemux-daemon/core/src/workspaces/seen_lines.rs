//! Which line numbers of a session a reader was shown, and in which version: what its numbers refer
//! to.
//!
//! **Invariant: a number is never attributed to a version in which its reader wasn't shown it.**
//! What exceeds a bound is retired: its numbers are refused as stale until they are shown again.

use pipemux_proto::app::Invoke;
use pipemux_proto::{Incarnation, LineNumbers};

use crate::limits::{LINE_RANGES_MAX, SEEN_DOCUMENTS_MAX};

/// The process and the version that showed something.
pub type ShownVersion = (Incarnation, u64);

/// A reader's knowledge of the line numbers of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenLines {
    /// The documents, least recently updated first.
    documents: Vec<Document>,
    /// True when numbers may have been shown that aren't known any more.
    forgotten: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Document {
    name: String,
    /// The ranges, in ascending order and without overlaps.
    ranges: Vec<LineRange>,
}

/// Numbers that count in one version; `None` when they are retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineRange {
    first: u64,
    last: u64,
    seen: Option<ShownVersion>,
}

/// A statement of an answer on the line numbers of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineUpdate {
    pub document: String,
    pub first: u64,
    pub last: u64,
    /// The process and version for which the numbers hold; `None` if they are retired.
    pub seen: Option<ShownVersion>,
    /// The condition under which the update applies.
    pub when: When,
}

/// The condition of a line update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always: the answer shows or maps the numbers.
    Always,
    /// Only if the reader last saw these numbers in this version: the answer leaves them out
    /// because they still name the same lines. Other numbers stay unchanged.
    StillIn(ShownVersion),
    /// As `StillIn`, but other numbers are retired: the answer may or may not show them.
    StillInOrRetire(ShownVersion),
}

impl LineUpdate {
    /// Makes what it says of one process count for the next one.
    pub(super) fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let base = match &mut self.when {
            When::Always => None,
            When::StillIn(base) | When::StillInOrRetire(base) => Some(base),
        };
        for (app, _) in self.seen.iter_mut().chain(base).filter(|(app, _)| *app == from) {
            *app = to;
        }
    }
}

impl SeenLines {
    /// Makes the knowledge of a reader who may have been shown numbers that nobody knows any more.
    pub fn forgotten() -> Self {
        Self { forgotten: true, ..Self::default() }
    }

    /// Applies what an answer says.
    pub fn update(&mut self, update: &LineUpdate) {
        let LineUpdate { document, first, last, seen, when } = update;
        if first > last {
            return;
        }
        let parts: Vec<LineRange> = match when {
            When::Always => self.not_newer(document, *first, *last, *seen),
            When::StillIn(base) | When::StillInOrRetire(base) => {
                let retire = matches!(when, When::StillInOrRetire(_));
                let parts = self.parts(document, *first, *last).into_iter();
                // What another part of the same answer showed counts in its version already.
                let stands = |range: &LineRange| [Some(*base), *seen].contains(&range.seen);
                let updated = parts.filter_map(|(range, known)| match known {
                    true if stands(&range) => Some(LineRange { seen: *seen, ..range }),
                    false => Some(LineRange { seen: *seen, ..range }),
                    true => retire.then_some(LineRange { seen: None, ..range }),
                });
                updated.collect()
            }
        };
        for part in parts {
            self.set(document, part);
        }
    }

    /// Returns true when none of the numbers was shown in another version than this one.
    pub fn all_in(&self, document: &str, first: u64, last: u64, base: ShownVersion) -> bool {
        let parts = self.parts(document, first, last);
        parts.iter().all(|(range, known)| !known || range.seen == Some(base))
    }

    /// Returns the parts of a range whose numbers mean the same as in other knowledge.
    pub fn same_in(&self, other: &Self, document: &str, first: u64, last: u64) -> Vec<(u64, u64)> {
        let same = |(own, known): (LineRange, bool)| {
            let others = other.parts(document, own.first, own.last).into_iter();
            others.filter(move |(range, others)| *others == known && range.seen == own.seen)
        };
        let parts = self.parts(document, first, last).into_iter().flat_map(same);
        parts.map(|(range, _)| (range.first, range.last)).collect()
    }

    /// Makes what was seen of one process count as seen of the next one.
    pub fn hand_over(&mut self, from: Incarnation, to: Incarnation) {
        let ranges = self.documents.iter_mut().flat_map(|document| &mut document.ranges);
        for (app, _) in ranges.filter_map(|range| range.seen.as_mut()) {
            if *app == from {
                *app = to;
            }
        }
    }

    /// Says in a request what the numbers in it refer to. `current` is the process whose versions
    /// the request's app knows; none when the app died and the request is sent to the next one.
    pub fn write_to(&self, invoke: &mut Invoke, current: Option<Incarnation>) {
        let numbers = self.documents.iter().flat_map(|document| {
            document.ranges.iter().map(|LineRange { first, last, seen }| LineNumbers {
                document: document.name.clone(),
                first: *first,
                last: *last,
                version: seen.map(|(app, version)| if Some(app) == current { version } else { 0 }),
                was: None,
            })
        });
        invoke.forgotten = self.forgotten;
        invoke.numbers = numbers.collect();
    }

    /// Returns the parts of a range of numbers, each with whether it is known.
    fn parts(&self, document: &str, first: u64, last: u64) -> Vec<(LineRange, bool)> {
        let known = self.documents.iter().find(|known| known.name == document);
        let ranges = known.map_or(&[][..], |known| &known.ranges);
        let (mut parts, mut from) = (Vec::new(), Some(first));
        let unknown = |first, last| (LineRange { first, last, seen: None }, false);
        for range in ranges.iter().filter(|range| range.last >= first && range.first <= last) {
            let (start, end) = (range.first.max(first), range.last.min(last));
            if let Some(from) = from.filter(|from| *from < start) {
                parts.push(unknown(from, start - 1));
            }
            parts.push((LineRange { first: start, last: end, seen: range.seen }, true));
            from = end.checked_add(1);
        }
        if let Some(from) = from.filter(|from| *from <= last) {
            parts.push(unknown(from, last));
        }
        parts
    }

    /// Returns the parts of a range whose numbers weren't shown in a later version of the same
    /// process: answers may be confirmed in another order than they were written in.
    fn not_newer(
        &self,
        document: &str,
        first: u64,
        last: u64,
        seen: Option<ShownVersion>,
    ) -> Vec<LineRange> {
        let newer = |had: Option<ShownVersion>| match (had, seen) {
            (Some(had), Some(seen)) => had > seen,
            _ => false,
        };
        let parts = self.parts(document, first, last).into_iter();
        let kept = parts.filter(|(range, known)| !known || !newer(range.seen));
        kept.map(|(range, _)| LineRange { seen, ..range }).collect()
    }

    fn set(&mut self, name: &str, new: LineRange) {
        let at = self.documents.iter().position(|document| document.name == name);
        let mut document = match at {
            Some(at) => self.documents.remove(at),
            None => Document { name: name.to_owned(), ranges: Vec::new() },
        };
        document.set(new);
        self.documents.push(document);
        if self.documents.len() > SEEN_DOCUMENTS_MAX {
            self.documents.remove(0);
            self.forgotten = true;
        }
    }
}

impl Document {
    fn set(&mut self, new: LineRange) {
        let mut ranges: Vec<LineRange> = Vec::with_capacity(self.ranges.len() + 2);
        for old in self.ranges.drain(..) {
            if old.last < new.first || old.first > new.last {
                ranges.push(old);
                continue;
            }
            if old.first < new.first {
                ranges.push(LineRange { last: new.first - 1, ..old });
            }
            if old.last > new.last {
                ranges.push(LineRange { first: new.last + 1, ..old });
            }
        }
        let at = ranges.partition_point(|range| range.first < new.first);
        ranges.insert(at, new);
        for range in ranges {
            match self.ranges.last_mut() {
                Some(before)
                    if before.seen == range.seen
                        && before.last.checked_add(1) == Some(range.first) =>
                {
                    before.last = range.last;
                }
                _ => self.ranges.push(range),
            }
        }
        if self.ranges.len() > LINE_RANGES_MAX {
            self.ranges = vec![LineRange { first: 0, last: u64::MAX, seen: None }];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: Incarnation = Incarnation(1);

    fn update(first: u64, last: u64, version: u64) -> LineUpdate {
        let seen = (version > 0).then_some((APP, version));
        LineUpdate { document: "a".into(), first, last, seen, when: When::Always }
    }

    fn written(lines: &SeenLines, seen_version: u64) -> Vec<(u64, u64, Option<u64>)> {
        let mut invoke = Invoke { seen_version: Some(seen_version), ..Invoke::default() };
        lines.write_to(&mut invoke, Some(APP));
        invoke.numbers.iter().map(|n| (n.first, n.last, n.version)).collect()
    }

    #[test]
    fn numbers_mean_the_same_where_both_were_shown_them_in_one_version_or_not_at_all() {
        let (mut then, mut now) = (SeenLines::default(), SeenLines::default());
        then.update(&update(1, 40, 1));
        now.update(&update(1, 40, 1));
        now.update(&update(10, 12, 3));
        now.update(&update(50, 60, 3));
        assert_eq!(now.same_in(&then, "a", 5, 55), [(5, 9), (13, 40), (41, 49)]);
        assert_eq!(now.same_in(&then, "b", 5, 55), [(5, 55)]);
    }

    #[test]
    fn later_answers_override_and_merge() {
        let mut lines = SeenLines::default();
        lines.update(&update(1, 40, 1));
        assert_eq!(written(&lines, 1), [(1, 40, Some(1))]);
        lines.update(&update(10, 12, 3));
        assert_eq!(written(&lines, 3), [(1, 9, Some(1)), (10, 12, Some(3)), (13, 40, Some(1))]);
        // An answer that is confirmed late.
        lines.update(&update(8, 20, 2));
        let expected = [
            (1, 7, Some(1)),
            (8, 9, Some(2)),
            (10, 12, Some(3)),
            (13, 20, Some(2)),
            (21, 40, Some(1)),
        ];
        assert_eq!(written(&lines, 3), expected);
        lines.update(&update(5, u64::MAX, 0));
        assert_eq!(written(&lines, 1), [(1, 4, Some(1)), (5, u64::MAX, None)]);
        lines.update(&update(1, 40, 4));
        assert_eq!(written(&lines, 4), [(1, 40, Some(4)), (41, u64::MAX, None)]);
    }

    #[test]
    fn numbers_that_an_answer_leaves_out_advance_only_from_its_base() {
        let mut lines = SeenLines::default();
        lines.update(&update(1, 40, 1));
        lines.update(&update(10, 12, 2));
        let when = When::StillIn((APP, 1));
        lines.update(&LineUpdate { when, ..update(1, 50, 3) });
        assert_eq!(written(&lines, 3), [(1, 9, Some(3)), (10, 12, Some(2)), (13, 50, Some(3))]);
        let when = When::StillInOrRetire((APP, 3));
        lines.update(&LineUpdate { when, ..update(9, 10, 4) });
        let start = [(1, 8, Some(3)), (9, 9, Some(4)), (10, 10, None), (11, 12, Some(2))];
        assert_eq!(written(&lines, 4)[..4], start);
        // A number that the same answer left out and names as well stays what it is.
        lines.update(&LineUpdate { when: When::StillIn((APP, 3)), ..update(1, 8, 5) });
        lines.update(&LineUpdate { when: When::StillInOrRetire((APP, 3)), ..update(2, 3, 5) });
        assert_eq!(written(&lines, 5)[0], (1, 8, Some(5)));
        lines.update(&update(1, 8, 6));
        assert!(lines.all_in("a", 1, 8, (APP, 6)) && !lines.all_in("a", 8, 9, (APP, 6)));
        assert!(lines.all_in("b", 1, 8, (APP, 3)), "never shown");
    }

    #[test]
    fn numbers_beyond_a_bound_are_retired_or_forgotten() {
        let mut lines = SeenLines::default();
        for range in 0..LINE_RANGES_MAX as u64 {
            lines.update(&update(1 + 2 * range, 1 + 2 * range, 1 + range));
        }
        assert_eq!(written(&lines, 1).len(), LINE_RANGES_MAX);
        lines.update(&update(1_000_000, 1_000_000, 7));
        assert_eq!(written(&lines, 1), [(0, u64::MAX, None)]);
        for document in 0..SEEN_DOCUMENTS_MAX {
            lines.update(&LineUpdate { document: document.to_string(), ..update(1, 1, 1) });
        }
        let mut invoke = Invoke::default();
        lines.write_to(&mut invoke, Some(APP));
        assert!(invoke.forgotten && invoke.numbers.iter().all(|n| n.document != "a"));
    }

    #[test]
    fn versions_of_another_process_are_written_as_lost() {
        let mut lines = SeenLines::default();
        lines.update(&update(1, 9, 5));
        let mut invoke = Invoke { seen_version: Some(5), ..Invoke::default() };
        lines.write_to(&mut invoke, Some(Incarnation(2)));
        assert_eq!(invoke.numbers[0].version, Some(0));
        lines.hand_over(APP, Incarnation(2));
        lines.write_to(&mut invoke, Some(Incarnation(2)));
        assert_eq!(invoke.numbers[0].version, Some(5));
    }
}
