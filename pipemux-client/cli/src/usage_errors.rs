//! Explains why a command line can't be parsed: which word is wrong, what was expected, and what to
//! type instead.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use pipemux_client::ClientError;
use pipemux_client::proto::command;

use super::args::Cli;

/// Verbs that pass their arguments on as text, which may begin with a dash.
const FREE_TEXT_VERBS: &[&str] = &["answer", "open"];

/// Rewords clap's error and adds a hint. `words` is the command line without the program's name.
pub fn explain(error: &clap::Error, words: &[&str]) -> ClientError {
    let verb = verb_of(words);
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    // `--budget <TOKENS>`
    let (option, placeholder) = argument.split_once(' ').unwrap_or((&argument, ""));
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let given = format!("{option} {value}");
    let message = match error.kind() {
        ErrorKind::ValueValidation => {
            let expected = error.source().map(ToString::to_string).unwrap_or_default();
            // The error of an id names the wrong text by itself.
            let complete = expected.starts_with('`');
            if complete { expected } else { format!("`{given}`: {expected}") }
        }
        ErrorKind::InvalidValue => {
            let values = text(error, ContextKind::ValidValue);
            let expected = values.as_deref().unwrap_or(placeholder);
            format!("`{}`: expected {option} {expected}", given.trim_end())
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            return unknown_option(error, words, verb, &argument);
        }
        ErrorKind::UnknownArgument => {
            format!("`{argument}` is one word too many: expected {}", usage(verb))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = argument.trim_end_matches("...").trim_matches(['<', '>']);
            format!("{missing} is missing: expected {}{}", usage(verb), values(verb, missing))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            format!("a verb is missing: expected one of {}", subverbs(verb))
        }
        ErrorKind::ArgumentConflict => format!("{option} is given twice: expected once"),
        _ => {
            let whole = error.render().to_string();
            let line = whole.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        }
    };
    ClientError::invalid(message).hint(help_command(verb))
}

fn unknown_option(
    error: &clap::Error,
    words: &[&str],
    verb: Option<&str>,
    argument: &str,
) -> ClientError {
    let word = full_word(words, argument);
    let of_verb = verb.map(|verb| format!(" of `{verb}`")).unwrap_or_default();
    let refused = ClientError::invalid(format!("`{word}` is not an option{of_verb}"));
    let takes_text = verb.is_some_and(|verb| FREE_TEXT_VERBS.contains(&verb));
    let as_text =
        with_double_dash(words).filter(|_| takes_text).map(|line| format!("pipemux {line}"));
    match (text(error, ContextKind::SuggestedArg), as_text) {
        (Some(near), Some(line)) => {
            refused.hint(format!("did you mean {near}?")).hint(format!("or, as text: {line}"))
        }
        (Some(near), None) => {
            refused.hint(format!("did you mean {near}?")).hint(help_command(verb))
        }
        (None, Some(line)) => refused.hint(line),
        (None, None) => refused.hint(help_command(verb)),
    }
}

fn help_command(verb: Option<&str>) -> String {
    match verb {
        Some(verb) => format!("pipemux {verb} --help"),
        None => "pipemux --help".to_owned(),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(texts.join(", ")),
        _ => None,
    }
}

/// Returns the first word that is a verb. An option's value before it could be mistaken for the
/// verb, but values are rarely named like one.
fn verb_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let cli = Cli::command();
    words
        .iter()
        .take_while(|word| **word != "--")
        .copied()
        .find(|word| cli.get_subcommands().any(|verb| verb.get_name() == *word))
}

/// Names the verbs below a verb: `install, uninstall, status`.
fn subverbs(verb: Option<&str>) -> String {
    let cli = Cli::command();
    let below = verb.and_then(|verb| cli.find_subcommand(verb)).unwrap_or(&cli);
    let names = below.get_subcommands().filter(|verb| !verb.is_hide_set());
    names.map(clap::Command::get_name).collect::<Vec<_>>().join(", ")
}

/// Names the values that an argument of a verb may have, if they are known: `, one of bash, zsh`.
fn values(verb: Option<&str>, argument: &str) -> String {
    let cli = Cli::command();
    let mut positionals = verb
        .and_then(|verb| cli.find_subcommand(verb))
        .into_iter()
        .flat_map(clap::Command::get_positionals);
    let named = positionals.find(|one| one.get_id().as_str().eq_ignore_ascii_case(argument));
    let values = named.map(clap::Arg::get_possible_values).unwrap_or_default();
    let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
    if names.is_empty() { String::new() } else { format!(", one of {}", names.join(", ")) }
}

fn usage(verb: Option<&str>) -> String {
    let mut command = Cli::command();
    command.build();
    let usage = match verb.and_then(|verb| command.find_subcommand_mut(verb)) {
        Some(verb) => verb.render_usage(),
        None => command.render_usage(),
    };
    usage.to_string().trim_start_matches("Usage: ").replace(" [OPTIONS]", "")
}

/// Returns the whole word of which clap names only a part: of `-dash.txt` it names `-d`.
fn full_word<'a>(words: &[&'a str], argument: &'a str) -> &'a str {
    let mut options = words.iter().take_while(|word| **word != "--").copied();
    options.find(|word| word.starts_with(argument)).unwrap_or(argument)
}

/// Returns the line with every word that only looks like an option moved behind `--`; `None` if the
/// line has other errors too.
fn with_double_dash(words: &[&str]) -> Option<String> {
    let mut line = words.to_vec();
    // Each iteration moves one word.
    for _ in 0..=words.len() {
        let error =
            match Cli::try_parse_from(std::iter::once("pipemux").chain(line.iter().copied())) {
                Ok(_) => return Some(command::join(&line)),
                Err(error) => error,
            };
        let argument = text(&error, ContextKind::InvalidArg)?;
        let options = line.iter().take_while(|word| **word != "--").count();
        let wrong = line[..options].iter().position(|word| word.starts_with(&argument))?;
        if error.kind() != ErrorKind::UnknownArgument || !argument.starts_with('-') {
            return None;
        }
        let word = line.remove(wrong);
        if options == line.len() + 1 {
            line.push("--");
        }
        line.push(word);
    }
    None
}

/// Returns true for a command line that asks for help before it names a verb.
pub fn is_help_of_program(words: &[OsString]) -> bool {
    let is_option = |word: &&OsString| word.to_str().is_some_and(|word| word.starts_with('-'));
    let options = words.iter().skip(1).take_while(is_option);
    options.clone().any(|word| word == "--help" || word == "-h")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation(line: &str) -> (String, Vec<String>) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let parsed = Cli::try_parse_from(std::iter::once("pipemux").chain(words.iter().copied()));
        let error = explain(&parsed.unwrap_err(), &words);
        (error.fault().message.clone(), error.fault().hints.clone())
    }

    #[test]
    fn wrong_value_names_the_expected_values() {
        for (line, expected) in [
            (
                "status --budget abc",
                "`--budget abc`: expected tokens, a whole number from 1: --budget 300",
            ),
            (
                "status --budget -5",
                "`--budget -5`: expected tokens, a whole number from 1: --budget 300",
            ),
            (
                "status --budget 0",
                "`--budget 0`: expected tokens, a whole number from 1: --budget 300",
            ),
            (
                "view --budget 99999999999",
                "`--budget 99999999999`: expected tokens, a whole number from 1 to 4294967295",
            ),
            ("view --timeout -1", "`--timeout -1`: expected seconds, from 0.001 to 86400"),
            ("view --since -3", "`--since -3`: expected an epoch as answers show it: e17"),
            ("history --rounds 0", "`--rounds 0`: expected a whole number from 1"),
            ("logs editor --lines -3", "`--lines -3`: expected a whole number from 0"),
            ("answer 1 --to x", "`--to x`: expected a question's number: --to 4"),
            ("view --lod most", "`--lod most`: expected --lod gist, summary, full"),
            ("view --lod", "`--lod`: expected --lod gist, summary, full"),
            ("view --budget", "`--budget`: expected --budget <TOKENS>"),
        ] {
            let (message, hints) = explanation(line);
            assert!(message.starts_with(expected), "{line}: {message}");
            assert!(hints[0].ends_with(" --help"), "{hints:?}");
        }
        let (message, hints) = explanation("help Foo");
        assert!(message.starts_with("`Foo` is not a provider name: expected"), "{message}");
        assert_eq!(hints, ["pipemux help --help"]);
    }

    #[test]
    fn word_with_a_dash_hints_at_the_double_dash() {
        for (line, word, command) in [
            ("open editor -dash.txt", "-dash.txt", "open editor -- -dash.txt"),
            ("open editor a -b.txt c --json", "-b.txt", "open editor a c --json -- -b.txt"),
            ("open editor -a -b -- -c", "-a", "open editor -- -c -a -b"),
            ("open editor --zzz=1", "--zzz=1", "open editor -- --zzz=1"),
            ("answer -x", "-x", "answer -- -x"),
        ] {
            let (message, hints) = explanation(line);
            assert!(message.starts_with(&format!("`{word}` is not an option of `")), "{message}");
            assert_eq!(hints, [format!("pipemux {command}")], "{line}");
        }
        let (_, hints) = explanation("open editor --jsn");
        assert_eq!(hints, ["did you mean --json?", "or, as text: pipemux open editor -- --jsn"]);
        // `--` is no help where the verb takes no free text, or where another word is wrong too.
        assert_eq!(explanation("view -x").1, ["pipemux view --help"]);
        assert_eq!(explanation("open ../x -y").1, ["pipemux open --help"]);
        assert_eq!(
            explanation("--bogus"),
            ("`--bogus` is not an option".into(), vec!["pipemux --help".into()])
        );
    }

    #[test]
    fn missing_and_surplus_words_show_the_usage() {
        for (line, message) in [
            ("view a b", "`b` is one word too many: expected pipemux view [PROVIDER/SESSION]"),
            (
                "open",
                "PROVIDER[/SESSION] is missing: expected pipemux open <PROVIDER[/SESSION]> [ARGS]...",
            ),
            (
                "setup",
                "HARNESS is missing: expected pipemux setup <HARNESS>, one of claude-code, codex, gemini, cursor, vscode, zed, opencode, qwen-code, copilot, agents-md",
            ),
            ("view --json --json", "--json is given twice: expected once"),
            ("service", "a verb is missing: expected one of install, uninstall, status, logs"),
            ("app --json", "a verb is missing: expected one of add, new, check, remove"),
        ] {
            assert_eq!(explanation(line).0, message, "{line}");
        }
    }
}
