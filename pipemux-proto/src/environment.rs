//! The environment variables that the daemon is started with, and the detection of names that
//! likely stand for a secret.
//!
//! The environment that a process was started with stays readable in `/proc/<pid>/environ` whatever
//! the process does later, so the daemon and its launcher must never be given what their apps may
//! not read.

use crate::client::is_passed_variable;

/// The variables that the daemon is started with, besides those that every app gets: where its
/// files are, and what its C library, its linker and its language's runtime read.
const DAEMON_VARIABLES: &[&str] = &[
    "GLIBC_TUNABLES",
    "LD_LIBRARY_PATH",
    "PIPEMUX_CONFIG_DIR",
    "PIPEMUX_METRICS",
    "PIPEMUX_RUNTIME_DIR",
    "PIPEMUX_STATE_DIR",
    "RUST_BACKTRACE",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_DIRS",
    "XDG_RUNTIME_DIR",
];

/// Parts of the names of variables that usually hold a secret, in capitals.
const SECRET_PARTS: &[&str] = &[
    "APIKEY",
    "API_KEY",
    "AUTH",
    "COOKIE",
    "CREDENTIAL",
    "PASSWD",
    "PASSWORD",
    "PRIVATE",
    "SECRET",
    "SESSION_KEY",
    "TOKEN",
];

/// Returns true for a variable that the daemon and its launcher are started with. All others are
/// left out.
pub fn is_daemon_variable(name: &str) -> bool {
    is_passed_variable(name) || DAEMON_VARIABLES.contains(&name)
}

/// Returns true for a variable whose name says that it holds a secret, such as `GITHUB_TOKEN`.
/// Others may hold one, too.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
        || name.ends_with("_KEY")
        || name.ends_with("_PASS")
        || name.ends_with("_PAT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemon_gets_places_and_languages_and_no_secrets() {
        for name in ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "PIPEMUX_STATE_DIR"] {
            assert!(is_daemon_variable(name), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "PIPEMUX_READER_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD"]
        {
            assert!(!is_daemon_variable(name), "{name}");
        }
        assert!(!DAEMON_VARIABLES.iter().any(|name| looks_secret(name)));
    }

    #[test]
    fn names_of_secrets_are_recognised() {
        for name in
            ["GITHUB_TOKEN", "aws_secret_access_key", "DB_PASSWORD", "OPENAI_API_KEY", "GH_PAT"]
        {
            assert!(looks_secret(name), "{name}");
        }
        for name in ["PATH", "EDITOR", "KEYBOARD", "PATTERN", "COMPASS"] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
