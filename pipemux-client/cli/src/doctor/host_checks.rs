//! Checks of files, directories and the system, which `pipemuxd doctor` runs.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pipemux_client::{Options, daemon};
use pipemux_proto::deadline;

use super::finding::Finding;

/// The time limit for all of `pipemuxd doctor`; each of its checks has its own deadline.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Most output of it that is read, in bytes.
const OUTPUT_MAX: u64 = 1024 * 1024;

/// Runs `pipemuxd doctor` and adds its findings.
pub fn check(options: &Options, fix: bool, daemon_pid: Option<i32>, findings: &mut Vec<Finding>) {
    const CHECK: &str = "pipemuxd";
    let program = daemon::program_path(options);
    let mut command = Command::new(&program);
    command
        .arg("doctor")
        .args(fix.then_some("--fix"))
        .args(daemon_pid.map(|pid| format!("--daemon={pid}")))
        .env("PIPEMUX_STATE_DIR", &options.paths.state_dir)
        .env("PIPEMUX_RUNTIME_DIR", &options.paths.runtime_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let shown = program.display();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let next = "put pipemuxd beside pipemux or on PATH, or set PIPEMUX_DAEMON to its path";
            let text = format!("{shown} can't be started: {error}");
            return findings.push(Finding::bad(CHECK, text, next));
        }
    };
    let lines = read_lines(&mut child);
    let deadline = deadline::after(TIMEOUT);
    let before = findings.len();
    let problem = loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => findings.extend(Finding::parse(&line)),
            Err(mpsc::RecvTimeoutError::Timeout) => break Some("it doesn't end".to_owned()),
            Err(mpsc::RecvTimeoutError::Disconnected) => break None,
        }
    };
    // `pipemuxd` ends when it closes its output; a program that keeps running is another one.
    let problem = match (problem, wait_or_kill(&mut child, deadline)) {
        (Some(problem), _) => Some(problem),
        (None, Ok(status)) if status.success() && findings.len() > before => None,
        (None, Ok(status)) => Some(format!("its checks failed: {status}")),
        (None, Err(error)) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        let next = "check that it is of this release: pipemuxd --version";
        findings.push(Finding::bad(CHECK, format!("{shown}: {problem}"), next));
    }
}

/// Reads the child's output on a thread, because a pipe has no deadline.
fn read_lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    let output = child.stdout.take();
    thread::spawn(move || {
        let Some(output) = output else { return };
        for line in BufReader::new(output.take(OUTPUT_MAX)).lines().map_while(io::Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Waits for a child, and kills it at the deadline.
fn wait_or_kill(child: &mut Child, deadline: Instant) -> io::Result<ExitStatus> {
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()
}
