//! The files are the truth: after a kill, an edit by hand, another session, a full disk.

use std::io::Write;

use pipemux_planner::Action;
use serde_json::json;

use crate::support::{NO, Session, YES, extraction, plan, synthesis, text, verdict};

const FOLDER: &str = ".planning/add-an-audit-log";

#[test]
fn kill_after_each_step_continues_where_it_was() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let steps: Vec<Action> =
        ["ProductPlanner", "SystemDesigner", "SeniorDeveloper", "TestPlanner", "RiskPlanner"]
            .map(|role| verdict(role, YES, &[]))
            .to_vec();
    for step in steps {
        session.kill();
        session.done(step);
    }
    session.kill();
    let mut both = synthesis();
    both["plan"] = plan();
    session.speak(both);
    // What is made of the journal is made again if a kill came in between.
    let folder = session.path(FOLDER);
    let made = session.read(&format!("{FOLDER}/planning.ai.json"));
    std::fs::remove_file(folder.join("planning.ai.json")).unwrap();
    std::fs::remove_dir_all(folder.join("versions")).unwrap();
    session.kill();
    assert_eq!(session.read(&format!("{FOLDER}/planning.ai.json")), made);
    assert!(folder.join("versions/v1/planning.ai.json").exists());
    assert!(session.view().contains("decides on the plan"));
}

#[test]
fn half_a_line_of_the_journal_was_never_answered_for_and_is_cut() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.verdict("ProductPlanner", YES, &[]);
    let path = session.path(&format!("{FOLDER}/journal.jsonl"));
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b"{\"ts\": \"2026")
        .unwrap();
    session.kill();
    session.verdict("SystemDesigner", NO, &[]);
    session.kill();
    let view = session.view();
    assert!(
        view.contains("you may play SeniorDeveloper") && view.contains(":1) block · because"),
        "{view}"
    );
    assert!(view.contains("at the same time: TestPlanner, RiskPlanner\n"), "{view}");
    let journal = session.read(&format!("{FOLDER}/journal.jsonl"));
    assert!(journal.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn torn_line_of_the_meeting_is_written_again() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.round([NO; 5]);
    session.round([NO; 5]);
    session.signed(extraction());
    session.reply("keep it for a year");
    let name = format!("{FOLDER}/planning.clarification.jsonl");
    let whole = session.read(&name);
    session.write(&name, &whole[..whole.len() - 30]);
    session.kill();
    assert_eq!(session.read(&name), whole);
}

#[test]
fn draft_edited_by_hand_is_taken_and_said() {
    let mut session = Session::agent();
    session.draft();
    let name = format!("{FOLDER}/planning.draft.md");
    let edited = session.read(&name).replace("- log it", "- log it, but not reads");
    session.write(&name, &edited);
    let view = session.view();
    assert!(view.contains("draft, edited by hand"), "{view}");
    assert_eq!(session.read(&name), edited);
    session.kill();
    assert!(session.view().contains("edited by hand"));
    assert!(
        !session.read(&format!("{FOLDER}/versions/v1/planning.draft.md")).contains("not reads")
    );
    // A plan that was edited is no longer what was agreed on: handing it over is confirmed like a draft's.
    let mut session = Session::agent();
    session.fast();
    let name = format!("{FOLDER}/planning.ai.json");
    session.write(&name, &session.read(&name).replace("an audit log", "a log"));
    assert!(session.view().contains("plan, edited by hand"));
    let handoff = Action::Handoff { command: String::new() };
    assert!(matches!(session.host.invoke(&handoff), pipemux_proto::app::Outcome::Needs(_)));
    session.write(&name, "{");
    assert!(session.view().contains("Problem: the plan is no JSON now"));
}

#[test]
fn entries_of_another_session_are_taken_in() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let name = format!("{FOLDER}/journal.jsonl");
    let by = json!({"reader": "other"});
    let answer = json!({"ok": true, "reasons": []});
    let entry = json!({"ts": "2026-01-01T00:00:00Z", "by": by, "event": "answered", "turn": 1, "answer": answer});
    session.write(&name, &format!("{}{entry}\n", session.read(&name)));
    assert!(session.view().contains("you may play SystemDesigner"));
}

#[test]
fn disk_that_takes_nothing_refuses_acts_and_loses_nothing() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    session.verdict("ProductPlanner", YES, &[]);
    // A file that can't be appended to stands for a disk that is full.
    let path = session.path(&format!("{FOLDER}/journal.jsonl"));
    let kept = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let fault = session.fails(verdict("SystemDesigner", YES, &[]));
    assert!(
        fault.message.contains("journal.jsonl") && fault.message.contains("nothing was changed"),
        "{}",
        fault.message
    );
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, kept).unwrap();
    session.verdict("SystemDesigner", YES, &[]);
    session.done(Action::Say { text: text("well") });
    assert!(session.view().contains(":1) agree · because"));
}

#[test]
fn journal_of_the_first_release_is_still_read() {
    let mut session = Session::agent();
    let folder = session.path(".planning/saved");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("journal.jsonl"), include_str!("../saved/journal-1.jsonl")).unwrap();
    session.kill();
    let view = session.view();
    assert!(view.starts_with("## add-an-audit-log · your decision"), "{view}");
    assert!(view.contains("decides on the draft: 1 objection stands"), "{view}");
    assert!(view.contains("hand-over 1: to sh make.sh"), "{view}");
}

/// Whoever can read a file can lock it.
#[test]
fn lock_that_another_program_holds_delays_for_a_moment_and_nothing_is_done_later() {
    let mut session = Session::agent();
    session.plan("add an audit log");
    let path = session.path(&format!("{FOLDER}/journal.jsonl"));
    let reader = std::fs::File::open(&path).unwrap();
    reader.lock_shared().unwrap();
    let before = std::fs::read(&path).unwrap();
    let fault = session.fails(verdict("ProductPlanner", YES, &[]));
    assert!(fault.message.contains("another program holds a lock on it"), "{}", fault.message);
    assert!(session.view().contains("ProductPlanner"));
    drop(reader);
    session.view();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    session.verdict("ProductPlanner", YES, &[]);
}
