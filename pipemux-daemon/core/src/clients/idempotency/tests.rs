//! The records against a model that forgets nothing.

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::run_id;
use proptest::prelude::*;

use super::*;

const BEGIN: u64 = 1_765_360_800_000;

fn key(reader: u8, run_id: &str) -> ActKey {
    ActKey::saved(Some("/w".into()), Some(format!("r{reader}")), run_id)
}

fn text(text: String) -> Answer {
    Answer { exit: 0, body: Body::Text(text), delivery: 0, error: false }
}

fn restored(records: &IdempotencyRecords) -> IdempotencyRecords {
    let mut restored = IdempotencyRecords::default();
    for record in records.to_saved() {
        let Record::Acts { workspace, reader, forgotten_to, acts } = record else { panic!() };
        for act in acts {
            let key = ActKey::saved(workspace.clone(), reader.clone(), &act.run_id);
            restored.restore(&key, act.unix_ms, act.exit);
        }
        restored.restore_forgotten(workspace.zip(reader), forgotten_to);
    }
    restored
}

/// Runs that many requests of a reader, one a millisecond, and returns their keys.
fn flood(records: &mut IdempotencyRecords, reader: u8, begin: u64, count: usize) -> Vec<ActKey> {
    let run = |nth: usize| {
        let now = begin + nth as u64;
        let key = key(reader, &run_id::new(now, nth as u128));
        records.begin(&key, now);
        records.end(&key, text("done".into()), now);
        key
    };
    (0..count).map(run).collect()
}

fn assert_consistent(records: &IdempotencyRecords) {
    let acts = || records.readers.values().flat_map(|reader| reader.acts.values());
    let resting = acts().filter(|act| !matches!(act.progress, Progress::Running)).count();
    let in_order: usize = records.readers.values().map(|reader| reader.order.len()).sum();
    assert_eq!((records.order.len(), in_order), (resting, resting));
    let answers = acts().filter_map(|act| match &act.progress {
        Progress::Ended(_, Some(answer)) => Some(IdempotencyRecords::size(answer)),
        _ => None,
    });
    let answers: Vec<usize> = answers.collect();
    assert_eq!(records.with_answers.len(), answers.len());
    assert_eq!(records.bytes, answers.iter().sum::<usize>());
    assert!(records.readers.values().all(|reader| !reader.acts.is_empty()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    /// Requests arrive at any time and are retried any number of times, across daemon restarts and
    /// clock changes.
    #[test]
    fn request_whose_id_has_a_time_never_runs_twice(
        steps in prop::collection::vec((0..3u8, 0..12u64, 0..5u8, -2_000_000..4_000_000i64), 1..120),
    ) {
        let mut records = IdempotencyRecords::default();
        let mut now = BEGIN;
        let mut made: Vec<String> = Vec::new();
        let mut ran: BTreeMap<(u8, String), bool> = BTreeMap::new();
        for (reader, pick, what, passes) in steps {
            let id = match made.len() as u64 {
                known if pick < known => made[(known - 1 - pick) as usize].clone(),
                _ => {
                    made.push(run_id::new(now, made.len() as u128));
                    made[made.len() - 1].clone()
                }
            };
            let key = key(reader, &id);
            match records.get(&key, now) {
                Known::New => {
                    let before = ran.insert((reader, id), what > 0);
                    prop_assert_eq!(before, None, "it runs twice");
                    records.begin(&key, now);
                    if what > 0 {
                        records.end(&key, text(id_text(&key)), now);
                    }
                }
                Known::Answered(answer) => {
                    let own = text(id_text(&key));
                    let known = ran.contains_key(&(reader, id));
                    prop_assert!(known && (answer == own || answer.exit == 7 || answer == answered_before(0)));
                }
                Known::Running => prop_assert_eq!(ran.get(&(reader, id)), Some(&false)),
                Known::Forgotten(_) | Known::Ahead(_) => {}
            }
            now = now.saturating_add_signed(passes);
            if what == 4 {
                records = restored(&records);
                ran.values_mut().for_each(|ended| *ended = true);
            }
            assert_consistent(&records);
        }
    }
}

fn id_text(key: &ActKey) -> String {
    format!("{key:?}")
}

#[test]
fn busy_neighbour_costs_nobody_a_record() {
    let mut records = IdempotencyRecords::default();
    let mine = flood(&mut records, 1, BEGIN, 3);
    let others = flood(&mut records, 2, BEGIN + 10, READER_RECORDS_MAX + 600);
    let now = BEGIN + 100_000;
    for key in &mine {
        assert_eq!(records.get(key, now), Known::Answered(text("done".into())));
    }
    // The neighbour's own oldest are forgotten, and don't run again, nor does what comes as late.
    let forgotten =
        others.iter().filter(|key| matches!(records.get(key, now), Known::Forgotten(_)));
    assert_eq!(forgotten.count(), 600);
    assert!(matches!(records.get(&key(2, &run_id::new(BEGIN, 77)), now), Known::Forgotten(_)));
    assert_eq!(records.get(&key(1, &run_id::new(BEGIN, 77)), now), Known::New);
    assert_consistent(&records);
    let again = restored(&records);
    assert!(matches!(again.get(&others[0], now), Known::Forgotten(_)));
    assert_eq!(again.to_saved(), restored(&again).to_saved());
}

#[test]
fn all_readers_together_have_a_bound() {
    let mut records = IdempotencyRecords::default();
    let mut all = BTreeSet::new();
    for reader in 0..5 {
        let begin = BEGIN + 20_000 * u64::from(reader);
        let keys = flood(&mut records, reader, begin, READER_RECORDS_MAX);
        all.extend(keys.iter().map(id_text));
    }
    assert_eq!(all.len(), 5 * READER_RECORDS_MAX);
    assert_eq!(records.order.len(), RECORDS_MAX);
    assert!(!records.readers.contains_key(&key(0, "").owner));
    let late = key(0, &run_id::new(BEGIN, 77));
    assert!(matches!(records.get(&late, BEGIN + 100_000), Known::Forgotten(_)));
    assert_consistent(&records);
}

#[test]
fn hour_passes_before_a_request_is_forgotten() {
    let mut records = IdempotencyRecords::default();
    let first = flood(&mut records, 1, BEGIN, 1);
    let old_form = key(1, "0123456789abcdef0123456789abcdef");
    records.begin(&old_form, BEGIN);
    records.end(&old_form, text("old".into()), BEGIN);
    let now = BEGIN + RECORDS_MS;
    flood(&mut records, 1, now, 1);
    assert_eq!(records.get(&first[0], now), Known::Answered(text("done".into())));
    assert_eq!(records.get(&old_form, now), Known::Answered(text("old".into())));
    flood(&mut records, 1, now + 1, 1);
    assert!(matches!(records.get(&first[0], now + 1), Known::Forgotten(_)));
    // Without a time in the id nobody can tell any more.
    assert_eq!(records.get(&old_form, now + 1), Known::New);
}

#[test]
fn long_answers_are_dropped_before_what_became_of_the_request() {
    let mut records = IdempotencyRecords::default();
    let keys: Vec<ActKey> = (0..20).map(|nth| key(1, &run_id::new(BEGIN + nth, 0))).collect();
    for key in &keys {
        records.begin(key, BEGIN);
        records.end(key, text("x".repeat(1024 * 1024)), BEGIN);
    }
    assert_eq!(records.get(&keys[0], BEGIN), Known::Answered(answered_before(0)));
    assert!(
        matches!(records.get(&keys[19], BEGIN), Known::Answered(answer) if answer.body != answered_before(0).body)
    );
    assert!(records.bytes <= RECORDS_BYTES_MAX);
    assert_consistent(&records);
}

#[test]
fn id_of_the_future_is_refused_and_an_undated_record_lives_an_hour() {
    let mut records = IdempotencyRecords::default();
    let ahead = |ms: u64| records_get(&IdempotencyRecords::default(), BEGIN + ms);
    assert_eq!(ahead(CLOCK_AHEAD_MS), Known::New);
    assert_eq!(ahead(CLOCK_AHEAD_MS + 1), Known::Ahead(CLOCK_AHEAD_MS + 1));
    let early = ActKey::saved(None, None, "of an earlier release");
    records.restore(&early, 0, Some(3));
    records.date_undated(BEGIN);
    flood(&mut records, 1, BEGIN + RECORDS_MS, 1);
    // Any reader's request may be that one.
    let same = key(1, "of an earlier release");
    assert_eq!(records.get(&same, BEGIN), Known::Answered(answered_before(3)));
    flood(&mut records, 1, BEGIN + RECORDS_MS + 1, 1);
    assert_eq!(records.get(&same, BEGIN), Known::New);
    assert_consistent(&records);
}

fn records_get(records: &IdempotencyRecords, made: u64) -> Known {
    records.get(&key(1, &run_id::new(made, 0)), BEGIN)
}
