//! Plain command lines, read without clap.
//!
//! A harness sends `click`, `run`, `answer`, `view` and `read` by the thousand; building clap's model of all
//! verbs and options costs such a process more than everything else it does. What is the least bit unusual
//! is left to clap, and with it every error and every help text.

use std::ffi::OsString;

use super::args::{Cli, Global, Verb, session};

/// What clap makes of a plain command line; `None` for any that isn't.
pub fn read(words: &[OsString]) -> Option<Cli> {
    let mut global = Global::default();
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
        ("click", [link]) => Verb::Click { link: (*link).to_owned() },
        ("read", [target]) => Verb::Read { target: (*target).to_owned() },
        ("run", [_, ..]) => Verb::Run { code: owned(rest) },
        ("answer", [_, ..]) => Verb::Answer { words: owned(rest), to: None },
        ("view", []) => Verb::View { session: None, since: None, wait: None },
        ("view", [of]) => Verb::View { session: Some(session(of).ok()?), since: None, wait: None },
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

    /// What clap and the quick way make of a line.
    fn both(words: &[&str]) -> (Option<String>, Option<String>) {
        let words: Vec<OsString> =
            std::iter::once("pipemux").chain(words.iter().copied()).map(Into::into).collect();
        let shown = |cli: &Cli| format!("{cli:?}");
        (Cli::try_parse_from(&words).ok().as_ref().map(shown), read(&words).as_ref().map(shown))
    }

    #[test]
    fn what_harnesses_send_is_read_quickly() {
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
            let (slow, quick) = both(&words);
            assert!(quick.is_some(), "{line}");
            assert_eq!(slow, quick, "{line}");
        }
    }

    proptest! {
        /// Quick is quick only: it never takes a line otherwise than clap does, and never one that clap refuses.
        #[test]
        fn it_never_differs_from_clap(words in prop::collection::vec(
            prop::sample::select(vec![
                "click", "run", "answer", "view", "read", "open", "help", "status", "--json",
                "--reader", "--workspace", "--budget", "--lod", "--at", "--titles", "--since",
                "--to", "--help", "--version", "-h", "--", "-", "-1", "--json=1", "--reader=x",
                "", "15", "17", "editor/main", "Editor", "深い", "full", "a b",
            ]),
            0..7,
        )) {
            let (slow, quick) = both(&words);
            if quick.is_some() {
                prop_assert_eq!(slow, quick);
            }
        }
    }
}
