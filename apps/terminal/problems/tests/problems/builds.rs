//! Compilers and linters: every error and warning of a recorded output, by hand.

use crate::support::{fixture, problems, read, report};

const CARGO: [&str; 6] = [
    "error E0425 src/lib.rs:12:19 cannot find value `missing` in this scope",
    "warning src/shape.rs:1:5 unused import: `std::collections::HashMap`",
    "error E0560 src/shape.rs:6:36 struct `Shape` has no field named `side`",
    "error E0599 src/shape.rs:7:44 no method named `area` found for type `u32` in the current scope",
    "error E0308 src/lib.rs:5:23 mismatched types",
    "error E0308 src/lib.rs:6:5 mismatched types",
];

#[test]
fn cargo_tells_the_same_as_text_and_as_messages() {
    let text = report("cargo_build");
    assert_eq!(problems(&text), CARGO);
    assert_eq!((text.counts.errors, text.counts.warnings), (5, 1));
    let json = report("cargo_json");
    assert_eq!(problems(&json), CARGO);
    for (text, json) in text.problems.iter().zip(&json.problems) {
        assert_eq!(text.detail, json.detail);
    }
}

#[test]
fn detail_has_the_source_and_the_help() {
    let report = report("cargo_build");
    let field = &report.problems[2];
    assert_eq!(field.detail[0], "6 |     pub fn new() -> Self { Shape { side: 4 } }");
    assert!(field.detail.iter().any(|line| line == "help: a field with a similar name exists"));
}

#[test]
fn gcc_names_places_and_flags() {
    let expected = [
        "error util.h:2:1 expected ';', identifier or '(' before 'int'",
        "warning -Wunused-variable main.c:3:24 unused variable 'unused'",
        "warning -Wint-conversion main.c:5:21 initialization of 'const char *' from 'int' makes pointer from integer without a cast",
        "warning -Wformat= main.c:6:14 format '%d' expects argument of type 'int', but argument 2 has type 'char *'",
        "error main.c:7:23 'missing' undeclared (first use in this function)",
        "warning -Wunused-variable main.c:5:17 unused variable 's'",
    ];
    assert_eq!(problems(&report("gcc")), expected);
    // What make adds is no further error.
    assert_eq!(problems(&report("make")), expected);
}

#[test]
fn clang_names_places_and_flags() {
    assert_eq!(
        problems(&report("clang")),
        [
            "error ./util.h:1:23 expected ';' after struct",
            "warning -Wunused-variable main.c:3:24 unused variable 'unused'",
            "error -Wint-conversion main.c:5:17 incompatible integer to pointer conversion initializing 'const char *' with an expression of type 'int'",
            "warning -Wformat main.c:6:20 format specifies type 'int' but the argument has type 'char *'",
            "error main.c:7:23 use of undeclared identifier 'missing'",
        ]
    );
}

#[test]
fn make_tells_its_own_errors_only() {
    assert_eq!(problems(&report("make_link")), ["error link.c undefined reference to `nowhere'"]);
    assert_eq!(problems(&report("make_sub")), ["error No rule to make target 'gone'.  Stop."]);
    assert_eq!(problems(&report("make_syntax")), ["error syntax.mk:2 missing separator.  Stop."]);
}

#[test]
fn places_start_from_the_directory_that_make_entered() {
    let text = "make[1]: Entering directory '/home/dev/lib'\na.c:1:2: error: bad\n\
                make[1]: Leaving directory '/home/dev/lib'\nb.c:1:2: error: bad\n";
    let report = read(text);
    let directory = |index: usize| report.problems[index].place.as_ref().unwrap().directory.clone();
    assert_eq!(directory(0).as_deref(), Some("/home/dev/lib"));
    assert_eq!(directory(1), None);
}

#[test]
fn javac_gets_its_columns_from_the_carets() {
    assert_eq!(problems(&report("javac")), ["error Main.java:7:18 ';' expected"]);
    assert_eq!(
        problems(&report("javac_types")),
        [
            "error Types.java:3:38 incompatible types: String cannot be converted to int",
            "warning rawtypes Types.java:4:23 found raw type: List",
            "warning rawtypes Types.java:4:38 found raw type: ArrayList",
            "error Types.java:4:59 cannot find symbol",
            "warning deprecation Types.java:4:78 Date(int,int,int) in Date has been deprecated",
        ]
    );
}

#[test]
fn tsc_tells_the_same_plain_and_pretty() {
    let expected = [
        "error TS2307 a.ts:1:22 Cannot find module './gone' or its corresponding type declarations.",
        "error TS2322 a.ts:2:7 Type 'string' is not assignable to type 'number'.",
        "error TS2339 a.ts:3:52 Property 'z' does not exist on type '{ x: number; y: string; }'.",
        "error TS2322 a.ts:4:11 Type 'number' is not assignable to type 'string'.",
    ];
    assert_eq!(problems(&report("tsc")), expected);
    assert_eq!(problems(&report("tsc_pretty")), expected);
}

#[test]
fn eslint_tells_the_same_as_text_and_as_json() {
    let strip = |report: &pipemux_problems::Report| -> Vec<String> {
        problems(report).iter().map(|line| line.trim_end_matches('.').to_owned()).collect()
    };
    let text = strip(&report("eslint"));
    assert_eq!(
        text,
        [
            "warning eqeqeq /home/dev/js/bad.js:2:7 Expected '===' and instead saw '=='",
            "error no-undef /home/dev/js/bad.js:2:10 'b' is not defined",
            "error no-undef /home/dev/js/bad.js:2:15 'console' is not defined",
            "error no-unused-vars /home/dev/js/bad.js:3:10 'unused' is defined but never used",
            "error no-unused-vars /home/dev/js/bad.js:3:17 'x' is defined but never used",
            "error no-unreachable /home/dev/js/bad.js:3:32 Unreachable code",
            "error /home/dev/js/parse.js:1:11 Parsing error: Unexpected token ;",
        ]
    );
    assert_eq!(strip(&report("eslint_json")), text);
}

#[test]
fn go_tells_what_it_could_not_build() {
    let expected = [
        "error sub/sub.go:3:8 \"os\" imported and not used",
        "error sub/sub.go:5:20 declared and not used: x",
        "error sub/sub.go:5:28 cannot use \"text\" (untyped string constant) as int value in variable declaration",
        "error sub/sub.go:5:43 undefined: missing",
    ];
    assert_eq!(problems(&report("go_build")), expected);
    assert_eq!(problems(&report("go_vet")), expected[2..3]);
}

#[test]
fn dotnet_tells_each_problem_once() {
    let report = report("dotnet_build");
    assert_eq!(
        problems(&report),
        [
            "error CS0029 /home/dev/shop/Program.cs:12:20 Cannot implicitly convert type 'string' to 'int'",
            "warning CS0168 /home/dev/shop/Program.cs:7:13 The variable 'unused' is declared but never used",
        ]
    );
    assert_eq!(report.problems[0].count, 2);
}

#[test]
fn python_tools_and_programs_name_places() {
    assert_eq!(
        problems(&report("mypy")),
        [
            "error return-value typed.py:4 Incompatible return value type (got \"str\", expected \"int\")",
            "error arg-type typed.py:6 Argument 1 to \"twice\" has incompatible type \"str\"; expected \"int\"",
        ]
    );
    assert_eq!(
        problems(&report("flake8")),
        [
            "warning F401 typed.py:1:1 'os' imported but unused",
            "warning E302 typed.py:3:1 expected 2 blank lines, found 1",
            "warning E305 typed.py:6:1 expected 2 blank lines after class or function definition, found 1",
            "warning E225 typed.py:7:2 missing whitespace around operator",
        ]
    );
    assert_eq!(
        problems(&report("traceback")),
        [
            "error FileNotFoundError /home/dev/py/shop.py:5 [Errno 2] No such file or directory: 'nowhere.txt'",
            "error ValueError /home/dev/py/trace.py:6 cannot start",
        ]
    );
    assert_eq!(
        problems(&report("py_syntax")),
        ["error SyntaxError /home/dev/py/syntax.py:1 invalid syntax"]
    );
}

#[test]
fn logs_and_search_results_are_no_problems() {
    for text in [
        "12:30:45: started\n",
        "see http://localhost:3000: it listens\n",
        "src/a.rs:12:    let error = 1;\n",
        "listening on 127.0.0.1:8080: ready\n",
        "2026-11-23T13:58:01: error budget left\n",
        "no errors found\n",
    ] {
        assert!(read(text).problems.is_empty(), "{text}: {:?}", read(text).problems);
    }
    assert!(report("cargo_test_ok").failures.is_empty());
    assert_eq!(report("cargo_test_ok").counts.errors, 0);
    assert!(fixture("pytest_ok").contains("1 passed"));
    assert!(report("pytest_ok").failures.is_empty());
}
