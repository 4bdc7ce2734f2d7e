//! Folding loses no error. Beside a recorded output stands a list, written by hand from the text,
//! of its errors and failed tests: `error FILE:LINE WORDS` (`-` where the tool names no place) and
//! `test NAME WORDS`. A list knows nothing of the recognisers.

use pipemux_problems::{Entry, Report, Severity};

use crate::support::{fixture, read};

/// The recorded outputs that have a list.
fn listed() -> Vec<(String, Vec<String>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/problems/fixtures");
    let mut names: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".errors").map(str::to_owned))
        .collect();
    names.sort();
    let lines = |name: &String| {
        let text = std::fs::read_to_string(format!("{path}/{name}.errors")).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    names.iter().map(|name| (name.clone(), lines(name))).collect()
}

/// Each error and failed test of a report as (place or name, all its words, its line of the
/// output).
fn found(report: &Report, of: &str) -> Vec<(String, String, u64)> {
    let errors = report.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let errors = errors.map(|problem| {
        let place = problem.place.as_ref().map(ToString::to_string).unwrap_or_default();
        (place, format!("{} {}", problem.message, problem.detail.join(" ")), problem.at)
    });
    let failures = report.failures.iter().map(|failure| {
        let words = format!("{} {}", failure.assertion, failure.detail.join(" "));
        (failure.name.clone(), words, failure.at)
    });
    if of == "error" { errors.collect() } else { failures.collect() }
}

/// Returns the lines of a list that nothing in a report stands for. Each thing stands for one line.
fn missing(report: &Report, expected: &[String]) -> Vec<String> {
    let is_shown = |at: u64| {
        report
            .transcript
            .iter()
            .any(|entry| matches!(entry, Entry::Line { number, .. } if *number == at))
    };
    let mut used: Vec<(String, String, u64)> = Vec::new();
    let mut missing = Vec::new();
    for line in expected {
        let (kind, rest) = line.split_once(' ').unwrap();
        let stands_for = |(place, words, at): &(String, String, u64)| {
            let fits = rest.match_indices(' ').any(|(cut, _)| {
                let (wanted, said) = (&rest[..cut], &rest[cut + 1..]);
                let is_there = match kind {
                    _ if wanted == "-" => true,
                    "error" => format!("{place}:").contains(&format!("{wanted}:")),
                    _ => place.contains(wanted),
                };
                is_there && words.contains(said)
            });
            fits && is_shown(*at)
        };
        let hit =
            found(report, kind).into_iter().find(|one| !used.contains(one) && stands_for(one));
        match hit {
            Some(one) => used.push(one),
            None => missing.push(line.clone()),
        }
    }
    missing
}

#[test]
fn every_error_of_a_recorded_output_is_among_the_problems() {
    let all = listed();
    assert!(all.len() >= 30, "{} lists", all.len());
    for (name, expected) in all {
        let report = read(&fixture(&name));
        assert_eq!(missing(&report, &expected), [""; 0], "{name}");
        // Nothing else is counted.
        let count = report.counts.errors as usize + report.failures.len();
        assert_eq!(count, expected.len(), "{name}: {:?} {:?}", report.problems, report.failures);
    }
}

#[test]
fn no_error_is_lost_in_a_long_output() {
    let progress: String = (0..4_000).map(|n| format!("[{n}/4000] CC object{n}.o\n")).collect();
    let same = "the same line, again\n".repeat(4_000);
    let different: String = (0..2_000).map(|n| format!("step {n}: {:x}\n", n * 7919)).collect();
    for (name, expected) in listed() {
        let text = fixture(&name);
        let around = format!("{progress}\n{text}\n\n{same}{different}");
        assert_eq!(missing(&read(&around), &expected), [""; 0], "{name}");
    }
}

#[test]
fn errors_of_tools_that_ran_one_after_the_other_are_all_there() {
    let all = listed();
    // Tools that end with an open section would take what follows for their own.
    let builds = ["gcc", "rustc_many", "tsc", "go_build", "mypy", "javac_types", "cargo_build"];
    let parts = all.iter().filter(|(name, _)| builds.contains(&name.as_str()));
    let (mut text, mut expected) = (String::new(), Vec::new());
    for (name, errors) in parts {
        text += &format!("+ {name}\n{}\n", fixture(name));
        expected.extend(errors.iter().cloned());
    }
    assert_eq!(missing(&read(&text), &expected), [""; 0]);
}

#[test]
fn an_error_that_is_left_out_is_noticed() {
    let expected = ["error main.c:7 'missing' undeclared".to_owned()];
    let other = read(
        "main.c:8:23: error: 'missing' undeclared\nmain.c:7:1: warning: 'missing' undeclared\n",
    );
    assert_eq!(missing(&other, &expected), expected);
}

/// A command line may go on with another command, whose output is nothing that the first one said.
#[test]
fn output_of_the_next_command_is_never_taken_for_details_of_the_last_one() {
    let next = [" M src/store.js", "?? logs/report.md", "9c9f945 Start", "server.log"];
    for (name, text) in crate::support::fixtures() {
        let both = format!("{}\n{}\n", text.trim_end_matches('\n'), next.join("\n"));
        let report = read(&both);
        let is_shown = |line: &&str| {
            report.transcript.iter().any(|entry| match entry {
                // What is indented right below an error may belong to it, and is shown with it.
                Entry::Line { text, detail, progress: false, .. } => {
                    text.trim_end() == *line && (!detail || line.starts_with(' '))
                }
                _ => false,
            })
        };
        let lost: Vec<&str> = next.into_iter().filter(|line| !is_shown(line)).collect();
        assert!(lost.is_empty(), "{name}: {lost:?} are lost");
    }
}
