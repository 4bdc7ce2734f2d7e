//! What a command line may have beside plain words without running another program: variables that programs only read,
//! files below its directory, and settings of git that name no program.

use std::path::{Component, Path};

/// Variables that name no program, no library and no file that would be run.
#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "GIT_AUTHOR_DATE", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME", "HOST", "LANG", "LC_ALL", "LINES", "LOG_LEVEL",
    "NODE_ENV", "NO_COLOR", "PORT", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "RUST_BACKTRACE", "RUST_LOG", "TERM",
    "TZ",
];

/// What settings of git begin with that name no program.
const GIT_SETTINGS: &[&str] = &[
    "advice.",
    "color.",
    "commit.gpgsign=false",
    "init.defaultbranch=",
    "user.email=",
    "user.name=",
];

/// Returns true for a variable that doesn't change which programs run.
pub fn is_variable(name: &str, value: &str) -> bool {
    VARIABLES.contains(&name) && !value.contains('/')
}

/// Returns true for a setting of git, as it stands behind `-c`, that names no program.
pub fn is_git_setting(setting: &str) -> bool {
    let setting = setting.to_lowercase();
    setting.contains('=') && GIT_SETTINGS.iter().any(|begin| setting.starts_with(begin))
}

/// Returns the length of the assignment of a harmless variable in front of a program, with the blanks behind it.
pub fn assignment(text: &str) -> Option<usize> {
    let (name, rest) = text.split_once('=')?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let value = match quote {
        Some(quote) => rest[1..].split(quote).next()?,
        None => rest.split([' ', '\t', '\n', ';', '|', '&']).next()?,
    };
    let is_plain = |c: char| c.is_alphanumeric() || "_.:,@%+-".contains(c);
    let allowed = |c: char| is_plain(c) || quote.is_some() && c == ' ';
    if !is_variable(name, value) || !value.chars().all(allowed) {
        return None;
    }
    let written = name.len() + 1 + value.len() + quote.map_or(0, |_| 2);
    let behind = text.get(written..)?;
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let is_followed = behind[blanks..].starts_with(|c: char| is_plain(c) || "/'\"".contains(c));
    (blanks > 0 && is_followed).then_some(written + blanks)
}

/// Returns the length of a redirection from or to a file below the directory: `> out/a.txt`, `2>> b.log`, `< in`.
/// Hidden files aren't meant: some of them are run.
pub fn file_redirection(text: &str) -> Option<usize> {
    let from_number = text.trim_start_matches(['1', '2']);
    let number = text.len() - from_number.len();
    let arrows = [">>", ">", "<"].into_iter().find(|arrow| from_number.starts_with(arrow))?;
    let behind = &from_number[arrows.len()..];
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let behind = &behind[blanks..];
    let end = behind.find([' ', '\t', '\n', ';', '|', '&']).unwrap_or(behind.len());
    let path = &behind[..end];
    let is_plain = |c: char| c.is_alphanumeric() || "_./+-".contains(c);
    let is_below = |part: Component<'_>| match part {
        Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
        _ => false,
    };
    let is_file = !path.is_empty()
        && !path.ends_with('/')
        && path.chars().all(is_plain)
        && Path::new(path).components().all(is_below);
    (number <= 1 && is_file).then_some(number + arrows.len() + blanks + end)
}
