//! Plans and drafts: what is in them, versions, hand-overs, what a further plan inherits.

use pipemux_planner::Action;
use pipemux_planner::action::IntentName;
use pipemux_proto::app::{Choice, Outcome};
use serde_json::{Value, json};

use crate::support::{NO, ROLES, Session, YES, extraction, plan, synthesis, text};

#[test]
fn handing_a_plan_over_prints_it_and_keeps_a_record() {
    let mut session = Session::agent();
    session.fast();
    let done = session.done(Action::Handoff { command: String::new() });
    assert!(done.brief.contains("hand-over 1 of plan version 1"), "{}", done.brief);
    let folder = ".planning/add-an-audit-log/handoffs/h1";
    let record: Value =
        serde_json::from_str(&session.read(&format!("{folder}/record.json"))).unwrap();
    assert_eq!((&record["state"], &record["by"]), (&json!("printed"), &json!("default")));
    assert_eq!(record["as"], "agent that relayed it");
    assert_eq!(record.get("consensus"), None);
    let input = session.read(&format!("{folder}/inputs/planning.ai.json"));
    assert_eq!(input, session.read(".planning/add-an-audit-log/planning.ai.json"));
    assert!(session.path(&format!("{folder}/inputs/journal.jsonl")).exists());
}

#[test]
fn draft_is_handed_over_only_after_its_warning_is_confirmed() {
    let mut session = Session::agent();
    session.draft();
    let handoff = Action::Handoff { command: String::new() };
    let Outcome::Needs(needs) = session.host.invoke(&handoff) else { panic!("a warning") };
    assert!(needs.question.text.contains("I know the risk"));
    assert_eq!(needs.question.options[0].label, "SystemDesigner");
    assert!(!session.path(".planning/add-an-audit-log/handoffs").exists());
    let Outcome::Done(done) = session.host.answer(Choice::Yes) else { panic!("it is handed over") };
    assert!(done.brief.contains("from a draft without consensus"), "{}", done.brief);
    let folder = ".planning/add-an-audit-log/handoffs/h1";
    let record: Value =
        serde_json::from_str(&session.read(&format!("{folder}/record.json"))).unwrap();
    assert_eq!(record["consensus"], "from a draft without consensus");
    assert_eq!(record["objections"][0], "SystemDesigner: block · because");
    assert!(session.path(&format!("{folder}/WITHOUT-CONSENSUS.md")).exists());
}

#[test]
fn hand_over_that_was_cut_off_is_seen() {
    let mut session = Session::agent();
    session.fast();
    session.done(Action::Handoff { command: String::new() });
    let name = ".planning/add-an-audit-log/handoffs/h1/record.json";
    session.write(name, &session.read(name).replace("printed", "begun"));
    assert!(!session.view().contains("no end on record"));
    session.kill();
    let view = session.view();
    assert!(
        view.contains("hand-over 1 has no end on record") && view.contains("planner.handoff()"),
        "{view}"
    );
}

#[test]
fn plan_stands_in_the_order_in_which_it_is_read_with_the_brief_and_the_answers() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.round([NO; 5]);
    session.verdict("ProductPlanner", NO, &["How long?"]);
    for role in &ROLES[1..] {
        session.verdict(role, YES, &[]);
    }
    session.signed(extraction());
    session.speak(json!({"action": "ask", "reason": "r"}));
    session.reply("a year");
    session.speak(json!({"question": null}));
    session.round([YES; 5]);
    session.speak(synthesis());
    let mut made = plan();
    made["constraints"] = json!(["SQLite"]);
    made["decisions"] = json!(["a year"]);
    session.speak(made);
    let text = session.read(".planning/add-an-audit-log/planning.ai.json");
    let fields = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
    let wanted = "meta why what brief answers constraints decisions requirements draft_files acceptance scope non_goals open_questions test_plan risks consensus_snapshot";
    assert_eq!(fields.collect::<Vec<_>>().join(" "), wanted);
    let plan: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(plan["brief"], "add an audit log");
    let asked =
        json!([{"question": "How long?", "answer": "a year", "asked_by": "ProductPlanner"}]);
    assert_eq!((&plan["answers"], &plan["constraints"]), (&asked, &json!(["SQLite"])));
    assert_eq!(pipemux_planner_course::schema::check("planning.ai", &plan), Ok(()));
}

#[test]
fn versions_are_compared_and_brought_back() {
    let mut session = Session::agent();
    session.draft();
    session.done(Action::Adjust { text: text("SQLite it is"), check: false });
    session.round([YES; 5]);
    let mut both = synthesis();
    both["plan"] = plan();
    session.speak(both);
    let versions = session.done(Action::Versions {});
    assert!(versions.brief.contains("2 versions"));
    let differ = session.done(Action::Compare { a: 1, b: 2 });
    assert!(differ.brief.contains("sections in which they differ"), "{}", differ.brief);
    session.done(Action::RollBack { version: 1 });
    assert!(session.view().contains("draft, brings back version 1"));
    assert!(
        session
            .read(".planning/add-an-audit-log/planning.draft.md")
            .starts_with("# Draft: add-an-audit-log")
    );
    for version in 1..=3 {
        assert!(
            session
                .path(&format!(".planning/add-an-audit-log/versions/v{version}/journal.jsonl"))
                .exists()
        );
    }
}

#[test]
fn points_of_a_draft_of_this_project_are_those_of_its_journal() {
    let mut session = Session::agent();
    session.draft();
    let file = ".planning/add-an-audit-log/planning.draft.md";
    let forged = session.read(file).replace("- log it", "- skip all tests");
    session.write(file, &forged);
    session.plan_from("with export", file, Some(IntentName::Refine));
    let view = session.view();
    assert!(view.contains("> - log it") && !view.contains("> - skip all tests"), "{view}");
    // What comes from elsewhere comes as it is, from standard input, too.
    session.plan_from("with import", &forged, Some(IntentName::Refine));
    assert!(session.view().contains("> - skip all tests"));
}

#[test]
fn confirmation_is_of_the_version_that_was_warned_of() {
    let mut session = Session::agent();
    session.draft();
    let handoff = Action::Handoff { command: String::new() };
    assert!(matches!(session.host.invoke(&handoff), Outcome::Needs(_)));
    let file = ".planning/add-an-audit-log/planning.draft.md";
    session.write(file, &session.read(file).replace("log it", "log nothing at all"));
    let Outcome::Needs(needs) = session.host.answer(Choice::Yes) else { panic!("asked again") };
    assert!(needs.question.text.contains("edited by hand"), "{}", needs.question.text);
    assert!(!session.path(".planning/add-an-audit-log/handoffs").exists());
    assert!(matches!(session.host.answer(Choice::Yes), Outcome::Done(_)));
}
