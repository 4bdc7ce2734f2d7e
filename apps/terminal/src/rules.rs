//! What a person's rules say of a line: that it never runs, or that a person is asked each time.
//!
//! A rule is a program with its first arguments, as they stand in the line. What the words don't
//! tell counts as any program: a rule is against mistakes, and an answer too much costs less than
//! one too little.

use std::collections::BTreeMap;

use pipemux_confine::Policy;

use crate::shell_line::{Word, commands};

/// Programs that run what their arguments, their input or a file say.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    ".", "alias", "ash", "bash", "bind", "builtin", "busybox", "command", "complete", "dash", "doas", "env", "eval", "exec",
    "fish", "flock", "ionice", "ksh", "mapfile", "nice", "nohup", "nsenter", "parallel", "pkexec", "printf", "readarray",
    "runuser", "script", "setarch", "setpriv", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo",
    "systemd-run", "taskset", "time", "timeout", "tmux", "trap", "unshare", "watch", "xargs", "zsh",
];

/// The decision of the rules on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The line runs.
    Runs,
    /// A person is asked, because of this rule.
    Asks(Rule),
    /// The line never runs, because of this rule.
    Denied(Rule),
}

/// A rule that matches a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The rule as the user wrote it.
    pub text: String,
    /// False if the line's words don't tell whether it is meant.
    pub is_certain: bool,
}

/// The certainty that a rule matches a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    No,
    Perhaps,
    Certainly,
}

/// Returns what the rules say of a line that gets these variables besides.
pub fn verdict(policy: &Policy, line: &str, given: &BTreeMap<String, String>) -> Verdict {
    if policy.ask.is_empty() && policy.deny.is_empty() {
        return Verdict::Runs;
    }
    // They change what the line's words are, or what a shell runs before them.
    let is_readable = !given.keys().any(|name| changes_words(name))
        && !["LC_", "LANG", "BASH_ENV", "IFS="].iter().any(|name| line.contains(name));
    let commands = commands(line).filter(|_| is_readable);
    let find = |rules: &[String]| {
        let meant = |rule: &String| match &commands {
            None => Meant::Perhaps,
            Some(commands) => {
                let all = commands.iter().map(|words| meant(rule, words));
                all.max_by_key(|meant| *meant as u8).unwrap_or(Meant::No)
            }
        };
        // Of several that are as sure, the first.
        let rule = rules
            .iter()
            .rev()
            .map(|rule| (rule, meant(rule)))
            .max_by_key(|(_, meant)| *meant as u8);
        let rule = rule.filter(|(_, meant)| *meant != Meant::No);
        rule.map(|(rule, meant)| Rule { text: rule.clone(), is_certain: meant == Meant::Certainly })
    };
    match (find(&policy.deny), find(&policy.ask)) {
        (Some(rule), _) => Verdict::Denied(rule),
        (None, Some(rule)) => Verdict::Asks(rule),
        (None, None) => Verdict::Runs,
    }
}

fn changes_words(name: &str) -> bool {
    name == "LANG"
        || name == "IFS"
        || name == "ENV"
        || ["LC_", "BASH"].iter().any(|begin| name.starts_with(begin))
}

fn meant(rule: &str, words: &[Word]) -> Meant {
    let mut parts = rule.split_whitespace();
    let Some(program) = parts.next() else { return Meant::No };
    let Some(Some(word)) = words.first() else { return Meant::Perhaps };
    let name = word.rsplit('/').next().unwrap_or_default();
    if word != program && name != program {
        return if STARTERS.contains(&name) { Meant::Perhaps } else { Meant::No };
    }
    for (at, part) in (1..).zip(parts) {
        match words.get(at) {
            Some(Some(word)) if word == part => {}
            // Behind an option, or behind its value, any argument could be meant.
            Some(Some(word)) if word.starts_with('-') => return Meant::Perhaps,
            Some(None) => return Meant::Perhaps,
            _ => return Meant::No,
        }
    }
    Meant::Certainly
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, given: &[&str]) -> String {
        let policy = Policy {
            ask: vec!["git push".into(), "npm publish".into()],
            deny: vec!["rm -rf".into(), "/opt/x/tool".into()],
            ..Policy::default()
        };
        let given = given.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        let shown = |word: &str, rule: Rule| {
            format!("{word} {}{}", rule.text, if rule.is_certain { "" } else { "?" })
        };
        match verdict(&policy, line, &given) {
            Verdict::Runs => "runs".into(),
            Verdict::Asks(rule) => shown("asks", rule),
            Verdict::Denied(rule) => shown("denied", rule),
        }
    }

    #[test]
    fn rules_name_programs_and_first_arguments() {
        for (line, said) in [
            ("git status", "runs"),
            ("git push origin main", "asks git push"),
            ("/usr/bin/git push", "asks git push"),
            ("cd x && git push", "asks git push"),
            ("echo $(git push)", "asks git push"),
            ("git pushd", "runs"),
            ("git -C x push", "asks git push?"),
            ("git $X", "asks git push?"),
            ("echo git push", "runs"),
            ("rm -rf x; git push", "denied rm -rf"),
            ("rm -fr x", "denied rm -rf?"),
            ("rm x", "runs"),
            ("tool", "runs"),
            ("/opt/x/tool", "denied /opt/x/tool"),
            ("npm publish", "asks npm publish"),
        ] {
            assert_eq!(of(line, &[]), said, "{line}");
        }
    }

    #[test]
    fn line_whose_words_are_unknown_counts_as_any_program() {
        for line in [
            "bash -c 'git push'",
            "sudo rm x",
            "$X",
            "eval a",
            "a 'b",
            "xargs rm < x",
            "LC_ALL=zh_CN.GBK ls",
            "g\\it push",
        ] {
            assert!(of(line, &[]).ends_with('?'), "{line}");
        }
        assert_eq!(of("ls", &["LC_ALL"]), "denied rm -rf?");
        assert_eq!(of("ls", &["BASH_ENV"]), "denied rm -rf?");
        assert_eq!(of("ls", &["RUST_LOG"]), "runs");
        let verdict = verdict(&Policy::default(), "$X", &BTreeMap::new());
        assert_eq!(verdict, Verdict::Runs);
    }
}
