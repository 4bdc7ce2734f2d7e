//! Pins the help of the program and of every verb, so that a change of wording is reviewed as text.
//!
//! After an intended change, run the tests with `INSTA_UPDATE=always` and review the changed
//! snapshots.

use clap::{Command, CommandFactory, Parser};

use super::Cli;

/// Returns what a command line that ends in `--help` prints.
fn help(verb: &[&str]) -> String {
    let words = ["pipemux"].iter().chain(verb).chain(&["--help"]);
    Cli::try_parse_from(words).unwrap_err().render().to_string()
}

/// Compares a help text with its snapshot.
fn assert_help(name: &str, verb: &[&str]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, help(verb)));
}

/// Calls `check` for every verb below the command, and for the verbs of a verb.
fn for_each_verb(command: &Command, path: &[&str], check: &mut impl FnMut(&[&str])) {
    for verb in command.get_subcommands() {
        let path = [path, &[verb.get_name()]].concat();
        check(&path);
        for_each_verb(verb, &path, check);
    }
}

#[test]
fn help_of_the_program() {
    assert_help("pipemux", &[]);
}

#[test]
fn help_of_every_verb() {
    for_each_verb(&Cli::command(), &[], &mut |verb| {
        assert_help(&format!("pipemux-{}", verb.join("-")), verb);
    });
}

#[test]
fn every_argument_is_documented() {
    for_each_verb(&Cli::command(), &[], &mut |verb| {
        let mut command = Cli::command();
        let mut found = &mut command;
        for name in verb {
            found = found.find_subcommand_mut(name).unwrap();
        }
        for argument in found.get_arguments() {
            assert!(argument.get_help().is_some(), "{verb:?} {}", argument.get_id());
        }
    });
}
