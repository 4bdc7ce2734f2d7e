//! Maven and node: what is told of recorded outputs, by hand.

use crate::support::{counts, failures, problems, read, report};

#[test]
fn maven_tells_the_compilers_messages_once() {
    let folder = "/home/ada/shop/src/main/java/com/example";
    for name in ["mvn_compile", "mvn_compile_color"] {
        let report = report(name);
        assert_eq!(
            problems(&report),
            [
                format!("warning {folder}/Cart.java:21:5 found raw type: java.util.List"),
                format!(
                    "error {folder}/Cart.java:14:19 incompatible types: java.lang.String cannot be converted to int"
                ),
                format!("error {folder}/Cart.java:18:16 cannot find symbol"),
                format!("error {folder}/Shop.java:5:26 cannot find symbol"),
            ],
            "{name}"
        );
        let detail = ["  symbol:   variable summ", "  location: class com.example.Cart"];
        assert_eq!(report.problems[2].detail, detail, "{name}");
    }
}

#[test]
fn surefire_names_tests_as_they_are_selected() {
    let tests = "src/test/java/com/example";
    for (name, module) in [("mvn_test", Some("/home/ada/shop")), ("mvn_quiet", None)] {
        let report = report(name);
        assert_eq!(
            failures(&report),
            [
                format!(
                    "com.example.ShopTest#shopIsOpen | {tests}/ShopTest.java:16 | java.lang.AssertionError: closed on"
                ),
                format!(
                    "com.example.ShopTest#nameHasALength | {tests}/ShopTest.java:11 | java.lang.NullPointerException: Cannot invoke \"String.length()\" because the return value of \"com.example.Shop.name()\" is null"
                ),
                format!(
                    "com.example.CartTest#emptyCartHasNoFirst | {tests}/CartTest.java:20 | java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0"
                ),
                format!(
                    "com.example.CartTest#totalIsTheSum | {tests}/CartTest.java:14 | java.lang.AssertionError: the total expected:<2> but was:<3>"
                ),
            ],
            "{name}"
        );
        assert_eq!(counts(&report), (1, 4, 1), "{name}");
        assert_eq!(report.counts.errors, 0, "{name}: {:?}", problems(&report));
        let place = report.failures[0].place.as_ref().unwrap();
        assert_eq!(place.directory.as_deref(), module, "{name}");
        assert_eq!(report.failures[0].detail, ["Sunday"]);
    }
    let fine = report("mvn_ok");
    assert_eq!((counts(&fine), problems(&fine).len()), ((2, 0, 0), 0));
}

#[test]
fn surefires_list_tells_what_nothing_told_before() {
    let report = read(
        "[ERROR] Errors: \n[ERROR]   CartTest.total:14->check:20 » NullPointer\n[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n",
    );
    assert_eq!(failures(&report), ["CartTest#total |  | check:20 » NullPointer"]);
    assert_eq!(counts(&report), (0, 1, 0));
}

#[test]
fn build_that_fails_before_the_compiler_says_why() {
    assert_eq!(
        problems(&report("mvn_dependency")),
        [
            "error Could not resolve dependencies for project com.example:shop:jar:1.0: Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact junit:junit:jar:4.99 has not been downloaded from it before."
        ]
    );
    let pom = problems(&report("mvn_pom"));
    assert_eq!(pom.len(), 1);
    assert!(pom[0].starts_with("error /home/ada/shop/pom.xml:8:153 Non-parseable POM "), "{pom:?}");
}

#[test]
fn other_lines_with_a_word_in_brackets_are_left_alone() {
    let report = read("[INFO] deployed to 3 hosts\n[ERROR] the disk is nearly full\n[WARNING]\n");
    assert!(report.problems.is_empty(), "{:?}", problems(&report));
    let text = crate::support::transcript(&report);
    assert_eq!(text, "[INFO] deployed to 3 hosts\n[ERROR] the disk is nearly full\n[WARNING]\n");
}

#[test]
fn exception_that_nothing_caught_is_an_error_where_it_was_thrown() {
    let src = "/home/ada/app/src";
    let expected = [
        (
            "node_crash",
            format!(
                "error TypeError {src}/total.js:4 Cannot read properties of null (reading 'amount')"
            ),
        ),
        ("node_reject", format!("error Error {src}/reject.mjs:7 the order is refused")),
        ("node_syntax", format!("error SyntaxError {src}/syntax.js:3 Unexpected identifier 'a'")),
        (
            "node_missing",
            format!("error Error {src}/missing.js:2:15 Cannot find module './nowhere'"),
        ),
        (
            "node_import",
            format!(
                "error SyntaxError {src}/import.mjs:1 The requested module './total2.mjs' does not provide an export named 'sum'"
            ),
        ),
    ];
    for (name, expected) in expected {
        assert_eq!(problems(&report(name)), [expected], "{name}");
    }
    let cause = report("node_reject");
    assert_eq!(cause.problems[0].detail, ["  [cause]: RangeError: an order needs a price"]);
    let rejected = report("node_promise");
    assert_eq!(rejected.problems[0].place, None);
}

#[test]
fn printed_stack_is_an_error_and_other_languages_stacks_are_not() {
    let printed = read("TypeError: bad\n    at go (/p/a.js:3:1)\nRangeError: next\nno stack\n");
    assert_eq!(problems(&printed), ["error TypeError /p/a.js:3:1 bad"]);
    for text in [
        "java.lang.StateException: bad\n\tat com.example.A.go(A.java:3)\n",
        "System.Exception: bad\n   at A.Go() in /p/A.cs:line 3\n",
        "/p/a.js:3\nno source\nno caret\n",
        "/p/a.js:3\n\n",
        "SomeError: no stack\n",
    ] {
        assert!(read(text).problems.is_empty(), "{text}");
        assert_eq!(crate::support::transcript(&read(text)).trim_end(), text.trim_end());
    }
}

#[test]
fn node_tests_are_told_the_same_at_a_terminal_and_in_a_pipe() {
    let test = "/home/ada/app/test";
    let expected = |broken: &str| {
        vec![
            format!("answers in time | {test}/async.test.js:6:10 | AssertionError: the answer was late"),
            format!("outer > inner fails | {test}/async.test.js:11:12 | AssertionError: The input did not match the regular expression /x/. Input:"),
            format!("{test}/broken.test.js | {broken} | test failed"),
            format!("total adds | {test}/total.test.js:11:10 | AssertionError: Expected values to be strictly equal:"),
            format!("check > takes a price | {test}/total.test.js:16:12 | AssertionError: Expected values to be strictly deep-equal:"),
            "check > needs a price | /home/ada/app/src/total.js:9:11 | RangeError: an order needs a price".to_owned(),
        ]
    };
    let (spec, tap) = (report("node_test"), report("node_test_tap"));
    assert_eq!(failures(&spec), expected("test/broken.test.js:1:1"));
    assert_eq!(failures(&tap), expected(&format!("{test}/broken.test.js:1:1")));
    assert_eq!((counts(&spec), counts(&tap)), ((2, 6, 2), (2, 6, 2)));
    assert_eq!(spec.failures[3].detail, ["  4 !== 5"]);
    assert_eq!(tap.failures[3].detail, ["4 !== 5"]);
    // A file that can't be loaded says why above its test.
    assert_eq!(problems(&spec), [format!("error Error {test}/broken.test.js:2 broken file")]);
}

#[test]
fn place_that_node_names_in_its_list_is_that_of_a_test_without_a_stack() {
    let text = "✔ fine (0.2ms)\n✖ throws a text (0.3ms)\n  'text'\n\n▶ suite\n  ✖ late (20.1ms)\n    'test timed out after 20ms'\n\n▶ suite (21ms)\n\nℹ tests 3\nℹ pass 1\nℹ fail 2\n\n✖ failing tests:\n\ntest at a.test.js:9:1\n✖ throws a text (0.3ms)\n  'text'\n\ntest at a.test.js:10:3\n✖ late (20.1ms)\n  'test timed out after 20ms'\n";
    assert_eq!(
        failures(&read(text)),
        [
            "throws a text | a.test.js:9:1 | text",
            "suite > late | a.test.js:10:3 | test timed out after 20ms",
        ]
    );
}

#[test]
fn tap_of_other_runners_is_read() {
    let report =
        read("TAP version 14\n1..3\nok 1 - fine\nnot ok 2 - bad\nnot ok 3 - later # TODO\n");
    assert_eq!(failures(&report), ["bad |  | "]);
    // Without the first line such words mean nothing.
    assert!(read("not ok 2 - bad\n").failures.is_empty());
}
