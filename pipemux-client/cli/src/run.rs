//! `pipemux run`, and `pipemux ask`, which runs queries only.

use pipemux_client::ClientError;
use pipemux_client::proto::call::stdin_at;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::command;
use pipemux_client::proto::limits::{CODE_MAX, STDIN_MAX};

use super::command_env::CommandEnv;

/// Makes the request to the daemon: the code, and standard input if the code mentions it.
///
/// # Errors
/// The code came in several words, or standard input can't be read.
pub fn to_request(
    words: Vec<String>,
    only_queries: bool,
    env: &dyn CommandEnv,
) -> Result<Verb, ClientError> {
    let words = match words.is_empty() && env.awaits_input() {
        true => vec!["-".to_owned()],
        false => words,
    };
    if words.is_empty() {
        let verb = if only_queries { "ask" } else { "run" };
        let message = format!("CODE is missing: expected pipemux {verb} <CODE>");
        return Err(ClientError::invalid(message).hint(format!("pipemux {verb} --help")));
    }
    let [code] = words.as_slice() else {
        let message = "the code came in several arguments: expected one, quoted";
        return Err(ClientError::invalid(message).hint(command::run(&words.join(" "))));
    };
    if code == "-" {
        // Standard input is the code, so it can't also be text for it.
        return Ok(Verb::Run { code: env.stdin(CODE_MAX)?, stdin: None, only_queries });
    }
    // Standard input may have no end, so it is read only when the code mentions it.
    let text = if stdin_at(code).is_some() {
        Some(env.stdin(STDIN_MAX)?.into_bytes().into())
    } else {
        env.leave_input()?;
        None
    };
    Ok(Verb::Run { code: code.clone(), stdin: text, only_queries })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_env::ProcessEnv;
    use std::time::Duration;

    #[test]
    fn code_in_several_arguments_is_refused_with_the_quoted_command() {
        let words = ["editor.replace(a,", "it's)"].map(str::to_owned).to_vec();
        let env = ProcessEnv { timeout: Duration::from_secs(1) };
        let error = to_request(words, false, &env).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert_eq!(error.fault().hints, ["pipemux run 'editor.replace(a, it'\\''s)'"]);
    }
}
