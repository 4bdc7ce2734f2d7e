//! The rules of the person whose machine it is: who only reads, which apps nobody uses. None is
//! dropped silently.

use pipemux_tests::{McpClient, TestEnv};
use serde_json::json;

/// Writes what the person's settings say.
fn decide(env: &TestEnv, text: &str) {
    let folder = env.root().join("home/.config/pipemux");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

#[test]
fn readers_that_only_read_act_at_no_door() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('one', 'x')").ok();
    let mut agent =
        McpClient::connect_as(&env, &["mcp", "--reader", "reviewer-1"], "2025-11-25", json!({}));
    let code = json!({ "code": "notebook.add('two', 'x')" });
    agent.tool("run_code_snippet", code.clone()).ok();
    // It holds from the next act on, also over a connection that was there before.
    decide(&env, "[readers]\nread_only = [\"reviewer*\"]\n");
    agent.tool("run_code_snippet", code).fails().has("reviewer-1 may only read").has("reviewer*");
    let reviewer = |args: &[&str]| env.as_reader("reviewer-2", args);
    reviewer(&["run", "notebook.add('three', 'x')"]).exits(9).has("may only read");
    reviewer(&["undo", "1"]).exits(9);
    reviewer(&["view"]).ok().has("[two](obj:").lacks("three");
    reviewer(&["history"]).ok();
    env.as_reader("writer", &["run", "notebook.add('four', 'x')"]).ok();
    decide(&env, "# none\n");
    reviewer(&["run", "notebook.add('three', 'x')"]).ok();
}

#[test]
fn forbidden_apps_are_neither_opened_nor_called() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('one', 'x')").ok();
    decide(&env, "[apps]\nforbidden = [\"editr\"]\n");
    env.pipemux(&["doctor"]).has("[apps] forbidden names editr, and no app has that name");
    decide(&env, "[apps]\nforbidden = [\"terminal\", \"notebook\"]\n");
    env.pipemux(&["open", "terminal"])
        .exits(9)
        .has("terminal is forbidden here")
        .has("config.toml");
    env.run("terminal.run('touch made')").exits(9).has("forbidden here");
    env.run("notebook.add('two', 'x')").has("forbidden here");
    env.pipemux(&["undo"]).has("forbidden here");
    let call = json!({ "name": "bash", "input": { "command": "touch made" } }).to_string();
    env.command(&["exec"]).stdin(call.as_bytes()).output().has("forbidden here");
    assert!(!env.path("made").exists());
    env.pipemux(&["view"]).ok().has("[one](obj:").lacks("two");
    env.write("a.txt", "x\n");
    env.run("editor.replace('x', 'y', in='a.txt')").ok();
}

#[test]
fn rules_that_cannot_be_read_hold_everybody() {
    let env = TestEnv::with_notebook();
    for (text, why) in [
        ("[readers]\nread_onyl = [\"a\"]\n", "line 2: unknown field `read_onyl`"),
        ("[apps]\nforbidden = \"terminal\"\n", "line 2: "),
        ("\n[apps]\nforbidden = [\"No App\"]\n", "line 3: "),
        ("[files]\nforbidden = [\"secrets\"]\n", "\"secrets\": expected an absolute path"),
        ("readers = [\n", "line "),
    ] {
        decide(&env, text);
        let refused = env.run("notebook.add('one', 'x')");
        refused.exits(9).has(why).has("acts are refused until a person mends it");
        env.pipemux(&["status"]).ok().has("acts_refused ").has(why);
        env.pipemux(&["doctor"]).has(why);
        env.pipemux(&["view"]).ok();
    }
    env.kill_daemon();
    env.run("notebook.add('one', 'x')").exits(9);
    decide(&env, "[readers]\nread_only = []\n");
    env.run("notebook.add('one', 'x')").ok();
}

#[test]
fn settings_begin_with_each_rule_explained_and_none_in_force() {
    let env = TestEnv::with_notebook();
    env.pipemux(&["config"]).ok().has(".config/pipemux/config.toml").has("pipemux config --write");
    env.pipemux(&["config", "--write"]).ok().has("says nothing yet");
    let path = env.root().join("home/.config/pipemux/config.toml");
    let text = std::fs::read_to_string(&path).expect("the file");
    env.run("notebook.add('one', 'x')").ok();
    // Each line of it can be taken as it is.
    let is_rule = |line: &&str| line.starts_with("# [") || line.contains(" = ");
    let rules: String =
        text.lines().filter(is_rule).map(|line| line[2..].to_owned() + "\n").collect();
    decide(&env, &rules);
    env.run("notebook.add('two', 'x')").ok();
    env.pipemux(&["open", "terminal"]).exits(9);
    env.pipemux(&["config", "--write"])
        .ok()
        .has("read_only = [\"reviewer*\"]")
        .has("pipemux doctor");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), rules);
}

#[test]
fn rules_of_another_file_never_come_into_force_unsaid() {
    let env = TestEnv::with_notebook();
    decide(&env, "[apps]\nforbidden = [\"terminal\"]\n");
    env.run("notebook.add('one', 'x')").ok();
    let file = "home/.config/pipemux/config.toml";
    env.pipemux(&["status"]).ok().has(&format!("/{file}\n"));
    env.pipemux(&["config"]).ok().lacks("not in force");
    env.pipemux(&["down"]).ok();
    let other = env.path("other");
    env.command(&["up"]).env("XDG_CONFIG_HOME", &other.display().to_string()).output().ok();
    // Everybody is told, once; who asks is told always.
    env.run("notebook.add('two', 'x')")
        .ok()
        .has(&format!("the rules of {}", env.root().join(file).display()));
    env.run("notebook.add('three', 'x')").ok().lacks("the rules of");
    env.pipemux(&["status"])
        .ok()
        .has("other/pipemux/config.toml (not there: the defaults hold) · the daemon before read ");
    env.pipemux(&["config"]).ok().has("forbidden = [\"terminal\"]").has("not in force: ");
    env.pipemux(&["down"]).ok();
    env.run("notebook.add('four', 'x')").ok().has("the rules of ");
    env.pipemux(&["open", "terminal"]).exits(9);
    env.pipemux(&["config"]).ok().lacks("not in force");
}

#[test]
fn forbidden_folders_are_given_to_no_app() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.root().join("taxes/2026")).expect("a folder");
    std::fs::write(env.root().join("taxes/2026/a.txt"), "secret\n").expect("a file");
    let taxes = env.root().join("taxes").display().to_string();
    let file = format!("{taxes}/2026/a.txt");
    env.write("b.txt", "open\n");
    env.run(&format!("editor.replace('secret', 'known', in='{file}')")).ok();
    env.pipemux(&["open", "editor", &file]).ok().has("known");
    decide(&env, &format!("[files]\nforbidden = [\"{taxes}\"]\n"));
    // What was given before is taken away, whoever looks and however the folder is named.
    let why = format!("{taxes} is forbidden here").replace(&taxes, &file);
    env.run("editor.replace('open', 'opened', in='b.txt')")
        .exits(6)
        .has(&why)
        .has("pipemux end editor/main");
    env.pipemux(&["view", "editor"]).lacks("known").has("forbidden here");
    env.pipemux(&["ask", "editor.outline('b.txt')"]).lacks("known");
    env.pipemux(&["end", "editor/main"]).ok();
    env.run("editor.replace('open', 'opened', in='b.txt')").ok();
    env.run(&format!("editor.replace('known', 'x', in='{file}')")).exits(9).has(&why);
    std::os::unix::fs::symlink(&taxes, env.path("link")).expect("a link");
    env.run("editor.replace('known', 'x', in='link/2026/a.txt')").lacks("1 match");
    env.pipemux(&["open", "editor/2", "link/2026/a.txt"]).lacks("known");
    env.pipemux(&["view"]).lacks("known");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "known\n");
    // A mistake elsewhere in the rules, or their loss, drops none unsaid.
    decide(&env, "");
    env.pipemux(&["open", "editor/3", &file]).exits(9).lacks("known");
    env.run("editor.replace('opened', 'x', in='b.txt')").exits(9).has("may be being written");
    decide(&env, &format!("[files]\nforbidden = [\"{taxes}\"]\n[terminal]\nask = \"git push\"\n"));
    env.pipemux(&["open", "editor/3", &file]).exits(9).lacks("known");
    decide(&env, "[files]\nforbidden = [\"~/tax*\"]\n");
    env.run("editor.replace('open', 'x', in='b.txt')").exits(9).has("without patterns");
    env.pipemux(&["open", "editor/3", &file]).exits(9).lacks("known");
    decide(&env, &format!("[files]\nforbidden = [\"{taxes}\"]\n"));
    // Nor is a folder that contains it.
    let within =
        |args: &[&str]| env.command(args).current_dir(env.root().join("taxes/2026")).output();
    within(&["run", "terminal.run('cat a.txt')"]).exits(9).lacks("known");
    let above = |args: &[&str]| env.command(args).current_dir(env.root().to_owned()).output();
    above(&["run", "terminal.run('cat taxes/2026/a.txt')"]).exits(9).has("which is forbidden here");
    let rules = env.root().join("home/.config/pipemux/config.toml");
    std::fs::rename(&rules, rules.with_extension("aside")).expect("the rules");
    env.run("editor.replace('opened', 'open', in='b.txt')").ok().has("are gone with the file");
    // Of rules that could never be read nobody knows what they forbid.
    decide(&env, "[files\n");
    env.kill_daemon();
    env.pipemux(&["open", "editor/4", &file]).exits(9).lacks("known");
}
