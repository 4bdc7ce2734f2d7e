//! Reads the anchors and the epoch of an answer.

use pipemux_proto::client::{Answer, Body};

/// An anchor in a text: `[label](obj:23)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub label: String,
    pub kind: String,
    pub id: u64,
}

/// Returns the text of an answer, or the bytes of a value as text.
pub fn of(answer: &Answer) -> String {
    match &answer.body {
        Body::Text(text) => text.clone(),
        Body::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns the anchors of a text, in order. Everything that contains `](obj:23` or `](link:23`
/// counts, as for a reader that doesn't know the finer rules of Markdown.
pub fn anchors(text: &str) -> Vec<Anchor> {
    let mut found = Vec::new();
    for kind in ["obj", "link"] {
        let mark = format!("]({kind}:");
        for (at, _) in text.match_indices(&mark) {
            let local = &text[at + mark.len()..];
            let typed = local.find(|c: char| {
                !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
            });
            let digits = match typed.map(|end| local.split_at(end)) {
                Some((_, rest)) if rest.starts_with(':') => &rest[1..],
                _ => local,
            };
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let Ok(id) = digits[..length].parse() else { continue };
            let start = text[..at].rfind('[').map_or(at, |start| start + 1);
            found.push((at, Anchor { label: text[start..at].into(), kind: kind.into(), id }));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, anchor)| anchor).collect()
}

/// Returns the epoch in the last line of a text.
pub fn epoch(text: &str) -> Option<u64> {
    let last = text.lines().last()?;
    let named = last.split(" · ").find_map(|part| part.strip_prefix('e'))?;
    named.parse().ok()
}
