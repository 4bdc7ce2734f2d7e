//! What an app sent of a window, kept as the bytes that came.

mod slots;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;

use bytes::Bytes;
use pipemux_proto::codec::explain;
use pipemux_proto::decode;
use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::projection::{EmbedSlot, Media, ObjectRef, PieceRef, ProjectionRef};
use pipemux_tokens::Estimate;

use crate::foreign::{ForeignText, Projection, bounds, data};
use crate::intake::{self, WindowTexts};
use crate::limits::{LINE_NUMBERS_MAX, OBJECT_DETAIL_CHARS, SLOTS_MAX};

pub use slots::{Code, Piece, Slots};
use slots::{LONG_TEXT, StoredPiece, TextSpan};

/// What an app sent of a window: the bytes, and until the window is rendered the places of its
/// slots in them. After that the bytes are decoded again where slots are needed. Dereferences to
/// the projection without its links and content, which [`RawProjection::slots`] returns.
#[derive(Debug)]
pub struct RawProjection {
    head: Projection,
    slots: RefCell<Option<Slots>>,
    body: Bytes,
    /// The embedded windows of other sessions, in order.
    embeds: Box<[EmbedSlot]>,
    /// An upper bound of the content's tokens.
    tokens_max: u64,
    /// The estimate of the content's tokens, computed on first use.
    estimates: OnceCell<ContentEstimate>,
}

#[derive(Debug)]
struct ContentEstimate {
    tokens: u64,
    /// The estimate of each long text, in the order of the content.
    long: Vec<(TextSpan, Estimate)>,
}

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

    /// Estimates the tokens of the content; none when they are no more than `limit`. Long texts
    /// that the `previous` projection has too, and whose tokens were estimated then, aren't read
    /// again.
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

    /// Returns about how many bytes it takes: the bytes that came, and as long as it isn't rendered
    /// its slots.
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

    /// Returns the media descriptions of objects whose values aren't text, by key. The first object
    /// with a key counts.
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
