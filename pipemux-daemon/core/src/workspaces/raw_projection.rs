//! A window's content as its app sent it, kept as the bytes that came.

use std::cell::{OnceCell, RefCell};
use std::ops::Deref;

use bytes::Bytes;
use pipemux_proto::decode;
use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::projection::{
    CodeRef, LinkSlot, ObjectRef, PieceRef, Projection, ProjectionRef,
};
use pipemux_proto::tokens::{Estimate, estimate};

use crate::limits::SLOTS_MAX;

/// What an app sent of a window: the bytes that came, and until it is painted where its slots are in them;
/// after that they are read once more where they are needed. Derefs to the projection without nav and
/// content: those are [`RawProjection::slots`].
#[derive(Debug)]
pub struct RawProjection {
    head: Projection,
    slots: RefCell<Option<Slots>>,
    body: Bytes,
    /// The most tokens that the content may take; what it takes about, once that was asked.
    most: u64,
    costs: OnceCell<Costs>,
}

/// What is painted.
#[derive(Debug, Default)]
pub struct Slots {
    /// Links for the likely next moves.
    pub nav: Vec<LinkSlot>,
    content: Vec<StoredPiece>,
    /// Short texts, one behind the other: to copy them is less than to check the bytes once more.
    short: String,
}

/// A piece of the content; its text by where it stands.
#[derive(Debug)]
enum StoredPiece {
    Text(TextSpan),
    Object { key: TextSpan, rev: u64, ty: Option<TextSpan>, label: TextSpan },
    Link(Box<LinkSlot>),
    Code { lang: TextSpan, text: TextSpan, first: Option<u64> },
}

/// Where a text stands: in the bytes if it is long, among the short texts if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextSpan {
    start: u32,
    length: u32,
}

/// A piece of the content.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// Markdown.
    Text(&'a str),
    /// A thing.
    Object(ObjectRef<'a>),
    /// An action.
    Link(&'a LinkSlot),
    /// Exact text; what it costs behind a newline, where that is known.
    Code(CodeRef<'a>, Option<Estimate>),
}

/// The tokens of a content.
#[derive(Debug)]
struct Costs {
    tokens: u64,
    /// Of each long text, in their order.
    long: Vec<(TextSpan, Estimate)>,
}

/// Length of a text, in bytes, from which on it isn't copied, and it is kept what it costs.
const LONG: usize = 4096;

impl RawProjection {
    /// Reads what came.
    ///
    /// # Errors
    /// Not a projection, or one out of its bounds; in words.
    pub fn read(body: &Bytes) -> Result<Self, String> {
        let read = decode::<ProjectionRef<'_>>(body).map_err(|error| error.to_string())?;
        let (mut head, content) = read.split();
        let nav = std::mem::take(&mut head.nav);
        let slots = Slots::of(nav, content, body);
        check(&head, &slots)?;
        // No byte costs more than two.
        let most = slots.content.iter().map(|slot| u64::from(slot.length()) * 2 + 5).sum();
        let slots = RefCell::new(Some(slots));
        Ok(Self { head, slots, body: body.clone(), most, costs: OnceCell::new() })
    }

    /// About how many tokens the content takes, if those are more than `limit`. What is the same as in what
    /// was sent `before`, and counted then, isn't counted again.
    pub fn tokens_beyond(&self, limit: u64, before: Option<&Self>) -> Option<u64> {
        if self.most <= limit {
            return None;
        }
        let costs = self.costs.get_or_init(|| match self.slots.borrow().as_ref() {
            Some(slots) => self.count(slots, before),
            None => self.count(&self.read_again(), before),
        });
        (costs.tokens > limit).then_some(costs.tokens)
    }

    /// The slots, to be painted.
    pub fn slots(&self) -> Slots {
        self.slots.take().unwrap_or_else(|| self.read_again())
    }

    /// The content.
    pub fn pieces<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = Piece<'a>> {
        let long = self.costs.get().map(|costs| &costs.long[..]);
        slots.pieces(&self.body, long.unwrap_or_default())
    }

    fn count(&self, slots: &Slots, before: Option<&Self>) -> Costs {
        let mut known = before
            .and_then(|before| Some((before, before.costs.get()?)))
            .into_iter()
            .flat_map(|(before, costs)| costs.long.iter().map(|long| (&before.body, long)));
        let mut costs = Costs { tokens: 0, long: Vec::new() };
        for piece in slots.pieces(&self.body, &[]) {
            let text = piece.written();
            if matches!(piece, Piece::Object(_) | Piece::Link(_)) {
                costs.tokens += 5;
            }
            if text.len() < LONG {
                costs.tokens += estimate(text);
                continue;
            }
            let cost = match known.next() {
                Some((body, (place, cost))) => cost.after_edit(place.of(body, ""), text),
                None => Estimate::of_lines().after_edit("", text),
            };
            costs.tokens += cost.tokens();
            costs.long.push((TextSpan::in_bytes(text, &self.body), cost));
        }
        costs
    }

    fn read_again(&self) -> Slots {
        // They could be read before.
        let Ok(read) = decode::<ProjectionRef<'_>>(&self.body) else { return Slots::default() };
        let (head, content) = read.split();
        Slots::of(head.nav, content, &self.body)
    }
}

impl Deref for RawProjection {
    type Target = Projection;

    fn deref(&self) -> &Projection {
        &self.head
    }
}

impl Slots {
    fn of(nav: Vec<LinkSlot>, pieces: Vec<PieceRef<'_>>, body: &[u8]) -> Self {
        let mut short = String::new();
        let mut at = |text| TextSpan::of_text(text, body, &mut short);
        let slot = |piece| match piece {
            PieceRef::Text(text) => StoredPiece::Text(at(text)),
            PieceRef::Object(ObjectRef { key, rev, ty, label }) => {
                let key = at(key);
                let ty = ty.map(&mut at);
                StoredPiece::Object { key, rev, ty, label: at(label) }
            }
            PieceRef::Link(link) => StoredPiece::Link(Box::new(link)),
            PieceRef::Code(CodeRef { lang, text, first }) => {
                StoredPiece::Code { lang: at(lang), text: at(text), first }
            }
        };
        let content = pieces.into_iter().map(slot).collect();
        Self { nav, content, short }
    }

    fn pieces<'a>(
        &'a self,
        body: &'a [u8],
        long: &'a [(TextSpan, Estimate)],
    ) -> impl Iterator<Item = Piece<'a>> {
        let text = |place: TextSpan| place.of(body, &self.short);
        let cost = |wanted: TextSpan| {
            let same = |(place, _): &&(TextSpan, Estimate)| *place == wanted;
            long.iter().find(same).map(|(_, cost)| *cost)
        };
        self.content.iter().map(move |slot| match slot {
            StoredPiece::Text(plain) => Piece::Text(text(*plain)),
            StoredPiece::Object { key, rev, ty, label } => Piece::Object(ObjectRef {
                key: text(*key),
                rev: *rev,
                ty: ty.map(text),
                label: text(*label),
            }),
            StoredPiece::Link(link) => Piece::Link(link),
            StoredPiece::Code { lang, text: code, first } => {
                let read = CodeRef { lang: text(*lang), text: text(*code), first: *first };
                Piece::Code(read, if code.is_long() { cost(*code) } else { None })
            }
        })
    }
}

impl StoredPiece {
    /// How many bytes it shows.
    fn length(&self) -> u32 {
        match self {
            StoredPiece::Text(text) | StoredPiece::Code { text, .. } => text.length,
            StoredPiece::Object { label, .. } => label.length,
            StoredPiece::Link(link) => link.label.len() as u32,
        }
    }
}

impl TextSpan {
    fn of_text(text: &str, body: &[u8], short: &mut String) -> Self {
        if text.len() >= LONG {
            return Self::in_bytes(text, body);
        }
        let start = short.len() as u32;
        short.push_str(text);
        Self { start, length: text.len() as u32 }
    }

    /// Of a text that was read from these bytes, of which a frame holds few enough.
    fn in_bytes(text: &str, body: &[u8]) -> Self {
        let start = text.as_ptr().addr().saturating_sub(body.as_ptr().addr());
        Self { start: start as u32, length: text.len() as u32 }
    }

    fn is_long(self) -> bool {
        self.length as usize >= LONG
    }

    fn of<'a>(self, body: &'a [u8], short: &'a str) -> &'a str {
        let range = self.start as usize..self.start as usize + self.length as usize;
        if self.is_long() {
            // It was text when it was read.
            std::str::from_utf8(body.get(range).unwrap_or_default()).unwrap_or_default()
        } else {
            short.get(range).unwrap_or_default()
        }
    }
}

impl<'a> Piece<'a> {
    /// What it shows.
    fn written(&self) -> &'a str {
        match self {
            Piece::Text(text) => text,
            Piece::Code(code, _) => code.text,
            Piece::Object(object) => object.label,
            Piece::Link(link) => &link.label,
        }
    }
}

fn check(head: &Projection, slots: &Slots) -> Result<(), String> {
    let count = slots.content.len() + slots.nav.len() + head.names.len();
    if count > SLOTS_MAX {
        return Err(format!("{count} slots, at most {SLOTS_MAX} are taken"));
    }
    let keys = slots.content.iter().filter_map(|slot| match slot {
        StoredPiece::Object { key, .. } => Some(key.length as usize),
        _ => None,
    });
    let names = head.names.values().map(|object| object.key.len());
    if let Some(length) = keys.chain(names).find(|length| !(1..=KEY_MAX).contains(length)) {
        return Err(format!("a key of {length} bytes, 1 to {KEY_MAX} are taken"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::projection::{Code, Piece as Owned};
    use proptest::prelude::*;

    fn sent(texts: &[String]) -> RawProjection {
        let code = |text: &String| {
            Owned::Code(Code { lang: String::new(), text: text.clone(), first: None })
        };
        let content = texts.iter().map(code).collect();
        let whole = Projection { content, ..Projection::default() };
        RawProjection::read(&pipemux_proto::encode(&whole).unwrap().into()).unwrap()
    }

    proptest! {
        #[test]
        fn what_was_counted_before_changes_no_count(
            before in proptest::collection::vec(("[a中.\n ]{1,30}", 1_usize..900), 0..4),
            after in proptest::collection::vec(("[a中.\n ]{1,30}", 1_usize..900), 0..4),
            keep in 0_usize..4,
        ) {
            let texts = |all: Vec<(String, usize)>| -> Vec<String> {
                all.into_iter().map(|(text, times)| text.repeat(times)).collect()
            };
            let (before, mut after) = (texts(before), texts(after));
            for (old, new) in before.iter().zip(&mut after).take(keep) {
                *new = old.replacen("中", "b\n", 1);
            }
            let (old, new) = (sent(&before), sent(&after));
            old.tokens_beyond(0, None);
            prop_assert_eq!(new.tokens_beyond(0, Some(&old)), sent(&after).tokens_beyond(0, None));
            drop(new.slots());
            prop_assert_eq!(new.read_again().content.len(), after.len());
        }
    }
}
