//! Files of a daemon that are removed, moved or cut, while it runs and while it is stopped.

use std::fs;
use std::path::PathBuf;

use pipemux_tests::output::leading_id;
use pipemux_tests::{Signal, TestEnv, kill, wait_for};

fn state_file(env: &TestEnv, name: &str) -> PathBuf {
    env.paths().state_dir.join(name)
}

fn daemons(env: &TestEnv) -> Vec<i32> {
    let all = env.processes().into_iter().filter(|one| one.command.contains("pipemuxd serve"));
    all.map(|one| one.pid).collect()
}

fn kill_daemon(env: &TestEnv) {
    for pid in daemons(env) {
        kill(pid, Signal::SIGKILL);
    }
    env.wait_until_all_ended();
}

/// Adds a note, and returns its id.
#[track_caller]
fn add(env: &TestEnv, title: &str) -> u64 {
    let added = env.run(&format!("notebook.add('{title}', 'x')"));
    let mark = format!("[{title}](obj:");
    let text = added.ok().text();
    let at = text.find(&mark).unwrap_or_else(|| panic!("no {mark} in {added}"));
    leading_id(&text[at + mark.len()..]).expect("an id")
}

#[test]
fn removed_state_file_refuses_acts_until_the_daemon_wrote_it_again() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    add(&env, "first");
    let log = state_file(&env, "state.log");
    fs::remove_file(&log).expect("it is there");
    // At once, not after a while.
    let refused = env.run("notebook.add('second', 'x')");
    refused
        .exits(9)
        .has("state.log was removed, replaced or cut")
        .has("pipemux down && pipemux up");
    env.pipemux(&["status"]).ok().has("acts_refused");
    // Reads and views go on.
    env.pipemux(&["view"]).ok().has("[first](obj:").lacks("second");
    env.pipemux(&["down"]).ok();
    assert!(log.exists(), "{}", env.daemon_log());
    env.pipemux(&["up"]).ok();
    env.pipemux(&["view"]).ok().has("[first](obj:").lacks("saved state");
    add(&env, "second");
}

#[test]
fn state_file_that_was_moved_away_can_be_put_back() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    let (log, aside) = (state_file(&env, "state.log"), state_file(&env, "aside"));
    fs::rename(&log, &aside).expect("it is there");
    env.run("notebook.add('a', 'x')").exits(9);
    fs::rename(&aside, &log).expect("it is there");
    wait_for("acts are taken again", || env.run("notebook.add('b', 'x')").exit == 0);
    env.pipemux(&["history"]).ok().has("add('b', 'x')").lacks("add('a', 'x')");
}

#[test]
fn no_id_is_given_again_when_the_state_file_is_removed_or_cut() {
    type Harm = fn(&TestEnv, u64);
    let harms: [(&str, Harm); 4] = [
        ("removed while it runs, then killed", |env, _| {
            fs::remove_file(state_file(env, "state.log")).expect("it is there");
            // Views still give ids to what they show.
            env.pipemux(&["open", "monitor"]).ok();
            kill_daemon(env);
        }),
        ("removed when it was killed", |env, _| {
            kill_daemon(env);
            fs::remove_file(state_file(env, "state.log")).expect("it is there");
        }),
        ("removed while it is stopped", |env, _| {
            env.pipemux(&["down"]).ok();
            fs::remove_file(state_file(env, "state.log")).expect("it is there");
        }),
        ("cut at the end of a record", |env, length| {
            kill_daemon(env);
            let log = fs::OpenOptions::new().write(true).open(state_file(env, "state.log"));
            log.and_then(|log| log.set_len(length)).expect("it can be cut");
        }),
    ];
    for (what, harm) in harms {
        let env = TestEnv::new();
        env.pipemux(&["open", "notebook"]).ok();
        let length = fs::metadata(state_file(&env, "state.log")).expect("it is there").len();
        let mut highest = add(&env, "first");
        for number in 0..3 {
            highest = highest.max(add(&env, &format!("more {number}")));
        }
        let epoch = env.pipemux(&["view"]).ok().epoch();
        harm(&env, length);
        if what == "removed while it is stopped" {
            // An act that starts the daemon is carried out.
            env.run("notebook.add('first of all', 'x')").ok();
            continue;
        }
        let seen = env.pipemux(&["open", "notebook"]);
        seen.ok().has("the daemon's saved state was");
        assert!(seen.epoch() > epoch, "{what}: e{epoch}, then {seen}");
        let known = seen.text().match_indices("](obj:").count();
        assert_eq!(known, 4, "{what}: apps keep their own data: {seen}");
        let fresh = add(&env, "fresh");
        assert!(fresh > highest, "{what}: obj:{fresh} after obj:{highest}");
        assert!(fresh < 100_000, "{what}: obj:{fresh}: short ids save tokens");
    }
}

#[test]
fn ended_sessions_leave_no_logs_behind() {
    let env = TestEnv::new();
    env.install_rogue("loud", "tame");
    env.install_rogue("broken", "exits");
    let logs = state_file(&env, "logs");
    let length = |provider: &str| -> u64 {
        let owners = fs::read_dir(&logs).into_iter().flatten().flatten();
        let files = owners.flat_map(|owner| fs::read_dir(owner.path()).into_iter().flatten());
        let files = files.flatten();
        let own = files.filter(|file| file.file_name().to_string_lossy().starts_with(provider));
        own.map(|file| file.metadata().map_or(0, |found| found.len())).sum()
    };
    for number in 0..3 {
        let session = format!("loud/s{number}");
        env.pipemux(&["open", &session]).ok();
        let _ = env.run(&format!("{session}.misbehave('print 3')"));
        assert!(length("loud.") > 100_000, "it printed 3 MB");
        env.pipemux(&["end", &session]).ok();
        wait_for("the log is gone", || length("loud.") == 0);
        env.pipemux(&["open", &format!("broken/s{number}")]).exits(6);
    }
    assert!(
        (1..3 * 17_000).contains(&length("broken.")),
        "of a session that can't be opened the end is kept"
    );
}

#[test]
fn discard_removes_nothing_through_a_link() {
    let env = TestEnv::new();
    env.install("scratch", "rogue", "args = [\"tame\"]\nstate = \"discard\"\n");
    env.pipemux(&["open", "scratch"]).ok();
    let sessions = state_file(&env, "sessions");
    let owner = fs::read_dir(&sessions).expect("it is there").next().expect("an owner");
    let provider = owner.expect("an owner").path().join("scratch");
    let outside = env.root().join("outside");
    fs::create_dir_all(outside.join("main")).expect("a directory");
    fs::write(outside.join("main/precious"), "x").expect("a file");
    fs::rename(&provider, env.root().join("aside")).expect("it can be moved");
    std::os::unix::fs::symlink(&outside, &provider).expect("a link");
    env.pipemux(&["end", "scratch"]).ok();
    wait_for("the daemon says that it doesn't follow it", || {
        env.daemon_log().contains("can't remove")
    });
    assert_eq!(fs::read_to_string(outside.join("main/precious")).expect("it is there"), "x");
}

#[test]
fn removed_lock_and_socket_let_no_second_daemon_in() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    let before = daemons(&env);
    let paths = env.paths();
    for round in 0..3 {
        fs::remove_file(&paths.lock).expect("it is there");
        fs::remove_file(&paths.socket).expect("it is there");
        env.run(&format!("notebook.add('{round}', 'x')")).ok();
        assert_eq!(daemons(&env), before, "{}", env.daemon_log());
    }
    wait_for("the lock's file is back", || paths.lock.exists());
    let row = env.pipemux(&["sessions"]);
    row.ok().has("notebook/main");
}

#[test]
fn daemon_whose_directory_was_removed_makes_room_for_another() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    let before = daemons(&env);
    let paths = env.paths();
    // All of it at once: a daemon that writes meanwhile could miss a file before the directory.
    let aside = env.root().join("removed");
    fs::rename(&paths.state_dir, &aside).expect("it is there");
    fs::remove_dir_all(&aside).expect("it is there");
    env.run("notebook.add('a', 'x')")
        .exits(9)
        .has("put the directory back, or begin with a new one");
    fs::remove_file(&paths.socket).expect("it is there");
    wait_for("the old daemon has ended", || !daemons(&env).iter().any(|pid| before.contains(pid)));
    // A first start: nothing is told.
    env.pipemux(&["open", "notebook"]).ok().lacks("saved state");
    assert_eq!(daemons(&env).len(), 1);
}

/// All programs of a user share a number of watches, and others may have taken them.
#[test]
fn daemon_goes_on_without_watches_of_files_and_says_so() {
    // Not every system lets a user make a namespace.
    let namespaces = std::process::Command::new("unshare").args(["-Ur", "true"]).status();
    if !namespaces.is_ok_and(|status| status.success()) {
        return;
    }
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    let none = "echo 0 > /proc/sys/user/max_inotify_instances";
    let run = "\"$PIPEMUX\" run \"editor.replace('one', 'two', in='a.txt')\"";
    let rest = "\"$PIPEMUX\" doctor; \"$PIPEMUX\" down";
    let script = format!("unshare -Ur sh <<'END'\n{none}; {run}; {rest}\nEND\n");
    let told = env.shell(&script).output();
    told.has("1 match, line 1").has("fs.inotify.max_user_instances");
    assert!(env.daemon_log().contains("looks at them from time to time"), "{}", env.daemon_log());
    assert_eq!(env.read("a.txt"), "two\n");
}

#[test]
fn daemon_whose_state_directory_was_removed_is_still_the_one_of_this_machine() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    fs::remove_dir_all(&env.paths().state_dir).expect("it is there");
    env.pipemux(&["down"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    add(&env, "anew");
}
