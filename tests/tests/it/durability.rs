//! What survives a daemon that is killed, a state that is damaged and a disk that is full.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use pipemux_tests::{Output, Signal, World, kill, wait_until};

/// Numbers that look random and are the same every time.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: u64) -> u64 {
        // Of Numerical Recipes; its high bits are the good ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn end_daemon(world: &World) {
    let daemon = world.processes().into_iter().find(|one| one.command.contains("pipemuxd serve"));
    if let Some(daemon) = daemon {
        kill(daemon.pid, Signal::SIGKILL);
    }
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
}

fn state_length(world: &World) -> u64 {
    fs::metadata(world.paths().state_dir.join("state.log")).map_or(0, |found| found.len())
}

/// `[label](obj:7)`, all of them.
fn things(output: &Output) -> BTreeMap<u64, String> {
    let text = output.text();
    let mut found = BTreeMap::new();
    for (at, mark) in text.match_indices("](obj:") {
        let id = text[at + mark.len()..].split(')').next().and_then(|id| id.parse().ok());
        let label = text[..at].rsplit('[').next().unwrap_or_default();
        found.extend(id.map(|id| (id, label.to_owned())));
    }
    found
}

#[test]
fn what_was_answered_survives_a_daemon_that_is_killed_at_any_moment() {
    let world = World::new();
    let mut seeded = Seeded(20_261_122);
    let mut answered: Vec<String> = Vec::new();
    let mut asked = 0;
    let mut epoch = 0;
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    world.pipemux(&["open", "notebook"]).ok();
    for round in 0..10 {
        let length = state_length(&world);
        let grown = length + seeded.below(1_500);
        let acts: Vec<_> = (0..3)
            .map(|number| {
                asked += 1;
                let title = format!("note-{asked}");
                let act = world.command(&["run", &format!("notebook.add('{title}', 'x')")]);
                (title, act.reader(&format!("reader {number}")).start())
            })
            .collect();
        // Somewhere in the middle of them, or behind.
        wait_until("the state grows, or nothing runs", || {
            let ended = acts.iter().all(|(_, act)| !act.is_running());
            (ended || state_length(&world) >= grown).then_some(())
        });
        end_daemon(&world);
        for (title, act) in acts {
            let ended = act.finish();
            match ended.exit {
                0 => answered.push(title),
                // Its end isn't known, or it wasn't delivered: both are told.
                6..=8 => {}
                _ => panic!("round {round}: {ended}"),
            }
        }
        let seen = world.pipemux(&["view", "--lod", "full"]);
        assert!(seen.ok().epoch() >= epoch, "e{epoch} before: {seen}");
        epoch = seen.epoch();
        for (id, label) in things(&seen) {
            let before = ids.entry(id).or_insert_with(|| label.clone());
            assert_eq!(*before, label, "obj:{id} was given again: {seen}");
        }
    }
    assert!(!answered.is_empty(), "no act was ever answered");
    let history = world.pipemux(&["history", "--rounds", "1000"]);
    let kept = world.pipemux(&["view", "--lod", "full", "--budget", "20000"]);
    for title in &answered {
        let call = format!("add('{title}', 'x')");
        assert_eq!(history.ok().text().matches(&call).count(), 1, "{title} in {history}");
    }
    for number in 1..=asked {
        let shown = kept.text().matches(&format!("[note-{number}](")).count();
        let was_answered = answered.contains(&format!("note-{number}"));
        assert!(shown <= 1 && (shown == 1 || !was_answered), "note-{number} in {kept}");
    }
    let state_dir = world.paths().state_dir;
    assert!(!state_dir.join("state.log.bad-1").exists(), "{}", world.daemon_log());
}

#[test]
fn a_damaged_state_is_set_aside_and_told_once_and_numbers_go_on() {
    type Fate = fn(&std::path::Path);
    let fates: [(&str, Fate); 4] = [
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
    let world = World::new();
    let mut highest = 0;
    let mut epoch = 0;
    for (number, (what, damage)) in fates.iter().enumerate() {
        world.pipemux(&["open", "notebook"]).ok();
        let title = format!("kept {number}");
        let added = world.run(&format!("notebook.add('{title}', 'x')"));
        highest = highest.max(added.ok().objects().into_iter().max().unwrap_or(0));
        epoch = epoch.max(added.epoch());
        end_daemon(&world);
        damage(&world.paths().state_dir.join("state.log"));

        let opened = world.pipemux(&["open", "notebook"]);
        opened.ok().has("saved state was damaged").has("pipemux history").has(&title);
        assert!(opened.epoch() > epoch, "{what}: e{epoch} before: {opened}");
        world.pipemux(&["view"]).ok().lacks("saved state was damaged");
        world.pipemux(&["status"]).ok().has("saved state was damaged");
        let aside = format!("state.log.bad-{}", number + 1);
        assert!(world.paths().state_dir.join(&aside).exists(), "{what}: no {aside}");
        let added = world.run(&format!("notebook.add('new {number}', 'x')"));
        let new = added.ok().obj(&format!("new {number}"));
        assert!(new > highest, "{what}: obj:{new} after {highest}");
        highest = new;
        epoch = added.epoch();
    }
}

/// As on a full disk: the daemon's files may not grow any more.
#[cfg(target_os = "linux")]
fn limit_files(daemon: i32, bytes: &str) {
    let limit = format!("--fsize={bytes}:unlimited");
    let done = Command::new("prlimit").args(["--pid", &daemon.to_string(), &limit]).status();
    assert!(done.is_ok_and(|status| status.success()), "prlimit {limit}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_record_that_is_cut_short_by_a_full_disk_spoils_none() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('before', 'x')").ok();
    let daemon = world.daemon();
    for room in [0, 1, 7, 30, 61] {
        let full = state_length(&world) + room;
        limit_files(daemon, &full.to_string());
        // The first act may be under way when the disk is found to be full.
        let refused = wait_until("an act is refused", || {
            let act = world.run("notebook.add('meanwhile', 'x')");
            assert!(matches!(act.exit, 0 | 9), "{act}");
            (act.exit == 9).then_some(act)
        });
        refused.has("can't write its state down");
        world.pipemux(&["view"]).ok().has("before");
        limit_files(daemon, "unlimited");
        wait_until("an act is done", || {
            let act = world.run(&format!("notebook.add('after {room}', 'x')"));
            (act.exit == 0).then_some(())
        });
    }
    let history = world.pipemux(&["history", "--rounds", "1000"]);
    end_daemon(&world);
    let again = world.pipemux(&["history", "--rounds", "1000"]);
    assert_eq!(again.ok().text(), history.ok().text());
    history.has("after 61");
    assert!(!world.paths().state_dir.join("state.log.bad-1").exists(), "{}", world.daemon_log());
}

#[cfg(target_os = "linux")]
#[test]
fn of_acts_that_come_at_once_a_full_disk_lets_one_begin() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('before', 'x')").ok();
    let daemon = world.daemon();
    // Both lie in their sockets when it goes on, so it takes them in one turn.
    kill(daemon, Signal::SIGSTOP);
    let acts: Vec<_> = ["a", "b"]
        .map(|reader| world.command(&["run", "notebook.add('now', 'x')"]).reader(reader).start())
        .into();
    let waits = |process: &pipemux_tests::Process| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
        process.command.contains("notebook.add('now'") && stat.contains(") S ")
    };
    wait_until("both wait for their answers", || {
        (world.processes().iter().filter(|one| waits(one)).count() == 2).then_some(())
    });
    limit_files(daemon, &state_length(&world).to_string());
    kill(daemon, Signal::SIGCONT);
    let mut exits: Vec<i32> = acts.into_iter().map(|act| act.finish().exit).collect();
    exits.sort_unstable();
    assert_eq!(exits, [0, 9]);
    limit_files(daemon, "unlimited");
}

#[test]
fn the_daemons_log_is_rotated_also_while_it_runs() {
    let world = World::new();
    let log = world.paths().log;
    let kept = log.with_extension("log.1");
    let long = "something that was printed\n".repeat(45_000);
    fs::create_dir_all(log.parent().expect("a directory")).expect("a directory");
    fs::write(&log, &long).expect("a log");
    world.pipemux(&["up"]).ok();
    wait_until("the log is new", || world.daemon_log().contains("serves").then_some(()));
    assert_eq!(fs::read_to_string(&kept).expect("the log before"), long);

    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("a log");
    std::io::Write::write_all(&mut file, long.as_bytes()).expect("a log");
    world.pipemux(&["down"]).ok();
    wait_until("the log is new", || world.daemon_log().is_empty().then_some(()));
    let before = fs::read_to_string(&kept).expect("the log before");
    assert!(before.contains("serves") && before.ends_with("ended\n"), "{} bytes", before.len());
}
