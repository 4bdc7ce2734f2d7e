//! Names of files, as the formats write them.

use crate::model::Name;

/// The name in a line such as `--- a/src/x.rs` (what follows the dashes); `None` for `/dev/null`.
pub(super) fn of_diff(raw: &str, git: bool) -> Option<Name> {
    let text = unquote(without_time(raw.trim()));
    (text != "/dev/null" && !text.is_empty()).then(|| with_prefix(&text, git))
}

/// Returns a name with and without git's prefix as possible readings.
pub(super) fn with_prefix(text: &str, git: bool) -> Name {
    let mut readings = Vec::new();
    let mut letters = text.chars();
    if let (Some('a' | 'b' | 'i' | 'w' | 'c' | 'o'), Some('/')) = (letters.next(), letters.next())
        && !letters.as_str().is_empty()
    {
        readings.push(letters.as_str().to_owned());
    }
    readings.push(text.to_owned());
    Name { readings, from_root: git }
}

/// Both names of `diff --git a/x b/x` (what follows `--git`).
pub(super) fn of_git(rest: &str) -> Option<(Name, Name)> {
    let rest = rest.trim();
    let name = |text: &str| with_prefix(&unquote(text), true);
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = closing_quote(quoted)?;
        let (old, new) = (&rest[..end + 2], rest[end + 2..].trim_start());
        return Some((name(old), name(new)));
    }
    let spaces = || rest.match_indices(' ').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    let tail = |text: &str| text.split_once('/').map(|(_, tail)| tail.to_owned());
    // A name may have spaces in it: both are equal but for their prefix, unless it is a rename.
    let split = spaces()
        .find(|(old, new)| tail(old).is_some() && tail(old) == tail(new))
        .or_else(|| spaces().find(|(_, new)| new.starts_with("b/") || new.starts_with('"')))
        .or_else(|| spaces().next())?;
    Some((name(split.0), name(split.1)))
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Undoes the quoting with which git writes names that have unusual characters.
pub(super) fn unquote(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| matches!(byte, b'0'..=b'7')) else {
                        break;
                    };
                    value = value * 8 + u32::from(digit - b'0');
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Without the time that `diff -u` writes behind a name.
fn without_time(text: &str) -> &str {
    if let Some((name, _)) = text.split_once('\t') {
        return name.trim_end();
    }
    // `x.rs 2024-05-01 10:00:00`, from diffs whose tab was lost.
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    for (at, _) in text.match_indices(' ') {
        let rest = &text.as_bytes()[at + 1..];
        if rest.len() >= 19
            && rest[4] == b'-'
            && rest[7] == b'-'
            && rest[13] == b':'
            && text.is_char_boundary(at + 5)
            && digits(&text[at + 1..at + 5])
        {
            return text[..at].trim_end();
        }
    }
    text
}

/// The name in a line before a SEARCH block: alone, or decorated as prose and Markdown do.
pub(super) fn of_line(line: &str) -> Option<Name> {
    let mut text = line.trim();
    if let Some(fence) = super::fence::fence_of(line) {
        // ```python src/a.py · ```python:src/a.py · ```src/a.py
        let info = text.trim_start_matches('>').trim_start()[fence.len()..].trim();
        text = info.rsplit([' ', ':', '=']).next().unwrap_or("").trim_matches(['"', '\'', '}']);
        return (text.contains(['.', '/']) && text != "...").then(|| Name::plain(text));
    }
    if let Some((before, rest)) = text.split_once('`')
        && let Some((name, after)) = rest.split_once('`')
        && (before.contains(' ') || !after.trim_matches([':', '*', ' ']).is_empty())
        && plausible(name)
    {
        return Some(Name::plain(name));
    }
    for comment in ["<!--", "//", "#", "/*", "--", ";;", "%%"] {
        text = text.trim_start_matches(comment).trim();
    }
    text = text.trim_end_matches("-->").trim_end_matches("*/").trim();
    text = text.trim_matches(['*', '`', ' ', '"', '\'']);
    for label in ["file path:", "filepath:", "filename:", "file:", "path:"] {
        if text.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)) {
            text = &text[label.len()..];
            break;
        }
    }
    let text = text.trim_matches(['*', '`', ' ', ':', '"', '\'']).replace("\\_", "_");
    plausible(&text).then(|| Name::plain(text))
}

fn plausible(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let words = name.split_whitespace().count();
    !name.is_empty()
        && name != "..."
        && !name.ends_with(['.', ',', '!', '?', '/'])
        && !name.contains(['<', '>', '|', '\0', '{', '}'])
        && (words == 1 || (words <= 4 && last.contains('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_both_ways() {
        let name = of_diff("a/src/x.rs\t2024-05-01 10:00:00.0 +0000", false).unwrap();
        assert_eq!(name.readings, ["src/x.rs", "a/src/x.rs"]);
        assert_eq!(of_diff("x.rs 2024-05-01 10:00:00.000 +0200", false).unwrap().first(), "x.rs");
        assert_eq!(of_diff("/dev/null", true), None);
        assert_eq!(of_diff(r#""b/\346\226\207.txt""#, true).unwrap().first(), "文.txt");
    }

    #[test]
    fn git_names_may_have_spaces() {
        let names = |rest| {
            let (old, new) = of_git(rest).unwrap();
            [old.first().to_owned(), new.first().to_owned()]
        };
        assert_eq!(names("a/x y.rs b/x y.rs"), ["x y.rs", "x y.rs"]);
        assert_eq!(names("a/old.rs b/new.rs"), ["old.rs", "new.rs"]);
        assert_eq!(names(r#""a/\303\244" "b/\303\244""#), ["ä", "ä"]);
        assert_eq!(of_git("x"), None);
    }

    #[test]
    fn names_before_a_block_may_be_decorated() {
        for line in [
            "src/a.rs",
            "**src/a.rs**",
            "`src/a.rs`",
            "### src/a.rs",
            "File: src/a.rs",
            "src/a.rs:",
            "// src/a.rs",
            "**`src/a.rs`**:",
            "```rust src/a.rs",
            "```rust:src/a.rs",
            "```src/a.rs",
            "Now change `src/a.rs` like this:",
            "<!-- src/a.rs -->",
            "**File:** `src/a.rs`",
        ] {
            assert_eq!(
                of_line(line).map(|name| name.first().to_owned()).as_deref(),
                Some("src/a.rs"),
                "{line}"
            );
        }
        for line in
            ["", "```rust", "Here is the change:", "...", "It works now.", "```", "````diff"]
        {
            assert_eq!(of_line(line), None, "{line}");
        }
        assert_eq!(of_line("Makefile").unwrap().first(), "Makefile");
        assert_eq!(of_line("my file.txt").unwrap().first(), "my file.txt");
    }
}
