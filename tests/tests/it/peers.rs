//! What users of the nearest systems suffered from their processes, and the story that shows it is not so
//! here. Each demand has at least one.
//!
//! | demand | story |
//! |---|---|
//! | no orphans, whatever dies | `lifecycle::no_app_outlives_a_killed_daemon`, `lifecycle::a_killed_launcher_takes_the_apps_and_the_daemon_recovers`, `attack::apps_that_breed`, [`no_app_outlives_its_clients_and_the_daemon_together`] |
//! | one shared app, not a copy for each client | [`many_readers_share_one_process_of_each_app`], `readers::two_workspaces_share_the_monitor_under_ids_of_their_own` |
//! | an upgrade loses no session | [`another_copy_of_the_programs_takes_over_windows_and_unsaved_work`] |
//! | another version is told clearly, never a hang | [`a_daemon_of_another_version_is_told_with_both_and_the_way_out`], `clients::another_major_version_is_told_both_and_closed`, `rogue::ones_whose_first_bytes_are_no_greeting_are_ended` |
//! | a malformed or silent app never freezes startup | [`a_silent_app_freezes_neither_a_start_nor_a_listing`], `rogue::ones_that_fall_silent_at_the_start_are_given_up` |
//! | one wedged session never hangs a listing | `stopped::the_others_answer_and_the_stopped_ones_request_ends_at_its_deadline` |
//! | a slow client stalls nobody | `clients::one_that_never_reads_is_let_go_and_others_are_answered`, `attack::clients_that_want_too_much` |
//! | bounded memory that still delivers how things ended | [`after_a_flood_of_notices_the_end_is_still_told`] |
//! | a stale socket heals; a refused connection is no proof | [`a_stale_socket_heals_itself`], [`an_end_at_the_socket_starts_no_second_daemon`] |
//! | two starts at once make one daemon | `lifecycle::racing_starts_make_one_daemon` |
//! | the socket's directory survives cleaners, its path is short | [`a_swept_socket_directory_heals`], [`a_long_runtime_directory_is_no_hindrance`] |
//! | a fresh environment a session, no leak between projects | [`each_session_has_its_openers_environment_and_no_other`] |
//! | waits between restarts shrink only after stable uptime | [`a_success_in_between_makes_no_crash_forgotten`], and `lives` among the dialogues of the core, where time is virtual |
//! | racing restarts never make two copies | [`racing_restarts_make_one_process`] |
//! | a deadline on every call, and cancelling | [`every_verb_about_a_stopped_app_ends`], `clients::a_vanished_clients_steps_that_were_not_begun_do_not_run` |
//! | no silent restart: what is gone is told | `rogue::one_that_dies_in_the_middle_leaves_an_unknown_outcome`, `monitor::a_killed_monitor_comes_back_and_says_so_once_and_the_edit_is_there` |
//! | no blind replay of side effects | [`an_act_of_unknown_outcome_is_not_carried_out_again`], `clients::a_call_that_is_sent_twice_runs_once` |
//! | stray output never corrupts the protocol | [`frames_on_standard_output_are_only_text`], `rogue::floods_are_bounded` |
//! | nothing is killed by a stored process id | [`a_process_id_in_old_files_is_killed_by_nobody`] |
//! | running out of descriptors kills nobody | [`when_descriptors_run_out_who_is_connected_works_on`] |

use std::fs;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use pipemux_proto::hello::{PROTOCOL, ProtocolVersion};
use pipemux_proto::{Envelope, Frame, Hello, Incarnation, Method, Role};
use pipemux_tests::programs::program;
use pipemux_tests::{Desk, Raw, Signal, World, is_alive, kill, wait_until};

const PATIENCE: Duration = Duration::from_secs(20);

fn tame() -> World {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world
}

#[test]
fn no_app_outlives_its_clients_and_the_daemon_together() {
    let world = tame();
    world.run("rogue.misbehave('breed')").ok();
    world.run("rogue.misbehave('escape')").ok();
    let waiting = world.command(&["run", "rogue.misbehave('hang')"]).start();
    wait_until("the client", || waiting.is_running().then_some(()));
    for process in world.processes().iter().filter(|p| !p.command.contains("/rogue")) {
        kill(process.pid, Signal::SIGKILL);
    }
    drop(waiting.finish());
    // Apps end with their launcher. What they let go of has lost everybody who knew of it at once: the
    // daemon that comes next finds it, and the socket that was left is in nobody's way.
    world.pipemux(&["up"]).ok();
    let apps = || world.processes().into_iter().filter(|p| p.command.contains("/rogue")).count();
    wait_until("every app ends", || (apps() == 0).then_some(()));
}

#[test]
fn many_readers_share_one_process_of_each_app() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let mut readers: Vec<Desk> =
        (0..10).map(|number| Desk::new(&world, None, &format!("reader{number}"))).collect();
    for app in ["notebook", "monitor"] {
        for reader in &mut readers {
            assert_eq!(reader.open(app, &[], PATIENCE).exit, 0);
        }
    }
    assert_eq!(world.sessions().len(), 2);
    let all = world.processes();
    let apps = all.iter().filter(|process| !process.command.contains("pipemuxd")).count();
    assert!(apps <= 2, "{all:?}");
}

#[test]
fn another_copy_of_the_programs_takes_over_windows_and_unsaved_work() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("editor.insert(2, 'unsaved'); notebook.add('kept', 'x')").ok();
    world.pipemux(&["down"]).ok();
    let newer = world.root().join("newer");
    fs::create_dir(&newer).unwrap();
    for name in ["pipemuxd", "pipemux-editor", "pipemux-notebook", "pipemux-monitor"] {
        fs::copy(program(name), newer.join(name)).unwrap();
    }
    let daemon = newer.join("pipemuxd").display().to_string();
    let view = world.command(&["view"]).env("PIPEMUX_DAEMON", &daemon).output();
    view.ok().has("unsaved").has("[kept]");
    let all = world.processes();
    let of_newer = all.iter().filter(|process| process.command.contains("/newer/")).count();
    assert!(of_newer == all.len(), "{all:?}");
}

#[test]
fn a_daemon_of_another_version_is_told_with_both_and_the_way_out() {
    let world = World::new();
    let paths = world.paths();
    world.pipemux(&["up"]).ok();
    world.pipemux(&["down"]).ok();
    let listener = UnixListener::bind(&paths.socket).unwrap();
    let answering = std::thread::spawn(move || {
        let protocol = ProtocolVersion { major: 99, minor: 1 };
        let hello = Hello { protocol, ..Hello::new(Role::Daemon, "pipemuxd of tomorrow") };
        let envelope = Envelope::event(Method::Hello, Incarnation(0));
        let bytes = Frame::encode(&envelope, &hello).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, &bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    });
    let told = world.pipemux(&["view"]);
    let own = format!("{}.{}", PROTOCOL.major, PROTOCOL.minor);
    told.exits(8).has("99.1").has(&own).has("pipemux down");
    answering.join().unwrap();
    fs::remove_file(&paths.socket).unwrap();
}

#[test]
fn a_silent_app_freezes_neither_a_start_nor_a_listing() {
    let world = tame();
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["down"]).ok();
    world.install_rogue("rogue", "silent");
    // The window is there from before, its app never speaks.
    let stuck = world.command(&["view", "rogue/main"]).start();
    wait_until("the silent app", || {
        world
            .sessions()
            .iter()
            .any(|row| row.session == "rogue/main" && row.pid.is_some())
            .then_some(())
    });
    for verb in ["sessions", "apps", "status", "history"] {
        world.pipemux(&[verb]).ok();
    }
    world.run("notebook.add('meanwhile', 'x')").ok();
    assert!(stuck.is_running(), "all that was answered while it waited");
    world.pipemux(&["end", "rogue/main"]).ok();
    assert_ne!(stuck.finish().exit, 0);
}

#[test]
fn after_a_flood_of_notices_the_end_is_still_told() {
    let world = tame();
    let flooded = world.run("rogue.misbehave('notify 20000'); rogue.misbehave('exit')");
    assert!(flooded.exits(7).lines() < 60, "{flooded}");
    flooded.has("2 unknown").has("status 7");
    let told = world.pipemux(&["view", "rogue/main"]);
    assert!(told.ok().has("was restarted").lines() < 80, "{told}");
}

#[test]
fn a_stale_socket_heals_itself() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let before = world.daemon();
    kill(before, Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    assert!(world.paths().socket.exists(), "what was killed leaves its socket");
    world.run("notebook.add('a', 'b')").ok();
    assert_ne!(world.daemon(), before);
}

#[test]
fn an_end_at_the_socket_starts_no_second_daemon() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let daemon = world.daemon();
    let socket = world.paths().socket;
    let aside = socket.with_extension("aside");
    fs::rename(&socket, &aside).unwrap();
    // Somebody listens there who hangs up: to the client, that is nobody.
    let listener = UnixListener::bind(&socket).unwrap();
    let view = world.command(&["view"]).start();
    for _ in 0..3 {
        drop(listener.accept().unwrap());
    }
    let all = world.processes();
    let daemons = all.iter().filter(|process| process.command.ends_with("pipemuxd serve")).count();
    assert!(daemons <= 2, "the one and a start that finds it: {all:?}");
    fs::rename(&aside, &socket).unwrap();
    // Whoever came meanwhile and was not taken up is hung up on as well.
    drop(listener);
    view.finish().ok();
    assert_eq!(world.daemon(), daemon);
}

#[test]
fn a_swept_socket_directory_heals() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('kept', 'x')").ok();
    fs::remove_dir_all(&world.paths().runtime_dir).unwrap();
    world.pipemux(&["view"]).ok().has("[kept]");
    world.run("notebook.add('after', 'x')").ok();
}

#[test]
fn a_long_runtime_directory_is_no_hindrance() {
    let world = World::new();
    let long = world.root().join("a-rather-long-name-of-a-directory/".repeat(5));
    fs::create_dir_all(&long).unwrap();
    let long = long.display().to_string();
    let there = |args: &[&str]| world.command(args).env("XDG_RUNTIME_DIR", &long).output();
    there(&["open", "notebook"]).ok();
    there(&["run", "notebook.add('a', 'b')"]).ok();
    // Another shell of the same user, with another directory, means the same daemon.
    world.pipemux(&["view"]).ok().has("[a]");
    there(&["down"]).ok();
}

#[test]
fn each_session_has_its_openers_environment_and_no_other() {
    let world = World::new();
    world.install("rogue", "rogue", "args = [\"tame\"]\npass = [\"PROJECT_TOKEN\"]\n");
    // The daemon is started by a client that has secrets of its own.
    let up = world.command(&["up"]).env("PROJECT_TOKEN", "the daemon's").env("SECRET", "s3cret");
    up.output().ok();
    let at = |place: &str, token: &str, args: &[&str]| {
        let command = world.command(args).workspace(place).env("PROJECT_TOKEN", token);
        command.env("SECRET", "also secret").output()
    };
    at("one", "first", &["open", "rogue"]).ok();
    at("two", "second", &["open", "rogue"]).ok();
    let env = |place: &str, name: &str| {
        at(place, "a later caller's", &["run", &format!("rogue.misbehave('env {name}')")])
    };
    env("one", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is first");
    env("two", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is second");
    env("one", "SECRET").ok().has("SECRET is nothing");
    // Also a new process of the same session.
    env("one", "x'); rogue.misbehave('exit").exits(7);
    env("one", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is first");
    world.command(&["open", "rogue"]).workspace("three").output().ok();
    let third = world.command(&["run", "rogue.misbehave('env PROJECT_TOKEN')"]).workspace("three");
    third.output().ok().has("PROJECT_TOKEN is nothing");
}

#[test]
fn a_success_in_between_makes_no_crash_forgotten() {
    let world = tame();
    let mut desk = Desk::new(&world, None, "default");
    let mut exits = Vec::new();
    for number in 0..8 {
        desk.run("rogue.misbehave('nothing')", PATIENCE);
        // Each another one: a call that ends its app again and again is kept back.
        exits.push(desk.run(&format!("rogue.misbehave('exit {number}')"), PATIENCE).exit);
    }
    assert!(exits.starts_with(&[7, 7]) && exits.ends_with(&[6]), "{exits:?}");
    world.pipemux(&["restart", "rogue/main"]).ok();
    world.run("rogue.misbehave('nothing')").ok();
}

#[test]
fn racing_restarts_make_one_process() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('kept', 'x')").ok();
    let races: Vec<_> = (0..12)
        .map(|number| match number % 3 {
            0 => world.command(&["open", "notebook"]).start(),
            1 => world.command(&["view", "notebook/main"]).start(),
            _ => world.command(&["restart", "notebook/main"]).start(),
        })
        .collect();
    let ended: Vec<_> = races.into_iter().map(|race| race.finish()).collect();
    assert!(ended.iter().all(|output| matches!(output.exit, 0 | 6)), "{ended:?}");
    world.pipemux(&["view"]).ok().has("[kept]");
    assert_eq!(world.sessions().len(), 1);
    wait_until("one process", || {
        let all = world.processes();
        let apps = all.iter().filter(|one| one.command.contains("pipemux-notebook")).count();
        (apps <= 1).then_some(())
    });
}

#[test]
fn every_verb_about_a_stopped_app_ends() {
    let world = tame();
    let thing = world.pipemux(&["view"]).obj("the thing");
    let link = world.pipemux(&["view"]).link("wipe all").to_string();
    let pid = world.pid("rogue/main");
    kill(pid, Signal::SIGSTOP);
    let (look, thing) = (format!("rogue.look(obj:{thing})"), format!("obj:{thing}"));
    let verbs: [&[&str]; 8] = [
        &["view"],
        &["view", "rogue/main"],
        &["read", &thing],
        &["run", &look],
        &["click", &link],
        &["open", "rogue", "more"],
        &["help", "rogue"],
        &["logs", "rogue/main"],
    ];
    let asked: Vec<_> = verbs
        .iter()
        .map(|verb| world.command(&[*verb, &["--timeout", "1"]].concat()).start())
        .collect();
    for one in asked {
        // The harness fails what does not end.
        let ended = one.finish();
        assert!(matches!(ended.exit, 0 | 4 | 6 | 7 | 9), "{ended}");
    }
    world.command(&["end", "rogue/main", "--timeout", "10"]).output().ok();
    assert!(!is_alive(pid));
}

#[test]
fn an_act_of_unknown_outcome_is_not_carried_out_again() {
    let world = tame();
    let deed = format!("rogue.misbehave('sign and exit {}')", world.path("deeds").display());
    world.run(&deed).exits(7).has("unknown");
    world.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
    world.run("rogue.misbehave('nothing')").ok();
    assert_eq!(world.read("deeds"), "signed\n");
}

#[test]
fn frames_on_standard_output_are_only_text() {
    let world = tame();
    world.run("rogue.misbehave('print 1'); rogue.misbehave('nothing')").ok().has("2 done");
    world.pipemux(&["logs", "rogue/main", "--lines", "3"]).ok().has("0123456789abcdef");
    world.pipemux(&["view", "rogue/main"]).ok().lacks("restarted").lacks("0123456789abcdef");
}

#[test]
fn a_process_id_in_old_files_is_killed_by_nobody() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let (daemon, app) = (world.daemon(), world.pid("notebook/main"));
    kill(daemon, Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    // A stranger that has been given an id which old files could name.
    let mut stranger =
        Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("a stranger");
    let paths = world.paths();
    for path in [&paths.lock, &paths.state_dir.join("pid"), &paths.runtime_dir.join("pid")] {
        fs::write(path, format!("{}\n", stranger.id())).unwrap();
    }
    let state = fs::read(paths.state_dir.join("state.log")).unwrap();
    let told = |pid: i32| {
        let text = pid.to_string().into_bytes();
        pid > 9_999 && state.windows(text.len()).any(|window| window == text)
    };
    assert!(!told(daemon) && !told(app), "the saved state names processes");
    world.pipemux(&["view"]).ok();
    world.pipemux(&["end", "notebook/main"]).ok();
    world.pipemux(&["down"]).ok();
    assert!(is_alive(i32::try_from(stranger.id()).unwrap()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn when_descriptors_run_out_who_is_connected_works_on() {
    let world = World::new();
    world.shell("ulimit -n 48; exec \"$PIPEMUX\" open notebook").output().ok();
    let daemon = world.daemon();
    let mut desk = Desk::new(&world, None, "default");
    assert_eq!(desk.run("notebook.add('before', 'x')", PATIENCE).exit, 0);
    let crowd: Vec<Raw> = (0..80).map(|_| Raw::connect(&world)).collect();
    wait_until("no descriptor is left", || {
        world.daemon_log().contains("can't accept connections").then_some(())
    });
    assert_eq!(desk.run("notebook.add('meanwhile', 'x')", PATIENCE).exit, 0);
    // One more process needs descriptors that there are none of: refused, and nobody is harmed.
    let refused = desk.open("monitor", &[], PATIENCE);
    assert_ne!(refused.exit, 0, "{refused:?}");
    assert_eq!(desk.run("notebook.add('after', 'x')", PATIENCE).exit, 0);
    drop(crowd);
    world.pipemux(&["view"]).ok().has("[before]").has("[meanwhile]").has("[after]");
    world.pipemux(&["open", "monitor"]).ok();
    assert_eq!(world.daemon(), daemon);
}
