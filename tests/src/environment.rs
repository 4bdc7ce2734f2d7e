//! A home directory with its daemon, and the check that nothing of it is left at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pipemux_proto::paths::Paths;
use tempfile::TempDir;

use crate::processes::{Process, in_environment, is_alive, kill};
use crate::programs::program;
use crate::waiting::{poll_until, wait_for};
use crate::{Invocation, Output, Signal};

/// Bytes of commands and answers that an environment keeps, to print them when its story fails.
const TRANSCRIPT_MAX: usize = 4 * 1024 * 1024;

/// A home directory, a project, and the daemon that the first command starts.
///
/// When it is dropped, the daemon is ended. The test fails if a process, socket or lock is left
/// then, or if a log contains a panic.
#[derive(Debug)]
pub struct TestEnv {
    directory: TempDir,
    transcript: Mutex<String>,
}

/// A session as `pipemux sessions` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its address, such as `editor/main`.
    pub session: String,
    /// Its state, such as `ready`.
    pub state: String,
    /// Its process id, if it has a process.
    pub pid: Option<i32>,
}

impl Default for TestEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl TestEnv {
    /// Creates an empty home directory and an empty project.
    ///
    /// # Panics
    /// No temporary directory can be created.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("pmx-").tempdir().expect("a directory");
        let env = Self { directory, transcript: Mutex::default() };
        for name in ["home", "run", "proj/.git"] {
            fs::create_dir_all(env.directory.path().join(name)).expect("a directory");
        }
        env
    }

    /// Returns the directory that contains the home directory and the project.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory of the project, where commands run.
    pub fn project(&self) -> PathBuf {
        self.root().join("proj")
    }

    /// Returns the path of a file of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Writes a file of the project.
    ///
    /// # Panics
    /// The file can't be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    /// Reads a file of the project.
    ///
    /// # Panics
    /// The file can't be read, or is not text.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// Registers the app `rogue` in a mode that says how it misbehaves.
    ///
    /// # Panics
    /// The manifest can't be written.
    pub fn install_rogue(&self, id: &str, mode: &str) {
        // Some of its modes start programs, and others write in the project.
        let asks = "exec = true\nfolder = \"write\"\n";
        let more = format!("args = [{mode:?}]\ndescription = \"{mode}\"\n{asks}");
        self.install(id, "rogue", &more);
    }

    /// Registers a built program as an app; `more` is appended to its manifest.
    ///
    /// # Panics
    /// The manifest can't be written.
    pub fn install(&self, id: &str, name: &str, more: &str) {
        let command = program(name).display().to_string();
        let manifest = format!("id = \"{id}\"\ncommand = {command:?}\n{more}");
        let apps = self.root().join("home/.config/pipemux/apps");
        fs::create_dir_all(&apps).expect("a directory");
        fs::write(apps.join(format!("{id}.toml")), manifest).expect("a manifest");
    }

    /// Runs `pipemux` with these arguments.
    pub fn pipemux(&self, args: &[&str]) -> Output {
        self.command(args).output()
    }

    /// Runs `pipemux` as another reader.
    pub fn as_reader(&self, reader: &str, args: &[&str]) -> Output {
        self.command(args).reader(reader).output()
    }

    /// Runs `pipemux` in another workspace.
    pub fn in_workspace(&self, workspace: &str, args: &[&str]) -> Output {
        self.command(args).workspace(workspace).output()
    }

    /// Runs `pipemux run` with this code.
    pub fn run(&self, code: &str) -> Output {
        self.pipemux(&["run", code])
    }

    /// Has a person trust what the project's `planner.toml` says now.
    pub fn trust_planner(&self) {
        self.as_reader("person", &["run", "planner.go()"]).exits(9).has("pipemux consent");
        assert_eq!(crate::TestClient::new(self, None, "person").allow_all().len(), 1);
    }

    /// Prepares `pipemux` with these arguments.
    pub fn command(&self, args: &[&str]) -> Invocation<'_> {
        Invocation::new(self, program("pipemux"), args)
    }

    /// Prepares a script of `sh`, in which `$PIPEMUX` is the path of `pipemux`.
    pub fn shell(&self, script: &str) -> Invocation<'_> {
        let pipemux = program("pipemux").display().to_string();
        Invocation::new(self, "/bin/sh".into(), &["-c", script]).env("PIPEMUX", &pipemux)
    }

    /// Returns the environment variables of every command.
    pub fn variables(&self) -> Vec<(String, String)> {
        let path = |name: &str| self.root().join(name).display().to_string();
        vec![
            ("HOME".into(), path("home")),
            ("XDG_RUNTIME_DIR".into(), path("run")),
            ("PATH".into(), std::env::var("PATH").unwrap_or_default()),
        ]
    }

    /// Returns where the daemon keeps its socket, lock, state and log.
    ///
    /// # Panics
    /// The variables name no place for them.
    pub fn paths(&self) -> Paths {
        let environment = self.variables();
        let get = |name: &str| {
            environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        };
        Paths::from_env(get, nix::unistd::getuid().as_raw()).expect("paths")
    }

    /// Lists the sessions of all workspaces.
    pub fn sessions(&self) -> Vec<SessionRow> {
        let listed = self.pipemux(&["sessions", "--json"]).ok().json();
        let rows = listed.as_array().cloned().unwrap_or_default();
        let text = |row: &serde_json::Value, name: &str| {
            row[name].as_str().map(str::to_owned).unwrap_or_default()
        };
        let row = |row: &serde_json::Value| SessionRow {
            session: text(row, "session"),
            state: text(row, "state"),
            pid: row["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()),
        };
        rows.iter().map(row).collect()
    }

    /// Returns the process id of a session.
    ///
    /// # Panics
    /// The session has no process.
    #[track_caller]
    pub fn pid(&self, session: &str) -> i32 {
        let rows = self.sessions();
        let found = rows.iter().find(|row| row.session == session).and_then(|row| row.pid);
        found.unwrap_or_else(|| panic!("no process of {session}: {rows:?}"))
    }

    /// Returns the process id of the daemon.
    ///
    /// # Panics
    /// No daemon runs.
    pub fn daemon_pid(&self) -> i32 {
        let status = self.pipemux(&["status", "--json"]).ok().json();
        let pid = status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        pid.expect("the daemon's process id")
    }

    /// Lists all processes of this environment.
    pub fn processes(&self) -> Vec<Process> {
        in_environment(self.root())
    }

    /// Returns how many processes have the text in their command.
    pub fn count_processes(&self, command: &str) -> usize {
        self.processes().iter().filter(|process| process.command.contains(command)).count()
    }

    /// Returns the process id of the launcher.
    ///
    /// # Panics
    /// No launcher runs, or processes can't be listed on this system.
    pub fn launcher_pid(&self) -> i32 {
        let all = self.processes();
        let found = all.iter().find(|process| process.command.contains("pipemuxd launcher"));
        found.unwrap_or_else(|| panic!("no launcher among {all:?}")).pid
    }

    /// Kills the process of a session with SIGKILL and waits until it has ended.
    ///
    /// # Panics
    /// The session has no process.
    #[track_caller]
    pub fn kill_session(&self, session: &str) {
        let pid = self.pid(session);
        kill(pid, Signal::SIGKILL);
        wait_for("the app has ended", || !is_alive(pid));
        // Until the daemon has noticed, it sends requests to the process, and their outcome is
        // unknown.
        wait_for("the daemon knows that the app has ended", || {
            self.sessions().iter().all(|row| row.pid != Some(pid))
        });
    }

    /// Kills the daemon with SIGKILL and waits until all its processes have ended.
    ///
    /// # Panics
    /// No daemon runs, or a process outlives it.
    #[track_caller]
    pub fn kill_daemon(&self) {
        kill(self.daemon_pid(), Signal::SIGKILL);
        self.wait_until_all_ended();
    }

    /// Waits until no process of this environment is left.
    ///
    /// # Panics
    /// A process is left at the deadline.
    #[track_caller]
    pub fn wait_until_all_ended(&self) {
        wait_for("all processes have ended", || self.processes().is_empty());
    }

    /// Returns what the daemon has logged so far.
    pub fn daemon_log(&self) -> String {
        fs::read(self.paths().log)
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Asserts that an ended daemon has left nothing behind.
    ///
    /// # Panics
    /// A process, a socket or a lock is left.
    #[track_caller]
    pub fn assert_clean(&self) {
        if let Some(left) = self.leftovers() {
            panic!("left behind: {left}");
        }
    }

    pub(crate) fn record(&self, output: &Output) {
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        *transcript += &format!("{output}\n\n");
        // Of a long story only the last commands are kept.
        if let Some(excess) = transcript.len().checked_sub(TRANSCRIPT_MAX) {
            let cut = transcript.ceil_char_boundary(excess);
            transcript.drain(..cut);
        }
    }

    /// Returns what is left once the daemon has ended. A process that was just killed may take a
    /// moment.
    pub(crate) fn leftovers(&self) -> Option<String> {
        let mut left = Vec::new();
        let gone = poll_until(Duration::from_secs(3), || {
            left = self.processes();
            left.is_empty().then_some(())
        });
        if gone.is_none() {
            return Some(format!("{left:?}"));
        }
        let paths = self.paths();
        [paths.socket, paths.lock]
            .iter()
            .find(|path| path.exists())
            .map(|path| path.display().to_string())
    }

    fn panics_in_logs(&self) -> Option<String> {
        let mut logs = vec![self.paths().log];
        collect_logs(&self.paths().state_dir.join("logs"), &mut logs);
        let panicked = |path: &PathBuf| {
            let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
            text.contains("panicked at").then(|| format!("{}:\n{text}", path.display()))
        };
        logs.iter().find_map(panicked)
    }

    fn print_transcript(&self) {
        #[allow(clippy::print_stderr, reason = "the test harness captures standard error")]
        {
            let transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("{transcript}");
            eprintln!("daemon.log:\n{}", self.daemon_log());
        }
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        let failed = thread::panicking();
        if failed {
            self.print_transcript();
        }
        // A second panic during unwinding would hide the first one.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.pipemux(&["down"]).ok();
        }));
        let left = self.leftovers();
        for process in self.processes() {
            kill(process.pid, Signal::SIGKILL);
        }
        if failed {
            return;
        }
        let failure = match (ended, left, self.panics_in_logs()) {
            (Err(_), ..) => Some("`pipemux down` failed".to_owned()),
            (_, Some(left), _) => Some(format!("left behind after `pipemux down`: {left}")),
            (.., Some(log)) => Some(format!("a panic in {log}")),
            _ => None,
        };
        if let Some(failure) = failure {
            self.print_transcript();
            panic!("{failure}");
        }
    }
}

fn collect_logs(directory: &Path, logs: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect_logs(&path, logs);
        } else {
            logs.push(path);
        }
    }
}
