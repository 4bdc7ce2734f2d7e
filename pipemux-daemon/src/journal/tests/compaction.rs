//! Compaction while records are appended.

use std::time::{Duration, Instant};

use super::*;

/// Polls the compaction until `done` is true.
#[track_caller]
pub fn poll_until(journal: &mut Journal, done: impl Fn(&Journal) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done(journal) {
        journal.poll_compaction().unwrap();
        assert!(Instant::now() < end, "it goes on for ever");
        std::thread::yield_now();
    }
}

fn is_in_both(journal: &Journal) -> bool {
    journal.compaction.as_ref().is_some_and(|compaction| compaction.file_in_both().is_some())
}

#[test]
fn compaction_never_loses_a_record() {
    let (directory, path) = temp_journal();
    let mut journal = Journal::create(&path, &records(30)).unwrap();
    journal.start_compaction(records(2)).unwrap();
    // The old journal keeps every record while the new one is written.
    let mut old = records(30);
    let mut new = records(2);
    let add = |journal: &mut Journal, old: &mut Vec<Record>, new: &mut Vec<Record>| {
        let next = record(old.len() as u64);
        append(journal, &next).unwrap();
        old.push(next.clone());
        new.push(next);
        let now = load_undamaged(&path);
        assert!(now == *old || now == *new, "{now:#?}");
    };
    add(&mut journal, &mut old, &mut new);
    add(&mut journal, &mut old, &mut new);
    poll_until(&mut journal, is_in_both);
    add(&mut journal, &mut old, &mut new);
    poll_until(&mut journal, |journal| journal.compaction.is_none());
    assert_eq!(load_undamaged(&path), new);
    add(&mut journal, &mut old, &mut new);
    assert_eq!(load_undamaged(&path), new);
    drop(journal);
    assert_eq!(load_undamaged(&path), new);
    assert_eq!(file_names(directory.path()), ["state.log"]);
}

#[test]
fn ending_during_a_compaction_loses_nothing() {
    for both in [false, true] {
        let (directory, path) = temp_journal();
        let mut journal = Journal::create(&path, &records(3)).unwrap();
        journal.start_compaction(records(3)).unwrap();
        append(&mut journal, &record(3)).unwrap();
        if both {
            poll_until(&mut journal, is_in_both);
        }
        append(&mut journal, &record(4)).unwrap();
        drop(journal);
        assert_eq!(load_undamaged(&path), records(5));
        if both {
            assert_eq!(file_names(directory.path()), ["state.log"]);
        }
    }
}

#[test]
fn failed_compaction_leaves_the_journal_usable() {
    let (_directory, path) = temp_journal();
    let mut journal = Journal::create(&path, &records(3)).unwrap();
    // A directory at this path keeps the new file from being created.
    fs::create_dir_all(temp_path(&path).join("inside")).unwrap();
    journal.start_compaction(records(3)).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let failed = std::iter::repeat_with(|| journal.poll_compaction()).find(|went| {
        assert!(Instant::now() < end, "it goes on for ever");
        went.is_err()
    });
    assert!(failed.is_some());
    append(&mut journal, &record(3)).unwrap();
    assert_eq!(load_undamaged(&path), records(4));
    assert!(!journal.needs_compaction());
}

#[test]
fn overgrown_journal_needs_compaction_until_it_is_done() {
    let (_directory, path) = temp_journal();
    let mut journal = Journal::create(&path, &[]).unwrap();
    let opens = vec![SavedOpen { args: vec!["x".repeat(1 << 20)], ..SavedOpen::default() }];
    let big = Record::Session { workspace: None, session: "a/b".into(), opens };
    let mut appended = 0;
    while !journal.needs_compaction() {
        append(&mut journal, &big).unwrap();
        appended += 1;
    }
    assert_eq!(appended as u64, JOURNAL_GROWTH >> 20);
    journal.start_compaction(vec![big.clone()]).unwrap();
    assert!(!journal.needs_compaction());
    poll_until(&mut journal, |journal| journal.compaction.is_none());
    assert!(!journal.needs_compaction());
    assert_eq!(load_undamaged(&path), [big]);
}
