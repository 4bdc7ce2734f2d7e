//! How records lie in the log, and what damage looks like.
//!
//! A line that names the format, then records: `u32` length, `u32` checksum of the body, body. A body is
//! MessagePack: a [`Record`] of the core's, or a [`JournalMarker`] of the log's own.

use std::io;

use pipemux_core::saved::Record;
use serde::{Deserialize, Serialize};

use crate::limits::{DAMAGE_SEARCH_MAX, RECORD_MAX};

/// The first line.
pub const HEADER: &[u8] = b"pipemux state 1\n";
const RECORD_HEADER: usize = 8;

/// What the log says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMarker {
    /// The machine's start in which the log was partial. In the same one, what was written is there, synced
    /// or not.
    Boot(String),
    /// All that the log began with stands before this.
    #[serde(rename = "whole")]
    SnapshotEnd,
    /// The daemon ended in order, with everything synced.
    #[serde(rename = "ended")]
    CleanShutdown,
}

/// What a log holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The records before any damage, oldest first.
    pub records: Vec<Record>,
    /// Bytes before any damage.
    pub valid_length: usize,
    /// Records of a newer release: left out.
    pub unknown_records: usize,
    /// What ends the sound part before the file's end.
    pub damage: Option<Damage>,
    /// The machine's start in which it was partial.
    pub boot_id: Option<String>,
    /// True when all that it began with is there.
    pub snapshot_complete: bool,
    /// True when its daemon ended in order.
    pub clean_shutdown: bool,
}

/// Why the sound part of a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The last record was cut short: its writer was stopped in the middle, before anything followed from
    /// it.
    Truncated,
    /// What stands there is no record.
    Corrupt,
    /// It does not begin as a log does.
    NotAJournal,
}

/// Reads a log as far as it is sound.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    if !bytes.starts_with(HEADER) {
        parsed.damage = Some(Damage::NotAJournal);
        return parsed;
    }
    let mut at = HEADER.len();
    while at < bytes.len() {
        match read_record(bytes, at) {
            RecordRead::Body(body) => {
                parsed.add(body);
                at += RECORD_HEADER + body.len();
            }
            // A length that was changed may point past the end, too: then others stand behind it.
            RecordRead::PastEnd if !has_record_after(bytes, at) => {
                parsed.damage = Some(Damage::Truncated);
                break;
            }
            RecordRead::PastEnd | RecordRead::Invalid => {
                parsed.damage = Some(Damage::Corrupt);
                break;
            }
        }
    }
    parsed.valid_length = at;
    parsed
}

/// Appends a record.
///
/// # Errors
/// Longer than [`RECORD_MAX`].
pub fn encode<T: Serialize>(out: &mut Vec<u8>, record: &T) -> io::Result<()> {
    let start = out.len();
    out.extend([0; RECORD_HEADER]);
    let written = rmp_serde::encode::write_named(out, record).map_err(io::Error::other);
    let length = out.len() - start - RECORD_HEADER;
    if let Err(error) = written {
        out.truncate(start);
        return Err(error);
    }
    if length > RECORD_MAX {
        out.truncate(start);
        return Err(io::Error::other(format!("a record of {length} bytes is too long")));
    }
    let sum = crc32fast::hash(&out[start + RECORD_HEADER..]);
    out[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
    out[start + 4..start + RECORD_HEADER].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

/// A whole log that begins with these records.
///
/// # Errors
/// As [`encode`].
pub fn encode_journal(records: &[Record], boot: Option<&str>) -> io::Result<Vec<u8>> {
    let mut bytes = HEADER.to_vec();
    if let Some(boot) = boot {
        encode(&mut bytes, &JournalMarker::Boot(boot.to_owned()))?;
    }
    for record in records {
        encode(&mut bytes, record)?;
    }
    encode(&mut bytes, &JournalMarker::SnapshotEnd)?;
    Ok(bytes)
}

impl Parsed {
    fn add(&mut self, body: &[u8]) {
        self.clean_shutdown = false;
        if let Ok(record) = rmp_serde::from_slice(body) {
            return self.records.push(record);
        }
        match rmp_serde::from_slice(body) {
            Ok(JournalMarker::Boot(id)) => self.boot_id = Some(id),
            Ok(JournalMarker::SnapshotEnd) => self.snapshot_complete = true,
            Ok(JournalMarker::CleanShutdown) => self.clean_shutdown = true,
            Err(_) => self.unknown_records += 1,
        }
    }
}

enum RecordRead<'a> {
    Body(&'a [u8]),
    /// It would end behind the end.
    PastEnd,
    Invalid,
}

fn read_record(bytes: &[u8], at: usize) -> RecordRead<'_> {
    let Some(head) = bytes[at..].first_chunk::<RECORD_HEADER>() else { return RecordRead::PastEnd };
    let [a, b, c, d, sum @ ..] = *head;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    // An empty body has the sum 0: sectors of zeros, which a lost write leaves, would be records.
    if length == 0 || length > RECORD_MAX {
        return RecordRead::Invalid;
    }
    let start = at + RECORD_HEADER;
    match bytes.get(start..start + length) {
        None => RecordRead::PastEnd,
        Some(body) if crc32fast::hash(body) == u32::from_be_bytes(sum) => RecordRead::Body(body),
        Some(_) => RecordRead::Invalid,
    }
}

/// True when a record stands anywhere behind. It only says how much was lost: what stands behind damage is
/// not read as records, for an app's text may look like one.
fn has_record_after(bytes: &[u8], at: usize) -> bool {
    let mut summed = 0;
    for from in at + 1..bytes.len() {
        let Some(head) = bytes[from..].first_chunk::<{ RECORD_HEADER + 1 }>() else { return false };
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        // A record is a map of one entry, a mark that or its name.
        let opens = head[RECORD_HEADER] == 0x81 || head[RECORD_HEADER] & 0xe0 == 0xa0;
        if !opens || length > bytes.len() - from {
            continue;
        }
        if let RecordRead::Body(_) = read_record(bytes, from) {
            return true;
        }
        summed += length;
        if summed > DAMAGE_SEARCH_MAX {
            return true;
        }
    }
    false
}
