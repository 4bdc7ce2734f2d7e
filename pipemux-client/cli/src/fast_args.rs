//! Parses plain command lines without clap.
//!
//! A harness runs `click`, `run`, `answer`, `view` and `read` by the thousand, and building clap's
//! model of all verbs and options would cost such a process more than everything else it does.
//! Every line that is not entirely plain is left to clap, and so are all errors and help texts.

use std::ffi::OsString;

use super::args::{Cli, GlobalArgs, Verb, session};

/// Returns what clap would make of a plain command line; `None` for any other line.
pub fn parse(words: &[OsString]) -> Option<Cli> {
    let mut global = GlobalArgs::default();
    let mut plain = Vec::with_capacity(words.len());
    let mut words = words.iter().skip(1).map(|word| word.to_str());
    while let Some(word) = words.next() {
        match word? {
            "--json" if !global.json => global.json = true,
            "--reader" if global.reader.is_none() => global.reader = Some(value(words.next())?),
            "--workspace" if global.workspace.is_none() => {
                global.workspace = Some(value(words.next())?);
            }
            word if word.starts_with('-') => return None,
            word => plain.push(word),
        }
    }
    let (verb, rest) = plain.split_first()?;
    let verb = match (*verb, rest) {
        ("click", [link]) => Verb::Click { link: (*link).to_owned(), wait: None },
        ("read", [target]) => Verb::Read { target: (*target).to_owned(), wait: None },
        ("run", [_, ..]) => Verb::Run { code: owned(rest), wait: None },
        ("ask", [_, ..]) => Verb::Ask { code: owned(rest) },
        ("answer", _) => Verb::Answer { words: owned(rest), to: None, wait: None },
        ("view", []) => Verb::View { session: None, since: None, wait: None, have: Vec::new() },
        ("view", [window]) => {
            let session = Some(session(window).ok()?);
            Verb::View { session, since: None, wait: None, have: Vec::new() }
        }
        _ => return None,
    };
    Some(Cli { global, verb: Some(verb) })
}

fn value(word: Option<Option<&str>>) -> Option<String> {
    word.flatten().filter(|word| !word.starts_with('-')).map(str::to_owned)
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use proptest::prelude::*;

    /// Parses a line with clap and with the fast parser.
    fn parse_both(words: &[&str]) -> (Option<String>, Option<String>) {
        let words: Vec<OsString> =
            std::iter::once("pipemux").chain(words.iter().copied()).map(Into::into).collect();
        let debug = |cli: &Cli| format!("{cli:?}");
        (Cli::try_parse_from(&words).ok().as_ref().map(debug), parse(&words).as_ref().map(debug))
    }

    #[test]
    fn plain_lines_are_parsed_without_clap() {
        for line in [
            "click 15",
            "click link:15 --json",
            "--reader a1 --workspace demo run a.b() c",
            "answer all but 2",
            "view",
            "view editor/main --reader b",
            "read obj:3",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let (clap, fast) = parse_both(&words);
            assert!(fast.is_some(), "{line}");
            assert_eq!(clap, fast, "{line}");
        }
    }

    proptest! {
        /// The fast parser never reads a line differently from clap, and never accepts one that
        /// clap refuses.
        #[test]
        fn result_never_differs_from_clap(words in prop::collection::vec(
            prop::sample::select(vec![
                "click", "run", "ask", "answer", "view", "read", "open", "help", "status", "--json",
                "--reader", "--workspace", "--budget", "--lod", "--at", "--titles", "--since",
                "--to", "--help", "--version", "-h", "--", "-", "-1", "--json=1", "--reader=x",
                "", "15", "17", "editor/main", "Editor", "深い", "full", "a b",
            ]),
            0..7,
        )) {
            let (clap, fast) = parse_both(&words);
            if fast.is_some() {
                prop_assert_eq!(clap, fast);
            }
        }
    }
}
