//! Replacing text, and choosing among several matches.

use docui::Choice;

use crate::support::*;

const SOURCE: &str = "//! Parses refs.\nuse crate::ids::Session;\nfn owner(&self) -> Session {\n    Session::from(self.raw)\n}\n";

#[test]
fn several_matches_are_asked_about_and_the_chosen_ones_replaced() {
    let mut session = TestSession::with(&[("parse.rs", SOURCE)]);
    let needs = session.asks(&replace("Session", "SessionId"));
    assert_eq!(needs.question.text, "3 matches");
    let options: Vec<_> =
        needs.question.options.iter().map(|o| (o.label.as_str(), o.text.as_str())).collect();
    assert_eq!(
        options,
        [
            ("line 2", "use crate::ids::Session;"),
            ("line 3", "fn owner(&self) -> Session {"),
            ("line 4", "Session::from(self.raw)"),
        ]
    );
    let outcome = done(session.host.answer(Choice::Picked(vec![1, 3])));
    assert_eq!(
        (outcome.brief.as_str(), outcome.links[0].label.as_str()),
        ("2 of 3 matches", "undo")
    );
    let picked =
        SOURCE.replace("ids::Session", "ids::SessionId").replace("Session::", "SessionId::");
    assert_eq!(session.text(), picked);

    let mut session = TestSession::with(&[("parse.rs", SOURCE)]);
    session.asks(&replace("Session", "S"));
    done(session.host.answer(Choice::AllBut(vec![2])));
    assert_eq!(
        session.text(),
        SOURCE.replace("ids::Session", "ids::S").replace("Session::", "S::")
    );

    let mut session = TestSession::with(&[("parse.rs", SOURCE)]);
    session.asks(&replace("Session", "S"));
    assert_eq!(done(session.host.answer(Choice::AllBut(vec![]))).brief, "3 matches");
    assert_eq!(session.text(), SOURCE.replace("Session", "S"));
}

#[test]
fn answer_none_replaces_nothing_and_an_unknown_number_is_refused() {
    let mut session = TestSession::with(&[("a.txt", "x\nx\n")]);
    session.asks(&replace("x", "y"));
    let fault = failed(session.host.answer(Choice::Picked(vec![3])));
    assert_eq!(fault.message, "there is no match 3: expected 1-2");
    session.asks(&replace("x", "y"));
    assert_eq!(done(session.host.answer(Choice::Picked(vec![]))).brief, "0 of 2 matches");
    assert_eq!(session.text(), "x\nx\n");
}

#[test]
fn matches_sharing_a_line_are_marked_and_unlisted_ones_counted() {
    let mut session = TestSession::with(&[("a.txt", &format!("a a\n{}", "a\n".repeat(28)))]);
    let needs = session.asks(&replace("a", "b"));
    assert_eq!(needs.question.options[0].text, "«a» a");
    assert_eq!(needs.question.options[1].text, "a «a»");
    assert_eq!((needs.question.options.len(), needs.question.unlisted), (20, 10));
    let outcome = done(session.host.answer(Choice::Picked(vec![1, 2, 30])));
    assert_eq!(outcome.brief, "3 of 30 matches on 2 lines");
    assert!(session.text().starts_with("b b\na\n") && session.text().ends_with("a\nb\n"));
}

#[test]
fn answer_follows_moved_matches_and_refuses_changed_ones() {
    let mut session = TestSession::with(&[("a.txt", "one x\ntwo x\nthree x\n")]);
    let seen = session.seen_version();
    let asked = |session: &mut TestSession| {
        assert!(matches!(
            session.host.invoke_as("me", seen, &replace("x", "y")),
            Outcome::Needs(_)
        ));
    };
    asked(&mut session);
    // Another program inserts a line above all matches.
    session.write_externally("a.txt", "zero\none x\ntwo x\nthree x\n");
    done(session.host.answer(Choice::Picked(vec![2])));
    assert_eq!(session.text(), "zero\none x\ntwo y\nthree x\n");
    let now = session.seen_version();
    done(session.host.invoke_as("me", now, &undo()));
    asked(&mut session);
    session.write_externally("a.txt", "zero\none x\ntwo z x\nthree x\n");
    let fault = failed(session.host.answer(Choice::Picked(vec![2])));
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    assert!(fault.message.contains("line 3 changed since you were asked; now:\n"), "{fault}");
    assert!(fault.message.contains("3\ttwo z x"), "{fault}");
}

#[test]
fn missing_match_is_answered_with_the_most_similar_line() {
    let mut session = TestSession::with(&[("a.rs", "fn  one() {\n    two();\n    three();\n}\n")]);
    for (old, hint) in [
        ("fn one() {", "line 1 matches except for white space: fn  one() {"),
        ("two();\nthree();", "line 2 matches except for white space: two();"),
        ("    two();\n    four();", "line 2 matches its first line, but line 3 differs: three();"),
        ("2\t    two();", "old carries line numbers: leave out `N<TAB>`"),
        ("TWO", "line 2 matches except for upper and lower case: two();"),
        ("zzz", "there is no similar text; find(text) searches for a part of it"),
    ] {
        let fault = session.failed(&replace(old, "x"));
        assert_eq!((fault.message.as_str(), fault.hints[0].as_str()), ("no match in a.rs", hint));
    }
    assert!(session.failed(&replace("", "x")).message.starts_with("old is empty"));
    assert_eq!(session.failed(&replace("two", "two")).message, "old and new are the same");
}

#[test]
fn multi_line_text_matches_either_line_ending() {
    let mut session = TestSession::with(&[("a.txt", "a\r\nb\nc\r\nd\r\n")]);
    let outcome = session.done(&replace("a\nb\nc", "A\nB\nC\nD"));
    assert!(outcome.brief.starts_with("1 match, line 1"), "{}", outcome.brief);
    assert_eq!(session.text(), "A\r\nB\nC\r\nD\r\nd\r\n");
    session.done(&replace("\nd", "\ne"));
    assert_eq!(session.text(), "A\r\nB\nC\r\nD\r\ne\r\n");
}

#[test]
fn matches_do_not_overlap() {
    let mut session = TestSession::with(&[("a.txt", "aaaaa")]);
    let outcome = session.done(&replace_all("aa", "b"));
    assert_eq!((outcome.brief.as_str(), session.text().as_str()), ("2 matches on 1 line", "bba"));
}

#[test]
fn thousands_of_matches_are_replaced_undone_and_redone() {
    let many = 20_000;
    let before = "ab \u{5b57} ab\n".repeat(many / 2);
    for (new, one_line) in [("longer", false), ("", false), ("x", true)] {
        let before = if one_line { before.replace('\n', " ") } else { before.clone() };
        let mut session = TestSession::with(&[("a.txt", &before)]);
        let all = replace_all("ab", new);
        assert!(session.done(&all).brief.starts_with("20000 matches on "));
        assert_eq!(session.text(), before.replace("ab", new));
        session.view();
        session.done(&undo());
        assert_eq!(session.text(), before);
        session.view();
        session.done(&redo());
        assert_eq!(session.text(), before.replace("ab", new));
        session.view();
        if !one_line {
            session.done(&replace_lines(9_000, 9_000, "here"));
            assert_eq!(session.text().lines().nth(8_999), Some("here"));
        }
    }
}

#[test]
fn deleting_all_text_of_an_open_last_line_removes_the_line() {
    let mut session = TestSession::with(&[("a.txt", "one\ntwo\nend")]);
    session.done(&replace("end", ""));
    assert_eq!(session.text(), "one\ntwo\n");
    session.view();
    session.done(&insert(3, "third"));
    assert_eq!(session.text(), "one\ntwo\nthird\n");
    session.view();
    assert_eq!(session.done(&delete_lines(2, 2)).brief, "1 line; line 3 is now 2");
}
