//! `pipemuxd serve` as a real process: how it starts, that there is one, and what it leaves behind.
#![cfg(target_os = "linux")]
// Helpers of tests are tests.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_proto::hello::{Hello, Role};
use pipemux_proto::paths::Paths;
use pipemux_proto::{Envelope, Frame, Incarnation, Method};

const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn one_daemon_a_state_directory_and_nothing_is_left_of_it() {
    let place = Place::new();
    let daemon = place.serve();
    assert_eq!(daemon.line, "ready");
    let paths = place.paths();
    assert_eq!(fs::metadata(&paths.socket).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&paths.runtime_dir).unwrap().mode() & 0o777, 0o700);
    UnixStream::connect(&paths.socket).unwrap();

    let second = place.serve();
    assert_eq!(second.line, "running");
    assert_eq!(second.wait(), Some(0));
    UnixStream::connect(&paths.socket).unwrap();
    // Another state directory is another daemon's, in the same runtime directory.
    let other = place.serve_in("other");
    assert_eq!(other.line, "ready");

    for daemon in [daemon, other] {
        let launchers = daemon.children();
        assert_eq!(launchers.len(), 1);
        daemon.signal(Signal::SIGTERM);
        assert_eq!(daemon.wait(), Some(0));
        gone(launchers[0]);
    }
    assert_eq!(names(&paths.runtime_dir), Vec::<String>::new());
    assert_eq!(names(&paths.state_dir), ["daemon.log", "state.log"]);
    let third = place.serve();
    assert_eq!(third.line, "ready");
    third.signal(Signal::SIGINT);
    assert_eq!(third.wait(), Some(0));
}

#[test]
fn after_kill_9_nothing_runs_and_the_next_daemon_starts() {
    let place = Place::new();
    let daemon = place.serve();
    let launcher = daemon.children()[0];
    // SIGHUP means nothing to it.
    daemon.signal(Signal::SIGHUP);
    daemon.signal(Signal::SIGKILL);
    assert_eq!(daemon.wait(), None);
    gone(launcher);
    assert!(place.paths().socket.exists());
    let next = place.serve();
    assert_eq!(next.line, "ready");
    UnixStream::connect(place.paths().socket).unwrap();
    next.signal(Signal::SIGTERM);
    assert_eq!(next.wait(), Some(0));
    assert!(!place.paths().socket.exists());
}

#[test]
fn what_is_in_the_way_is_told_on_standard_output() {
    let place = Place::new();
    let paths = place.paths();
    fs::create_dir(&paths.runtime_dir).unwrap();
    fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o777)).unwrap();
    let daemon = place.serve();
    assert!(daemon.line.starts_with("error: "), "{}", daemon.line);
    assert!(daemon.line.ends_with(&format!("chmod 700 {}", paths.runtime_dir.display())));
    assert_eq!(daemon.wait(), Some(1));
    assert!(!paths.lock.exists());
    assert!(!paths.socket.exists());
}

#[test]
fn a_manifest_that_is_wrong_is_told_in_the_log() {
    let place = Place::new();
    let apps = place.directory.path().join("config/apps");
    fs::create_dir_all(&apps).unwrap();
    fs::write(apps.join("bad.toml"), "id = \"x\"\ncommand = 3\n").unwrap();
    let daemon = place.serve();
    assert_eq!(daemon.line, "ready");
    assert!(place.log().contains("bad.toml:2 (command): "), "{}", place.log());
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn a_client_is_greeted_and_one_that_talks_nonsense_hurts_only_itself() {
    let place = Place::new();
    let daemon = place.serve();
    let mut nonsense = place.connect();
    std::io::Write::write_all(&mut nonsense, &[0xff; 64]).unwrap();
    let mut half = place.connect();
    std::io::Write::write_all(&mut half, &[0, 0, 0]).unwrap();

    let mut client = place.connect();
    let envelope = Envelope::event(Method::Hello, Incarnation::default());
    let hello = Hello::new(Role::Client, "a test");
    let bytes = Frame::encode(&envelope, &hello).unwrap();
    std::io::Write::write_all(&mut client, &bytes).unwrap();
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap();
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    client.read_exact(&mut payload).unwrap();
    let frame = Frame::from_payload(payload.into()).unwrap();
    assert_eq!(frame.envelope.method, Method::Hello);

    // It is told why, or not; but it is closed.
    nonsense.read_to_end(&mut Vec::new()).unwrap();
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    assert!(half.read_to_end(&mut Vec::new()).is_ok());
}

/// Directories of a test's own.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn env(&self, state: &str) -> [(&'static str, PathBuf); 4] {
        let of = |name: &str| self.directory.path().join(name);
        [
            ("PIPEMUX_STATE_DIR", of(state)),
            ("PIPEMUX_RUNTIME_DIR", of("run")),
            ("PIPEMUX_CONFIG_DIR", of("config")),
            ("HOME", of("home")),
        ]
    }

    fn paths(&self) -> Paths {
        let env = self.env("state");
        let get = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, path)| path.to_str().unwrap().to_owned())
        };
        Paths::from_env(get, nix::unistd::getuid().as_raw()).unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.paths().log).unwrap()
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.paths().socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    fn serve(&self) -> Daemon {
        self.serve_in("state")
    }

    fn serve_in(&self, state: &str) -> Daemon {
        let env = self.env(state);
        fs::create_dir_all(&env[0].1).unwrap();
        let log = env[0].1.join("daemon.log");
        let log = fs::File::options().append(true).create(true).open(log).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_pipemuxd"))
            .arg("serve")
            .env_clear()
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Daemon { process, stdout, line: line.trim_end().to_owned() }
    }
}

struct Daemon {
    process: Child,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Daemon {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).unwrap();
    }

    fn children(&self) -> Vec<i32> {
        let id = self.process.id();
        let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    /// Standard output ends by itself; then the process.
    fn wait(mut self) -> Option<i32> {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        until(|| self.process.try_wait().unwrap()).code()
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until there is no such process, or only what is left for a parent to see.
fn gone(pid: i32) {
    until(|| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z")).then_some(())
    });
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
