//! Apps over the daemon: what they find, what they may use, and that nothing is left of them.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_proto::client::Verb;

use crate::harness::{Client, TestHome, children, descendants, gone, until};

#[test]
fn an_app_finds_what_its_opener_and_manifest_say_and_nothing_of_the_daemons() {
    let home = TestHome::new();
    let script = "umask; ulimit -c; ulimit -n; pwd; nice; ls /proc/self/fd; \
                  grep -E \"Sig(Blk|Ign)\" /proc/self/status; env -0 | sort -z | tr \"\\\\0\" \"\\\\n\"; \
                  sleep 1000";
    home.app_with("look", script, "pass = [\"MINE\"]\n[limits]\nfiles = 77\n");
    // Started as by a careless harness: with a secret, a mask, an ignored signal, a low priority, an
    // open descriptor and another directory.
    let start = "cd /usr; umask 077; trap '' TERM PIPE HUP; export SECRET=1 LANG=xx MINE=daemon; \
                 exec 9</dev/null; exec nice -n 3 \"$0\" serve";
    let daemon = home.serve_by(start, "state");
    assert_eq!(daemon.line, "ready");
    let mut client = Client::connect(&home);
    let cwd = home.directory.path().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let env = [("PATH", path.as_str()), ("LANG", "C"), ("MINE", "opener"), ("OTHER", "dropped")];
    client.send_open("look", "main", &cwd, &env);
    let log =
        until(|| Some(home.session_log("look", "main")).filter(|log| log.contains("PIPEMUX_FD")));
    let (masks, rest): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with("Sig"));
    let path = format!("PATH={path}");
    // A low priority can't be given up by everyone.
    let nice = if nix::unistd::getuid().is_root() { "0" } else { "3" };
    let expected = [
        "0022",
        "0",
        "77",
        &cwd,
        nice,
        "0",
        "1",
        "2",
        "3",
        "4",
        "LANG=C",
        "MINE=opener",
        &path,
        "PIPEMUX_FD=3",
    ];
    let rest: Vec<&str> = rest.into_iter().filter(|line| !line.starts_with("PWD=")).collect();
    assert_eq!(rest, expected);
    let standard = |line: &str| {
        let mask = line.split('\t').nth(1).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        mask.map(|mask| mask & 0x7fff_ffff)
    };
    assert_eq!(masks.into_iter().map(standard).collect::<Vec<_>>(), [Some(0), Some(0)]);
    daemon.signal(Signal::SIGKILL);
}

#[test]
fn a_limit_that_ends_an_app_is_told_in_words() {
    let home = TestHome::new();
    home.app_with("busy", "while :; do :; done", "limits.cpu = 1\n");
    home.app_with("hungry", "cat /dev/zero | tail -c 1000000000", "limits.memory = \"32M\"\n");
    let bomb = "f() { [ $1 -gt 8 ] || { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0";
    home.app_with("bomb", bomb, "[limits]\nprocesses = 16\n");
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    let mut told = |provider: &str| client.open(provider).unwrap_err();
    let why = told("busy");
    assert!(why.contains("ended for using more than its 1 s of processor time"), "{why}");
    let why = told("bomb");
    assert!(why.contains("ended for having more than its 16 processes"), "{why}");
    let why = told("hungry");
    assert!(why.contains("of its 32 MiB of memory used"), "{why}");
    assert!(why.contains("memory exhausted"), "{why}");
}

#[test]
fn what_an_app_let_go_of_ends_with_its_session() {
    let home = TestHome::new();
    let script = "(setsid sh -c \"trap : TERM; while :; do sleep 1; done\" &); env -i setsid sleep 1000 & \
                  trap : TERM; while :; do sleep 1; done";
    home.app("sleepy", script);
    let daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("sleepy", "one", "/", &[]);
    client.send_open("sleepy", "two", "/", &[]);
    let launcher = daemon.children()[0];
    let all = until(|| Some(descendants(launcher)).filter(|found| found.len() >= 10));
    let session = "sleepy/one".parse().unwrap();
    client.ask(Verb::End { session }).ok();
    // The other session's are still there, and only they.
    until(|| (descendants(launcher).len() <= all.len() / 2 + 1).then_some(()));
    assert!(descendants(launcher).len() >= 4);
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    all.into_iter().for_each(gone);
}

#[test]
fn what_outlives_daemon_and_launcher_is_ended_by_the_next_daemon_of_that_directory() {
    let home = TestHome::new();
    home.app("sleepy", "(env -i setsid sleep 1001 &); exec sleep 1002");
    let daemon = home.serve();
    let other = home.serve_in("other");
    let mut client = Client::connect(&home);
    client.send_open("sleepy", "main", "/", &[]);
    let launcher = daemon.children()[0];
    let runaway = until(|| {
        children(launcher).into_iter().find(|pid| command(*pid).starts_with("sleep\u{0}1001"))
    });
    // The daemon first: it would look after the launcher's children.
    for pid in [daemon.process.id() as i32, launcher] {
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    }
    gone(launcher);
    if command(runaway).is_empty() {
        // The launcher heard of the daemon's end and was quicker than the signal to it.
        return;
    }
    // Another directory's daemon has nothing to do with it.
    let third = home.serve_in("third");
    assert_eq!((other.line.as_str(), third.line.as_str()), ("ready", "ready"));
    assert!(!command(runaway).is_empty());
    let next = home.serve();
    assert_eq!(next.line, "ready");
    gone(runaway);
    let told = format!("ended what an earlier daemon left: process {runaway} (sleep 1001)");
    assert!(home.log().contains(&told), "{}", home.log());
}

fn command(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}
