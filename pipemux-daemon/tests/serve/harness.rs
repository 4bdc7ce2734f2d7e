//! Directories, a daemon and clients for one test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipemux_proto::client::{Answer, Body, Format, OpenArgs, Verb, VerbRequest, Workspace};
use pipemux_proto::hello::{Hello, Role};
use pipemux_proto::paths::Paths;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};

const DEADLINE: Duration = Duration::from_secs(20);

/// A client that has exchanged greetings with the daemon.
pub struct Client {
    stream: UnixStream,
    next: u64,
}

impl Client {
    pub fn connect(home: &TestHome) -> Self {
        let mut client = Self { stream: home.connect(), next: 1 };
        greet(&mut client.stream);
        client
    }

    /// Opens a session of that app; returns the whole text of an error, including hints.
    pub fn open(&mut self, provider: &str) -> Result<Body, String> {
        self.send_open(provider, "main", "/", &[]);
        self.answer()
    }

    /// Requests a session; its environment contains at least `PATH`.
    pub fn send_open(&mut self, provider: &str, session: &str, cwd: &str, env: &[(&str, &str)]) {
        let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.send(Verb::Open(OpenArgs {
            provider: provider.parse().unwrap(),
            session: Some(session.parse().unwrap()),
            args: vec![],
            cwd: cwd.into(),
            env: [path].into_iter().chain(env).collect(),
            pin: None,
            priority: None,
            weight: None,
        }));
    }

    pub fn ask(&mut self, verb: Verb) -> Result<Body, String> {
        self.send(verb);
        self.answer()
    }

    /// Returns the answer to the last request.
    pub fn answer(&mut self) -> Result<Body, String> {
        let last = self.next - 1;
        loop {
            let frame = receive(&mut self.stream);
            if frame.envelope.id != last {
                continue;
            }
            if frame.envelope.kind == Kind::Fault {
                let fault: Fault = pipemux_proto::decode(&frame.body).unwrap();
                panic!("{fault:?}");
            }
            let Answer { exit, body, .. } = pipemux_proto::decode(&frame.body).unwrap();
            return match (exit, body) {
                (0, body) => Ok(body),
                (_, Body::Text(text)) => Err(text.trim_end().to_owned()),
                (_, other) => panic!("{other:?}"),
            };
        }
    }

    fn send(&mut self, verb: Verb) {
        let call = VerbRequest {
            workspace: Workspace { key: "w".into(), name: "w".into() },
            reader: "default".into(),
            reader_token: String::new(),
            run_id: format!("run {} of {:p}", self.next, self),
            format: Format::default(),
            budget: None,
            lod: None,
            at: None,
            client: String::new(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: std::collections::BTreeMap::new(),
            titles: false,
            cwd: String::new(),
            verb,
        };
        let envelope = Envelope::request(Method::Verb, self.next, Incarnation::default());
        self.next += 1;
        self.stream.write_all(&Frame::encode(&envelope, &call).unwrap()).unwrap();
    }
}

/// Exchanges greetings with the daemon.
pub fn greet(client: &mut UnixStream) {
    let envelope = Envelope::event(Method::Hello, Incarnation::default());
    let hello = Hello::new(Role::Client, "a test");
    client.write_all(&Frame::encode(&envelope, &hello).unwrap()).unwrap();
    assert_eq!(receive(client).envelope.method, Method::Hello);
}

fn receive(client: &mut UnixStream) -> Frame {
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap();
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    client.read_exact(&mut payload).unwrap();
    Frame::from_payload(payload.into()).unwrap()
}

/// The directories of one test.
pub struct TestHome {
    pub directory: tempfile::TempDir,
}

impl TestHome {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn env(&self, state: &str) -> [(&'static str, PathBuf); 4] {
        let of = |name: &str| self.directory.path().join(name);
        [
            ("PIPEMUX_STATE_DIR", of(state)),
            ("PIPEMUX_RUNTIME_DIR", of("run")),
            ("PIPEMUX_CONFIG_DIR", of("config")),
            ("HOME", of("home")),
        ]
    }

    pub fn paths(&self) -> Paths {
        let env = self.env("state");
        let get = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, path)| path.to_str().unwrap().to_owned())
        };
        Paths::from_env(get, nix::unistd::getuid().as_raw()).unwrap()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.paths().log).unwrap()
    }

    pub fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.paths().socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    pub fn app(&self, id: &str, script: &str) {
        self.app_with(id, script, "");
    }

    /// Registers an app that is a shell script without single quotes; `rest` is appended to its
    /// manifest.
    pub fn app_with(&self, id: &str, script: &str, rest: &str) {
        // These scripts start programs and look at the process itself; stories test the sandbox.
        let text = format!(
            "id = \"{id}\"\ncommand = \"sh\"\nargs = [\"-c\", '{script}']\nsandbox = \"off\"\n{rest}"
        );
        self.manifest(id, &text);
    }

    pub fn manifest(&self, id: &str, text: &str) {
        let apps = self.directory.path().join("config/apps");
        fs::create_dir_all(&apps).unwrap();
        fs::write(apps.join(format!("{id}.toml")), text).unwrap();
    }

    /// Returns the log of the only session with that name.
    pub fn session_log_path(&self, provider: &str, session: &str) -> PathBuf {
        let logs = self.paths().state_dir.join("logs");
        let name = format!("{provider}.{session}.log");
        let owners = fs::read_dir(&logs).into_iter().flatten().flatten();
        let found = owners.map(|owner| owner.path().join(&name)).find(|path| path.exists());
        found.unwrap_or_else(|| logs.join(name))
    }

    /// Returns what a session printed.
    pub fn session_log(&self, provider: &str, session: &str) -> String {
        let bytes = fs::read(self.session_log_path(provider, session)).unwrap_or_default();
        without_dates(&String::from_utf8_lossy(&bytes))
    }

    pub fn serve(&self) -> Daemon {
        self.serve_in("state")
    }

    pub fn serve_in(&self, state: &str) -> Daemon {
        self.serve_by("exec \"$0\" serve", state)
    }

    pub fn serve_by(&self, script: &str, state: &str) -> Daemon {
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

pub struct Daemon {
    pub process: Child,
    stdout: BufReader<ChildStdout>,
    pub line: String,
}

impl Daemon {
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.process.id() as i32), signal).unwrap();
    }

    pub fn children(&self) -> Vec<i32> {
        children(self.process.id() as i32)
    }

    /// Waits for the end of standard output, and then of the process.
    pub fn wait(mut self) -> Option<i32> {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        wait_for(|| self.process.try_wait().unwrap()).code()
    }
}

/// Ends the processes of a failed test, too.
impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

pub fn command_line(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

pub fn descendants(pid: i32) -> Vec<i32> {
    let own = children(pid);
    own.iter().copied().chain(own.iter().flat_map(|child| descendants(*child))).collect()
}

pub fn file_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut file_names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    file_names.sort();
    file_names
}

/// Waits until the process is gone, or is only a zombie.
pub fn wait_until_gone(pid: i32) {
    wait_for(|| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z")).then_some(())
    });
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

/// Leaves out the lines with which the daemon tells the time.
pub fn without_dates(log: &str) -> String {
    log.split_inclusive('\n').filter(|line| !line.starts_with("[pipemux ")).collect()
}
