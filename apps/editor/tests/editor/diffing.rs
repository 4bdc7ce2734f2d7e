//! What `diff` tells of a session's changes.

use crate::support::*;

fn diff(session: &mut TestSession) -> Done {
    session.done(&Action::Diff { r#in: Vec::new() })
}

fn swap(one: &str, other: &str) -> Action {
    Action::Swap { one: line_of(one), other: line_of(other) }
}

fn move_after(range: &str, after: &str) -> Action {
    Action::Move {
        range: line_of(range),
        before: None,
        after: Some(line_of(after)),
        at_start_of: None,
        at_end_of: None,
    }
}

#[test]
fn replacement_in_many_lines_is_told_once() {
    let one = "fn get() {}\nfn two() {\n    get(); get();\n    get();\n    one();\n}\n";
    let mut session = TestSession::with(&[("b.rs", "get(); // forget\nlast\n"), ("a.rs", one)]);
    let rename = |old: &str, new: &str| Action::Replace {
        old: old.into(),
        new: text(new),
        r#in: vec!["*.rs".into()],
        word: true,
        regex: false,
        case: true,
        only: None,
        not: None,
        all: true,
    };
    session.done(&rename("get", "fetch"));
    let told = diff(&mut session);
    assert_eq!(told.brief, "2 files, +4 -4 lines; compared with before this session's changes");
    assert_eq!(
        content(&told),
        "a.rs: 3 lines: get → fetch (lines 1, 3-4)\nb.rs: 1 line: get → fetch (line 1)\n"
    );
    // The whole diff remains what another call takes.
    assert!(value(&told).contains("-    get(); get();\n"));
    // A line with another change is shown, and the numbers are those of now.
    session.goto("a.rs:1");
    session.done(&insert(1, "// new"));
    session.done(&rename("one", "other"));
    session.done(&replace("    fetch();\n", "    fetch(1);\n"));
    session.done(&Action::Insert { at: line_of("b.rs:3"), text: text("get") });
    session.done(&rename("last", "get"));
    assert_eq!(
        content(&diff(&mut session)),
        "a.rs: +5 -4\n@@ -1 +1,2 @@\n-fn get() {}\n+// new\n+fn fetch() {}\n@@ -3,3 +4,3 @@\n-    get(); get();\n\
         -    get();\n-    one();\n+    fetch(); fetch();\n+    fetch(1);\n+    other();\nb.rs: +3 -2\n\
         @@ -1,2 +1,3 @@\n-get(); // forget\n-last\n+fetch(); // forget\n+get\n+get\n"
    );
}

#[test]
fn lines_with_another_change_too_are_shown_beside_a_replacement() {
    let text = "get(1)\nget(2)\nend\nget(3)\nget(4)\nget(5)\n";
    let mut session = TestSession::with(&[("a.txt", text)]);
    session.done(&replace_all("get", "fetch"));
    session.done(&replace("fetch(4)", "fetch(44)"));
    session.done(&replace("end", "get\nend"));
    assert_eq!(
        content(&diff(&mut session)),
        "a.txt: +6 -5\n4 lines: get → fetch (lines 1-2, 5, 7)\n@@ -2,0 +3 @@\n+get\n@@ -5 +6 @@\n-get(4)\n+fetch(44)\n"
    );
}

#[test]
fn swap_is_told_as_a_block_that_moved() {
    let test = |name: &str, lines: &[&str]| {
        let lines: String = lines.iter().map(|line| format!("    {line};\n")).collect();
        format!("#[test]\nfn {name}() {{\n{lines}}}\n")
    };
    let one = test("one", &["let x = 1", "check(x)"]);
    let two = test("two", &["let x = 2", "let y = 3", "check(x)"]);
    let last = test("last", &["check(x)"]);
    let whole = format!("use a;\n\n{one}\n{two}\n{last}");
    let mut session = TestSession::with(&[("a.rs", &whole)]);
    session.done(&swap("one", "two"));
    assert_eq!(
        content(&diff(&mut session)),
        "a.rs: +0 -0\n3-8 → 10-15: 6 lines moved, unchanged\n"
    );
}

#[test]
fn move_and_diff_tell_the_same_lines() {
    let text =
        "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n\nfn c() {\n    3\n}\n\nfn d() {\n    4\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    let done = session.done(&move_after("b", "c"));
    let told = content(&diff(&mut session));
    let lines = told.lines().last().unwrap().split(':').next().unwrap();
    assert!(done.brief.contains(lines), "{}\n{told}", done.brief);
}
