//! What a second run fixed and broke.

use pipemux_problems::Comparison;

use crate::support::{read, report};

#[test]
fn second_run_tells_what_changed() {
    let before = read("a.c:3:1: error: first\na.c:9:1: error: second\nb.c:1:1: warning: third\n");
    let after = read("a.c:12:1: error: second\nb.c:1:1: warning: third\nb.c:2:1: error: fourth\n");
    let comparison = Comparison::of(&before, &after);
    let messages = |problems: &[pipemux_problems::Problem]| -> Vec<String> {
        problems.iter().map(|problem| problem.message.clone()).collect()
    };
    assert_eq!(messages(&comparison.fixed), ["first"]);
    assert_eq!(messages(&comparison.new), ["fourth"]);
    assert_eq!(messages(&comparison.still), ["second", "third"]);
    // A problem that moved is told where it is now.
    assert_eq!(comparison.still[0].place.as_ref().unwrap().line, Some(12));
    assert_eq!(comparison.summary(), "1 fixed, 1 new, 2 still there");
}

#[test]
fn mended_tests_are_fixed() {
    let comparison = Comparison::of(&report("cargo_test"), &report("cargo_test_ok"));
    assert_eq!(comparison.fixed_tests.len(), 5);
    assert_eq!(comparison.still.len(), 2);
    assert!(comparison.new.is_empty() && comparison.new_tests.is_empty());
    assert_eq!(comparison.summary(), "5 fixed, 2 still there");
}

#[test]
fn problems_that_are_alike_are_counted() {
    let before = read("a.c:1:1: error: same\na.c:2:1: error: same\n");
    let after = read("a.c:1:1: error: same\n");
    let comparison = Comparison::of(&before, &after);
    assert_eq!((comparison.fixed.len(), comparison.still.len()), (1, 1));
}

#[test]
fn summary_counts_problems_tests_and_lines() {
    let lines = crate::support::fixture("cargo_test").lines().count();
    assert_eq!(
        report("cargo_test").summary(),
        format!("2 warnings · 5 failed, 1 passed, 1 skipped · {lines} lines")
    );
    assert_eq!(read("a.c:1:2: error: bad").summary(), "1 error · 1 line");
    assert_eq!(read("").summary(), "no output");
}

#[test]
fn running_command_tells_what_was_found_so_far() {
    let mut reader = pipemux_problems::OutputReader::new();
    reader.feed(b"a.c:1:2: error: first\n  source\nb.c:");
    let so_far = reader.so_far();
    assert_eq!(so_far.problems[0].detail, ["  source"]);
    reader.feed(b"1:2: error: second\n");
    assert_eq!(reader.finish().problems.len(), 2);
}
