//! Statements that become a function.

use crate::support::*;
use docui::Choice;

fn extract(range: Line, name: &str) -> Action {
    Action::ExtractMethod { range, name: name.into(), types: String::new() }
}

const PYTHON: &str = "def f(a, b):\n    x = a\n    y = x + b\n    z = y * 2\n    return z\n";

#[test]
fn selection_becomes_a_function_and_one_undo_takes_it_back() {
    let mut session = TestSession::with(&[("a.py", PYTHON)]);
    session.done(&Action::Select { first: at(3), last: at(4) });
    let selection = session.objects().into_iter().find(|one| one.label.starts_with("a.py:3"));
    let outcome = session.done(&extract(to(&selection.unwrap()), "helper"));
    let brief = "helper(x, b) returns z, lines 7-10; called on line 3";
    assert!(outcome.brief.starts_with(brief), "{}", outcome.brief);
    let after = "def f(a, b):\n    x = a\n    z = helper(x, b)\n    return z\n\n\n\
                 def helper(x, b):\n    y = x + b\n    z = y * 2\n    return z\n";
    assert_eq!(session.text(), after);
    let shown = session.view();
    assert!(shown.contains("z = helper(x, b)") && shown.contains("def helper(x, b):"), "{shown}");
    assert!(done(session.click(&outcome.links[0])).brief.starts_with("extract_method"));
    assert_eq!(session.text(), PYTHON);
    session.view();
    session.done(&redo());
    assert_eq!(session.text(), after);
}

#[test]
fn lines_are_named_as_a_range_also_of_another_file() {
    for range in ["3-4", "a.py:3-4", " 3 - 4 "] {
        let mut session = TestSession::with(&[("b.txt", "b\n"), ("a.py", PYTHON)]);
        session.done(&extract(line_of(range), "helper"));
        assert!(session.text().contains("z = helper(x, b)"), "{range}");
    }
    let mut session = TestSession::with(&[("a.py", PYTHON), ("b.txt", "b\n")]);
    let outcome = session.done(&extract(line_of("a.py:3"), "helper"));
    let brief = "a.py: helper(x, b) returns y, lines 8-10; called on line 3";
    assert!(outcome.brief.starts_with(brief), "{}", outcome.brief);
    let fault = session.failed(&extract(at(1), "helper"));
    assert_eq!(
        fault.message,
        "b.txt is in none of the languages Rust, Python, JavaScript, TypeScript, TSX, Go"
    );
}

#[test]
fn refusal_changes_nothing_and_names_the_nearest_lines() {
    let text = "def f(a):\n    if a:\n        x = 1\n    y = 2\n    return a\n";
    let mut session = TestSession::with(&[("a.py", text)]);
    let fault = session.failed(&extract(line_of("3-4"), "g"));
    assert_eq!(fault.message, "range: expected whole statements of one block in a function");
    assert_eq!(
        fault.hints,
        [r#"nearest: lines 2-4: pipemux run 'editor.extract_method(range="2-4", name="g")'"#]
    );
    for (range, name, reason) in [
        ("5", "f", "f is already a name in this file, on line 1"),
        ("5", "class", r#""class" can't be the name of a Python function"#),
        ("1-5", "g", "the lines are not in the body of a function"),
    ] {
        assert_eq!(session.failed(&extract(line_of(range), name)).message, reason);
    }
    assert_eq!(session.text(), text);
    let fault = session.failed(&extract(line_of("x-y"), "g"));
    assert!(fault.message.contains("expected a line number"), "{fault}");
}

#[test]
fn types_that_the_code_does_not_tell_are_asked_for() {
    let text = "fn f(a: &[u8]) {\n    let x = a.first();\n    let n = a.len();\n    println!(\"{x:?} {n}\");\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    let needs = session.asks(&extract(at(4), "show"));
    assert_eq!(
        needs.question.text,
        "types that the code doesn't tell, such as count: usize, name: &str"
    );
    let options: Vec<_> =
        needs.question.options.iter().map(|one| format!("{} {}", one.label, one.text)).collect();
    assert_eq!(options, ["x line 2: let x = a.first();"]);
    done(session.host.answer(Choice::Text("Option<&u8>".into())));
    assert!(session.text().contains("fn show(x: &Option<&u8>, n: usize) {"), "{}", session.text());
    let mut session = TestSession::with(&[("a.rs", text)]);
    let types = "x: Option<&u8>".to_owned();
    session.done(&Action::ExtractMethod { range: at(4), name: "show".into(), types });
    assert!(session.text().contains("    show(&x, n);"), "{}", session.text());
}

#[test]
fn answer_about_a_changed_file_is_stale() {
    let text = "fn f() {\n    let x = g();\n    h(x);\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    session.asks(&extract(at(3), "show"));
    session.view();
    session.done(&insert(1, "// above"));
    let fault = failed(session.host.answer(Choice::Text("u8".into())));
    assert!(fault.message.contains("changed"), "{fault}");
}
