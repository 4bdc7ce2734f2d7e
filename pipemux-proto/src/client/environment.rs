//! The variables of its opener's environment that an app gets.

/// The environment variables that every app gets from its opener: those that programs commonly
/// need, and none that is likely to hold a secret.
pub const PASSED_VARIABLES: &[&str] = &[
    "CI",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Returns true for an environment variable that every app gets from its opener.
pub fn is_passed_variable(name: &str) -> bool {
    PASSED_VARIABLES.contains(&name) || name.starts_with("LC_")
}
