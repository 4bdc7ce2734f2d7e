//! The links and the content of a projection, decoded once: where their texts lie in its bytes.

use pipemux_proto::LineRun;
use pipemux_proto::projection::{CodeRef, EmbedSlot, Media, MediaRef, ObjectRef, PieceRef};
use pipemux_tokens::{Estimate, estimate};

use crate::foreign::{ForeignStr, ForeignText, LinkSlot};
use crate::intake::{self, WindowTexts};

/// The links and the content of a projection.
#[derive(Debug, Default)]
pub struct Slots {
    /// Links for the likely next actions.
    pub nav: Vec<LinkSlot>,
    /// The number of further links that the app sent.
    pub nav_left_out: usize,
    pub(super) content: Vec<StoredPiece>,
    /// All short texts in one string: copying is cheaper than validating UTF-8 again.
    pub(super) short_texts: String,
}

#[derive(Debug)]
pub(super) enum StoredPiece {
    Text(TextSpan),
    Object {
        key: TextSpan,
        rev: u64,
        ty: Option<TextSpan>,
        label: TextSpan,
        show_key: bool,
        media: Option<Box<Media>>,
    },
    Link(Box<LinkSlot>),
    Code {
        lang: TextSpan,
        text: TextSpan,
        first: Option<u64>,
        lines: Box<[LineRun]>,
    },
    Embed(Box<EmbedSlot>),
}

/// The place of a text: a long one in the projection's bytes, a short one among the short texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextSpan {
    start: u32,
    pub(super) length: u32,
}

#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// Markdown, as the app wrote it.
    Text(ForeignStr<'a>),
    Object(ObjectRef<'a, ForeignStr<'a>>),
    /// An action.
    Link(&'a LinkSlot),
    /// Exact text, and its estimate when it follows a newline, where that is known.
    Code(Code<'a>, Option<Estimate>),
    /// Another session's window.
    Embed(&'a EmbedSlot),
}

/// Exact text.
#[derive(Debug, Clone, Copy)]
pub struct Code<'a> {
    /// The fence's language.
    pub lang: ForeignStr<'a>,
    pub text: ForeignStr<'a>,
    /// The number of the first line if lines are numbered.
    pub first: Option<u64>,
    /// The identities of the lines.
    pub lines: &'a [LineRun],
}

/// Bytes that the words behind the ref of a thing with a media type take at most.
const MEDIA_WORDS_MAX: u32 = 128;
/// About how many tokens they take.
const MEDIA_TOKENS: u64 = 12;

/// The length in bytes from which a text isn't copied and its estimate is kept.
pub(super) const LONG_TEXT: usize = 4096;

impl Slots {
    pub(super) fn new(
        (nav, nav_left_out): (Vec<LinkSlot>, usize),
        pieces: Vec<PieceRef<'_, ForeignText>>,
        body: &[u8],
    ) -> Self {
        let mut short_texts = String::new();
        let mut span = |text: &str| TextSpan::store(text, body, &mut short_texts);
        let stored = |piece| match piece {
            PieceRef::Text(text) => StoredPiece::Text(span(text)),
            // Of the detail nothing is shown: it is decoded when somebody has to choose.
            PieceRef::Object(ObjectRef { key, rev, ty, label, show_key, detail: _, media }) => {
                let key = span(key);
                let ty = WindowTexts::object_type(ty).map(&mut span);
                let label = span(&WindowTexts::label(label));
                let media = media.map(|media| Box::new(WindowTexts::media(media)));
                StoredPiece::Object { key, rev, ty, label, show_key, media }
            }
            PieceRef::Link(mut link) => {
                intake::bound_link(&mut link);
                StoredPiece::Link(Box::new(link))
            }
            PieceRef::Code(CodeRef { lang, text, first, lines }) => {
                let lines = lines.into();
                let lang = span(&WindowTexts::label(lang));
                StoredPiece::Code { lang, text: span(text), first, lines }
            }
            PieceRef::Embed(embed) => StoredPiece::Embed(Box::new(WindowTexts::embed(embed))),
        };
        let content = pieces.into_iter().map(stored).collect();
        Self { nav, nav_left_out, content, short_texts }
    }

    /// Iterates over all links, those for the likely next actions first.
    pub fn links(&self) -> impl Iterator<Item = &LinkSlot> {
        let in_content = self.content.iter().filter_map(|piece| -> Option<&LinkSlot> {
            match piece {
                StoredPiece::Link(link) => Some(link),
                _ => None,
            }
        });
        self.nav.iter().chain(in_content)
    }

    pub(super) fn pieces<'a>(
        &'a self,
        body: &'a [u8],
        long: &'a [(TextSpan, Estimate)],
    ) -> impl Iterator<Item = Piece<'a>> {
        let text = |span: TextSpan| span.text(body, &self.short_texts);
        let known_estimate = |asked: TextSpan| {
            let same = |(span, _): &&(TextSpan, Estimate)| *span == asked;
            long.iter().find(same).map(|(_, estimate)| *estimate)
        };
        self.content.iter().map(move |piece| match piece {
            StoredPiece::Text(plain) => Piece::Text(text(*plain).into()),
            StoredPiece::Object { key, rev, ty, label, show_key, media } => {
                Piece::Object(ObjectRef {
                    key: text(*key),
                    rev: *rev,
                    ty: ty.map(text),
                    label: text(*label).into(),
                    show_key: *show_key,
                    detail: ForeignStr::default(),
                    media: media.as_deref().map(MediaRef::from),
                })
            }
            StoredPiece::Link(link) => Piece::Link(link),
            StoredPiece::Code { lang, text: code, first, lines } => {
                let shown = Code {
                    lang: text(*lang).into(),
                    text: text(*code).into(),
                    first: *first,
                    lines,
                };
                Piece::Code(shown, if code.is_long() { known_estimate(*code) } else { None })
            }
            StoredPiece::Embed(embed) => Piece::Embed(embed),
        })
    }
}

impl StoredPiece {
    /// Returns the number of bytes that it shows.
    pub(super) fn shown_length(&self) -> u32 {
        match self {
            StoredPiece::Text(text) | StoredPiece::Code { text, .. } => text.length,
            StoredPiece::Object { key, ty, label, show_key, media, .. } => {
                // Each byte of a key may be written as three.
                let key = if *show_key { key.length.saturating_mul(3) } else { 0 };
                let media = if media.is_some() { MEDIA_WORDS_MAX } else { 0 };
                let ty = ty.map_or(0, |ty| ty.length);
                label.length.saturating_add(ty).saturating_add(key).saturating_add(media)
            }
            StoredPiece::Link(link) => link.label.len() as u32,
            // It has a budget of its own.
            StoredPiece::Embed(_) => 0,
        }
    }
}

impl TextSpan {
    /// Finds a long text in the bytes that it was decoded from; copies a short one to the short
    /// texts.
    fn store(text: &str, body: &[u8], short_texts: &mut String) -> Self {
        if text.len() >= LONG_TEXT {
            return Self::in_bytes(text, body);
        }
        let start = short_texts.len() as u32;
        short_texts.push_str(text);
        Self { start, length: text.len() as u32 }
    }

    /// Finds a text in the bytes that it was decoded from. A frame is too short for 32 bits to
    /// overflow.
    pub(super) fn in_bytes(text: &str, body: &[u8]) -> Self {
        let start = text.as_ptr().addr().saturating_sub(body.as_ptr().addr());
        Self { start: start as u32, length: text.len() as u32 }
    }

    pub(super) fn is_long(self) -> bool {
        self.length as usize >= LONG_TEXT
    }

    pub(super) fn text<'a>(self, body: &'a [u8], short_texts: &'a str) -> &'a str {
        let range = self.start as usize..self.start as usize + self.length as usize;
        if self.is_long() {
            // Never fails: it was valid when it was decoded.
            std::str::from_utf8(body.get(range).unwrap_or_default()).unwrap_or_default()
        } else {
            short_texts.get(range).unwrap_or_default()
        }
    }
}

impl<'a> Piece<'a> {
    /// Estimates the tokens of its ref, if it has one.
    pub(super) fn ref_tokens(&self) -> u64 {
        match self {
            Piece::Text(_) | Piece::Code(..) | Piece::Embed(_) => 0,
            Piece::Link(_) => 5,
            Piece::Object(object) => {
                let key = if object.show_key { estimate(object.key) } else { 0 };
                let media = if object.media.is_some() { MEDIA_TOKENS } else { 0 };
                5 + object.ty.map_or(0, |ty| estimate(ty) + 1) + key + media
            }
        }
    }

    /// Returns the text that it shows.
    pub(super) fn shown_text(&self) -> ForeignStr<'a> {
        match self {
            Piece::Text(text) => *text,
            Piece::Code(code, _) => code.text,
            Piece::Object(object) => object.label,
            Piece::Link(link) => link.label.borrow(),
            Piece::Embed(_) => ForeignStr::default(),
        }
    }
}
