//! The launcher as a real process, with real children that don't behave.
#![cfg(target_os = "linux")]
// Helpers of tests are tests.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_launcher::{Ended, Force, Inbox, Order, Report, Spawn, encode, send};

const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn exits_are_reported_with_code_or_signal() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "exit 3");
    assert_eq!(launcher.exit_of(1), Ended::Code(3));
    launcher.sh(2, "kill -9 $$");
    assert_eq!(launcher.exit_of(2), Ended::Signal(9));
    // Real-time signals have no name, and must not hide other exits.
    launcher.sh(3, "kill -40 $$");
    launcher.sh(4, "exit 4");
    assert_eq!(launcher.exit_of(3), Ended::Signal(40));
    assert_eq!(launcher.exit_of(4), Ended::Code(4));
}

#[test]
fn what_cannot_be_started_is_told_why() {
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
    // And goes on.
    launcher.sh(2, "exit 0");
    assert_eq!(launcher.exit_of(2), Ended::Code(0));
}

#[test]
fn a_child_has_its_connection_its_log_and_nothing_else() {
    // Started with an open descriptor and ignored signals, as a careless harness would.
    let mut launcher =
        Launcher::start_by("trap '' HUP INT TERM; exec \"$0\" launcher 100 7</dev/null");
    let mut app = launcher.sh(
        1,
        "ls /proc/$$/fd; readlink /proc/$$/fd/0; ulimit -n; grep -E 'Sig(Blk|Ign)' /proc/self/status; \
         ps -o pid=,pgid= -p $$ | awk '{print ($1 == $2)}'; echo out; echo err >&2; \
         printf hello >&3; head -c 3 <&3",
    );
    let mut hello = [0; 5];
    app.read_exact(&mut hello).unwrap();
    app.write_all(b"bye").unwrap();
    assert_eq!(&hello, b"hello");
    assert_eq!(launcher.exit_of(1), Ended::Code(0));
    // Nobody else holds the app's end.
    assert_eq!(app.read(&mut hello).unwrap(), 0);
    let log = launcher.log(1);
    let (masks, rest): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with("Sig"));
    assert_eq!(rest, ["0", "1", "2", "3", "/dev/null", "100", "1", "out", "err", "bye"]);
    // The C library keeps 32 and 33 for itself: whoever started this test may have them ignored.
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
    assert_eq!(launcher.exit_of(1), Ended::Code(0));
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
    assert_eq!(launcher.exit_of(1), Ended::Code(0));
    assert_eq!(launcher.log(1).trim_end(), fallback_cwd);
}

#[test]
fn signals_reach_the_whole_group_and_a_leaders_end_ends_it() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "sleep 1000 & echo $!; wait");
    let member = launcher.printed_pid(1);
    launcher.order(&Order::Signal { incarnation: 1, force: Force::Terminate }, vec![]);
    assert_eq!(launcher.exit_of(1), Ended::Signal(15));
    gone(member);

    // The leader ends by itself; what it left in its group goes with it.
    launcher.sh(2, "trap '' TERM; sleep 1000 & echo $!; exit 5");
    let member = launcher.printed_pid(2);
    assert_eq!(launcher.exit_of(2), Ended::Code(5));
    gone(member);

    // One that ignores SIGTERM is alive after it, and not after SIGKILL.
    let mut app =
        launcher.sh(3, "trap 'echo no >&3' TERM; echo up >&3; while :; do sleep 0.01; done");
    let mut said = [0; 3];
    app.read_exact(&mut said).unwrap();
    launcher.order(&Order::Signal { incarnation: 3, force: Force::Terminate }, vec![]);
    app.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"no\n");
    launcher.order(&Order::Signal { incarnation: 3, force: Force::Kill }, vec![]);
    assert_eq!(launcher.exit_of(3), Ended::Signal(9));
    // Nobody is there any more: passed over.
    launcher.order(&Order::Signal { incarnation: 3, force: Force::Kill }, vec![]);
    launcher.sh(4, "exit 0");
    assert_eq!(launcher.exit_of(4), Ended::Code(0));
}

#[test]
fn when_the_daemon_is_gone_every_descendant_is_killed() {
    let mut launcher = Launcher::start();
    // A daemon of its own session whose parent ended, with a child that ignores signals too.
    launcher.sh(
        1,
        "trap '' TERM HUP; (setsid sh -c 'echo $$; sh -c \"echo \\$\\$; sleep 1000\" & sleep 1000' &) ; \
         echo $$; sleep 1000",
    );
    // One that forks and ends without end.
    launcher.sh(2, "cat > f.sh <<'E'\nsh f.sh &\nE\necho $$; setsid sh f.sh & sleep 1000");
    let pids = launcher.printed_pids(1, 3);
    let chain = launcher.printed_pid(2);
    // The chain moves on: its process is another one each time.
    let directory = launcher.directory.path().to_owned();
    let before = until(|| Some(processes_in(&directory)).filter(|found| found.len() > 4));
    until(|| processes_in(&directory).iter().any(|pid| !before.contains(pid)).then_some(()));
    launcher.end();
    for pid in pids.into_iter().chain([chain]) {
        gone(pid);
    }
    assert_eq!(processes_in(&directory), Vec::<i32>::new());
}

#[test]
fn it_outlives_signals_and_when_it_is_killed_its_children_die_too() {
    let mut launcher = Launcher::start();
    launcher.sh(1, "echo $$; exec sleep 1000");
    let app = launcher.printed_pid(1);
    let own = Pid::from_raw(launcher.process.id() as i32);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        kill(own, signal).unwrap();
    }
    launcher.sh(2, "exit 6");
    assert_eq!(launcher.exit_of(2), Ended::Code(6));
    assert!(kill(app, None).is_ok());
    kill(own, Signal::SIGKILL).unwrap();
    launcher.process.wait().unwrap();
    gone(app);
}

/// The launcher, its socket and what it started.
struct Launcher {
    process: Child,
    socket: UnixStream,
    inbox: Inbox,
    directory: tempfile::TempDir,
    pending: Vec<Report>,
}

impl Launcher {
    fn start() -> Self {
        Self::start_by("exec \"$0\" launcher")
    }

    fn start_by(script: &str) -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let process = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_pipemuxd")])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .unwrap();
        let directory = tempfile::tempdir().unwrap();
        Self { process, socket, inbox: Inbox::default(), directory, pending: Vec::new() }
    }

    fn sh(&mut self, incarnation: u64, script: &str) -> UnixStream {
        let app =
            self.spawn(incarnation, Spawn { args: vec!["-c".into(), script.into()], ..spawn() });
        match self.report_where(|report| matches!(report, Report::Spawned { .. })) {
            Report::Spawned { incarnation: found, .. } if found == incarnation => app,
            other => panic!("{other:?}"),
        }
    }

    fn spawn(&mut self, incarnation: u64, mut spawn: Spawn) -> UnixStream {
        spawn.incarnation = incarnation;
        if spawn.cwd.is_empty() {
            spawn.cwd = self.directory.path().to_str().unwrap().into();
        }
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(DEADLINE)).unwrap();
        let log = File::options().append(true).create(true).open(self.log_path(incarnation));
        self.order(&Order::Spawn(spawn), vec![theirs.into(), log.unwrap().into()]);
        ours
    }

    fn order(&mut self, order: &Order, fds: Vec<OwnedFd>) {
        let bytes = encode(order).unwrap();
        let sent = send(&self.socket, &bytes, &fds).unwrap();
        self.socket.write_all(&bytes[sent..]).unwrap();
    }

    fn report(&mut self) -> Report {
        loop {
            if let Some(report) = self.inbox.next_message().unwrap() {
                return report;
            }
            assert_ne!(self.inbox.receive(&self.socket).unwrap(), 0, "the launcher is gone");
        }
    }

    fn report_where(&mut self, wanted: impl Fn(&Report) -> bool) -> Report {
        if let Some(at) = self.pending.iter().position(&wanted) {
            return self.pending.remove(at);
        }
        loop {
            let report = self.report();
            if wanted(&report) {
                return report;
            }
            self.pending.push(report);
        }
    }

    fn exit_of(&mut self, wanted: u64) -> Ended {
        let is = |report: &Report| matches!(report, Report::Exited { incarnation, .. } if *incarnation == wanted);
        match self.report_where(is) {
            Report::Exited { how, .. } => how,
            other => panic!("{other:?}"),
        }
    }

    fn log_path(&self, incarnation: u64) -> PathBuf {
        self.directory.path().join(format!("{incarnation}.log"))
    }

    fn log(&self, incarnation: u64) -> String {
        fs::read_to_string(self.log_path(incarnation)).unwrap()
    }

    fn printed_pid(&self, incarnation: u64) -> Pid {
        self.printed_pids(incarnation, 1)[0]
    }

    fn printed_pids(&self, incarnation: u64, count: usize) -> Vec<Pid> {
        until(|| {
            let log = self.log(incarnation);
            let pids: Vec<Pid> =
                log.lines().filter_map(|line| line.parse().ok()).map(Pid::from_raw).collect();
            (pids.len() == count && log.ends_with('\n')).then_some(pids)
        })
    }

    /// Closes the daemon's end, and waits for the launcher's.
    fn end(&mut self) {
        self.socket.shutdown(Shutdown::Both).unwrap();
        assert!(until(|| self.process.try_wait().unwrap()).success());
    }
}

/// A test that fails leaves nothing running either.
impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.process.wait();
    }
}

fn spawn() -> Spawn {
    Spawn {
        incarnation: 0,
        command: "sh".into(),
        args: vec![],
        env: vec![("PATH".into(), std::env::var("PATH").unwrap())],
        cwd: String::new(),
        fallback_cwd: "/".into(),
    }
}

/// Waits until there is no such process, or only what is left for a parent to see.
fn gone(pid: Pid) {
    until(|| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z")).then_some(())
    });
}

fn processes_in(directory: &std::path::Path) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory)) {
            found.push(pid);
        }
    }
    found
}

/// Looks again and again until there is something, or the deadline has passed.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited for too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}
