//! The daemon's process: detects whether one runs, and starts one.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use pipemux_proto::environment::is_daemon_variable;
use pipemux_proto::paths::Paths;

use crate::error::ClientError;
use crate::options::Options;

/// Settings of glibc's allocator for the daemon. Its own thresholds rise with use and keep the
/// memory of a burst; fixed ones return it: allocations from 128 KiB on are mapped one by one, and
/// as much free memory at the end of the heap is returned. Caching 32 free blocks of each small
/// size instead of 7 saves 5 % of the instructions of a click. Other C libraries ignore the
/// variable.
pub const GLIBC_TUNABLES: &str = "glibc.malloc.trim_threshold=131072:\
     glibc.malloc.mmap_threshold=131072:glibc.malloc.tcache_count=32";

/// The most bytes of a failed daemon's log that an error repeats.
const LOG_TAIL_BYTES: u64 = 2048;
const LOG_TAIL_LINES: usize = 5;

/// Longest socket path that is read from a lock file, in bytes.
const RECORD_MAX: u64 = 1024;

/// The result of starting `pipemuxd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartOutcome {
    /// The new daemon listens.
    Listening,
    /// Another daemon holds the lock.
    AlreadyRunning,
}

/// Returns true while a daemon holds the lock of these paths: it runs, whether or not it listens.
/// It locks its state directory and a file in it, which somebody may have removed.
pub fn is_running(paths: &Paths) -> bool {
    // The probe holds a shared lock for the length of this call. A daemon that starts in this
    // moment takes the lock for held, and its client tries again.
    let is_held = |path: &Path| {
        let tried = File::open(path).map(|lock| lock.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    };
    is_held(&paths.lock) || is_held(&paths.state_dir)
}

/// Returns true while no client starts the daemon, because a person stopped it: [`stay_down`].
pub fn stays_down(paths: &Paths) -> bool {
    paths.stopped_file().exists()
}

/// Has clients start the daemon no more until [`start_again`].
///
/// # Errors
/// The state directory can't be written to.
pub fn stay_down(paths: &Paths) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(&paths.state_dir)?;
    File::create(paths.stopped_file()).map(drop)
}

/// Has clients start the daemon again.
///
/// # Errors
/// The state directory can't be written to.
pub fn start_again(paths: &Paths) -> io::Result<()> {
    match fs::remove_file(paths.stopped_file()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the socket that the lock's holder recorded in the lock file's first line, if it differs
/// from the expected one. Two shells of one user may differ in `XDG_RUNTIME_DIR` and still share a
/// state directory, and so a daemon.
pub fn recorded_socket(paths: &Paths) -> Option<PathBuf> {
    let mut line = String::new();
    let lock = File::open(&paths.lock).ok()?.take(RECORD_MAX);
    BufReader::new(lock).read_line(&mut line).ok()?;
    let recorded = PathBuf::from(line.trim_end_matches('\n'));
    (recorded.is_absolute() && recorded != paths.socket).then_some(recorded)
}

/// Returns the path of the daemon's program: `PIPEMUX_DAEMON`, else `pipemuxd` beside this program,
/// else the one on `PATH`.
pub fn program_path(options: &Options) -> PathBuf {
    const NAME: &str = "pipemuxd";
    let beside = || {
        let own = std::env::current_exe().ok()?;
        // A symbolic link on PATH leads to the directory into which both were installed.
        let candidates = [own.canonicalize().ok()?, own];
        candidates.iter().map(|own| own.with_file_name(NAME)).find(|path| path.is_file())
    };
    options.daemon.clone().or_else(beside).unwrap_or_else(|| NAME.into())
}

/// Runs `pipemuxd serve` in the background and waits for its one line of output. The daemon leaves
/// the terminal's session by itself, which a process group's leader can't do, so it is not made one
/// here.
///
/// # Errors
/// There is no such program, it reports why it can't serve, it ends, or it is silent until the
/// deadline.
pub(crate) fn start(options: &Options, deadline: Instant) -> Result<StartOutcome, ClientError> {
    let log = open_log(options)?;
    let log_length = log.metadata().map_or(0, |found| found.len());
    let program = program_path(options);
    let child = Command::new(&program)
        .arg("serve")
        // Any process of this user can read the environment that the daemon was started with. What
        // an app needs of its opener's environment comes with the request that opens it.
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_daemon_variable)))
        // Passed explicitly, so that both sides use the same paths even when the caller set them by
        // hand.
        .env("PIPEMUX_STATE_DIR", &options.paths.state_dir)
        .env("PIPEMUX_RUNTIME_DIR", &options.paths.runtime_dir)
        .env("GLIBC_TUNABLES", GLIBC_TUNABLES)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(|error| {
            ClientError::unreachable(format!("can't start {}: {error}", program.display()))
                .hint("put pipemuxd beside pipemux or on PATH, or set PIPEMUX_DAEMON to its path")
        })?;

    let left = deadline.saturating_duration_since(Instant::now());
    let output = startup_output(child).recv_timeout(left);
    match output.as_ref().map(|output| (output.line.trim(), output)) {
        Ok(("ready", _)) => Ok(StartOutcome::Listening),
        Ok(("running", _)) => Ok(StartOutcome::AlreadyRunning),
        Ok((line, _)) if line.starts_with("error: ") => {
            let why = &line["error: ".len()..];
            Err(start_failed(options, format!("the daemon can't serve: {why}")))
        }
        Ok(("", StartupOutput { status, .. })) => {
            let status = status.map_or("unknown status".to_owned(), |status| status.to_string());
            let tail = log_tail(&options.paths.log, log_length);
            let message = format!("the daemon ended before it was ready ({status}){tail}");
            Err(start_failed(options, message))
        }
        Ok((other, _)) => Err(start_failed(
            options,
            format!(
                "{} is not pipemuxd: expected `ready`, it said `{other:.80}`",
                program.display()
            ),
        )),
        Err(_) => {
            let message = "the daemon was started, but isn't ready yet".to_owned();
            Err(start_failed(options, message))
        }
    }
}

/// The output that a starting daemon wrote to its standard output.
struct StartupOutput {
    line: String,
    /// The exit status, if the daemon ended without writing a line.
    status: Option<ExitStatus>,
}

/// Reads the line on a thread, because a pipe has no deadline. The thread stays to reap the daemon,
/// which would otherwise become a zombie in a long-lived client.
fn startup_output(mut child: Child) -> mpsc::Receiver<StartupOutput> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            // Output that isn't text isn't `ready` either.
            let _ = BufReader::new(stdout.take(1024)).read_line(&mut line);
        }
        if line.is_empty() {
            let status = child.wait().ok();
            let _ = send.send(StartupOutput { line, status });
        } else {
            let _ = send.send(StartupOutput { line, status: None });
            let _ = child.wait();
        }
    });
    receive
}

fn open_log(options: &Options) -> Result<File, ClientError> {
    let (directory, log) = (&options.paths.state_dir, &options.paths.log);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| OpenOptions::new().append(true).create(true).mode(0o600).open(log))
        .map_err(|error| {
            ClientError::unreachable(format!("can't write to {}: {error}", log.display()))
                .hint("set PIPEMUX_STATE_DIR to a directory that you can write to")
        })
}

fn start_failed(options: &Options, message: String) -> ClientError {
    ClientError::unreachable(message)
        .hint(format!("see its log: {}", options.paths.log.display()))
        .hint("look: pipemux status · try again: pipemux up")
}

/// Returns the last lines that were written since the log had that length, ready to follow a
/// sentence.
fn log_tail(log: &Path, length_before: u64) -> String {
    let mut text = Vec::new();
    let read = File::open(log).and_then(|mut file| {
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(length_before.max(end.saturating_sub(LOG_TAIL_BYTES))))?;
        file.take(LOG_TAIL_BYTES).read_to_end(&mut text)
    });
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if read.is_err() || lines.is_empty() {
        return String::new();
    }
    format!(":\n{}", lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n"))
}
