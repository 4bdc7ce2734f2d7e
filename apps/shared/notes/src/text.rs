//! Counts and lists as readers see them.

/// Formats a number with its noun: `1 line`, `14 entries`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Lists at most `max` names, and says how many more there are: `a, b and 3 more`.
pub fn list(names: impl IntoIterator<Item = impl ToString>, max: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(max).map(|name| name.to_string()).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns a text as one line of at most so many characters.
pub fn one_line(text: &str, chars: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_agrees_with_its_noun() {
        assert_eq!(count(1, "entry"), "1 entry");
        assert_eq!(count(0, "entry"), "0 entries");
        assert_eq!(count(2, "line"), "2 lines");
    }

    #[test]
    fn long_lists_and_texts_are_cut() {
        assert_eq!(list(["a", "b"], 2), "a, b");
        assert_eq!(list(["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(one_line("a\n  b", 3), "a b");
        assert_eq!(one_line(&"語".repeat(100), 60), "語".repeat(60) + "…");
    }
}
