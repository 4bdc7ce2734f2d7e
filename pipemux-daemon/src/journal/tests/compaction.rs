//! Writing the log anew while records come.

use std::time::{Duration, Instant};

use super::*;

/// Goes on until that is done.
#[track_caller]
fn until(journal: &mut Journal, done: impl Fn(&Journal) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done(journal) {
        journal.poll_compaction().unwrap();
        assert!(Instant::now() < end, "it goes on for ever");
        std::thread::yield_now();
    }
}

fn is_in_both(journal: &Journal) -> bool {
    journal.compaction.as_ref().is_some_and(|compaction| compaction.both().is_some())
}

#[test]
fn at_every_moment_the_log_has_every_record() {
    let (directory, path) = in_directory();
    let mut journal = Journal::create(&path, &records(30)).unwrap();
    journal.start_compaction(records(2)).unwrap();
    // As the log was: nothing of it is lost by what comes meanwhile.
    let mut old = records(30);
    let mut new = records(2);
    let add = |journal: &mut Journal, old: &mut Vec<Record>, new: &mut Vec<Record>| {
        let next = record(old.len() as u64);
        append(journal, &next).unwrap();
        old.push(next.clone());
        new.push(next);
        let now = sound(&path);
        assert!(now == *old || now == *new, "{now:#?}");
    };
    add(&mut journal, &mut old, &mut new);
    add(&mut journal, &mut old, &mut new);
    until(&mut journal, is_in_both);
    add(&mut journal, &mut old, &mut new);
    until(&mut journal, |journal| journal.compaction.is_none());
    assert_eq!(sound(&path), new);
    add(&mut journal, &mut old, &mut new);
    assert_eq!(sound(&path), new);
    drop(journal);
    assert_eq!(sound(&path), new);
    assert_eq!(names(directory.path()), ["state.log"]);
}

#[test]
fn an_end_in_the_middle_loses_nothing() {
    for both in [false, true] {
        let (directory, path) = in_directory();
        let mut journal = Journal::create(&path, &records(3)).unwrap();
        journal.start_compaction(records(3)).unwrap();
        append(&mut journal, &record(3)).unwrap();
        if both {
            until(&mut journal, is_in_both);
        }
        append(&mut journal, &record(4)).unwrap();
        drop(journal);
        assert_eq!(sound(&path), records(5));
        if both {
            assert_eq!(names(directory.path()), ["state.log"]);
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_anew_goes_on() {
    let (_directory, path) = in_directory();
    let mut journal = Journal::create(&path, &records(3)).unwrap();
    // No file can be made there.
    fs::create_dir_all(temp_path(&path).join("inside")).unwrap();
    journal.start_compaction(records(3)).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let failed = std::iter::repeat_with(|| journal.poll_compaction()).find(|went| {
        assert!(Instant::now() < end, "it goes on for ever");
        went.is_err()
    });
    assert!(failed.is_some());
    append(&mut journal, &record(3)).unwrap();
    assert_eq!(sound(&path), records(4));
    assert!(!journal.needs_compaction());
}

#[test]
fn an_overgrown_log_says_so_until_it_is_written_anew() {
    let (_directory, path) = in_directory();
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
    until(&mut journal, |journal| journal.compaction.is_none());
    assert!(!journal.needs_compaction());
    assert_eq!(sound(&path), [big]);
}
