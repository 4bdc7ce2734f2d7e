//! Small parsers that recognisers share.

use crate::model::{Place, Severity};

/// The longest text that is recognised as a path, in bytes.
const PATH_MAX: usize = 1024;

/// The number at the start of a text, and the rest of the text.
pub(crate) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let value = text[..end].parse().ok()?;
    Some((value, &text[end..]))
}

/// `path:line:column:` or `path:line:` at the start of a text, and what follows the last colon.
pub(crate) fn place_prefix(text: &str) -> Option<(Place, &str)> {
    let (place, rest) = place_start(text)?;
    Some((place, rest.strip_prefix(':')?))
}

/// `path:line:column` or `path:line` at the start of a text, and what follows. The path may have
/// spaces and brackets.
pub(crate) fn place_start(text: &str) -> Option<(Place, &str)> {
    let head = &text[..text.floor_char_boundary(PATH_MAX)];
    let mut from = if is_drive(head) { 2 } else { 0 };
    while let Some(found) = head[from..].find(':') {
        let colon = from + found;
        // A colon before a space ends a word or a message, and is in no path.
        if text[colon..].starts_with(": ") {
            return None;
        }
        if let Some((line, rest)) = number(&text[colon + 1..]) {
            let path = &text[..colon];
            if !is_path(path) {
                return None;
            }
            let column = rest.strip_prefix(':').and_then(number);
            let (column, rest) = match column {
                Some((column, rest)) => (Some(column), rest),
                None => (None, rest),
            };
            return Some((place(path, Some(line), column), rest));
        }
        from = colon + 1;
    }
    None
}

/// A place that isn't below a known directory.
pub(crate) fn place(file: &str, line: Option<u32>, column: Option<u32>) -> Place {
    Place { file: file.to_owned(), line, column, directory: None }
}

/// Whether it can be a path: not a time, a host with a port, or a word. Folders are named `[id]`,
/// `(group)` and `My Project`, too; a last part with such characters must have an extension, or any
/// sentence would be a path.
fn is_path(text: &str) -> bool {
    if text.trim() != text
        || text.contains("://")
        || text.contains(": ")
        || !text.contains(|c: char| c.is_alphabetic())
    {
        return false;
    }
    if is_plain(text) {
        return true;
    }
    let last = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let in_folder = last.len() < text.len() && !last.is_empty() && is_plain(last);
    in_folder || has_extension(text) || (text.starts_with('<') && text.ends_with('>'))
}

fn is_plain(text: &str) -> bool {
    !text.contains(['"', '\'', '(', '<', '[', '=']) && !text.contains(char::is_whitespace)
}

fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Whether a text looks like a file name: it has an extension or a directory.
pub(crate) fn is_file_name(text: &str) -> bool {
    is_path(text) && (text.contains(['/', '\\']) || has_extension(text))
}

/// Whether a name looks like that of a file and like nothing else, for lines that say nothing of an
/// error.
pub(crate) fn is_plain_file_name(text: &str) -> bool {
    is_file_name(text)
        && (is_plain(text) || ["/", "./", "../"].iter().any(|start| text.starts_with(start)))
}

/// The innermost part of a path without its extensions: `a` of `build/a.c.o`.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// Whether a line that no recogniser matches looks like an error.
pub(crate) fn looks_like_error(text: &str) -> bool {
    const STARTS: [&str; 34] = [
        "error:",
        "error[",
        "Error:",
        "ERROR:",
        "ERROR ",
        "[ERROR]",
        "[error]",
        "errors:",
        "E: ",
        "ERR ",
        "fatal:",
        "Fatal",
        "FATAL",
        "[FATAL]",
        "npm ERR!",
        "npm error",
        "CMake Error",
        "Caused by:",
        "FAILED",
        "FAIL:",
        "FAIL ",
        "FAILURE:",
        "BUILD FAIL",
        "Exception in thread",
        "Unhandled ",
        "Uncaught ",
        "Segmentation fault",
        "Aborted",
        "Killed",
        "Bus error",
        "panic:",
        "*** ",
        "Assertion failed",
        "abort:",
    ];
    const PARTS: [&str; 14] = [
        ": error:",
        " error: ",
        ": fatal error",
        ": fatal:",
        " ERROR ",
        " ERROR:",
        " FATAL ",
        "level=error",
        "\"level\":\"error\"",
        ": command not found",
        ": not found",
        "core dumped",
        "panicked at ",
        ": Permission denied",
    ];
    let text = text.trim_start();
    let is_exception = || {
        let (name, _) = text.split_once(':').unwrap_or(("", ""));
        (name.ends_with("Error") || name.ends_with("Exception"))
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    };
    STARTS.iter().any(|start| text.starts_with(start))
        || is_exception()
        || PARTS.iter().any(|part| text.contains(part))
}

fn is_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 2
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && matches!(bytes[2], b'\\' | b'/')
}

/// `error: `, `fatal error: `, `warning: ` or `note: ` at the start of a text, and the text after
/// it.
pub(crate) fn severity_prefix(text: &str) -> Option<(Severity, &str)> {
    const WORDS: [(&str, Severity); 10] = [
        ("error:", Severity::Error),
        ("fatal error:", Severity::Error),
        ("fatal:", Severity::Error),
        ("Error:", Severity::Error),
        ("warning:", Severity::Warning),
        ("Warning:", Severity::Warning),
        ("note:", Severity::Note),
        ("info:", Severity::Note),
        ("remark:", Severity::Note),
        ("hint:", Severity::Note),
    ];
    WORDS
        .iter()
        .find_map(|(word, severity)| text.strip_prefix(word).map(|rest| (*severity, rest.trim())))
}

/// Whether a path belongs to a tool or a library and not to the project.
pub(crate) fn is_foreign(path: &str) -> bool {
    ["site-packages/", "node_modules/", "/rustc/", "/lib/python", "node:", "<frozen", "/.cargo/"]
        .iter()
        .any(|part| path.contains(part))
}

/// The text between the first `before` and the `after` that follows it.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inner, _)| inner)
}

/// The number of spaces at the start of a text.
pub(crate) fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Whether a line reports the end of a process that could no longer unwind.
pub(crate) fn is_crash(text: &str) -> bool {
    text.starts_with("fatal runtime error: ")
        || (text.starts_with("thread '") && text.ends_with(" has overflowed its stack"))
}
