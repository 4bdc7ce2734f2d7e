//! PipeMux's own tools, as `pipemux tool-schema` names them.

use std::collections::BTreeMap;
use std::time::Duration;

use pipemux_proto::client::Body;

use super::arguments::Arguments;
use super::daemon::Daemon;
use super::outcome::{Failure, Outcome, ToolAnswer};
use crate::error::ClientError;
use crate::options::{text_variables, working_directory};
use crate::tools::{CallerEnv, Tool, ToolCall, ToolRequest};

/// Carries out a call of one of them.
///
/// # Errors
/// The call is wrong, or no daemon answers.
pub fn answer(tool: &Tool, arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let call = ToolCall { name: tool.name.to_owned(), arguments: arguments.map.clone() };
    let request = call.to_request(&OfProcess).map_err(|error| {
        let fault = error.fault();
        let hints = fault.hints.iter().map(|hint| format!("\n{hint}")).collect::<String>();
        Failure::Told(ToolAnswer::failed(fault.message.clone() + &hints))
    })?;
    let verb = match request {
        ToolRequest::Text(text) => return Ok(ToolAnswer::done(text)),
        ToolRequest::Verb(verb) => *verb,
    };
    let waits = verb.waits();
    let request = verb.into_request(daemon.options());
    let answer = daemon.call(&request, waits.max(Duration::ZERO))?;
    let text = match answer.body {
        Body::Text(text) => text,
        Body::Raw(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        other => serde_json::to_string(&other).unwrap_or_default(),
    };
    // A question is an answer that the model goes on from.
    Ok(ToolAnswer { is_error: !matches!(answer.exit, 0 | 5), ..ToolAnswer::done(text) })
}

/// The caller environment of this process, for apps that a call opens.
struct OfProcess;

impl CallerEnv for OfProcess {
    fn directory(&self) -> Result<String, ClientError> {
        Ok(working_directory())
    }

    fn variables(&self) -> BTreeMap<String, String> {
        text_variables(std::env::vars_os())
    }
}
