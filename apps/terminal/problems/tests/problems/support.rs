//! Fixtures, and reports as short texts.

use pipemux_problems::{Entry, OutputReader, Report, TestCounts};

/// A recorded output.
pub fn fixture(name: &str) -> String {
    let path = format!("{}/tests/problems/fixtures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All recorded outputs.
pub fn fixtures() -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/problems/fixtures");
    let mut names: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".txt").map(str::to_owned))
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), fixture(&name))).collect()
}

/// The report of a text that comes as a whole.
pub fn read(text: &str) -> Report {
    let mut reader = OutputReader::new();
    reader.feed(text.as_bytes());
    reader.finish()
}

/// The report of a recorded output.
pub fn report(name: &str) -> Report {
    read(&fixture(name))
}

/// Each problem in a line: `error E0308 src/lib.rs:6:5 mismatched types`.
pub fn problems(report: &Report) -> Vec<String> {
    let line = |problem: &pipemux_problems::Problem| {
        let mut line = problem.severity.to_string();
        let parts = [problem.code.clone(), problem.place.as_ref().map(ToString::to_string)];
        for part in parts.into_iter().flatten() {
            line.push(' ');
            line.push_str(&part);
        }
        format!("{line} {}", problem.message)
    };
    report.problems.iter().map(line).collect()
}

/// Each failed test in a line: `name | place | assertion`.
pub fn failures(report: &Report) -> Vec<String> {
    let line = |failure: &pipemux_problems::TestFailure| {
        let place = failure.place.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{} | {place} | {}", failure.name, failure.assertion)
    };
    report.failures.iter().map(line).collect()
}

/// Passed, failed and skipped tests.
pub fn counts(report: &Report) -> (u64, u64, u64) {
    let TestCounts { passed, failed, skipped } = report.tests;
    (passed, failed, skipped)
}

/// The transcript as text.
pub fn transcript(report: &Report) -> String {
    report.transcript.iter().map(|entry| format!("{entry}\n")).collect()
}

/// How many lines a transcript stands for.
pub fn lines_of(entries: &[Entry]) -> u64 {
    let count = |entry: &Entry| match entry {
        Entry::Line { .. } => 1,
        Entry::Similar { count, .. } | Entry::LeftOut { count, .. } => *count,
    };
    entries.iter().map(count).sum()
}
