//! An answer of the daemon as a tool's result.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipemux_client::ClientError;
use pipemux_client::proto::Fault;
use pipemux_client::proto::client::{Answer, Body};
use rmcp::model::{CallToolResult, ContentBlock};

/// The exit status of an answer that is a question, which is not an error.
pub const EXIT_QUESTION: u8 = 5;
/// The exit status of an act that a rule forbids, or a person has to allow; no step took effect.
pub const EXIT_REFUSED: u8 = 9;

/// Most bytes and lines of a result: what harnesses pass on to a model whole.
pub const BYTES_MAX: usize = 10 * 1024;
pub const LINES_MAX: usize = 256;

/// Formats of images that models take, by how their files begin.
const IMAGES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
];

/// Returns how many times the bounds a text takes, if it is more than once.
pub fn excess(text: &str) -> Option<f64> {
    let bytes = text.len() as f64 / BYTES_MAX as f64;
    let lines = text.lines().count() as f64 / LINES_MAX as f64;
    Some(bytes.max(lines)).filter(|times| *times > 1.0)
}

/// Longest last line that is kept, in bytes: it has the epoch and the receipt.
const LAST_MAX: usize = 400;

/// Cuts a text to the bounds, at the end of a line. Its last line, with the epoch, stays.
pub fn cut(text: &str) -> String {
    let last = text.lines().last().filter(|line| line.len() <= LAST_MAX).unwrap_or_default();
    let note = |lines| format!("… {lines} more lines: history --detail · view\n{last}\n");
    let room = BYTES_MAX.saturating_sub(note(usize::MAX).len());
    let kept = whole_lines(text, room, LINES_MAX - 2);
    let (head, rest) = text.split_at(kept);
    format!("{head}{}", note(rest.lines().count()))
}

/// Returns how many bytes the first lines have that fit.
fn whole_lines(text: &str, room: usize, lines: usize) -> usize {
    let mut kept = 0;
    for line in text.split_inclusive('\n').take(lines) {
        if kept + line.len() > room {
            break;
        }
        kept += line.len();
    }
    kept
}

/// Makes the result of an answer.
pub fn result(answer: &Answer) -> CallToolResult {
    let content = match &answer.body {
        Body::Text(text) => ContentBlock::text(text.trim_end()),
        Body::Raw(bytes) => raw(bytes),
        Body::Report(report) => json(report),
        Body::Data(value) => json(value),
        Body::Events(events) => json(events),
        Body::Log(part) => ContentBlock::text(part.text.trim_end()),
    };
    match answer.exit {
        0 | EXIT_QUESTION => CallToolResult::success(vec![content]),
        _ => CallToolResult::error(vec![content]),
    }
}

/// Makes the result of a request that has no answer.
pub fn failure(error: &ClientError) -> CallToolResult {
    let label = match error {
        ClientError::Unreachable(_) => "unreachable",
        ClientError::VersionMismatch(_) => "another version",
        ClientError::OutcomeUnknown(_) => "unknown",
        ClientError::Refused(_) => "refused",
        ClientError::Invalid(_) => "refused, nothing ran",
    };
    let Fault { message, hints, .. } = error.fault();
    let mut text = format!("{label} · {}", message.trim_end());
    hints.iter().for_each(|hint| text += &format!("\n{hint}"));
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn raw(bytes: &[u8]) -> ContentBlock {
    if let Some((_, media_type)) = IMAGES.iter().find(|(start, _)| bytes.starts_with(start)) {
        return ContentBlock::image(STANDARD.encode(bytes), *media_type);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if excess(text).is_some() => ContentBlock::text(cut_value(text)),
        Ok(text) => ContentBlock::text(text),
        Err(_) => ContentBlock::text(format!("{} bytes that are no text", bytes.len())),
    }
}

/// Cuts a value, whose rest only a command line prints.
fn cut_value(text: &str) -> String {
    let mut kept = whole_lines(text, BYTES_MAX - 80, LINES_MAX - 2);
    if kept == 0 {
        kept = (0..=BYTES_MAX - 80).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    }
    let (head, rest) = text.split_at(kept);
    format!("{head}\n… {} more bytes: pipemux read, in a shell", rest.len())
}

fn json<T: serde::Serialize>(value: &T) -> ContentBlock {
    // A value from the wire has string keys and finite depth, so this can't fail.
    ContentBlock::text(serde_json::to_string(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_keeps_to_the_bounds_and_its_last_line() {
        let long = "深".repeat(20_000);
        for text in ["x\n".repeat(1000), "long line of text\n".repeat(900), long.clone() + "\n"] {
            let text = text + "e3 · 7 of 9 tokens\n";
            assert!(excess(&text).is_some());
            let cut = cut(&text);
            assert!(excess(&cut).is_none(), "{} bytes", cut.len());
            assert!(cut.ends_with("e3 · 7 of 9 tokens\n") && cut.contains(" more lines: "));
            assert!(excess(&cut_value(&text)).is_none());
        }
        assert!(excess(&cut(&long)).is_none() && excess(&cut_value(&long)).is_none());
        assert!(excess("short\n").is_none());
    }
}
