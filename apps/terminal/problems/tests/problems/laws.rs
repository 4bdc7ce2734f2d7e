//! What holds for every output.

use pipemux_problems::{Entry, OutputReader, Report};
use proptest::prelude::*;

use crate::support::{failures, fixtures, lines_of, problems};

/// Pieces of outputs: whole recorded ones, and what stands between them in a real one.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<String> = fixtures().into_iter().map(|(_, text)| text).collect();
    let noise = prop_oneof![
        (1..400usize).prop_map(|count| {
            (0..count).map(|n| format!("[{n}/{count}] CC object{n}.o\n")).collect::<String>()
        }),
        (1..400usize).prop_map(|count| "the same line\n".repeat(count)),
        "[a-z:. ]{0,40}\n",
        Just("\r10 %\r20 %\r\n\n".to_owned()),
        Just("\u{1b}[1mbold\u{1b}[0m\u{202e}\n".to_owned()),
    ];
    let piece = prop_oneof![
        prop::sample::select(texts).prop_map(String::into_bytes),
        noise.prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..200),
    ];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

fn whole(bytes: &[u8]) -> Report {
    let mut reader = OutputReader::new();
    reader.feed(bytes);
    reader.finish()
}

/// The numbers of the lines that a transcript shows as problems.
fn shown_problems(report: &Report) -> Vec<u64> {
    let number = |entry: &Entry| match entry {
        Entry::Line { number, problem: true, .. } => Some(*number),
        _ => None,
    };
    report.transcript.iter().filter_map(number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(bytes in pieces(), sizes in prop::collection::vec(1..97usize, 1..20)) {
        let mut reader = OutputReader::new();
        let mut rest = &bytes[..];
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            reader.feed(chunk);
            rest = after;
        }
        prop_assert_eq!(reader.finish(), whole(&bytes));
    }

    #[test]
    fn no_problem_is_folded_away(bytes in pieces()) {
        let report = whole(&bytes);
        let shown = shown_problems(&report);
        for problem in &report.problems {
            prop_assert!(shown.contains(&problem.at), "line {} of {:?}", problem.at, problem);
        }
        for failure in &report.failures {
            prop_assert!(shown.contains(&failure.at), "line {} of {:?}", failure.at, failure);
        }
    }

    #[test]
    fn each_line_is_shown_or_counted(bytes in pieces()) {
        // What a carriage return overwrote is shown in addition to what stays.
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !matches!(byte, b'\r' | 0x1b)).collect();
        let report = whole(&bytes);
        prop_assert_eq!(lines_of(&report.transcript), report.lines);
    }

    #[test]
    fn noise_around_an_output_loses_nothing_of_it(index in 0..1000usize, before in 0..500usize, after in 0..500usize) {
        let all = fixtures();
        let (name, text) = &all[index % all.len()];
        let alone = whole(text.as_bytes());
        let step = |count| (0..count).map(|n| format!("   Fetching package{n} v1.{n}\n")).collect::<String>();
        let around = whole(format!("{}\n{text}\n\n{}", step(before), step(after)).as_bytes());
        prop_assert_eq!(problems(&around), problems(&alone), "{}", name);
        prop_assert_eq!(failures(&around), failures(&alone), "{}", name);
        prop_assert_eq!(around.tests, alone.tests, "{}", name);
        prop_assert_eq!(around.git.files.len(), alone.git.files.len(), "{}", name);
    }

    #[test]
    fn any_bytes_are_accepted(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let report = whole(&bytes);
        prop_assert_eq!(report.bytes, bytes.len() as u64);
    }

    #[test]
    fn words_of_tools_in_any_order_are_accepted(
        parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..60)
    ) {
        let text = parts.concat();
        let report = whole(text.as_bytes());
        prop_assert_eq!(lines_of(&report.transcript), report.lines);
    }
}

/// What recognisers look for.
const PARTS: [&str; 38] = [
    "error",
    "[E1]",
    ": ",
    ":",
    "1",
    "(",
    "), ",
    ") ",
    "src/a.rs",
    "\n",
    "\n",
    "\n",
    " ",
    "    ",
    "\t",
    "test a ... FAILED",
    "---- a stdout ----",
    "failures:",
    "=== FAILURES ===================",
    "E   ",
    "________________ a ________________",
    "FAILED a::b - c",
    "--- FAIL: a",
    "=== RUN   a",
    "panic: x",
    "FAIL t/a.js",
    "  ● ",
    "⎯⎯⎯",
    "diff --git a/x b/x",
    "@@ -1,4294967295 +1 @@",
    "commit ",
    "On branch x",
    "Traceback (most recent call last):",
    "File \"a\", line 2",
    "make: *** ",
    "{\"reason\":",
    "warning: ",
    "…é🦀",
];

#[test]
fn every_recorded_output_is_read() {
    for (name, text) in fixtures() {
        let report = whole(text.as_bytes());
        let found = report.problems.len()
            + report.failures.len()
            + report.git.files.len()
            + report.git.commits.len();
        assert!(found > 0 || name.ends_with("_ok"), "{name}: nothing was found");
    }
}
