//! The arguments of the command line, and their help texts.

#[cfg(test)]
mod docs_tests;
mod global;
#[cfg(test)]
mod help_tests;
mod overview;
mod subverbs;
mod values;
mod verbs;

use clap::{CommandFactory, Parser};

pub use global::{GlobalArgs, LodArg};
use overview::{HELP_TEMPLATE, VERB_OVERVIEW};
pub use subverbs::{AppVerb, ServiceVerb};
pub use values::{Harness, HelpTopic, OpenTarget, With, session};
pub use verbs::Verb;

/// Long-lived applications for agents: each is a Markdown document with links and calls.
#[derive(Debug, Parser)]
#[command(
    name = "pipemux",
    version,
    help_template = HELP_TEMPLATE,
    after_help = VERB_OVERVIEW,
    disable_help_subcommand = true,
    infer_subcommands = false,
)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

impl Cli {
    /// Turns options of a verb into the options of every verb that they stand for, and a call
    /// without a verb into a run of it.
    pub fn resolve(mut self) -> Cli {
        match self.verb.take() {
            Some(verb @ Verb::Help { full: true, .. }) => {
                self.global.lod = Some(LodArg::Full);
                self.verb = Some(verb);
            }
            Some(Verb::Unknown(code)) if code.len() == 1 && is_call(&code[0]) => {
                self.verb = Some(Verb::Run { code, wait: None });
            }
            Some(
                verb @ (Verb::Click { wait, .. }
                | Verb::Run { wait, .. }
                | Verb::Answer { wait, .. }
                | Verb::Read { wait, .. }),
            ) => {
                self.global.job_wait = wait;
                self.verb = Some(verb);
            }
            verb => self.verb = verb,
        }
        self
    }
}

/// Returns true for a word that can only be calls: `find("x")`, `editor.find("x"); save()`.
fn is_call(word: &str) -> bool {
    let Some((name, _)) = word.split_once('(') else { return false };
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let action = name.rsplit('.').next().unwrap_or(name);
    action.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(in_name)
        && word.trim_end().ends_with([')', ';'])
}

/// Returns the help of the command with every verb and option.
pub fn long_help() -> String {
    Cli::command().render_help().to_string()
}

/// Returns the help of a verb, as its `--help` prints it; `None` if there is no such verb.
pub fn help_of_verb(name: &str) -> Option<String> {
    let mut command = Cli::command();
    command.build();
    let verb = command.find_subcommand_mut(name).filter(|verb| !verb.is_hide_set())?;
    Some(verb.render_long_help().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("pipemux").chain(line.split_whitespace()))
    }

    #[test]
    fn overview_lists_every_verb() {
        Cli::command().debug_assert();
        let listed: Vec<&str> = VERB_OVERVIEW.split_whitespace().collect();
        for verb in Cli::command().get_subcommands() {
            assert!(listed.contains(&verb.get_name()), "{}", verb.get_name());
        }
        let help = long_help();
        assert!(help.contains("pipemux open editor") && help.contains("--budget"), "{help}");
    }

    #[test]
    fn files_need_no_double_dash_and_options_go_anywhere() {
        for line in
            ["open editor -- a.rs b.rs", "open editor a.rs b.rs", "open editor a.rs -- b.rs"]
        {
            let Some(Verb::Open { target, args, .. }) = parse(line).unwrap().verb else { panic!() };
            assert_eq!((target.provider.as_str(), target.session), ("editor", None));
            assert_eq!(args, ["a.rs", "b.rs"]);
        }
        let cli = parse("open editor/b a.rs --json --budget 300 --lod FULL -- --json").unwrap();
        assert!(cli.global.json && cli.global.budget == Some(300));
        let Some(Verb::Open { target, args, .. }) = cli.verb else { panic!() };
        assert_eq!(target.session.unwrap().as_str(), "b");
        assert_eq!(args, ["a.rs", "--json"]);
        assert!(parse("--workspace demo view").unwrap().global.workspace.is_some());
    }

    #[test]
    fn call_without_a_verb_is_run() {
        let verb = |words: &[&str]| {
            let words = ["pipemux"].iter().chain(words);
            Cli::try_parse_from(words).unwrap().resolve().verb.unwrap()
        };
        for code in ["find(\"x\")", "editor.find('x'); save()", "notebook/b.show()"] {
            let Verb::Run { code: run, .. } = verb(&[code]) else { panic!("{code}") };
            assert_eq!(run, [code]);
        }
        for words in [&["find (x)"][..], &["(x)"], &["editor.find(", "x)"], &["find(x"], &["find"]]
        {
            assert!(matches!(verb(words), Verb::Unknown(_)), "{words:?}");
        }
    }

    #[test]
    fn invalid_values_are_usage_errors() {
        for line in [
            "open Editor a.rs",
            "open editor/",
            "view editor/a/b",
            "close ../main",
            "view --budget 0",
            "view --lod most",
            "view --timeout 0",
            "view --timeout NaN",
            "view --timeout inf",
            "logs editor/main --lines -1",
            "view --since now",
            "view --since e",
            "view --since e+1",
            "click 15 --at -1",
            "run --at @e3 a()",
            "history --rounds 0",
            "view --wait 0",
            "view --wait 3601",
            "watch --count 0",
            "watch --since -1",
            "app add",
            "app remove Foo",
            "set epoch strict now",
            "listen message.md",
            "click",
        ] {
            assert_eq!(parse(line).map(drop).unwrap_err().exit_code(), 2, "{line}");
        }
        let Some(Verb::View { session, .. }) = parse("view monitor").unwrap().verb else {
            panic!()
        };
        assert_eq!(session.unwrap().to_string(), "monitor/main");
        for line in ["view --since 17 --at e17", "--at 17 view --since e17"] {
            let cli = parse(line).unwrap();
            assert_eq!(cli.global.at, Some(17));
            let Some(Verb::View { since, .. }) = cli.verb else { panic!() };
            assert_eq!(since, Some(17));
        }
        assert_eq!(parse("view --timeout 1.5").unwrap().global.timeout.unwrap().as_millis(), 1500);
    }
}
