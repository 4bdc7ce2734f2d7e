//! Whether a command may run: the person's patterns, and what was allowed in this session.
//!
//! A line that isn't plain words is asked for as a whole, since no pattern can tell what a shell makes of it; only the
//! pattern `*` allows it, and only while nothing is to be refused or asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use serde::Deserialize;

use crate::allowed::Allowed;
use crate::command_line::HARMLESS_BUILTINS;
use crate::harmless::is_harmless_variable;
use crate::pattern::{Folders, allows, file_of, names, names_within};
use crate::start::Order;

/// The person's patterns, from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What runs without a question.
    #[serde(default)]
    pub allow: Vec<String>,
    /// What is asked each time.
    #[serde(default)]
    pub ask: Vec<String>,
    /// What never runs.
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Whether a command may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It runs.
    Allowed,
    /// Whoever calls is asked first. What an answer allows from then on; nothing if it is asked each time.
    Ask(Option<Scope>),
    /// It is refused because of this pattern.
    Denied(String),
}

/// What an answer allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// These programs, with any arguments.
    Programs(Vec<String>),
    /// This line as it is, in its directory and with its variables.
    Line,
    /// Every command, as the pattern `*` does.
    All,
}

impl Rules {
    /// Returns the file that has the patterns. An opener whose environment names no home has that of its user.
    pub fn path(env: &BTreeMap<String, String>) -> Option<PathBuf> {
        let absolute =
            |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home =
            || absolute("HOME").or_else(|| std::env::home_dir().filter(|path| path.is_absolute()));
        let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
        Some(config.join("pipemux/terminal.toml"))
    }

    /// Reads the patterns; a file that isn't there has none.
    ///
    /// # Errors
    /// The file can't be read or has a mistake, or nobody knows where it is: then nothing may run, since it could forbid anything.
    pub fn read(path: Option<&Path>) -> Result<Self, Fault> {
        let Some(path) = path else {
            return Err(Fault::refused("no command runs: nothing says where terminal.toml is")
                .hint("set HOME to an absolute path"));
        };
        let shown = path.display();
        let text = match regular_file::read_to_string(path).map_err(std::io::Error::from) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Fault::refused(format!("no command runs: {shown}: {error}"))),
        };
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            let message = error.message();
            Fault::refused(format!(
                "no command runs until this is mended: {shown}:{line}: {message}"
            ))
            .hint(
                "it may have allow, ask and deny, each a list: allow = [\"cargo\", \"git status\"]",
            )
        })
    }

    /// Returns whether a command may run.
    pub fn check(&self, order: &Order, workspace: &Path, allowed: &Allowed) -> Permission {
        let folders = Folders { cwd: &order.cwd, workspace };
        let is_known = order.given.iter().all(|(name, value)| is_harmless_variable(name, value));
        let programs = if is_known { order.line.programs() } else { &[] };
        if programs.is_empty() {
            return self.check_line(order, folders, allowed);
        }
        let named = |patterns: &[String]| {
            let of = |words: &Vec<String>| {
                patterns.iter().find(|pattern| names(pattern, words, folders)).cloned()
            };
            programs.iter().find_map(of)
        };
        if let Some(pattern) = named(&self.deny) {
            return Permission::Denied(pattern);
        }
        if named(&self.ask).is_some() {
            return Permission::Ask(None);
        }
        if programs.iter().any(|words| self.may_hide_an_argument(words, folders)) {
            return self.check_line(order, folders, allowed);
        }
        let unknown: BTreeSet<String> = programs
            .iter()
            .filter(|words| !HARMLESS_BUILTINS.contains(&words[0].as_str()))
            .filter(|words| !self.allow.iter().any(|pattern| allows(pattern, words, folders)))
            .map(|words| program(&words[0], &order.cwd))
            .filter(|program| !allowed.all && !allowed.programs.contains(program))
            .collect();
        match unknown.is_empty() {
            true => Permission::Allowed,
            false => Permission::Ask(Some(Scope::Programs(unknown.into_iter().collect()))),
        }
    }

    /// Returns true if arguments of a program for which there are rules are patterns of file names: a file could make one of them an
    /// argument that a rule names.
    fn may_hide_an_argument(&self, words: &[String], folders: Folders<'_>) -> bool {
        let begins = |rule: &String| {
            rule.split_whitespace().next().is_some_and(|part| names(part, words, folders))
        };
        words[1..].iter().any(|word| word.contains(['*', '?', '[']))
            && self.deny.iter().chain(&self.ask).any(begins)
    }

    /// Returns whether a line may run whose words don't tell what it runs.
    fn check_line(&self, order: &Order, folders: Folders<'_>, allowed: &Allowed) -> Permission {
        let text = order.exact();
        let named = |patterns: &[String]| {
            patterns.iter().find(|pattern| names_within(pattern, &text, folders)).cloned()
        };
        if let Some(pattern) = named(&self.deny) {
            return Permission::Denied(pattern);
        }
        if named(&self.ask).is_some() {
            return Permission::Ask(None);
        }
        let is_listed = order.given.is_empty()
            && self.allow.iter().any(|pattern| pattern.trim() == order.line.text);
        // Behind a shell anything could hide that a pattern names.
        let is_any =
            (self.allows_all() || allowed.all) && self.ask.is_empty() && self.deny.is_empty();
        match is_listed || is_any || allowed.lines.contains(&order.identity()) {
            true => Permission::Allowed,
            false => Permission::Ask(Some(Scope::Line)),
        }
    }

    fn allows_all(&self) -> bool {
        self.allow.iter().any(|pattern| pattern.trim() == "*")
    }
}

/// The name under which a program is allowed: a path means another program in another directory.
fn program(word: &str, cwd: &Path) -> String {
    file_of(word, cwd).map_or_else(|| word.to_owned(), |file| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use crate::limits::ALLOWED_MAX;

    fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
        let list = |of: &[&str]| of.iter().map(|one| (*one).to_owned()).collect();
        Rules { allow: list(allow), ask: list(ask), deny: list(deny) }
    }

    fn order(text: &str, cwd: &str, given: &[(&str, &str)]) -> Order {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Order::new(CommandLine::parse(text), cwd.into(), given.collect(), &BTreeMap::new())
    }

    fn check_with(rules: &Rules, order: &Order, allowed: &Allowed) -> Permission {
        rules.check(order, Path::new("/p"), allowed)
    }

    fn check(rules: &Rules, text: &str) -> Permission {
        check_with(rules, &order(text, "/p", &[]), &Allowed::default())
    }

    fn programs(names: &[&str]) -> Permission {
        Permission::Ask(Some(Scope::Programs(
            names.iter().map(|name| (*name).to_owned()).collect(),
        )))
    }

    #[test]
    fn each_program_is_asked_for_once() {
        let none = Rules::default();
        assert_eq!(check(&none, "cargo test"), programs(&["cargo"]));
        assert_eq!(check(&none, "cd x && cargo test 2>&1 | tail -3"), programs(&["cargo", "tail"]));
        assert_eq!(check(&none, "./run.sh"), programs(&["/p/run.sh"]));
        let allowed = Allowed { programs: ["cargo".to_owned()].into(), ..Allowed::default() };
        let build = order("cargo build", "/p", &[]);
        assert_eq!(check_with(&none, &build, &allowed), Permission::Allowed);
        let with = order("cargo build", "/p", &[("A", "1")]);
        assert_eq!(check_with(&none, &with, &allowed), Permission::Ask(Some(Scope::Line)));
        let with = order("NO_COLOR=1 cargo build", "/p/a", &[("PORT", "0")]);
        assert_eq!(check_with(&none, &with, &allowed), Permission::Allowed);
        for (name, value) in [("PORT", ". -exec x ;"), ("PORT", ""), ("LANG", "$(x)")] {
            let with = order("cargo $PORT", "/p", &[(name, value)]);
            let asked = check_with(&none, &with, &allowed);
            assert_eq!(asked, Permission::Ask(Some(Scope::Line)), "{name}={value}");
        }
    }

    #[test]
    fn allowed_line_is_allowed_in_its_directory_and_with_its_variables_only() {
        let dir = tempfile::tempdir().unwrap();
        let none = Rules::default();
        let mut allowed = Allowed::default();
        let first = order("sh ./go.sh", "/p/a", &[]);
        allowed.add(&Scope::Line, &first.identity(), dir.path()).unwrap();
        let with = order("cat", "/p", &[("A", "1 2")]);
        allowed.add(&Scope::Line, &with.identity(), dir.path()).unwrap();
        for order in [&first, &with] {
            assert_eq!(check_with(&none, order, &allowed), Permission::Allowed);
        }
        for order in [
            order("sh ./go.sh", "/p/b", &[]),
            order("cat", "/p", &[("A", "1"), ("2", "")]),
            order("A=1 2 cat", "/p", &[]),
        ] {
            let asked = check_with(&none, &order, &allowed);
            assert_eq!(asked, Permission::Ask(Some(Scope::Line)), "{order:?}");
        }
        // What is asked each time is asked whatever was answered.
        let ask = rules(&["sh"], &["sh"], &[]);
        assert_eq!(check_with(&ask, &first, &allowed), Permission::Ask(None));
        // No variable's value is kept.
        let saved = std::fs::read_to_string(dir.path().join("allowed.json")).unwrap();
        assert!(!saved.contains("1 2"), "{saved}");
        assert_eq!(Allowed::read(dir.path()), allowed);
    }

    #[test]
    fn allowed_programs_and_lines_have_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let mut allowed = Allowed::default();
        let many = (0..ALLOWED_MAX).map(|number| number.to_string()).collect();
        allowed.add(&Scope::Programs(many), "", dir.path()).unwrap();
        assert_eq!(allowed.programs.len(), ALLOWED_MAX);
        allowed.add(&Scope::Line, "line", dir.path()).unwrap();
        assert_eq!((allowed.programs.len(), allowed.lines.len()), (ALLOWED_MAX, 0));
        allowed.add(&Scope::Programs(vec!["x".into()]), "", dir.path()).unwrap();
        assert!(allowed.programs.is_empty());
    }

    #[test]
    fn patterns_are_rows_of_words() {
        let rules = rules(
            &["cargo", "git status", "git log *", "npm run test*"],
            &["git push"],
            &["git push -f"],
        );
        for text in [
            "cargo",
            "cargo test",
            "git status --short",
            "git log",
            "git log -3",
            "npm run test:unit",
        ] {
            assert_eq!(check(&rules, text), Permission::Allowed, "{text}");
        }
        assert_eq!(check(&rules, "git commit"), programs(&["git"]));
        assert_eq!(check(&rules, "cargo-x"), programs(&["cargo-x"]));
        assert_eq!(check(&rules, "npm run tidy"), programs(&["npm"]));
        assert_eq!(check(&rules, "git push"), Permission::Ask(None));
        assert_eq!(
            check(&rules, "cargo test && git push -f"),
            Permission::Denied("git push -f".into())
        );
    }

    #[test]
    fn pattern_of_file_names_is_no_way_around_a_rule() {
        let some = rules(&["git", "ls"], &["find . -name"], &["git push"]);
        assert_eq!(check(&some, "git pus[h]"), Permission::Ask(Some(Scope::Line)));
        assert_eq!(check(&some, "git add *.rs"), Permission::Ask(Some(Scope::Line)));
        assert_eq!(check(&some, "ls *.rs"), Permission::Allowed);
        let path = rules(&["*"], &[], &["./run.sh"]);
        for text in ["./run.sh", "sub/../run.sh", "./sub/.././run.sh"] {
            assert_eq!(check(&path, text), Permission::Denied("./run.sh".into()), "{text}");
        }
    }

    #[test]
    fn nothing_hides_behind_a_shell() {
        let some = rules(&["cargo", "ls *"], &[], &["rm -rf"]);
        for text in [
            "sh -c 'rm -rf x'",
            "echo $(rm -rf x)",
            "A=1 rm -rf x",
            "ls; (rm -rf x)",
            "cargo test; rm -rf /",
        ] {
            assert_eq!(check(&some, text), Permission::Denied("rm -rf".into()), "{text}");
        }
        for text in [
            "cargo test & x",
            "cargo $(x)",
            "ls `x`",
            "env cargo test",
            "cargo test > x",
            "r\"m\" -rf x; $y",
        ] {
            assert_eq!(check(&some, text), Permission::Ask(Some(Scope::Line)), "{text}");
        }
        assert_eq!(check(&some, "cargo test; x"), programs(&["x"]));
        // All that a shell says runs only while there is nothing that it could hide.
        assert_eq!(check(&rules(&["*"], &[], &[]), "a $(b)"), Permission::Allowed);
        assert_eq!(
            check(&rules(&["*"], &[], &["rm"]), "a $(b)"),
            Permission::Ask(Some(Scope::Line))
        );
        assert_eq!(check(&rules(&["*"], &["git push"], &[]), "git push"), Permission::Ask(None));
        assert_eq!(check(&rules(&["a $(b)"], &[], &["rm"]), "a $(b)"), Permission::Allowed);
    }

    #[test]
    fn any_command_runs_once_that_was_answered_except_what_a_pattern_names() {
        let all = Allowed { all: true, ..Allowed::default() };
        let check = |rules: &Rules, text: &str| check_with(rules, &order(text, "/p", &[]), &all);
        assert_eq!(check(&Rules::default(), "cargo test | tail; x"), Permission::Allowed);
        assert_eq!(check(&Rules::default(), "a $(b) > c"), Permission::Allowed);
        let some = rules(&[], &["git push"], &["rm"]);
        assert_eq!(check(&some, "cargo test"), Permission::Allowed);
        assert_eq!(check(&some, "git push"), Permission::Ask(None));
        assert_eq!(check(&some, "rm x"), Permission::Denied("rm".into()));
        assert_eq!(check(&some, "a $(b)"), Permission::Ask(Some(Scope::Line)));
    }

    #[test]
    fn a_mistake_in_the_file_stops_everything_and_names_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("terminal.toml");
        assert_eq!(Rules::read(Some(&path)), Ok(Rules::default()));
        // Without a place the file could forbid anything.
        assert!(Rules::read(None).is_err());
        let relative = BTreeMap::from([("XDG_CONFIG_HOME".to_owned(), "x".to_owned())]);
        assert!(Rules::path(&relative).is_none_or(|path| path.is_absolute()));
        assert_eq!(Rules::path(&BTreeMap::new()).is_some(), std::env::home_dir().is_some());
        std::fs::write(&path, "allow = [\"*\"]\nalow = []\n").unwrap();
        let message = Rules::read(Some(&path)).unwrap_err().message;
        assert!(message.contains("terminal.toml:2: unknown field `alow`"), "{message}");
    }
}
