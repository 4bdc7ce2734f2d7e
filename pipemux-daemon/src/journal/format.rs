//! How records lie in the log, and what damage looks like.
//!
//! A line that names the format, then records: `u32` length, `u32` checksum of the body, body. A body is
//! MessagePack: a [`Record`] of the core's, or a [`Mark`] of the log's own.

use std::io;

use pipemux_core::saved::Record;
use serde::{Deserialize, Serialize};

use crate::checksum::crc32;
use crate::limits::{RECORD_MAX, SEARCH_MAX};

/// The first line.
pub const FORMAT: &[u8] = b"pipemux state 1\n";
const HEAD: usize = 8;

/// What the log says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The machine's start in which the log was begun. In the same one, what was written is there, synced
    /// or not.
    Boot(String),
    /// All that the log began with stands before this.
    Whole,
    /// The daemon ended in order, with everything synced.
    Ended,
}

/// What a log holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The records before any damage, oldest first.
    pub records: Vec<Record>,
    /// Bytes before any damage.
    pub sound: usize,
    /// Records of a newer release: left out.
    pub unknown: usize,
    /// What ends the sound part before the file's end.
    pub damage: Option<Damage>,
    /// The machine's start in which it was begun.
    pub boot: Option<String>,
    /// True when all that it began with is there.
    pub whole: bool,
    /// True when its daemon ended in order.
    pub ended: bool,
}

/// Why the sound part of a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The last record was cut short: its writer was stopped in the middle, before anything followed from
    /// it.
    CutShort,
    /// What stands there is no record.
    Corrupt,
    /// It does not begin as a log does.
    NotOurs,
}

/// Reads a log as far as it is sound.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    if !bytes.starts_with(FORMAT) {
        parsed.damage = Some(Damage::NotOurs);
        return parsed;
    }
    let mut at = FORMAT.len();
    while at < bytes.len() {
        match record_at(bytes, at) {
            Found::Body(body) => {
                parsed.take(body);
                at += HEAD + body.len();
            }
            // A length that was changed may point past the end, too: then others stand behind it.
            Found::PastEnd if !any_behind(bytes, at) => {
                parsed.damage = Some(Damage::CutShort);
                break;
            }
            Found::PastEnd | Found::Nothing => {
                parsed.damage = Some(Damage::Corrupt);
                break;
            }
        }
    }
    parsed.sound = at;
    parsed
}

/// Appends a record.
///
/// # Errors
/// Longer than [`RECORD_MAX`].
pub fn encode<T: Serialize>(out: &mut Vec<u8>, record: &T) -> io::Result<()> {
    let start = out.len();
    out.extend([0; HEAD]);
    let written = rmp_serde::encode::write_named(out, record).map_err(io::Error::other);
    let length = out.len() - start - HEAD;
    if let Err(error) = written {
        out.truncate(start);
        return Err(error);
    }
    if length > RECORD_MAX {
        out.truncate(start);
        return Err(io::Error::other(format!("a record of {length} bytes is too long")));
    }
    let sum = crc32(&out[start + HEAD..]);
    out[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
    out[start + 4..start + HEAD].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

/// A whole log that begins with these records.
///
/// # Errors
/// As [`encode`].
pub fn begin(records: &[Record], boot: Option<&str>) -> io::Result<Vec<u8>> {
    let mut bytes = FORMAT.to_vec();
    if let Some(boot) = boot {
        encode(&mut bytes, &Mark::Boot(boot.to_owned()))?;
    }
    for record in records {
        encode(&mut bytes, record)?;
    }
    encode(&mut bytes, &Mark::Whole)?;
    Ok(bytes)
}

impl Parsed {
    fn take(&mut self, body: &[u8]) {
        self.ended = false;
        if let Ok(record) = rmp_serde::from_slice(body) {
            return self.records.push(record);
        }
        match rmp_serde::from_slice(body) {
            Ok(Mark::Boot(id)) => self.boot = Some(id),
            Ok(Mark::Whole) => self.whole = true,
            Ok(Mark::Ended) => self.ended = true,
            Err(_) => self.unknown += 1,
        }
    }
}

enum Found<'a> {
    Body(&'a [u8]),
    /// It would end behind the end.
    PastEnd,
    Nothing,
}

fn record_at(bytes: &[u8], at: usize) -> Found<'_> {
    let Some(head) = bytes[at..].first_chunk::<HEAD>() else { return Found::PastEnd };
    let [a, b, c, d, sum @ ..] = *head;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    // An empty body has the sum 0: sectors of zeros, which a lost write leaves, would be records.
    if length == 0 || length > RECORD_MAX {
        return Found::Nothing;
    }
    let start = at + HEAD;
    match bytes.get(start..start + length) {
        None => Found::PastEnd,
        Some(body) if crc32(body) == u32::from_be_bytes(sum) => Found::Body(body),
        Some(_) => Found::Nothing,
    }
}

/// True when a record stands anywhere behind. It only says how much was lost: what stands behind damage is
/// not read as records, for an app's text may look like one.
fn any_behind(bytes: &[u8], at: usize) -> bool {
    let mut summed = 0;
    for from in at + 1..bytes.len() {
        let Some(head) = bytes[from..].first_chunk::<{ HEAD + 1 }>() else { return false };
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        // A record is a map of one entry, a mark that or its name.
        let opens = head[HEAD] == 0x81 || head[HEAD] & 0xe0 == 0xa0;
        if !opens || length > bytes.len() - from {
            continue;
        }
        if let Found::Body(_) = record_at(bytes, from) {
            return true;
        }
        summed += length;
        if summed > SEARCH_MAX {
            return true;
        }
    }
    false
}
