//! What bytes are: a media type and, for an image, its dimensions, from their first bytes. Whoever
//! asks what bytes are asks here, so that an app, a window, a command line and a model are told the
//! same.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

use imagesize::ImageType;

pub use pipemux_proto::projection::Media;

/// Bytes of which nothing more is known.
pub const UNKNOWN: &str = "application/octet-stream";

/// The magic numbers of formats other than images, which `imagesize` detects.
const MAGIC: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"SQLite format 3\0", "application/x-sqlite3"),
    (b"\x7fELF", "application/x-elf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
];

/// The names of formats in sentences.
const NAMES: &[(&str, &str)] = &[
    ("image/png", "a PNG image"),
    ("image/jpeg", "a JPEG image"),
    ("image/gif", "a GIF image"),
    ("image/webp", "a WebP image"),
    ("audio/wav", "a WAV sound"),
    ("audio/mpeg", "an MP3 sound"),
    ("audio/ogg", "an Ogg sound"),
    ("audio/flac", "a FLAC sound"),
    ("application/pdf", "a PDF document"),
    ("application/zip", "a ZIP archive"),
    ("application/gzip", "gzip data"),
    ("application/x-elf", "an ELF program"),
    ("application/x-sqlite3", "a SQLite database"),
];

/// Says what bytes are that are no text: `20480 bytes that are no text (a PNG image)`. `None` for
/// text.
pub fn describe(bytes: &[u8]) -> Option<String> {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    if is_text {
        return None;
    }
    let media_type = of(bytes).media_type;
    let known = NAMES.iter().find(|(name, _)| *name == &*media_type).map(|(_, name)| *name);
    let known = known.or_else(|| Some(&*media_type).filter(|name| *name != UNKNOWN));
    let known = known.map_or(String::new(), |name| format!(" ({name})"));
    Some(format!("{} bytes that are no text{known}", bytes.len()))
}

/// Tells what bytes are. It never fails: bytes that begin like nothing known are [`UNKNOWN`].
pub fn of(bytes: &[u8]) -> Media {
    let length = bytes.len() as u64;
    if let Some(media_type) = imagesize::image_type(bytes).ok().and_then(image) {
        let size = imagesize::blob_size(bytes).ok();
        let pixels = |of: fn(&imagesize::ImageSize) -> usize| {
            size.as_ref().and_then(|size| u32::try_from(of(size)).ok())
        };
        return Media {
            media_type: media_type.into(),
            bytes: length,
            width: pixels(|size| size.width),
            height: pixels(|size| size.height),
            duration_ms: None,
        };
    }
    if bytes.get(..4) == Some(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") {
        let media_type = "audio/wav".into();
        return Media {
            media_type,
            bytes: length,
            duration_ms: wav_duration(bytes),
            ..Media::default()
        };
    }
    let found = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    let media_type = found.map_or(UNKNOWN, |(_, media_type)| media_type).into();
    Media { media_type, bytes: length, ..Media::default() }
}

fn image(found: ImageType) -> Option<&'static str> {
    Some(match found {
        ImageType::Bmp => "image/bmp",
        ImageType::Gif => "image/gif",
        ImageType::Heif(_) => "image/heif",
        ImageType::Ico => "image/x-icon",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Jxl => "image/jxl",
        ImageType::Png => "image/png",
        ImageType::Tiff => "image/tiff",
        ImageType::Webp => "image/webp",
        _ => return None,
    })
}

/// Returns how long a sound takes: its length by the bytes of a second, which its header has.
fn wav_duration(bytes: &[u8]) -> Option<u64> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u64::from(u32::from_le_bytes(four)))
    };
    // Where nearly all writers put them.
    let (rate, data) = (number(28)?, number(40)?);
    (bytes.get(36..40)? == b"data" && rate > 0).then(|| data * 1000 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the header of an image without pixels.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn image_has_its_type_and_size() {
        let media = of(&png(640, 480));
        assert_eq!(media.media_type, "image/png");
        assert_eq!((media.width, media.height, media.bytes), (Some(640), Some(480), 33));
    }

    #[test]
    fn sound_has_its_duration() {
        let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
        wav.extend([1, 0, 1, 0, 0x40, 0x1f, 0, 0]);
        wav.extend(8_000_u32.to_le_bytes());
        wav.extend([1, 0, 8, 0]);
        wav.extend(b"data");
        wav.extend(20_000_u32.to_le_bytes());
        let media = of(&wav);
        assert_eq!((&*media.media_type, media.duration_ms), ("audio/wav", Some(2_500)));
    }

    #[test]
    fn any_bytes_are_something() {
        for bytes in [&b""[..], b"\0", b"\x89PNG", b"RIFF", b"text", &png(1, 1)[..20]] {
            assert_eq!(of(bytes).bytes, bytes.len() as u64, "{bytes:?}");
        }
        assert_eq!(of(b"\0\x01\x02").media_type, UNKNOWN);
        assert_eq!(of(b"%PDF-1.7").media_type, "application/pdf");
    }

    #[test]
    fn only_webp_among_the_files_of_riff_is_an_image() {
        let riff = |form: &[u8]| [b"RIFF\x24\0\0\0", form, b"fmt \x10\0\0\0\x01\0\x01\0"].concat();
        for (form, media_type) in [
            (b"WAVE", "audio/wav"),
            (b"AVI ", UNKNOWN),
            (b"WEBP", "image/webp"),
            (b"RMID", UNKNOWN),
        ] {
            assert_eq!(&*of(&riff(form)).media_type, media_type);
        }
    }

    #[test]
    fn only_what_is_no_text_is_described() {
        assert_eq!(describe("käse".as_bytes()), None);
        assert_eq!(describe(b"a\0b").as_deref(), Some("3 bytes that are no text"));
        let png = describe(&png(1, 1));
        assert_eq!(png.as_deref(), Some("33 bytes that are no text (a PNG image)"));
        assert_eq!(
            describe(b"\x7fELF\xff").as_deref(),
            Some("5 bytes that are no text (an ELF program)")
        );
    }
}
