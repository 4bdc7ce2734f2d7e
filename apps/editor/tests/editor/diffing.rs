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
    assert_eq!(content(&diff(&mut session)), "a.rs: 3-8 → 10-15: 6 lines moved, unchanged\n");
}

#[test]
fn move_and_diff_tell_the_same_lines() {
    let text =
        "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n\nfn c() {\n    3\n}\n\nfn d() {\n    4\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    let done = session.done(&move_after("b", "c"));
    let told = content(&diff(&mut session));
    let lines = told.lines().last().unwrap().split(": ").nth(1).unwrap();
    assert!(done.brief.contains(lines), "{}\n{told}", done.brief);
}

#[test]
fn block_that_moved_to_another_file_is_told_in_one_line() {
    let section = |name: &str| format!("## {name}\n\nfirst of {name}\nsecond of {name}\n\n");
    let guide = format!("# Guide\n\n{}{}", section("One"), section("Two"));
    let manual = format!("# Manual\n\n{}", section("Three"));
    let mut session = TestSession::with(&[("guide.md", &guide), ("manual.md", &manual)]);
    session.done(&Action::Move {
        range: line_of("guide.md#One"),
        before: Some(line_of("manual.md#Three")),
        after: None,
        at_start_of: None,
        at_end_of: None,
    });
    let told = diff(&mut session);
    assert_eq!(
        told.brief,
        "2 files, +0 -0 lines, 1 block moved; compared with before this session's changes"
    );
    let written = content(&told);
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines.len(), 1, "{written}");
    assert!(lines[0].starts_with("guide.md: 3-") && lines[0].contains(" → manual.md:3-"));
    // What was changed after the move is no move.
    session.done(&replace_in_file("first of One", "changed", "manual.md"));
    let written = content(&diff(&mut session));
    assert!(written.contains("-first of One\n") && written.contains("+changed\n"), "{written}");
}

#[test]
fn long_run_of_added_lines_is_shown_in_part() {
    let mut session = TestSession::with(&[("a.txt", "one\n")]);
    let lines: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    session.done(&insert(1, &lines));
    let written = content(&diff(&mut session));
    assert!(written.contains("+line 20\n+… 80 more lines\n"), "{written}");
    assert!(value(&diff(&mut session)).contains("+line 100\n"), "the value has all of it");
}

fn replace_in_file(old: &str, new: &str, file: &str) -> Action {
    let mut action = replace(old, new);
    if let Action::Replace { r#in, .. } = &mut action {
        *r#in = vec![file.into()];
    }
    action
}

#[test]
fn change_of_another_program_is_told_as_such() {
    let mut session = TestSession::with(&[("a.txt", "one\ntwo\n"), ("b.txt", "one\n")]);
    session.done(&open("b.txt"));
    session.write_externally("a.txt", "one\ntwo\nthree\n");
    session.view();
    assert_eq!(
        content(&diff(&mut session)),
        "a.txt (changed by another program): +1 -0\n@@ -2,0 +3 @@\n+three\n"
    );
    session.done(&replace_in_file("two", "2", "a.txt"));
    session.done(&replace_in_file("one", "1", "b.txt"));
    let written = content(&diff(&mut session));
    assert!(written.starts_with("a.txt (also changed by another program): +2 -1\n"), "{written}");
    assert!(written.contains("\nb.txt: +1 -1\n"), "{written}");
}
