//! From arguments to an exit status.

mod args;
mod ask;
mod down;
mod listen;
mod misread;
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
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return misread(&error, &words, json),
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
        Some(Verb::Other(words)) => return Err(slips::corrected(&words, &asker.options)),
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

/// Says why a command line can't be read, or prints what `--help` and `--version` ask for.
fn misread(error: &clap::Error, words: &[OsString], json: bool) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // It knows by itself whether standard output is a terminal and may be coloured.
        let _ = error.print();
        return 0;
    }
    let words: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    output::failure(&misread::explained(error, &words), json);
    USAGE
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
