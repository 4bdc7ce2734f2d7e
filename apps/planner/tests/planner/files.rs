//! The files are the truth: after a kill, an edit by hand, another session, a full disk.

use std::io::Write;
use std::process::{Command, Stdio};

use pipemux_planner::Action;
use pipemux_proto::app::Outcome;
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
}

/// Many programs empty a file before they write it: what they write isn't lost because somebody
/// looks in between.
#[test]
fn file_that_is_being_written_is_not_replaced() {
    let mut session = Session::agent();
    session.fast();
    let file = format!("{FOLDER}/planning.ai.json");
    for number in 0..10 {
        let edited = session.read(&file).replace("an audit log", &format!("log {number}"));
        let mut out = std::fs::File::create(session.path(&file)).unwrap();
        let text = edited.clone();
        let writer = std::thread::spawn(move || out.write_all(text.as_bytes()));
        session.view();
        writer.join().unwrap().unwrap();
        assert_eq!(session.read(&file), edited);
        session.view();
        session.done(Action::RollBack { version: 1 });
    }
}

/// What is in the journal of edits by hand.
fn edits(session: &Session) -> usize {
    session.read(&format!("{FOLDER}/journal.jsonl")).matches("\"event\":\"edited\"").count()
}

/// Looks as often as a window and a watcher would, across a restart, too.
fn look(session: &mut Session) -> String {
    for _ in 0..3 {
        session.view();
    }
    session.kill();
    session.view()
}

fn is_handed_over(session: &mut Session) -> bool {
    let handoff = Action::Handoff { command: String::new() };
    match session.host.invoke(&handoff) {
        Outcome::Done(_) => true,
        Outcome::Needs(needs) => {
            assert!(needs.question.text.contains("edited by hand"), "{}", needs.question.text);
            false
        }
        other => panic!("{other:?}"),
    }
}

/// Runs a script of Python on a text.
fn python(script: &str, text: &str) -> String {
    let mut child = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Writes a plan in another form.
type Format = Box<dyn Fn(&str) -> String>;

#[test]
fn edit_by_hand_is_one_entry_however_it_is_formatted() {
    let dump =
        |args: &str| format!("import json,sys;print(json.dumps(json.load(sys.stdin){args}))");
    let formats: [(&str, Format); 5] = [
        ("json.tool", Box::new(|text| python("import json.tool; json.tool.main()", text))),
        ("no last newline", Box::new(|text: &str| text.trim_end().to_owned())),
        ("sorted", Box::new(move |text| python(&dump(", sort_keys=True, indent=2"), text))),
        ("one line", Box::new(move |text| python(&dump(""), text))),
        ("CRLF", Box::new(|text: &str| text.replace('\n', "\r\n"))),
    ];
    for (name, format) in formats {
        for is_changed in [false, true] {
            let mut session = Session::agent();
            session.fast();
            let file = format!("{FOLDER}/planning.ai.json");
            let agreed = session.read(&file);
            let edited = match is_changed {
                true => format(&agreed.replace("an audit log", "a log")),
                false => format(&agreed),
            };
            session.write(&file, &edited);
            let view = look(&mut session);
            assert_eq!(edits(&session), usize::from(edited != agreed), "{name}");
            assert_eq!(session.read(&file), edited, "{name}: as it was edited");
            assert_eq!(view.contains("edited by hand"), is_changed, "{name}: {view}");
            assert_eq!(is_handed_over(&mut session), !is_changed, "{name}");
            // The same edit again is none, and the topic goes on.
            session.write(&file, &edited);
            look(&mut session);
            assert_eq!(edits(&session), usize::from(edited != agreed), "{name}");
            session.done(Action::Accept {});
        }
    }
}

#[test]
fn file_that_is_no_plan_is_said_and_ends_nothing() {
    let mut session = Session::agent();
    session.fast();
    let file = format!("{FOLDER}/planning.ai.json");
    for (text, why) in
        [("[1,2]", "no JSON object now"), ("{", "no JSON now"), ("3", "no JSON object")]
    {
        session.write(&file, text);
        let view = look(&mut session);
        assert!(view.contains(&format!("Problem: the plan is {why}")), "{view}");
        assert_eq!((edits(&session), session.read(&file).as_str()), (0, text));
    }
    session.done(Action::RollBack { version: 1 });
    assert!(!session.view().contains("Problem"));
    // Of two values of one name a reader would see one, and a program take the other.
    let agreed = session.read(&file);
    let twice = "\"requirements\": [{\"id\": \"R1\", \"text\": \"EVIL\"}],\n  \"requirements\":";
    session.write(&file, &agreed.replace("\"requirements\":", twice));
    let view = look(&mut session);
    assert!(
        view.contains("Problem: the plan is no JSON now: \"requirements\" is there twice"),
        "{view}"
    );
    let done = session.done(Action::Handoff { command: String::new() });
    assert!(!format!("{done:?}").contains("EVIL"));
}

#[test]
fn what_nobody_agreed_to_keeps_its_mark_and_what_was_agreed_comes_back_word_for_word() {
    let mut session = Session::agent();
    session.fast();
    let file = format!("{FOLDER}/planning.ai.json");
    let agreed = session.read(&file);
    session.write(&file, &agreed.replace("an audit log", "a log"));
    assert!(session.view().contains("### Version 2\n"));
    assert_eq!(session.read(&format!("{FOLDER}/versions/v1/planning.ai.json")), agreed);
    session.done(Action::RollBack { version: 2 });
    assert!(look(&mut session).contains("plan, edited by hand, brings back version 2"));
    assert!(!is_handed_over(&mut session), "going back to it doesn't make it agreed on");
    session.done(Action::RollBack { version: 1 });
    assert_eq!(session.read(&file), agreed);
    assert!(is_handed_over(&mut session));
    let record = session.read(&format!("{FOLDER}/handoffs/h1/record.json"));
    assert!(!record.contains("edited_by_hand"), "{record}");
    // So is taking the edit back by hand.
    session.write(&file, &agreed.replace("an audit log", "a log"));
    session.view();
    assert!(!is_handed_over(&mut session));
    session.write(&file, &agreed);
    assert!(session.view().contains("all five agree"));
    assert!(is_handed_over(&mut session));
}

#[test]
fn topic_that_was_flooded_with_edits_is_repaired_when_it_is_loaded() {
    let mut session = Session::agent();
    session.fast();
    let file = format!("{FOLDER}/planning.ai.json");
    let name = format!("{FOLDER}/journal.jsonl");
    let text = session.read(&file).replace("an audit log", "a log");
    // As an earlier version wrote it.
    let journal = session.read(&name).replace("\"rules\":2", "\"rules\":1");
    let entry = json!({"ts": "2026-01-01T00:00:00Z", "by": {"reader": "a text editor", "person": true}, "event": "edited", "text": text});
    session.write(&file, &text);
    session.write(&name, &(journal + &format!("{entry}\n").repeat(4_000)));
    session.kill();
    let view = session.view();
    assert!(view.contains("edited by hand"), "{view}");
    assert_eq!(edits(&session), 1);
    session.done(Action::Accept {});
    session.kill();
    assert!(session.view().contains("it is accepted"));
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

/// All that is kept beside, the name of its file first.
fn kept(session: &Session) -> Vec<(String, Vec<u8>)> {
    let folder = std::fs::read_dir(session.path(&format!("{FOLDER}/versions"))).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = paths
        .filter(|path| path.is_file())
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn what_others_wrote_is_kept_before_it_gives_way_and_what_the_planner_wrote_is_not() {
    let file = format!("{FOLDER}/planning.ai.json");
    let mut session = Session::agent();
    session.fast();
    session.done(Action::RollBack { version: 1 });
    assert_eq!(kept(&session), []);
    let agreed = session.read(&file);
    let broken = agreed.replace("\"why\": \"to know who did what\",", "\"why\": \"MYLONGEDIT\",,");
    assert_ne!(broken, agreed);
    let utf16: Vec<u8> = agreed.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = [agreed.as_bytes(), b"\xe9"].concat();
    let mut wanted = Vec::new();
    for bytes in [broken.into_bytes(), utf16, latin, Vec::new(), b" \n".to_vec()] {
        std::fs::write(session.path(&file), &bytes).unwrap();
        session.view();
        session.done(Action::RollBack { version: 1 });
        wanted.push((format!("kept-{}.planning.ai.json", wanted.len() + 1), bytes));
        assert_eq!(kept(&session), wanted);
        let view = session.view();
        assert!(view.contains(&format!("kept in versions/kept-{}", wanted.len())), "{view}");
        assert_eq!(session.read(&file), agreed);
    }
    // One beside a draft, which is there no more.
    let mut session = Session::agent();
    session.draft();
    session.write(&file, "{\"why\": \"mine\"}");
    session.view();
    let mine = b"{\"why\": \"mine\"}".to_vec();
    assert_eq!(kept(&session), [("kept-1.planning.ai.json".to_owned(), mine)]);
    assert!(!session.path(&file).exists());
}
