//! The daemon's process: whether one runs, and how one is started.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use pipemux_proto::paths::Paths;

use crate::error::ClientError;
use crate::options::Options;

/// Memory of the C library's allocator: from 128 KiB on a piece is mapped on its own, and as much free at the end of
/// the heap goes back. Of each small size 32 free pieces are kept at hand instead of 7: 5 % fewer instructions a click.
const MALLOC: &str = "glibc.malloc.trim_threshold=131072:glibc.malloc.mmap_threshold=131072:\
     glibc.malloc.tcache_count=32";

/// Most of what a failed daemon printed that is repeated, in bytes and lines.
const LAST_WORDS: (u64, usize) = (2048, 5);

/// Longest socket path that is read from a lock, in bytes.
const RECORD_MAX: u64 = 1024;

/// What a new `pipemuxd` said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// It listens.
    Ready,
    /// Another one holds the lock.
    Elsewhere,
}

/// True while a daemon holds the lock of these places: it runs, whether or not it listens.
pub fn is_running(paths: &Paths) -> bool {
    // Shared, and for no longer than this call: a daemon that starts in this very moment takes the lock
    // for held, and its client tries again.
    match File::open(&paths.lock).map(|lock| lock.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => true,
        Ok(_) | Err(_) => false,
    }
}

/// The socket that the holder of the lock has written into it as its first line, when that is another than
/// expected. Two shells of one user may differ in `XDG_RUNTIME_DIR` and yet mean the same state, so the
/// same daemon.
pub fn recorded_socket(paths: &Paths) -> Option<PathBuf> {
    let mut line = String::new();
    let lock = File::open(&paths.lock).ok()?.take(RECORD_MAX);
    BufReader::new(lock).read_line(&mut line).ok()?;
    let recorded = PathBuf::from(line.trim_end_matches('\n'));
    (recorded.is_absolute() && recorded != paths.socket).then_some(recorded)
}

/// Runs `pipemuxd serve` in the background and waits for its one line. It leaves the terminal's session by
/// itself, which it could not as a group's leader; so no group is made for it here.
///
/// # Errors
/// There is no such program, it says why it can't serve, it ends, or it is silent until the deadline.
pub(crate) fn start(options: &Options, deadline: Instant) -> Result<Started, ClientError> {
    let log = open_log(options)?;
    let before = log.metadata().map_or(0, |found| found.len());
    let program = program(options);
    let child = Command::new(&program)
        .arg("serve")
        // Said again, so that both sides mean the same places even when these were set by hand.
        .env("PIPEMUX_STATE_DIR", &options.paths.state_dir)
        .env("PIPEMUX_RUNTIME_DIR", &options.paths.runtime_dir)
        // What a burst took is given back: glibc's own thresholds rise by themselves and keep it. Other
        // C libraries don't know the variable.
        .env("GLIBC_TUNABLES", MALLOC)
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
    let line = first_line(child).recv_timeout(left);
    match line.as_ref().map(|said| (said.line.trim(), said)) {
        Ok(("ready", _)) => Ok(Started::Ready),
        Ok(("running", _)) => Ok(Started::Elsewhere),
        Ok((said, _)) if said.starts_with("error: ") => {
            Err(failed(options, format!("the daemon can't serve: {}", &said["error: ".len()..])))
        }
        Ok(("", Said { status, .. })) => {
            let status = status.map_or("unknown status".to_owned(), |status| status.to_string());
            let words = last_words(&options.paths.log, before);
            let message = format!("the daemon ended before it was ready ({status}){words}");
            Err(failed(options, message))
        }
        Ok((other, _)) => Err(failed(
            options,
            format!(
                "{} is no pipemuxd: expected `ready`, it said `{other:.80}`",
                program.display()
            ),
        )),
        Err(_) => Err(failed(options, "the daemon was started, but isn't ready yet".to_owned())),
    }
}

/// What came on a starting daemon's standard output.
struct Said {
    line: String,
    /// How it ended, when it ended without a line.
    status: Option<ExitStatus>,
}

/// Reads the line in a thread, for a pipe has no deadline; the thread stays to reap the daemon, which
/// would be a zombie in a long-lived client otherwise.
fn first_line(mut child: Child) -> mpsc::Receiver<Said> {
    let (said, line) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            // What isn't text is no `ready` either.
            let _ = BufReader::new(stdout.take(1024)).read_line(&mut line);
        }
        if line.is_empty() {
            let status = child.wait().ok();
            let _ = said.send(Said { line, status });
        } else {
            let _ = said.send(Said { line, status: None });
            let _ = child.wait();
        }
    });
    line
}

/// `PIPEMUX_DAEMON`, else beside this program, else wherever `PATH` has it.
pub fn program(options: &Options) -> PathBuf {
    const NAME: &str = "pipemuxd";
    let beside = || {
        let own = std::env::current_exe().ok()?;
        // A link on PATH leads to where both were installed.
        let places = [own.canonicalize().ok()?, own];
        places.iter().map(|own| own.with_file_name(NAME)).find(|path| path.is_file())
    };
    options.daemon.clone().or_else(beside).unwrap_or_else(|| NAME.into())
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

fn failed(options: &Options, message: String) -> ClientError {
    ClientError::unreachable(message)
        .hint(format!("what it says: {}", options.paths.log.display()))
        .hint("look: pipemux status · try again: pipemux up")
}

/// The last lines that were printed since the log was that long.
fn last_words(log: &Path, before: u64) -> String {
    let mut text = Vec::new();
    let read = File::open(log).and_then(|mut file| {
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(before.max(end.saturating_sub(LAST_WORDS.0))))?;
        file.take(LAST_WORDS.0).read_to_end(&mut text)
    });
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if read.is_err() || lines.is_empty() {
        return String::new();
    }
    format!(":\n{}", lines[lines.len().saturating_sub(LAST_WORDS.1)..].join("\n"))
}
