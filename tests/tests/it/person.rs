//! The person whose machine it is: what it costs, how to stop it, and what a terminal shows.

use pipemux_tests::TestEnv;

#[test]
fn costs_of_sessions_and_daemon_are_told_with_their_sums() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "notebook"]).ok();
    env.run("editor.replace('one', 'two')").ok();
    let data = env.pipemux(&["sessions", "--json"]).ok().json();
    let rows = data.as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row["tokens"].as_u64() > Some(0), "{row:#}");
        assert!(row["disk_bytes"].is_u64(), "{row:#}");
        // Elsewhere the system doesn't tell.
        if cfg!(target_os = "linux") {
            assert!(row["memory_bytes"].as_u64() > Some(64 * 1024), "{row:#}");
            assert!(row["cpu_ms"].is_u64() && row["age_s"].is_u64(), "{row:#}");
        }
    }
    let text = env.pipemux(&["sessions"]).ok().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("session        state  "), "{text}");
    assert!(lines[3].starts_with("2 sessions  "), "{text}");
    let tokens_end = |line: &str| line.chars().count();
    assert!(lines.iter().all(|line| tokens_end(line) == tokens_end(lines[0])), "{text}");

    let status = env.pipemux(&["status", "--json"]).ok().json();
    let sum: u64 = rows.iter().filter_map(|row| row["tokens"].as_u64()).sum();
    assert_eq!(status["sessions_tokens"].as_u64(), Some(sum));
    if cfg!(target_os = "linux") {
        assert!(status["memory_bytes"].as_u64() > Some(256 * 1024), "{status:#}");
    }
    let state = env.paths().state_dir;
    let told = env.pipemux(&["status"]);
    told.ok().has(" · up ").has("sessions 2 · 2 ready · memory ");
    told.has(&format!("state {}", state.display()));
}

#[test]
fn daemon_that_a_person_stopped_stays_down_until_they_start_it() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["down"]).ok().has("the next call starts it again").has("pipemux down --stay");
    env.pipemux(&["view"]).ok();
    env.pipemux(&["down", "--stay"]).ok().has("down · stays down until: pipemux up");
    let stopped = "unreachable · a person stopped PipeMux (pipemux down --stay); they start it again at a terminal: pipemux up\n";
    assert_eq!(env.pipemux(&["view"]).exits(8).text(), stopped);
    let hook = env.command(&["inject", "--hook"]).stdin(b"{}").output();
    assert_eq!(hook.exits(8).text(), stopped);
    env.pipemux(&["status"]).ok().has("not running: a person stopped it · start: pipemux up");
    assert!(env.processes().is_empty());
    env.pipemux(&["down", "--stay"]).ok().has("not running · stays down until: pipemux up");
    env.pipemux(&["up"]).exits(9).has("only a person at a terminal");
    env.pipemux(&["view"]).exits(8);
    let typed = "script -qec '\"$PIPEMUX\" up' /dev/null";
    if env.shell("command -v script").output().exit == 0 {
        env.shell(typed).output().ok().has("daemon pipemuxd");
        env.pipemux(&["down"]).ok();
        env.pipemux(&["view"]).ok().has("editor/main");
    }
}

#[test]
fn words_for_the_end_lead_to_down() {
    let env = TestEnv::new();
    for word in ["stop", "quit", "exit", "kill", "shutdown"] {
        let told = env.pipemux(&[word]);
        told.exits(2).has("\npipemux down\n").has("pipemux run 'terminal.stop()'");
    }
}

#[test]
fn undo_passes_over_what_an_ended_session_did_and_says_so() {
    let env = TestEnv::with_editor("one\n");
    env.run("editor.replace('one', 'two')").ok();
    env.run("notebook.add('plan', 'x')").ok();
    env.pipemux(&["end", "notebook/main"]).ok();
    let told = env.pipemux(&["undo"]);
    told.ok().has("skipped: round 2, since notebook/main isn't open").has("pipemux undo 2");
    assert_eq!(env.read("a.txt"), "one\n");
}

#[test]
fn tour_leaves_nothing_behind() {
    let env = TestEnv::new();
    let told = env.pipemux(&["tour"]);
    told.ok().has("That was the tour").has("pipemux --help").has("help --all").has("setup");
    told.lacks("any key");
    assert!(env.processes().is_empty());
    assert!(!env.paths().state_dir.exists(), "neither a workspace nor a line of the audit log");
    let place = told.text().lines().find_map(|line| {
        Some(line.strip_prefix("The tour runs in ")?.split(',').next()?.to_owned())
    });
    assert!(!std::path::Path::new(&place.expect("a place")).exists());
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use pipemux_tests::TestEnv;
    use vt100::Color;

    use crate::attach::terminal::Terminal;

    const SIZE: (u16, u16) = (150, 60);
    const PLAIN: [(&str, &str); 1] = [("TERM", "xterm")];
    const GREEN: Color = Color::Idx(2);
    const RED: Color = Color::Idx(1);

    #[test]
    fn tour_waits_for_a_key_after_each_step_and_can_be_left() {
        let env = TestEnv::new();
        let scratch = env.path("scratch");
        std::fs::create_dir(&scratch).expect("a directory");
        let entries = || scratch.read_dir().expect("a directory").count();
        let variables = [PLAIN[0], ("TMPDIR", scratch.to_str().expect("a path"))];
        let mut terminal = Terminal::run(&env, &["tour"], SIZE, &variables);
        let shown = terminal.shows("[any key: next · q: leave]");
        assert!(!shown.contains("$ pipemux open editor"), "{shown}");
        terminal.press(" ");
        terminal.shows("$ pipemux open editor");
        terminal.shows("[any key: next · q: leave]");
        terminal.press("q");
        terminal.shows("left: nothing of the tour remains");
        terminal.ended(0);
        assert_eq!(entries(), 0);

        let mut terminal = Terminal::run(&env, &["tour"], SIZE, &variables);
        terminal.shows("[any key: next · q: leave]");
        terminal.press(" ");
        terminal.shows("$ pipemux open editor");
        assert_eq!(entries(), 1);
        terminal.press("\x03");
        terminal.shows("the tour was interrupted");
        terminal.ended(130);
        assert_eq!(entries(), 0);
    }

    #[test]
    fn differences_and_errors_are_coloured_unless_the_user_wants_none() {
        let env = TestEnv::with_editor("one\n");
        env.as_reader("b", &["run", "editor.replace('one', 'two')"]).ok();
        let history = ["history", "--diff"];
        let terminal = Terminal::run(&env, &history, SIZE, &PLAIN);
        assert_eq!(terminal.colour_of("-one"), RED);
        assert_eq!(terminal.colour_of("+two"), GREEN);
        assert_eq!(terminal.colour_of("replace done"), Color::Default);
        let terminal = Terminal::run(&env, &["read", "obj:99"], SIZE, &PLAIN);
        assert_eq!(terminal.colour_of("not found"), RED);
        for variables in
            [[("TERM", "dumb"), ("NO_COLOR", "")], [("TERM", "xterm"), ("NO_COLOR", "1")]]
        {
            let terminal = Terminal::run(&env, &history, SIZE, &variables);
            assert_eq!(terminal.colour_of("-one"), Color::Default);
        }
        env.pipemux(&history).ok().lacks("\x1b");
        env.pipemux(&["read", "obj:99"]).exits(3).lacks("\x1b");
    }

    #[test]
    fn person_without_arguments_is_shown_a_list_for_people() {
        let env = TestEnv::new();
        let terminal = Terminal::run(&env, &[], SIZE, &PLAIN);
        let shown = terminal.shows("the guide that agents read");
        assert!(shown.contains("For people:") && !shown.contains("editor.find"), "{shown}");
        terminal.ended(2);
        env.pipemux(&[]).exits(2).has("# PipeMux: a whole step of work in one call");
    }
}
