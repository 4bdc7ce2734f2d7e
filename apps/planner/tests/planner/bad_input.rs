//! Bad input gets an error that says what to do, and loses nothing.

use docui::FilePath;
use pipemux_planner::Action;
use pipemux_planner::action::Json;
use serde_json::json;

use crate::support::{NO, Session, YES, extraction, text, verdict};

fn plan(brief: &str, from: Option<&str>) -> Action {
    let from = from.map(|from| FilePath(from.into()));
    Action::Plan { brief: brief.into(), from, intent: None, topic: String::new() }
}

#[test]
fn missing_and_empty_briefs_are_refused_with_the_call() {
    let mut session = Session::agent();
    for brief in ["", "  \n"] {
        let fault = session.fails(plan(brief, None));
        assert_eq!(fault.message, "the brief is empty: say what you want, and why");
        assert!(fault.hints[0].starts_with("pipemux run 'planner.plan("), "{:?}", fault.hints);
    }
    for action in [
        Action::Accept {},
        Action::Pause {},
        Action::Reply { text: text("x"), question: None, wait: false },
    ] {
        assert!(session.fails(action).message.contains("there is no brief yet"));
    }
    let early = session.fails(Action::Take { role: "TestPlanner".into() });
    assert_eq!(early.hints, ["pipemux run 'planner.turn()'"]);
    assert!(
        session
            .fails(Action::Handoff { command: String::new() })
            .message
            .contains("no plan or draft")
    );
    assert!(!session.path(".planning").exists());
}

#[test]
fn file_that_is_not_there_and_plan_of_another_form_are_said() {
    let mut session = Session::agent();
    assert!(session.fails(plan("x", Some("gone.json"))).message.starts_with("gone.json: "));
    session.write(
        "old.json",
        r#"{"meta": {"task_id": "old", "version": 9}, "goals": ["be quick"], "why": "speed"}"#,
    );
    session.done(plan("go on with it", Some("old.json")));
    let view = session.view();
    assert!(view.contains("old (of another form: ") && view.contains("why: speed"), "{view}");
}

#[test]
fn answer_of_a_megabyte_is_kept_in_a_file() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.round([NO; 5]);
    session.round([YES; 5]);
    session.signed(extraction());
    let huge = "x".repeat(1_000_000);
    let fault = session.fails(Action::Reply { text: text(&huge), question: None, wait: false });
    assert!(fault.message.contains(
        "1000000 characters, at most 32000; it is kept in .planning/add-an-audit-log/too-long.txt"
    ));
    assert_eq!(session.read(".planning/add-an-audit-log/too-long.txt"), huge);
    session.reply("see too-long.txt");
}

#[test]
fn reply_to_a_closed_question_says_what_is_open() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let reply = |question| Action::Reply { text: text("yes"), question, wait: false };
    assert!(
        session
            .fails(reply(None))
            .message
            .contains("no question is open; ProductPlanner is to speak now")
    );
    session.round([NO; 5]);
    session.round([YES; 5]);
    session.signed(extraction());
    session.done(reply(Some(1)));
    assert!(
        session
            .fails(reply(Some(1)))
            .message
            .contains("question 1 is closed; it was answered \"yes\"")
    );
}

#[test]
fn malformed_answers_name_the_place_and_the_call() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let fault = session.fails(Action::Speak {
        answer: Json(json!({"ok": "maybe", "reasons": []})),
        role: String::new(),
    });
    assert!(
        fault.message.contains("ok: expected boolean or null, got \"maybe\""),
        "{}",
        fault.message
    );
    assert!(fault.hints[0].contains("planner.verdict(\"ProductPlanner\""), "{:?}", fault.hints);
    let mut unreasoned = verdict("ProductPlanner", NO, &[]);
    if let Action::Verdict { reasons, .. } = &mut unreasoned {
        reasons.clear();
    }
    assert!(session.fails(unreasoned).message.contains("say why"));
    assert!(
        session
            .fails(Action::Switch { topic: "add-an-audit-lg".into() })
            .message
            .contains("near: add-an-audit-log")
    );
    let unknown = Action::Driver { role: "all".into(), driver: "gpt".into() };
    assert!(
        session
            .fails(unknown)
            .message
            .contains("there is no driver `gpt`; there are agent, claude")
    );
}

#[test]
fn broken_configuration_is_shown_until_it_is_mended() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.write("planner.toml", "driver = 3\n");
    assert!(session.view().contains("Problem: planner.toml: "));
    session.verdict("ProductPlanner", YES, &[]);
    session.write(
        "planner.toml",
        "driver = \"agent\"\n[roles.SystemDesigner]\nprompt = \"Look at the wire.\"\n",
    );
    let view = session.view();
    assert!(
        !view.contains("Problem") && view.contains("SystemDesigner · Look at the wire."),
        "{view}"
    );
}
