//! A launcher for one test.

use std::fs::{self, File};
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use pipemux_launcher::{
    ExceededLimit, Inbox, Limits, MarkOrigin, Order, Report, Spawn, Termination, encode, send,
};

const DEADLINE: Duration = Duration::from_secs(20);

/// The launcher's process, the socket to it, and a directory for its apps.
pub struct Launcher {
    pub process: Child,
    socket: UnixStream,
    inbox: Inbox,
    pub directory: tempfile::TempDir,
    pending: Vec<Report>,
}

impl Launcher {
    pub fn start() -> Self {
        Self::start_with("exec \"$0\" launcher")
    }

    pub fn start_with(script: &str) -> Self {
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

    pub fn start_script(&mut self, incarnation: u64, script: &str) -> UnixStream {
        self.start_script_with_limits(incarnation, Limits::default(), script)
    }

    pub fn start_script_with_limits(
        &mut self,
        incarnation: u64,
        limits: Limits,
        script: &str,
    ) -> UnixStream {
        let args = vec!["-c".into(), script.into()];
        let app = self.spawn(incarnation, Spawn { args, limits, ..spawn() });
        match self.report_where(|report| matches!(report, Report::Spawned { .. })) {
            Report::Spawned { incarnation: found, .. } if found == incarnation => app,
            other => panic!("{other:?}"),
        }
    }

    pub fn spawn(&mut self, incarnation: u64, mut spawn: Spawn) -> UnixStream {
        spawn.incarnation = incarnation;
        spawn.mark = self.origin().mark(incarnation);
        if spawn.cwd.is_empty() {
            spawn.cwd = self.directory.path().to_str().unwrap().into();
        }
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(DEADLINE)).unwrap();
        let log = File::options().append(true).create(true).open(self.log_path(incarnation));
        self.order(&Order::Spawn(spawn), vec![theirs.into(), log.unwrap().into()]);
        ours
    }

    pub fn order(&mut self, order: &Order, fds: Vec<OwnedFd>) {
        let bytes = encode(order).unwrap();
        let sent = send(&self.socket, &bytes, &fds).unwrap();
        self.socket.write_all(&bytes[sent..]).unwrap();
    }

    pub fn report(&mut self) -> Report {
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

    pub fn exit_of(&mut self, wanted: u64) -> Termination {
        self.exit_and_limit_of(wanted).0
    }

    /// Returns how a process ended and which limit it exceeded; asserts that none of its
    /// descendants is left.
    pub fn exit_and_limit_of(&mut self, wanted: u64) -> (Termination, Option<ExceededLimit>) {
        let is = |report: &Report| matches!(report, Report::Exited { incarnation, .. } if *incarnation == wanted);
        match self.report_where(is) {
            Report::Exited { termination, exceeded, survivors, .. } => {
                assert_eq!(survivors, Vec::<i32>::new());
                (termination, exceeded)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the origin of the marks; a directory of this test stands for the state directory.
    pub fn origin(&self) -> MarkOrigin {
        MarkOrigin::of(self.directory.path()).unwrap()
    }

    fn log_path(&self, incarnation: u64) -> PathBuf {
        self.directory.path().join(format!("{incarnation}.log"))
    }

    pub fn log(&self, incarnation: u64) -> String {
        fs::read_to_string(self.log_path(incarnation)).unwrap()
    }

    pub fn printed_pid(&self, incarnation: u64) -> Pid {
        self.printed_pids(incarnation, 1)[0]
    }

    pub fn printed_pids(&self, incarnation: u64, count: usize) -> Vec<Pid> {
        wait_for(|| {
            let log = self.log(incarnation);
            let pids: Vec<Pid> =
                log.lines().filter_map(|line| line.parse().ok()).map(Pid::from_raw).collect();
            (pids.len() == count && log.ends_with('\n')).then_some(pids)
        })
    }

    /// Closes the daemon's end and waits for the launcher to exit.
    pub fn end(&mut self) {
        self.socket.shutdown(Shutdown::Both).unwrap();
        assert!(wait_for(|| self.process.try_wait().unwrap()).success());
    }
}

/// Ends the processes of a failed test, too.
impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.process.wait();
    }
}

pub fn spawn() -> Spawn {
    Spawn {
        sandbox: None,
        incarnation: 0,
        command: "sh".into(),
        args: vec![],
        env: vec![("PATH".into(), std::env::var("PATH").unwrap())],
        cwd: String::new(),
        fallback_cwd: "/".into(),
        // Replaced for each process.
        mark: MarkOrigin::of(Path::new("/")).unwrap().mark(0),
        stdio: false,
        limits: Limits::default(),
    }
}

/// Waits until the process is gone, or is only a zombie.
pub fn wait_until_gone(pid: Pid) {
    wait_for(|| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z")).then_some(())
    });
}

pub fn processes_in(directory: &Path) -> Vec<i32> {
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

/// Polls until there is a result; panics after the deadline.
pub fn wait_for<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited for too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}
