//! What a command line may have beside plain words without running another program: variables that programs only read,
//! and settings of git that name no program. Redirections to files don't count as harmless: a new file can change what a
//! pattern expands to, or be run.

/// Variables that name no program, no library and no file that would be run. Variables of the locale
/// aren't among them: in some encodings a shell splits a line into other words.
#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "GIT_AUTHOR_DATE", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME", "HOST", "LINES", "LOG_LEVEL",
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

/// Returns true for a variable that doesn't change which programs run, nor what the words of a line are.
pub fn is_harmless_variable(name: &str, value: &str) -> bool {
    let is_number = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
    let is_plain = || value.chars().all(|c| is_plain(c) || c == ' ');
    VARIABLES.contains(&name) && if name == "PORT" { is_number } else { is_plain() }
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "_.:,@%+-".contains(c)
}

/// Returns true for a setting of git, as it stands behind `-c`, that names no program.
pub fn is_git_setting(setting: &str) -> bool {
    let setting = setting.to_lowercase();
    setting.contains('=') && GIT_SETTINGS.iter().any(|begin| setting.starts_with(begin))
}

/// Returns the length of the assignment of a harmless variable in front of a program, with the blanks behind it.
pub fn harmless_assignment(text: &str) -> Option<usize> {
    let (name, rest) = text.split_once('=')?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let value = match quote {
        Some(quote) => rest[1..].split(quote).next()?,
        None => rest.split([' ', '\t', '\n', ';', '|', '&']).next()?,
    };
    if !is_harmless_variable(name, value) {
        return None;
    }
    let written = name.len() + 1 + value.len() + quote.map_or(0, |_| 2);
    let behind = text.get(written..)?;
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let is_followed = behind[blanks..].starts_with(|c: char| is_plain(c) || "/'\"".contains(c));
    (blanks > 0 && is_followed).then_some(written + blanks)
}
