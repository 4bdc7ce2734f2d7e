//! `pipemux doctor`, and apps that are added and removed while the daemon runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, Signal, TestEnv, kill, wait_for};

fn doctor(env: &TestEnv, args: &[&str]) -> Output {
    let mut words = vec!["doctor"];
    words.extend(args);
    env.pipemux(&words)
}

fn apps(env: &TestEnv) -> std::path::PathBuf {
    env.root().join("home/.config/pipemux/apps")
}

#[test]
fn doctor_finds_nothing_wrong_with_or_without_a_daemon() {
    let env = TestEnv::new();
    doctor(&env, &[]).ok().has("none runs · start: pipemux up").has("all is well");
    assert_eq!(env.pipemux(&["status"]).ok().text(), "not running · start: pipemux up\n");
    env.pipemux(&["open", "notebook"]).ok();
    let told = doctor(&env, &["--json"]).ok().json();
    let all = told.as_array().expect("findings");
    assert!(all.len() >= 14 && all.iter().all(|found| found["state"] == "ok"), "{told:#}");
    let said = doctor(&env, &[]);
    said.ok().has("ok · daemon: pipemuxd ").has("answers in").has("a daemon holds");
}

#[test]
fn doctor_names_and_fixes_leftovers_of_a_killed_daemon() {
    let env = TestEnv::with_notebook();
    env.kill_daemon();
    let paths = env.paths();
    if !paths.socket.exists() {
        drop(UnixListener::bind(&paths.socket).expect("a socket"));
    }
    fs::set_permissions(&paths.runtime_dir, Permissions::from_mode(0o755)).expect("a mode");
    fs::set_permissions(&paths.state_dir, Permissions::from_mode(0o750)).expect("a mode");
    let told = doctor(&env, &[]);
    told.exits(1)
        .has("bad · socket directory: ")
        .has("mode 0755")
        .has("next: chmod 700 ")
        .has("pipemux doctor --fix");
    told.has("bad · state directory: ").has("is a dead daemon's: nobody holds the lock");
    told.has("3 of ");
    let fixed = doctor(&env, &["--fix"]);
    fixed.ok().has("fixed · socket directory").has("fixed · state directory").has("all is well");
    fixed.has("fixed · lock and socket");
    assert!(!paths.socket.exists());
    doctor(&env, &[]).ok().lacks("fixed");
    env.pipemux(&["view"]).ok().has("notebook/main");
}

#[test]
fn doctor_names_a_hanging_daemon_without_hanging() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let daemon = env.daemon_pid();
    kill(daemon, Signal::SIGSTOP);
    let told = doctor(&env, &[]);
    kill(daemon, Signal::SIGCONT);
    told.exits(1).has("bad · daemon: ").has("within 1 s").lacks("within 10 s").has("1 of ");
}

#[test]
fn doctor_names_a_failed_session_and_its_restart_command() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    env.pipemux(&["open", "rogue"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    doctor(&env, &[]).ok().has("ok · sessions: none of 2 has failed");
    let mut count = 0;
    wait_for("the session stays down", || {
        // The calls differ, because a call that crashes its app repeatedly is refused.
        count += 1;
        let file = env.path(&format!("signed{count}"));
        let crashed = env.run(&format!("rogue.misbehave('sign and exit {}')", file.display()));
        assert!(matches!(crashed.exit, 6 | 7), "{crashed}");
        env.pipemux(&["sessions"]).ok().text().contains("failed")
    });
    let told = doctor(&env, &[]);
    told.exits(1).has("bad · sessions: rogue/main has failed: ").has("pipemux restart rogue/main");
    told.lacks("notebook/main is").has("1 of ");
    let elsewhere = env.command(&["--workspace", "elsewhere", "doctor"]).output();
    elsewhere.exits(1).has("next: in the workspace proj: pipemux restart rogue/main");
    env.pipemux(&["restart", "rogue/main"]).ok();
    doctor(&env, &[]).ok();
}

#[test]
fn doctor_names_a_missing_daemon_program() {
    let env = TestEnv::new();
    let told = env.command(&["doctor"]).env("PIPEMUX_DAEMON", "/no/such/pipemuxd").output();
    told.exits(1).has("bad · pipemuxd: /no/such/pipemuxd can't be started").has("PIPEMUX_DAEMON");
    let told = env.command(&["doctor"]).env("PIPEMUX_DAEMON", "/bin/false").output();
    told.exits(1).has("bad · pipemuxd: /bin/false");
}

#[test]
fn app_is_added_replaced_and_removed_at_run_time() {
    let env = TestEnv::new();
    env.pipemux(&["apps"]).ok().lacks("todo");
    let rogue = program("rogue").display().to_string();
    let manifest =
        |more: &str| format!("id = \"todo\"\ncommand = {rogue:?}\nargs = [\"plain\"]\n{more}");
    env.write("todo.toml", manifest("description = \"to do\"\n"));
    env.pipemux(&["app", "add", "todo.toml"]).ok().has("added todo").has("pipemux open todo");
    assert!(apps(&env).join("todo.toml").exists());
    env.pipemux(&["apps"]).ok().has("todo · to do\n");
    env.pipemux(&["open", "todo"]).ok().has("## todo/main");

    env.pipemux(&["app", "add", "todo.toml"]).exits(9).has("taken by").has("--replace");
    env.write("todo.toml", manifest("description = \"more\"\nscope = \"user\"\nidle = \"90s\"\n"));
    let replaced = env.pipemux(&["app", "add", "todo.toml", "--replace"]);
    replaced.ok().has("replaced todo").has("todo/main runs on as it was started");
    env.pipemux(&["apps"]).ok().has("todo · more · scope user · idle 90 s\n");
    let limits = "idle = \"never\"\n[limits]\nmemory = \"512M\"\nlog = \"8K\"\ncpu = 60\n";
    env.write("kept.toml", manifest(limits).replace("todo", "kept"));
    env.pipemux(&["app", "add", "kept.toml"]).ok();
    let rows = env.pipemux(&["apps", "--json"]).ok().json();
    let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("todo")["idle_ms"], 90_000);
    assert!(row("notebook")["idle_ms"].as_u64().unwrap() > 0);
    assert!(row("kept").get("idle_ms").unwrap().is_null(), "{rows}");
    let data = &row("kept")["limits"];
    assert_eq!((&data["memory_bytes"], &data["log_bytes"]), (&(512 << 20).into(), &8192.into()));
    assert_eq!((&data["cpu_s"], &data["files"]), (&60.into(), &serde_json::Value::Null));

    let told = env.pipemux(&["watch", "--since", "0", "--count", "1", "--json"]).ok().json();
    assert_eq!(told["what"], "providers");
    let removed = env.pipemux(&["app", "remove", "todo"]);
    removed.ok().has("removed todo").has("todo/main runs on until it is ended");
    env.pipemux(&["view"]).ok().has("## todo/main");
    env.pipemux(&["end", "todo"]).ok();
    env.pipemux(&["open", "todo"]).exits(3).has("no app todo");
    env.pipemux(&["app", "remove", "todo"]).exits(3).has("no app todo");
    env.pipemux(&["app", "remove", "editor"]).exits(9).has("can't be removed");
}

#[test]
fn invalid_manifest_is_refused_with_file_line_and_field() {
    let env = TestEnv::new();
    env.write("bad.toml", "id = \"todo\"\n# 注\ncommand = \"./todo\"\n");
    let told = env.pipemux(&["app", "add", "bad.toml"]);
    told.exits(2).has("bad.toml:3 (command)").has("can't be started");
    env.write("bad.toml", "id = \"todo\"\ncommand = \"sh\"\nscope = \"all\"\n");
    let told = env.pipemux(&["app", "add", "bad.toml"]);
    told.exits(2).has("bad.toml:3 (scope)").has("expected").lacks("added");
    told.lacks("at least").has("next: correct it, then: pipemux app add ");
    for bare in ["id = \"todo\"\n", "a todo list\n", ""] {
        env.write("bare.toml", bare);
        env.pipemux(&["app", "add", "bare.toml"]).exits(2).has("expected at least: id = ");
    }
    env.pipemux(&["app", "add", "none.toml"]).exits(2).has("none.toml").has("expected a manifest");
    env.pipemux(&["app", "add", "."]).exits(2).has("it is not a manifest");
    assert!(!apps(&env).exists());
    // An invalid manifest that was copied by hand is reported and affects no other app.
    fs::create_dir_all(apps(&env)).expect("a directory");
    fs::copy(env.path("bad.toml"), apps(&env).join("bad.toml")).expect("a copy");
    env.pipemux(&["apps"]).ok().has("not registered · ").has("bad.toml:3 (scope)").has("editor");
    let rows = env.pipemux(&["apps", "--json"]).ok().json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["problem"].is_string()), "{rows}");
    doctor(&env, &[]).exits(1).has("bad · manifests: ").has("bad.toml:3 (scope)");
    // A valid manifest that was written by hand needs no further step.
    let rogue = program("rogue").display().to_string();
    let text = format!("id = \"late\"\ncommand = {rogue:?}\nargs = [\"plain\"]\n");
    fs::write(apps(&env).join("bad.toml"), text).expect("a manifest");
    env.pipemux(&["open", "late"]).ok().has("## late/main");
    let text = "id = \"gone\"\ncommand = \"/no/such/gone\"\n";
    fs::write(apps(&env).join("gone.toml"), text).expect("a manifest");
    doctor(&env, &[]).exits(1).has("bad · apps: gone: /no/such/gone is not there");
    env.pipemux(&["app", "remove", "gone"]).ok();
    doctor(&env, &[]).ok();
}
