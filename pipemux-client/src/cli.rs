//! From arguments to an exit status.

mod args;
mod ask;
mod down;
mod listen;
mod open;
mod run;
mod slips;
mod status;
mod stdin;
mod tour;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use pipemux_client::ClientError;
use pipemux_client::proto::client::{Verb as Wanted, View};

use crate::output;
use args::{Cli, Verb};
use ask::Asker;

/// Exit status of a wrong command line.
const USAGE: u8 = 2;

/// Carries out a command line; returns the exit status.
pub fn main(words: Vec<OsString>) -> u8 {
    let json = wants_json(&words);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return misread(&error, json),
    };
    match Asker::new(cli.global).and_then(|asker| carry_out(&asker, cli.verb)) {
        Ok(status) => status,
        Err(error) => {
            output::failure(&error, json);
            error.exit_status()
        }
    }
}

fn carry_out(asker: &Asker, verb: Option<Verb>) -> Result<u8, ClientError> {
    let wanted = match verb {
        None => return Ok(print_help().max(USAGE)),
        Some(Verb::Help { provider: None }) => return Ok(print_help()),
        Some(Verb::Open { target, args }) => open::wanted(target, args)?,
        Some(Verb::View { session, since }) => Wanted::View(View { session, since }),
        Some(Verb::Click { link }) => Wanted::Click { link },
        Some(Verb::Run { code }) => run::wanted(code, asker.options.timeout)?,
        Some(Verb::Listen) => return listen::carry_out(asker),
        Some(Verb::Answer { words, to }) => Wanted::Answer { text: joined(&words), to },
        Some(Verb::Read { target }) => Wanted::Read { target },
        Some(Verb::Help { provider: Some(provider) }) => Wanted::Help { provider },
        Some(Verb::Close { session, end }) => Wanted::Close { session, end },
        Some(Verb::History { detail, rounds }) => Wanted::History { detail, rounds },
        Some(Verb::Set { option, value }) => Wanted::Set { option, value },
        Some(Verb::Apps) => Wanted::Apps,
        Some(Verb::Sessions) => Wanted::Sessions,
        Some(Verb::Logs { session, lines }) => Wanted::Logs { session, lines },
        Some(Verb::Restart { session }) => Wanted::Restart { session },
        Some(Verb::End { session }) => Wanted::End { session },
        Some(Verb::Up) => Wanted::Status,
        Some(Verb::Down) => return down::carry_out(asker),
        Some(Verb::Status) => return status::carry_out(asker),
        Some(Verb::Tour) => return tour::carry_out(asker),
        Some(Verb::Other(words)) => return Err(slips::corrected(&words)),
    };
    asker.ask(wanted)
}

/// The words of an answer as one: `all but 2` may stand unquoted.
fn joined(words: &[String]) -> String {
    words.join(" ")
}

fn print_help() -> u8 {
    let help = Cli::command().render_help();
    match output::out(help.to_string().as_bytes()) {
        Ok(_) => 0,
        Err(error) => {
            output::unwritable(&error);
            1
        }
    }
}

/// Prints what clap makes of a command line that it can't read, or of `--help` and `--version`.
fn misread(error: &clap::Error, json: bool) -> u8 {
    let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if json && !shown {
        let text = error.render().to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text);
        let (message, _) = message.split_once("\n\nFor more information").unwrap_or((message, ""));
        let hint = "pipemux --help · pipemux <verb> --help";
        output::failure(&ClientError::invalid(message.trim_end()).hint(hint), true);
    } else {
        // It knows by itself which stream is a terminal and may be coloured.
        let _ = error.print();
    }
    if shown { 0 } else { USAGE }
}

/// Whether errors are to be data, as far as that can be told before the command line is read.
fn wants_json(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_answer_are_one_answer() {
        let line = ["pipemux", "answer", "all", "but", "2", "--to", "4"];
        let Some(Verb::Answer { words, to }) = Cli::try_parse_from(line).unwrap().verb else {
            panic!()
        };
        assert_eq!((joined(&words).as_str(), to), ("all but 2", Some(4)));
        let Some(Verb::Answer { words, .. }) =
            Cli::try_parse_from(["pipemux", "answer", "1,3"]).unwrap().verb
        else {
            panic!()
        };
        assert_eq!(joined(&words), "1,3");
    }

    #[test]
    fn json_counts_before_the_double_dash_only() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&words("pipemux viev --json")));
        assert!(!wants_json(&words("pipemux open editor -- --json")));
    }
}
