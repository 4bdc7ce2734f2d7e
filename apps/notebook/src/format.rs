//! Formats titles and tags for answers and views.

use pipemux_notes::text::{list, one_line};

/// Quotes a text in one line, cut to 60 characters.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text, 60))
}

/// Most characters of the first line that stands for a text.
const FIRST_LINE_CHARS: usize = 80;

/// Returns the first line with text, cut at a word: it tells an entry from others with the same
/// title.
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
    list(titles.into_iter().map(quoted), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_one_line_and_cut() {
        assert_eq!(quoted("a\n  b"), "\"a b\"");
        let cut = quoted(&"語".repeat(100));
        assert!(cut.ends_with("語…\""), "{cut}");
        assert_eq!(cut.chars().count(), 60 + 3);
    }
}
