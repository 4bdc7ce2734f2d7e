//! **The law of what is told:** every error and failed test in an output is among the problems,
//! counts are true, and a line that looks like an error of no known form is in the folded text. The
//! lists were written by hand.

use pipemux_problems::limits::PROBLEMS_MAX;
use pipemux_problems::{Comparison, Entry, OutputReader, Report};

use crate::support::{counts, failures, problems, read, report, transcript};

/// Each output with every error, warning and failed test in it.
const TOLD: &[(&str, &[&str], &[&str])] = &[
    (
        "tsc_folders",
        &[
            "error TS2322 app/[id]/page.tsx:3:5 Type 'string' is not assignable to type 'number'.",
            "error TS2304 app/(shop)/cart/page.tsx:4:5 Cannot find name 'total'.",
            "error TS2304 My Project/src/ok.ts:5:1 Cannot find name 'start'.",
            "error TS2304 app/[...slug].ts:7:9 Cannot find name 'slug'.",
        ],
        &[],
    ),
    (
        "eslint_folders",
        &[
            "error no-unused-vars /home/dev/web/app/[id]/page.tsx:3:7 'a' is assigned a value but never used",
            "warning no-undef /home/dev/web/app/[id]/page.tsx:4:11 'b' is not defined",
            "error no-unused-vars /home/dev/web/My Project/it's=new.js:3:7 'c' is assigned a value but never used",
            "error no-unused-vars /home/dev/web/app/(shop)/layout.js:9:1 'd' is assigned a value but never used",
        ],
        &[],
    ),
    (
        "gcc_spaces",
        &[
            "error My App/src/a.c:1:23 'x' undeclared (first use in this function)",
            "error lib (old)/b=1.c:9:1 expected ';' before '}' token",
            "error My App/Makefile:3 missing separator.  Stop.",
        ],
        &[],
    ),
    ("ld_missing", &["error ld: cannot find -lnowhere: No such file or directory"], &[]),
    (
        "make_keep_going",
        &[
            "error a.c:3:5 'x' undeclared (first use in this function)",
            "error Makefile:7 [Makefile:7: table] Error 3",
            "error Makefile:9 [Makefile:9: pack] Error 4",
        ],
        &[],
    ),
    (
        "make_parallel",
        &[
            "error a.c:3:5 'x' undeclared (first use in this function)",
            "error b.c:4:5 'y' undeclared (first use in this function)",
        ],
        &[],
    ),
    (
        "cargo_build_script",
        &["error failed to run custom build command for `openssl-sys v0.9.99`"],
        &[],
    ),
    (
        "cargo_killed",
        &["warning src/lib.rs:1:5 unused variable: `x`", "error could not compile `sample` (lib)"],
        &[],
    ),
    ("cargo_overflow", &["error thread 'tests::c' (77) has overflowed its stack"], &[]),
    (
        "cargo_abort",
        &[
            "error process didn't exit successfully: `/home/dev/sample/target/debug/deps/sample-123` (signal: 11, SIGSEGV: invalid memory reference)",
        ],
        &["tests::a |  | "],
    ),
    ("cargo_harness", &["error test failed, to rerun pass `--test own`"], &[]),
    ("rust_old_panic", &["error panic src/main.rs:3:5 no such thing: '7'"], &[]),
    (
        "go_package",
        &["error FAIL example.com/b 0.01s", "error FAIL example.com/e 0.03s"],
        &["TestSum | sum_test.go:8 | 3, want 4"],
    ),
    (
        "pytest_conftest",
        &[
            "error tests/conftest.py:3 ImportError while loading conftest '/home/dev/py/tests/conftest.py'",
        ],
        &[],
    ),
    (
        "pytest_rulers",
        &[],
        &[
            "test_a.py::test_a | test_a.py:3 | assert 1 == 2",
            "test_a.py::test_b | test_a.py:7 | assert 2 == 3",
            "test_a.py::test_c[a - b] | test_a.py:11 | assert 3 == 4",
            "test_a.py::TestX::test_d[x::y] | test_a.py:15 | assert 4 == 5",
        ],
    ),
    (
        "pytest_no_summary",
        &[],
        &[
            "test_a | test_a.py:3 | assert 1 == 2",
            "test_b | test_a.py:7 | assert 2 == 3",
            "test_c[a - b] | test_a.py:11 | assert 3 == 4",
            "TestX.test_d[x::y] | test_a.py:15 | assert 4 == 5",
        ],
    ),
    (
        "python_group",
        &["error ExceptionGroup /home/dev/py/x.py:3 two things (2 sub-exceptions)"],
        &[],
    ),
    ("unknown_forms", &["error no-unused-vars src/a.js:3:7 x is unused"], &[]),
];

fn form(name: &str) -> Report {
    report(&format!("forms/{name}"))
}

#[test]
fn every_error_and_failed_test_is_told() {
    for (name, errors, failed) in TOLD {
        let report = form(name);
        assert_eq!(problems(&report), *errors, "{name}");
        assert_eq!(failures(&report), *failed, "{name}");
        let warnings = errors.iter().filter(|line| line.starts_with("warning")).count();
        let told = (report.counts.errors, report.counts.warnings);
        assert_eq!(told, ((errors.len() - warnings) as u64, warnings as u64), "{name}");
    }
    for name in ["pytest_rulers", "pytest_no_summary"] {
        assert_eq!(counts(&form(name)), (0, 4, 0), "{name}");
    }
}

#[test]
fn noise_before_and_behind_loses_none_of_them() {
    let noise: String = (0..300).map(|n| format!("   Fetching package{n} v1.{n}\n")).collect();
    for (name, errors, failed) in TOLD {
        let text = crate::support::fixture(&format!("forms/{name}"));
        let report = read(&format!("{noise}\n{text}\n\n{noise}"));
        assert_eq!(problems(&report), *errors, "{name}");
        assert_eq!(failures(&report), *failed, "{name}");
    }
}

#[test]
fn reasons_are_in_the_details() {
    for (name, index, reason) in [
        (
            "cargo_build_script",
            0,
            "  Could not find directory of OpenSSL installation, and this `-sys` crate cannot",
        ),
        ("cargo_build_script", 0, "  thread 'main' (7) panicked at build/find_normal.rs:190:5:"),
        (
            "cargo_killed",
            1,
            "  process didn't exit successfully: `rustc --crate-name sample` (signal: 9, SIGKILL: kill)",
        ),
        ("cargo_overflow", 0, "fatal runtime error: stack overflow, aborting"),
        ("go_package", 0, "2026/01/01 00:00:00 cannot connect to the database"),
        ("pytest_conftest", 0, "ModuleNotFoundError: No module named 'nowhere_module'"),
        ("python_group", 0, "ValueError: no sum"),
        ("python_group", 0, "TypeError: no text"),
    ] {
        let report = form(name);
        let detail = &report.problems[index].detail;
        assert!(detail.iter().any(|line| line == reason), "{name}: {detail:?}");
    }
    // The reasons come before what a build script looked for, so that they are among the lines that
    // are shown.
    assert!(form("cargo_build_script").problems[0].detail.len() <= 4);
}

#[test]
fn lines_that_look_like_errors_are_never_folded_away() {
    let noise: String =
        (0..30_000).map(|n| format!("{} {n}\n", ["a", "b c", "d e f"][n % 3])).collect();
    let text = crate::support::fixture("forms/unknown_forms");
    let report = read(&format!("{noise}{text}{noise}"));
    let shown = transcript(&report);
    for line in [
        "CMake Error at CMakeLists.txt:3 (find_package):",
        "npm ERR! code ELIFECYCLE",
        "E: Unable to locate package libssl-dev",
        "FATAL: database schema is missing",
        "2026-11-23 13:58:01 ERROR worker: lost its connection",
        "bash: line 3: protoc: command not found",
        "ConnectionError: refused",
    ] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line}");
    }
    // The same line again and again is no reason to fold it.
    let repeated = read(&"ERROR: no connection\n".repeat(50));
    let suspects =
        repeated.transcript.iter().filter(|e| matches!(e, Entry::Line { suspect: true, .. }));
    assert_eq!(suspects.count(), 50);
}

#[test]
fn blank_lines_are_folded() {
    let shown = transcript(&read(&format!("first\n{}last\n", "\n".repeat(5000))));
    assert_eq!(shown, "first\n\n\n… 4997 similar lines\n\nlast\n");
}

#[test]
fn warnings_cost_no_error_and_what_is_not_kept_is_counted_once() {
    let mut reader = OutputReader::new();
    for _ in 0..2 {
        for line in 1..=PROBLEMS_MAX + 500 {
            reader.feed(format!("a.c:{line}:1: warning: odd\n").as_bytes());
        }
    }
    reader.feed(b"a.c:1:1: error: bad\n");
    let report = reader.finish();
    assert_eq!(report.counts.warnings, (PROBLEMS_MAX + 500) as u64);
    assert_eq!(problems(&report).last().map(String::as_str), Some("error a.c:1:1 bad"));
}

#[test]
fn problems_of_one_line_are_told_apart_in_the_next_run() {
    let json = |messages: &str| {
        read(&format!("[{{\"filePath\":\"/home/dev/a.js\",\"messages\":[{messages}]}}]\n"))
    };
    let message = |text: &str| {
        format!(
            "{{\"ruleId\":\"r\",\"severity\":2,\"message\":\"{text}\",\"line\":1,\"column\":1}}"
        )
    };
    let before = json(&message("old"));
    let after = json(&format!("{},{}", message("new"), message("old")));
    let (problems, failures) = Comparison::known(&before, &after);
    assert_eq!(problems.into_iter().collect::<Vec<_>>(), [1]);
    assert!(failures.is_empty());
}

#[test]
fn sentences_with_numbers_are_no_places() {
    for text in [
        "Mon Nov 23 13:58:01: error budget left\n",
        "see the guide (part 2):3: it tells more\n",
        "retry in 5 s: 3 of 10\n",
        "key = \"value\":3:4: set\n",
        "handled [GET] http://localhost/a.js:80:1: 200\n",
        "request took a.b:3:4: fine\n",
    ] {
        assert!(read(text).problems.is_empty(), "{text}: {:?}", read(text).problems);
    }
}
