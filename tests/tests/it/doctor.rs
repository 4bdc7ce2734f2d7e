//! `doctor`, and apps that come and go while the daemon runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, Signal, World, kill, wait_until};

fn doctor(world: &World, args: &[&str]) -> Output {
    let mut words = vec!["doctor"];
    words.extend(args);
    world.pipemux(&words)
}

fn apps(world: &World) -> std::path::PathBuf {
    world.root().join("home/.config/pipemux/apps")
}

#[test]
fn all_is_well_with_and_without_a_daemon() {
    let world = World::new();
    doctor(&world, &[]).ok().has("none runs · start: pipemux up").has("all is well");
    assert_eq!(world.pipemux(&["status"]).ok().text(), "not running · start: pipemux up\n");
    world.pipemux(&["open", "notebook"]).ok();
    let told = doctor(&world, &["--json"]).ok().json();
    let all = told.as_array().expect("findings");
    assert!(all.len() >= 14 && all.iter().all(|found| found["state"] == "ok"), "{told:#}");
    let said = doctor(&world, &[]);
    said.ok().has("ok · daemon: pipemuxd ").has("answers in").has("a daemon holds");
}

#[test]
fn what_a_lost_daemon_leaves_is_named_and_mended() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    let paths = world.paths();
    if !paths.socket.exists() {
        drop(UnixListener::bind(&paths.socket).expect("a socket"));
    }
    fs::set_permissions(&paths.runtime_dir, Permissions::from_mode(0o755)).expect("a mode");
    fs::set_permissions(&paths.state_dir, Permissions::from_mode(0o750)).expect("a mode");
    let told = doctor(&world, &[]);
    told.exits(1).has("bad · socket directory: ").has("mode 0755").has("doctor --fix: chmod 700");
    told.has("bad · state directory: ").has("is a dead daemon's: nobody holds the lock");
    told.has("3 of ");
    let fixed = doctor(&world, &["--fix"]);
    fixed.ok().has("fixed · socket directory").has("fixed · state directory").has("all is well");
    fixed.has("fixed · lock and socket");
    assert!(!paths.socket.exists());
    doctor(&world, &[]).ok().lacks("fixed");
    world.pipemux(&["view"]).ok().has("notebook/main");
}

#[test]
fn a_daemon_that_hangs_is_named_and_the_doctor_does_not() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let daemon = world.daemon();
    kill(daemon, Signal::SIGSTOP);
    let told = doctor(&world, &[]);
    kill(daemon, Signal::SIGCONT);
    told.exits(1).has("bad · daemon: ").has("within 1 s").lacks("within 10 s").has("1 of ");
}

#[test]
fn a_session_that_stays_down_is_named_with_what_starts_it() {
    let world = World::new();
    world.install_rogue("rogue", "plain");
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    doctor(&world, &[]).ok().has("ok · sessions: 2 of them, none is failed");
    let mut count = 0;
    wait_until("it stays down", || {
        // Another request each time: the same one would be refused before.
        count += 1;
        let file = world.path(&format!("signed{count}"));
        world.run(&format!("rogue.misbehave('sign and exit {}')", file.display()));
        world.pipemux(&["sessions"]).ok().text().contains("failed").then_some(())
    });
    let told = doctor(&world, &[]);
    told.exits(1).has("bad · sessions: rogue/main is failed: ").has("pipemux restart rogue/main");
    told.lacks("notebook/main is").has("1 of ");
    let elsewhere = world.command(&["--workspace", "elsewhere", "doctor"]).output();
    elsewhere.exits(1).has("next: in the workspace proj: pipemux restart rogue/main");
    world.pipemux(&["restart", "rogue/main"]).ok();
    doctor(&world, &[]).ok();
}

#[test]
fn a_missing_daemon_program_is_named() {
    let world = World::new();
    let told = world.command(&["doctor"]).env("PIPEMUX_DAEMON", "/no/such/pipemuxd").output();
    told.exits(1).has("bad · pipemuxd: /no/such/pipemuxd can't be started").has("PIPEMUX_DAEMON");
    let told = world.command(&["doctor"]).env("PIPEMUX_DAEMON", "/bin/false").output();
    told.exits(1).has("bad · pipemuxd: /bin/false");
}

#[test]
fn an_app_is_added_replaced_and_removed_while_the_daemon_runs() {
    let world = World::new();
    world.pipemux(&["apps"]).ok().lacks("todo");
    let rogue = program("rogue").display().to_string();
    let manifest =
        |more: &str| format!("id = \"todo\"\ncommand = {rogue:?}\nargs = [\"plain\"]\n{more}");
    world.write("todo.toml", manifest("description = \"to do\"\n"));
    world.pipemux(&["app", "add", "todo.toml"]).ok().has("added todo").has("pipemux open todo");
    assert!(apps(&world).join("todo.toml").exists());
    world.pipemux(&["apps"]).ok().has("todo · to do\n");
    world.pipemux(&["open", "todo"]).ok().has("## todo/main");

    world.pipemux(&["app", "add", "todo.toml"]).exits(9).has("taken by").has("--replace");
    world
        .write("todo.toml", manifest("description = \"more\"\nscope = \"user\"\nidle = \"90s\"\n"));
    let replaced = world.pipemux(&["app", "add", "todo.toml", "--replace"]);
    replaced.ok().has("replaced todo").has("todo/main runs on as it was started");
    world.pipemux(&["apps"]).ok().has("todo · more · scope user · idle 90 s\n");
    let limits = "idle = \"never\"\n[limits]\nmemory = \"512M\"\nlog = \"8K\"\ncpu = 60\n";
    world.write("kept.toml", manifest(limits).replace("todo", "kept"));
    world.pipemux(&["app", "add", "kept.toml"]).ok();
    let rows = world.pipemux(&["apps", "--json"]).ok().json();
    let row = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row("todo")["idle_ms"], 90_000);
    assert!(row("notebook")["idle_ms"].as_u64().unwrap() > 0);
    assert!(row("kept").get("idle_ms").unwrap().is_null(), "{rows}");
    let data = &row("kept")["limits"];
    assert_eq!((&data["memory_bytes"], &data["log_bytes"]), (&(512 << 20).into(), &8192.into()));
    assert_eq!((&data["cpu_s"], &data["files"]), (&60.into(), &serde_json::Value::Null));

    let told = world.pipemux(&["watch", "--since", "0", "--count", "1", "--json"]).ok().json();
    assert_eq!(told["what"], "providers");
    let removed = world.pipemux(&["app", "remove", "todo"]);
    removed.ok().has("removed todo").has("todo/main runs on until it is ended");
    world.pipemux(&["view"]).ok().has("## todo/main");
    world.pipemux(&["end", "todo"]).ok();
    world.pipemux(&["open", "todo"]).exits(3).has("no app todo");
    world.pipemux(&["app", "remove", "todo"]).exits(3).has("no app todo");
    world.pipemux(&["app", "remove", "editor"]).exits(9).has("can't be removed");
}

#[test]
fn a_wrong_manifest_is_told_with_file_line_and_field() {
    let world = World::new();
    world.write("bad.toml", "id = \"todo\"\n# 注\ncommand = \"./todo\"\n");
    let told = world.pipemux(&["app", "add", "bad.toml"]);
    told.exits(2).has("bad.toml:3 (command)").has("can't be started");
    world.write("bad.toml", "id = \"todo\"\ncommand = \"sh\"\nscope = \"all\"\n");
    let told = world.pipemux(&["app", "add", "bad.toml"]);
    told.exits(2).has("bad.toml:3 (scope)").has("expected").lacks("added");
    told.lacks("at least").has("next: correct it, then: pipemux app add ");
    for bare in ["id = \"todo\"\n", "a todo list\n", ""] {
        world.write("bare.toml", bare);
        world.pipemux(&["app", "add", "bare.toml"]).exits(2).has("expected at least: id = ");
    }
    world
        .pipemux(&["app", "add", "none.toml"])
        .exits(2)
        .has("none.toml")
        .has("expected a manifest");
    world.pipemux(&["app", "add", "."]).exits(2).has("it is no manifest");
    assert!(!apps(&world).exists());
    // Put there by hand it is told by `apps` and the doctor, and takes nothing else along.
    fs::create_dir_all(apps(&world)).expect("a directory");
    fs::copy(world.path("bad.toml"), apps(&world).join("bad.toml")).expect("a copy");
    world.pipemux(&["apps"]).ok().has("not registered · ").has("bad.toml:3 (scope)").has("editor");
    let rows = world.pipemux(&["apps", "--json"]).ok().json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["problem"].is_string()), "{rows}");
    doctor(&world, &[]).exits(1).has("bad · manifests: ").has("bad.toml:3 (scope)");
    // Written by hand and right, it is opened without anything else being done.
    let rogue = program("rogue").display().to_string();
    let text = format!("id = \"late\"\ncommand = {rogue:?}\nargs = [\"plain\"]\n");
    fs::write(apps(&world).join("bad.toml"), text).expect("a manifest");
    world.pipemux(&["open", "late"]).ok().has("## late/main");
    let text = "id = \"gone\"\ncommand = \"/no/such/gone\"\n";
    fs::write(apps(&world).join("gone.toml"), text).expect("a manifest");
    doctor(&world, &[]).exits(1).has("bad · apps: gone: /no/such/gone is not there");
    world.pipemux(&["app", "remove", "gone"]).ok();
    doctor(&world, &[]).ok();
}
