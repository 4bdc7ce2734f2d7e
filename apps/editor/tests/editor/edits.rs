//! Changing lines, undo, redo, selections.

use crate::support::*;

#[test]
fn line_actions_add_their_newline_and_report_renumbered_lines() {
    let mut session = TestSession::with(&[("a.txt", &numbered(12))]);
    let outcome = session.done(&delete_lines(1, 3));
    assert_eq!(outcome.brief, "3 lines; lines 4-12 are now 1-9");
    assert!(session.text().starts_with("line 4\n"));
    session.view();
    let outcome = session.done(&replace_lines(2, 3, "new\nlines\nhere"));
    assert_eq!(outcome.brief, "2 lines with 3, now lines 2-4; lines 4-9 are now 5-10");
    assert!(session.text().starts_with("line 4\nnew\nlines\nhere\nline 7\n"), "{}", session.text());
    session.view();
    let outcome = session.done(&insert(11, "the end"));
    assert_eq!(outcome.brief, "1 line, now line 11");
    assert!(session.text().ends_with("line 12\nthe end\n"));
    session.view();
    let outcome = session.done(&move_lines(1, 1, 4));
    assert_eq!(outcome.brief, "line 1 to line 3; lines 2-3 are now 1-2");
    assert!(session.text().starts_with("new\nlines\nline 4\nhere\n"));
    session.view();
    assert_eq!(session.done(&replace_lines(1, 1, "")).brief, "1 line; lines 2-11 are now 1-10");
}

#[test]
fn brief_names_the_source_of_text_by_reference() {
    let mut session = TestSession::with(&[("a.txt", "x\n")]);
    let from = Some(("notebook/main".into(), "old parser".into()));
    let outcome =
        session.done(&Action::Insert { at: at(1), text: Text { text: "a\nb".into(), from } });
    assert!(outcome.brief.starts_with("2 lines from old parser, now lines 1-2"));
}

#[test]
fn lines_by_reference_keep_their_number_and_are_not_taken_for_a_gutter() {
    let elsewhere = || Some(("editor/main".into(), "b.txt:1-2".into()));
    for (file, text, wanted) in [
        ("x\n", "a\nb\n", "a\nb\nx\n"),
        ("x\n", "a\nb", "a\nb\nx\n"),
        ("x\n", "a\n\n", "a\n\nx\n"),
        ("x\n", "\n", "\nx\n"),
        ("x\r\n", "a\r\nb\r\n", "a\r\nb\r\nx\r\n"),
        ("x\r\n", "a\nb\n", "a\r\nb\r\nx\r\n"),
        ("x\n", "a\r\nb\r\n", "a\r\nb\r\nx\n"),
        ("x\n", "1\ta\n2\tb\n", "1\ta\n2\tb\nx\n"),
    ] {
        let mut session = TestSession::with(&[("a.txt", file)]);
        let text = Text { text: text.into(), from: elsewhere() };
        session.done(&Action::Insert { at: at(1), text });
        assert_eq!(session.text(), wanted, "{file:?}");
    }
}

#[test]
fn numbers_mean_the_lines_seen_before_the_run() {
    let mut session = TestSession::with(&[("a.txt", &numbered(12))]);
    let seen = session.seen_version();
    done(session.host.invoke_as("me", seen, &delete_lines(1, 3)));
    done(session.host.step_as("me", seen, &replace_lines(10, 12, "ten to twelve")));
    done(session.host.step_as("me", seen, &move_lines(4, 4, 7)));
    done(session.host.step_as("me", seen, &replace_lines(4, 4, "FOUR")));
    assert_eq!(session.text(), "line 5\nline 6\nFOUR\nline 7\nline 8\nline 9\nten to twelve\n");
    let fault = failed(session.host.step_as("me", seen, &delete_lines(2, 5)));
    assert_eq!(
        fault.message,
        "lines 2-5 of a.txt: deleted, at least in part, by an earlier step of this run"
    );
    let fault = failed(session.host.step_as("me", seen, &delete_lines(11, 11)));
    assert!(
        fault.message.contains("replaced by an earlier step of this run, now line 7"),
        "{fault}"
    );
}

#[test]
fn numbers_outside_of_the_file_are_refused_with_its_line_count() {
    let mut session = TestSession::with(&[("a.txt", &numbered(3)), ("empty.txt", "")]);
    let fault = session.failed(&insert(2, "x"));
    assert_eq!(
        (fault.message.as_str(), fault.hints[0].as_str()),
        ("at: empty.txt has 0 lines, not 2", "expected 1-1")
    );
    session.goto("a.txt:1");
    for (action, message) in [
        (delete_lines(0, 2), "first: a.txt has 3 lines, not 0"),
        (delete_lines(2, 4), "last: a.txt has 3 lines, not 4"),
        (delete_lines(-1, i64::MAX), "first: a.txt has 3 lines, not -1"),
        (delete_lines(3, 2), "first is 3, after last, which is 2"),
        (insert(5, "x"), "at: a.txt has 3 lines, not 5"),
        (move_lines(1, 1, 9), "before: a.txt has 3 lines, not 9"),
        (Action::Goto { line: at(i64::MIN) }, "line: a.txt has 3 lines, not -9223372036854775808"),
        (
            Action::Insert { at: line_of("a.txt"), text: text("x") },
            "at: expected a line number, 'file.rs:20', a symbol or an anchor",
        ),
    ] {
        assert_eq!(session.failed(&action).message, message);
    }
    assert_eq!(
        session.failed(&insert(1, "a\0b")).message,
        "text has a NUL character, which no text file may contain"
    );
    assert_eq!(session.text(), numbered(3));
}

#[test]
fn gutter_is_refused_but_a_numbered_table_is_not() {
    let mut session = TestSession::with(&[("a.txt", &numbered(3)), ("t.tsv", "1\tone\n2\ttwo\n")]);
    let outcome = session.done(&Action::Insert { at: line_of("t.tsv:3"), text: text("3\tthree") });
    assert!(outcome.brief.starts_with("1 line"));
    session.goto("a.txt:1");
    let fault = session.failed(&replace_lines(2, 3, "2\tfoo\n3\tbar"));
    assert_eq!(fault.message, "text carries line numbers");
    assert!(fault.hints[0].contains("N<TAB>"));
    session.done(&replace_lines(2, 3, "7\tfoo\n9\tbar"));
}

#[test]
fn other_files_are_named_by_the_end_of_their_path() {
    let mut session = TestSession::holding(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    let outcome = session.done(&Action::Insert { at: line_of("a.rs:1"), text: text("top") });
    assert_eq!(outcome.brief, "a.rs: 1 line, now line 1; line 1 is now 2");
    assert_eq!(session.text(), "b\n", "the current file stays the same");
    let fault = session.failed(&Action::Insert { at: line_of("c.rs:1"), text: text("x") });
    assert_eq!(fault.message, "c.rs: no such file");
    std::fs::create_dir(session.path("sub")).unwrap();
    std::fs::write(session.path("sub/a.rs"), "sub\n").unwrap();
    session.done(&open("sub/a.rs"));
    // An exact path means that file, although the path of another one ends with it.
    session.done(&Action::Insert { at: line_of("a.rs:1"), text: text("x") });
    std::fs::create_dir(session.path("more")).unwrap();
    std::fs::write(session.path("more/a.rs"), "").unwrap();
    session.done(&open("more/a.rs"));
    let root =
        Action::Close { file: Some(docui::Anchor::new(session.objects()[0].key.clone(), 0)) };
    session.asks(&root);
    done(session.host.answer(docui::Choice::Picked(vec![1])));
    let fault = session.failed(&Action::Insert { at: line_of("a.rs:1"), text: text("x") });
    assert_eq!(fault.message, "a.rs is ambiguous: sub/a.rs, more/a.rs");
    let fault = session.failed(&Action::MoveLines {
        first: line_of("b.rs:1"),
        last: at(1),
        before: line_of("sub/a.rs:1"),
    });
    assert!(fault.message.contains("lines move within one file"), "{fault}");
}

#[test]
fn undo_takes_back_whole_actions_and_its_link_only_its_own_change() {
    let mut session = TestSession::with(&[("a.txt", &numbered(5))]);
    let first = session.done(&delete_lines(1, 1));
    session.view();
    let second = session.done(&replace_all("line", "row"));
    assert_eq!(second.brief, "4 matches");
    let fault = failed(session.click(&first.links[0]));
    assert!(
        fault.message.starts_with("undo of delete_lines: 1 place changed again since"),
        "{fault}"
    );
    assert!(fault.message.contains("a.txt:1-4 now:\nrow 2\n"), "{fault}");
    assert!(
        fault.message.ends_with("instead of it:\nline 1\nline 2\nline 3\nline 4\nline 5"),
        "{fault}"
    );
    let undone = done(session.click(&second.links[0]));
    assert_eq!(undone.brief, "replace in a.txt: lines 1-4 as before");
    assert_eq!(session.text(), "line 2\nline 3\nline 4\nline 5\n");
    assert_eq!(done(session.click(&second.links[0])).brief, "no change: it is undone already");
    done(session.click(&undone.links[0]));
    session.view();
    session.done(&Action::Undo { steps: 2, change: None });
    assert_eq!(session.text(), numbered(5));
    assert!(session.view().starts_with("## a.txt · 5 lines\n"));
    assert_eq!(session.failed(&undo()).message, "nothing to undo");
    session.done(&Action::Redo { steps: 2, change: None });
    assert!(session.text().starts_with("row 2\n"));
    assert_eq!(
        session.failed(&Action::Undo { steps: 3, change: None }).hints,
        ["pipemux run 'editor.undo(steps=2)'"]
    );
    assert_eq!(
        session.failed(&Action::Undo { steps: 0, change: None }).message,
        "steps: expected 1 or more"
    );
    session.view();
    session.done(&undo());
    session.view();
    session.done(&insert(1, "new"));
    assert_eq!(session.failed(&redo()).message, "nothing to redo");
}

#[test]
fn selection_moves_with_its_lines_and_ends_with_them() {
    let mut session = TestSession::with(&[("a.txt", &numbered(9))]);
    let outcome = session.done(&Action::Select { first: at(4), last: at(6) });
    assert_eq!(outcome.brief, "a.txt:4-6, 3 lines");
    session.done(&insert(1, "above"));
    let selection = session.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    assert_eq!((selection.label.as_str(), selection.rev), ("a.txt:5-7", 0));
    session.done(&move_lines(5, 7, 1));
    let selection = session.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    assert_eq!((selection.label.as_str(), selection.rev), ("a.txt:1-3", 0));
    let lines = Action::Lines { first: to(&selection), last: to(&selection) };
    let outcome = session.done(&lines);
    assert_eq!(outcome.brief, "a.txt:1-3");
    assert_eq!(content(&outcome), "1\tline 4\n2\tline 5\n3\tline 6\n");
    assert_eq!(value(&outcome), "line 4\nline 5\nline 6\n");
    session.done(&replace("line 5", "LINE 5"));
    assert_eq!(session.failed(&lines).code, pipemux_proto::Code::Stale, "its text has changed");
    let selection = session.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    let read = docui::App::read(session.host.app().unwrap(), &selection.key).unwrap();
    assert_eq!(read, b"line 4\nLINE 5\nline 6\n");
    session.done(&Action::DeleteLines { first: to(&selection), last: to(&selection) });
    assert!(!session.host.project(Lod::Full, 9_000).unwrap().names.contains_key("selection"));
    let fault = session.failed(&Action::Goto { line: to(&selection) });
    assert_eq!(fault.hints, ["delete_lines removed its text"]);
}

#[test]
fn lines_of_a_file_that_is_not_open_are_edited_by_their_numbers() {
    let mut session = TestSession::with(&[("a.txt", "a\n")]);
    for name in ["b.txt", "c.txt", "d.txt", "e.txt", "f.txt"] {
        std::fs::write(session.path(name), numbered(4)).unwrap();
    }
    let line = |text: &str| line_of(text);
    session.done(&Action::Insert { at: line("b.txt:1"), text: text("  top") });
    session.done(&Action::Insert { at: line("c.txt:5"), text: text("  end") });
    session.done(&Action::DeleteLines { first: line("d.txt:2"), last: at(3) });
    let (first, last) = (line("e.txt:2"), line("e.txt:3"));
    session.done(&Action::ReplaceLines { first, last, text: text("new") });
    let (first, last, before) = (line("f.txt:4"), line("f.txt:4"), line("f.txt:1"));
    session.done(&Action::MoveLines { first, last, before });
    assert_eq!(session.on_disk("b.txt"), format!("  top\n{}", numbered(4)));
    assert_eq!(session.on_disk("c.txt"), format!("{}  end\n", numbered(4)));
    assert_eq!(session.on_disk("d.txt"), "line 1\nline 4\n");
    assert_eq!(session.on_disk("e.txt"), "line 1\nnew\nline 4\n");
    assert_eq!(session.on_disk("f.txt"), "line 4\nline 1\nline 2\nline 3\n");
    // No other file becomes the current one.
    assert_eq!(session.text(), "a\n");
    let fault = session.failed(&Action::Insert { at: line("g.txt:1"), text: text("x") });
    assert!(fault.message.contains("g.txt"), "{}", fault.message);
    std::fs::write(session.path("h.txt"), numbered(2)).unwrap();
    let far = Action::DeleteLines { first: line("h.txt:2"), last: line("h.txt:9") };
    assert!(session.failed(&far).message.contains("2 lines"), "{}", session.failed(&far).message);
}
