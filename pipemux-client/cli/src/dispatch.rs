//! Executes a command line: from arguments to an exit status.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::Parser;
use clap::error::ErrorKind;
use pipemux_client::ClientError;
use pipemux_client::proto::client::Verb as RequestVerb;

use super::args::{Cli, Verb};
use super::command_env::ProcessEnv;
use super::local_texts::{help_of_verb, local_text};
use super::requester::Requester;
use super::to_request::{Execution, to_request};
use super::usage_errors::{self, is_help_of_program};
use super::{
    app, attach, audit, bench, config, consent, doctor, down, exec, fast_args, guide, inject,
    listen, logs, mcp, output, pause, pipe, service, setup, shell_files, status, suggestions, tour,
    watch, who,
};

/// The exit status of a wrong command line.
const USAGE: u8 = 2;

/// Executes a command line and returns the exit status.
pub fn main(words: Vec<OsString>) -> u8 {
    if let Some(status) = bench::play_role(&words) {
        return status;
    }
    let json = wants_json(&words);
    let cli = match fast_args::parse(&words).map_or_else(|| Cli::try_parse_from(&words), Ok) {
        Ok(cli) => cli.resolve(),
        Err(error) => return print_parse_error(&error, &words, json),
    };
    let hint_options = cli.global.hint_options();
    match Requester::new(cli.global).and_then(|requester| execute(&requester, cli.verb)) {
        Ok(status) => status,
        Err(error) => {
            output::print_error(&error, json, &hint_options);
            error.exit_status()
        }
    }
}

fn execute(requester: &Requester, verb: Option<Verb>) -> Result<u8, ClientError> {
    let Some(verb) = verb else {
        let at_terminal = std::io::stdout().is_terminal();
        let text = if at_terminal { guide::for_people() } else { guide::help() };
        return Ok(output::print(&text).max(USAGE));
    };
    if let Some(text) = help_of_verb(&verb, &requester.options) {
        return Ok(print_text(requester, &text));
    }
    let env = ProcessEnv { timeout: requester.options.timeout };
    let local = match to_request(verb, &env)? {
        Execution::Request(request) => return requester.request(request),
        Execution::Local(local) => local,
    };
    match local {
        Verb::Attach { target, args } => attach::execute(requester, target, args),
        Verb::Listen => listen::execute(requester),
        Verb::Exec => exec::execute(requester),
        Verb::Watch { since, count, all } => watch::execute(requester, since, count, all),
        Verb::Logs { session, lines, .. } => logs::execute(requester, session, lines),
        Verb::Trace { session, lines, .. } => logs::trace(requester, session, lines),
        Verb::Up => {
            // Who may be an agent doesn't end what a person decided.
            if pipemux_client::daemon::stays_down(&requester.options.paths) {
                consent::check_person()?;
                down::start_again(requester)?;
            }
            requester.request(RequestVerb::Status)
        }
        Verb::Down { stay } => down::execute(requester, stay),
        Verb::Status { limits } => status::execute(requester, limits),
        Verb::Consent { number: Some(number), withdraw } => {
            consent::execute(requester, number, withdraw)
        }
        Verb::Who { file, lines: true, .. } => who::execute_lines(requester, &file),
        Verb::Who { file, diff, rounds, lines: false } => {
            who::execute(requester, &file, (diff, Some(rounds)), None)
        }
        Verb::History { file: Some(file), since, detail, diff, rounds, .. } => {
            who::execute(requester, &file, (detail || diff, rounds), since.as_deref())
        }
        Verb::Pause { all } => pause::execute(requester, all, true),
        Verb::Resume { all } => pause::execute(requester, all, false),
        Verb::Config { write } => config::execute(requester, write),
        Verb::Audit { lines } => audit::execute(requester, lines),
        Verb::Doctor { fix } => doctor::execute(requester, fix),
        Verb::Pipe => pipe::execute(requester),
        Verb::Bench { quick } => bench::execute(requester, quick),
        Verb::App(verb) => app::execute(requester, verb),
        Verb::Tour => tour::execute(requester),
        Verb::Inject { reset, have, .. } => Ok(inject::execute(requester, reset, have)),
        Verb::Setup { harness, with, project, remove, dry_run } => {
            let args = setup::SetupArgs { harness, with, project, remove, dry_run };
            setup::execute(requester, args)
        }
        Verb::Service(verb) => service::execute(requester, verb),
        Verb::Mcp { http, diff } => mcp::execute(requester, http, diff),
        Verb::Man { verb } => Ok(print_text(requester, &shell_files::man(&verb)?)),
        Verb::Unknown(words) => Err(suggestions::unknown_verb(&words, &requester.options)),
        // That is JSON in any case.
        verb @ Verb::ToolSchema { .. } => Ok(output::print(&local_text(&verb).unwrap_or_default())),
        verb => match local_text(&verb) {
            Some(text) => Ok(print_text(requester, &text)),
            None => {
                Err(ClientError::invalid("this verb is neither a request nor a text of pipemux"))
            }
        },
    }
}

/// Prints a text of the client's own, or with `--json` as data.
fn print_text(requester: &Requester, text: &str) -> u8 {
    requester.print_own(text.trim_end_matches('\n'), &serde_json::json!({ "text": text }))
}

/// Prints why a command line can't be parsed, or the text that `--help` and `--version` request.
fn print_parse_error(error: &clap::Error, words: &[OsString], json: bool) -> u8 {
    if error.kind() == ErrorKind::DisplayHelp && is_help_of_program(words) {
        return output::print(&guide::help());
    }
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // clap checks whether standard output is a terminal and may be coloured.
        let _ = error.print();
        return 0;
    }
    let words: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // Its commands repeat the words as they were typed.
    output::print_error(&usage_errors::explain(error, &words), json, "");
    USAGE
}

/// Returns whether errors are to be printed as JSON. This must be known before the command line is
/// parsed.
fn wants_json(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_answer_are_joined() {
        for (line, expected) in [
            (&["pipemux", "answer", "all", "but", "2", "--to", "4"][..], ("all but 2", Some(4))),
            (&["pipemux", "answer", "1,3"], ("1,3", None)),
            (&["pipemux", "answer"], ("", None)),
        ] {
            let verb = Cli::try_parse_from(line).unwrap().verb.unwrap();
            let env = ProcessEnv { timeout: std::time::Duration::from_secs(1) };
            let Execution::Request(RequestVerb::Answer { text, to, stdin: None }) =
                to_request(verb, &env).unwrap()
            else {
                panic!()
            };
            assert_eq!((text.as_str(), to), expected);
        }
    }

    #[test]
    fn json_option_counts_only_before_the_double_dash() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&words("pipemux viev --json")));
        assert!(!wants_json(&words("pipemux open editor -- --json")));
    }
}
