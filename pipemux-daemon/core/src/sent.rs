//! A window's content as its app sent it, kept small.

use std::cell::{OnceCell, RefCell};
use std::ops::Deref;

use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::projection::{LinkSlot, Piece, Projection};
use pipemux_proto::{decode, tokens};

use crate::limits::SLOTS_MAX;

/// What an app sent of a window. Until it is painted its slots are kept as they were read; then only the
/// bytes are, which take a fraction of their room, and are read once more where they are needed.
/// Derefs to the projection without nav and content: those are [`Sent::slots`].
#[derive(Debug)]
pub struct Sent {
    head: Projection,
    slots: RefCell<Option<Slots>>,
    body: Box<[u8]>,
    /// The most tokens that the content may take; how many it takes about, once that was asked.
    most: u64,
    tokens: OnceCell<u64>,
}

/// What is painted.
#[derive(Debug, Default)]
pub struct Slots {
    /// Links for the likely next moves.
    pub nav: Vec<LinkSlot>,
    /// The content.
    pub content: Vec<Piece>,
}

impl Sent {
    /// Reads what came.
    ///
    /// # Errors
    /// Not a projection, or one out of its bounds; in words.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let mut head = decode::<Projection>(body).map_err(|error| error.to_string())?;
        check(&head)?;
        // No byte costs more than two.
        let most = head.content.iter().map(|piece| written(piece).len() as u64 * 2 + 5).sum();
        let slots = RefCell::new(Some(taken(&mut head)));
        Ok(Self { head, slots, body: body.into(), most, tokens: OnceCell::new() })
    }

    /// About how many tokens the content takes, if those are more than `limit`.
    pub fn tokens_beyond(&self, limit: u64) -> Option<u64> {
        if self.most <= limit {
            return None;
        }
        let count = |slots: &Slots| slots.content.iter().map(estimate).sum();
        let tokens = *self.tokens.get_or_init(|| match self.slots.borrow().as_ref() {
            Some(slots) => count(slots),
            None => count(&self.read_again()),
        });
        (tokens > limit).then_some(tokens)
    }

    /// The slots, to be painted.
    pub fn slots(&self) -> Slots {
        self.slots.take().unwrap_or_else(|| self.read_again())
    }

    fn read_again(&self) -> Slots {
        // They could be read before.
        decode(&self.body).map(|mut projection| taken(&mut projection)).unwrap_or_default()
    }
}

impl Deref for Sent {
    type Target = Projection;

    fn deref(&self) -> &Projection {
        &self.head
    }
}

fn taken(projection: &mut Projection) -> Slots {
    let Projection { nav, content, .. } = projection;
    Slots { nav: std::mem::take(nav), content: std::mem::take(content) }
}

fn check(projection: &Projection) -> Result<(), String> {
    let slots = projection.content.len() + projection.nav.len() + projection.names.len();
    if slots > SLOTS_MAX {
        return Err(format!("{slots} slots, at most {SLOTS_MAX} are taken"));
    }
    let keys = projection.content.iter().filter_map(|piece| match piece {
        Piece::Object(object) => Some(&object.key),
        _ => None,
    });
    let names = projection.names.values().map(|object| &object.key);
    if let Some(key) = keys.chain(names).find(|key| key.is_empty() || key.len() > KEY_MAX) {
        let length = key.len();
        return Err(format!("a key of {length} bytes, 1 to {KEY_MAX} are taken"));
    }
    Ok(())
}

fn estimate(piece: &Piece) -> u64 {
    let anchor = if matches!(piece, Piece::Object(_) | Piece::Link(_)) { 5 } else { 0 };
    tokens::estimate(written(piece)) + anchor
}

/// What a piece shows.
fn written(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) => text,
        Piece::Code(code) => &code.text,
        Piece::Object(object) => &object.label,
        Piece::Link(link) => &link.label,
    }
}
