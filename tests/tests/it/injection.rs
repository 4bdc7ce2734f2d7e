//! `pipemux inject`: what a harness puts into a model's prompt.

use pipemux_tests::TestEnv;

#[test]
fn prompts_get_everything_once_then_changes_then_nothing() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "notebook", "--priority", "1"]).ok();
    let inject = |reader: &str, more: &[&str]| {
        let args: Vec<&str> = ["inject"].iter().chain(more).copied().collect();
        env.as_reader(reader, &args).ok().text()
    };
    let first = inject("model", &[]);
    let at = |part: &str| first.find(part).unwrap_or_else(|| panic!("no {part} in {first}"));
    assert!(at("pipemux --help") < at("## notebook/main") && at("## notebook/main") < at("1\tone"));
    assert_eq!(inject("model", &[]), "");
    // What another reader did is told, and what the model did itself is not.
    env.as_reader("other", &["run", "notebook.add('found', 'text')"]).ok();
    let news = inject("model", &[]);
    assert!(news.contains("[found](obj:") && !news.contains("1\tone"), "{news}");
    env.as_reader("model", &["run", "editor.insert(3, 'three')"]).ok();
    assert_eq!(inject("model", &[]), "");
    let again = inject("model", &["--reset"]);
    assert!(again.contains("[found](obj:") && again.contains("3\tthree"), "{again}");
    let short = inject("model", &["--reset", "--budget", "150"]);
    // What was done stays; there is no room for windows.
    assert!(short.contains("\n2. ") && short.contains("no room for 2 windows"), "{short}");
    assert!(pipemux_tokens::estimate(&short) <= 150, "{short}");
}

#[test]
fn hook_of_a_harness_reads_as_its_session() {
    let env = TestEnv::with_editor("one\n");
    let hook = |session: &str, event: &str, arguments: &[&str]| {
        let input = serde_json::json!({
            "session_id": session, "cwd": env.project(), "hook_event_name": event,
        });
        let arguments = [&["inject", "--hook"], arguments].concat();
        env.command(&arguments).stdin(input.to_string().as_bytes()).output()
    };
    let first = hook("a", "SessionStart", &["--reset"]).ok().json();
    let output = &first["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SessionStart");
    assert!(
        output["additionalContext"].as_str().is_some_and(|text| text.contains("one")),
        "{first}"
    );
    assert_eq!(hook("a", "UserPromptSubmit", &[]).ok().text(), "");
    // Another session has seen nothing yet, and a command of the session has seen what its hook showed.
    assert!(hook("b", "UserPromptSubmit", &[]).ok().text().contains("one"));
    let own = env.command(&["inject"]).env("CLAUDE_CODE_SESSION_ID", "a").output();
    assert_eq!(own.ok().text(), "");
    // After a compaction all of it is shown again. No failure is one that discards the prompt.
    assert!(hook("a", "SessionStart", &["--reset"]).ok().text().contains("one"));
    env.command(&["inject", "--hook"]).stdin(b"no json").output().exits(1);
}

/// Ten turns of an agent's work, with what the context of each prompt costs; `--nocapture` prints the table.
#[test]
fn prompts_of_ten_turns_cost_what_their_agent_cannot_know() {
    for panels in ["off", "views,environment,notices,history,questions"] {
        let lines: String = (1..=60).map(|n| format!("fn f{n}() -> usize {{ {n} }}\n")).collect();
        let env = TestEnv::new();
        env.write("a.rs", &lines);
        env.write("b.rs", "fn b() {}\n");
        env.as_reader("m", &["open", "editor", "a.rs"]).ok();
        env.as_reader("other", &["open", "notebook"]).ok();
        env.pipemux(&["set", "panels", panels]).ok();
        let inject = |turn: &str, more: &[&str]| {
            let text = env.as_reader("m", &[&["inject"], more].concat()).ok().text();
            let tokens = pipemux_tokens::estimate(&text);
            eprintln!("panels {panels} | {turn} | {tokens} tokens");
            (text, tokens)
        };
        let run = |code: &str| env.as_reader("m", &["run", code]);
        assert!(inject("the first prompt", &[]).1 < 400);
        run("editor.replace_lines(3, 4, 'fn three() {}'); editor.insert(10, '// ten')").ok();
        assert_eq!(inject("own edits", &[]).0, "");
        run("notebook.add('plan', 'first the queue')").ok();
        assert_eq!(inject("an own note", &[]).0, "");
        env.write("a.rs", env.read("a.rs").replace("fn f20()", "fn changed_outside()"));
        // The app is asked, because nobody tells it of the file at a moment that a test could name.
        env.as_reader("other", &["view", "editor/main"]).ok().has("changed_outside");
        let (text, tokens) = inject("a change of a file by another program", &[]);
        assert!(text.contains("+20\tfn changed_outside()") && tokens < 80, "{text}");
        assert_eq!(inject("nothing", &[]).0, "");
        let both = "notebook.add('found', 'a fault'); editor.insert(1, '// by other')";
        env.as_reader("other", &["run", both]).ok();
        let (text, tokens) = inject("a note and an edit by another agent", &[]);
        assert!(text.contains("[found](obj:") && tokens < 190, "{text}");
        env.as_reader("other", &["open", "editor/two", "b.rs"]).ok();
        let (text, tokens) = inject("a window that another agent opened", &[]);
        assert!(text.contains("editor/two") && text.contains("fn b()"), "{text}");
        // What the app can do is known from its other window.
        assert!(tokens < 120 && !text.contains("replace_lines("), "{text}");
        run("editor.replace('usize', 'u32', ['a.rs'])").exits(5);
        assert!(inject("an own question", &[]).1 < 60);
        env.as_reader("m", &["answer", "1"]).ok();
        assert_eq!(inject("its answer", &[]).0, "");
        let (text, _) = inject("a compaction", &["--reset"]);
        assert!(text.contains("changed_outside()") && text.contains("fn b()"), "{text}");
        assert_eq!(text.matches("replace_lines(").count(), 1, "{text}");
        assert_eq!(inject("nothing", &[]).0, "");
    }
}

#[test]
fn whole_context_begins_with_what_stays_the_same_and_says_how_much_that_is() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "memotree", "--priority", "-1"]).ok();
    env.run("memotree.add('first'); memotree.create('review', 'what to check')").ok();
    env.as_reader("m", &["view"]).ok();
    let whole = |name: &str| {
        let text = env.as_reader("m", &["inject", "--reset"]).ok().text();
        std::fs::write(env.project().join(name), &text).unwrap();
        text
    };
    let before = whole("1");
    assert!(!before.contains("as last time"), "{before}");
    // A round, a node, and what counts them.
    env.as_reader("m", &["run", "memotree.add('second')"]).ok();
    let after = whole("2");
    let cmp = std::process::Command::new("cmp")
        .args(["1", "2"])
        .current_dir(env.project())
        .output()
        .unwrap();
    let told = String::from_utf8(cmp.stdout).unwrap();
    eprintln!("{told}");
    let differs = told.split_once(" differ: ").unwrap().1;
    let byte: usize = differs
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == ',')
        .collect::<String>()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let same = &after[..byte - 1];
    // The other window, the heading and the panel of views are in it; the first that differs is the number of nodes.
    assert!(same.contains("1\tone") && same.contains("[[MT:View:review]]"), "{same}");
    assert!(same.contains("### Environment"), "{same}");
    let tokens = pipemux_tokens::estimate(same);
    assert!(after.contains(&format!("· first {tokens} as last time · e")), "{after}");
    assert!(after.find("Done so far").unwrap() > byte, "{after}");
}
