//! `pipemux doctor`: what is wrong, and what to do about it. What only a client sees, and what a daemon says
//! of its sessions, is looked at here; the rest by `pipemuxd doctor`, which is no daemon and works without one.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::{ClientError, Options, daemon};
use serde_json::json;

use super::ask::Asker;
use crate::output;

/// How long the daemon may take to answer.
const ANSWER: Duration = Duration::from_secs(1);
/// How long all of `pipemuxd doctor` may take; each of its looks has a deadline of its own.
const EXAMINATION: Duration = Duration::from_secs(20);
/// Most of what it says, in bytes.
const SAID_MAX: u64 = 1024 * 1024;

/// What one look found.
#[derive(Debug)]
struct Finding {
    /// `ok`, `bad` or `fixed`.
    state: String,
    check: String,
    text: String,
    next: String,
}

impl Finding {
    fn new(state: &str, check: &str, text: impl Into<String>, next: impl Into<String>) -> Self {
        let (state, check) = (state.to_owned(), check.to_owned());
        Self { state, check, text: text.into(), next: next.into() }
    }

    /// A line of `pipemuxd doctor`.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.trim_end_matches('\n').split('\t');
        let (state, check, text) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self::new(state, check, text, fields.next().unwrap_or_default()))
    }

    fn line(&self) -> String {
        let Self { state, check, text, next } = self;
        let next = if next.is_empty() { String::new() } else { format!(" · next: {next}") };
        format!("{state} · {check}: {text}{next}\n")
    }
}

/// Looks at everything and prints it; returns 0 when all is well or was mended, else 1.
///
/// # Errors
/// None: what can't be looked at is a finding.
pub fn carry_out(asker: &Asker, fix: bool) -> Result<u8, ClientError> {
    let mut findings = Vec::new();
    let pid = connection(asker, &mut findings);
    examine(&asker.options, fix, pid, &mut findings);
    let bad =
        findings.iter().filter(|found| !matches!(found.state.as_str(), "ok" | "fixed")).count();
    let bytes = if asker.global.json {
        let row = |found: &Finding| {
            let Finding { state, check, text, next } = found;
            json!({ "state": state, "check": check, "text": text, "next": next })
        };
        let rows: Vec<_> = findings.iter().map(row).collect();
        format!("{:#}\n", json!(rows))
    } else {
        let end = match bad {
            0 => "all is well\n".to_owned(),
            n => format!("{n} of {} are bad\n", findings.len()),
        };
        findings.iter().map(Finding::line).chain([end]).collect()
    };
    match output::out(bytes.as_bytes()) {
        Ok(_) => Ok(u8::from(bad > 0)),
        Err(error) => {
            output::unwritable(&error);
            Ok(1)
        }
    }
}

/// Whether the daemon answers, and which it is. Returns its process.
fn connection(asker: &Asker, findings: &mut Vec<Finding>) -> Option<i32> {
    const CHECK: &str = "daemon";
    let ours = concat!("pipemux ", env!("CARGO_PKG_VERSION"));
    let down = "end it: pipemux down, or: kill $(fuser ";
    let down = format!("{down}{})", asker.options.paths.lock.display());
    let began = Instant::now();
    let found = Connection::find_within(&asker.options, ANSWER);
    let mut connection = match found {
        Ok(Some(connection)) => connection,
        Ok(None) if daemon::is_running(&asker.options.paths) => {
            let text = "one holds the lock, but doesn't listen";
            findings.push(Finding::new("bad", CHECK, text, down));
            return None;
        }
        Ok(None) => {
            findings.push(Finding::new("ok", CHECK, "none runs · start: pipemux up", ""));
            return None;
        }
        Err(error) => {
            let next = match &error {
                ClientError::Version(fault) => fault.hints.join(" · "),
                _ => down,
            };
            findings.push(Finding::new("bad", CHECK, error.to_string(), next));
            return None;
        }
    };
    let mut call = asker.call(Verb::Status);
    call.format = Format::Json;
    let status = match connection.call(&call, ANSWER).map(|answer| answer.body) {
        Ok(Body::Data(status)) => status,
        Ok(_) | Err(_) => {
            let text = format!("it greets, but doesn't answer within {} s", ANSWER.as_secs());
            findings.push(Finding::new("bad", CHECK, text, down));
            return None;
        }
    };
    let field = |name: &str| match &status {
        Value::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        _ => None,
    };
    let pid = match field("pid") {
        Some(Value::Int(pid)) => i32::try_from(*pid).ok(),
        _ => None,
    };
    let software = field("daemon").and_then(Value::as_str).unwrap_or("of no known version");
    let ms = began.elapsed().as_millis();
    let process = pid.map_or(String::new(), |pid| format!(", process {pid}"));
    let text = format!("{software}{process} answers in {ms} ms");
    // Releases differ in more than the protocol.
    let same = software.rsplit(' ').next() == ours.rsplit(' ').next();
    findings.push(match same {
        true => Finding::new("ok", CHECK, text, ""),
        false => {
            let text = format!("{text}; this is {ours}");
            Finding::new("bad", CHECK, text, "pipemux down, then run the command again")
        }
    });
    sessions(asker, &mut connection, findings);
    pid
}

/// Which sessions stay down until somebody restarts them.
fn sessions(asker: &Asker, connection: &mut Connection, findings: &mut Vec<Finding>) {
    const CHECK: &str = "sessions";
    let mut call = asker.call(Verb::Sessions);
    call.format = Format::Json;
    let all = match connection.call(&call, ANSWER).map(|answer| answer.body) {
        Ok(Body::Data(Value::List(all))) => all,
        Ok(_) | Err(_) => {
            let text = format!("they are not told within {} s", ANSWER.as_secs());
            return findings.push(Finding::new("bad", CHECK, text, "pipemux sessions"));
        }
    };
    let before = findings.len();
    for row in &all {
        let Value::Map(fields) = row else { continue };
        let field = |name: &str| {
            let found = fields.iter().find(|(key, _)| key == name);
            found.and_then(|(_, value)| value.as_str())
        };
        let (Some(session), Some(why)) = (field("session"), field("failed")) else { continue };
        let place = field("workspace").filter(|name| !["every workspace", "?"].contains(name));
        let next = match place.filter(|name| *name != asker.options.workspace.name) {
            // Its name needn't be what `--workspace` takes.
            Some(name) => format!("in the workspace {name}: pipemux restart {session}"),
            None => format!("pipemux restart {session}"),
        };
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        findings.push(Finding::new("bad", CHECK, format!("{session} is failed: {why}"), next));
    }
    if findings.len() == before {
        let text = format!("{} of them, none is failed", all.len());
        findings.push(Finding::new("ok", CHECK, text, ""));
    }
}

/// Has `pipemuxd` look at the rest.
fn examine(options: &Options, fix: bool, daemon: Option<i32>, findings: &mut Vec<Finding>) {
    const CHECK: &str = "pipemuxd";
    let program = daemon::program(options);
    let mut command = Command::new(&program);
    command
        .arg("doctor")
        .args(fix.then_some("--fix"))
        .args(daemon.map(|pid| format!("--daemon={pid}")))
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
            return findings.push(Finding::new("bad", CHECK, text, next));
        }
    };
    let (tell, told) = mpsc::channel();
    let output = child.stdout.take();
    thread::spawn(move || {
        let Some(output) = output else { return };
        for line in BufReader::new(output.take(SAID_MAX)).lines().map_while(io::Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    let until = Instant::now() + EXAMINATION;
    let mut count = 0;
    let why = loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => findings.extend(Finding::read(&line).inspect(|_| count += 1)),
            Err(mpsc::RecvTimeoutError::Timeout) => break Some("it doesn't end".to_owned()),
            Err(mpsc::RecvTimeoutError::Disconnected) => break None,
        }
    };
    // It ends with its output; what doesn't is no `pipemuxd`.
    let status = ended(&mut child, until);
    let failed = match (why, status) {
        (Some(why), _) => Some(why),
        (None, Ok(status)) if status.success() && count > 0 => None,
        (None, Ok(status)) => Some(format!("it can't look: {status}")),
        (None, Err(error)) => Some(error.to_string()),
    };
    if let Some(why) = failed {
        let text = format!("{shown}: {why}");
        findings.push(Finding::new(
            "bad",
            CHECK,
            text,
            "is it of this release? pipemuxd --version",
        ));
    }
}

/// A child's end; it is killed when that doesn't come in time.
fn ended(child: &mut Child, until: Instant) -> io::Result<ExitStatus> {
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_with_its_next_step() {
        let line = "bad\tsocket directory\t/run/x has mode 0777\tpipemux doctor --fix: chmod 700\n";
        let found = Finding::read(line).unwrap();
        assert_eq!(
            found.line(),
            "bad · socket directory: /run/x has mode 0777 · next: pipemux doctor --fix: chmod 700\n"
        );
        assert_eq!(Finding::read("ok\tclock\tfine\t").unwrap().line(), "ok · clock: fine\n");
        assert!(Finding::read("usage: pipemuxd serve").is_none());
    }
}
