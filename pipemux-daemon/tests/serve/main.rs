//! `pipemuxd serve` as a real process: its start, its uniqueness, its end, and apps that misbehave.
#![cfg(target_os = "linux")]
// The helpers of tests count as tests.
#![allow(clippy::unwrap_used)]

mod app_output;
mod apps;
mod harness;
mod stdio;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use harness::{
    Client, TestHome, command_line, descendants, file_names, greet, wait_for, wait_until_gone,
};

#[test]
fn one_daemon_per_state_directory_cleans_up_after_itself() {
    let home = TestHome::new();
    let daemon = home.serve();
    assert_eq!(daemon.line, "ready");
    let paths = home.paths();
    assert_eq!(fs::metadata(&paths.socket).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&paths.runtime_dir).unwrap().mode() & 0o777, 0o700);
    UnixStream::connect(&paths.socket).unwrap();

    let second = home.serve();
    assert_eq!(second.line, "running");
    assert_eq!(second.wait(), Some(0));
    UnixStream::connect(&paths.socket).unwrap();
    // Another state directory has a daemon of its own, in the same runtime directory.
    let other = home.serve_in("other");
    assert_eq!(other.line, "ready");

    for daemon in [daemon, other] {
        let launchers = daemon.children();
        assert_eq!(launchers.len(), 1);
        daemon.signal(Signal::SIGTERM);
        assert_eq!(daemon.wait(), Some(0));
        wait_until_gone(launchers[0]);
    }
    assert_eq!(file_names(&paths.runtime_dir), Vec::<String>::new());
    let kept = ["daemon.log", "identity", "settings-path", "state.log", "state.mark"];
    assert_eq!(file_names(&paths.state_dir), kept);
    let third = home.serve();
    assert_eq!(third.line, "ready");
    third.signal(Signal::SIGINT);
    assert_eq!(third.wait(), Some(0));
}

#[test]
fn killed_daemon_leaves_no_process_and_the_next_one_starts() {
    let home = TestHome::new();
    let daemon = home.serve();
    let launcher = daemon.children()[0];
    // SIGHUP is ignored.
    daemon.signal(Signal::SIGHUP);
    daemon.signal(Signal::SIGKILL);
    assert_eq!(daemon.wait(), None);
    wait_until_gone(launcher);
    assert!(home.paths().socket.exists());
    let next = home.serve();
    assert_eq!(next.line, "ready");
    UnixStream::connect(home.paths().socket).unwrap();
    next.signal(Signal::SIGTERM);
    assert_eq!(next.wait(), Some(0));
    assert!(!home.paths().socket.exists());
}

#[test]
fn second_signal_stops_the_daemon_at_once() {
    let home = TestHome::new();
    // It has to be killed after a while, which is what the second signal doesn't wait for.
    let trapped = home.directory.path().join("trapped");
    let script = format!("trap : TERM; : > {}; while :; do sleep 1; done", trapped.display());
    home.app("stubborn", &script);
    let daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("stubborn", "main", "/", &[]);
    let launcher = daemon.children()[0];
    // An app that got the first signal before it ignores it would end the daemon too soon.
    wait_for(|| trapped.exists().then_some(()));
    let apps = wait_for(|| Some(descendants(launcher)).filter(|found| !found.is_empty()));
    // Signals that arrive together count as one, so they are sent until the second is handled.
    wait_for(|| {
        daemon.signal(Signal::SIGTERM);
        home.log().contains("a second signal arrived").then_some(())
    });
    assert_eq!(daemon.wait(), Some(0));
    for process in apps.into_iter().chain([launcher]) {
        wait_until_gone(process);
    }
}

#[test]
fn startup_error_is_printed_on_standard_output() {
    let home = TestHome::new();
    let paths = home.paths();
    fs::create_dir(&paths.runtime_dir).unwrap();
    fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o777)).unwrap();
    let daemon = home.serve();
    assert!(daemon.line.starts_with("error: "), "{}", daemon.line);
    assert!(daemon.line.ends_with(&format!("chmod 700 {}", paths.runtime_dir.display())));
    assert_eq!(daemon.wait(), Some(1));
    assert!(!paths.lock.exists());
    assert!(!paths.socket.exists());
}

#[test]
fn invalid_manifest_is_logged() {
    let home = TestHome::new();
    let apps = home.directory.path().join("config/apps");
    fs::create_dir_all(&apps).unwrap();
    fs::write(apps.join("bad.toml"), "id = \"x\"\ncommand = 3\n").unwrap();
    let daemon = home.serve();
    assert_eq!(daemon.line, "ready");
    assert!(home.log().contains("bad.toml:2 (command): "), "{}", home.log());
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn invalid_client_is_closed_and_affects_no_other() {
    let home = TestHome::new();
    let daemon = home.serve();
    let mut nonsense = home.connect();
    nonsense.write_all(&[0xff; 64]).unwrap();
    let mut half = home.connect();
    half.write_all(&[0, 0, 0]).unwrap();

    greet(&mut home.connect());

    // The client may or may not learn the reason, but it is closed.
    nonsense.read_to_end(&mut Vec::new()).unwrap();
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    assert!(half.read_to_end(&mut Vec::new()).is_ok());
}

#[test]
fn lost_launcher_ends_its_apps_and_is_replaced() {
    let home = TestHome::new();
    home.app("sleepy", "setsid sleep 1000 & sleep 1000; true");
    let daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("sleepy", "one", "/", &[]);
    let launcher = daemon.children()[0];
    let apps = wait_for(|| Some(descendants(launcher)).filter(|found| found.len() == 3));
    kill(Pid::from_raw(launcher), Signal::SIGKILL).unwrap();
    // A session of its own doesn't save a process.
    for app in apps {
        wait_until_gone(app);
    }
    // The core may have asked for a new process already; now it does in any case.
    client.send_open("sleepy", "two", "/", &[]);
    // For a moment orphans of the lost launcher are the daemon's children, so not every child is a
    // launcher.
    let is_next = |pid: &i32| *pid != launcher && command_line(*pid).contains("launcher");
    let next = wait_for(|| daemon.children().into_iter().find(is_next));
    let apps = wait_for(|| Some(descendants(next)).filter(|found| !found.is_empty()));
    greet(&mut home.connect());
    assert!(home.log().contains("the launcher is lost"), "{}", home.log());

    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    for process in apps.into_iter().chain([next]) {
        wait_until_gone(process);
    }
}

#[test]
fn clients_wait_while_descriptors_run_out() {
    let home = TestHome::new();
    let daemon = home.serve_by("ulimit -n 24; exec \"$0\" serve", "state");
    assert_eq!(daemon.line, "ready");
    let mut clients: Vec<UnixStream> = (0..20).map(|_| home.connect()).collect();
    wait_for(|| home.log().contains("can't accept connections, clients wait").then_some(()));
    // Each client that leaves lets another one in.
    while !clients.is_empty() {
        greet(&mut clients[0]);
        clients.remove(0);
    }
    assert_eq!(home.log().matches("can't accept").count(), 1, "{}", home.log());
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
}
