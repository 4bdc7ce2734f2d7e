//! What an app sent of a window, kept as the bytes that came.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;

use bytes::Bytes;
use pipemux_proto::codec::explain;
use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::projection::{
    CodeRef, EmbedSlot, Media, MediaRef, ObjectRef, PieceRef, ProjectionRef,
};
use pipemux_proto::{LineRun, decode};
use pipemux_tokens::{Estimate, estimate};

use crate::foreign::{ForeignStr, ForeignText, LinkSlot, Projection, bounds, data};
use crate::intake::{self, WindowTexts};
use crate::limits::{LINE_NUMBERS_MAX, OBJECT_DETAIL_CHARS, SLOTS_MAX};

/// Bytes that the words behind the ref of a thing with a media type take at most.
const MEDIA_WORDS_MAX: u32 = 128;
/// About how many tokens they take.
const MEDIA_TOKENS: u64 = 12;

/// What an app sent of a window: the bytes, and until the window is rendered the places of its slots in them.
/// After that the bytes are decoded again where slots are needed. Dereferences to the projection without its
/// links and content, which [`RawProjection::slots`] returns.
#[derive(Debug)]
pub struct RawProjection {
    head: Projection,
    slots: RefCell<Option<Slots>>,
    body: Bytes,
    /// The windows of other sessions that it shows, in order.
    embeds: Box<[EmbedSlot]>,
    /// An upper bound of the content's tokens.
    tokens_max: u64,
    /// The estimate of the content's tokens, once it was asked for.
    estimates: OnceCell<ContentEstimate>,
}

/// The links and the content of a projection.
#[derive(Debug, Default)]
pub struct Slots {
    /// Links for the likely next actions.
    pub nav: Vec<LinkSlot>,
    /// How many further links the app sent.
    pub nav_left_out: usize,
    content: Vec<StoredPiece>,
    /// All short texts in one string: copying is cheaper than validating UTF-8 again.
    short_texts: String,
}

/// A piece of the content with the places of its texts.
#[derive(Debug)]
enum StoredPiece {
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
struct TextSpan {
    start: u32,
    length: u32,
}

/// A piece of the content.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// Markdown, as the app wrote it.
    Text(ForeignStr<'a>),
    /// An object.
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
    /// The text.
    pub text: ForeignStr<'a>,
    /// The number of the first line if lines are numbered.
    pub first: Option<u64>,
    /// The identities of the lines.
    pub lines: &'a [LineRun],
}

/// The estimated tokens of a content.
#[derive(Debug)]
struct ContentEstimate {
    tokens: u64,
    /// The estimate of each long text, in the order of the content.
    long: Vec<(TextSpan, Estimate)>,
}

/// The length in bytes from which on a text isn't copied, and its estimate is kept.
const LONG_TEXT: usize = 4096;

impl RawProjection {
    /// Decodes what an app sent.
    ///
    /// # Errors
    /// A sentence, when the bytes are no projection or the projection exceeds its bounds.
    pub fn read(body: &Bytes) -> Result<Self, String> {
        let decoded = decode::<ProjectionRef<'_, ForeignText>>(body)
            .map_err(|_| explain::<Projection>(body))?;
        let (mut head, content) = decoded.split();
        check_slots(&head, &content)?;
        let nav_left_out = intake::bound_head(&mut head)?;
        let nav = std::mem::take(&mut head.nav);
        let slots = Slots::new((nav, nav_left_out), content, body);
        check(&head, &slots)?;
        // No byte counts as more than two tokens.
        let tokens_max =
            slots.content.iter().map(|slot| u64::from(slot.shown_length()) * 2 + 5).sum();
        let embeds = slots.content.iter().filter_map(|slot| match slot {
            StoredPiece::Embed(embed) => Some((**embed).clone()),
            _ => None,
        });
        let embeds = embeds.collect();
        let slots = RefCell::new(Some(slots));
        Ok(Self { embeds, head, slots, body: body.clone(), tokens_max, estimates: OnceCell::new() })
    }

    /// Estimates the tokens of the content; none when they are no more than `limit`. Long texts that the
    /// `previous` projection has too, and whose tokens were estimated then, aren't read again.
    pub fn tokens_beyond(&self, limit: u64, previous: Option<&Self>) -> Option<u64> {
        if self.tokens_max <= limit {
            return None;
        }
        let estimates = self.estimates.get_or_init(|| match self.slots.borrow().as_ref() {
            Some(slots) => self.estimate_content(slots, previous),
            None => self.estimate_content(&self.decode_slots(), previous),
        });
        (estimates.tokens > limit).then_some(estimates.tokens)
    }

    /// Returns the windows of other sessions that it shows, in order.
    pub fn embeds(&self) -> &[EmbedSlot] {
        &self.embeds
    }

    /// Returns about how many bytes it takes: the bytes that came, and as long as it isn't rendered its slots.
    pub fn bytes(&self) -> usize {
        let slots = self.slots.borrow();
        let slots =
            slots.as_ref().map_or(0, |slots| slots.short_texts.len() + slots.content.len() * 64);
        self.body.len() + slots + 512
    }

    /// Returns true when another projection shows the same: all but its version.
    pub fn shows_the_same_as(&self, other: &Self) -> bool {
        let content = |body: &Bytes| {
            let whole = decode::<Projection>(body).ok()?;
            Some(Projection { version: 0, ..whole })
        };
        self.body == other.body
            || content(&self.body).is_some_and(|own| content(&other.body) == Some(own))
    }

    /// Returns the slots, to be rendered.
    pub fn slots(&self) -> Slots {
        self.slots.take().unwrap_or_else(|| self.decode_slots())
    }

    /// Iterates over the pieces of the content.
    pub fn pieces<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = Piece<'a>> {
        let long = self.estimates.get().map(|estimates| &estimates.long[..]);
        slots.pieces(&self.body, long.unwrap_or_default())
    }

    fn estimate_content(&self, slots: &Slots, previous: Option<&Self>) -> ContentEstimate {
        let mut known = previous
            .and_then(|previous| Some((previous, previous.estimates.get()?)))
            .into_iter()
            .flat_map(|(previous, known)| known.long.iter().map(|long| (&previous.body, long)));
        let mut estimates = ContentEstimate { tokens: 0, long: Vec::new() };
        for piece in slots.pieces(&self.body, &[]) {
            let shown = piece.shown_text();
            estimates.tokens += piece.ref_tokens();
            if shown.len() < LONG_TEXT {
                estimates.tokens += shown.tokens();
                continue;
            }
            let text = data::borrowed(shown);
            let of_text = match known.next() {
                Some((body, (span, known))) => known.after_edit(span.text(body, ""), text),
                None => Estimate::for_lines().after_edit("", text),
            };
            estimates.tokens += of_text.tokens();
            estimates.long.push((TextSpan::in_bytes(text, &self.body), of_text));
        }
        estimates
    }

    /// Returns what the values of things are that are no text, by key: the first thing of a key counts.
    pub fn media(&self) -> BTreeMap<String, Media> {
        let Ok(decoded) = decode::<ProjectionRef<'_, ForeignText>>(&self.body) else {
            return BTreeMap::new();
        };
        let (_, content) = decoded.split();
        let mut known = BTreeMap::new();
        for piece in content {
            if let PieceRef::Object(ObjectRef { key, media: Some(media), .. }) = piece {
                known.entry(key.to_owned()).or_insert_with(|| WindowTexts::media(media));
            }
        }
        known
    }

    /// Returns what tells objects from others with the same label, by key.
    pub fn object_details(&self) -> BTreeMap<String, ForeignText> {
        let Ok(decoded) = decode::<ProjectionRef<'_, ForeignText>>(&self.body) else {
            return BTreeMap::new();
        };
        let (_, content) = decoded.split();
        let detail = |piece| match piece {
            PieceRef::Object(object) if !object.detail.is_empty() => {
                let detail = bounds::start(object.detail.into(), OBJECT_DETAIL_CHARS);
                Some((object.key.to_owned(), detail.to_owned()))
            }
            _ => None,
        };
        content.into_iter().filter_map(detail).collect()
    }

    fn decode_slots(&self) -> Slots {
        // Never fails: the same bytes were decoded before.
        let Ok(decoded) = decode::<ProjectionRef<'_, ForeignText>>(&self.body) else {
            return Slots::default();
        };
        let (mut head, content) = decoded.split();
        // Bounded in the same way as when it was taken in.
        let Ok(nav_left_out) = intake::bound_head(&mut head) else { return Slots::default() };
        Slots::new((head.nav, nav_left_out), content, &self.body)
    }
}

impl Deref for RawProjection {
    type Target = Projection;

    fn deref(&self) -> &Projection {
        &self.head
    }
}

impl Slots {
    fn new(
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

    fn pieces<'a>(
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
    fn shown_length(&self) -> u32 {
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
    /// Finds a long text in the bytes that it was decoded from; copies a short one to the short texts.
    fn store(text: &str, body: &[u8], short_texts: &mut String) -> Self {
        if text.len() >= LONG_TEXT {
            return Self::in_bytes(text, body);
        }
        let start = short_texts.len() as u32;
        short_texts.push_str(text);
        Self { start, length: text.len() as u32 }
    }

    /// Finds a text in the bytes that it was decoded from. A frame is too short for 32 bits to overflow.
    fn in_bytes(text: &str, body: &[u8]) -> Self {
        let start = text.as_ptr().addr().saturating_sub(body.as_ptr().addr());
        Self { start: start as u32, length: text.len() as u32 }
    }

    fn is_long(self) -> bool {
        self.length as usize >= LONG_TEXT
    }

    fn text<'a>(self, body: &'a [u8], short_texts: &'a str) -> &'a str {
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
    fn ref_tokens(&self) -> u64 {
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
    fn shown_text(&self) -> ForeignStr<'a> {
        match self {
            Piece::Text(text) => *text,
            Piece::Code(code, _) => code.text,
            Piece::Object(object) => object.label,
            Piece::Link(link) => link.label.borrow(),
            Piece::Embed(_) => ForeignStr::default(),
        }
    }
}

fn check_slots(head: &Projection, content: &[PieceRef<'_, ForeignText>]) -> Result<(), String> {
    let count = content.len() + head.nav.len() + head.names.len();
    match count > SLOTS_MAX {
        true => Err(format!("{count} slots (limit {SLOTS_MAX})")),
        false => Ok(()),
    }
}

fn check(head: &Projection, slots: &Slots) -> Result<(), String> {
    let numbers = head.numbers.len();
    if numbers > LINE_NUMBERS_MAX {
        return Err(format!("{numbers} line numbers (limit {LINE_NUMBERS_MAX})"));
    }
    let keys = slots.content.iter().filter_map(|slot| match slot {
        StoredPiece::Object { key, .. } => Some(key.length as usize),
        _ => None,
    });
    let names = head.names.values().map(|object| object.key.len());
    let document = head.document.iter().map(String::len);
    let numbers = head.numbers.iter().map(|numbers| numbers.document.len().max(1));
    let document = document.chain(numbers);
    if let Some(length) =
        keys.chain(names).chain(document).find(|length| !(1..=KEY_MAX).contains(length))
    {
        return Err(format!("a key of {length} bytes, expected 1 to {KEY_MAX}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
