//! A home with its daemon, and that nothing of it is left at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pipemux_proto::paths::Paths;
use tempfile::TempDir;

use crate::processes::{Process, kill, of_world};
use crate::programs::program;
use crate::waiting::look_for;
use crate::{Invocation, Output, Signal};

/// Bytes of commands and answers that a world remembers, to tell them when it fails.
const TRANSCRIPT_MAX: usize = 4 * 1024 * 1024;

/// A home, a project, and the daemon that the first command starts. When it is dropped the daemon is
/// ended, and a process, socket or lock that is left fails the test, as does a panic in a log.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    transcript: Mutex<String>,
}

/// A line of `sessions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `editor/main`
    pub session: String,
    /// `ready`
    pub state: String,
    /// Its process, if it has one.
    pub pid: Option<i32>,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty home and an empty project.
    ///
    /// # Panics
    /// There is no temporary directory.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("pmx-").tempdir().expect("a directory");
        let world = Self { directory, transcript: Mutex::default() };
        for made in ["home", "run", "proj/.git"] {
            fs::create_dir_all(world.directory.path().join(made)).expect("a directory");
        }
        world
    }

    /// The directory that holds all of it.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The project, where commands run.
    pub fn project(&self) -> PathBuf {
        self.root().join("proj")
    }

    /// A file of the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Writes a file of the project.
    ///
    /// # Panics
    /// It can't be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    /// Reads a file of the project.
    ///
    /// # Panics
    /// It can't be read, or isn't text.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    /// Registers an app that misbehaves: `rogue` in that mode. To be called before the first command.
    ///
    /// # Panics
    /// The manifest can't be written.
    pub fn install_rogue(&self, id: &str, mode: &str) {
        self.install(id, "rogue", &format!("args = [{mode:?}]\ndescription = \"{mode}\"\n"));
    }

    /// Registers a built program as an app; `more` are further lines of its manifest.
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

    /// Runs a command to its end.
    pub fn pipemux(&self, args: &[&str]) -> Output {
        self.command(args).output()
    }

    /// Runs calls.
    pub fn run(&self, code: &str) -> Output {
        self.pipemux(&["run", code])
    }

    /// Prepares a command.
    pub fn command(&self, args: &[&str]) -> Invocation<'_> {
        Invocation::new(self, program("pipemux"), args)
    }

    /// Prepares a script of `sh`, in which `$PIPEMUX` is the command line.
    pub fn shell(&self, script: &str) -> Invocation<'_> {
        let pipemux = program("pipemux").display().to_string();
        Invocation::new(self, "/bin/sh".into(), &["-c", script]).env("PIPEMUX", &pipemux)
    }

    /// The variables of a command: this world's, and `PATH`.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = |name: &str| self.root().join(name).display().to_string();
        vec![
            ("HOME".into(), path("home")),
            ("XDG_RUNTIME_DIR".into(), path("run")),
            ("PATH".into(), std::env::var("PATH").unwrap_or_default()),
        ]
    }

    /// Where the daemon of this world keeps things.
    ///
    /// # Panics
    /// The environment leads nowhere.
    pub fn paths(&self) -> Paths {
        let environment = self.environment();
        let get = |name: &str| {
            environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        };
        Paths::from_env(get, nix::unistd::getuid().as_raw()).expect("paths")
    }

    /// What runs.
    pub fn sessions(&self) -> Vec<Row> {
        let listed = self.pipemux(&["sessions", "--json"]).ok().json();
        let rows = listed.as_array().cloned().unwrap_or_default();
        let text = |row: &serde_json::Value, name: &str| {
            row[name].as_str().map(str::to_owned).unwrap_or_default()
        };
        let row = |row: &serde_json::Value| Row {
            session: text(row, "session"),
            state: text(row, "state"),
            pid: row["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()),
        };
        rows.iter().map(row).collect()
    }

    /// The process of a session.
    ///
    /// # Panics
    /// It has none.
    #[track_caller]
    pub fn pid(&self, session: &str) -> i32 {
        let rows = self.sessions();
        let found = rows.iter().find(|row| row.session == session).and_then(|row| row.pid);
        found.unwrap_or_else(|| panic!("no process of {session}: {rows:?}"))
    }

    /// The daemon's process.
    ///
    /// # Panics
    /// No daemon runs.
    pub fn daemon(&self) -> i32 {
        let status = self.pipemux(&["status", "--json"]).ok().json();
        let pid = status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        pid.expect("the daemon's process id")
    }

    /// All processes of this world.
    pub fn processes(&self) -> Vec<Process> {
        of_world(self.root())
    }

    /// The launcher's process, where `/proc` tells.
    pub fn launcher(&self) -> Option<i32> {
        let all = self.processes();
        all.iter().find(|process| process.command.contains("pipemuxd launcher")).map(|p| p.pid)
    }

    /// What the daemon has printed so far.
    pub fn daemon_log(&self) -> String {
        fs::read(self.paths().log)
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Demands that the daemon has left nothing behind.
    ///
    /// # Panics
    /// A process, a socket or a lock is left.
    #[track_caller]
    pub fn assert_clean(&self) {
        if let Some(left) = self.left() {
            panic!("left behind: {left}");
        }
    }

    pub(crate) fn remember(&self, output: &Output) {
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        *transcript += &format!("{output}\n\n");
        // A world that lives for long is remembered by its last commands.
        if let Some(excess) = transcript.len().checked_sub(TRANSCRIPT_MAX) {
            let cut = transcript.ceil_char_boundary(excess);
            transcript.drain(..cut);
        }
    }

    /// What is left once the daemon has ended; what was just killed may take a moment to vanish.
    pub(crate) fn left(&self) -> Option<String> {
        let mut left = Vec::new();
        let gone = look_for(Duration::from_secs(3), || {
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

    fn tell(&self) {
        #[allow(clippy::print_stderr, reason = "the test harness shows what is printed so")]
        {
            let transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("{transcript}");
            eprintln!("daemon.log:\n{}", self.daemon_log());
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let failed = thread::panicking();
        if failed {
            self.tell();
        }
        // A second panic while one unwinds would hide the first.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.pipemux(&["down"]).ok();
        }));
        let left = self.left();
        for process in self.processes() {
            kill(process.pid, Signal::SIGKILL);
        }
        if failed {
            return;
        }
        let complaint = match (ended, left, self.panics_in_logs()) {
            (Err(_), ..) => Some("`pipemux down` failed".to_owned()),
            (_, Some(left), _) => Some(format!("left behind after `pipemux down`: {left}")),
            (.., Some(log)) => Some(format!("a panic in {log}")),
            _ => None,
        };
        if let Some(complaint) = complaint {
            self.tell();
            panic!("{complaint}");
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
