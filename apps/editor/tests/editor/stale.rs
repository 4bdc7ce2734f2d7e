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
    let message = "lines 9-11 of a.txt changed since you saw it; now 7-10:\n6\tline 8\n7\tline 9\n8\tTEN\n9\tand a half\n10\tline 11\n11\tline 12";
    assert_eq!(fault.message, message);
    assert_eq!(fault.repeatable, Some(false), "sent again it would mean other lines");
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
fn numbers_of_a_reader_who_saw_nothing_mean_the_present_text() {
    let mut session = TestSession::with(&[("a.txt", &numbered(5))]);
    done(session.host.invoke_as("me", 0, &delete_lines(5, 5)));
    done(session.host.step_as("me", 0, &delete_lines(4, 4)));
    done(session.host.invoke_as("stranger", 0, &delete_lines(1, 1)));
    // Those of a later step of its run are of the text before the run.
    done(session.host.step_as("stranger", 0, &delete_lines(2, 2)));
    assert_eq!(session.text(), "line 3\n");
}

#[test]
fn query_behind_an_edit_of_its_run_counts_in_what_the_edit_left() {
    let mut session = TestSession::with(&[("a.txt", &numbered(9)), ("b.txt", &numbered(9))]);
    let seen = session.seen_version();
    let lines = |range: &str| Action::LinesOf { range: line_of(range) };
    let shown = |outcome| content(&done(outcome));
    // Lines 3 to 9 are elsewhere: as they were seen, their range would span both ends of what
    // moved.
    let moved = Action::MoveLines {
        first: line_of("b.txt:4"),
        last: line_of("b.txt:9"),
        before: line_of("b.txt:2"),
    };
    done(session.host.invoke_as("me", seen, &moved));
    let part = shown(session.host.step_as("me", seen, &lines("b.txt:1-3")));
    assert!(part.contains("1\tline 1\n2\tline 4\n3\tline 5\n"), "{part}");
    assert!(!part.contains("line 6"), "{part}");
    // A further edit of the run counts in what was seen.
    done(session.host.step_as("me", seen, &delete_lines(9, 9)));
    let part = shown(session.host.step_as("me", seen, &lines("b.txt:7-8")));
    assert!(part.contains("7\tline 2\n8\tline 3\n"), "{part}");
    // Lines that the run deleted are no reason to refuse: others have their numbers.
    let deletes = |first, last| Action::DeleteLines { first, last };
    done(session.host.step_as("me", seen, &deletes(line_of("a.txt:1"), line_of("a.txt:4"))));
    let part = shown(session.host.step_as("me", seen, &lines("a.txt:1-2")));
    assert!(part.contains("1\tline 5\n2\tline 6\n"), "{part}");
    let fault = failed(session.host.step_as("me", seen, &lines("a.txt:6")));
    assert_eq!(fault.message, "first: a.txt has 5 lines, not 6");
    // In another run they count as seen: line 5 is the third one now.
    let part = shown(session.host.invoke_as("me", seen, &lines("b.txt:5")));
    assert!(part.contains("3\tline 5\n"), "{part}");
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
