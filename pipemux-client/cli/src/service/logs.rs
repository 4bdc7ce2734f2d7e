//! `pipemux service logs`: what the daemon wrote, from the journal where systemd runs it, else from
//! its own file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pipemux_client::ClientError;

use super::manager::{Manager, refused};
use super::write_out;
use crate::requester::Requester;
use crate::streaming::copy_until_stopped;

/// Most that is read of the daemon's own log to find its last lines, in bytes.
const LOG_READ_MAX: u64 = 256 * 1024;
/// Bytes that are passed on at once.
const CHUNK: usize = 64 * 1024;
/// Pause between looks at a file that has nothing new.
const PAUSE: Duration = Duration::from_millis(200);

/// Prints the last lines, and with `follow` all that come until the user ends it. Returns the exit
/// status.
///
/// # Errors
/// There is no log that can be read.
pub fn execute(
    requester: &Requester,
    manager: &Manager,
    lines: u32,
    follow: bool,
) -> Result<u8, ClientError> {
    let (paths, limit) = (&requester.options.paths, requester.global.timeout);
    if let Some(command) = manager.log_command(paths, lines) {
        if !follow && let Some(text) = journal(&command) {
            return Ok(write_out(&text));
        }
        // A journal that can't be read says so at once; one that is followed never ends by itself.
        if follow && manager.log_command(paths, 0).is_some_and(|probe| journal(&probe).is_some()) {
            return follow_journal(&command, limit);
        }
    }
    let unreadable = |error: io::Error| {
        refused(format!("can't read {}: {error}", paths.log.display()))
            .hint("start a daemon: pipemux up")
    };
    let mut log = File::open(&paths.log).map_err(unreadable)?;
    let text = last_lines(&mut log, lines).map_err(unreadable)?;
    if !follow {
        return Ok(write_out(&text));
    }
    let path = paths.log.clone();
    copy_until_stopped(limit, move |send| {
        if send(text) {
            follow_file(&path, log, send);
        }
    })
}

/// Returns what the journal has; `None` if it can't be asked.
fn journal(command: &[String]) -> Option<Vec<u8>> {
    let [program, arguments @ ..] = command else { return None };
    let found = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    found.status.success().then_some(found.stdout)
}

/// Prints what the journal has and gets, and ends the journal's reader before this ends.
fn follow_journal(command: &[String], limit: Option<Duration>) -> Result<u8, ClientError> {
    let [program, arguments @ ..] = command else { return Ok(0) };
    let mut follow = Command::new(program);
    follow.args(arguments).arg("--follow").stdin(Stdio::null()).stdout(Stdio::piped());
    let failed = |error: io::Error| {
        refused(format!("{program} can't be started: {error}: nothing was read"))
    };
    let mut reader = follow.spawn().map_err(failed)?;
    let output = reader.stdout.take();
    let status = copy_until_stopped(limit, move |send| {
        let Some(mut output) = output else { return };
        let mut buffer = vec![0; CHUNK];
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            if !send(buffer[..length].to_vec()) {
                return;
            }
        }
    });
    let _ = reader.kill();
    let _ = reader.wait();
    status
}

/// Reads the last lines, and leaves the file at its end.
fn last_lines(log: &mut File, lines: u32) -> io::Result<Vec<u8>> {
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(LOG_READ_MAX)))?;
    let mut tail = Vec::new();
    log.take(LOG_READ_MAX).read_to_end(&mut tail)?;
    let all: Vec<&[u8]> = tail.split_inclusive(|byte| *byte == b'\n').collect();
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    Ok(all[all.len().saturating_sub(lines)..].concat())
}

/// Sends what is appended to the file, and what follows in the file that takes its place when it
/// grew too long.
fn follow_file(path: &Path, mut log: File, send: &dyn Fn(Vec<u8>) -> bool) {
    let mut buffer = vec![0; CHUNK];
    loop {
        // Before the read: what is written until another file takes its place is read still.
        let next = File::open(path).ok().filter(|named| !is_same(named, &log));
        loop {
            match log.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) if send(buffer[..length].to_vec()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return,
            }
        }
        match next {
            Some(next) => log = next,
            None => {
                // Somebody may have emptied it.
                let (length, at) = (log.metadata().map(|found| found.len()), log.stream_position());
                if matches!((length, at), (Ok(length), Ok(at)) if length < at) {
                    let _ = log.rewind();
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino())).ok();
    identity(one) == identity(other)
}
