use pipemux_proto::app::{Done, Needs, OptionItem, Outcome, Question, QuestionKind};
use pipemux_proto::projection::{Arg, RefArg};
use pipemux_proto::{Blob, Fault, Value, encode};
use proptest::prelude::*;

use super::{bound_link, read_error, read_said};
use crate::foreign::Speaker;
use crate::foreign::bounds::{bounded_line, own_lines as lines};
use crate::foreign::{self, LinkSlot};
use crate::limits::{BRIEF_CHARS, HINT_CHARS, HINTS_MAX, LABEL_CHARS, LINK_ARGS_MAX, TOKEN_MAX};

/// Characters that the mark of a cut takes at most.
const MARK: usize = 40;

proptest! {
    #[test]
    fn line_is_one_line_within_its_bound_and_tells_what_was_cut(
        text in "[a中🚀\n\r\u{85}\u{2028} ]{0,80}",
        most in 0_usize..60,
    ) {
        let line = bounded_line(&text, most);
        let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        prop_assert!(!line.contains(breaks), "{line:?}");
        prop_assert!(line.chars().count() <= most + MARK);
        let whole = text.trim_end_matches(breaks).chars().count();
        prop_assert_eq!(line.contains("more character"), whole > most);
    }

    #[test]
    fn lines_keep_their_beginning_and_tell_what_was_cut(text in "[a中\n]{0,80}", most in 0_usize..60) {
        let mut cut = text.clone();
        lines(&mut cut, most);
        let all = text.chars().count();
        prop_assert_eq!(cut.contains("more character"), all > most);
        let kept: String = text.chars().take(most).collect();
        prop_assert!(cut.starts_with(&kept), "{cut:?}");
    }
}

#[test]
fn line_within_its_bound_is_not_copied() {
    assert!(matches!(bounded_line("abc", 3), std::borrow::Cow::Borrowed("abc")));
    assert_eq!(bounded_line("a\r\nb\n", 9), "a b");
    assert_eq!(bounded_line("abcd", 3), "abc … (1 more character)");
}

const NOTES: Speaker<'_> = Speaker { provider: "notes", built_in: false };

fn taken_in(outcome: &Outcome) -> foreign::Outcome {
    read_said(&encode(outcome).unwrap(), NOTES).unwrap()
}

#[test]
fn long_answers_of_done_steps_are_shortened_and_questions_are_refused() {
    let value = Some(Value::from("v".repeat(600_000)).to_blob());
    let brief = "x\n".repeat(BRIEF_CHARS);
    let done = Outcome::Done(Done { brief, value, version: 3, ..Done::default() });
    let foreign::Outcome::Done(done) = taken_in(&done) else { panic!("it took effect") };
    assert_eq!((done.version, &done.value), (3, &None));
    let told = |brief: &str| brief.ends_with("(its value of 600005 bytes was left out)");
    assert!(done.brief.borrow().fits(told), "{done:?}");

    let question = Question {
        text: "which".into(),
        kind: QuestionKind::PickOne,
        options: vec![OptionItem { label: "a".into(), text: String::new() }; 25],
        unlisted: 3,
        ..Question::default()
    };
    let token = |length: usize| Blob(vec![0; length].into());
    let needs =
        |length| Needs { question: question.clone(), token: token(length), numbers: vec![] };
    let foreign::Outcome::Needs(asked) = taken_in(&Outcome::Needs(needs(TOKEN_MAX))) else {
        panic!()
    };
    assert_eq!((asked.question.options.len(), asked.question.unlisted), (20, 8));
    let refused = taken_in(&Outcome::Needs(needs(TOKEN_MAX + 1)));
    let foreign::Outcome::Failed(fault) = refused else { panic!("{refused:?}") };
    assert_eq!(fault.message, "its question carries 262145 bytes (limit 262144)");
}

#[test]
fn hints_stay_whole_or_are_left_out() {
    let mut fault = Fault::failed("no").hint("h".repeat(HINT_CHARS + 1)).about("");
    for number in 0..HINTS_MAX + 2 {
        fault = fault.hint(format!("pipemux view {number}"));
    }
    let read = read_error(&encode(&fault).unwrap(), NOTES, false).unwrap();
    assert_eq!(read.hints.len(), HINTS_MAX + 1);
    assert_eq!(read.hints[0], "notes says: pipemux view 0");
    assert_eq!(read.hints[HINTS_MAX], "notes says: … 3 more hints were left out");
    assert_eq!(read.key, None, "no thing has such a key");
}

#[test]
fn link_with_too_long_a_call_is_only_text() {
    let link = |length: usize| {
        let key = "k".repeat(length.min(500));
        let item = Arg::Ref(RefArg { key, rev: 0, ty: None });
        let args = [("a".to_owned(), Arg::List(vec![item; length / 500]))].into();
        LinkSlot { label: "go".into(), action: "act".into(), args, ..LinkSlot::default() }
    };
    let mut short = link(LINK_ARGS_MAX / 2);
    bound_link(&mut short);
    assert_eq!((&short.label, short.action.as_str()), (&"go".into(), "act"));
    let mut long =
        LinkSlot { label: "l".repeat(LABEL_CHARS + 1).into(), ..link(2 * LINK_ARGS_MAX) };
    bound_link(&mut long);
    assert!(long.action.is_empty() && long.args.is_empty() && long.code.is_none());
    assert!(
        long.label.borrow().fits(|label| label.contains("(no link: its call takes ")),
        "{long:?}"
    );
}
