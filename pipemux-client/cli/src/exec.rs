//! `pipemux exec`: reads calls of tools as the interfaces of models give them, and prints each
//! one's result.

use std::io::{self, BufRead, IsTerminal, Read};

use pipemux_client::ClientError;
use pipemux_client::exec::{Call, Executor};
use serde_json::Value;

use super::requester::Requester;
use crate::output::{self, WriteOutcome};

/// Longest call, in bytes.
const CALL_MAX: u64 = 16 * 1024 * 1024;

/// Carries out the calls on standard input, one after the other: each as soon as it is complete, so
/// that a harness may keep the process. Returns the exit status.
///
/// # Errors
/// Something is no call of a tool, or no daemon answers.
pub fn execute(requester: &Requester) -> Result<u8, ClientError> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(ClientError::invalid("standard input is a terminal: expected a call as JSON")
            .hint("pipemux exec --help"));
    }
    let mut executor =
        Executor::new(requester.options.clone().made_with("exec"), requester.global.hint_options());
    let (mut input, mut text, mut any) = (stdin.lock(), Vec::new(), false);
    loop {
        let room = CALL_MAX.saturating_sub(text.len() as u64);
        let read = input.by_ref().take(room).read_until(b'\n', &mut text);
        let read = read.map_err(|error| {
            ClientError::invalid(format!("standard input can't be read: {error}"))
        })?;
        let value = match serde_json::from_slice::<Value>(&text) {
            Ok(value) => value,
            Err(_) if text.trim_ascii().is_empty() && read > 0 => continue,
            Err(_) if text.trim_ascii().is_empty() && any => return Ok(0),
            // It goes on in the next line.
            Err(error) if error.is_eof() && read > 0 => continue,
            Err(error) => {
                let why = format!("this is no call of a tool: it is not JSON: {error}");
                return Err(ClientError::invalid(why).hint("pipemux exec --help"));
            }
        };
        text.clear();
        any = true;
        let calls = match value {
            Value::Array(calls) => calls,
            call => vec![call],
        };
        for call in calls {
            let line = executor.execute(&Call::from_json(&call)?)? + "\n";
            match output::write_stdout(line.as_bytes()) {
                Ok(WriteOutcome::Complete) => executor.confirm(),
                Ok(WriteOutcome::ReaderGone) => return Ok(0),
                Err(error) => {
                    output::report_write_error(&error);
                    return Ok(1);
                }
            }
        }
    }
}
