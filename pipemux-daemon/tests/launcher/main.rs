//! The launcher as a real process, with real children that misbehave.
#![cfg(target_os = "linux")]
// The helpers of tests count as tests.
#![allow(clippy::unwrap_used)]

mod descendants;
mod harness;
mod limits;

use std::io::{Read, Write};

use pipemux_launcher::{Limits, Report, Spawn, Termination};

use harness::{Launcher, spawn};

#[test]
fn exits_are_reported_with_code_or_signal() {
    let mut launcher = Launcher::start();
    launcher.start_script(1, "exit 3");
    assert_eq!(launcher.exit_of(1), Termination::Code(3));
    launcher.start_script(2, "kill -9 $$");
    assert_eq!(launcher.exit_of(2), Termination::Signal(9));
    // Real-time signals have no name, and must not hide other exits.
    launcher.start_script(3, "kill -40 $$");
    launcher.start_script(4, "exit 4");
    assert_eq!(launcher.exit_of(3), Termination::Signal(40));
    assert_eq!(launcher.exit_of(4), Termination::Code(4));
}

#[test]
fn failed_start_is_reported_with_its_reason() {
    let mut launcher = Launcher::start();
    let why = |launcher: &mut Launcher, command: &str| {
        launcher.spawn(1, Spawn { command: command.into(), ..spawn() });
        match launcher.report() {
            Report::SpawnFailed { incarnation: 1, why } => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(why(&mut launcher, "no-such-app"), "command not found: no-such-app");
    assert_eq!(why(&mut launcher, "/etc/passwd"), "not executable: /etc/passwd");
    assert!(why(&mut launcher, "nul\0").starts_with("can't start"));
    // The launcher goes on.
    launcher.start_script(2, "exit 0");
    assert_eq!(launcher.exit_of(2), Termination::Code(0));
}

#[test]
fn child_has_only_its_connection_and_its_log() {
    // Started with an open descriptor, ignored signals and a mask, as a careless harness would.
    let mut launcher = Launcher::start_with(
        "umask 077; trap '' HUP INT TERM XFSZ TSTP; exec \"$0\" launcher 7</dev/null",
    );
    let limits = Limits { files: Some(100), ..Limits::default() };
    let mut app = launcher.start_script_with_limits(
        1,
        limits,
        "umask; ls /proc/$$/fd; readlink /proc/$$/fd/0; ulimit -n; grep -E 'Sig(Blk|Ign)' /proc/self/status; \
         ps -o pid=,pgid= -p $$ | awk '{print ($1 == $2)}'; echo out; echo err >&2; \
         printf hello >&3; head -c 3 <&3",
    );
    let mut hello = [0; 5];
    app.read_exact(&mut hello).unwrap();
    app.write_all(b"bye").unwrap();
    assert_eq!(&hello, b"hello");
    assert_eq!(launcher.exit_of(1), Termination::Code(0));
    // Nobody else holds the app's end of the connection.
    assert_eq!(app.read(&mut hello).unwrap(), 0);
    let log = launcher.log(1);
    let (masks, rest): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with("Sig"));
    assert_eq!(rest, ["0022", "0", "1", "2", "3", "/dev/null", "100", "1", "out", "err", "bye"]);
    // The C library reserves signals 32 and 33; the process that started this test may ignore them.
    let standard = |line: &str| {
        let mask = line.split('\t').nth(1).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        mask.map(|mask| mask & 0x7fff_ffff)
    };
    assert_eq!(masks.into_iter().map(standard).collect::<Vec<_>>(), [Some(0), Some(0)]);
}

#[test]
fn the_environment_is_exactly_what_was_ordered() {
    let mut launcher = Launcher::start();
    let env = [("PATH", "/usr/bin:/bin"), ("NAME", "用户=1\nx"), ("EMPTY", "")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let args = vec!["-0".to_owned()];
    launcher.spawn(1, Spawn { command: "env".into(), args, env, ..spawn() });
    assert_eq!(launcher.exit_of(1), Termination::Code(0));
    let log = launcher.log(1);
    let mut seen: Vec<&str> = log.split_terminator('\0').collect();
    seen.sort_unstable();
    assert_eq!(seen, ["EMPTY=", "NAME=用户=1\nx", "PATH=/usr/bin:/bin", "PIPEMUX_FD=3"]);
}

#[test]
fn the_working_directory_falls_back_when_it_is_gone() {
    let mut launcher = Launcher::start();
    let fallback_cwd = launcher.directory.path().to_str().unwrap().to_owned();
    let args = vec!["-c".into(), "pwd".into()];
    let cwd = "/nowhere/at/all".to_owned();
    launcher.spawn(1, Spawn { cwd, fallback_cwd: fallback_cwd.clone(), args, ..spawn() });
    assert_eq!(launcher.exit_of(1), Termination::Code(0));
    assert_eq!(launcher.log(1).trim_end(), fallback_cwd);
}

#[test]
fn stdio_transport_uses_stdin_and_stdout_and_logs_stderr() {
    let mut launcher = Launcher::start();
    let script =
        "echo \"$PIPEMUX_TRANSPORT ${PIPEMUX_FD-unset}\" >&2; ls /proc/self/fd >&2; exec cat";
    let args = vec!["-c".into(), script.into()];
    let mut app = launcher.spawn(1, Spawn { stdio: true, args, ..spawn() });
    app.write_all("你好".as_bytes()).unwrap();
    let mut echo = [0; 6];
    app.read_exact(&mut echo).unwrap();
    assert_eq!(&echo, "你好".as_bytes());
    app.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(launcher.exit_of(1), Termination::Code(0));
    assert_eq!(app.read(&mut echo).unwrap(), 0);
    // The fourth descriptor belongs to the listing itself.
    assert_eq!(launcher.log(1), "stdio unset\n0\n1\n2\n3\n");
}
