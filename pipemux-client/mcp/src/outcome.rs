//! An answer of the daemon as a tool's result.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipemux_client::ClientError;
use pipemux_client::proto::Fault;
use pipemux_client::proto::client::{Answer, Body};
use rmcp::model::{CallToolResult, ContentBlock};

use crate::bounds::Bounds;

/// The exit status of an answer that is a question rather than an error.
pub const EXIT_QUESTION: u8 = 5;
/// The exit status of an act that a rule forbids, or a person has to allow; no step took effect.
pub const EXIT_REFUSED: u8 = 9;

/// The image formats that models accept.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Most bytes of an image or a sound: as base64, five million, which is the least that providers of
/// models take.
pub const MEDIA_BYTES_MAX: usize = 3_750_000;
/// Most pixels of an image's side, for the same reason.
pub const IMAGE_SIDE_MAX: u32 = 8000;

/// Longest last line that is kept, in bytes: it has the epoch and the receipt.
const LAST_MAX: usize = 400;

/// Cuts a text to the bounds, at the end of a line. Its last line, with the epoch, stays.
pub fn cut(text: &str, bounds: Bounds) -> String {
    let last = text.lines().last().filter(|line| line.len() <= LAST_MAX).unwrap_or_default();
    let note = |lines| format!("… {lines} more lines: history --detail · view\n{last}\n");
    let room = bounds.bytes.saturating_sub(note(usize::MAX).len());
    let kept = whole_lines(text, room, bounds.lines - 2);
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
pub fn result(answer: &Answer, bounds: Bounds) -> CallToolResult {
    let content = match &answer.body {
        Body::Text(text) => ContentBlock::text(text.trim_end()),
        Body::Raw(bytes) => raw(bytes, bounds),
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

fn raw(bytes: &[u8], bounds: Bounds) -> ContentBlock {
    let Some(described) = pipemux_media::describe(bytes) else {
        let text = String::from_utf8_lossy(bytes);
        let cut = bounds.excess(&text).map(|_| cut_value(&text, bounds));
        return ContentBlock::text(cut.unwrap_or_else(|| text.into_owned()));
    };
    let media = pipemux_media::of(bytes);
    let way = "to have them as a file, in a shell: pipemux read REF > FILE";
    let (image, sound) =
        (IMAGES.contains(&&*media.media_type), media.media_type.starts_with("audio/"));
    let side = media.width.max(media.height).unwrap_or(0);
    if !image && !sound {
        return ContentBlock::text(format!("{described}\n{way}"));
    }
    if bytes.len() > MEDIA_BYTES_MAX || side > IMAGE_SIDE_MAX {
        let size = match image {
            true => format!("{MEDIA_BYTES_MAX} bytes and {IMAGE_SIDE_MAX} pixels a side"),
            false => format!("{MEDIA_BYTES_MAX} bytes"),
        };
        return ContentBlock::text(format!("{described}, more than models take ({size})\n{way}"));
    }
    match image {
        true => ContentBlock::image(STANDARD.encode(bytes), &*media.media_type),
        false => ContentBlock::audio(STANDARD.encode(bytes), &*media.media_type),
    }
}

/// Cuts a value, whose rest only a command line prints.
fn cut_value(text: &str, bounds: Bounds) -> String {
    let mut kept = whole_lines(text, bounds.bytes - 80, bounds.lines - 2);
    if kept == 0 {
        kept = (0..=bounds.bytes - 80).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
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
    use crate::bounds::CODEX;

    #[test]
    fn cut_text_keeps_to_the_bounds_and_its_last_line() {
        let long = "深".repeat(20_000);
        for text in ["x\n".repeat(1000), "long line of text\n".repeat(900), long.clone() + "\n"] {
            let text = text + "e3 · 7 of 9 tokens\n";
            assert!(CODEX.excess(&text).is_some());
            let cut = cut(&text, CODEX);
            assert!(CODEX.excess(&cut).is_none(), "{} bytes", cut.len());
            assert!(cut.ends_with("e3 · 7 of 9 tokens\n") && cut.contains(" more lines: "));
            assert!(CODEX.excess(&cut_value(&text, CODEX)).is_none());
        }
        assert!(
            CODEX.excess(&cut(&long, CODEX)).is_none()
                && CODEX.excess(&cut_value(&long, CODEX)).is_none()
        );
        assert!(CODEX.excess("short\n").is_none());
    }

    /// Creates a RIFF file with some bytes of content.
    fn riff(form: &[u8; 4], length: usize) -> Vec<u8> {
        [b"RIFF\x24\0\0\0", &form[..], b"fmt \x10\0\0\0", &vec![0xff; length]].concat()
    }

    #[test]
    fn images_and_sounds_are_blocks_of_their_kind_and_all_else_is_described() {
        assert!(
            raw(&riff(b"WEBP", 9), CODEX)
                .as_image()
                .is_some_and(|one| one.mime_type == "image/webp")
        );
        assert!(
            raw(&riff(b"WAVE", 9), CODEX)
                .as_audio()
                .is_some_and(|one| one.mime_type == "audio/wav")
        );
        for bytes in [riff(b"AVI ", 9), b"%PDF-1.7\xff".to_vec(), b"BM\xff\0\0\0\0\0\0\0".to_vec()]
        {
            let block = raw(&bytes, CODEX);
            let text = &block.as_text().unwrap().text;
            assert!(
                text.contains("bytes that are no text") && text.contains("pipemux read"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_larger_than_models_take_is_described() {
        let too_long = raw(&riff(b"WAVE", MEDIA_BYTES_MAX), CODEX);
        assert!(too_long.as_text().unwrap().text.contains("more than models take"));
        let mut wide = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        wide.extend((IMAGE_SIDE_MAX + 1).to_be_bytes());
        wide.extend(1_u32.to_be_bytes());
        wide.extend([8, 6, 0, 0, 0, 0xff, 0xff, 0, 0]);
        assert!(raw(&wide, CODEX).as_text().unwrap().text.contains("8000 pixels a side"));
    }
}
