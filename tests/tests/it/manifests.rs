//! What an app asks for is shown when it is added, and a program that has changed since isn't
//! started unasked.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pipemux_tests::TestEnv;
use pipemux_tests::programs::program;

/// Writes a program that the app runs: a script that begins `rogue`.
fn write_program(env: &TestEnv, comment: &str) {
    let script = format!("#!/bin/sh\n# {comment}\nexec {} tame\n", program("rogue").display());
    env.write("tool.sh", script);
    let path = env.path("tool.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Writes the manifest of `tool.sh`, which may start the program that it replaces itself by.
fn write_manifest(env: &TestEnv, more: &str) {
    let program = program("rogue");
    let folder = program.parent().expect("the directory of the programs");
    let asks = format!("exec = true\nread = [{folder:?}]");
    env.write("todo.toml", format!("id = \"todo\"\ncommand = \"./tool.sh\"\n{asks}\n{more}"));
}

#[test]
fn changed_program_is_not_started_before_its_app_is_added_again() {
    let env = TestEnv::new();
    write_program(&env, "one");
    write_manifest(&env, "pass = [\"GITHUB_TOKEN\", \"EDITOR\"]\n\n[limits]\ncpu = 60\n");
    env.pipemux(&["app", "add", "todo.toml"])
        .ok()
        .has("asks for: pass GITHUB_TOKEN (looks like a secret), EDITOR · read /")
        .has(" · exec yes · limits cpu 60 s")
        .has("pinned: ")
        .has("/tool.sh · sha256 ");
    env.pipemux(&["open", "todo"]).ok().has("## todo/main");
    write_program(&env, "two");
    let kept = env.root().join("home/.config/pipemux/apps/todo.toml").display().to_string();
    let _ = env.pipemux(&["restart", "todo/main"]);
    env.pipemux(&["view", "todo/main"])
        .has("tool.sh has changed since the app was added, so it is not started")
        .has(&format!("pipemux app add {kept} --replace"));
    env.pipemux(&["app", "add", &kept, "--replace"]).ok().has("replaced todo");
    env.pipemux(&["view", "todo/main"]).ok().has("## todo/main").has("the thing");
}

#[test]
fn program_that_its_author_works_on_may_change() {
    let env = TestEnv::new();
    write_program(&env, "one");
    write_manifest(&env, "dev = true\n");
    env.pipemux(&["app", "add", "todo.toml"])
        .ok()
        .has("asks for: read /")
        .has(" · exec yes")
        .lacks("pinned");
    env.pipemux(&["open", "todo"]).ok();
    write_program(&env, "two");
    env.pipemux(&["restart", "todo/main"]).ok();
    env.pipemux(&["view", "todo/main"]).ok().has("the thing");
}

#[test]
fn app_that_replaces_a_built_in_one_says_so() {
    let env = TestEnv::new();
    env.install_rogue("notebook", "tame");
    env.pipemux(&["apps"]).ok().has("replaces the app that comes with PipeMux: ");
    env.pipemux(&["open", "notebook"])
        .ok()
        .has("notebook is not the app that comes with PipeMux: ")
        .has("notebook.toml replaces it");
}
