//! What a confined app can't do, and how its user gives it more.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use pipemux_tests::{Output, TestEnv};

/// An environment with a secret in its home directory, a file outside of the project, and apps of
/// each level.
fn with_secret() -> TestEnv {
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    for (name, text) in
        [("home/.ssh/id", "secret"), ("home/.ssh/gone", ""), ("other/b.txt", "two\n")]
    {
        let path = env.root().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    for level in ["standard", "strict", "off"] {
        env.install(level, "rogue", &format!("args = [\"tame\"]\nsandbox = \"{level}\"\n"));
    }
    env
}

/// True if this system confines files and signals; an older kernel confines less, and `status` says
/// what.
fn confines_all(env: &TestEnv) -> bool {
    env.pipemux(&["up"]).ok();
    env.pipemux(&["status"])
        .text()
        .contains("sandbox confines files, network, sockets, tracing, signals (")
}

/// Has an app try everything, and returns what came of each attempt.
fn attempts(env: &TestEnv, level: &str) -> Vec<(String, String)> {
    env.pipemux(&["open", level]).ok();
    env.run(&format!("{level}.misbehave('break out')")).ok().has("tried");
    let text = fs::read_to_string(state_dir(env, level).join("attempts")).expect("what it tried");
    let split = |line: &str| {
        let (attempt, outcome) = line.rsplit_once(": ").expect("an attempt and its outcome");
        (attempt.to_owned(), outcome.to_owned())
    };
    text.lines().map(split).collect()
}

/// The directory of an app's only session.
fn state_dir(env: &TestEnv, provider: &str) -> PathBuf {
    let owners = fs::read_dir(env.paths().state_dir.join("sessions")).expect("sessions");
    let mut found = owners.map(|owner| owner.expect("an entry").path().join(provider).join("main"));
    found.find(|path| path.exists()).expect("a session's directory")
}

#[test]
fn hostile_app_gets_nowhere() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    let (standard, strict) = (attempts(&env, "standard"), attempts(&env, "strict"));
    let width = standard.iter().map(|(attempt, _)| attempt.len()).max().unwrap_or_default();
    let mut table = format!("{:width$}  standard  strict\n", "attempt");
    for ((attempt, first), (_, second)) in standard.iter().zip(&strict) {
        table += &format!("{attempt:width$}  {first:8}  {second}\n");
    }
    insta::assert_snapshot!(table);
    // Nothing that was refused took effect.
    assert_eq!(fs::read_to_string(env.root().join("home/.ssh/id")).unwrap(), "secret");
    assert!(!env.path("new.txt").exists());
    assert!(!env.root().join("home/.config/pipemux/apps/evil.toml").exists());
    assert!(env.root().join("home/.ssh/gone").exists());
    let mode = fs::metadata(env.root().join("home/.ssh/id")).unwrap().permissions().mode();
    assert_eq!(
        mode & 0o777,
        0o600,
        "changing a mode by a path is refused at the strict level only"
    );
}

/// What reaches the kernel at the strict level, by number: no more than `allowed.rs` of the
/// launcher lists by name.
#[cfg(target_arch = "x86_64")]
const REACHED_STRICT: &str = "0-14 16-28 32-33 35-40 42-52 54-55 61-63 72-89 91 93 95-100 102 104 107-112 115 118 \
    120-129 131 133 137-138 140-152 157-158 160 162 186-187 190-196 199-201 203-204 206-210 \
    213 217-218 221-226 228-230 232-234 237-239 247 251-252 254-255 257-259 262-267 269-271 \
    273-278 281-293 295-297 299 306-307 309 314-319 324-332 334-336 424 434 436-437 439 441 \
    444-446 449 451 454-456 462 464-465 468";
/// What is refused at the ordinary level, by number.
#[cfg(target_arch = "x86_64")]
const REFUSED_STANDARD: &str = "59 101 103 155 161 163 165-169 175-176 246 248-250 253 294 298 300 304 308 310-313 \
    321 323 428-430 433 438 440 442 448";

/// The numbers that a list of ranges has.
#[cfg(target_arch = "x86_64")]
fn numbers(ranges: &str) -> std::collections::BTreeSet<u32> {
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => number(first)..=number(last),
        None => number(text)..=number(text),
    };
    ranges.split_whitespace().flat_map(range).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn of_all_system_calls_only_known_ones_reach_the_kernel() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    let found = |level: &str, outcome: &str| {
        let told = fs::read_to_string(state_dir(&env, level).join("calls")).expect("the calls");
        let line = told.lines().find_map(|line| line.strip_prefix(outcome)?.strip_prefix(": "));
        numbers(line.unwrap_or_default())
    };
    for level in ["standard", "strict"] {
        env.pipemux(&["open", level]).ok();
        env.pipemux(&["run", &format!("{level}.misbehave('try every call')"), "--timeout", "120"])
            .ok()
            .has("tried");
    }
    // An older kernel has fewer calls.
    let reached = found("strict", "reached the kernel");
    let (known, refused) = (numbers(REACHED_STRICT), numbers(REFUSED_STANDARD));
    let more: Vec<_> = reached.difference(&known).collect();
    assert!(more.is_empty() && reached.len() > 100, "{more:?}");
    let passed = found("standard", "reached the kernel");
    let less: Vec<_> = passed.intersection(&refused).collect();
    assert!(less.is_empty() && passed.len() > reached.len(), "{less:?}");
}

#[test]
fn refusal_names_the_sandbox_and_what_grants_more() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    env.pipemux(&["open", "standard"]).ok();
    let secret = env.root().join("home/.ssh/id").display().to_string();
    let read = |env: &TestEnv, path: &str| env.run(&format!("standard.misbehave('read {path}')"));
    read(&env, &env.path("a.txt").display().to_string()).ok().has("4 bytes");
    read(&env, &secret)
        .exits(1)
        .has("standard/main runs in the sandbox (standard)")
        .has(&format!("read = [\"{secret}\"]"));
    // What the message says works.
    env.install("standard", "rogue", &format!("args = [\"tame\"]\nread = [\"{secret}\"]\n"));
    env.pipemux(&["apps"]).ok().has(&format!("read {secret}"));
    env.pipemux(&["restart", "standard"]).ok();
    read(&env, &secret).ok().has("6 bytes");
}

#[test]
fn grant_with_pipemux_own_directories_is_left_out() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    // The project is the home directory, which contains the state and the manifests.
    let home = env.root().join("home");
    fs::write(home.join("a.txt"), "one\n").unwrap();
    fs::create_dir(home.join("docs")).unwrap();
    fs::write(home.join("docs/c.txt"), "three\n").unwrap();
    let at_home = |args: &[&str]| env.command(args).current_dir(home.clone()).output();
    at_home(&["open", "standard"]).ok();
    let path = home.join("a.txt").display().to_string();
    at_home(&["run", &format!("standard.misbehave('read {path}')")]).exits(1);
    assert!(env.daemon_log().contains("which is PipeMux's own"), "{}", env.daemon_log());
    // The editor gets it all the same: nothing can be taken out of a directory, and files must be
    // made in it.
    at_home(&["open", "editor", "docs/c.txt"]).ok().has("three");
    at_home(&[
        "run",
        "editor.replace('three', '3'); editor.open('a.txt'); editor.replace('one', '1')",
    ])
    .ok();
    assert_eq!(fs::read_to_string(home.join("docs/c.txt")).unwrap(), "3\n");
    assert_eq!(fs::read_to_string(home.join("a.txt")).unwrap(), "1\n");
    at_home(&["run", "editor.open('new.txt'); editor.insert(1, 'n')"]).ok();
    assert_eq!(fs::read_to_string(home.join("new.txt")).unwrap(), "n\n");
}

#[test]
fn pipemux_own_directories_are_not_granted_by_being_named() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let log = env.paths().state_dir.join("state.log");
    env.run(&format!("editor.open('{}')", log.display()))
        .exits(9)
        .has("PipeMux's own directories are granted to no app");
}

#[test]
fn no_edit_reaches_the_rules_of_the_person_also_where_the_home_directory_is_granted() {
    let env = with_secret();
    let config = env.root().join("home/.config/pipemux");
    fs::create_dir_all(&config).unwrap();
    let rules = config.join("config.toml");
    fs::write(&rules, "[terminal]\ndeny = [\"curl\"]\n").unwrap();
    std::os::unix::fs::symlink(&config, env.path("link")).unwrap();
    // A file beside is named, which grants the home directory as a whole.
    let beside = env.root().join("home/a.txt").display().to_string();
    env.run(&format!("editor.create('{beside}', 'one')")).ok();
    let named = rules.display();
    let deleted = format!("*** Begin Patch\\n*** Delete File: {named}\\n*** End Patch");
    for edit in [
        format!("editor.replace('curl', 'no', in='{named}')"),
        "editor.replace('curl', 'no', in='link/config.toml')".into(),
        format!("editor.create('{}', 'id = \"x\"')", config.join("apps/x.toml").display()),
        format!("editor.create('{named}', '', overwrite=true)"),
        format!("editor.apply('{deleted}')"),
        format!("editor.move('a.txt:1', at_end_of='{named}')"),
        format!("memotree.add('a', 'b'); memotree.export('{named}', overwrite=true)"),
    ] {
        let output = env.run(&edit);
        assert_ne!(output.exit, 0, "{edit}: {output}");
        assert_eq!(
            fs::read_to_string(&rules).unwrap(),
            "[terminal]\ndeny = [\"curl\"]\n",
            "{edit}"
        );
    }
    assert!(!config.join("apps/x.toml").exists());
    // Settings that are kept elsewhere are as safe there.
    let kept = env.path("settings.toml");
    fs::rename(&rules, &kept).unwrap();
    std::os::unix::fs::symlink(&kept, &rules).unwrap();
    env.run("editor.replace('curl', 'no', in='settings.toml')").exits(1).has("PipeMux's own");
    assert!(env.read("settings.toml").contains("curl"));
}

#[test]
fn naming_a_folder_grants_it_and_the_session_goes_on() {
    let env = with_secret();
    let other = env.root().join("other/b.txt").display().to_string();
    env.pipemux(&["open", "editor", "a.txt"]).ok().has("one");
    env.run("editor.replace('one', '1')").ok();
    // In a call.
    env.run(&format!("editor.open('{other}'); editor.replace('two', '2')")).ok().lacks("restarted");
    assert_eq!(fs::read_to_string(&other).unwrap(), "2\n");
    // Line numbers, changes and anchors from before the process was replaced still count.
    env.run("editor.open('a.txt'); editor.undo(steps=2)").ok();
    assert_eq!(
        (env.read("a.txt"), fs::read_to_string(&other).unwrap()),
        ("one\n".into(), "two\n".into())
    );
    // By a further open.
    let third = env.root().join("third");
    fs::create_dir(&third).unwrap();
    fs::write(third.join("c.txt"), "three\n").unwrap();
    let path = third.join("c.txt").display().to_string();
    env.pipemux(&["open", "editor", &path]).ok().has("three").lacks("restarted");
    env.run("editor.replace('three', '3')").ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
    // And after the daemon was lost.
    env.kill_daemon();
    env.run(&format!("editor.open('{other}'); editor.replace('two', '2')")).ok();
    assert_eq!(fs::read_to_string(&other).unwrap(), "2\n");
}

#[test]
fn app_of_the_users_own_is_granted_a_folder_by_an_open_only() {
    let env = with_secret();
    if !confines_all(&env) {
        return;
    }
    let other = env.root().join("other/b.txt").display().to_string();
    let read =
        |env: &TestEnv| -> Output { env.run(&format!("standard.misbehave('read {other}')")) };
    env.pipemux(&["open", "standard"]).ok();
    read(&env).exits(1);
    env.pipemux(&["open", "standard", &other]).ok();
    read(&env).ok().has("4 bytes");
}
