//! A command line that can't be read: which word, what was expected there, what to type instead.

use std::error::Error;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use pipemux_client::ClientError;

use super::args::Cli;
use super::slips::as_typed;

/// Verbs whose words are text for somebody else, who may want one that begins with a dash.
const FREE: &[&str] = &["answer", "open"];

/// The parser's error in words of our own; `words` is the command line after the program's name.
pub fn explained(error: &clap::Error, words: &[&str]) -> ClientError {
    let verb = verb_of(words);
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    // `--budget <TOKENS>`
    let (option, placeholder) = argument.split_once(' ').unwrap_or((&argument, ""));
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let given = format!("{option} {value}");
    let message = match error.kind() {
        ErrorKind::ValueValidation => {
            let expected = error.source().map(ToString::to_string).unwrap_or_default();
            // An id's error says by itself which text is wrong.
            let whole = expected.starts_with('`');
            if whole { expected } else { format!("`{given}`: {expected}") }
        }
        ErrorKind::InvalidValue => {
            let values = text(error, ContextKind::ValidValue);
            let expected = values.as_deref().unwrap_or(placeholder);
            format!("`{}`: expected {option} {expected}", given.trim_end())
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            return no_option(error, words, verb, &argument);
        }
        ErrorKind::UnknownArgument => {
            format!("`{argument}` is one word too many: expected {}", usage(verb))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = argument.trim_end_matches("...").trim_matches(['<', '>']);
            format!("{missing} is missing: expected {}", usage(verb))
        }
        ErrorKind::ArgumentConflict => format!("{option} stands twice: expected once"),
        _ => {
            let whole = error.render().to_string();
            let line = whole.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        }
    };
    ClientError::invalid(message).hint(help(verb))
}

fn no_option(
    error: &clap::Error,
    words: &[&str],
    verb: Option<&str>,
    argument: &str,
) -> ClientError {
    let word = whole_word(words, argument);
    let of_verb = verb.map(|verb| format!(" of `{verb}`")).unwrap_or_default();
    let said = ClientError::invalid(format!("`{word}` is no option{of_verb}"));
    let free = verb.is_some_and(|verb| FREE.contains(&verb));
    let as_text = dashed(words).filter(|_| free).map(|line| format!("pipemux {line}"));
    match (text(error, ContextKind::SuggestedArg), as_text) {
        (Some(near), Some(line)) => {
            said.hint(format!("did you mean {near}?")).hint(format!("or, as text: {line}"))
        }
        (Some(near), None) => said.hint(format!("did you mean {near}?")).hint(help(verb)),
        (None, Some(line)) => said.hint(line),
        (None, None) => said.hint(help(verb)),
    }
}

fn help(verb: Option<&str>) -> String {
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

/// The first word that is a verb: options before it may have values, which seldom are.
fn verb_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let command = Cli::command();
    words
        .iter()
        .take_while(|word| **word != "--")
        .copied()
        .find(|word| command.get_subcommands().any(|verb| verb.get_name() == *word))
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

/// The word that the parser took apart: of `-dash.txt` it names `-d`.
fn whole_word<'a>(words: &[&'a str], argument: &'a str) -> &'a str {
    let mut options = words.iter().take_while(|word| **word != "--").copied();
    options.find(|word| word.starts_with(argument)).unwrap_or(argument)
}

/// The line with every word that only looks like an option moved behind `--`; none when it is wrong
/// otherwise too.
fn dashed(words: &[&str]) -> Option<String> {
    let mut line = words.to_vec();
    // Each turn moves one word.
    for _ in 0..=words.len() {
        let error =
            match Cli::try_parse_from(std::iter::once("pipemux").chain(line.iter().copied())) {
                Ok(_) => return Some(as_typed(&line)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> (String, Vec<String>) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let parsed = Cli::try_parse_from(std::iter::once("pipemux").chain(words.iter().copied()));
        let error = explained(&parsed.unwrap_err(), &words);
        (error.fault().message.clone(), error.fault().hints.clone())
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_was_expected() {
        for (line, message) in [
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
            ("answer 1 --to x", "`--to x`: expected a question's number, as it was asked: --to 4"),
            ("view --lod most", "`--lod most`: expected --lod gist, summary, full"),
            ("view --lod", "`--lod`: expected --lod gist, summary, full"),
            ("view --budget", "`--budget`: expected --budget <TOKENS>"),
        ] {
            let (said, hints) = said(line);
            assert!(said.starts_with(message), "{line}: {said}");
            assert!(hints[0].ends_with(" --help"), "{hints:?}");
        }
        let (said, hints) = said("help Foo");
        assert!(said.starts_with("`Foo` is not a provider name: expected"), "{said}");
        assert_eq!(hints, ["pipemux help --help"]);
    }

    #[test]
    fn a_word_with_a_dash_is_answered_with_the_line_that_takes_it() {
        for (line, word, command) in [
            ("open editor -dash.txt", "-dash.txt", "open editor -- -dash.txt"),
            ("open editor a -b.txt c --json", "-b.txt", "open editor a c --json -- -b.txt"),
            ("open editor -a -b -- -c", "-a", "open editor -- -c -a -b"),
            ("open editor --zzz=1", "--zzz=1", "open editor -- --zzz=1"),
            ("answer -x", "-x", "answer -- -x"),
        ] {
            let (message, hints) = said(line);
            assert!(message.starts_with(&format!("`{word}` is no option of `")), "{message}");
            assert_eq!(hints, [format!("pipemux {command}")], "{line}");
        }
        let (_, hints) = said("open editor --jsn");
        assert_eq!(hints, ["did you mean --json?", "or, as text: pipemux open editor -- --jsn"]);
        // A dash is no way out where nothing takes free text, or where more is wrong.
        assert_eq!(said("view -x").1, ["pipemux view --help"]);
        assert_eq!(said("open ../x -y").1, ["pipemux open --help"]);
        assert_eq!(
            said("--bogus"),
            ("`--bogus` is no option".into(), vec!["pipemux --help".into()])
        );
    }

    #[test]
    fn missing_and_surplus_words_are_answered_with_the_usage() {
        for (line, message) in [
            ("view a b", "`b` is one word too many: expected pipemux view [PROVIDER/SESSION]"),
            (
                "open",
                "PROVIDER[/SESSION] is missing: expected pipemux open <PROVIDER[/SESSION]> [ARGS]...",
            ),
            ("answer", "ANSWER is missing: expected pipemux answer <ANSWER>..."),
            ("view --json --json", "--json stands twice: expected once"),
        ] {
            assert_eq!(said(line).0, message, "{line}");
        }
    }
}
