use proptest::prelude::*;

use super::*;

const OWN: &str = "mine";
const OTHER: &str = "theirs";

/// A line with an identity: its number in the version that was seen, and whether someone else altered it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Identity {
    seen: Option<usize>,
    altered: bool,
}

/// Carries out a change on lines with identities, in the plainest way.
fn carry_out(lines: &mut Vec<Identity>, change: &LineChange, own: bool) {
    match change {
        LineChange::Move(moved) => {
            let block: Vec<_> = lines.drain(moved.first..moved.first + moved.count).collect();
            let at = moved.landed();
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

/// Makes a change that fits so many lines, of raw numbers.
fn change_of(raw: &[(usize, usize, usize)], moves: bool, lines: usize) -> Option<LineChange> {
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

    /// A number means the line that had it, wherever that is now, or nothing.
    #[test]
    fn a_number_follows_its_line(raw in raw(), seen in 0..5_u64) {
        let total = 20;
        let mut log = LineLog::new(0, true);
        let mut lines: Vec<Identity> = Vec::new();
        let mut length = total;
        let mut changes = Vec::new();
        for (version, (raw, moves, own)) in (1..).zip(&raw) {
            if let Some(change) = change_of(raw, *moves, length) {
                length = length.checked_add_signed(change.growth()).unwrap();
                log.push(version, if *own { OWN } else { OTHER }, change.clone());
                changes.push((version, *own, change));
            }
        }
        // Version 0 is "none seen": the rule for that one is another test's.
        let seen = seen + 1;
        let mut before = total;
        for (_, _, change) in changes.iter().filter(|(version, ..)| *version <= seen) {
            before = before.checked_add_signed(change.growth()).unwrap();
        }
        lines.extend((0..before).map(|line| Identity { seen: Some(line), altered: false }));
        for (_, own, change) in changes.iter().filter(|(version, ..)| *version > seen) {
            carry_out(&mut lines, change, *own);
        }
        prop_assert_eq!(lines.len(), length);
        prop_assert_eq!(log.growth(by(seen)).unwrap(), length as isize - before as isize);
        for line in 0..before {
            let now = lines.iter().position(|found| found.seen == Some(line) && !found.altered);
            match (log.map(line..line + 1, by(seen)), now) {
                (Ok(mapped), Some(now)) => prop_assert_eq!(mapped, now..now + 1),
                // A line that a step of the same run replaced by several stands where they stand.
                (Ok(mapped), None) => {
                    prop_assert!(mapped.clone().all(|at| lines[at].seen.is_none()), "{mapped:?}");
                    prop_assert!(!mapped.is_empty());
                }
                (Err(_), None) => {}
                (Err(lost), Some(now)) => prop_assert!(false, "line {line} is at {now}: {lost:?}"),
            }
        }
    }

    /// A change and the one that takes it back leave every line where it was.
    #[test]
    fn an_inverse_takes_back(raw in raw()) {
        let mut length = 20;
        for (raw, moves, _) in &raw {
            let Some(change) = change_of(raw, *moves, length) else { continue };
            let back = change.inverse();
            prop_assert_eq!(&back.inverse(), &change);
            let mut lines: Vec<_> =
                (0..length).map(|line| Identity { seen: Some(line), altered: false }).collect();
            let before = lines.clone();
            carry_out(&mut lines, &change, true);
            let after = lines.len();
            carry_out(&mut lines, &back, true);
            prop_assert_eq!(lines.len(), before.len());
            for (now, then) in lines.iter().zip(&before) {
                prop_assert!(now.seen.is_none() || now.seen == then.seen);
            }
            length = after;
        }
    }

    /// A range that survives holds all lines of it that are left, as they were seen.
    #[test]
    fn a_range_keeps_its_lines(raw in raw(), start in 0..20_usize, count in 1..6_usize) {
        let total = 20;
        prop_assume!(start + count <= total);
        let mut log = LineLog::new(1, true);
        let mut lines: Vec<_> =
            (0..total).map(|line| Identity { seen: Some(line), altered: false }).collect();
        for (version, (raw, moves, own)) in (2..).zip(&raw) {
            if let Some(change) = change_of(raw, *moves, lines.len()) {
                carry_out(&mut lines, &change, *own);
                log.push(version, if *own { OWN } else { OTHER }, change);
            }
        }
        let Ok(mapped) = log.map(start..start + count, by(1)) else { return Ok(()) };
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
fn a_log_that_was_cut_knows_only_what_it_has() {
    let mut log = LineLog::new(1, true);
    for version in 2..LOG_MAX as u64 + 12 {
        log.push(version, OTHER, splices(&[(0, 0, 1)]));
    }
    assert_eq!(log.map(5..6, by(3)), Err(Lost::Unknown));
    let newest = LOG_MAX as u64 + 10;
    assert_eq!(log.map(5..6, by(newest)), Ok(6..7));
}

#[test]
fn who_saw_nothing_may_name_lines_until_someone_else_changes_some() {
    let mut log = LineLog::new(1, true);
    assert_eq!(log.map(4..5, by(0)), Ok(4..5));
    log.push(2, OWN, splices(&[(0, 3, 0)]));
    assert_eq!(log.map(4..5, by(0)), Ok(1..2));
    log.push(3, OTHER, splices(&[(9, 1, 0)]));
    assert_eq!(log.map(4..5, by(0)), Err(Lost::Unknown));
}

#[test]
fn what_another_changed_is_shown_where_it_is_now() {
    let mut log = LineLog::new(1, true);
    log.push(2, OTHER, splices(&[(10, 2, 1)]));
    log.push(3, OTHER, splices(&[(0, 0, 5)]));
    assert_eq!(log.map(11..12, by(1)), Err(Lost::Changed(15..16)));
    assert_eq!(log.map(12..13, by(1)), Ok(16..17));
}

#[test]
fn own_replacement_of_a_whole_range_stands_for_it() {
    let mut log = LineLog::new(1, true);
    log.push(2, OWN, splices(&[(10, 3, 5)]));
    assert_eq!(log.map(10..13, by(1)), Ok(10..15));
    assert_eq!(log.map(11..12, by(1)), Err(Lost::Replaced(10..15)));
    assert_eq!(log.map(13..14, by(1)), Ok(15..16));
    assert_eq!(log.tail(by(1)), Some(15));
}

#[test]
fn numbers_of_an_earlier_life_count_only_when_its_lines_are_known_to_be_these() {
    let lost = |run| Seen { version: 0, lost: true, run };
    let mut log = LineLog::new(1, true);
    assert_eq!(log.map(4..5, lost(OWN)), Err(Lost::Unknown));
    log.trust();
    assert_eq!(log.map(4..5, lost(OWN)), Ok(4..5));
    log.push(2, OWN, splices(&[(0, 3, 0)]));
    assert_eq!(log.map(4..5, lost(OWN)), Ok(1..2));
    assert_eq!(log.map(4..5, lost(OTHER)), Err(Lost::Unknown));
    let mut unknown = LineLog::new(1, false);
    unknown.trust();
    assert_eq!(unknown.map(4..5, lost(OWN)), Err(Lost::Unknown));
    assert_eq!(unknown.map(4..5, by(0)), Err(Lost::Unknown));
    assert_eq!(unknown.map(4..5, by(1)), Ok(4..5));
}

fn by(version: u64) -> Seen<'static> {
    Seen { version, lost: false, run: OWN }
}
