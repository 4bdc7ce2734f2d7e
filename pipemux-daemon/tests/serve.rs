//! `pipemuxd serve` as a real process: how it starts, that there is one, and what it leaves behind.
#![cfg(target_os = "linux")]
// Helpers of tests are tests.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_proto::client::{Call, Format, Open, Verb, Workspace};
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
    nonsense.write_all(&[0xff; 64]).unwrap();
    let mut half = place.connect();
    half.write_all(&[0, 0, 0]).unwrap();

    greet(&mut place.connect());

    // It is told why, or not; but it is closed.
    nonsense.read_to_end(&mut Vec::new()).unwrap();
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    assert!(half.read_to_end(&mut Vec::new()).is_ok());
}

#[test]
fn a_lost_launcher_takes_its_apps_along_and_a_new_one_runs() {
    let place = Place::new();
    place.app("sleepy", "setsid sleep 1000 & sleep 1000; true");
    let daemon = place.serve();
    let mut client = place.connect();
    greet(&mut client);
    open(&mut client, 1, "one");
    let launcher = daemon.children()[0];
    let apps = until(|| Some(descendants(launcher)).filter(|found| found.len() == 3));
    kill(Pid::from_raw(launcher), Signal::SIGKILL).unwrap();
    // Its own session didn't save the one that has it.
    for app in apps {
        gone(app);
    }
    // The core may have asked for a new process already; at the latest it does now.
    open(&mut client, 2, "two");
    // Orphans of the lost one are the daemon's for a moment, so not every child is a launcher.
    let is_next = |pid: &i32| *pid != launcher && command_line(*pid).contains("launcher");
    let next = until(|| daemon.children().into_iter().find(is_next));
    let apps = until(|| Some(descendants(next)).filter(|found| !found.is_empty()));
    greet(&mut place.connect());
    assert!(place.log().contains("the launcher is lost"), "{}", place.log());

    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
    for process in apps.into_iter().chain([next]) {
        gone(process);
    }
}

#[test]
fn when_descriptors_run_out_clients_wait_and_are_served_later() {
    let place = Place::new();
    let daemon = place.serve_by("ulimit -n 24; exec \"$0\" serve", "state");
    assert_eq!(daemon.line, "ready");
    let mut clients: Vec<UnixStream> = (0..20).map(|_| place.connect()).collect();
    until(|| place.log().contains("can't accept connections, clients wait").then_some(()));
    // Each that leaves lets one in.
    while !clients.is_empty() {
        greet(&mut clients[0]);
        clients.remove(0);
    }
    assert_eq!(place.log().matches("can't accept").count(), 1, "{}", place.log());
    daemon.signal(Signal::SIGTERM);
    assert_eq!(daemon.wait(), Some(0));
}

/// Says hello and hears it.
fn greet(client: &mut UnixStream) {
    let envelope = Envelope::event(Method::Hello, Incarnation::default());
    let hello = Hello::new(Role::Client, "a test");
    client.write_all(&Frame::encode(&envelope, &hello).unwrap()).unwrap();
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap();
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    client.read_exact(&mut payload).unwrap();
    assert_eq!(Frame::from_payload(payload.into()).unwrap().envelope.method, Method::Hello);
}

/// Asks for a session; what is answered doesn't matter here.
fn open(client: &mut UnixStream, request: u64, session: &str) {
    let verb = Verb::Open(Open {
        provider: "sleepy".parse().unwrap(),
        session: Some(session.parse().unwrap()),
        args: vec![],
        cwd: "/".into(),
        env: [("PATH".to_owned(), std::env::var("PATH").unwrap())].into(),
        pin: None,
    });
    let call = Call {
        workspace: Workspace { key: "w".into(), name: "w".into() },
        reader: "default".into(),
        run_id: format!("open {session}"),
        format: Format::default(),
        budget: None,
        lod: None,
        at: None,
        titles: false,
        cwd: String::new(),
        verb,
    };
    let envelope = Envelope::request(Method::Verb, request, Incarnation::default());
    client.write_all(&Frame::encode(&envelope, &call).unwrap()).unwrap();
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

    fn app(&self, id: &str, script: &str) {
        let apps = self.directory.path().join("config/apps");
        fs::create_dir_all(&apps).unwrap();
        let text = format!("id = \"{id}\"\ncommand = \"sh\"\nargs = [\"-c\", '{script}']\n");
        fs::write(apps.join(format!("{id}.toml")), text).unwrap();
    }

    fn serve(&self) -> Daemon {
        self.serve_in("state")
    }

    fn serve_in(&self, state: &str) -> Daemon {
        self.serve_by("exec \"$0\" serve", state)
    }

    fn serve_by(&self, script: &str, state: &str) -> Daemon {
        let env = self.env(state);
        fs::create_dir_all(&env[0].1).unwrap();
        let log = env[0].1.join("daemon.log");
        let log = fs::File::options().append(true).create(true).open(log).unwrap();
        let mut process = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_pipemuxd")])
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
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
        children(self.process.id() as i32)
    }

    /// Standard output ends by itself; then the process.
    fn wait(mut self) -> Option<i32> {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        until(|| self.process.try_wait().unwrap()).code()
    }
}

/// A test that fails leaves nothing running either.
impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn command_line(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

fn descendants(pid: i32) -> Vec<i32> {
    let own = children(pid);
    own.iter().copied().chain(own.iter().flat_map(|child| descendants(*child))).collect()
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
