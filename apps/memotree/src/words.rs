//! Counts and lists as readers see them.

/// Names that a list shows.
const LISTED: usize = 40;

/// Formats a number with its noun: `1 node`, `3 nodes`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Lists names, as far as they fit: `a, b and 3 more`.
pub fn list(names: impl IntoIterator<Item = impl ToString>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Writes a text as a call has it: in double quotes, which a shell's single quotes hold.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// Returns a text as one line of at most so many characters.
pub fn cut(text: &str, chars: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}
