//! The encoding of the journal, and how damage is recognised.
//!
//! A line names the format. Records follow: a `u32` length, a `u32` CRC-32 (ISO-HDLC) of the body,
//! and the body, both numbers big-endian. A body is MessagePack: a [`Record`] of the core, or a
//! [`JournalMarker`] of the journal itself.

use std::io;

use pipemux_core::saved::Record;
use serde::{Deserialize, Serialize};

use crate::limits::{DAMAGE_SEARCH_MAX, RECORD_MAX};

pub const HEADER: &[u8] = b"pipemux state 1\n";
const RECORD_HEADER: usize = 8;

/// A statement of the journal about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMarker {
    /// The boot of the machine in which the journal was created. Within the same boot, everything
    /// that was written is there, synced or not.
    Boot(String),
    /// The number of this journal in the sequence of journals that replaced each other.
    Generation(u64),
    /// Follows the records that the journal was created with.
    #[serde(rename = "whole")]
    SnapshotEnd,
    /// The daemon stopped properly, with everything synced.
    #[serde(rename = "ended")]
    CleanShutdown,
}

/// The content of a journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The records before any damage, oldest first.
    pub records: Vec<Record>,
    /// The length of the undamaged part, in bytes.
    pub valid_length: usize,
    /// The number of skipped records of a newer release.
    pub unknown_records: usize,
    /// The damage that ends the valid part before the end of the file.
    pub damage: Option<Damage>,
    /// The boot of the machine in which the journal was created.
    pub boot_id: Option<String>,
    /// The number in the sequence of journals; `None` in those of earlier releases.
    pub generation: Option<u64>,
    /// True when all records that the journal was created with are there.
    pub snapshot_complete: bool,
    /// True when its daemon stopped in order.
    pub clean_shutdown: bool,
}

/// The reason why the undamaged part of a journal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// The last record is incomplete: its writer was stopped in the middle, before anything
    /// followed from the record.
    Truncated,
    /// The bytes aren't a valid record.
    Corrupt,
    /// The file doesn't begin with a journal's header.
    NotAJournal,
}

/// Parses a journal up to the first damage.
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
            // A changed length may also point past the end; then complete records follow.
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

/// Appends an encoded record to `out`.
///
/// # Errors
/// The record is longer than [`RECORD_MAX`].
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

/// Encodes a journal that begins with these records.
///
/// # Errors
/// As [`encode`].
pub fn encode_journal(
    records: &[Record],
    boot_id: Option<&str>,
    generation: u64,
) -> io::Result<Vec<u8>> {
    let mut bytes = HEADER.to_vec();
    encode(&mut bytes, &JournalMarker::Generation(generation))?;
    if let Some(boot_id) = boot_id {
        encode(&mut bytes, &JournalMarker::Boot(boot_id.to_owned()))?;
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
            Ok(JournalMarker::Generation(number)) => self.generation = Some(number),
            Ok(JournalMarker::SnapshotEnd) => self.snapshot_complete = true,
            Ok(JournalMarker::CleanShutdown) => self.clean_shutdown = true,
            Err(_) => self.unknown_records += 1,
        }
    }
}

enum RecordRead<'a> {
    Body(&'a [u8]),
    /// The record would end past the end of the file.
    PastEnd,
    Invalid,
}

fn read_record(bytes: &[u8], at: usize) -> RecordRead<'_> {
    let Some(head) = bytes[at..].first_chunk::<RECORD_HEADER>() else { return RecordRead::PastEnd };
    let [a, b, c, d, sum @ ..] = *head;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    // An empty body has the checksum 0, so the zeros that a lost write leaves would count as
    // records.
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

/// True when a complete record follows somewhere after `at`. This only decides how the loss is
/// described: what follows damage is never read as records, because an app's text may look like
/// one.
fn has_record_after(bytes: &[u8], at: usize) -> bool {
    let mut summed = 0;
    for from in at + 1..bytes.len() {
        let Some(head) = bytes[from..].first_chunk::<{ RECORD_HEADER + 1 }>() else { return false };
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        // A record is a map with one entry; a marker is that or a string.
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
