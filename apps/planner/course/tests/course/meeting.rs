//! The clarification meeting.

use pipemux_planner_course::event::Event;
use pipemux_planner_course::turn::TurnKind;
use pipemux_planner_course::{Role, Stage, schema};
use serde_json::json;

use crate::support::{NO, Play, YES, extraction, verdict};

/// A course in the meeting, in which the product planner has one question and the system designer
/// two.
fn meeting() -> Play {
    let mut play = Play::begun();
    play.round([NO; 5]);
    play.answer(verdict(NO, &["bind it to the users?"]));
    play.answer(verdict(None, &["migrate data?", "which database?"]));
    for _ in 2..5 {
        play.answer(verdict(YES, &[]));
    }
    play.signed(extraction());
    assert_eq!(play.course.stage, Stage::Meeting);
    play
}

fn ask() -> serde_json::Value {
    json!({"action": "ask", "reason": "still open"})
}

#[test]
fn roles_ask_one_question_at_a_time_drop_and_change_them() {
    let mut play = meeting();
    assert_eq!(play.kind(), TurnKind::Judge(Role::ProductPlanner, 0));
    assert_eq!(schema::check("payload.judgement", &play.payload()), Ok(()));
    play.answer(ask());
    assert!(play.course.turns.first().is_none(), "the user is asked");
    play.reply("yes, 500,000 of them");
    assert_eq!(play.kind(), TurnKind::FollowUp(Role::ProductPlanner));
    assert_eq!(schema::check("payload.follow_up", &play.payload()), Ok(()));
    play.answer(json!({"question": "all at once?"}));
    play.reply("no, step by step");
    play.answer(json!({"question": null}));
    let payload = play.payload();
    assert_eq!(payload["asked_so_far"][1]["answer"], "no, step by step");
    assert!(
        play.course
            .turns
            .first()
            .is_some_and(|turn| turn.kind == TurnKind::Judge(Role::SystemDesigner, 1))
    );
    let turn = play.turn();
    let unworded = json!({"action": "modify", "reason": "x"});
    assert!(
        play.refused(Event::Answered { turn, answer: unworded, missing: Vec::new() })
            .message
            .contains("new wording")
    );
    play.answer(json!({"action": "modify", "question": "is migration in scope?", "reason": "500,000 users"}));
    play.reply("I don't know.");
    play.answer(json!({"action": "skip", "reason": "asked by now"}));
    play.answer(json!({"question": null}));
    assert_eq!(play.course.stage, Stage::Round(3));
    assert!(play.course.cycle.all_questions_settled());
    let kinds: Vec<&str> =
        play.course.record.lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "opening",
            "judgement",
            "question",
            "answer",
            "follow_up",
            "question",
            "answer",
            "judgement",
            "question",
            "answer",
            "judgement",
            "closing",
        ]
    );
    let closing = play.course.record.lines.last().expect("a line");
    assert_eq!(
        closing["text"],
        "The meeting is closed: 2 questions cleared, 1 recorded as unknown, 1 dropped, all roles heard."
    );
    let answer = &play.course.record.lines[3];
    assert_eq!(answer["ai_role"], "ProductPlanner");
    assert_eq!(answer["user_input"], "yes, 500,000 of them");
    assert_eq!(answer["typed_by"], json!({"reader": "ann", "as": "agent that relayed it"}));
}

#[test]
fn role_that_asks_answers_when_the_user_asks_back() {
    let mut play = meeting();
    play.answer(ask());
    play.ok(Event::Say { text: "which users do you mean?".into() });
    assert_eq!(play.kind(), TurnKind::AnswerBack(Role::ProductPlanner, 0));
    assert_eq!(schema::check("payload.answer_back", &play.payload()), Ok(()));
    assert_eq!(play.payload()["user_asks"], "which users do you mean?");
    play.refused(Event::Say { text: "well?".into() });
    play.answer(json!({"answer": "the present ones"}));
    play.reply("yes, those");
    let lines: Vec<&str> =
        play.course.record.lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(lines[2..], ["question", "ask_back", "role_answer", "answer"]);
}

#[test]
fn closed_question_takes_no_second_reply() {
    let mut play = meeting();
    assert!(
        play.refused(Event::Reply { question: None, text: "x".into() })
            .message
            .contains("ProductPlanner is to speak now")
    );
    play.answer(ask());
    play.reply("yes");
    play.answer(json!({"question": null}));
    play.answer(ask());
    let refusal = play.refused(Event::Reply { question: Some(1), text: "no".into() });
    assert_eq!(
        refusal.message,
        "question 1 is closed; it was answered \"yes\"; question 2 is open"
    );
    assert!(
        play.refused(Event::Reply { question: Some(7), text: "no".into() })
            .message
            .contains("no question 7")
    );
}

#[test]
fn meeting_without_questions_still_asks_the_user() {
    let mut play = Play::begun();
    play.round([NO; 5]);
    play.round([YES; 5]);
    play.signed(extraction());
    assert_eq!(play.course.stage, Stage::Meeting);
    let question = &play.course.cycle.meeting.as_ref().expect("a meeting").questions[0];
    assert_eq!(question.asker(), "Coach");
    play.reply("nothing more");
    assert_eq!(play.course.stage, Stage::Round(3));
}

#[test]
fn question_of_a_role_that_is_left_out_is_asked_all_the_same() {
    let mut play = meeting();
    play.ok(Event::LeaveOut { role: Role::ProductPlanner });
    play.reply("yes");
    assert_eq!(play.kind(), TurnKind::Judge(Role::SystemDesigner, 1));
}

#[test]
fn follow_ups_have_a_bound() {
    let mut play = meeting();
    play.answer(ask());
    play.reply("yes");
    for _ in 0..2 {
        play.answer(json!({"question": "and?"}));
        play.reply("that is all");
    }
    assert_eq!(play.kind(), TurnKind::Judge(Role::SystemDesigner, 1));
}

#[test]
fn questions_beyond_the_bound_are_dropped_on_record() {
    let mut play = Play::begun();
    play.round([NO; 5]);
    play.answer(verdict(NO, &["a?", "b?", "c?", "d?"]));
    for _ in 1..5 {
        play.answer(verdict(YES, &[]));
    }
    play.signed(extraction());
    let kinds: Vec<&str> =
        play.course.record.lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(kinds, ["opening", "judgement"]);
    let cut = &play.course.record.lines[1];
    assert_eq!(
        (&cut["ai_role"], &cut["question"], &cut["reason"]),
        (&json!("Coach"), &json!("d?"), &json!("the coach takes three questions of a role"))
    );
    assert!(!play.course.record.lines[0]["text"].as_str().expect("a text").contains("d?"));
}

#[test]
fn closing_names_who_was_left_out() {
    let mut play = meeting();
    play.ok(Event::LeaveOut { role: Role::ProductPlanner });
    play.ok(Event::LeaveOut { role: Role::SystemDesigner });
    for _ in 0..3 {
        play.reply("yes");
    }
    let closing = play.course.record.lines.last().expect("a line");
    assert_eq!(
        closing["text"],
        "The meeting is closed: 3 questions cleared, all roles heard but ProductPlanner and SystemDesigner, left out."
    );
}

#[test]
fn questions_of_round_1_reach_the_meeting_unless_they_are_asked_again() {
    let mut play = Play::begun();
    play.answer(verdict(NO, &["Which users?", "Since when?", "which  users"]));
    play.answer(verdict(NO, &["Which users?"]));
    for _ in 2..5 {
        play.answer(verdict(NO, &[]));
    }
    play.answer(verdict(NO, &["since when", "How many?"]));
    // A role that agrees by now says in the meeting whether its question is settled.
    for _ in 1..5 {
        play.answer(verdict(YES, &[]));
    }
    play.signed(extraction());
    let meeting = play.course.cycle.meeting.as_ref().expect("a meeting");
    let questions: Vec<(&str, &str)> =
        meeting.questions.iter().map(|one| (one.asker(), one.text.as_str())).collect();
    assert_eq!(
        questions,
        [
            ("ProductPlanner", "since when"),
            ("ProductPlanner", "How many?"),
            ("ProductPlanner", "Which users?"),
            ("SystemDesigner", "Which users?"),
        ]
    );
    for _ in 0..3 {
        play.answer(json!({"action": "skip", "reason": "settled"}));
    }
    assert_eq!(play.kind(), TurnKind::Judge(Role::SystemDesigner, 3));
    play.answer(ask());
    play.reply("all of them");
    play.answer(json!({"question": null}));
    assert_eq!(play.kind(), TurnKind::Verdict(3, Role::ProductPlanner));
    let payload = play.payload();
    assert_eq!(payload["clarification_questions"]["question_1"], "Which users?");
    assert_eq!(payload["user_answers"]["question_1"], "all of them");
}

#[test]
fn journal_of_earlier_rules_gives_the_meeting_that_it_was() {
    let mut play = Play::default();
    let start = json!({"event": "start", "topic": "t", "brief": "add an audit log"});
    play.ok(serde_json::from_value(start).expect("an entry of the first release"));
    for _ in 0..5 {
        play.answer(verdict(NO, &["Which users?"]));
    }
    play.answer(verdict(NO, &["Since when?"]));
    for _ in 1..5 {
        play.answer(verdict(YES, &[]));
    }
    let asked = &play.course.cycle.meeting.as_ref().expect("a meeting").questions;
    assert_eq!(asked.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["Since when?"]);
}

#[test]
fn second_judgement_is_given_what_the_user_has_added_to_the_brief() {
    let mut play = Play::begun();
    play.round([NO; 5]);
    play.answer(verdict(NO, &["Which users?"]));
    for _ in 1..5 {
        play.answer(verdict(YES, &[]));
    }
    play.signed(extraction());
    play.ok(Event::Adjust { text: "for all 500 users".into() });
    let brief = play.payload()["user_brief"].clone();
    assert!(brief.as_str().is_some_and(|brief| brief.contains("for all 500 users")), "{brief}");
}

#[test]
fn each_role_is_given_the_consensus_and_both_of_its_verdicts() {
    let mut play = meeting();
    for (name, answer) in [("judgement", ask()), ("answer_back", json!({"answer": "all"}))] {
        let payload = play.payload();
        assert_eq!(schema::check(&format!("payload.{name}"), &payload), Ok(()));
        assert_eq!(payload["consensus_from_r1_r2"], extraction());
        assert_eq!(payload["my_verdicts"]["round_1"]["reasons"], json!(["because"]));
        assert_eq!(payload["my_verdicts"]["round_2"]["ok"], false);
        play.answer(answer);
        if name == "judgement" {
            play.ok(Event::Say { text: "which?".into() });
        }
    }
}

#[test]
fn roles_judge_at_once_whether_an_answer_settles_their_questions() {
    let mut play = Play::begun();
    play.round([NO; 5]);
    play.answer(verdict(NO, &["Which users?"]));
    play.answer(verdict(NO, &["Is data migrated?", "Which database?"]));
    play.answer(verdict(NO, &["Which users are there?"]));
    for _ in 3..5 {
        play.answer(verdict(YES, &[]));
    }
    play.signed(extraction());
    assert_eq!(play.course.turns.open.len(), 1, "the first role looks at its question alone");
    play.answer(ask());
    play.reply("all 500,000, step by step");
    let kinds = |play: &Play| -> Vec<TurnKind> {
        play.course.turns.open.iter().map(|turn| turn.kind).collect()
    };
    let (first, designer) = (Role::ProductPlanner, Role::SystemDesigner);
    let developer = TurnKind::Judge(Role::SeniorDeveloper, 3);
    let judges = [TurnKind::FollowUp(first), TurnKind::Judge(designer, 1), developer];
    assert_eq!(kinds(&play), judges);
    let open = play.course.payload_of(developer, &Default::default())["open_questions"].clone();
    assert_eq!(
        open,
        json!(["Is data migrated? (SystemDesigner)", "Which database? (SystemDesigner)"])
    );
    // They answer in any order; the user is asked once the first of them has.
    let turn = play.course.turns.open[2].id;
    let skip = json!({"action": "skip", "reason": "answered by now"});
    play.ok(Event::Answered { turn, answer: skip, missing: Vec::new() });
    play.answer(json!({"question": null}));
    play.answer(ask());
    let meeting = play.course.cycle.meeting.as_ref().expect("a meeting");
    assert_eq!(meeting.open().map(|(index, _)| index), Some(1));
    let reasons = play.course.record.lines.iter().filter_map(|line| line["reason"].as_str());
    assert!(reasons.into_iter().any(|reason| reason == "answered by now"), "it is on record");
}
