//! A window's content that borrows its text from the message, so that decoding copies nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{EmbedSlot, LinkSlotOf, Media, ObjectSlotOf, ProjectionOf, Text};
use crate::numbers::{LineNumbers, LineRun};
use crate::value::Value;

/// A [`ProjectionOf`] with borrowed content.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "T: Text + Deserialize<'de>"))]
pub struct ProjectionRef<'a, T = String> {
    version: u64,
    #[serde(default)]
    unchanged: bool,
    #[serde(default)]
    title: T,
    #[serde(default)]
    document: Option<String>,
    #[serde(default)]
    nav: Vec<LinkSlotOf<T>>,
    #[serde(default, borrow)]
    content: Vec<PieceRef<'a, T>>,
    #[serde(default)]
    position: Option<T>,
    #[serde(default)]
    actions: Option<Vec<String>>,
    #[serde(default)]
    names: BTreeMap<String, ObjectSlotOf<T>>,
    #[serde(default)]
    focus: Option<String>,
    #[serde(default)]
    custom: BTreeMap<String, Value>,
    #[serde(default)]
    numbers: Vec<LineNumbers>,
    #[serde(default)]
    hidden_tokens: u64,
}

/// A borrowed [`super::Piece`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(deserialize = "T: Text + Deserialize<'de>"))]
pub enum PieceRef<'a, T = String> {
    /// Markdown, borrowed from the frame.
    Text(&'a str),
    /// A thing.
    #[serde(borrow)]
    Object(ObjectRef<'a>),
    /// An action.
    Link(LinkSlotOf<T>),
    /// Exact text.
    #[serde(borrow)]
    Code(CodeRef<'a>),
    /// Another session's window.
    Embed(EmbedSlot),
}

/// A borrowed [`super::ObjectSlot`].
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ObjectRef<'a, S = &'a str> {
    /// The app's name for the thing.
    pub key: &'a str,
    /// The revision.
    #[serde(default)]
    pub rev: u64,
    /// The thing's type.
    #[serde(default, rename = "type")]
    pub ty: Option<&'a str>,
    /// The displayed text.
    pub label: S,
    /// True when the ref is shown with the key instead of an id.
    #[serde(default)]
    pub show_key: bool,
    /// The text that distinguishes the thing from others with the same label.
    #[serde(default)]
    pub detail: S,
    /// The description of the value if it can't be shown as text.
    #[serde(default, borrow)]
    pub media: Option<MediaRef<'a>>,
}

/// A borrowed [`Media`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct MediaRef<'a> {
    /// The media type.
    #[serde(rename = "type")]
    pub media_type: &'a str,
    /// The length in bytes.
    pub bytes: u64,
    /// The width in pixels.
    #[serde(default)]
    pub width: Option<u32>,
    /// The height in pixels.
    #[serde(default)]
    pub height: Option<u32>,
    /// The duration in milliseconds.
    #[serde(default)]
    pub duration_ms: Option<u64>,
}

impl<'a> From<&'a Media> for MediaRef<'a> {
    fn from(media: &'a Media) -> Self {
        let Media { media_type, bytes, width, height, duration_ms } = media;
        let (bytes, width, height, duration_ms) = (*bytes, *width, *height, *duration_ms);
        Self { media_type, bytes, width, height, duration_ms }
    }
}

impl From<MediaRef<'_>> for Media {
    fn from(media: MediaRef<'_>) -> Self {
        let MediaRef { media_type, bytes, width, height, duration_ms } = media;
        Self { media_type: media_type.into(), bytes, width, height, duration_ms }
    }
}

/// A borrowed [`super::CodePiece`].
#[derive(Debug, Clone, Deserialize)]
pub struct CodeRef<'a> {
    /// The fence's language.
    #[serde(default)]
    pub lang: &'a str,
    /// The text.
    pub text: &'a str,
    /// The number of the first line if lines are numbered.
    #[serde(default)]
    pub first: Option<u64>,
    /// The identities of the lines.
    #[serde(default)]
    pub lines: Vec<LineRun>,
}

impl<'a, T> ProjectionRef<'a, T> {
    /// Returns the projection without its content, and the content.
    pub fn split(self) -> (ProjectionOf<T>, Vec<PieceRef<'a, T>>) {
        let Self { version, unchanged, title, document, nav, content, .. } = self;
        let Self { position, actions, names, focus, custom, numbers, hidden_tokens, .. } = self;
        let head = ProjectionOf {
            version,
            unchanged,
            title,
            document,
            nav,
            content: Vec::new(),
            position,
            actions,
            names,
            focus,
            custom,
            numbers,
            hidden_tokens,
        };
        (head, content)
    }
}

impl<'a, T, S: From<&'a T>> From<&'a ObjectSlotOf<T>> for ObjectRef<'a, S> {
    fn from(object: &'a ObjectSlotOf<T>) -> Self {
        let ObjectSlotOf { key, rev, ty, label, show_key, detail, media } = object;
        let (label, detail) = (label.into(), detail.into());
        let (rev, ty, show_key) = (*rev, ty.as_deref(), *show_key);
        Self { key, rev, ty, label, show_key, detail, media: media.as_ref().map(MediaRef::from) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CodePiece, EmbedSlot, LinkSlot, Lod, ObjectSlot, Piece, Projection};
    use super::*;
    use crate::codec::{decode, encode};
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = Piece> {
        let text = "[a中\0🚀\n]{0,40}";
        let object = (text, any::<u64>(), proptest::option::of(text), text, any::<bool>(), text);
        prop_oneof![
            text.prop_map(Piece::Text),
            object.prop_map(|(key, rev, ty, label, show_key, detail)| Piece::Object(ObjectSlot {
                key,
                rev,
                ty,
                label,
                show_key,
                media: (rev % 2 == 0).then(|| Media {
                    media_type: detail.clone(),
                    bytes: rev,
                    width: Some(7),
                    ..Media::default()
                }),
                detail,
            })),
            (text, text, any::<bool>()).prop_map(|(label, action, titled)| Piece::Link(LinkSlot {
                label,
                action,
                titled,
                lasting: titled,
                ..LinkSlot::default()
            })),
            (text, text, proptest::option::of(any::<u64>()), any::<u64>()).prop_map(
                |(lang, text, first, id)| {
                    let lines = first.map(|_| LineRun { id, count: 2 }).into_iter().collect();
                    Piece::Code(CodePiece { lang, text, first, lines })
                }
            ),
            (text, any::<u32>()).prop_map(|(session, budget)| Piece::Embed(EmbedSlot {
                session,
                lod: Lod::Gist,
                budget,
            })),
        ]
    }

    fn owned(piece: PieceRef<'_>) -> Piece {
        match piece {
            PieceRef::Text(text) => Piece::Text(text.into()),
            PieceRef::Object(ObjectRef { key, rev, ty, label, show_key, detail, media }) => {
                Piece::Object(ObjectSlot {
                    key: key.into(),
                    rev,
                    ty: ty.map(Into::into),
                    label: label.into(),
                    show_key,
                    detail: detail.into(),
                    media: media.map(Media::from),
                })
            }
            PieceRef::Link(link) => Piece::Link(link),
            PieceRef::Code(CodeRef { lang, text, first, lines }) => {
                Piece::Code(CodePiece { lang: lang.into(), text: text.into(), first, lines })
            }
            PieceRef::Embed(embed) => Piece::Embed(embed),
        }
    }

    proptest! {
        #[test]
        fn borrowed_and_owned_projections_decode_alike(
            content in proptest::collection::vec(piece(), 0..8),
            title in "[a中]{0,40}",
            names in proptest::collection::btree_map("[a-z]{1,4}", "[a-z]{1,4}", 0..3),
            flip in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let object = |key: String| {
                ObjectSlot { label: key.clone(), key, rev: 7, ..ObjectSlot::default() }
            };
            let names = names.into_iter().map(|(name, key)| (name, object(key))).collect();
            let sent = Projection {
                version: 9,
                title,
                document: Some("d".into()),
                content,
                names,
                actions: Some(vec!["x".into()]),
                position: Some("here".into()),
                focus: Some("f".into()),
                custom: [("c".to_owned(), Value::Bool(true))].into(),
                numbers: vec![LineNumbers { first: 1, last: 2, ..LineNumbers::default() }],
                hidden_tokens: 3,
                ..Projection::default()
            };
            let mut body = encode(&sent).unwrap();
            if let Some((at, byte)) = flip {
                let at = at.index(body.len());
                body[at] = byte;
            }
            let plain = decode::<Projection>(&body).map_err(drop);
            let read = decode::<ProjectionRef<'_>>(&body).map_err(drop).map(|read| {
                let (head, content) = read.split();
                Projection { content: content.into_iter().map(owned).collect(), ..head }
            });
            // Compared as text, because a damaged float may be NaN, which isn't equal to itself.
            prop_assert_eq!(format!("{read:?}"), format!("{plain:?}"));
        }
    }
}
