//! Changing lines, undo, redo.

use super::*;

#[test]
fn line_actions_add_their_newline_and_say_which_numbers_moved() {
    let mut desk = Desk::with(&[("a.txt", &numbered(12))]);
    let outcome = desk.done(&delete_lines(1, 3));
    assert_eq!(outcome.brief, "3 lines; lines 4-12 are now 1-9");
    assert!(desk.text().starts_with("line 4\n"));
    desk.look();
    let outcome = desk.done(&replace_lines(2, 3, "new\nlines\nhere"));
    assert_eq!(outcome.brief, "2 lines with 3, now lines 2-4; lines 4-9 are now 5-10");
    assert!(desk.text().starts_with("line 4\nnew\nlines\nhere\nline 7\n"), "{}", desk.text());
    desk.look();
    let outcome = desk.done(&insert(11, "the end"));
    assert_eq!(outcome.brief, "1 line, now line 11");
    assert!(desk.text().ends_with("line 12\nthe end\n"));
    desk.look();
    let outcome = desk.done(&move_lines(1, 1, 4));
    assert_eq!(outcome.brief, "line 1 to line 3; lines 2-3 are now 1-2");
    assert!(desk.text().starts_with("new\nlines\nline 4\nhere\n"));
    desk.look();
    assert_eq!(desk.done(&replace_lines(1, 1, "")).brief, "1 line; lines 2-11 are now 1-10");
}

#[test]
fn text_from_elsewhere_is_named() {
    let mut desk = Desk::with(&[("a.txt", "x\n")]);
    let from = Some(("notebook/main".into(), "old parser".into()));
    let outcome =
        desk.done(&Action::Insert { at: at(1), text: Text { text: "a\nb".into(), from } });
    assert!(outcome.brief.starts_with("2 lines from old parser, now lines 1-2"));
}

#[test]
fn lines_by_reference_stay_as_many_and_are_never_taken_for_a_gutter() {
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
        let mut desk = Desk::with(&[("a.txt", file)]);
        let text = Text { text: text.into(), from: elsewhere() };
        desk.done(&Action::Insert { at: at(1), text });
        assert_eq!(desk.text(), wanted, "{file:?}");
    }
}

#[test]
fn numbers_mean_what_was_seen_before_the_run() {
    let mut desk = Desk::with(&[("a.txt", &numbered(12))]);
    let seen = desk.host.project(Lod::Full, 100_000).unwrap().version;
    done(desk.host.invoke_as("me", seen, &delete_lines(1, 3)));
    done(desk.host.step_as("me", seen, &replace_lines(10, 12, "ten to twelve")));
    done(desk.host.step_as("me", seen, &move_lines(4, 4, 7)));
    done(desk.host.step_as("me", seen, &replace_lines(4, 4, "FOUR")));
    assert_eq!(desk.text(), "line 5\nline 6\nFOUR\nline 7\nline 8\nline 9\nten to twelve\n");
    let fault = failed(desk.host.step_as("me", seen, &delete_lines(2, 5)));
    assert_eq!(
        fault.message,
        "lines 2-5 of a.txt: deleted, at least in part, by an earlier step of this run"
    );
    let fault = failed(desk.host.step_as("me", seen, &delete_lines(11, 11)));
    assert!(
        fault.message.contains("replaced by an earlier step of this run, now line 7"),
        "{fault}"
    );
}

#[test]
fn what_is_not_there_is_refused_with_the_count() {
    let mut desk = Desk::with(&[("a.txt", &numbered(3)), ("empty.txt", "")]);
    let fault = desk.failed(&insert(2, "x"));
    assert_eq!(
        (fault.message.as_str(), fault.hints[0].as_str()),
        ("at: empty.txt has 0 lines, not 2", "expected 1-1")
    );
    desk.go("a.txt:1");
    for (action, message) in [
        (delete_lines(0, 2), "first: a.txt has 3 lines, not 0"),
        (delete_lines(2, 4), "last: a.txt has 3 lines, not 4"),
        (delete_lines(-1, i64::MAX), "first: a.txt has 3 lines, not -1"),
        (delete_lines(3, 2), "first is 3, after last, which is 2"),
        (insert(5, "x"), "at: a.txt has 3 lines, not 5"),
        (move_lines(1, 1, 9), "before: a.txt has 3 lines, not 9"),
        (Action::Goto { line: at(i64::MIN) }, "line: a.txt has 3 lines, not -9223372036854775808"),
        (
            Action::Insert { at: place("a.txt"), text: text("x") },
            "at: expected a line number, 'file.rs:20' or an anchor",
        ),
    ] {
        assert_eq!(desk.failed(&action).message, message);
    }
    assert_eq!(
        desk.failed(&insert(1, "a\0b")).message,
        "text has a NUL character, which no text file may contain"
    );
    assert_eq!(desk.text(), numbered(3));
}

#[test]
fn the_gutter_is_refused_but_not_a_numbered_table() {
    let mut desk = Desk::with(&[("a.txt", &numbered(3)), ("t.tsv", "1\tone\n2\ttwo\n")]);
    let outcome = desk.done(&Action::Insert { at: place("t.tsv:3"), text: text("3\tthree") });
    assert!(outcome.brief.starts_with("1 line"));
    desk.go("a.txt:1");
    let fault = desk.failed(&replace_lines(2, 3, "2\tfoo\n3\tbar"));
    assert_eq!(fault.message, "text carries line numbers");
    assert!(fault.hints[0].contains("N<TAB>"));
    desk.done(&replace_lines(2, 3, "7\tfoo\n9\tbar"));
}

#[test]
fn lines_of_other_files_are_named_by_the_end_of_their_path() {
    let mut desk = Desk::with(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    let outcome = desk.done(&Action::Insert { at: place("a.rs:1"), text: text("top") });
    assert_eq!(outcome.brief, "a.rs: 1 line, now line 1; line 1 is now 2");
    assert_eq!(desk.text(), "b\n", "the file in view stays");
    let fault = desk.failed(&Action::Insert { at: place("c.rs:1"), text: text("x") });
    assert_eq!(fault.message, "no open file is called c.rs; open: a.rs, b.rs");
    std::fs::create_dir(desk.path("sub")).unwrap();
    std::fs::write(desk.path("sub/a.rs"), "sub\n").unwrap();
    desk.done(&Action::Open { path: "sub/a.rs".into() });
    // A path that is written out is that one, though another ends with it.
    desk.done(&Action::Insert { at: place("a.rs:1"), text: text("x") });
    std::fs::create_dir(desk.path("more")).unwrap();
    std::fs::write(desk.path("more/a.rs"), "").unwrap();
    desk.done(&Action::Open { path: "more/a.rs".into() });
    let root = Action::Close { file: Some(docui::Anchor::new(desk.objects()[0].key.clone(), 0)) };
    desk.asks(&root);
    done(desk.host.answer(docui::Choice::Picked(vec![1])));
    let fault = desk.failed(&Action::Insert { at: place("a.rs:1"), text: text("x") });
    assert_eq!(fault.message, "a.rs is ambiguous: sub/a.rs, more/a.rs");
    let fault = desk.failed(&Action::MoveLines {
        first: place("b.rs:1"),
        last: at(1),
        before: place("sub/a.rs:1"),
    });
    assert!(fault.message.contains("lines move within one file"), "{fault}");
}

#[test]
fn undo_takes_back_whole_actions_and_a_link_only_its_own() {
    let mut desk = Desk::with(&[("a.txt", &numbered(5))]);
    let first = desk.done(&delete_lines(1, 1));
    desk.look();
    let second = desk.done(&Action::Replace { old: "line".into(), new: text("row"), all: true });
    assert_eq!(second.brief, "4 matches");
    let fault = failed(desk.click(&first.links[0]));
    assert_eq!(fault.message, "not the latest change of a.txt: 1 change came after it");
    assert_eq!(fault.hints, ["pipemux run 'editor.undo(steps=2)'"]);
    let undone = done(desk.click(&second.links[0]));
    assert_eq!(undone.brief, "replace");
    assert_eq!(desk.text(), "line 2\nline 3\nline 4\nline 5\n");
    assert_eq!(failed(desk.click(&second.links[0])).message, "that change is already undone");
    done(desk.click(&undone.links[0]));
    desk.look();
    desk.done(&Action::Undo { steps: 2, change: None });
    assert_eq!(desk.text(), numbered(5));
    assert!(desk.look().starts_with("## a.txt · 5 lines · saved\n"));
    assert_eq!(desk.failed(&undo()).message, "nothing to undo in a.txt");
    desk.done(&Action::Redo { steps: 2, change: None });
    assert!(desk.text().starts_with("row 2\n"));
    assert_eq!(
        desk.failed(&Action::Undo { steps: 3, change: None }).hints,
        ["pipemux run 'editor.undo(steps=2)'"]
    );
    assert_eq!(
        desk.failed(&Action::Undo { steps: 0, change: None }).message,
        "steps: expected 1 or more"
    );
    desk.look();
    desk.done(&undo());
    desk.look();
    desk.done(&insert(1, "new"));
    assert_eq!(desk.failed(&redo()).message, "nothing to redo in a.txt");
}

#[test]
fn selections_move_with_their_lines_and_go_with_them() {
    let mut desk = Desk::with(&[("a.txt", &numbered(9))]);
    let outcome = desk.done(&Action::Select { first: at(4), last: at(6) });
    assert_eq!(outcome.brief, "a.txt:4-6, 3 lines");
    desk.done(&insert(1, "above"));
    let selection = desk.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    assert_eq!((selection.label.as_str(), selection.rev), ("a.txt:5-7", 0));
    desk.done(&move_lines(5, 7, 1));
    let selection = desk.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    assert_eq!((selection.label.as_str(), selection.rev), ("a.txt:1-3", 0));
    let lines = Action::Lines { first: to(&selection), last: to(&selection) };
    let outcome = desk.done(&lines);
    assert_eq!(outcome.brief, "3 lines from a.txt:1-3");
    assert_eq!(value(&outcome), "line 4\nline 5\nline 6\n");
    desk.done(&replace("line 5", "LINE 5"));
    assert_eq!(desk.failed(&lines).code, pipemux_proto::Code::Stale, "its text is another one");
    let selection = desk.host.project(Lod::Full, 9_000).unwrap().names["selection"].clone();
    let read = docui::App::read(desk.host.app().unwrap(), &selection.key).unwrap();
    assert_eq!(read, b"line 4\nLINE 5\nline 6\n");
    desk.done(&Action::DeleteLines { first: to(&selection), last: to(&selection) });
    assert!(!desk.host.project(Lod::Full, 9_000).unwrap().names.contains_key("selection"));
    let fault = desk.failed(&Action::Goto { line: to(&selection) });
    assert_eq!(fault.hints, ["delete_lines removed its text"]);
}
