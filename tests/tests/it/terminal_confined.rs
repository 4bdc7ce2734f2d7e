//! What holds commands: the kernel, to what they may write, and a person's rules.

use std::fs;
use std::path::Path;

use pipemux_tests::{TestClient, TestEnv};

use crate::terminal::{confining, decide};

#[test]
fn command_writes_to_its_workspace_and_what_it_was_refused_is_told() {
    let env = confining();
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = elsewhere.path().join("file");
    let home = env.root().join("home");
    fs::write(home.join(".bashrc"), "kept").expect("a file");
    env.run("terminal.run('mkdir -p a && echo x > a/b && cat a/b')").ok().has("exit 0\n```\nx");
    let temporary = env.run("terminal.run('echo x > $(mktemp) && echo made')");
    temporary.ok().has("made");

    let write = format!("terminal.run('echo x > {}')", file.display());
    let refused = env.run(&write);
    refused.ok().has("exit 1").has("Permission denied").has(&format!(
        "{} is outside of what commands may write to; a person allows it: write = [\"{}\"] below [terminal] in \
         ~/.config/pipemux/config.toml",
        file.display(),
        elsewhere.path().display()
    ));
    let state = env.paths().state_dir.join("state.log");
    for path in [home.join(".bashrc"), state.clone(), env.paths().socket] {
        let attempt =
            format!("terminal.run('(setsid sh -c \"echo x >> {0}\"); rm -f {0}')", path.display());
        env.run(&attempt).ok().lacks("exit 0");
        assert!(path.exists(), "{}", path.display());
    }
    assert_eq!(fs::read_to_string(home.join(".bashrc")).expect("a file"), "kept");
    // A person decides otherwise, and the next command is held to that.
    decide(
        &env,
        &format!("confine = \"workspace\"\nwrite = [\"{}\"]\n", elsewhere.path().display()),
    );
    env.run(&write).ok().has("exit 0");
    fs::remove_file(&file).expect("a file");
    decide(&env, "confine = \"off\"\n");
    env.run(&write).ok().has("exit 0");
    assert!(file.exists());
}

#[test]
fn command_can_not_change_what_holds_it() {
    let env = confining();
    let config = env.root().join("home/.config/pipemux/config.toml");
    let line = format!("terminal.run('echo > {}')", config.display());
    env.run(&line).ok().has("exit 1").has("Permission denied");
    env.run("terminal.run('rm -rf ~/.config')").ok().has("exit 1");
    assert!(config.exists());
    // A call's variables change nothing of it.
    let call = "terminal.run('echo > \"$TARGET\"', env={'TARGET': '%', 'HOME': '/', 'CI': 'true', 'PIPEMUX_CONFIG_DIR': '/'})";
    env.run(&call.replace('%', &config.display().to_string())).ok().has("exit 1");
}

#[test]
fn home_as_a_workspace_says_what_is_protected() {
    let env = confining();
    let home = env.root().join("home");
    for name in [".ssh", "notes"] {
        fs::create_dir_all(home.join(name)).expect("a folder");
    }
    let run = |line: &str| {
        env.command(&["--workspace", "at-home", "run", line]).current_dir(home.clone()).output()
    };
    let first = run("terminal.run('echo x > notes/a')");
    first.ok().has("exit 0").has("; commands can't write to .config, ").has(".ssh in ~/");
    run("terminal.run('touch .ssh/x')").ok().has("exit 1");
    assert!(!home.join(".ssh/x").exists());
}

#[test]
fn persons_rules_decide() {
    let env = TestEnv::new();
    decide(&env, "confine = \"workspace\"\nask = [\"mkdir\", \"git push\"]\ndeny = [\"rm\"]\n");
    env.run("terminal.run('echo hello')").ok().has("hello");
    for line in ["rm x", "echo a; rm x", "echo $(rm x)"] {
        let refused = env.run(&format!("terminal.run('{line}')"));
        refused.exits(9).has("it never runs: deny = [\"rm\"] in ~/.config/pipemux/config.toml");
    }
    for line in ["sh -c \"rm x\"", "$RM x"] {
        env.run(&format!("terminal.run('{line}')")).exits(9).has("don't tell whether it is meant");
    }
    // Nothing of a call runs before all of it may.
    env.run("terminal.run(['touch early', 'rm -r b'])").exits(9).has("rm -r b: it never runs");
    assert!(!env.path("early").exists());
    // A person allows exactly this line; no words of the agent do.
    let asked = env.run("terminal.run('mkdir made')");
    asked.exits(9).has("a person allows it each time: ask = [\"mkdir\"]").has("pipemux consent");
    env.pipemux(&["answer", "1"]).exits(3);
    env.pipemux(&["consent"]).ok().has("terminal asks to run mkdir made").has("runs: mkdir made");
    TestClient::new(&env, None, "person").allow_all();
    env.run("terminal.run('mkdir made')").ok().has("exit 0");
    assert!(env.path("made").exists());
    env.run("terminal.run('mkdir made other')").exits(9);
    env.run("terminal.run('mkdir made', env={'A': 'b'})").exits(9);
    env.run("terminal.restart('mkdir made')").ok().has("exit 1");
    env.run("terminal.run('git -C . push')").exits(9).has("ask = [\"git push\"]");

    decide(&env, "alow = []\n");
    env.run("terminal.run('echo hello')").exits(9).has("config.toml: line 2: unknown field `alow`");
    // What an earlier release read is not passed over.
    decide(&env, "");
    let old = env.root().join("home/.config/pipemux/terminal.toml");
    fs::write(&old, "allow = [\"*\"]\ndeny = [\"touch\"]\n").expect("a file");
    env.run("terminal.run('touch x')").exits(9).has("terminal.toml isn't read any more");
    fs::write(&old, "allow = [\"*\"]\n").expect("a file");
    env.run("terminal.run('touch x')").ok();
}

#[test]
fn where_the_machine_is_the_agents_nothing_is_confined_and_it_is_said() {
    let env = TestEnv::new();
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = elsewhere.path().join("file");
    let line = format!("terminal.run('echo x > {}')", file.display());
    let first = env.command(&["run", &line]).env("CI", "true").output();
    first
        .ok()
        .has("exit 0")
        .has("; commands aren't confined, since ")
        .has("confine = \"workspace\"");
    assert!(file.exists());
    // What this goes by reaches the app with the first call, without an `open`.
    let run = env.command(&["run", "terminal.run('echo ci=$CI')"]).env("CI", "true").output();
    run.ok().has("ci=true");
    decide(&env, "confine = \"workspace\"\n");
    env.run(&line).ok().has("exit 1");
}

#[test]
fn worktree_and_its_repository_are_written_to() {
    let env = confining();
    let git = "git -c user.name=a -c user.email=b@c";
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let main = elsewhere.path();
    let set = format!(
        "git init -q . && {git} commit -q --allow-empty -m x && git worktree add -q {}",
        env.project().join("tree").display()
    );
    let made = std::process::Command::new("sh").args(["-c", &set]).current_dir(main).output();
    assert!(made.as_ref().is_ok_and(|made| made.status.success()), "{made:?}");
    let tree = env.project().join("tree");
    let commit = |folder: &Path| {
        let line = format!(
            "terminal.run('echo x > f && git add . && {git} commit -q -m y && git log --oneline')"
        );
        env.command(&["--workspace", "tree", "run", &line]).current_dir(folder.to_owned()).output()
    };
    commit(&tree).ok().has("exit 0");
}

/// Landlock lets a process look into those of its own domain, thread by thread: a thread of the app
/// in a command's domain would be the way out.
#[test]
fn command_reaches_the_memory_of_no_process_outside() {
    let env = confining();
    let script = r"
import os
for pid in filter(str.isdigit, os.listdir('/proc')):
    try:
        name = open(f'/proc/{pid}/cmdline').read().split('\0')[0]
        threads = os.listdir(f'/proc/{pid}/task')
    except OSError:
        continue
    if 'pipemux' not in name:
        continue
    for thread in threads:
        of = f'/proc/{pid}/task/{thread}/'
        try:
            # A root user may read what is mapped, but not open the memory to write. Of a process that has ended it is empty.
            first = int(open(of + 'maps').readline().split('-')[0] or '0', 16)
            if first and os.pread(os.open(of + 'mem', os.O_RDWR), 8, first):
                print('REACHED', name, of)
        except (OSError, ValueError):
            pass
print('tried')
";
    env.write("reach.py", script);
    for _ in 0..2 {
        env.run("terminal.run('python3 reach.py')").ok().has("tried").lacks("REACHED");
    }
    // A domain is entered by giving up new privileges: none of the app's threads has.
    let app =
        env.processes().into_iter().find(|process| process.command.contains("pipemux-terminal"));
    let tasks = format!("/proc/{}/task", app.expect("the app").pid);
    for task in fs::read_dir(tasks).expect("threads") {
        let path = task.expect("a thread").path().join("status");
        let status = fs::read_to_string(path).unwrap_or_default();
        assert!(!status.contains("NoNewPrivs:\t1"), "{status}");
    }
}

/// A variable that has a program load code is no way to run it before the confinement.
#[test]
fn code_that_a_variable_names_is_confined() {
    let env = confining();
    let mark = env.root().join("home/.bashrc");
    let source = format!(
        "#include <fcntl.h>\n#include <unistd.h>\n__attribute__((constructor)) static void f(void) {{\n  int fd = open(\"{}\", O_WRONLY | O_CREAT, 0644);\n  if (fd >= 0) {{ write(fd, \"x\", 1); close(fd); }}\n}}\n",
        mark.display()
    );
    env.write("evil.c", source);
    env.run("terminal.run('cc -shared -fPIC -w -o evil.so evil.c')").ok().has("exit 0");
    let evil = env.path("evil.so").display().to_string();
    let call = format!("terminal.run('/bin/true', env={{'LD_PRELOAD': '{evil}'}})");
    env.run(&call).ok().has("exit 0");
    assert!(!mark.exists());
    decide(&env, "confine = \"off\"\n");
    env.run(&call).ok().has("exit 0");
    assert!(mark.exists(), "the library does nothing");
}
