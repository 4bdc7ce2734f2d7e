//! Whether a command may run: the person's patterns, and what was allowed in this session.
//!
//! A pattern is a row of words: `git status` stands for that and anything behind it, and `*` within a word for any text.
//! A line that isn't plain words is asked for as a whole, since no pattern can tell what a shell makes of it; only the
//! pattern `*` allows it, and only while nothing is to be refused or asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

use crate::command_line::{CommandLine, HARMLESS_BUILTINS};
use crate::limits::ALLOWED_MAX;

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

/// What was allowed in answers to questions, as it is saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// Programs, with any arguments.
    #[serde(default)]
    pub programs: BTreeSet<String>,
    /// Whole lines.
    #[serde(default)]
    pub lines: BTreeSet<String>,
    /// Anything that no pattern asks for or refuses.
    #[serde(default)]
    pub any: bool,
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
    /// This line as it is.
    Line,
    /// Every command, as the pattern `*` does.
    Any,
}

impl Rules {
    /// Returns the file that has the patterns.
    pub fn path(env: &BTreeMap<String, String>) -> Option<PathBuf> {
        let absolute =
            |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config =
            absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
        Some(config.join("pipemux/terminal.toml"))
    }

    /// Reads the patterns; a file that isn't there has none.
    ///
    /// # Errors
    /// The file can't be read or has a mistake: then nothing may run, since it could forbid anything.
    pub fn read(path: Option<&Path>) -> Result<Self, Fault> {
        let Some(path) = path else { return Ok(Self::default()) };
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

    /// Returns whether a command may run. `whole` is the line with what is given besides, and `is_plain` is false if
    /// something besides changes what the line does.
    pub fn check(
        &self,
        line: &CommandLine,
        whole: &str,
        is_plain: bool,
        cwd: &Path,
        allowed: &Allowed,
    ) -> Permission {
        let programs = if is_plain { line.programs() } else { &[] };
        if programs.is_empty() {
            let loose: Vec<String> = whole
                .split(|c: char| c.is_whitespace() || ";&|()<>$`\"'{}=".contains(c))
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect();
            let denied = self
                .deny
                .iter()
                .find(|pattern| (0..loose.len()).any(|from| matches(pattern, &loose[from..])));
            return match denied {
                Some(pattern) => Permission::Denied(pattern.clone()),
                None if self.allow.iter().any(|pattern| pattern.trim() == whole) => {
                    Permission::Allowed
                }
                None if (self.allows_all() || allowed.any)
                    && self.ask.is_empty()
                    && self.deny.is_empty() =>
                {
                    Permission::Allowed
                }
                None if allowed.lines.contains(whole) => Permission::Allowed,
                None => Permission::Ask(Some(Scope::Line)),
            };
        }
        let found = |patterns: &'_ [String], words: &[String]| {
            patterns.iter().find(|pattern| matches(pattern, words)).cloned()
        };
        if let Some(pattern) = programs.iter().find_map(|words| found(&self.deny, words)) {
            return Permission::Denied(pattern);
        }
        if programs.iter().any(|words| found(&self.ask, words).is_some()) {
            return Permission::Ask(None);
        }
        let unknown: BTreeSet<String> = programs
            .iter()
            .filter(|words| !HARMLESS_BUILTINS.contains(&words[0].as_str()))
            .filter(|words| found(&self.allow, words).is_none())
            .map(|words| program(&words[0], cwd))
            .filter(|program| !allowed.any && !allowed.programs.contains(program))
            .collect();
        match unknown.is_empty() {
            true => Permission::Allowed,
            false => Permission::Ask(Some(Scope::Programs(unknown.into_iter().collect()))),
        }
    }

    fn allows_all(&self) -> bool {
        self.allow.iter().any(|pattern| pattern.trim() == "*")
    }
}

impl Allowed {
    /// Reads what was allowed before.
    pub fn read(state_dir: &Path) -> Self {
        regular_file::read(&state_dir.join("allowed.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Adds what was allowed, and saves it.
    ///
    /// # Errors
    /// It can't be saved. It counts until the process ends.
    pub fn add(&mut self, scope: &Scope, line: &str, state_dir: &Path) -> Result<(), Fault> {
        if self.programs.len() + self.lines.len() >= ALLOWED_MAX {
            self.lines.clear();
        }
        match scope {
            Scope::Programs(programs) => self.programs.extend(programs.iter().cloned()),
            Scope::Line => drop(self.lines.insert(line.to_owned())),
            Scope::Any => self.any = true,
        }
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        state_file::replace(&state_dir.join("allowed.json"), &bytes)
    }
}

/// The name under which a program is allowed: a path means another program in another directory.
fn program(word: &str, cwd: &Path) -> String {
    match word.contains('/') {
        true => cwd.join(word).components().collect::<PathBuf>().display().to_string(),
        false => word.to_owned(),
    }
}

/// Returns true if the words begin with what a pattern says.
fn matches(pattern: &str, words: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split_whitespace().collect();
    match parts.as_slice() {
        [] => false,
        ["*"] => true,
        parts => {
            // A last `*` stands for anything, also for nothing.
            let parts = if parts.last() == Some(&"*") { &parts[..parts.len() - 1] } else { parts };
            parts.len() <= words.len()
                && parts.iter().zip(words).all(|(part, word)| glob(part, word))
        }
    }
}

/// Returns true if a text is as a pattern says, where `*` stands for any text.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
        let list = |of: &[&str]| of.iter().map(|one| (*one).to_owned()).collect();
        Rules { allow: list(allow), ask: list(ask), deny: list(deny) }
    }

    fn check(rules: &Rules, text: &str) -> Permission {
        let line = CommandLine::parse(text);
        rules.check(&line, &line.text, true, Path::new("/p"), &Allowed::default())
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
        let line = CommandLine::parse("cargo build");
        let allowed = Allowed { programs: ["cargo".to_owned()].into(), ..Allowed::default() };
        assert_eq!(
            none.check(&line, "cargo build", true, Path::new("/p"), &allowed),
            Permission::Allowed
        );
        assert_eq!(
            none.check(&line, "A=1 cargo build", false, Path::new("/p"), &allowed),
            Permission::Ask(Some(Scope::Line))
        );
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
        let any = Allowed { any: true, ..Allowed::default() };
        let check = |rules: &Rules, text: &str| {
            let line = CommandLine::parse(text);
            rules.check(&line, &line.text, true, Path::new("/p"), &any)
        };
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
        std::fs::write(&path, "allow = [\"*\"]\nalow = []\n").unwrap();
        let message = Rules::read(Some(&path)).unwrap_err().message;
        assert!(message.contains("terminal.toml:2: unknown field `alow`"), "{message}");
    }
}
