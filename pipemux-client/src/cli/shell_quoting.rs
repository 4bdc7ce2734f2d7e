//! Writes command lines for suggestions, quoted for a POSIX shell.

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
