//! What someone else changed meanwhile.

use pipemux_proto::Code;

use super::*;

#[test]
fn a_number_whose_line_another_changed_is_stale_and_others_follow() {
    let mut desk = Desk::with(&[("a.txt", &numbered(20))]);
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("other", seen, &replace_lines(10, 10, "TEN\nand a half")));
    done(desk.host.invoke_as("other", seen, &delete_lines(1, 2)));
    let fault = failed(desk.host.invoke_as("me", seen, &delete_lines(9, 11)));
    assert_eq!(fault.code, Code::Stale);
    let message = "lines 9-11 of a.txt changed since you saw it; now:\n6\tline 8\n7\tline 9\n8\tTEN\n9\tand a half\n10\tline 11\n11\tline 12";
    assert_eq!(fault.message, message);
    let fault = failed(desk.host.invoke_as("me", seen, &insert(2, "x")));
    assert_eq!(fault.code, Code::Stale);
    done(desk.host.invoke_as("me", seen, &replace_lines(15, 15, "FIFTEEN")));
    assert!(desk.text().contains("line 14\nFIFTEEN\nline 16\n"));
    // Lines put between two that were seen together part them.
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("other", seen, &insert(3, "between")));
    assert_eq!(failed(desk.host.invoke_as("me", seen, &delete_lines(2, 3))).code, Code::Stale);
    done(desk.host.invoke_as("me", seen, &delete_lines(3, 3)));
}

#[test]
fn who_never_looked_names_no_lines_of_what_changed() {
    let mut desk = Desk::with(&[("a.txt", &numbered(5))]);
    done(desk.host.invoke_as("me", 0, &delete_lines(5, 5)));
    done(desk.host.step_as("me", 0, &delete_lines(4, 4)));
    let fault = failed(desk.host.invoke_as("stranger", 0, &delete_lines(1, 1)));
    assert_eq!(fault.code, Code::Stale);
    assert!(fault.message.contains("can't be located"), "{fault}");
    assert_eq!(desk.text(), numbered(3));
}

#[test]
fn a_bare_number_is_about_the_file_that_was_seen() {
    let mut desk = Desk::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    let goto = Action::Goto { line: place("a.txt:1") };
    done(desk.host.invoke_as("other", seen, &goto));
    done(desk.host.invoke_as("me", seen, &insert(1, "mine")));
    let file = |desk: &Desk, name| {
        let path = desk.path(name).canonicalize().unwrap();
        desk.host.app().unwrap().file(&path).unwrap().buffer().text()
    };
    assert_eq!(
        (file(&desk, "a.txt").as_str(), file(&desk, "b.txt").as_str()),
        ("a\n", "mine\nb\n")
    );
    // One's own step counts: after it, numbers are about the file it went to.
    done(desk.host.invoke_as("me", seen, &goto));
    done(desk.host.step_as("me", seen, &insert(1, "own")));
    assert_eq!(file(&desk, "a.txt"), "own\na\n");
    let closes = Action::Close {
        file: Some(docui::Anchor::new(
            desk.path("b.txt").canonicalize().unwrap().to_str().unwrap(),
            0,
        )),
    };
    assert!(matches!(desk.host.invoke_as("other", seen, &closes), Outcome::Needs(_)));
    done(desk.host.answer(docui::Choice::Picked(vec![2])));
    let fault = failed(desk.host.invoke_as("me", seen, &insert(1, "x")));
    assert_eq!(fault.message, "b.txt, which you saw, was closed");
}

#[test]
fn what_one_has_not_seen_one_does_not_undo() {
    let mut desk = Desk::with(&[("a.txt", &numbered(5))]);
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("me", seen, &delete_lines(1, 1)));
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("bob", seen, &delete_lines(1, 1)));
    let fault = failed(desk.host.invoke_as("me", seen, &undo()));
    assert_eq!(fault.message, "a.txt has a change that you haven't seen: delete_lines by bob");
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("me", seen, &undo()));
    assert!(desk.text().starts_with("line 2\n"));
}

#[test]
fn numbers_seen_before_a_file_was_closed_mean_nothing_after() {
    let mut desk = Desk::with(&[("b.txt", "b\n"), ("a.txt", &numbered(5))]);
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("other", seen, &Action::Close { file: None }));
    desk.write("a.txt", "other\n");
    done(desk.host.invoke_as("other", seen, &Action::Open { path: "a.txt".into() }));
    assert_eq!(failed(desk.host.invoke_as("me", seen, &delete_lines(1, 1))).code, Code::Stale);
    desk.look();
    desk.done(&delete_lines(1, 1));
}
