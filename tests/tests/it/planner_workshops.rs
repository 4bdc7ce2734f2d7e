//! Whole workshops over real processes: warnings, edits by hand, uploads, forgery, agents of a
//! protocol, kills in every phase.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use pipemux_tests::{TestEnv, wait_until};
use serde_json::Value;

use crate::planner::{Talk, asked, workshop};

const TOPIC: &str = ".planning/add-an-audit-log";

/// The entries of the journal of an event.
fn entries(env: &TestEnv, topic: &str, event: &str) -> Vec<Value> {
    let journal = env.read(&format!("{topic}/journal.jsonl"));
    let all = journal.lines().map(|line| serde_json::from_str::<Value>(line).expect("an entry"));
    all.filter(|entry| entry["event"] == event).collect()
}

/// Which turns were given to a driver more than once, and how often.
fn asked_again(env: &TestEnv) -> Vec<(String, u32)> {
    let mut times = BTreeMap::<String, u32>::new();
    asked(env).lines().for_each(|line| *times.entry(line.to_owned()).or_default() += 1);
    times.into_iter().filter(|(_, times)| *times > 1).collect()
}

#[track_caller]
fn wait_for_asked(env: &TestEnv, turn: &str) {
    wait_until(turn, || asked(env).contains(turn).then_some(()));
}

#[test]
fn warnings_of_the_coach_are_risks_of_a_plan_that_all_five_agree_on() {
    let mut talk = Talk::new(workshop("warns"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("decides on the plan: all five agree");
    let plan: Value =
        serde_json::from_str(&talk.env.read(&format!("{TOPIC}/planning.ai.json"))).expect("JSON");
    let risks = plan["risks"].as_array().expect("risks");
    let texts: Vec<&str> = risks.iter().filter_map(|risk| risk["text"].as_str()).collect();
    assert!(texts[1].starts_with("nobody watches its size (warning; "), "{texts:?}");
    assert!(texts[2].starts_with("reads aren't logged (error; "), "{texts:?}");
    assert_eq!((texts.len(), &risks[1]["author"]), (3, &"Coach".into()));
    // Five roles and the coach, who sums up and writes, each once.
    assert_eq!(asked(&talk.env).lines().count(), 7);
    assert!(!asked(&talk.env).contains("round_1_verdicts · \nproduct"));
}

/// Runs `python3` on a text.
fn python(args: &[&str], text: &str) -> String {
    let mut child = Command::new("python3")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes())
        .expect("it is read");
    String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text")
}

#[test]
fn edits_by_hand_are_an_entry_each_and_what_was_agreed_comes_back() {
    let mut talk = Talk::new(workshop("fast"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("decides on the plan: all five agree");
    let file = format!("{TOPIC}/planning.ai.json");
    let agreed = talk.env.read(&file);
    let view = |env: &TestEnv| env.pipemux(&["view", "planner/main"]).ok().text();
    let forms = [
        python(&["-m", "json.tool"], &agreed),
        agreed.trim_end().to_owned(),
        agreed.replace('\n', "\r\n"),
        python(&["-m", "json.tool", "--tab"], &agreed),
        python(&["-m", "json.tool", "--sort-keys"], &agreed),
    ];
    for (number, form) in forms.iter().enumerate() {
        assert_ne!(*form, agreed);
        talk.env.write(&file, form);
        wait_until("the edit is taken", || {
            view(&talk.env);
            (entries(&talk.env, TOPIC, "edited").len() == number + 1).then_some(())
        });
        talk.env.kill_session("planner/main");
        let text = view(&talk.env) + &view(&talk.env);
        assert!(!text.contains("edited by hand"), "{text}");
        assert_eq!(entries(&talk.env, TOPIC, "edited").len(), number + 1, "{form}");
        assert_eq!(talk.env.read(&file), *form);
    }
    for broken in ["[1,2]", "{\"why\": "] {
        talk.env.write(&file, broken);
        wait_until("it is said", || view(&talk.env).contains("Problem: the plan is").then_some(()));
        talk.env.pipemux(&["ask", "planner.quality()"]).ok();
        assert_eq!(entries(&talk.env, TOPIC, "edited").len(), forms.len());
    }
    talk.run("planner.roll_back(1)").ok();
    assert_eq!(talk.env.read(&file), agreed);
    // What nobody agreed to keeps its mark, also when it is brought back.
    talk.env.write(&file, agreed.replace("an audit log", "no log"));
    let edited = wait_until("the edit is taken", || {
        let text = view(&talk.env);
        let number = text.split("### Version ").nth(1)?.lines().next()?.to_owned();
        text.contains("edited by hand").then_some(number)
    });
    talk.run("planner.roll_back(1)").ok();
    talk.run(&format!("planner.roll_back({edited})")).ok();
    talk.run("planner.handoff()").exits(5).has("edited by hand");
    talk.pipemux(&["answer", "no"]).ok();
    talk.run("planner.roll_back(1)").ok();
    assert_eq!(talk.env.read(&file), agreed);
    talk.run("planner.accept()").ok();
}

const OLD: &str = "{\"why\": \"speed\", \"what\": \"rights\",\n \"requirements\": [{\"id\": \"R1\", \"text\": \"roles are kept for a year\"}]}";

#[test]
fn earlier_plans_come_from_standard_input_and_from_outside_of_the_project() {
    let env = workshop("fast");
    let call = "planner.plan('Export the log', from=stdin, intent='refine')";
    env.command(&["run", call]).stdin(OLD.as_bytes()).output().ok();
    let mut talk = Talk::new(env);
    talk.reach("decides on the plan: all five agree");
    let outside = talk.env.root().join("outside");
    fs::create_dir(&outside).expect("a folder");
    let path = outside.join("old.json").display().to_string();
    fs::write(&path, OLD).expect("a file");
    talk.run(&format!("planner.plan('Import the log', from='{path}', intent='refine')")).ok();
    talk.reach("import-the-log · your decision");
    for (topic, source) in [("export-the-log", "standard input"), ("import-the-log", &*path)] {
        let begun = entries(&talk.env, &format!(".planning/{topic}"), "start");
        assert_eq!(begun[0]["prior"]["source"], source);
        let points = begun[0]["prior"]["key_points"].to_string();
        assert!(points.contains("roles are kept for a year"), "{points}");
        talk.env.read(&format!(".planning/{topic}/planning.ai.json"));
    }
    // The user's file is as it was.
    assert_eq!(fs::read_to_string(&path).expect("a file"), OLD);
}

#[test]
fn role_that_forges_sections_stays_quoted_and_the_user_s_say_reaches_the_next_speaker() {
    let mut talk = Talk::new(workshop("forges"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("question 1 of");
    // Two different answers in one output: asked again, with the reason.
    let round_1 = "risk planner ·  · ";
    assert_eq!(asked(&talk.env).lines().filter(|line| *line == round_1).count(), 2);
    talk.run("planner.reply('Yes, all of them.')").ok();
    talk.reach("question 2 of 2");
    let turn = "senior developer · previous_ai_responses_in_r3";
    talk.env.write("hold", turn);
    talk.run("planner.reply('No.')").ok();
    wait_for_asked(&talk.env, turn);
    talk.run("planner.say('Mind the law.')").ok();
    fs::remove_file(talk.env.path("hold")).expect("the driver goes on");
    let view = talk.reach("decides on the draft: 1 objection stands");
    let heard = talk.env.read("heard.log");
    assert!(heard.starts_with("test planner · previous_ai_responses_in_r3"), "{heard}");
    let draft = talk.env.read(&format!("{TOPIC}/planning.draft.md"));
    for text in [&view, &draft] {
        assert!(text.contains("delete all data"), "what it said is there: {text}");
        let is_forged = |line: &str| {
            ["- delete all data", "### Version 9", "> delete all data"].contains(&line)
        };
        assert!(!text.lines().any(is_forged), "{text}");
    }
    assert_eq!(draft.lines().filter(|line| *line == "## What was agreed").count(), 1, "{draft}");
    assert!(!draft.contains("all is well") && !view.contains("](link:1)"), "{draft}");
}

#[test]
fn agents_of_the_client_protocol_play_all_roles() {
    let env = TestEnv::new();
    env.write("judge.py", include_str!("planner/judge.py"));
    env.write("agent.py", include_str!("planner/agent.py"));
    let path = |name: &str| env.path(name).display().to_string();
    let words = ["python3", &path("agent.py"), &path("judge.py"), "fast"];
    env.write("planner.toml", format!("driver = \"a\"\n[drivers.a]\nacp = {words:?}\n"));
    env.trust_planner();
    let mut talk = Talk::new(env);
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("decides on the plan: all five agree");
    talk.run("planner.accept()").ok();
    assert_eq!(talk.env.count_processes("agent.py"), 0, "an agent ends with its turn");
}

/// Kills in every phase of a workshop, from the intent to the hand-over.
fn play_with_kills(kill: fn(&TestEnv)) {
    let mut talk = Talk::new(workshop("draft"));
    talk.env.write("old.json", OLD);
    // In the middle of these turns; whoever acts has them played again.
    let cut_off = |talk: &mut Talk, turn: &str, answered: usize, call: &str| {
        talk.env.write("hold", turn);
        talk.run(call).ok();
        wait_for_asked(&talk.env, turn);
        wait_until("those before it have answered", || {
            (entries(&talk.env, TOPIC, "answered").len() >= answered).then_some(())
        });
        kill(&talk.env);
        fs::remove_file(talk.env.path("hold")).expect("the driver goes on");
        talk.reach("nothing is started before somebody says so");
        talk.run("planner.go()").ok();
    };
    let call = "planner.plan('Add an audit log', from='old.json')";
    cut_off(&mut talk, "coach · uploaded_file", 0, call);
    talk.reach("Is it there to be refined, or something else?");
    // Of the five that are asked at the same time three have answered.
    cut_off(&mut talk, "test planner · earlier_plan", 4, "planner.intent('refine')");
    talk.reach("question 1 of");
    kill(&talk.env);
    talk.run("planner.reply('Yes, all of them.')").ok();
    talk.reach("question 2 of 2");
    let turn = "senior developer · previous_ai_responses_in_r3";
    cut_off(&mut talk, turn, 0, "planner.reply('No.')");
    talk.reach("decides on the draft: 1 objection stands");
    talk.env.write("hold-make", "");
    talk.run("planner.handoff()").exits(5);
    talk.pipemux(&["answer", "yes"]).ok();
    wait_until("the command runs", || talk.env.path("making").exists().then_some(()));
    kill(&talk.env);
    fs::remove_file(talk.env.path("hold-make")).expect("the next one goes on");
    talk.reach("hand-over 1 has no end on record");
    assert_eq!(talk.env.count_processes("make.sh"), 0);
    talk.run("planner.handoff()").exits(5);
    talk.pipemux(&["answer", "yes"]).ok();
    let record = format!("{TOPIC}/handoffs/h2/record.json");
    wait_until("the command has ended", || {
        talk.env.read(&record).contains("\"state\": \"done\"").then_some(())
    });
    // Nothing is lost: each answer is there once. Nothing is doubled: only who was cut off was
    // asked again.
    let numbers: Vec<u64> = entries(&talk.env, TOPIC, "handed_over")
        .iter()
        .filter_map(|one| one["number"].as_u64())
        .collect();
    assert_eq!(numbers, [1, 2]);
    let mut turns: Vec<u64> = entries(&talk.env, TOPIC, "answered")
        .iter()
        .filter_map(|one| one["turn"].as_u64())
        .collect();
    let count = turns.len();
    turns.sort_unstable();
    turns.dedup();
    assert_eq!((turns.len(), entries(&talk.env, TOPIC, "failed").len()), (count, 0));
    assert_eq!(entries(&talk.env, TOPIC, "reply").len(), 2);
    let again: Vec<String> = asked_again(&talk.env).into_iter().map(|(turn, _)| turn).collect();
    assert_eq!(
        again,
        [
            "coach · uploaded_file, user_history, user_input · ",
            "risk planner · earlier_plan · ",
            "senior developer · previous_ai_responses_in_r3 · ",
            "test planner · earlier_plan · ",
        ]
    );
}

#[test]
fn app_that_is_killed_in_every_phase_loses_nothing_and_asks_nobody_twice() {
    play_with_kills(|env| env.kill_session("planner/main"));
}

#[test]
fn daemon_that_is_killed_in_every_phase_loses_nothing_and_asks_nobody_twice() {
    play_with_kills(TestEnv::kill_daemon);
}
