//! From arguments to an exit status.

mod args;
mod around;
mod ask;
mod bench;
mod doctor;
mod down;
mod follow;
mod listen;
mod logs;
mod misread;
mod open;
mod pipe;
mod quick;
mod run;
mod slips;
mod status;
mod stdin;
mod tour;
mod wanted;
mod watch;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use pipemux_client::ClientError;

use crate::output;
use args::{Cli, Verb};
use around::Process;
use ask::Asker;
use wanted::Means;

/// Exit status of a wrong command line.
const USAGE: u8 = 2;

/// Carries out a command line; returns the exit status.
pub fn main(words: Vec<OsString>) -> u8 {
    if let Some(status) = bench::role(&words) {
        return status;
    }
    let json = wants_json(&words);
    let cli = match quick::read(&words).map_or_else(|| Cli::try_parse_from(&words), Ok) {
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
    let Some(verb) = verb else { return Ok(print_help().max(USAGE)) };
    let around = Process { timeout: asker.options.timeout };
    let more = match wanted::wanted(verb, &around)? {
        Means::Request(request) => return asker.ask(request),
        Means::More(more) => more,
    };
    match more {
        Verb::Listen => listen::carry_out(asker),
        Verb::Watch { since, count, all } => watch::carry_out(asker, since, count, all),
        Verb::Logs { session, lines, .. } => logs::carry_out(asker, session, lines),
        Verb::Down => down::carry_out(asker),
        Verb::Status { limits } => status::carry_out(asker, limits),
        Verb::Doctor { fix } => doctor::carry_out(asker, fix),
        Verb::Pipe => pipe::carry_out(asker),
        Verb::Bench { quick } => bench::carry_out(asker, quick),
        Verb::Tour => tour::carry_out(asker),
        Verb::Other(words) => Err(slips::corrected(&words, &asker.options)),
        // `help` without an app; all others are one request.
        _ => Ok(print_help()),
    }
}

/// The help of the command as a whole.
fn help_text() -> String {
    Cli::command().render_help().to_string()
}

fn print_help() -> u8 {
    match output::out(help_text().as_bytes()) {
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
    use pipemux_client::proto::client::Verb as Wanted;

    #[test]
    fn the_words_of_an_answer_are_one_answer() {
        for (line, expected) in [
            (&["pipemux", "answer", "all", "but", "2", "--to", "4"][..], ("all but 2", Some(4))),
            (&["pipemux", "answer", "1,3"], ("1,3", None)),
        ] {
            let verb = Cli::try_parse_from(line).unwrap().verb.unwrap();
            let around = Process { timeout: std::time::Duration::from_secs(1) };
            let Means::Request(Wanted::Answer { text, to }) =
                wanted::wanted(verb, &around).unwrap()
            else {
                panic!()
            };
            assert_eq!((text.as_str(), to), expected);
        }
    }

    #[test]
    fn json_counts_before_the_double_dash_only() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&words("pipemux viev --json")));
        assert!(!wants_json(&words("pipemux open editor -- --json")));
    }
}
