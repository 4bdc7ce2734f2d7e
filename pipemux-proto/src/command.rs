//! Command lines that hints suggest: quoted for a POSIX shell, and with the options of the one who
//! reads the hint.

use std::borrow::Cow;

/// The program's name at the beginning of a command.
const PROGRAM: &str = "pipemux ";

/// The options of a caller that has no shell, such as a model's tool: commands in its hints stand
/// without the program's name, `answer 1` for `pipemux answer 1`.
pub const WITHOUT_PROGRAM: &str = "-";

/// Verbs that mean the same for every reader and workspace: their commands repeat no options.
const SHARED_VERBS: &[&str] =
    &["app", "apps", "bench", "doctor", "down", "help", "pipe", "status", "tour", "up"];

/// The texts that may precede a command in a hint; it may also be at the beginning.
const BEFORE_COMMAND: &[&str] = &[": ", " · ", "`", "("];

/// Quotes a text as one word of a shell.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Joins words to a command line; words are quoted only where the shell needs it.
pub fn join(words: &[&str]) -> String {
    let plain = |word: &str| {
        let safe = |c: char| c.is_alphanumeric() || "-_./:,=@+%".contains(c);
        !word.is_empty() && word.chars().all(safe)
    };
    let quoted =
        words.iter().map(|word| if plain(word) { (*word).to_owned() } else { quote(word) });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Writes the command line that calls `pipemux` with these words.
pub fn command(words: &[&str]) -> String {
    format!("{PROGRAM}{}", join(words))
}

/// Writes the command line that runs code.
pub fn run(code: &str) -> String {
    format!("{PROGRAM}run {}", quote(code))
}

/// Adds options to each command of a hint whose meaning depends on them. `options` is what the
/// caller wrote before or behind the verb, quoted for a shell: `--reader a`. With
/// [`WITHOUT_PROGRAM`] each command loses the program's name instead.
pub fn with_options<'a>(hint: &'a str, options: &str) -> Cow<'a, str> {
    if options.is_empty() {
        return Cow::Borrowed(hint);
    }
    let mut out = String::new();
    let mut copied = 0;
    for (at, _) in hint.match_indices(PROGRAM) {
        let (before, after) = (&hint[..at], &hint[at + PROGRAM.len()..]);
        let begins = before.is_empty()
            || before.ends_with('\n')
            || BEFORE_COMMAND.iter().any(|sign| before.ends_with(sign));
        let verb = after.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        if !begins || verb.is_empty() {
            continue;
        }
        if options == WITHOUT_PROGRAM {
            out.push_str(&hint[copied..at]);
            copied = at + PROGRAM.len();
        } else if !SHARED_VERBS.contains(&verb) {
            out.push_str(&hint[copied..at + PROGRAM.len()]);
            out.push_str(options);
            out.push(' ');
            copied = at + PROGRAM.len();
        }
    }
    out.push_str(&hint[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_the_shell_needs_it() {
        assert_eq!(command(&["open", "editor", "a b.rs"]), "pipemux open editor 'a b.rs'");
        assert_eq!(command(&["open", "editor", "it's"]), r"pipemux open editor 'it'\''s'");
        assert_eq!(command(&["open", "editor", ""]), "pipemux open editor ''");
        assert_eq!(run(r#"a.b("it's")"#), r#"pipemux run 'a.b("it'\''s")'"#);
    }

    #[test]
    fn every_command_of_a_hint_gets_the_options() {
        for (hint, expected) in [
            ("pipemux view editor/main", "pipemux --reader a view editor/main"),
            ("look: pipemux view · pipemux apps", "look: pipemux --reader a view · pipemux apps"),
            ("call it (pipemux view) again", "call it (pipemux --reader a view) again"),
            ("pipemux answer 1 · all", "pipemux --reader a answer 1 · all"),
            ("end it: pipemux down", "end it: pipemux down"),
            ("a\npipemux view", "a\npipemux --reader a view"),
            // No commands.
            ("update pipemux, then go on", "update pipemux, then go on"),
            ("the pipemux view is old", "the pipemux view is old"),
            ("pipemux --help", "pipemux --help"),
        ] {
            assert_eq!(with_options(hint, "--reader a"), expected);
            assert_eq!(with_options(hint, ""), hint);
        }
    }

    #[test]
    fn caller_without_a_shell_gets_commands_without_the_program() {
        for (hint, expected) in [
            ("look: pipemux view · pipemux apps", "look: view · apps"),
            ("pipemux answer 1 · all", "answer 1 · all"),
            ("end it: pipemux down", "end it: down"),
            ("update pipemux, then go on", "update pipemux, then go on"),
        ] {
            assert_eq!(with_options(hint, WITHOUT_PROGRAM), expected);
        }
    }
}
