//! `pipemux inject --hook`: called by a harness at a session's start and at each prompt. It reads
//! the harness's JSON, takes the session as its reader, and answers in the JSON that harnesses put
//! into the prompt.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use pipemux_client::blocking::Connection;
use pipemux_client::error::UNREACHABLE;
use pipemux_client::options::reader_of_session;
use pipemux_client::proto::client::{Body, HeldWindow, Inject, Verb, ViewArgs};
use pipemux_client::{ClientError, workspace};
use serde_json::{Value, json};

use super::command_env::{CommandEnv, ProcessEnv};
use super::requester::Requester;
use crate::output;

/// Longest input of a hook, in bytes: it has the prompt.
const INPUT_MAX: usize = 4 * 1024 * 1024;

/// The status of a failure, unless there is no daemon. Harnesses take 2 for a reason to discard the
/// prompt.
const FAILED: u8 = 1;

/// Prints what is new for the session's model, if anything is. Returns the exit status.
pub fn execute(requester: &Requester, reset: bool, held: Vec<HeldWindow>) -> u8 {
    match inject(requester, reset, held) {
        Ok(None) => 0,
        Ok(Some(text)) => match output::write_stdout(text.as_bytes()) {
            Ok(_) => 0,
            Err(_) => FAILED,
        },
        Err(error) => {
            output::print_error(&error, false, "");
            if error.exit_status() == UNREACHABLE { UNREACHABLE } else { FAILED }
        }
    }
}

fn inject(
    requester: &Requester,
    reset: bool,
    held: Vec<HeldWindow>,
) -> Result<Option<String>, ClientError> {
    let env = ProcessEnv { timeout: requester.options.timeout };
    let input = env.stdin(INPUT_MAX)?;
    let input: Value = serde_json::from_str(&input).map_err(|error| {
        ClientError::invalid(format!("the harness's input is not JSON: {error}"))
            .hint("without a harness: pipemux inject")
    })?;
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let mut requester = requester.clone();
    let own_reader = requester.global.reader.is_some() || is_set("PIPEMUX_READER");
    if let Some(reader) = field("session_id").and_then(reader_of_session).filter(|_| !own_reader) {
        remember(&reader);
        requester.options.reader = reader;
    }
    let own_workspace = requester.global.workspace.is_some() || is_set("PIPEMUX_WORKSPACE");
    if let Some(directory) = field("cwd").filter(|_| !own_workspace) {
        let directory = Path::new(directory).canonicalize().ok();
        requester.options.workspace = workspace::find(None, directory.as_deref());
    }
    let inject = Some(Inject { reset });
    let verb = Verb::View(ViewArgs { inject, held, ..ViewArgs::default() });
    let call = requester.call(verb);
    let timeout = requester.timeout_for(&call.verb);
    let (connection, answer) = Connection::open_and_call(&requester.options, &call, timeout)?;
    let Body::Text(text) = &answer.body else { return Ok(None) };
    let event = field("hook_event_name").unwrap_or("SessionStart");
    let shown = (!text.trim().is_empty()).then(|| {
        let output = json!({ "hookEventName": event, "additionalContext": text });
        format!("{}\n", json!({ "hookSpecificOutput": output }))
    });
    connection.close_seen(answer.delivery);
    Ok(shown)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Has the commands of the session read under the same name, where the harness has a file for its
/// commands' variables.
fn remember(reader: &str) {
    let Some(path) = std::env::var_os("CLAUDE_ENV_FILE").filter(|path| !path.is_empty()) else {
        return;
    };
    let line = format!("export PIPEMUX_READER={reader}\n");
    if std::fs::read_to_string(&path).is_ok_and(|text| text.contains(&line)) {
        return;
    }
    // Without it, commands read under another name: they are shown some things again.
    let _ = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
}
