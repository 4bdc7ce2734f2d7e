//! Runs a program: JSON on its standard input, its answer on standard output.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pipemux_planner_course::ordered;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::cancel::Cancel;
use super::extract::failure;
use super::no_answer::NoAnswer;
use crate::limits::{DRIVER_OUTPUT_MAX, DRIVER_STDERR_MAX};

/// The interval at which a running program is polled.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// The output of a program.
#[derive(Debug, Default)]
pub struct Output {
    /// Standard output, as far as it is taken.
    pub stdout: Vec<u8>,
    /// The tail of standard error.
    pub stderr: Vec<u8>,
    /// True if it printed more than is taken.
    pub cut: bool,
    /// The exit code; `None` if a signal ended the program.
    pub exit: Option<i32>,
}

/// Asks a program, and returns what it printed.
///
/// # Errors
/// It can't be started, takes too long, prints too much or fails.
pub fn run(
    words: &[String],
    payload: &Value,
    deadline: Duration,
    cancel: &Cancel,
) -> Result<String, NoAnswer> {
    let output = start(
        words,
        ordered::line(payload).into_bytes(),
        &[],
        deadline,
        DRIVER_OUTPUT_MAX,
        cancel,
    )?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    log(words, &stderr);
    if output.cut {
        return Err(format!("it printed more than {DRIVER_OUTPUT_MAX} bytes").into());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.exit {
        Some(0) => Ok(text),
        exit => {
            let both = [stderr.as_str(), text.as_str()];
            let last = both.into_iter().find_map(|said| said.trim().lines().last());
            let said = both.into_iter().find_map(failure).or(last.map(str::to_owned));
            let detail = said.unwrap_or_else(|| "it said nothing".to_owned());
            Err(NoAnswer { reason: format!("`{}` {}", named(words), how(exit)), detail })
        }
    }
}

/// Runs a program to its end.
///
/// # Errors
/// It can't be started, takes too long, or was cancelled.
pub fn start(
    words: &[String],
    input: Vec<u8>,
    env: &[(&str, String)],
    deadline: Duration,
    most: usize,
    cancel: &Cancel,
) -> Result<Output, String> {
    let program = words.first().map(String::as_str).unwrap_or_default();
    let mut child = spawn(words, env)?;
    cancel.watch(group(&child));
    let (sender, events) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // A program that doesn't read must not keep this from going on.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let stdout = sender.clone();
    thread::spawn(move || drop(stdout.send((true, out.map(|out| head(out, most))))));
    thread::spawn(move || {
        drop(sender.send((false, err.map(|err| (tail(err, DRIVER_STDERR_MAX), false)))))
    });
    let began = Instant::now();
    let mut output = Output::default();
    let mut open = 2;
    let mut ended = None;
    while open > 0 || ended.is_none() {
        let stop = match (cancel.is_set(), began.elapsed() > deadline) {
            (true, _) => Some("it was cancelled".to_owned()),
            (_, true) => {
                Some(format!("`{program}` did not answer within {} s", deadline.as_secs()))
            }
            _ => None,
        };
        if let Some(why) = stop {
            cancel.watch(None);
            end(&mut child);
            return Err(why);
        }
        match events.recv_timeout(LOOK) {
            Ok((is_out, read)) => {
                open -= 1;
                if let Some((bytes, cut)) = read {
                    match is_out {
                        true => (output.stdout, output.cut) = (bytes, cut),
                        false => output.stderr = bytes,
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK),
        }
        if ended.is_none() {
            ended = child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() {
                // Its id may be another one's soon.
                cancel.watch(None);
            }
        }
        if ended.is_some() && open > 0 && began.elapsed() > deadline {
            break;
        }
    }
    output.exit = ended.and_then(|status| status.code());
    // What it started and left behind ends with it.
    end(&mut child);
    Ok(output)
}

/// Starts a program in a process group of its own, with pipes.
///
/// # Errors
/// It can't be started.
pub(super) fn spawn(words: &[String], env: &[(&str, String)]) -> Result<Child, String> {
    let Some((program, args)) = words.split_first() else {
        return Err("no program is named".into());
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no program `{program}`"),
        _ => format!("`{program}` can't be started: {error}"),
    })
}

/// Writes what a program printed on standard error to the session's log, which is standard error
/// itself.
pub(super) fn log(words: &[String], stderr: &str) {
    if !stderr.trim().is_empty() {
        let _ = writeln!(io::stderr(), "{}: {}", words.join(" "), stderr.trim_end());
    }
}

/// Returns a command as the user is told it: without the folder of its program, which leaves no
/// room for the reason.
fn named(words: &[String]) -> String {
    let (program, args) = words.split_first().map_or(("", words), |(one, args)| (one, args));
    let program = program.rsplit('/').next().unwrap_or_default();
    [program].into_iter().chain(args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// Says how a program ended: none is an end by a signal.
pub(super) fn how(exit: Option<i32>) -> String {
    exit.map_or("was killed".to_owned(), |status| format!("ended with status {status}"))
}

/// Ends a program with all that it started.
pub(super) fn end(child: &mut Child) {
    if let Some(group) = group(child) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// Returns the process group that a program leads.
pub(super) fn group(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Reads to the end, and keeps the first bytes. Returns also whether there were more.
pub(super) fn head(mut from: impl Read, most: usize) -> (Vec<u8>, bool) {
    let mut kept = Vec::new();
    let _ = from.by_ref().take(most as u64).read_to_end(&mut kept);
    let more = io::copy(&mut from, &mut io::sink()).unwrap_or(0);
    (kept, more > 0)
}

/// Reads to the end, and keeps the last bytes.
fn tail(mut from: impl Read, most: usize) -> Vec<u8> {
    let (mut kept, mut piece) = (Vec::new(), [0; 8192]);
    while let Ok(length @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(piece.get(..length).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(most));
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sh(script: &str, deadline: u64) -> Result<String, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&words, &json!({"a": 1}), Duration::from_secs(deadline), &Cancel::default())
            .map_err(|why| why.to_string())
    }

    #[test]
    fn program_gets_the_payload_and_its_answer_is_returned() {
        assert_eq!(sh("cat; echo noise >&2", 60).unwrap(), "{\"a\":1}");
    }

    #[test]
    fn failures_say_what_happened() {
        assert_eq!(
            sh("echo no key >&2; exit 3", 60).unwrap_err(),
            "`sh -c echo no key >&2; exit 3` ended with status 3: no key"
        );
        let words = ["/bin/sh", "-c", "exit 4"].map(str::to_owned);
        let ended = run(&words, &json!({}), Duration::from_secs(60), &Cancel::default());
        assert_eq!(
            ended.unwrap_err().to_string(),
            "`sh -c exit 4` ended with status 4: it said nothing"
        );
        assert!(
            sh("head -c 2000000 /dev/zero", 60).unwrap_err().starts_with("it printed more than")
        );
        let missing = run(
            &["no-such-program".to_owned()],
            &json!({}),
            Duration::from_secs(9),
            &Cancel::default(),
        );
        assert_eq!(missing.unwrap_err().reason, "there is no program `no-such-program`");
    }

    #[test]
    fn hanging_program_ends_at_its_deadline_or_when_cancelled_with_all_that_it_started() {
        assert!(
            sh("sleep 1000 & sleep 1000", 0).unwrap_err().contains("did not answer within 0 s")
        );
        let cancel = Cancel::default();
        cancel.set();
        let words = ["sh", "-c", "sleep 1000"].map(str::to_owned);
        let ended = run(&words, &json!({}), Duration::from_secs(1000), &cancel);
        assert_eq!(ended.unwrap_err().reason, "it was cancelled");
    }

    #[test]
    fn cancelling_ends_a_running_program_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let script =
            format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; sleep 1000", pid_file.display());
        let (cancel, words) = (Cancel::default(), ["sh".to_owned(), "-c".to_owned(), script]);
        let other = cancel.clone();
        let run = thread::spawn(move || run(&words, &json!({}), Duration::from_secs(1000), &other));
        while !pid_file.exists() {
            thread::yield_now();
        }
        cancel.set();
        assert!(run.join().unwrap().is_err());
        let pid: i32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        let gone = rustix::process::test_kill_process(Pid::from_raw(pid).unwrap());
        assert_eq!(gone, Err(rustix::io::Errno::SRCH));
    }
}
