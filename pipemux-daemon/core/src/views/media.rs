//! Describes media values in a few words after their refs: ` PNG 640×480, 31 KB`.

use pipemux_proto::projection::MediaRef;

/// Longest name of a format, in characters.
const FORMAT_CHARS: usize = 24;

/// Writes what a value is, with a space before it.
pub fn media_words(media: MediaRef<'_>) -> String {
    let mut what = format_name(media.media_type);
    if let (Some(width), Some(height)) = (media.width, media.height) {
        what += &format!(" {width}×{height}");
    }
    if let Some(ms) = media.duration_ms {
        let seconds = ms.saturating_add(500) / 1000;
        what += &format!(" {}:{:02}", seconds / 60, seconds % 60);
    }
    let bytes = size(media.bytes);
    match what.trim() {
        "" => format!(" {bytes}"),
        what => format!(" {what}, {bytes}"),
    }
}

/// Returns the name of a format as people write it: `PNG` for `image/png`. Empty for one that says
/// nothing, or is no name.
fn format_name(media_type: &str) -> String {
    let subtype =
        media_type.split(';').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let subtype = subtype.split('+').next().unwrap_or_default();
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let shown = !subtype.is_empty()
        && subtype != "octet-stream"
        && subtype.len() <= FORMAT_CHARS
        && subtype.chars().all(is_name);
    if shown { subtype.to_ascii_uppercase() } else { String::new() }
}

/// Writes a length: exactly while that is short.
fn size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..10_000 => format!("{} bytes", grouped(bytes)),
        10_000..999_500 => format!("{} KB", (bytes + 500) / 1000),
        _ => format!("{}.{} MB", (bytes + 50_000) / 1_000_000, (bytes + 50_000) / 100_000 % 10),
    }
}

/// Writes a number with a comma between thousands.
fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(media_type: &str, bytes: u64, size: Option<(u32, u32)>) -> String {
        let (width, height) = size.unzip();
        media_words(MediaRef { media_type, bytes, width, height, duration_ms: None })
    }

    #[test]
    fn media_is_told_in_a_few_words() {
        assert_eq!(words("image/png", 31_000, Some((640, 480))), " PNG 640×480, 31 KB");
        assert_eq!(words("image/svg+xml", 3_000, None), " SVG, 3,000 bytes");
        assert_eq!(words("application/octet-stream", 1, None), " 1 byte");
        assert_eq!(words("application/x-tar; charset=x", 1_250_000, None), " TAR, 1.3 MB");
        let sound = MediaRef {
            media_type: "audio/wav",
            bytes: 999_499,
            width: None,
            height: None,
            duration_ms: Some(90_500),
        };
        assert_eq!(media_words(sound), " WAV 1:31, 999 KB");
    }

    #[test]
    fn media_type_that_is_no_name_is_not_shown() {
        for hostile in ["image/](link:7)", "a/b\nc", "/", "", "a/ü", "a/toolongtobeanameofanything"]
        {
            let told = words(hostile, 7, None);
            assert_eq!(told, " 7 bytes", "{hostile}");
        }
    }
}
