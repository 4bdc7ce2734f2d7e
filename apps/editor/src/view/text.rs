//! Text as it is shown: nothing hidden in it, nothing endless. The buffer isn't touched.

use std::path::Path;

use std::ops::Range;

use crate::limits::{COLUMNS_MAX, OPTION_COLUMNS_MAX};
use crate::model::buffer::Buffer;
use crate::model::file::File;

/// A line without its ending, long ones cut around what changed last in them, with characters that
/// can't be seen made visible.
pub(crate) fn visible(file: &File, line: usize) -> String {
    let buffer = file.buffer();
    let (text, more) = buffer.head(line, COLUMNS_MAX);
    if more > 0
        && let Some(byte) = file.changed_in(line)
    {
        let around = buffer.around(&(byte..byte), COLUMNS_MAX / 2);
        if around.ahead > 0 {
            let text = readable(&format!("{}{}", around.before, around.behind));
            let ahead = format!("(+{} chars) …", thousands(around.ahead));
            return match around.after {
                0 => ahead + &text,
                after => format!("{ahead}{text}… (+{} chars)", thousands(after)),
            };
        }
    }
    let mut text = readable(&text);
    if more > 0 {
        text += &format!("… (+{} chars)", thousands(more));
    }
    text
}

/// The line around a match, short enough for a row; with the match marked.
pub(crate) fn match_row(buffer: &Buffer, found: &Range<usize>, mark: bool) -> String {
    let place = buffer.around(found, OPTION_COLUMNS_MAX);
    let marks = if mark { 2 } else { 0 };
    // What is cut is told by a dot row at either end.
    let room = OPTION_COLUMNS_MAX - marks - 2;
    let inside: String = place.inside.chars().take(room).collect();
    let (before, behind) = match place.ahead {
        0 => (place.before.trim_start(), place.behind.trim_end()),
        _ => (place.before.as_str(), place.behind.trim_end()),
    };
    let room = room - inside.chars().count();
    let ahead = before.chars().count();
    let shown: String = behind.chars().take(room - ahead.min(room / 2)).collect();
    let cut = ahead.saturating_sub(room - shown.chars().count());
    let before: String = before.chars().skip(cut).collect();
    let less = inside.len() < place.inside.len() || place.left_out > 0;
    let dots = |cut: bool| if cut { "…" } else { "" };
    let (open, close) = if mark { ("«", "»") } else { ("", "") };
    readable(&format!(
        "{}{before}{open}{inside}{close}{shown}{}",
        dots(cut > 0 || place.ahead > 0),
        dots(less || shown.len() < behind.len() || place.after > 0),
    ))
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
