//! Durability: a killed daemon, a damaged state file and a full disk.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use pipemux_tests::output::leading_id;
use pipemux_tests::{Output, SeededRandom, Signal, TestEnv, kill, wait_for, wait_until};

/// Kills the daemon, and each one that a client still starts meanwhile, without a command that
/// would start one.
fn kill_running_daemon(env: &TestEnv) {
    wait_for("all processes have ended", || {
        let all = env.processes();
        for daemon in all.iter().filter(|one| one.command.contains("pipemuxd serve")) {
            kill(daemon.pid, Signal::SIGKILL);
        }
        all.is_empty()
    });
}

fn state_length(env: &TestEnv) -> u64 {
    fs::metadata(env.paths().state_dir.join("state.log")).map_or(0, |found| found.len())
}

/// Returns all objects, such as `[label](obj:7)`, by id.
fn things(output: &Output) -> BTreeMap<u64, String> {
    let text = output.text();
    let mut found = BTreeMap::new();
    for (at, mark) in text.match_indices("](obj:") {
        let id = leading_id(&text[at + mark.len()..]);
        let label = text[..at].rsplit('[').next().unwrap_or_default();
        found.extend(id.map(|id| (id, label.to_owned())));
    }
    found
}

#[test]
fn answered_runs_survive_a_daemon_killed_at_any_moment() {
    let env = TestEnv::new();
    let mut random = SeededRandom::new(20_261_122, 0);
    let mut answered: Vec<String> = Vec::new();
    let mut asked = 0;
    let mut epoch = 0;
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    env.pipemux(&["open", "notebook"]).ok();
    for round in 0..10 {
        let length = state_length(&env);
        let grown = length + random.below(1_500) as u64;
        let acts: Vec<_> = (0..3)
            .map(|number| {
                asked += 1;
                let title = format!("note-{asked}");
                let act = env.command(&["run", &format!("notebook.add('{title}', 'x')")]);
                (title, act.reader(&format!("reader {number}")).start())
            })
            .collect();
        // The daemon is killed during these runs or after them.
        wait_for("the state has grown, or the runs have ended", || {
            let ended = acts.iter().all(|(_, act)| !act.is_running());
            ended || state_length(&env) >= grown
        });
        kill_running_daemon(&env);
        for (title, act) in acts {
            let ended = act.finish();
            match ended.exit {
                0 => answered.push(title),
                // The outcome is unknown, or the request was not delivered: both are reported.
                6..=8 => {}
                _ => panic!("round {round}: {ended}"),
            }
        }
        let seen = env.pipemux(&["view", "--lod", "full"]);
        assert!(seen.ok().epoch() >= epoch, "e{epoch} before: {seen}");
        epoch = seen.epoch();
        for (id, label) in things(&seen) {
            let before = ids.entry(id).or_insert_with(|| label.clone());
            assert_eq!(*before, label, "obj:{id} was given again: {seen}");
        }
    }
    assert!(!answered.is_empty(), "no act was ever answered");
    let history = env.pipemux(&["history", "--rounds", "1000"]);
    let kept = env.pipemux(&["view", "--lod", "full", "--budget", "20000"]);
    for title in &answered {
        let call = format!("add('{title}', 'x')");
        assert_eq!(history.ok().text().matches(&call).count(), 1, "{title} in {history}");
    }
    for number in 1..=asked {
        let shown = kept.text().matches(&format!("[note-{number}](")).count();
        let was_answered = answered.contains(&format!("note-{number}"));
        assert!(shown <= 1 && (shown == 1 || !was_answered), "note-{number} in {kept}");
    }
    let state_dir = env.paths().state_dir;
    assert!(!state_dir.join("state.log.bad-1").exists(), "{}", env.daemon_log());
}

#[test]
fn damaged_state_is_set_aside_and_ids_go_on() {
    type Damage = fn(&std::path::Path);
    let damages: [(&str, Damage); 4] = [
        ("a byte in the middle", |path| {
            let mut bytes = fs::read(path).expect("the state");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x10;
            fs::write(path, bytes).expect("the state");
        }),
        ("nothing in it", |path| fs::write(path, "").expect("the state")),
        ("a directory", |path| {
            fs::remove_file(path).and_then(|()| fs::create_dir(path)).expect("a directory");
        }),
        ("a newer release", |path| fs::write(path, "pipemux state 9\nx").expect("the state")),
    ];
    let env = TestEnv::new();
    let mut highest = 0;
    let mut epoch = 0;
    for (number, (what, damage)) in damages.iter().enumerate() {
        env.pipemux(&["open", "notebook"]).ok();
        let title = format!("kept {number}");
        let added = env.run(&format!("notebook.add('{title}', 'x')"));
        highest = highest.max(added.ok().objects().into_iter().max().unwrap_or(0));
        epoch = epoch.max(added.epoch());
        kill_running_daemon(&env);
        damage(&env.paths().state_dir.join("state.log"));

        let opened = env.pipemux(&["open", "notebook"]);
        opened.ok().has("saved state was damaged").has("pipemux history").has(&title);
        assert!(opened.epoch() > epoch, "{what}: e{epoch} before: {opened}");
        env.pipemux(&["view"]).ok().lacks("saved state was damaged");
        env.pipemux(&["status"]).ok().has("saved state was damaged");
        let aside = format!("state.log.bad-{}", number + 1);
        assert!(env.paths().state_dir.join(&aside).exists(), "{what}: no {aside}");
        let added = env.run(&format!("notebook.add('new {number}', 'x')"));
        let new = added.ok().obj(&format!("new {number}"));
        assert!(new > highest, "{what}: obj:{new} after {highest}");
        highest = new;
        epoch = added.epoch();
    }
}

#[test]
fn edits_of_a_run_that_a_killed_daemon_cut_off_are_told_and_taken_back() {
    let env = TestEnv::new();
    env.write("a.txt", "one\ntwo\n");
    env.shell("mkfifo held").output().ok();
    let code = "editor.replace('one', 'ONE', in='a.txt'); terminal.run('touch begun; cat held')";
    let run = env.command(&["run", code]).start();
    wait_for("the command runs", || env.path("begun").exists());
    kill_running_daemon(&env);
    run.finish().exits(7);
    env.pipemux(&["history"])
        .ok()
        .has("1. ")
        .has("run unknown: the daemon was lost meanwhile; replace done")
        .has("(exit 7)");
    env.pipemux(&["who", "a.txt"]).ok().has("1. ");
    env.pipemux(&["undo"]).ok().has("undo of editor.replace");
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
}

/// Simulates a full disk: the daemon's files can't grow beyond this size.
#[cfg(target_os = "linux")]
fn limit_files(daemon: i32, bytes: &str) {
    let limit = format!("--fsize={bytes}:unlimited");
    let done = Command::new("prlimit").args(["--pid", &daemon.to_string(), &limit]).status();
    assert!(done.is_ok_and(|status| status.success()), "prlimit {limit}");
}

#[cfg(target_os = "linux")]
#[test]
fn record_truncated_by_a_full_disk_damages_no_other() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('before', 'x')").ok();
    let daemon = env.daemon_pid();
    for room in [0, 1, 7, 30, 61] {
        let full = state_length(&env) + room;
        limit_files(daemon, &full.to_string());
        // The first run may have begun before the daemon notices that the disk is full.
        let refused = wait_until("a run is refused", || {
            let act = env.run("notebook.add('meanwhile', 'x')");
            assert!(matches!(act.exit, 0 | 9), "{act}");
            (act.exit == 9).then_some(act)
        });
        refused.has("can't write its state down");
        env.pipemux(&["view"]).ok().has("before");
        env.run("notebook.search('before')").ok().has("before");
        limit_files(daemon, "unlimited");
        wait_for("a run is done", || {
            let act = env.run(&format!("notebook.add('after {room}', 'x')"));
            act.exit == 0
        });
    }
    let history = env.pipemux(&["history", "--rounds", "1000"]);
    kill_running_daemon(&env);
    let again = env.pipemux(&["history", "--rounds", "1000"]);
    assert_eq!(again.ok().text(), history.ok().text());
    history.has("after 61");
    assert!(!env.paths().state_dir.join("state.log.bad-1").exists(), "{}", env.daemon_log());
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_lets_only_one_of_two_concurrent_runs_begin() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('before', 'x')").ok();
    let daemon = env.daemon_pid();
    // Both requests wait in their sockets while the daemon is stopped, so it reads them in one
    // turn.
    kill(daemon, Signal::SIGSTOP);
    let acts: Vec<_> = ["a", "b"]
        .map(|reader| env.command(&["run", "notebook.add('now', 'x')"]).reader(reader).start())
        .into();
    let waits = |process: &pipemux_tests::Process| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
        process.command.contains("notebook.add('now'") && stat.contains(") S ")
    };
    wait_for("both runs wait for their answers", || {
        env.processes().iter().filter(|one| waits(one)).count() == 2
    });
    limit_files(daemon, &state_length(&env).to_string());
    kill(daemon, Signal::SIGCONT);
    let mut exits: Vec<i32> = acts.into_iter().map(|act| act.finish().exit).collect();
    exits.sort_unstable();
    assert_eq!(exits, [0, 9]);
    limit_files(daemon, "unlimited");
}

#[test]
fn daemon_log_is_rotated_while_it_runs() {
    let env = TestEnv::new();
    let log = env.paths().log;
    let kept = log.with_extension("log.1");
    let long = "something that was printed\n".repeat(45_000);
    fs::create_dir_all(log.parent().expect("a directory")).expect("a directory");
    fs::write(&log, &long).expect("a log");
    env.pipemux(&["up"]).ok();
    wait_for("the log was rotated", || env.daemon_log().contains("serves"));
    assert_eq!(fs::read_to_string(&kept).expect("the log before"), long);

    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("a log");
    std::io::Write::write_all(&mut file, long.as_bytes()).expect("a log");
    env.pipemux(&["down"]).ok();
    wait_for("the log was rotated", || env.daemon_log().is_empty());
    let before = fs::read_to_string(&kept).expect("the log before");
    assert!(before.contains("serves") && before.ends_with("stopped\n"), "{} bytes", before.len());
}
