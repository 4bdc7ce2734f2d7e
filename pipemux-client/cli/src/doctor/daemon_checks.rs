//! Checks that ask a running daemon: whether it answers, its version, and its failed sessions.

use std::time::{Duration, Instant};

use pipemux_client::blocking::Connection;
use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::{ClientError, daemon};

use super::finding::Finding;
use crate::requester::Requester;

/// The time limit for each answer of the daemon.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Checks the daemon and its sessions. Returns the daemon's process id, if it answers.
pub fn check(requester: &Requester, findings: &mut Vec<Finding>) -> Option<i32> {
    let (mut connection, pid) = check_daemon(requester, findings)?;
    check_sessions(requester, &mut connection, findings);
    pid
}

fn check_daemon(
    requester: &Requester,
    findings: &mut Vec<Finding>,
) -> Option<(Connection, Option<i32>)> {
    const CHECK: &str = "daemon";
    let ours = concat!("pipemux ", env!("CARGO_PKG_VERSION"));
    let lock = requester.options.paths.lock.display();
    let end_it = format!("end it: pipemux down, or: kill $(fuser {lock})");
    let began = Instant::now();
    let mut connection = match Connection::open_existing_within(&requester.options, TIMEOUT) {
        Ok(Some(connection)) => connection,
        Ok(None) if daemon::is_running(&requester.options.paths) => {
            let text = "one holds the lock, but doesn't listen";
            findings.push(Finding::bad(CHECK, text, end_it));
            return None;
        }
        Ok(None) => {
            findings.push(Finding::ok(CHECK, "none runs · start: pipemux up"));
            return None;
        }
        Err(error) => {
            let next = match &error {
                ClientError::VersionMismatch(fault) => fault.hints.join(" · "),
                _ => end_it,
            };
            findings.push(Finding::bad(CHECK, error.to_string(), next));
            return None;
        }
    };
    let Some(status) = ask(requester, &mut connection, Verb::Status) else {
        let text = format!("it greets, but doesn't answer within {} s", TIMEOUT.as_secs());
        findings.push(Finding::bad(CHECK, text, end_it));
        return None;
    };
    let pid = match status.get("pid") {
        Some(Value::Int(pid)) => i32::try_from(*pid).ok(),
        _ => None,
    };
    let software = status.get("daemon").and_then(Value::as_str);
    let software = software.unwrap_or("a daemon of unknown version");
    let ms = began.elapsed().as_millis();
    let process = pid.map_or(String::new(), |pid| format!(", process {pid}"));
    let text = format!("{software}{process} answers in {ms} ms");
    // Releases differ in more than the protocol, which the greeting has checked.
    let same_release = software.rsplit(' ').next() == ours.rsplit(' ').next();
    findings.push(match same_release {
        true => Finding::ok(CHECK, text),
        false => {
            let next = "end the daemon, then run the command again: pipemux down";
            Finding::bad(CHECK, format!("{text}; this is {ours}"), next)
        }
    });
    Some((connection, pid))
}

/// Lists the sessions that stay down until somebody restarts them.
fn check_sessions(requester: &Requester, connection: &mut Connection, findings: &mut Vec<Finding>) {
    const CHECK: &str = "sessions";
    let Some(Value::List(sessions)) = ask(requester, connection, Verb::Sessions) else {
        let text = format!("the daemon doesn't list them within {} s", TIMEOUT.as_secs());
        return findings.push(Finding::bad(CHECK, text, "pipemux sessions"));
    };
    let before = findings.len();
    for row in &sessions {
        let field = |name: &str| row.get(name).and_then(Value::as_str);
        let (Some(session), Some(why)) = (field("session"), field("failed")) else { continue };
        let workspace = field("workspace").filter(|name| !["every workspace", "?"].contains(name));
        let next = match workspace.filter(|name| *name != requester.options.workspace.name) {
            // This is a display name, which `--workspace` doesn't necessarily accept.
            Some(name) => format!("in the workspace {name}: pipemux restart {session}"),
            None => format!("pipemux restart {session}"),
        };
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        findings.push(Finding::bad(CHECK, format!("{session} has failed: {why}"), next));
    }
    if findings.len() == before {
        let text = format!("none of {} has failed", sessions.len());
        findings.push(Finding::ok(CHECK, text));
    }
}

/// Requests data from the daemon; `None` when no data comes in time.
fn ask(requester: &Requester, connection: &mut Connection, verb: Verb) -> Option<Value> {
    let mut call = requester.call(verb);
    call.format = Format::Json;
    match connection.call(&call, TIMEOUT).map(|answer| answer.body) {
        Ok(Body::Data(data)) => Some(data),
        Ok(_) | Err(_) => None,
    }
}
