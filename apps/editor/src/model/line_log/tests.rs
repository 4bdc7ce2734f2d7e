use proptest::prelude::*;

use super::super::line_change::{LineMove, LineSplice};
use super::*;

/// The run whose numbers the tests map.
const OWN: &str = "mine";
const OTHER: &str = "theirs";

/// A line with an identity: its number in the version that the reader saw, and whether another run
/// altered it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Identity {
    seen: Option<usize>,
    altered: bool,
}

/// Makes a change on lines with identities. This is the model that the log is compared with.
fn apply_to_model(lines: &mut Vec<Identity>, change: &LineChange, own: bool) {
    match change {
        LineChange::Move(moved) => {
            let block: Vec<_> = lines.drain(moved.first..moved.first + moved.count).collect();
            let at = moved.destination();
            lines.splice(at..at, block);
        }
        LineChange::Splices(splices) => {
            for splice in splices.iter().rev() {
                let range = splice.start..splice.start + splice.removed;
                let fresh = if splice.removed == splice.inserted {
                    lines[range.clone()]
                        .iter()
                        .map(|line| Identity { altered: line.altered || !own, ..*line })
                        .collect()
                } else {
                    vec![Identity { seen: None, altered: false }; splice.inserted]
                };
                lines.splice(range, fresh);
            }
        }
    }
}

/// Returns a valid change of a text with that many lines, made of raw numbers; `None` if they make
/// none.
fn change_from(raw: &[(usize, usize, usize)], moves: bool, lines: usize) -> Option<LineChange> {
    if moves {
        let (first, count, before) = *raw.first()?;
        let first = first % lines.max(1);
        let count = 1 + count % 4;
        if first + count > lines {
            return None;
        }
        let before = before % (lines + 1);
        let inside = (first..=first + count).contains(&before);
        return (!inside).then_some(LineChange::Move(LineMove { first, count, before }));
    }
    let mut splices: Vec<LineSplice> = Vec::new();
    let mut from = 0;
    for (gap, removed, inserted) in raw {
        let start = from + gap % 5 + usize::from(from > 0);
        let removed = removed % 4;
        let inserted = inserted % 4;
        if start + removed > lines {
            break;
        }
        if removed + inserted > 0 {
            splices.push(LineSplice { start, removed, inserted });
        }
        from = start + removed;
    }
    (!splices.is_empty()).then_some(LineChange::Splices(splices))
}

type Raw = Vec<(Vec<(usize, usize, usize)>, bool, bool)>;

fn raw() -> impl Strategy<Value = Raw> {
    let splice = (0..40_usize, 0..9_usize, 0..40_usize);
    prop::collection::vec(
        (prop::collection::vec(splice, 1..4), prop::bool::weighted(0.3), any::<bool>()),
        1..8,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A number maps to the line that had it, wherever that line is now, or to nothing.
    #[test]
    fn number_maps_to_the_line_that_had_it(raw in raw(), seen in 0..5_u64) {
        let total = 20;
        let mut log = LineLog::new(0);
        let mut lines: Vec<Identity> = Vec::new();
        let mut length = total;
        let mut changes = Vec::new();
        for (version, (raw, moves, own)) in (1..).zip(&raw) {
            if let Some(change) = change_from(raw, *moves, length) {
                length = length.checked_add_signed(change.growth()).unwrap();
                log.record(version, if *own { OWN } else { OTHER }, change.clone());
                changes.push((version, *own, change));
            }
        }
        // Version 0 means that nothing was seen, which another test covers.
        let seen = seen + 1;
        let mut before = total;
        for (_, _, change) in changes.iter().filter(|(version, ..)| *version <= seen) {
            before = before.checked_add_signed(change.growth()).unwrap();
        }
        lines.extend((0..before).map(|line| Identity { seen: Some(line), altered: false }));
        for (_, own, change) in changes.iter().filter(|(version, ..)| *version > seen) {
            apply_to_model(&mut lines, change, *own);
        }
        prop_assert_eq!(lines.len(), length);
        prop_assert_eq!(log.growth_since(seen_in(seen)).unwrap(), length as isize - before as isize);
        for line in 0..before {
            let now = lines.iter().position(|found| found.seen == Some(line) && !found.altered);
            match (log.map_range(line..line + 1, seen_in(seen)), now) {
                (Ok(mapped), Some(now)) => prop_assert_eq!(mapped, now..now + 1),
                // A line that the same run replaced by several maps to all of them.
                (Ok(mapped), None) => {
                    prop_assert!(mapped.clone().all(|at| lines[at].seen.is_none()), "{mapped:?}");
                    prop_assert!(!mapped.is_empty());
                }
                (Err(_), None) => {}
                (Err(why), Some(now)) => prop_assert!(false, "line {line} is at {now}: {why:?}"),
            }
        }
    }

    /// A change followed by its inverse leaves every line in its place.
    #[test]
    fn inverse_takes_a_change_back(raw in raw()) {
        let mut length = 20;
        for (raw, moves, _) in &raw {
            let Some(change) = change_from(raw, *moves, length) else { continue };
            let back = change.inverse();
            prop_assert_eq!(&back.inverse(), &change);
            let mut lines: Vec<_> =
                (0..length).map(|line| Identity { seen: Some(line), altered: false }).collect();
            let before = lines.clone();
            apply_to_model(&mut lines, &change, true);
            let after = lines.len();
            apply_to_model(&mut lines, &back, true);
            prop_assert_eq!(lines.len(), before.len());
            for (now, then) in lines.iter().zip(&before) {
                prop_assert!(now.seen.is_none() || now.seen == then.seen);
            }
            length = after;
        }
    }

    /// A range that can be mapped contains all of its lines that are left, none of them altered.
    #[test]
    fn mapped_range_contains_its_remaining_lines(raw in raw(), start in 0..20_usize, count in 1..6_usize) {
        let total = 20;
        prop_assume!(start + count <= total);
        let mut log = LineLog::new(1);
        let mut lines: Vec<_> =
            (0..total).map(|line| Identity { seen: Some(line), altered: false }).collect();
        for (version, (raw, moves, own)) in (2..).zip(&raw) {
            if let Some(change) = change_from(raw, *moves, lines.len()) {
                apply_to_model(&mut lines, &change, *own);
                log.record(version, if *own { OWN } else { OTHER }, change);
            }
        }
        let Ok(mapped) = log.map_range(start..start + count, seen_in(1)) else { return Ok(()) };
        prop_assert!(mapped.end <= lines.len());
        let wanted = |line: &Identity| line.seen.is_some_and(|seen| seen >= start && seen < start + count);
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| wanted(line)) {
            prop_assert!(mapped.contains(&at) && !line.altered, "{at} of {mapped:?}");
        }
    }
}

fn splices(splices: &[(usize, usize, usize)]) -> LineChange {
    let splice = |(start, removed, inserted): &(usize, usize, usize)| LineSplice {
        start: *start,
        removed: *removed,
        inserted: *inserted,
    };
    LineChange::Splices(splices.iter().map(splice).collect())
}

#[test]
fn truncated_log_refuses_versions_before_its_floor() {
    let mut log = LineLog::new(1);
    for version in 2..LINE_LOG_MAX as u64 + 12 {
        log.record(version, OTHER, splices(&[(0, 0, 1)]));
    }
    assert_eq!(log.map_range(5..6, seen_in(3)), Err(Unmapped::UnknownVersion));
    let newest = LINE_LOG_MAX as u64 + 10;
    assert_eq!(log.map_range(5..6, seen_in(newest)), Ok(6..7));
}

#[test]
fn reader_who_saw_nothing_may_number_lines_until_another_run_changes_some() {
    let mut log = LineLog::new(1);
    assert_eq!(log.map_range(4..5, seen_in(0)), Ok(4..5));
    log.record(2, OWN, splices(&[(0, 3, 0)]));
    assert_eq!(log.map_range(4..5, seen_in(0)), Ok(1..2));
    log.record(3, OTHER, splices(&[(9, 1, 0)]));
    assert_eq!(log.map_range(4..5, seen_in(0)), Err(Unmapped::UnknownVersion));
}

#[test]
fn lines_changed_by_another_run_are_reported_where_they_are_now() {
    let mut log = LineLog::new(1);
    log.record(2, OTHER, splices(&[(10, 2, 1)]));
    log.record(3, OTHER, splices(&[(0, 0, 5)]));
    assert_eq!(log.map_range(11..12, seen_in(1)), Err(Unmapped::ChangedByOther(15..16)));
    assert_eq!(log.map_range(12..13, seen_in(1)), Ok(16..17));
}

#[test]
fn range_replaced_by_the_same_run_maps_to_the_replacement() {
    let mut log = LineLog::new(1);
    log.record(2, OWN, splices(&[(10, 3, 5)]));
    assert_eq!(log.map_range(10..13, seen_in(1)), Ok(10..15));
    assert_eq!(log.map_range(11..12, seen_in(1)), Err(Unmapped::ReplacedByRun(10..15)));
    assert_eq!(log.map_range(13..14, seen_in(1)), Ok(15..16));
}

#[test]
fn numbers_from_before_a_restart_count_only_if_the_lines_are_trusted() {
    let restarted = |run| Baseline { version: 0, from_earlier_process: true, run };
    let mut log = LineLog::new(1);
    assert_eq!(log.map_range(4..5, restarted(OWN)), Err(Unmapped::UnknownVersion));
    log.trust_earlier_numbers();
    assert_eq!(log.map_range(4..5, restarted(OWN)), Ok(4..5));
    log.record(2, OWN, splices(&[(0, 3, 0)]));
    assert_eq!(log.map_range(4..5, restarted(OWN)), Ok(1..2));
    assert_eq!(log.map_range(4..5, restarted(OTHER)), Err(Unmapped::UnknownVersion));
    let mut unknown = LineLog::with_unknown_past(1);
    unknown.trust_earlier_numbers();
    assert_eq!(unknown.map_range(4..5, restarted(OWN)), Err(Unmapped::UnknownVersion));
    assert_eq!(unknown.map_range(4..5, seen_in(0)), Err(Unmapped::UnknownVersion));
    assert_eq!(unknown.map_range(4..5, seen_in(1)), Ok(4..5));
}

fn seen_in(version: u64) -> Baseline<'static> {
    Baseline { version, from_earlier_process: false, run: OWN }
}
