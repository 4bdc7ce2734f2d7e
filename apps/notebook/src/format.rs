//! Formats counts and titles for answers and views.

/// Formats a number with its noun: `1 line`, `14 entries`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Quotes a text in one line, cut to 60 characters.
pub fn quoted(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(60) {
        Some((at, _)) => format!("\"{}…\"", &flat[..at]),
        None => format!("\"{flat}\""),
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
    fn quoted_text_is_one_line_and_cut() {
        assert_eq!(quoted("a\n  b"), "\"a b\"");
        let cut = quoted(&"語".repeat(100));
        assert!(cut.ends_with("語…\""), "{cut}");
        assert_eq!(cut.chars().count(), 60 + 3);
    }
}
