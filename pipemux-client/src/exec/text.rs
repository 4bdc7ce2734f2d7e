//! Texts as the tools show them: numbered lines, and the middle of a long text left out.

use std::time::Duration;

/// Lines shown around an edit.
pub const SNIPPET_LINES: usize = 4;
/// Characters of an answer that are shown at most.
pub const SHOWN_MAX: usize = 16_000;
/// The notice after a text that was cut.
pub const CLIPPED: &str = "<response clipped><NOTE>To save on context only part of this file has been shown to you. You should retry this tool after you have searched inside the file with `grep -n` in order to find the line numbers of what you are looking for.</NOTE>";

/// Numbers lines as `cat -n` does; the first one has the number `first`. An empty last line is one,
/// too.
pub fn numbered(text: &str, first: usize) -> String {
    let line = |(index, line): (usize, &str)| {
        format!("{:6}\t{}\n", first.saturating_add(index), line.strip_suffix('\r').unwrap_or(line))
    };
    text.split('\n').enumerate().map(line).collect()
}

/// Returns a text that is cut behind [`SHOWN_MAX`] characters.
pub fn clipped(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CLIPPED}", text.get(..end).unwrap_or_default()),
    }
}

/// Returns a text without its middle if it is longer than [`SHOWN_MAX`] characters: its end often
/// tells most.
pub fn without_middle(text: &str) -> String {
    let length = text.chars().count();
    if length <= SHOWN_MAX {
        return text.to_owned();
    }
    let half = SHOWN_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length.saturating_sub(half)).collect();
    let out = length.saturating_sub(2 * half);
    format!("{head}\n… {out} characters are left out …\n{tail}")
}

/// Returns the lines from `first` to `last`, from 1, of a text.
pub fn lines(text: &str, first: usize, last: usize) -> String {
    let count = last.saturating_sub(first).saturating_add(1);
    text.split('\n').skip(first.saturating_sub(1)).take(count).collect::<Vec<_>>().join("\n")
}

/// Writes what became of a command as Codex does.
pub fn as_codex(status: i64, took: Duration, output: &str) -> String {
    let seconds = (took.as_secs_f64() * 10.0).round() / 10.0;
    format!("Exit code: {status}\nWall time: {seconds} seconds\nOutput:\n{output}")
}
