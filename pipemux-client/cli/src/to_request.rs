//! Turns a command line's verb into a request to the daemon, if it is one request.

use pipemux_client::ClientError;
use pipemux_client::proto::client::{HistoryArgs, Inject, OpenArgs, Verb as RequestVerb, ViewArgs};
use pipemux_client::proto::consent::ConsentArgs;
use pipemux_client::proto::limits::RESOLVE_TEXT_MAX;

use super::args::{AppVerb, HelpTopic, Verb};
use super::command_env::CommandEnv;
use super::requester::milliseconds;
use super::{answer, app, clock, open, run};

/// The way in which a verb is executed.
#[derive(Debug)]
pub enum Execution {
    /// One request is sent to the daemon.
    Request(RequestVerb),
    /// The client executes the verb itself.
    Local(Verb),
}

/// Decides how a verb is executed, and makes its request.
///
/// # Errors
/// An input that the request needs can't be read, or the arguments make no sense together.
pub fn to_request(verb: Verb, env: &dyn CommandEnv) -> Result<Execution, ClientError> {
    Ok(Execution::Request(match verb {
        Verb::Open { target, args, pin, unpin, priority, weight } => {
            let pin = (pin || unpin).then_some(pin);
            let open = open::to_args(target, args, pin, env)?;
            RequestVerb::Open(OpenArgs { priority, weight, ..open })
        }
        Verb::View { session, since, wait, have: held } => {
            let (wait_ms, open) = (wait.map_or(0, milliseconds), session.is_some());
            RequestVerb::View(ViewArgs { session, since, wait_ms, inject: None, held, open })
        }
        Verb::Inject { reset, hook: false, have: held } => RequestVerb::View(ViewArgs {
            inject: Some(Inject { reset }),
            held,
            ..ViewArgs::default()
        }),
        Verb::Click { link, .. } => RequestVerb::Click { link },
        Verb::Run { code, .. } => run::to_request(code, false, env)?,
        Verb::Ask { code } => run::to_request(code, true, env)?,
        Verb::Answer { words, to, .. } => answer::to_request(&words, to, env)?,
        Verb::Read { target, .. } => RequestVerb::Read { target },
        Verb::Resolve { text, run } => {
            RequestVerb::Resolve { text: text_or_stdin(text, env)?, run }
        }
        Verb::Help { of: Some(HelpTopic { provider, action }), aliases, .. } => {
            RequestVerb::Help { provider, aliases, action }
        }
        Verb::Close { session, end } => RequestVerb::Close { session, end },
        Verb::History { file: None, all, since, detail, diff, rounds } => {
            let since_ms = since.map(|when| clock::since(&when)).transpose()?;
            RequestVerb::History(history(all, since_ms, detail || diff, rounds))
        }
        Verb::Undo { round } => RequestVerb::Undo { round },
        Verb::Consent { number: None, .. } => RequestVerb::Consent(ConsentArgs::default()),
        Verb::Set { option, value } => RequestVerb::Set { option, value },
        Verb::Apps => RequestVerb::Apps,
        Verb::App(AppVerb::Add { manifest, replace }) => app::add(&manifest, replace, env)?,
        Verb::App(AppVerb::Remove { provider }) => app::remove(provider),
        Verb::Sessions => RequestVerb::Sessions,
        Verb::Logs { session, lines, follow: false } => {
            RequestVerb::Logs { session, lines, after: None, wait_ms: 0 }
        }
        Verb::Trace { session, lines, follow: false } => {
            RequestVerb::Trace { session, lines, after: None, wait_ms: 0 }
        }
        Verb::Restart { session } => RequestVerb::Restart { session },
        Verb::End { session } => RequestVerb::End { session },
        local @ (Verb::Attach { .. }
        | Verb::Inject { hook: true, .. }
        | Verb::Listen
        | Verb::Exec
        | Verb::Help { of: None, .. }
        | Verb::Skill
        | Verb::ToolSchema { .. }
        | Verb::Mcp { .. }
        | Verb::Setup { .. }
        | Verb::Service(_)
        | Verb::Completions { .. }
        | Verb::Man { .. }
        | Verb::History { file: Some(_), .. }
        | Verb::Who { .. }
        | Verb::Watch { .. }
        | Verb::Logs { follow: true, .. }
        | Verb::Trace { follow: true, .. }
        | Verb::Up
        | Verb::Down { .. }
        | Verb::Status { .. }
        | Verb::Consent { number: Some(_), .. }
        | Verb::Pause { .. }
        | Verb::Resume { .. }
        | Verb::Config { .. }
        | Verb::Audit { .. }
        | Verb::Doctor { .. }
        | Verb::Pipe
        | Verb::Bench { .. }
        | Verb::App(AppVerb::Check { .. } | AppVerb::New { .. })
        | Verb::Tour
        | Verb::Unknown(_)) => return Ok(Execution::Local(local)),
    }))
}

fn history(all: bool, since_ms: Option<u64>, detail: bool, rounds: Option<u32>) -> HistoryArgs {
    HistoryArgs { detail, rounds, since_ms, all, file: None, clock: clock::offsets() }
}

/// Returns the text to resolve; `-` stands for standard input.
fn text_or_stdin(text: String, env: &dyn CommandEnv) -> Result<String, ClientError> {
    if text == "-" { env.stdin(RESOLVE_TEXT_MAX) } else { Ok(text) }
}
