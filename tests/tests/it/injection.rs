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
    // Another session has seen nothing yet, and a command of the session has seen what its hook
    // showed.
    assert!(hook("b", "UserPromptSubmit", &[]).ok().text().contains("one"));
    let own = env.command(&["inject"]).env("CLAUDE_CODE_SESSION_ID", "a").output();
    assert_eq!(own.ok().text(), "");
    // After a compaction all of it is shown again. No failure is one that discards the prompt.
    assert!(hook("a", "SessionStart", &["--reset"]).ok().text().contains("one"));
    env.command(&["inject", "--hook"]).stdin(b"no json").output().exits(1);
}

/// Ten turns of an agent's work, with what the context of each prompt costs; `--nocapture` prints
/// the table.
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

/// Whole contexts of a reader, one after the other.
struct Contexts {
    env: TestEnv,
    last: Option<String>,
}

impl Contexts {
    fn new(env: TestEnv) -> Self {
        Self { env, last: None }
    }

    /// Takes the next one. Returns it with the part with which it begins as the last one did, by
    /// `cmp`.
    #[allow(clippy::print_stderr, reason = "`--nocapture` shows the byte")]
    fn next(&mut self, what: &str) -> (String, String) {
        let text = self.env.as_reader("m", &["inject", "--reset"]).ok().text();
        let last = self.last.replace(text.clone()).unwrap_or_default();
        let paths = [(self.env.root().join("1"), &last), (self.env.root().join("2"), &text)];
        paths.iter().for_each(|(path, text)| std::fs::write(path, text).expect("written"));
        let paths = paths.iter().map(|(path, _)| path);
        let cmp = std::process::Command::new("cmp").args(paths).output().expect("cmp");
        let told = String::from_utf8(cmp.stdout).expect("text");
        let byte =
            told.split([' ', ',']).skip_while(|word| *word != "byte" && *word != "char").nth(1);
        let same = byte.map_or(text.len().min(last.len()), |byte| {
            byte.parse::<usize>().expect("a number") - 1
        });
        eprintln!("{what}: byte {} of {} differs first", same + 1, text.len());
        let same = text[..same].to_owned();
        // The last line, which tells that, is none of it.
        let last_line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let tokens = pipemux_tokens::estimate(&text[..same.len().min(last_line)]);
        assert_eq!(
            text.contains(&format!("· first {tokens} as last time · e")),
            tokens > 0,
            "{text}"
        );
        (text, same)
    }
}

#[test]
fn whole_context_begins_with_what_stays_the_same_and_says_how_much_that_is() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "memotree", "--priority", "-1"]).ok();
    env.run("memotree.add('first'); memotree.create('review', 'what to check')").ok();
    env.as_reader("m", &["view"]).ok();
    let mut contexts = Contexts::new(env);
    let (first, _) = contexts.next("first");
    assert!(!first.contains("as last time"), "{first}");
    // A round, a node, and what counts them.
    contexts.env.as_reader("m", &["run", "memotree.add('second')"]).ok();
    let (after, same) = contexts.next("a node");
    // The other window, the heading and the panel of views are in it; the first that differs is the
    // number of nodes.
    assert!(same.contains("1\tone") && same.contains("[[MT:View:review]]"), "{same}");
    assert!(same.contains("### Environment"), "{same}");
    assert!(after.find("Done so far").unwrap() > same.len(), "{after}");
    // As data it is a number.
    let data = contexts.env.as_reader("m", &["inject", "--reset", "--json"]).ok().json();
    assert!(data["receipt"]["same"].as_u64().unwrap() > 100, "{data}");
}

#[test]
fn restart_and_the_windows_that_change_come_behind_what_stays() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.run("notebook.add('plan', 'what stays'); memotree.add('first')").ok();
    env.pipemux(&["open", "notebook"]).ok();
    env.pipemux(&["open", "memotree"]).ok();
    env.pipemux(&["set", "panels", "views,environment,history"]).ok();
    env.as_reader("m", &["view"]).ok();
    let mut contexts = Contexts::new(env);
    contexts.next("first");
    let (text, same) = contexts.next("nothing");
    assert_eq!(text[same.len()..].lines().count(), 1, "only the last line differs: {text}");
    contexts.env.kill_session("notebook/main");
    contexts.env.as_reader("other", &["view", "notebook/main"]).ok();
    let (text, same) = contexts.next("a restart");
    assert!(text.find("was restarted").unwrap() > same.len(), "{text}");
    for window in ["## editor/main", "## notebook/main", "## memotree/main"] {
        assert!(same.contains(window), "{window} in {same}");
    }
    // The window that changes goes behind the others, so that its next change leaves them where
    // they are.
    contexts.env.run("editor.insert(1, 'a')").ok();
    let (text, _) = contexts.next("the first of three windows");
    assert!(
        text.find("## memotree/main").unwrap() < text.find("## editor/main").unwrap(),
        "{text}"
    );
    contexts.env.run("editor.insert(1, 'b')").ok();
    let (_, same) = contexts.next("the same one again");
    for stays in ["## notebook/main", "## memotree/main", "## editor/main"] {
        assert!(same.contains(stays), "{stays} in {same}");
    }
}

#[test]
fn client_that_says_what_it_has_is_shown_what_changed_since() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    env.run("memotree.add('first')").ok();
    env.pipemux(&["open", "memotree"]).ok();
    let have = |verb: &str, claim: &str| env.as_reader("m", &[verb, "--have", claim]).ok().text();
    let version = |text: &str| {
        let line = text.lines().rfind(|line| line.starts_with("memotree/main=")).unwrap();
        line.split(' ').next().unwrap().to_owned()
    };
    let whole = have("inject", "memotree/main=none");
    assert!(whole.contains("- first [[MT:Node:first]]"), "{whole}");
    let first = version(&whole);
    assert_eq!(have("inject", &first), format!("{first} unchanged\n"));
    env.as_reader("other", &["run", "memotree.add('second')"]).ok();
    env.as_reader("m", &["view", "memotree"]).ok().has("second");
    // Whatever the reader was shown meanwhile.
    let changed = have("inject", &first);
    assert!(changed.contains("\n+ - second [[MT:Node:second]]\n"), "{changed}");
    assert!(!changed.contains("- first"), "{changed}");
    let second = version(&changed);
    assert!(
        changed
            .contains(&format!("\n{second} changed since {}\n", &first["memotree/main=".len()..]))
    );
    env.kill_session("memotree/main");
    let after = have("view", &second);
    assert!(after.contains(" unchanged\n") && !after.contains("## memotree"), "{after}");
    // The version is that of the Context, which no later daemon gives to anything else.
    let data = env.as_reader("m", &["view", "memotree", "--json"]).ok().json();
    let part = |name: &str| data["windows"][0]["header"]["version"][name].to_string();
    let told = ["major", "minor", "patch"].map(part).join(".");
    assert_eq!(version(&after), format!("memotree/main={told}"));
    env.pipemux(&["down"]).ok();
    let lost = have("view", &second);
    assert!(lost.contains("- second") && lost.contains(" whole · VersionMismatch · "), "{lost}");
}
