//! Test runners: every failed test of a recorded output, by hand.

use crate::support::{counts, failures, problems, report, transcript};

#[test]
fn cargo_test_tells_assertions_and_places() {
    let report = report("cargo_test");
    assert_eq!(
        failures(&report),
        [
            "tests::adds_wrong | src/lib.rs:8:57 | assertion `left == right` failed: sum of 2",
            "tests::many_lines | src/lib.rs:13:31 | assertion `left == right` failed",
            "tests::never_panics | src/lib.rs:12:32 | test did not panic as expected",
            "tests::returns |  | Error: \"no such thing\"",
            "tests::unwraps | src/lib.rs:9:40 | called `Option::unwrap()` on a `None` value",
        ]
    );
    assert_eq!(counts(&report), (1, 5, 1));
    assert_eq!(report.failures[0].detail, ["trying 2 + 2", "  left: 4", " right: 5"]);
    assert_eq!(report.counts.errors, 0, "{:?}", problems(&report));
    assert_eq!(report.counts.warnings, 2);
}

#[test]
fn a_harness_that_dies_leaves_its_failures() {
    let text = "running 3 tests\ntest a ... ok\ntest b ... FAILED\n";
    let report = crate::support::read(text);
    assert_eq!(failures(&report), ["b |  | "]);
    assert_eq!(counts(&report), (1, 1, 0));
}

const PYTEST: [&str; 6] = [
    "test_shop.py::test_fixture | test_shop.py:23 | RuntimeError: no database",
    "test_shop.py::test_price_wrong | test_shop.py:9 | AssertionError: three items",
    "test_shop.py::test_dict | test_shop.py:12 | AssertionError: assert {'a': 1, 'b': 2} == {'a': 1, 'b': 3}",
    "test_shop.py::test_many[2] | test_shop.py:16 | assert 20 == 10",
    "test_shop.py::test_error | shop.py:5 | FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.txt'",
    "test_shop.py::TestShop::test_inside | test_shop.py:34 | Failed: DID NOT RAISE ValueError",
];

#[test]
fn pytest_tells_the_same_in_each_form() {
    for name in ["pytest", "pytest_short", "pytest_v"] {
        let report = report(name);
        assert_eq!(failures(&report), PYTEST, "{name}");
        assert_eq!(counts(&report), (2, 6, 1), "{name}");
        assert!(report.problems.is_empty(), "{name}: {:?}", problems(&report));
    }
    // With one line for each, the names are told at the end only.
    let line = report("pytest_line");
    let mut names: Vec<_> = line.failures.iter().map(|failure| &*failure.name).collect();
    names.sort_unstable();
    let mut expected: Vec<_> =
        PYTEST.iter().map(|line| line.split(" | ").next().unwrap()).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn pytest_tells_places_as_python_does_in_one_line_and_of_fixtures() {
    let ruler = |title: &str, of: &str| {
        let sides = of.repeat((78 - title.len()) / 2);
        format!("{sides} {title} {sides}\n")
    };
    let head = ruler("test session starts", "=") + "collected 2 items\n\n";
    let native = head.clone()
        + &ruler("FAILURES", "=")
        + &ruler("test_plain", "_")
        + "Traceback (most recent call last):\n  File \"/v/lib/python3.11/site-packages/_pytest/runner.py\", line 361, in from_call\n    result = func()\n             ^^^^^^\n  File \"/p/test_b.py\", line 5, in test_plain\n    assert 1 + 1 == 3\nAssertionError: assert (1 + 1) == 3\n"
        + &ruler("short test summary info", "=")
        + "FAILED test_b.py::test_plain - assert (1 + 1) == 3\n"
        + &ruler("1 failed in 0.01s", "=");
    let expected = ["test_b.py::test_plain | /p/test_b.py:5 | AssertionError: assert (1 + 1) == 3"];
    assert_eq!(failures(&crate::support::read(&native)), expected);
    let line = head.clone()
        + &ruler("FAILURES", "=")
        + "/p/test_b.py:5: assert (1 + 1) == 3\n/p/test_b.py:9: Failed: a message that is too long\n"
        + &ruler("short test summary info", "=")
        + "FAILED test_b.py::test_long - Failed: a message tha...\nFAILED test_b.py::test_plain - assert (1 + 1) == 3\n"
        + &ruler("2 failed in 0.01s", "=");
    let expected = [
        "test_b.py::test_long | /p/test_b.py:9 | Failed: a message tha...",
        "test_b.py::test_plain | /p/test_b.py:5 | assert (1 + 1) == 3",
    ];
    assert_eq!(failures(&crate::support::read(&line)), expected);
    let fixture = head
        + &ruler("ERRORS", "=")
        + &ruler("ERROR at setup of test_missing", "_")
        + "file /p/test_b.py, line 29\n  def test_missing(nofixture):\nE       fixture 'nofixture' not found\n>       available fixtures: cache\n"
        + &ruler("1 error in 0.01s", "=");
    let expected =
        ["ERROR at setup of test_missing | /p/test_b.py:29 | fixture 'nofixture' not found"];
    assert_eq!(failures(&crate::support::read(&fixture)), expected);
}

#[test]
fn example_of_a_doc_comment_is_where_its_name_says() {
    let text = "---- src/lib.rs - g (line 12) stdout ----\nTest executable failed (exit status: 101).\n\nstderr:\n\nthread 'main' (1) panicked at src/lib.rs:5:1:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n\n\nfailures:\n    src/lib.rs - g (line 12)\n";
    assert_eq!(
        failures(&crate::support::read(text)),
        ["src/lib.rs - g (line 12) | src/lib.rs:12 | assertion `left == right` failed"]
    );
}

#[test]
fn pytest_tells_what_it_could_not_collect() {
    let report = report("pytest_collect");
    assert_eq!(
        failures(&report),
        ["test_bad.py | test_bad.py:1 | ModuleNotFoundError: No module named 'nowhere_module'"]
    );
    assert_eq!(counts(&report), (0, 1, 0));
}

#[test]
fn unittest_tells_the_same_in_each_form() {
    for name in ["unittest", "unittest_v"] {
        let report = report(name);
        assert_eq!(
            failures(&report),
            [
                "unit_test.ShopTest.test_error | /home/dev/py/shop.py:5 | FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.txt'",
                "unit_test.ShopTest.test_list | /home/dev/py/unit_test.py:13 | AssertionError: Lists differ: [1, 2, 3] != [1, 2, 4]",
                "unit_test.ShopTest.test_sub (i=1) | /home/dev/py/unit_test.py:17 | AssertionError: 1 == 1",
                "unit_test.ShopTest.test_wrong | /home/dev/py/unit_test.py:9 | AssertionError: 30 != 31 : three items",
            ],
            "{name}"
        );
        assert_eq!(counts(&report), (1, 4, 1), "{name}");
    }
}

#[test]
fn go_test_tells_parts_and_panics() {
    let expected = [
        "TestWrong | shop_test.go:8 | Price(3) = 30, want 31",
        "TestTable/two | shop_test.go:12 | bad two",
        "TestZPanics | /home/dev/go/shop_test.go:16 | panic: assignment to entry in nil map",
    ];
    for name in ["go_test", "go_test_v", "go_json"] {
        assert_eq!(failures(&report(name)), expected, "{name}");
    }
    assert_eq!(failures(&report("go_test_nopanic")), expected[..2]);
    assert_eq!(counts(&report("go_test_v")), (2, 3, 1));
}

#[test]
fn tests_of_the_same_name_in_two_packages_are_both_told() {
    let package = |line: u32| {
        format!(
            "--- FAIL: TestTable (0.00s)\n    --- FAIL: TestTable/two (0.00s)\n        \
             a_test.go:{line}: bad\nFAIL\n"
        )
    };
    let alone = "--- FAIL: TestTable (0.00s)\n    b_test.go:7: worse\nFAIL\n";
    let report = crate::support::read(&format!("{}{}{alone}", package(1), package(2)));
    assert_eq!(
        failures(&report),
        [
            "TestTable/two | a_test.go:1 | bad",
            "TestTable/two | a_test.go:2 | bad",
            "TestTable | b_test.go:7 | worse",
        ]
    );
}

#[test]
fn jest_tells_files_tests_and_suites() {
    let report = report("jest");
    assert_eq!(
        failures(&report),
        [
            "t/sum.test.js › group › adds wrongly | t/sum.test.js:5:23 | expect(received).toBe(expected) // Object.is equality",
            "t/sum.test.js › group › objects | t/sum.test.js:7:52 | expect(received).toEqual(expected) // deep equality",
            "t/sum.test.js › group › throws | t/sum.test.js:8:31 | TypeError: Cannot read properties of null (reading 'x')",
            "t/broken.test.js | t/broken.test.js:1:1 | Cannot find module './nowhere' from 't/broken.test.js'",
        ]
    );
    assert_eq!(counts(&report), (1, 3, 1));
    assert_eq!(report.failures[0].detail[..2], ["    Expected: 5", "    Received: 4"]);
}

#[test]
fn vitest_tells_files_tests_and_suites() {
    let report = report("vitest");
    assert_eq!(
        failures(&report),
        [
            "t/brokenv.test.js | t/brokenv.test.js:1:1 | Error: Cannot find module './nowhere' imported from /home/dev/js/t/brokenv.test.js",
            "t/sum.test.js > group > adds wrongly | t/sum.test.js:5:23 | AssertionError: expected 4 to be 5 // Object.is equality",
            "t/sum.test.js > group > objects | t/sum.test.js:7:52 | AssertionError: expected { a: 1, b: [ 1 ] } to deeply equal { a: 1, b: [ 2 ] }",
            "t/sum.test.js > group > throws | t/sum.test.js:8:31 | TypeError: Cannot read properties of null (reading 'x')",
        ]
    );
    assert_eq!(counts(&report), (1, 3, 1));
}

#[test]
fn dotnet_test_tells_assertion_and_place() {
    let report = report("dotnet_test");
    assert_eq!(
        failures(&report),
        [
            "Shop.Tests.PriceTests.PriceOfThree | /home/dev/shop/tests/PriceTests.cs:14 | Assert.Equal() Failure: Values differ"
        ]
    );
    assert_eq!(counts(&report), (2, 1, 0));
    assert_eq!(report.failures[0].detail, ["Expected: 31", "Actual:   30"]);
}

#[test]
fn passing_tests_are_folded() {
    let mut text = "running 300 tests\n".to_owned();
    for number in 0..300 {
        text.push_str(&format!("test module{number}::case ... ok\n"));
    }
    text.push_str("test result: ok. 300 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n");
    let report = crate::support::read(&text);
    assert_eq!(counts(&report), (300, 0, 0));
    let shown = transcript(&report);
    assert!(shown.contains("… 297 similar lines\n"), "{shown}");
    assert_eq!(shown.lines().count(), 6);
}

#[test]
fn module_that_cannot_be_imported_is_named_as_it_is_selected() {
    let report = report("unittest_import");
    assert_eq!(
        failures(&report),
        [
            "tests.test_ledger | /home/dev/ledger/ledger/book.py:4 | ModuleNotFoundError: No module named 'ledger.entry'"
        ]
    );
    // Frames of unittest itself say nothing.
    let detail: Vec<&str> = report.failures[0].detail.iter().map(|line| line.trim()).collect();
    assert_eq!(detail.last(), Some(&"from .entry import Entry"));
    assert!(!detail.iter().any(|line| line.contains("__import__")), "{detail:?}");
}
