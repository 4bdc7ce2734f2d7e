//! The lines below a problem, as short as they can be without losing what they say.

use crate::limits::{DETAIL_SHOWN, LINE_SHOWN};

/// Returns the lines of a detail that say something.
pub fn short(detail: &[String]) -> Vec<String> {
    let mut short: Vec<String> = Vec::new();
    for line in detail {
        let Some(line) = shortened(line) else { continue };
        if short.last() != Some(&line) {
            short.push(line);
        }
    }
    let more = short.len().saturating_sub(DETAIL_SHOWN);
    short.truncate(DETAIL_SHOWN);
    if more > 0 {
        short.push(format!("… {more} more lines"));
    }
    short
}

/// Returns what a line says: without the margin of a compiler, and without marks that only point at
/// columns.
fn shortened(line: &str) -> Option<String> {
    let text = line.trim();
    let text = match text.strip_prefix('|') {
        Some(below) => {
            let said = below.trim_start_matches([' ', '|', '^', '-', '~', '+']);
            match said.is_empty() {
                true => return None,
                false => format!("^ {said}"),
            }
        }
        None => text.to_owned(),
    };
    let is_noise = text.is_empty()
        || text == "..."
        || text.starts_with("= note: `#[")
        || text.chars().all(|c| " ^~-_=+|".contains(c))
        || (text.starts_with("--") && text.ends_with("--") && text.contains("Captured"));
    // Runs of spaces only align.
    let text = text
        .split("  ")
        .filter(|part| !part.is_empty())
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    (!is_noise).then(|| cut(&text))
}

/// Cuts a line that is too long to be shown.
pub fn cut(text: &str) -> String {
    match text.len() <= LINE_SHOWN {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(LINE_SHOWN)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_and_marks_are_left_out() {
        let detail = [
            "5 |     let sum: String = items.iter().sum::<u32>();",
            "  |              ------   ^^^^^^^ expected `String`, found `u32`",
            "  |              |",
            "  |              expected due to this",
            "  = note: `#[warn(unused)]` on by default",
            "help: try a conversion",
            "E         {'b': 2} != {'b': 3}",
            "    ^",
        ];
        assert_eq!(
            short(&detail.map(str::to_owned)),
            [
                "5 | let sum: String = items.iter().sum::<u32>();",
                "^ expected `String`, found `u32`",
                "^ expected due to this",
                "help: try a conversion",
                "E {'b': 2} != {'b': 3}",
            ]
        );
    }
}
