//! Apps under the daemon: their environment, their limits, and that nothing of them is left.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_proto::client::Verb;

use crate::harness::{Client, TestHome, children, descendants, wait_for, wait_until_gone};

#[test]
fn app_environment_comes_from_opener_and_manifest_only() {
    let home = TestHome::new();
    let script = "umask; ulimit -c; ulimit -n; pwd; nice; ls /proc/self/fd; \
                  grep -E \"Sig(Blk|Ign)\" /proc/self/status; env -0 | sort -z | tr \"\\\\0\" \"\\\\n\"; \
                  sleep 1000";
    home.app_with("look", script, "pass = [\"MINE\"]\n[limits]\nfiles = 77\n");
    // Started as by a careless harness: with a secret, a mask, an ignored signal, a low priority,
    // an open descriptor and another directory.
    let start = "cd /usr; umask 077; trap '' TERM PIPE HUP; export SECRET=1 LANG=xx MINE=daemon; \
                 exec 9</dev/null; exec nice -n 3 \"$0\" serve";
    let daemon = home.serve_by(start, "state");
    assert_eq!(daemon.line, "ready");
    let mut client = Client::connect(&home);
    let cwd = home.directory.path().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let env = [("PATH", path.as_str()), ("LANG", "C"), ("MINE", "opener"), ("OTHER", "dropped")];
    client.send_open("look", "main", &cwd, &env);
    let log = wait_for(|| {
        Some(home.session_log("look", "main")).filter(|log| log.contains("PIPEMUX_FD"))
    });
    let (masks, rest): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with("Sig"));
    let path = format!("PATH={path}");
    // Only root can raise a low priority again.
    let nice = if nix::unistd::getuid().is_root() { "0" } else { "3" };
    let paths = home.paths();
    let own = |name: &str, path: &std::path::Path| format!("PIPEMUX_{name}={}", path.display());
    let config = own("CONFIG_DIR", &home.directory.path().join("config"));
    let runtime = own("RUNTIME_DIR", &paths.runtime_dir);
    let state = own("STATE_DIR", &paths.state_dir);
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
        &config,
        "PIPEMUX_FD=3",
        &runtime,
        &state,
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
fn exceeded_limit_is_named_in_the_error() {
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
fn background_processes_end_with_their_session() {
    let home = TestHome::new();
    let script = "(setsid sh -c \"trap : TERM; while :; do sleep 1; done\" &); env -i setsid sleep 1000 & \
                  trap : TERM; while :; do sleep 1; done";
    home.app("sleepy", script);
    let daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("sleepy", "one", "/", &[]);
    client.send_open("sleepy", "two", "/", &[]);
    let launcher = daemon.children()[0];
    let all = wait_for(|| Some(descendants(launcher)).filter(|found| found.len() >= 10));
    let session = "sleepy/one".parse().unwrap();
    client.ask(Verb::End { session }).ok();
    // The processes of the other session are still there, and no others.
    wait_for(|| (descendants(launcher).len() <= all.len() / 2 + 1).then_some(()));
    assert!(descendants(launcher).len() >= 4);
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    all.into_iter().for_each(wait_until_gone);
}

#[test]
fn next_daemon_ends_processes_left_by_a_killed_one() {
    let home = TestHome::new();
    home.app("sleepy", "(env -i setsid sleep 1001 &); exec sleep 1002");
    let daemon = home.serve();
    let other = home.serve_in("other");
    let mut client = Client::connect(&home);
    client.send_open("sleepy", "main", "/", &[]);
    let launcher = daemon.children()[0];
    let runaway = wait_for(|| {
        children(launcher).into_iter().find(|pid| command(*pid).starts_with("sleep\u{0}1001"))
    });
    // While it is stopped, the launcher can't react to the daemon's end.
    kill(Pid::from_raw(launcher), Signal::SIGSTOP).unwrap();
    for pid in [daemon.process.id() as i32, launcher] {
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    }
    wait_until_gone(launcher);
    assert!(!command(runaway).is_empty());
    // The daemon of another directory leaves the process alone.
    let third = home.serve_in("third");
    assert_eq!((other.line.as_str(), third.line.as_str()), ("ready", "ready"));
    assert!(!command(runaway).is_empty());
    let next = home.serve();
    assert_eq!(next.line, "ready");
    wait_until_gone(runaway);
    let told = format!("ended what an earlier daemon left: process {runaway} (sleep 1001)");
    assert!(home.log().contains(&told), "{}", home.log());
}

fn command(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}
