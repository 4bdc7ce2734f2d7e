//! Plans come about by consensus, with programs that play the roles: the transcripts of four
//! courses, all files printed.

use std::collections::BTreeMap;
use std::fs;

use pipemux_tests::{Output, TestEnv, wait_until};

/// A project whose roles are played by a script, in one of its cases.
pub(crate) fn workshop(case: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write("judge.py", include_str!("planner/judge.py"));
    let hold = "while [ -e hold-make ]; do : > making; sleep 0.01; done";
    let decide = "echo \"decision: one file ($PLANNER_CONSENSUS)\"";
    env.write("make.sh", format!("cat > made.txt\n{hold}\n{decide}\n"));
    let script = env.path("judge.py").display().to_string();
    let config = format!(
        "driver = \"script\"\ncodegen = [\"sh\", \"make.sh\"]\n[drivers.script]\ncommand = [\"python3\", {script:?}, {case:?}]\n"
    );
    env.write("planner.toml", config);
    env.trust_planner();
    env
}

/// What was typed and answered, for the transcript of a course.
pub(crate) struct Talk {
    pub(crate) env: TestEnv,
    text: String,
}

impl Talk {
    pub(crate) fn new(env: TestEnv) -> Self {
        Self { env, text: String::new() }
    }

    /// Makes a call. The transcript has its answer, without what changed in the window: that
    /// depends on what was looked at.
    #[track_caller]
    pub(crate) fn run(&mut self, call: &str) -> Output {
        let output = self.env.run(call);
        self.write(&format!("pipemux run {}", quoted(call)), &output);
        output
    }

    #[track_caller]
    pub(crate) fn pipemux(&mut self, args: &[&str]) -> Output {
        let output = self.env.pipemux(args);
        let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.write(&format!("pipemux {}", args.join(" ")), &output);
        output
    }

    fn write(&mut self, typed: &str, output: &Output) {
        let text = output.text();
        let answer = text.split("\n\n").next().unwrap_or_default();
        self.add(typed, answer);
    }

    /// Adds what was typed and answered, without the line that counts tokens.
    fn add(&mut self, typed: &str, answer: &str) {
        let answer: Vec<&str> =
            answer.trim_end().lines().filter(|line| !line.ends_with(" tokens")).collect();
        // Anchors are numbered as they are first shown, and a new daemon goes on with higher
        // numbers.
        let answer = without_numbers(&answer.join("\n"), "(obj:");
        let answer = without_numbers(&answer, "(link:");
        let answer = answer.split(" · job ").next().unwrap_or_default();
        self.text += &plain(&self.env, &format!("$ {typed}\n{answer}\n\n"));
    }

    /// Waits until the window says this: nobody but the user is to act then, so that the window
    /// stays as it is.
    #[track_caller]
    pub(crate) fn reach(&mut self, wanted: &str) -> String {
        wait_until(wanted, || {
            let view = self.env.pipemux(&["view", "planner/main"]);
            let text = view.ok().text();
            assert!(!text.contains("gave no answer"), "{text}");
            text.contains(wanted).then_some(())
        });
        // The list of actions is printed the first time only.
        let view = self.env.pipemux(&["view", "planner/main"]);
        view.ok().has(wanted);
        self.add("pipemux view planner/main", &view.text());
        view.text()
    }

    /// Checks the transcript, and all files of the topics below.
    pub(crate) fn finish(&self, name: &str, below: &str) {
        let text = format!("{}{}", self.text, files(&self.env, below));
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }
}

/// Leaves the numbers out that stand between a mark and its closing bracket.
fn without_numbers(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (anchor, rest) = part.split_once(')').unwrap_or((part, ""));
        plain +=
            &format!("{mark}{})", anchor.trim_end_matches(|c: char| c == ':' || c.is_numeric()));
        plain += rest;
    }
    plain
}

/// Returns an argument as a shell takes it.
fn quoted(arg: &str) -> String {
    let is_plain = arg.chars().all(|c| c.is_alphanumeric() || "/-._".contains(c));
    if is_plain { arg.to_owned() } else { format!("'{}'", arg.replace('\'', "\"")) }
}

/// All files of a topic, with times, hashes and paths made the same for all runs.
fn files(env: &TestEnv, below: &str) -> String {
    let mut names: Vec<_> = fs::read_dir(env.path(below))
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .collect();
    names.sort_by_key(fs::DirEntry::file_name);
    let mut all = String::new();
    for entry in names {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        // A version's folder and a hand-over's inputs repeat what is printed already.
        let is_copy = name.contains("/versions/v") || name.contains("/inputs/");
        match entry.path().is_dir() {
            true => all += &files(env, &name),
            false if is_copy => all += &format!("=== {name} (a copy)\n"),
            false => all += &format!("=== {name}\n{}\n", plain(env, &env.read(&name))),
        }
    }
    all
}

/// Replaces times, hashes and the directory.
fn plain(env: &TestEnv, text: &str) -> String {
    let text = text.replace(&env.project().display().to_string(), "/proj");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        plain += &rest[..at];
        rest = &rest[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_hexdigit() || matches!(c, '-' | ':' | '.' | 'T' | 'Z')))
            .unwrap_or(rest.len());
        // Something was found, so this isn't empty.
        let (word, after) = rest.split_at(end.max(1));
        let is_time = word.len() >= 20 && word.starts_with("20") && word.ends_with('Z');
        let is_hash = plain.ends_with("sha256 ")
            || word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
        plain += match (is_time, is_hash) {
            (true, _) => "TIME",
            (_, true) => "HASH",
            _ => word,
        };
        rest = after;
    }
    plain + rest
}

#[test]
fn five_agreements_in_round_1_lead_to_a_plan_without_a_meeting() {
    let mut talk = Talk::new(workshop("fast"));
    // One call begins; the app isn't open yet.
    talk.run("planner.plan('Add an audit log')").ok().has("files: .planning/add-an-audit-log/");
    let view = talk.reach("decides on the plan: all five agree");
    assert!(!view.contains("clarification meeting"), "{view}");
    talk.pipemux(&["ask", "planner.quality()"]).ok().has("100 %");
    talk.run("planner.accept()").ok();
    talk.finish("planner-fast", ".planning");
}

#[test]
fn three_rounds_with_a_meeting_lead_to_a_plan_though_kills_come_between() {
    let mut talk = Talk::new(workshop("meeting"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach(
        "the user answers ProductPlanner (question 1 of 3 so far): Is it bound to the users we have?",
    );
    talk.run("planner.say('Which users do you mean?')").ok();
    talk.reach("All that signed in this year.");
    // A reader who acts has the roles played again.
    talk.env.kill_session("planner/main");
    talk.run("planner.reply('Yes, all 500,000 of them.')").ok();
    talk.reach("question 2 of 2 so far): With 500,000 users bound");
    talk.run("planner.reply('yes', question=1)").exits(9).has("question 1 is closed");
    // The daemon is killed while a driver is at work.
    talk.env.write("hold", "senior developer · previous_ai_responses_in_r3");
    talk.run("planner.reply(\"I don't know\")").ok();
    wait_until("the senior developer is asked", || {
        asked(&talk.env).contains("senior developer · previous_ai_responses_in_r3").then_some(())
    });
    talk.env.kill_daemon();
    fs::remove_file(talk.env.path("hold")).expect("the driver goes on");
    talk.reach("nothing is started before somebody says so");
    talk.run("planner.go()").ok();
    let view = talk.reach("decides on the plan: all five agree");
    assert!(view.contains("all five agree"), "{view}");
    talk.env
        .pipemux(&["ask", "planner.record()"])
        .ok()
        .has("skip · the first answer says which users")
        .has("modify · the answer before changes the size");
    let lines = talk.env.read(".planning/add-an-audit-log/planning.clarification.jsonl");
    assert!(
        lines.contains("1 question cleared, 1 recorded as unknown, 1 dropped, all roles heard")
    );
    // Nobody was asked again but the one whose driver was cut off.
    let asked = asked(&talk.env);
    let mut times = BTreeMap::new();
    asked.lines().for_each(|line| *times.entry(line).or_insert(0) += 1);
    times.retain(|_, times| *times > 1);
    let cut_off = ("senior developer · previous_ai_responses_in_r3 · ", 2);
    assert_eq!(times.into_iter().collect::<Vec<_>>(), [cut_off], "{asked}");
    talk.finish("planner-meeting", ".planning");
}

/// The turns for which a driver was started, a line each.
pub(crate) fn asked(env: &TestEnv) -> String {
    fs::read_to_string(env.path("asked.log")).unwrap_or_default()
}

#[test]
fn draft_is_handed_over_with_a_warning_a_confirmation_and_a_trace() {
    let mut talk = Talk::new(workshop("draft"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("question 1 of");
    // The answer and the wait for the next question are one call.
    let call = "planner.reply('Yes, all of them.', wait=true)";
    let asked = talk.env.pipemux(&["run", "--wait", "120", call]);
    asked.ok().has("the user answers SystemDesigner (question 2 of");
    talk.reach("question 2 of 2");
    talk.run("planner.reply('No.')").ok();
    talk.reach("decides on the draft: 1 objection stands");
    let asked = talk.run("planner.handoff()");
    asked.exits(5).has("I know the risk").has("Nobody says how long entries are kept.");
    assert!(!talk.env.path("made.txt").exists());
    talk.pipemux(&["answer", "yes"]).ok().has("from a draft without consensus");
    let record = ".planning/add-an-audit-log/handoffs/h1/record.json";
    wait_until("the command has ended", || {
        let ended = fs::read_to_string(talk.env.path(record))
            .is_ok_and(|text| text.contains("\"state\": \"done\""));
        ended.then_some(())
    });
    assert!(talk.env.read("made.txt").starts_with("# Draft: add-an-audit-log"));
    talk.finish("planner-draft", ".planning");
}

#[test]
fn intent_of_an_earlier_plan_is_asked_when_the_coach_is_unsure() {
    let mut talk = Talk::new(workshop("fast"));
    talk.run("planner.plan('Add an audit log')").ok();
    talk.reach("decides on the plan");
    talk.run("planner.accept()").ok();
    let from = ".planning/add-an-audit-log/planning.ai.json";
    talk.run(&format!("planner.plan('Export the log', from='{from}')")).ok();
    let view = talk.reach("which looks like a plan (add-an-audit-log)");
    assert!(view.contains("Is it there to be refined, or something else?"), "{view}");
    assert!(view.contains("planner.intent(\"refine\")"), "{view}");
    talk.run("planner.intent('other', words='only look at its names')").ok();
    talk.reach("decides on the plan");
    talk.finish("planner-intent", ".planning/export-the-log");
}
