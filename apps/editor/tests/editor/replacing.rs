//! Replacing text, and being asked which.

use docui::Choice;

use super::*;

const SOURCE: &str = "//! Parses refs.\nuse crate::ids::Session;\nfn owner(&self) -> Session {\n    Session::from(self.raw)\n}\n";

#[test]
fn three_matches_are_asked_about_and_some_of_them_taken() {
    let mut desk = Desk::with(&[("parse.rs", SOURCE)]);
    let needs = desk.asks(&replace("Session", "SessionId"));
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
    let outcome = done(desk.host.answer(Choice::Picked(vec![1, 3])));
    assert_eq!(
        (outcome.brief.as_str(), outcome.links[0].label.as_str()),
        ("2 of 3 matches", "undo")
    );
    let picked =
        SOURCE.replace("ids::Session", "ids::SessionId").replace("Session::", "SessionId::");
    assert_eq!(desk.text(), picked);

    let mut desk = Desk::with(&[("parse.rs", SOURCE)]);
    desk.asks(&replace("Session", "S"));
    done(desk.host.answer(Choice::AllBut(vec![2])));
    assert_eq!(desk.text(), SOURCE.replace("ids::Session", "ids::S").replace("Session::", "S::"));

    let mut desk = Desk::with(&[("parse.rs", SOURCE)]);
    desk.asks(&replace("Session", "S"));
    assert_eq!(done(desk.host.answer(Choice::AllBut(vec![]))).brief, "3 matches");
    assert_eq!(desk.text(), SOURCE.replace("Session", "S"));
}

#[test]
fn none_is_an_answer_and_an_unlisted_number_is_not() {
    let mut desk = Desk::with(&[("a.txt", "x\nx\n")]);
    desk.asks(&replace("x", "y"));
    let fault = failed(desk.host.answer(Choice::Picked(vec![3])));
    assert_eq!(fault.message, "there is no match 3: expected 1-2");
    desk.asks(&replace("x", "y"));
    assert_eq!(done(desk.host.answer(Choice::Picked(vec![]))).brief, "0 of 2 matches");
    assert_eq!(desk.text(), "x\nx\n");
}

#[test]
fn several_in_a_line_are_marked_and_many_are_counted() {
    let mut desk = Desk::with(&[("a.txt", &format!("a a\n{}", "a\n".repeat(28)))]);
    let needs = desk.asks(&replace("a", "b"));
    assert_eq!(needs.question.options[0].text, "«a» a");
    assert_eq!(needs.question.options[1].text, "a «a»");
    assert_eq!((needs.question.options.len(), needs.question.unlisted), (20, 10));
    let outcome = done(desk.host.answer(Choice::Picked(vec![1, 2, 30])));
    assert_eq!(outcome.brief, "3 of 30 matches on 2 lines");
    assert!(desk.text().starts_with("b b\na\n") && desk.text().ends_with("a\nb\n"));
}

#[test]
fn an_answer_follows_what_moved_and_refuses_what_changed() {
    let mut desk = Desk::with(&[("a.txt", "one x\ntwo x\nthree x\n")]);
    let seen = desk.host.project(Lod::Full, 9_000).unwrap().version;
    let asked = |desk: &mut Desk| {
        assert!(matches!(desk.host.invoke_as("me", seen, &replace("x", "y")), Outcome::Needs(_)));
    };
    asked(&mut desk);
    // Someone else's change arrives through the file: a line above all of them.
    desk.write("a.txt", "zero\none x\ntwo x\nthree x\n");
    done(desk.host.answer(Choice::Picked(vec![2])));
    assert_eq!(desk.text(), "zero\none x\ntwo y\nthree x\n");
    let now = desk.host.project(Lod::Full, 9_000).unwrap().version;
    done(desk.host.invoke_as("me", now, &undo()));
    asked(&mut desk);
    desk.write("a.txt", "zero\none x\ntwo z x\nthree x\n");
    let fault = failed(desk.host.answer(Choice::Picked(vec![2])));
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    assert!(fault.message.contains("line 3 changed since you were asked; now:\n"), "{fault}");
    assert!(fault.message.contains("3\ttwo z x"), "{fault}");
}

#[test]
fn no_match_tells_the_nearest() {
    let mut desk = Desk::with(&[("a.rs", "fn  one() {\n    two();\n    three();\n}\n")]);
    for (old, hint) in [
        ("fn one() {", "line 1 differs only in white space: fn  one() {"),
        ("two();\nthree();", "line 2 differs only in white space: two();"),
        ("    two();\n    four();", "line 2 matches its first line, but line 3 differs: three();"),
        ("2\t    two();", "old carries line numbers: leave out `N<TAB>`"),
        ("TWO", "line 2 differs only in upper and lower case: two();"),
        ("zzz", "there is no similar text; find(text) searches for a part of it"),
    ] {
        let fault = desk.failed(&replace(old, "x"));
        assert_eq!((fault.message.as_str(), fault.hints[0].as_str()), ("no match in a.rs", hint));
    }
    assert!(desk.failed(&replace("", "x")).message.starts_with("old is empty"));
    assert_eq!(desk.failed(&replace("two", "two")).message, "old and new are the same");
}

#[test]
fn text_spans_lines_of_either_ending() {
    let mut desk = Desk::with(&[("a.txt", "a\r\nb\nc\r\nd\r\n")]);
    let outcome = desk.done(&replace("a\nb\nc", "A\nB\nC\nD"));
    assert!(outcome.brief.starts_with("1 match, line 1"), "{}", outcome.brief);
    assert_eq!(desk.text(), "A\r\nB\nC\r\nD\r\nd\r\n");
    desk.done(&replace("\nd", "\ne"));
    assert_eq!(desk.text(), "A\r\nB\nC\r\nD\r\ne\r\n");
}

#[test]
fn matches_do_not_overlap() {
    let mut desk = Desk::with(&[("a.txt", "aaaaa")]);
    let outcome = desk.done(&Action::Replace { old: "aa".into(), new: text("b"), all: true });
    assert_eq!((outcome.brief.as_str(), desk.text().as_str()), ("2 matches on 1 line", "bba"));
}

#[test]
fn a_great_many_matches_are_replaced_in_one_pass() {
    let many = 20_000;
    let before = "ab \u{5b57} ab\n".repeat(many / 2);
    for (new, one_line) in [("longer", false), ("", false), ("x", true)] {
        let before = if one_line { before.replace('\n', " ") } else { before.clone() };
        let mut desk = Desk::with(&[("a.txt", &before)]);
        let all = Action::Replace { old: "ab".into(), new: text(new), all: true };
        assert!(desk.done(&all).brief.starts_with("20000 matches on "));
        assert_eq!(desk.text(), before.replace("ab", new));
        desk.look();
        desk.done(&undo());
        assert_eq!(desk.text(), before);
        desk.look();
        desk.done(&redo());
        assert_eq!(desk.text(), before.replace("ab", new));
        desk.look();
        if !one_line {
            desk.done(&replace_lines(9_000, 9_000, "here"));
            assert_eq!(desk.text().lines().nth(8_999), Some("here"));
        }
    }
}

#[test]
fn a_last_line_that_goes_with_its_text_is_a_line_less() {
    let mut desk = Desk::with(&[("a.txt", "one\ntwo\nend")]);
    desk.done(&replace("end", ""));
    assert_eq!(desk.text(), "one\ntwo\n");
    desk.look();
    desk.done(&insert(3, "third"));
    assert_eq!(desk.text(), "one\ntwo\nthird\n");
    desk.look();
    assert_eq!(desk.done(&delete_lines(2, 2)).brief, "1 line; line 3 is now 2");
}
