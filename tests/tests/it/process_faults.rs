//! Faults of processes, sockets and descriptors that users of comparable systems have reported,
//! each with the stories that show how PipeMux handles it.
//!
//! | requirement | stories |
//! |---|---|
//! | no orphans, whichever process dies | `lifecycle::no_app_outlives_a_killed_daemon`, `lifecycle::daemon_recovers_from_a_killed_launcher`, `chaos::siblings_survive_apps_that_start_processes`, [`no_app_outlives_clients_and_daemon_killed_together`] |
//! | one shared app, not a copy for each client | [`ten_readers_share_one_process_of_each_app`], `concurrent_readers::workspaces_share_the_monitor_with_separate_ids` |
//! | an upgrade loses no session | [`upgraded_programs_take_over_windows_and_unsaved_work`] |
//! | another version is reported clearly and never causes a hang | [`daemon_of_another_version_is_reported_with_both_versions`], `client_faults::other_major_version_is_refused_with_both_versions`, `app_faults::apps_with_invalid_greetings_are_ended` |
//! | a malformed or silent app never freezes startup | [`silent_app_blocks_neither_start_nor_listings`], `app_faults::apps_silent_at_start_fail_at_the_requests_deadline` |
//! | a stopped session never delays a listing | `stopped_app::stopped_app_delays_no_other_and_fails_at_the_deadline` |
//! | a slow client delays nobody | `client_faults::client_that_never_reads_is_disconnected`, `chaos::siblings_survive_clients_that_exceed_limits` |
//! | memory is bounded, and the end of an app is still reported | [`crash_is_reported_after_a_flood_of_notices`] |
//! | a stale socket is replaced; a refused connection doesn't prove that no daemon runs | [`stale_socket_is_replaced`], [`closed_connection_starts_no_second_daemon`] |
//! | concurrent starts make one daemon | `lifecycle::concurrent_starts_make_one_daemon` |
//! | the socket's directory may be deleted, and its path may be long | [`deleted_socket_directory_is_recreated`], [`long_runtime_directory_is_supported`] |
//! | every session has its own environment variables, without leaks between projects | [`session_has_the_variables_of_its_opener_only`] |
//! | crashes are forgotten only after stable uptime | [`success_between_crashes_does_not_reset_the_crash_count`], and `lives` among the dialogues of the core, where time is virtual |
//! | concurrent restarts never make two processes | [`concurrent_restarts_make_one_process`] |
//! | every call has a deadline and can be cancelled | [`every_verb_about_a_stopped_app_ends_at_its_deadline`], `client_faults::steps_of_a_killed_client_that_had_not_begun_do_not_run` |
//! | no silent restart: the loss is reported | `app_faults::crash_during_a_step_makes_its_outcome_unknown`, `monitor::killed_monitor_restarts_and_says_so_once` |
//! | effects are never repeated blindly | [`step_of_unknown_outcome_is_not_repeated`], `client_faults::call_sent_three_times_runs_once` |
//! | output of an app never corrupts the protocol | [`standard_output_of_an_app_never_disturbs_the_protocol`], `app_faults::output_and_notice_floods_are_bounded` |
//! | no process is killed by a stored id | [`process_ids_in_old_files_are_never_killed`] |
//! | running out of descriptors ends no session | [`connected_clients_work_on_when_descriptors_run_out`] |

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use pipemux_proto::hello::PROTOCOL;
use pipemux_tests::programs::program;
use pipemux_tests::{RawConnection, Signal, TestClient, TestEnv, is_alive, kill, wait_for};

const TIMEOUT: Duration = Duration::from_secs(20);

#[test]
fn no_app_outlives_clients_and_daemon_killed_together() {
    let env = TestEnv::with_rogue();
    env.run("rogue.misbehave('breed')").ok();
    env.run("rogue.misbehave('escape')").ok();
    let waiting = env.command(&["run", "rogue.misbehave('hang')"]).start();
    // Before its program runs, the client isn't among these processes, and it would start a daemon
    // later.
    wait_for("the client runs", || env.processes().iter().any(|p| p.command.contains("'hang'")));
    for process in env.processes().iter().filter(|p| !p.command.contains("/rogue")) {
        kill(process.pid, Signal::SIGKILL);
    }
    drop(waiting.finish());
    // Apps end with their launcher. A process that left its app's process group has lost everybody
    // who knew of it, so the next daemon ends it. The old socket doesn't stop that daemon from
    // starting.
    env.pipemux(&["up"]).ok();
    let apps = || env.processes().into_iter().filter(|p| p.command.contains("/rogue")).count();
    wait_for("every app has ended", || apps() == 0);
}

#[test]
fn ten_readers_share_one_process_of_each_app() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let mut readers: Vec<TestClient> =
        (0..10).map(|number| TestClient::new(&env, None, &format!("reader{number}"))).collect();
    for app in ["notebook", "monitor"] {
        for reader in &mut readers {
            assert_eq!(reader.open(app, &[], TIMEOUT).exit, 0);
        }
    }
    assert_eq!(env.sessions().len(), 2);
    let all = env.processes();
    let apps = all.iter().filter(|process| !process.command.contains("pipemuxd")).count();
    assert_eq!(apps, 2, "{all:?}");
}

#[test]
fn upgraded_programs_take_over_windows_and_unsaved_work() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "notebook"]).ok();
    env.run("editor.hold(); editor.insert(2, 'unsaved'); notebook.add('kept', 'x')").ok();
    env.pipemux(&["down"]).ok();
    let newer = env.root().join("newer");
    fs::create_dir(&newer).unwrap();
    for name in ["pipemuxd", "pipemux-editor", "pipemux-notebook", "pipemux-monitor"] {
        fs::copy(program(name), newer.join(name)).unwrap();
    }
    let daemon = newer.join("pipemuxd").display().to_string();
    let view = env.command(&["view"]).env("PIPEMUX_DAEMON", &daemon).output();
    view.ok().has("unsaved").has("[kept]");
    let all = env.processes();
    let of_newer = all.iter().filter(|process| process.command.contains("/newer/")).count();
    assert!(of_newer == all.len(), "{all:?}");
}

#[test]
fn daemon_of_another_version_is_reported_with_both_versions() {
    let env = TestEnv::new();
    let answering = env.serve_other_version();
    let told = env.pipemux(&["view"]);
    let own = format!("{}.{}", PROTOCOL.major, PROTOCOL.minor);
    told.exits(8).has("99.1").has(&own).has("pipemux down");
    answering.join().unwrap();
    fs::remove_file(env.paths().socket).unwrap();
}

#[test]
fn silent_app_blocks_neither_start_nor_listings() {
    let env = TestEnv::with_rogue();
    env.pipemux(&["open", "notebook"]).ok();
    env.pipemux(&["down"]).ok();
    env.install_rogue("rogue", "silent");
    // The window exists already, and its app never sends a greeting.
    let stuck = env.command(&["view", "rogue/main"]).start();
    wait_for("the silent app runs", || {
        env.sessions().iter().any(|row| row.session == "rogue/main" && row.pid.is_some())
    });
    for verb in ["sessions", "apps", "status", "history"] {
        env.pipemux(&[verb]).ok();
    }
    env.run("notebook.add('meanwhile', 'x')").ok();
    assert!(stuck.is_running(), "the other commands were answered while it waited");
    env.pipemux(&["end", "rogue/main"]).ok();
    stuck.finish().exits(3);
}

#[test]
fn crash_is_reported_after_a_flood_of_notices() {
    let env = TestEnv::with_rogue();
    let flooded = env.run("rogue.misbehave('notify 20000'); rogue.misbehave('exit')");
    assert!(flooded.exits(7).lines() < 60, "{flooded}");
    flooded.has("2 unknown").has("status 7");
    let told = env.pipemux(&["view", "rogue/main"]);
    assert!(told.ok().has("was restarted").lines() < 80, "{told}");
}

#[test]
fn stale_socket_is_replaced() {
    let env = TestEnv::with_notebook();
    let before = env.daemon_pid();
    kill(before, Signal::SIGKILL);
    env.wait_until_all_ended();
    assert!(env.paths().socket.exists(), "a killed daemon leaves its socket");
    env.run("notebook.add('a', 'b')").ok();
    assert_ne!(env.daemon_pid(), before);
}

#[test]
fn closed_connection_starts_no_second_daemon() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let daemon = env.daemon_pid();
    let socket = env.paths().socket;
    let aside = socket.with_extension("aside");
    fs::rename(&socket, &aside).unwrap();
    // A listener that hangs up is not a daemon to the client.
    let listener = UnixListener::bind(&socket).unwrap();
    let view = env.command(&["view"]).start();
    for _ in 0..3 {
        drop(listener.accept().unwrap());
    }
    let all = env.processes();
    let daemons = all.iter().filter(|process| process.command.ends_with("pipemuxd serve")).count();
    assert!((1..=2).contains(&daemons), "the daemon, and perhaps a start that finds it: {all:?}");
    fs::rename(&aside, &socket).unwrap();
    // Clients that were not accepted yet are disconnected as well.
    drop(listener);
    view.finish().ok();
    assert_eq!(env.daemon_pid(), daemon);
}

#[test]
fn deleted_socket_directory_is_recreated() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('kept', 'x')").ok();
    fs::remove_dir_all(&env.paths().runtime_dir).unwrap();
    env.pipemux(&["view"]).ok().has("[kept]");
    env.run("notebook.add('after', 'x')").ok();
}

#[test]
fn long_runtime_directory_is_supported() {
    let env = TestEnv::new();
    let long = env.root().join("a-rather-long-name-of-a-directory/".repeat(5));
    fs::create_dir_all(&long).unwrap();
    let long = long.display().to_string();
    let there = |args: &[&str]| env.command(args).env("XDG_RUNTIME_DIR", &long).output();
    there(&["open", "notebook"]).ok();
    there(&["run", "notebook.add('a', 'b')"]).ok();
    // A shell of the same user with another runtime directory reaches the same daemon.
    env.pipemux(&["view"]).ok().has("[a]");
    there(&["down"]).ok();
}

#[test]
fn session_has_the_variables_of_its_opener_only() {
    let env = TestEnv::new();
    env.install("rogue", "rogue", "args = [\"tame\"]\npass = [\"PROJECT_TOKEN\"]\n");
    // The client that starts the daemon has secrets of its own.
    let up = env.command(&["up"]).env("PROJECT_TOKEN", "the daemon's").env("SECRET", "s3cret");
    up.output().ok();
    let at = |place: &str, token: &str, args: &[&str]| {
        let command = env.command(args).workspace(place).env("PROJECT_TOKEN", token);
        command.env("SECRET", "also secret").output()
    };
    at("one", "first", &["open", "rogue"]).ok();
    at("two", "second", &["open", "rogue"]).ok();
    let reported = |place: &str, name: &str| {
        at(place, "a later caller's", &["run", &format!("rogue.misbehave('env {name}')")])
    };
    reported("one", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is first");
    reported("two", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is second");
    reported("one", "SECRET").ok().has("SECRET is nothing");
    // A restarted process of the session has the same variables.
    reported("one", "x'); rogue.misbehave('exit").exits(7);
    reported("one", "PROJECT_TOKEN").ok().has("PROJECT_TOKEN is first");
    env.in_workspace("three", &["open", "rogue"]).ok();
    let third = env.command(&["run", "rogue.misbehave('env PROJECT_TOKEN')"]).workspace("three");
    third.output().ok().has("PROJECT_TOKEN is nothing");
}

#[test]
fn success_between_crashes_does_not_reset_the_crash_count() {
    let env = TestEnv::with_rogue();
    let mut client = TestClient::new(&env, None, "default");
    let mut exits = Vec::new();
    for number in 0..8 {
        client.run("rogue.misbehave('nothing')", TIMEOUT);
        // The calls differ, because a call that crashes its app repeatedly is refused.
        exits.push(client.run(&format!("rogue.misbehave('exit {number}')"), TIMEOUT).exit);
    }
    assert!(exits.starts_with(&[7, 7]) && exits.ends_with(&[6]), "{exits:?}");
    env.pipemux(&["restart", "rogue/main"]).ok();
    env.run("rogue.misbehave('nothing')").ok();
}

#[test]
fn concurrent_restarts_make_one_process() {
    let env = TestEnv::with_notebook();
    env.run("notebook.add('kept', 'x')").ok();
    let start = |args: &[&str]| env.command(args).start();
    let races: Vec<_> = (0..4)
        .map(|_| {
            let (open, view) = (start(&["open", "notebook"]), start(&["view", "notebook/main"]));
            (open, view, start(&["restart", "notebook/main"]))
        })
        .collect();
    for (open, view, restart) in races {
        open.finish().ok();
        view.finish().ok();
        // A restart that is overtaken by another one reports that the session is not available.
        let restarted = restart.finish();
        assert!(matches!(restarted.exit, 0 | 6), "{restarted}");
    }
    env.pipemux(&["view"]).ok().has("[kept]");
    assert_eq!(env.sessions().len(), 1);
    wait_for("one process", || {
        let all = env.processes();
        let apps = all.iter().filter(|one| one.command.contains("pipemux-notebook")).count();
        apps == 1
    });
}

#[test]
fn every_verb_about_a_stopped_app_ends_at_its_deadline() {
    let env = TestEnv::with_rogue();
    let thing = env.pipemux(&["view"]).obj("the thing");
    let link = env.pipemux(&["view"]).link("wipe all").to_string();
    let pid = env.pid("rogue/main");
    kill(pid, Signal::SIGSTOP);
    let (look, thing) = (format!("rogue.look(obj:{thing})"), format!("obj:{thing}"));
    let verbs: [(&[&str], i32); 8] = [
        (&["view"], 0),
        (&["view", "rogue/main"], 0),
        (&["read", &thing], 6),
        (&["run", &look], 7),
        (&["click", &link], 7),
        (&["open", "rogue", "more"], 7),
        (&["help", "rogue"], 0),
        (&["logs", "rogue/main"], 0),
    ];
    let asked = verbs
        .map(|(verb, exit)| (env.command(&[verb, &["--timeout", "1"]].concat()).start(), exit));
    for (one, exit) in asked {
        // The harness fails a command that does not end.
        one.finish().exits(exit);
    }
    env.command(&["end", "rogue/main", "--timeout", "10"]).output().ok();
    assert!(!is_alive(pid));
}

#[test]
fn step_of_unknown_outcome_is_not_repeated() {
    let env = TestEnv::with_rogue();
    let deed = format!("rogue.misbehave('sign and exit {}')", env.path("deeds").display());
    env.run(&deed).exits(7).has("unknown");
    env.pipemux(&["view", "rogue/main"]).ok().has("was restarted");
    env.run("rogue.misbehave('nothing')").ok();
    assert_eq!(env.read("deeds"), "signed\n");
}

#[test]
fn standard_output_of_an_app_never_disturbs_the_protocol() {
    let env = TestEnv::with_rogue();
    env.run("rogue.misbehave('print 1'); rogue.misbehave('nothing')").ok().has("2 done");
    env.pipemux(&["logs", "rogue/main", "--lines", "3"]).ok().has("0123456789abcdef");
    env.pipemux(&["view", "rogue/main"]).ok().lacks("restarted").lacks("0123456789abcdef");
}

#[test]
fn process_ids_in_old_files_are_never_killed() {
    let env = TestEnv::with_notebook();
    let (daemon, app) = (env.daemon_pid(), env.pid("notebook/main"));
    kill(daemon, Signal::SIGKILL);
    env.wait_until_all_ended();
    // An unrelated process whose id stands in the old files.
    let mut stranger =
        Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("a stranger");
    let paths = env.paths();
    for path in [&paths.lock, &paths.state_dir.join("pid"), &paths.runtime_dir.join("pid")] {
        fs::write(path, format!("{}\n", stranger.id())).unwrap();
    }
    let state = fs::read(paths.state_dir.join("state.log")).unwrap();
    let told = |pid: i32| {
        let text = pid.to_string().into_bytes();
        pid > 9_999 && state.windows(text.len()).any(|window| window == text)
    };
    assert!(!told(daemon) && !told(app), "the saved state names processes");
    env.pipemux(&["view"]).ok();
    env.pipemux(&["end", "notebook/main"]).ok();
    env.pipemux(&["down"]).ok();
    assert!(is_alive(i32::try_from(stranger.id()).unwrap()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn connected_clients_work_on_when_descriptors_run_out() {
    let env = TestEnv::new();
    env.shell("ulimit -n 48; exec \"$PIPEMUX\" open notebook").output().ok();
    let daemon = env.daemon_pid();
    let mut client = TestClient::new(&env, None, "default");
    assert_eq!(client.run("notebook.add('before', 'x')", TIMEOUT).exit, 0);
    let crowd: Vec<RawConnection> = (0..80).map(|_| RawConnection::connect(&env)).collect();
    wait_for("no descriptor is left", || env.daemon_log().contains("can't accept connections"));
    assert_eq!(client.run("notebook.add('meanwhile', 'x')", TIMEOUT).exit, 0);
    // A new session needs descriptors: it is refused, and the other sessions are unaffected.
    let refused = client.open("monitor", &[], TIMEOUT);
    assert_eq!(refused.exit, 6, "{refused:?}");
    assert_eq!(client.run("notebook.add('after', 'x')", TIMEOUT).exit, 0);
    drop(crowd);
    env.pipemux(&["view"]).ok().has("[before]").has("[meanwhile]").has("[after]");
    env.pipemux(&["open", "monitor"]).ok();
    assert_eq!(env.daemon_pid(), daemon);
}
