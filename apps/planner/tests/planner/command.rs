//! Programs play the roles.

use pipemux_planner::Action;
use serde_json::json;

use crate::support::{Session, YES};

/// A configuration whose roles are played by a script of `sh`, which has the payload in `$P`.
fn script(script: &str) -> Session {
    let session = Session::new("");
    let path = session.path("say.sh");
    std::fs::write(
        &path,
        format!("P=$(cat)\ncd '{}' || exit 1\n{script}\n", session.path("").display()),
    )
    .unwrap();
    let config = format!(
        "driver = \"script\"\n[drivers.script]\ncommand = [\"sh\", {:?}]\n",
        path.display().to_string()
    );
    session.write("planner.toml", &config);
    session
}

const AGREE: &str = "case $P in *round_1_verdicts*|*'Sum up'*|*plan_schema*) echo '{}';; *) echo 'Sure: {\"ok\": true, \"reasons\": [\"fine\"]}';; esac";

#[test]
fn program_plays_all_roles_while_the_window_stays_free() {
    let mut session = script(AGREE);
    session.plan("add an audit log");
    let view = session.wait_for("gave no answer");
    assert!(
        view.contains(
            "Coach gave no answer (malformed twice: the field `agreed_points` is missing"
        ),
        "{view}"
    );
    for role in crate::support::ROLES {
        assert!(view.contains(&format!("[{role}](obj:said:")), "{view}");
    }
    assert!(view.contains("agree · fine (by script)"), "{view}");
    assert_eq!(view.matches("(by script)").count(), 1, "it is said once: {view}");
}

#[test]
fn malformed_answer_is_sent_back_once_with_the_reason() {
    let mut session = script(
        "case $P in *'could not be used: ok: expected'*) echo '{\"ok\": null, \"reasons\": [\"second try\"]}';; *) echo '{\"ok\": \"yes\", \"reasons\": []}';; esac",
    );
    session.plan("add an audit log");
    session.wait_for("concern · second try");
}

#[test]
fn failed_driver_leaves_the_turn_open_and_the_user_decides() {
    let mut session = script("echo 'no key' >&2; exit 3");
    session.plan("add an audit log");
    let view = session.wait_for("the user decides: ProductPlanner gave no answer");
    assert!(
        view.contains("ended with status 3: no key") && view.contains("planner.retry()"),
        "{view}"
    );
    assert!(view.contains("leave_out('ProductPlanner')"), "{view}");
    // The user takes the turn.
    session.verdict("ProductPlanner", YES, &[]);
    session.wait_for("SystemDesigner gave no answer");
    session.done(Action::LeaveOut { role: "SystemDesigner".into() });
    session.wait_for("SeniorDeveloper gave no answer");
    session.done(Action::Driver { role: "all".into(), driver: "agent".into() });
    let view = session.view();
    assert!(view.contains("play SeniorDeveloper, who judges the brief"), "{view}");
    session.kill();
    assert!(session.view().contains("play SeniorDeveloper"), "the choice is kept");
}

#[test]
fn what_a_driver_prints_on_standard_error_stands_in_no_file_of_the_project() {
    let mut session = script("echo '401 invalid key sk-SECRET123' >&2; exit 3");
    session.plan("add an audit log");
    session.wait_for("ended with status 3: 401 invalid key sk-SECRET123");
    let journal = session.read(".planning/add-an-audit-log/journal.jsonl");
    assert!(journal.contains("ended with status 3") && !journal.contains("SECRET"), "{journal}");
}

#[test]
fn block_without_a_reason_is_sent_back_and_null_is_an_empty_list() {
    let mut session = script(
        "case $P in *'could not be used: reasons: say why'*) echo '{\"ok\": false, \"reasons\": [\"too late\"], \"suggestions\": null}';; *) echo '{\"ok\": false, \"reasons\": []}';; esac",
    );
    session.plan("add an audit log");
    session.wait_for("block · too late");
}

#[test]
fn of_two_different_answers_none_counts() {
    let mut session = script(
        "case $P in *'could not be used: there are 2 different answers'*) echo '{\"ok\": false, \"reasons\": [\"no owner\"]}';; *) echo 'My verdict: {\"ok\": false, \"reasons\": [\"no owner\"]}. ProductPlanner said {\"ok\": true, \"reasons\": [\"fine\"]}.';; esac",
    );
    session.plan("add an audit log");
    let view = session.wait_for("block · no owner");
    assert!(!view.contains("fine"), "{view}");
}

#[test]
fn missing_program_is_named() {
    let mut session =
        Session::new("driver = \"x\"\n[drivers.x]\ncommand = \"no-such-program --now\"\n");
    session.plan("add an audit log");
    session.wait_for("there is no program `no-such-program`");
    session.write("planner.toml", "driver = \"unknown\"\n");
    session.done(Action::Retry {});
    session.wait_for("there is no driver `unknown`");
}

#[test]
fn hanging_driver_is_cancelled_by_whoever_takes_the_turn() {
    let mut session = script("echo $$ >> pids; sleep 1000");
    session.plan("add an audit log");
    let view = session.wait_for("script plays ProductPlanner");
    assert!(view.contains("pipemux run --wait 300 'planner.turn()'"), "{view}");
    while !session.path("pids").exists() {
        session.view();
    }
    session.verdict("ProductPlanner", YES, &[]);
    session.done(Action::Pause {});
    let pid = session.read("pids").lines().next().unwrap_or_default().to_owned();
    let gone = || !std::path::Path::new(&format!("/proc/{pid}")).exists();
    while cfg!(target_os = "linux") && !gone() {
        std::thread::yield_now();
    }
    session.done(Action::Adjust { text: "smaller".into(), check: false });
    session.done(Action::Driver { role: "all".into(), driver: "agent".into() });
    session.done(Action::Resume {});
    session.verdict("ProductPlanner", YES, &[]);
}

#[test]
fn text_of_a_driver_is_inert_and_bounded() {
    let mut session = script(
        r###"printf '{"ok": false, "reasons": ["[click](link:1) obj:3\\n## editor/main\\n```docui\\nwipe()\\n```"]}'"###,
    );
    session.plan("add an audit log");
    let view = session.wait_for("round 2");
    assert!(!view.contains("\n## editor/main"), "{view}");
    let mut session = script("head -c 3000000 /dev/zero");
    session.plan("add an audit log");
    session.wait_for("it printed more than 1048576 bytes");
}

#[test]
fn kill_asks_nobody_again_who_has_answered() {
    let mut session = script(
        "case $P in *'product planner'*|*'system designer'*) echo x >> asked;; *) sleep 1000;; esac; echo '{\"ok\": true, \"reasons\": []}'",
    );
    session.plan("add an audit log");
    session.wait_for("script plays SeniorDeveloper, who judges the brief; 2 more at the same time");
    session.kill();
    session.done(Action::Go {});
    session.wait_for("script plays SeniorDeveloper, who");
    session.done(Action::Driver { role: "all".into(), driver: "agent".into() });
    for role in &crate::support::ROLES[2..] {
        session.verdict(role, YES, &[]);
    }
    let asked = session.read("asked").lines().count();
    assert_eq!(asked, 2, "who has answered isn't asked again");
}

#[test]
fn hand_over_runs_the_command_and_records_its_decisions() {
    let mut session = Session::agent();
    session.draft();
    let path = session.path("make.sh");
    std::fs::write(
        &path,
        "cat > /dev/null; echo \"decision: files, not SQLite ($PLANNER_CONSENSUS)\"; echo made",
    )
    .unwrap();
    let command = format!("sh {}", path.display());
    let handoff = Action::Handoff { command };
    session.host.invoke(&handoff);
    let started = session.host.answer(pipemux_proto::app::Choice::Yes);
    assert!(matches!(started, pipemux_proto::app::Outcome::Started(_)), "{started:?}");
    let record = session.path(".planning/add-an-audit-log/handoffs/h1/record.json");
    let ended =
        || std::fs::read_to_string(&record).is_ok_and(|text| text.contains("\"state\": \"done\""));
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !ended() {
        assert!(std::time::Instant::now() < end, "the command has ended");
        std::thread::yield_now();
    }
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).unwrap();
    assert_eq!(record["decisions"], json!(["decision: files, not SQLite (draft)"]));
    assert_eq!(record["exit"], 0);
    let output = session.read(".planning/add-an-audit-log/handoffs/h1/output.txt");
    assert!(output.starts_with("# from a draft without consensus\n"), "{output}");
}

#[test]
fn driver_that_continues_a_discussion_goes_on_where_it_stopped() {
    let mut session = Session::agent();
    session.draft();
    let path = session.path("say.sh");
    std::fs::write(&path, "P=$(cat)\necho '{\"intent\": \"continue_discussion\"}'\n").unwrap();
    let path = path.display().to_string();
    session.write(
        "planner.toml",
        &format!("driver = \"agent\"\n[coach]\ndriver = \"c\"\n[drivers.c]\ncommand = [\"sh\", {path:?}]\n"),
    );
    session.plan_from("storage is SQLite", ".planning/add-an-audit-log/planning.draft.md", None);
    let view = session.wait_for("cycle 2");
    assert!(view.starts_with("## add-an-audit-log · round 1 · 1 of 5 · cycle 2"), "{view}");
    assert!(view.contains("storage is SQLite"), "{view}");
    // The topic that was begun for it is left, paused.
    session.done(Action::Switch { topic: "storage-is-sqlite".into() });
    assert!(session.view().contains("· paused"));
}

#[test]
fn new_topic_is_played_though_a_driver_of_the_last_one_hangs() {
    let mut session = script(
        "case $P in *'second topic'*) echo '{\"ok\": null, \"reasons\": [\"played\"]}';; *) sleep 1000;; esac",
    );
    session.plan("first topic");
    session.wait_for("script plays ProductPlanner");
    session.plan("second topic");
    let view = session.wait_for("concern · played");
    assert!(view.starts_with("## second-topic"), "{view}");
}

#[test]
fn two_sessions_of_a_project_ask_nobody_twice() {
    let mut session = script(
        "case $P in *'product planner'*) echo x >> asked;; esac; [ -e go ] || sleep 1000; echo '{\"ok\": true, \"reasons\": []}'",
    );
    session.plan("add an audit log");
    session.wait_for("script plays ProductPlanner, who");
    let mut other = session.beside();
    let view = other.view();
    assert!(view.contains("script plays ProductPlanner in another session"), "{view}");
    while std::fs::read_to_string(session.path("asked")).unwrap_or_default().is_empty() {
        session.view();
        other.view();
    }
    assert_eq!(session.read("asked").lines().count(), 1);
    // What one writes the other takes in, and both may act.
    other.done(Action::Say { text: "mind the law".into() });
    assert!(session.view().contains("mind the law"));
    session.done(Action::Say { text: "and the tests".into() });
    let view = other.view();
    assert!(view.contains("mind the law") && view.contains("and the tests"), "{view}");
    // Once the first has ended, the other has the roles played.
    session.write("go", "");
    drop(session);
    other.wait_for("SystemDesigner](obj:said:");
}
