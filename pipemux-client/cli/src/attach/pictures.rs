//! The pictures of a window: which of them are asked for, and how much room each takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use pipemux_client::proto::context::{AnchorMedia, Context};

use super::graphics::{Graphics, Picture};

/// Most pictures of a window that are shown: the first ones.
const PICTURES_MAX: usize = 16;

/// The longest picture, in bytes.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The longest side of a picture in pixels: a few bytes may stand for far more than a terminal can
/// hold.
const SIDE_MAX: u32 = 8192;

/// Pixels of a character where the terminal doesn't tell.
const CELL: (u32, u32) = (10, 20);

/// A picture that the window has.
#[derive(Debug)]
struct Known {
    /// The window's description of the picture; a change means another picture.
    media: AnchorMedia,
    /// The picture and its size; `None` until it is loaded, or if it can't be drawn.
    loaded: Option<(Arc<Picture>, (u32, u32))>,
}

/// The pictures of a window, by ref.
#[derive(Debug, Default)]
pub struct Pictures {
    graphics: Option<Graphics>,
    cell: Option<(u32, u32)>,
    known: BTreeMap<String, Known>,
    /// The number of pictures so far.
    count: u32,
}

impl Pictures {
    pub fn new(graphics: Option<Graphics>) -> Pictures {
        Pictures { graphics, ..Pictures::default() }
    }

    /// Takes over how many pixels wide and high a character is, if the terminal tells.
    pub fn measure(&mut self, cell: Option<(u32, u32)>) {
        self.cell = cell;
    }

    /// Takes over which pictures a window has. Returns the refs of those that are to be loaded.
    pub fn update(&mut self, window: &Context) -> Vec<String> {
        let Some(graphics) = self.graphics else { return Vec::new() };
        let pictures = window.anchors.iter().filter_map(|(name, anchor)| {
            let media = anchor.media.as_ref().filter(|media| graphics.draws(&media.media_type))?;
            (media.bytes <= BYTES_MAX).then_some((name, media))
        });
        let pictures: BTreeMap<&String, &AnchorMedia> = pictures.take(PICTURES_MAX).collect();
        self.known.retain(|name, known| pictures.get(name) == Some(&&known.media));
        let mut missing = Vec::new();
        for (name, media) in pictures {
            if !self.known.contains_key(name) {
                missing.push(name.clone());
                let known = Known { media: media.clone(), loaded: None };
                self.known.insert(name.clone(), known);
            }
        }
        missing
    }

    /// Takes over the bytes of a picture. What they are is theirs to tell, not the app's.
    pub fn load(&mut self, name: &str, bytes: Bytes) {
        let media = pipemux_media::of(&bytes);
        let (Some(graphics), Some(known)) = (self.graphics, self.known.get_mut(name)) else {
            return;
        };
        let size = media.width.zip(media.height);
        let drawn = |(width, height): &(u32, u32)| (1..=SIDE_MAX).contains(width.max(height));
        let short = bytes.len() as u64 <= BYTES_MAX && graphics.draws(&media.media_type);
        if let Some(size) = size.filter(|size| short && drawn(size)) {
            self.count += 1;
            known.loaded = Some((Arc::new(Picture { id: self.count, bytes }), size));
        }
    }

    /// Returns the pictures that have come, with the columns and rows that they take, of at most so
    /// many.
    pub fn sizes(&self, columns: u16, rows: u16) -> BTreeMap<String, (u16, u16)> {
        let size = |(name, known): (&String, &Known)| {
            let (_, pixels) = known.loaded.as_ref()?;
            let size = fitted(*pixels, self.cell.unwrap_or(CELL), (columns, rows))?;
            Some((name.clone(), size))
        };
        self.known.iter().filter_map(size).collect()
    }

    pub fn get(&self, name: &str) -> Option<Arc<Picture>> {
        self.known.get(name)?.loaded.as_ref().map(|(picture, _)| picture.clone())
    }
}

/// Returns how many columns and rows a picture takes: as it is, or smaller, with its sides in the
/// same ratio. None where there is no room.
fn fitted(
    (width, height): (u32, u32),
    cell: (u32, u32),
    (columns, rows): (u16, u16),
) -> Option<(u16, u16)> {
    let wide = f64::from(width) / f64::from(cell.0);
    let high = f64::from(height) / f64::from(cell.1);
    let shrunk = (f64::from(columns) / wide).min(f64::from(rows) / high).min(1.0);
    let whole = |cells: f64, most: u16| (cells * shrunk).ceil().clamp(1.0, most.into()) as u16;
    (columns > 0 && rows > 0).then(|| (whole(wide, columns), whole(high, rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::model::tests::{png, window};

    fn with_picture(media_type: &str, bytes: u64) -> Context {
        let mut shown = window("[shot](obj:file:3)\n", &[("obj:file:3", false), ("obj:4", false)]);
        let media = AnchorMedia {
            media_type: media_type.into(),
            bytes,
            width: Some(60),
            height: Some(40),
            duration_ms: None,
        };
        shown.anchors.get_mut("obj:file:3").unwrap().media = Some(media);
        shown
    }

    #[test]
    fn picture_is_loaded_once_and_again_when_it_has_changed() {
        let mut pictures = Pictures::new(Some(Graphics::Kitty));
        let shown = with_picture("image/png", 70);
        assert_eq!(pictures.update(&shown), ["obj:file:3"]);
        assert_eq!(pictures.update(&shown), [""; 0]);
        assert!(pictures.sizes(80, 10).is_empty());
        pictures.load("obj:file:3", png(60, 40).into());
        assert_eq!(pictures.sizes(80, 10), [("obj:file:3".to_owned(), (6, 2))].into());
        assert_eq!(pictures.get("obj:file:3").unwrap().id, 1);
        assert_eq!(pictures.update(&with_picture("image/png", 71)), ["obj:file:3"]);
        assert!(pictures.get("obj:file:3").is_none());
        pictures.update(&window("", &[]));
        pictures.load("obj:file:3", png(60, 40).into());
        assert!(pictures.sizes(80, 10).is_empty());
    }

    #[test]
    fn only_what_the_terminal_draws_is_loaded() {
        for (graphics, media_type, bytes) in [
            (None, "image/png", 70),
            (Some(Graphics::Kitty), "image/jpeg", 70),
            (Some(Graphics::Kitty), "image/png", BYTES_MAX + 1),
            (Some(Graphics::Iterm), "image/svg+xml", 70),
        ] {
            let mut pictures = Pictures::new(graphics);
            assert_eq!(pictures.update(&with_picture(media_type, bytes)), [""; 0]);
        }
        // What an app only says of its bytes counts for nothing, nor do pixels without end.
        for bytes in [b"\x1b]0;title\x07".to_vec(), b"GIF89a\x09\0\x09\0".to_vec(), png(60_000, 1)]
        {
            let mut pictures = Pictures::new(Some(Graphics::Kitty));
            pictures.update(&with_picture("image/png", 70));
            pictures.load("obj:file:3", bytes.into());
            assert!(pictures.sizes(80, 10).is_empty());
        }
    }

    #[test]
    fn picture_keeps_the_ratio_of_its_sides() {
        assert_eq!(fitted((60, 40), (10, 20), (80, 10)), Some((6, 2)));
        assert_eq!(fitted((1000, 1000), (10, 20), (80, 10)), Some((20, 10)));
        assert_eq!(fitted((8000, 10), (10, 20), (80, 10)), Some((80, 1)));
        assert_eq!(fitted((1, 1), (10, 20), (80, 10)), Some((1, 1)));
        assert_eq!(fitted((60, 40), (10, 20), (0, 10)), None);
    }
}
