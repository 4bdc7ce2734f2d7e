//! Secrets in the environment of whoever starts the daemon or opens an app.

use std::fs;
use std::path::Path;

use pipemux_tests::TestEnv;

const SECRET: &str = "wJalrXUtnFEMI-secret-value";

/// Returns what holds the secret: the environments of all processes of the daemon, and all files of
/// its state.
fn holders(env: &TestEnv) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    let mut found = Vec::new();
    for process in env.processes() {
        if fs::read(format!("/proc/{}/environ", process.pid)).is_ok_and(|bytes| holds(&bytes)) {
            found.push(process.command);
        }
    }
    walk(&env.paths().state_dir, &mut |path| {
        if fs::read(path).is_ok_and(|bytes| holds(&bytes)) {
            found.push(path.display().to_string());
        }
    });
    found
}

fn walk(directory: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => walk(&path, visit),
            path => visit(&path),
        }
    }
}

#[test]
fn secret_of_the_starter_reaches_no_process_and_no_file() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "tame");
    let with_secret = |args: &[&str]| {
        env.command(args)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("PIPEMUX_READER_TOKEN", SECRET)
            .output()
    };
    with_secret(&["open", "rogue"]).ok();
    with_secret(&["open", "editor", "a.txt"]).ok();
    let processes = env.processes();
    let runs = |part: &str| processes.iter().any(|process| process.command.contains(part));
    assert!(runs("pipemuxd serve") && runs("pipemuxd launcher") && runs("rogue"), "{processes:?}");
    with_secret(&["run", "rogue.misbehave('shell cat /proc/$PPID/environ /proc/self/environ | tr \"\\\\0\" \"\\\\n\" | grep -c wJalr')"])
        .ok();
    with_secret(&["view", "rogue/main"]).ok().has("\n0\n");
    assert_eq!(holders(&env), Vec::<String>::new());
    with_secret(&["restart", "rogue/main"]).ok();
    env.pipemux(&["down"]).ok();
    assert_eq!(holders(&env), Vec::<String>::new());
}

#[test]
fn daemon_that_is_started_by_hand_sheds_its_environment() {
    let env = TestEnv::new();
    let daemon = pipemux_tests::programs::program("pipemuxd").display().to_string();
    let started = env
        .shell(&format!("{daemon} serve </dev/null 2>/dev/null | head -n 1"))
        .env("GITHUB_TOKEN", SECRET)
        .start();
    pipemux_tests::wait_for("the daemon serves", || {
        !env.pipemux(&["status"]).text().contains("not running")
    });
    let of_daemon = holders(&env).into_iter().filter(|holder| holder.starts_with(&daemon));
    assert_eq!(of_daemon.collect::<Vec<_>>(), Vec::<String>::new());
    env.pipemux(&["down"]).ok();
    let _ = started.finish();
}

#[test]
fn passed_secret_reaches_only_its_app_and_is_passed_again_after_a_loss() {
    let env = TestEnv::new();
    let more = "args = [\"tame\"]\ndescription = \"tame\"\npass = [\"GITHUB_TOKEN\"]\n";
    env.install("rogue", "rogue", more);
    let open = || env.command(&["open", "rogue"]).env("GITHUB_TOKEN", SECRET).output();
    open().ok();
    let holders_now = holders(&env);
    assert!(matches!(holders_now.as_slice(), [app] if app.contains("rogue")), "{holders_now:?}");
    env.kill_daemon();
    env.pipemux(&["view"])
        .ok()
        .has("Started without GITHUB_TOKEN: its value is kept in memory only")
        .has("pass again: pipemux open rogue/main && pipemux restart rogue/main");
    assert_eq!(holders(&env), Vec::<String>::new());
    env.run("rogue.misbehave('env GITHUB_TOKEN')").has("GITHUB_TOKEN is nothing");
    open().ok().has("GITHUB_TOKEN changed");
    env.pipemux(&["restart", "rogue/main"]).ok();
    let holders_now = holders(&env);
    assert!(matches!(holders_now.as_slice(), [app] if app.contains("rogue")), "{holders_now:?}");
}
