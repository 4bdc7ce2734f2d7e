//! Holds what the pages say of the command line against the command line: `docs/command-line.md` is
//! made of the verbs' help, and each command that a page names can be parsed.
//!
//! After an intended change, `PIPEMUX_DOCS=write` writes the page again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};

use super::Cli;
use super::overview::VERB_OVERVIEW;

const PAGE: &str = "docs/command-line.md";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes the help of a command's verbs, and of their verbs.
fn write_verbs(page: &mut String, command: &Command, path: &str) {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = format!("{path}{}", verb.get_name());
        let words = ["pipemux"].into_iter().chain(name.split(' ')).chain(["--help"]);
        let help = Cli::try_parse_from(words).unwrap_err().render().to_string();
        // The options of every verb stand once, at the end of the page.
        let own = help.split("\nOptions of every verb:").next().unwrap().trim_end();
        let _ = write!(page, "\n## pipemux {name}\n\n```text\n{own}\n```\n");
        write_verbs(page, verb, &format!("{name} "));
    }
}

#[test]
fn page_of_the_command_line_is_the_help_of_every_verb() {
    let mut page = String::from(
        "# Command line\n\nThis page is made of the program's own help. `pipemux --help` is the guide for agents, and `pipemux help \
         editor` tells what an app can do.\n\n",
    );
    let _ = write!(page, "```text\n{VERB_OVERVIEW}\n```\n");
    write_verbs(&mut page, &Cli::command(), "");
    let words = ["pipemux", "status", "--help"];
    let help = Cli::try_parse_from(words).unwrap_err().render().to_string();
    let (_, every) = help.split_once("\nOptions of every verb:\n").unwrap();
    let _ = write!(page, "\n## Options of every verb\n\n```text\n{}\n```\n", every.trim_end());
    let path = repository().join(PAGE);
    if env::var_os("PIPEMUX_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == page, "PIPEMUX_DOCS=write writes {PAGE} anew");
}

/// The commands of a page: inline code and lines of shells that begin with the program's name.
fn commands(text: &str) -> Vec<String> {
    let inline = text.split('`').skip(1).step_by(2).filter(|one| !one.contains('\n'));
    let lines = text.lines().map(|line| line.trim_start_matches("$ ").trim());
    let all = inline.chain(lines).filter(|one| one.starts_with("pipemux "));
    // What one doesn't write: the rest of a line, and the beginning of a here-document.
    let ends = ['#', '…', '|', ';', '&', '>', '·', ','];
    let quoted = |one: &str| one.contains('\'') || one.contains('"');
    all.map(|one| match quoted(one) {
        true => one.split(['\'', '"']).next().unwrap().to_owned(),
        false => one.split(ends).next().unwrap().to_owned(),
    })
    .map(|one| {
        one.split(" <<")
            .next()
            .unwrap()
            .split(" < ")
            .next()
            .unwrap()
            .split("  ")
            .next()
            .unwrap()
            .trim()
            .to_owned()
    })
    .collect()
}

#[test]
fn every_command_that_a_page_names_can_be_parsed() {
    let docs = fs::read_dir(repository().join("docs")).unwrap().map(|one| one.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let others = ["README.md", ".github/SECURITY.md", "apps/terminal/docs/commands.md"];
    let mut parsed = 0;
    for path in pages.chain(others.map(|name| repository().join(name))) {
        for command in commands(&fs::read_to_string(&path).unwrap()) {
            let unknown =
                [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand, ErrorKind::InvalidValue];
            if let Err(error) = Cli::try_parse_from(command.split_whitespace()) {
                let page = path.display();
                assert!(!unknown.contains(&error.kind()), "{page}: {command}\n{error}");
            }
            parsed += 1;
        }
    }
    assert!(parsed > 60, "{parsed}");
}

#[test]
fn page_on_harnesses_has_the_text_for_agents_as_setup_writes_it() {
    let page = fs::read_to_string(repository().join("docs/harnesses.md")).unwrap();
    assert!(page.contains(&crate::guide::of_agents_md()));
}
