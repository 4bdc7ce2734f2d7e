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

/// Most characters of the first line that stands for a text.
const FIRST_LINE_CHARS: usize = 80;

/// Returns the first line with text, cut at a word: it tells an entry from others with the same title.
pub fn first_line(head: &str) -> String {
    let line = head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let Some((end, next)) = line.char_indices().nth(FIRST_LINE_CHARS) else {
        return line.to_owned();
    };
    let cut = &line[..end];
    let at_word = if next == ' ' { None } else { cut.rfind(' ').filter(|at| *at > end / 2) };
    format!("{}…", &cut[..at_word.unwrap_or(end)])
}

/// Returns tags as readers see them: `#cli #io`.
pub fn hash_tags(tags: &[String]) -> String {
    tags.iter().map(|tag| format!("#{tag}")).collect::<Vec<_>>().join(" ")
}

/// Returns tags with the numbers of their entries: `cli 4, io 2`.
pub fn list_tags(tags: &[(String, u64)]) -> String {
    const SHOWN: usize = 20;
    let names: Vec<_> =
        tags.iter().take(SHOWN).map(|(tag, number)| format!("{tag} {number}")).collect();
    let more = if tags.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Returns the titles of entries, as far as they fit: `"a", "b" and 3 more`.
pub fn list_titles<'a>(titles: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 10;
    let titles: Vec<_> = titles.into_iter().collect();
    let shown: Vec<_> = titles.iter().take(SHOWN).map(|title| quoted(title)).collect();
    match titles.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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
