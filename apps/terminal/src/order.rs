//! A command to run: its command line, directory and variables.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use docui::Fault;
use sha2::{Digest, Sha256};

use crate::shell::Shell;

/// A command to be run, with its circumstances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The command line, as a shell reads it.
    pub line: String,
    pub cwd: PathBuf,
    /// Variables that were given with the call.
    pub given: BTreeMap<String, String>,
    /// All environment variables.
    pub env: BTreeMap<String, String>,
    /// The kept shell of the reader, for a line that is run in it.
    pub(crate) shell: Option<Shell>,
    /// True if the call returns the command's name: who asks for its output names it, since others
    /// may run commands at the same time.
    pub(crate) is_told: bool,
}

/// Variables that every command gets: nothing may wait for a person who turns pages, and what moves
/// in a terminal costs an agent as much as what is said.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("npm_config_progress", "false"),
    ("PIP_PROGRESS_BAR", "off"),
];

/// The locale of every command unless its call sets another one.
const LOCALE: &str = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };

/// The search path for programs if the opener's environment has none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Order {
    /// Returns true if it seems to keep something in a repository, which no file of the project
    /// shows.
    pub fn commits(&self) -> bool {
        let has = |names: &[&str]| self.line.split_whitespace().any(|word| names.contains(&word));
        has(&["git"]) && has(&["commit", "push"])
    }

    /// Makes an order; `env` is what the opener's environment has.
    pub fn new(
        line: String,
        cwd: PathBuf,
        given: BTreeMap<String, String>,
        env: &BTreeMap<String, String>,
    ) -> Self {
        let mut all = env.clone();
        // In some encodings a backslash can be the second byte of a character, so a shell would
        // read another line than is written. Without any locale, programs print names outside of
        // ASCII as escapes.
        all.retain(|name, _| !is_locale(name));
        all.insert("LANG".to_owned(), LOCALE.to_owned());
        all.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        all.extend(
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        all.extend(given.clone());
        Self { line, cwd, given, env: all, shell: None, is_told: false }
    }

    /// Returns the line with the variables that were given, as it is asked for and told: without
    /// what a secret is.
    pub fn whole(&self) -> String {
        let shown = |(name, value): (&String, &String)| match is_secret(name) {
            true => format!("{name}=*** "),
            false => format!("{name}={} ", quoted(value)),
        };
        self.given.iter().map(shown).collect::<String>() + &self.line
    }

    /// Checks that its directory exists.
    ///
    /// # Errors
    /// It doesn't.
    pub fn check(&self) -> Result<(), Fault> {
        if self.cwd.is_dir() { Ok(()) } else { Err(self.no_folder()) }
    }

    pub(crate) fn no_folder(&self) -> Fault {
        Fault::not_found(format!("cwd: there is no folder {}", self.cwd.display()))
    }
}

/// Returns what tells orders from any others: their lines, directories and variables, as a digest,
/// since a variable may be a secret.
pub fn identity(orders: &[&Order]) -> String {
    let mut digest = Sha256::new();
    for Order { line, cwd, given, .. } in orders {
        let parts =
            serde_json::to_vec(&(line, cwd.as_os_str().as_bytes(), given)).unwrap_or_default();
        digest.update(Sha256::digest(parts));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_locale(name: &str) -> bool {
    name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_")
}

/// Returns true for a variable whose value nobody should read: by its name, as those are named that
/// have one.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // They name a program, or are one: whoever is asked has to see it.
    if name.ends_with("_ASKPASS") || name.starts_with("BASH_FUNC_") || name.contains("AUTHOR_") {
        return false;
    }
    ["TOKEN", "SECRET", "PASS", "PWD", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "DSN"]
        .iter()
        .any(|part| name.contains(part))
}

/// Returns a value as a shell reads it.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(line: &str, given: &[(&str, &str)]) -> Order {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Order::new(line.to_owned(), "/p".into(), given.collect(), &BTreeMap::new())
    }

    #[test]
    fn secrets_are_not_told_and_values_are_quoted() {
        assert_eq!(
            order("a", &[("API_TOKEN", "x"), ("B", "1 2"), ("C", "d")]).whole(),
            "API_TOKEN=*** B='1 2' C=d a"
        );
        assert_eq!(order("a", &[("B", "it's")]).whole(), r"B='it'\''s' a");
        let (one, two) = (order("a", &[("TOKEN", "x")]), order("a", &[("TOKEN", "y")]));
        assert_eq!(one.whole(), two.whole());
        assert_ne!(identity(&[&one]), identity(&[&two]));
        assert_ne!(identity(&[&one]), identity(&[&one, &one]));
    }

    #[test]
    fn locale_is_that_of_the_call_and_never_that_of_the_opener() {
        let opener =
            [("LANG", "zh_CN.GBK"), ("LC_ALL", "zh_TW.Big5"), ("LANGUAGE", "de"), ("A", "b")];
        let opener = opener.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let of = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let env = Order::new("a".to_owned(), "/p".into(), given.collect(), &opener).env;
            let locale = env.iter().filter(|(name, _)| is_locale(name));
            locale.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [format!("LANG={LOCALE}")]);
        assert_eq!(
            of(&[("LC_ALL", "de_DE.UTF-8")]),
            [format!("LANG={LOCALE}"), "LC_ALL=de_DE.UTF-8".into()]
        );
        assert_eq!(of(&[("LANG", "C")]), ["LANG=C"]);
    }
}
