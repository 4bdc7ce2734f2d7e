//! Who acts, and what the audit log tells of it.

use pipemux_tests::TestEnv;
use pipemux_tests::programs::program;

/// Has the app run a script of `sh`, in which `$P` is `pipemux` with this environment; returns what
/// it printed.
fn in_app(env: &TestEnv, script: &str) -> String {
    let variables = env.variables();
    let set: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let pipemux = program("pipemux").display().to_string();
    let script =
        format!("export {}; P={pipemux}; cd {}; {script}", set.join(" "), env.project().display());
    env.command(&["run", "rogue.misbehave(stdin)"])
        .stdin(format!("shell {script}").as_bytes())
        .output()
        .ok();
    env.pipemux(&["view", "rogue/main"]).ok().text()
}

#[test]
fn processes_that_an_app_started_can_read_but_not_act() {
    let env = TestEnv::new();
    // In a sandbox it would reach no socket at all.
    env.install("rogue", "rogue", "args = [\"tame\"]\nsandbox = \"off\"\n");
    env.pipemux(&["open", "rogue"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    env.run("notebook.add('n', 't')").ok();
    env.as_reader("user", &["view"]).ok();
    env.as_reader("user", &["run", "rogue.wipe()"]).exits(5);
    let refused = "what an app starts can read, but not act as the user";
    for act in [
        "$P run \"notebook.add('evil', 't')\"",
        "$P --reader user answer yes",
        "$P open monitor",
        "$P down",
        // Neither a new session nor an orphan is anybody else's.
        "setsid $P undo",
        "(setsid sh -c '$P undo > said 2>&1; echo >> ended' &); while [ ! -e ended ]; do :; done; cat said",
    ] {
        let said = in_app(&env, &format!("export P; {act} 2>&1; echo exit $?"));
        assert!(said.contains(refused), "{act}: {said}");
    }
    let said = in_app(&env, "$P view notebook/main; echo exit $?");
    assert!(said.contains("exit 0"), "{said}");
    env.pipemux(&["view", "notebook/main"]).ok().has("](obj:").lacks("evil");
    // Each attempt is on record, with its process.
    let audit = env.pipemux(&["audit", "--lines", "50"]);
    audit
        .ok()
        .has("refused · answer yes")
        .has("refused · down")
        .has("was started by rogue/main: what");
    env.as_reader("user", &["answer", "yes"]).ok().has("wiped");
}

#[test]
fn audit_log_tells_who_did_what_and_outlives_the_daemon() {
    let env = TestEnv::with_rogue_and_notebook();
    let long = "x".repeat(500);
    env.run(&format!("notebook.add('n', '{long}')")).ok();
    env.as_reader("ann", &["view"]).ok();
    env.as_reader("ann", &["run", "rogue.wipe()"]).exits(5);
    env.as_reader("ann", &["answer", "yes"]).ok();
    env.pipemux(&["down"]).ok();
    let all = env.pipemux(&["audit"]);
    all.ok()
        .has("done · open notebook · default in proj · pipemux ")
        .has("done · run notebook.add('n', <500 bytes sha256:")
        .has("asked · run rogue.wipe() · ")
        .has("done · answer yes · rogue.wipe()")
        .has(" · confirmed rogue.wipe: all of it")
        .has("done · down")
        .lacks("xxxxxxxxxx");
    let rows = env.pipemux(&["audit", "--json", "--lines", "3", "--reader", "ann"]).ok().json();
    let rows = rows.as_array().expect("an array");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["asked"], rows[1]["answered"]);
    assert!(
        rows[1]["pid"].is_u64()
            && rows[1]["program"].as_str().is_some_and(|p| p.ends_with("pipemux"))
    );
    assert!(rows[1]["parents"].as_array().is_some_and(|parents| !parents.is_empty()));
}

#[test]
fn audit_log_is_off_when_the_settings_say_so() {
    let env = TestEnv::new();
    let config = env.root().join("home/.config/pipemux");
    std::fs::create_dir_all(&config).expect("a directory");
    std::fs::write(config.join("config.toml"), "[audit]\nkeep_days = 0\n").expect("settings");
    env.pipemux(&["open", "notebook"]).ok();
    env.pipemux(&["audit"]).ok().has("no acts are recorded in ");
}

#[test]
fn reader_with_a_token_is_not_spoken_as_by_mistake() {
    let env = TestEnv::with_notebook();
    let as_ann =
        |args: &[&str]| env.command(args).reader("ann").env("PIPEMUX_READER_TOKEN", "k3y").output();
    as_ann(&["view"]).ok();
    env.as_reader("ann", &["run", "notebook.add('n', 't')"])
        .exits(9)
        .has("reader ann has a token, and this request has none")
        .has("--reader NAME");
    env.as_reader("ann", &["view", "--reader-token", "k3y"]).ok();
    as_ann(&["run", "notebook.add('n', 't')"]).ok();
    env.as_reader("bob", &["view"]).ok();
}
