//! Line numbers and undo after somebody else has changed something.

use pipemux_proto::Code;

use crate::support::*;

#[test]
fn number_of_a_line_changed_by_another_is_stale_and_others_follow() {
    let mut session = TestSession::with(&[("a.txt", &numbered(20))]);
    let seen = session.seen_version();
    done(session.host.invoke_as("other", seen, &replace_lines(10, 10, "TEN\nand a half")));
    done(session.host.invoke_as("other", seen, &delete_lines(1, 2)));
    let fault = failed(session.host.invoke_as("me", seen, &delete_lines(9, 11)));
    assert_eq!(fault.code, Code::Stale);
    let message = "lines 9-11 of a.txt changed since you saw it; now:\n6\tline 8\n7\tline 9\n8\tTEN\n9\tand a half\n10\tline 11\n11\tline 12";
    assert_eq!(fault.message, message);
    let fault = failed(session.host.invoke_as("me", seen, &insert(2, "x")));
    assert_eq!(fault.code, Code::Stale);
    done(session.host.invoke_as("me", seen, &replace_lines(15, 15, "FIFTEEN")));
    assert!(session.text().contains("line 14\nFIFTEEN\nline 16\n"));
    // A line that another reader inserts between two lines makes their range stale.
    let seen = session.seen_version();
    done(session.host.invoke_as("other", seen, &insert(3, "between")));
    assert_eq!(failed(session.host.invoke_as("me", seen, &delete_lines(2, 3))).code, Code::Stale);
    done(session.host.invoke_as("me", seen, &delete_lines(3, 3)));
}

#[test]
fn reader_who_saw_nothing_cannot_number_lines_of_a_changed_file() {
    let mut session = TestSession::with(&[("a.txt", &numbered(5))]);
    done(session.host.invoke_as("me", 0, &delete_lines(5, 5)));
    done(session.host.step_as("me", 0, &delete_lines(4, 4)));
    let fault = failed(session.host.invoke_as("stranger", 0, &delete_lines(1, 1)));
    assert_eq!(fault.code, Code::Stale);
    assert!(fault.message.contains("can't be located"), "{fault}");
    assert_eq!(session.text(), numbered(3));
}

#[test]
fn bare_number_refers_to_the_file_that_the_reader_saw() {
    let mut session = TestSession::holding(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let seen = session.seen_version();
    done(session.host.invoke_as("other", seen, &goto("a.txt:1")));
    done(session.host.invoke_as("me", seen, &insert(1, "mine")));
    let file = |session: &TestSession, name| {
        let path = session.path(name).canonicalize().unwrap();
        session.host.app().unwrap().file(&path).unwrap().buffer().text()
    };
    assert_eq!(
        (file(&session, "a.txt").as_str(), file(&session, "b.txt").as_str()),
        ("a\n", "mine\nb\n")
    );
    // After a step of the same run, numbers refer to the file that it went to.
    done(session.host.invoke_as("me", seen, &goto("a.txt:1")));
    done(session.host.step_as("me", seen, &insert(1, "own")));
    assert_eq!(file(&session, "a.txt"), "own\na\n");
    let closes = Action::Close {
        file: Some(docui::Anchor::new(
            session.path("b.txt").canonicalize().unwrap().to_str().unwrap(),
            0,
        )),
    };
    assert!(matches!(session.host.invoke_as("other", seen, &closes), Outcome::Needs(_)));
    done(session.host.answer(docui::Choice::Picked(vec![2])));
    let fault = failed(session.host.invoke_as("me", seen, &insert(1, "x")));
    assert_eq!(fault.message, "b.txt, which you saw, was closed");
}

#[test]
fn change_that_the_reader_has_not_seen_is_not_undone() {
    let mut session = TestSession::with(&[("a.txt", &numbered(5))]);
    let seen = session.seen_version();
    done(session.host.invoke_as("me", seen, &delete_lines(1, 1)));
    let seen = session.seen_version();
    done(session.host.invoke_as("bob", seen, &delete_lines(1, 1)));
    let fault = failed(session.host.invoke_as("me", seen, &undo()));
    assert_eq!(fault.message, "a.txt has a change that you haven't seen: delete_lines by bob");
    let seen = session.seen_version();
    done(session.host.invoke_as("me", seen, &undo()));
    assert!(session.text().starts_with("line 2\n"));
}

#[test]
fn numbers_seen_before_a_file_was_closed_are_stale_after_reopening() {
    let mut session = TestSession::with(&[("b.txt", "b\n"), ("a.txt", &numbered(5))]);
    let seen = session.seen_version();
    done(session.host.invoke_as("other", seen, &close()));
    session.write_externally("a.txt", "other\n");
    done(session.host.invoke_as("other", seen, &open("a.txt")));
    assert_eq!(failed(session.host.invoke_as("me", seen, &delete_lines(1, 1))).code, Code::Stale);
    session.view();
    session.done(&delete_lines(1, 1));
}
