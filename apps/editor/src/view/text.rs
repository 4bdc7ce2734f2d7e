//! Text as it is shown: nothing hidden in it, nothing endless. The buffer isn't touched.

use std::path::Path;

use crate::limits::COLUMNS_MAX;
use crate::model::buffer::Buffer;

/// A line without its ending, long ones cut, with characters that can't be seen made visible.
pub(crate) fn visible(buffer: &Buffer, line: usize) -> String {
    let (text, more) = buffer.head(line, COLUMNS_MAX);
    let mut text = readable(&text);
    if more > 0 {
        text += &format!("… (+{} chars)", thousands(more));
    }
    text
}

/// Text with control characters as their pictures and invisible ones as their numbers; tabs stay.
pub(crate) fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => readable.push(c),
            '\0'..='\x1f' => readable.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\x7f' => readable.push('\u{2421}'),
            // C1 controls, line separators, what reorders text, and the byte order mark.
            '\u{80}'..='\u{9f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => readable += &format!("⟨U+{:04X}⟩", c as u32),
            _ => readable.push(c),
        }
    }
    readable
}

/// A fence's language for a file.
pub(crate) fn language(path: &Path) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = match extension {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "js" | "mjs" | "cjs" => "javascript",
        "ts" | "mts" => "typescript",
        "md" | "markdown" => "markdown",
        "yml" | "yaml" => "yaml",
        "sh" | "bash" => "bash",
        "h" => "c",
        "cc" | "cxx" | "hpp" => "cpp",
        "rb" => "ruby",
        "kt" => "kotlin",
        "cs" => "csharp",
        "htm" => "html",
        "txt" | "log" => "",
        other => other,
    };
    let plain = known.len() <= 12 && known.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { known.to_ascii_lowercase() } else { String::new() }
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
