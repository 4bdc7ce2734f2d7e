//! Lists and calls as readers see them.

/// Names that a list shows.
const LISTED: usize = 40;

/// Lists names, as far as they fit: `a, b and 3 more`.
pub fn list(names: impl IntoIterator<Item = impl ToString>) -> String {
    pipemux_notes::text::list(names, LISTED)
}

/// Writes a text as a call has it: in double quotes, which a shell's single quotes hold.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
