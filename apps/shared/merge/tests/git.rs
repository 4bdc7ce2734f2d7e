//! Merges are what `git merge-file` gives, or conflicts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;

use pipemux_merge::{Conflict, merge};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Returns what Git gives; `None` for a conflict.
fn git(directory: &Path, base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        fs::write(directory.join(name), text).unwrap();
    }
    let command = ["merge-file", "-p", "-q", "ours", "base", "theirs"];
    let merged = Command::new("git").args(command).current_dir(directory).output().unwrap();
    assert!(merged.status.code().is_some_and(|code| code < 128), "{merged:?}");
    merged.status.success().then_some(merged.stdout)
}

/// Lines of which many are equal, so that it matters which of them are taken for each other.
fn texts() -> impl Strategy<Value = [Vec<u8>; 3]> {
    let line =
        prop::sample::select(vec!["a\n", "b\n", "\n", "  }\n", "中文\r\n", "fn f() {\n", "x"]);
    let base = prop::collection::vec(line.clone(), 0..24);
    let edit = (0..24usize, 0..4usize, prop::collection::vec(line, 0..4));
    let edits = || prop::collection::vec(edit.clone(), 0..4);
    (base, edits(), edits()).prop_map(|(base, ours, theirs)| {
        let edited = |edits: Vec<(usize, usize, Vec<&str>)>| {
            let mut lines = base.clone();
            for (at, gone, new) in edits {
                let at = at.min(lines.len());
                lines.splice(at..(at + gone).min(lines.len()), new);
            }
            lines.concat().into_bytes()
        };
        [base.concat().into_bytes(), edited(ours), edited(theirs)]
    })
}

/// Among equal lines, two programs may choose different ones as those that changed. So a few of the
/// merges are made here though Git sees a conflict, or the reverse; none of them differs from
/// Git's.
#[test]
fn merge_is_that_of_git() {
    let directory = tempfile::tempdir().unwrap();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let (merged, only_one) = (Cell::new(0), Cell::new(0));
    let law = |[base, ours, theirs]: [Vec<u8>; 3]| {
        let expected = git(directory.path(), &base, &ours, &theirs);
        let found = merge(&base, &ours, &theirs).ok();
        match found.is_some() == expected.is_some() {
            true => prop_assert_eq!(&found, &expected),
            false => only_one.set(only_one.get() + 1),
        }
        merged.set(merged.get() + u32::from(found.is_some()));
        Ok(())
    };
    runner.run(&texts(), law).unwrap();
    let (merged, only_one) = (merged.get(), only_one.get());
    assert!(merged > cases / 3 && merged < cases, "{merged} of {cases} merged");
    assert!(only_one <= 3 + cases / 500, "{only_one} of {cases} are a conflict for only one");
}

#[test]
fn conflict_names_the_lines_of_all_three() {
    let found = merge(b"1\n2\n3\n4\n", b"0\n1\nb\n3\n4\n", b"1\nB\nC\n3\n4\n");
    assert_eq!(found, Err(vec![Conflict { base: 1..2, ours: 2..3, theirs: 1..3 }]));
    // Neither overlaps nor touches.
    assert_eq!(merge(b"1\n2\n3\n", b"a\n2\n3\n", b"1\n2\nc\n"), Ok(b"a\n2\nc\n".to_vec()));
}
