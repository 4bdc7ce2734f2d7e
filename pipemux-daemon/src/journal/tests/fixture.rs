//! A journal that is checked in: what this format holds must stay readable in all later versions.
//!
//! The fixture was written by the real writer ([`write_fixture`]) and must never be changed. A new
//! version of the format gets a fixture of its own.

use super::*;

/// A journal of format 1, with three initial records, two appended ones, and a clean shutdown.
const FIXTURE: &[u8] = include_bytes!("fixtures/state-1.log");
const BOOT_ID: &str = "0f0e0d0c-0b0a-4908-8706-050403020100";

#[test]
fn checked_in_journal_is_readable() {
    let parsed = parse(FIXTURE);
    assert_eq!(parsed.records, records(5));
    assert_eq!(parsed.damage, None);
    assert_eq!((parsed.valid_length, parsed.unknown_records), (FIXTURE.len(), 0));
    assert_eq!(parsed.boot_id.as_deref(), Some(BOOT_ID));
    assert!(parsed.snapshot_complete && parsed.clean_shutdown);
}

#[test]
fn checked_in_journal_loads_and_continues_without_loss() {
    let (directory, path) = temp_journal();
    fs::write(&path, FIXTURE).unwrap();
    let loaded = load(&path);
    assert_eq!(loaded.records, records(5));
    assert_eq!((&loaded.problems[..], &loaded.loss), (&[][..], &None));
    assert!(loaded.clean_shutdown);
    assert_eq!(check(&path).unwrap(), None);
    let mut journal = Journal::create(&path, &loaded.records).unwrap();
    append(&mut journal, &record(5)).unwrap();
    assert_eq!(load_undamaged(&path), records(6));
    assert_eq!(file_names(directory.path()), ["state.log"]);
}

#[test]
fn checked_in_journal_has_the_documented_framing() {
    // Read by hand, independently of the parser.
    let mut rest = FIXTURE.strip_prefix(b"pipemux state 1\n").unwrap();
    let mut bodies = Vec::new();
    while !rest.is_empty() {
        let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
        let (length, checksum) = (number(0) as usize, number(4));
        let body = &rest[8..8 + length];
        assert_eq!(crc32_bit_by_bit(body), checksum);
        bodies.push(body);
        rest = &rest[8 + length..];
    }
    let boot = [&b"\x81\xa4boot\xd9\x24"[..], BOOT_ID.as_bytes()].concat();
    assert_eq!(bodies[0], boot);
    assert_eq!(bodies[4], b"\xa5whole");
    assert_eq!(bodies[7], b"\xa5ended");
    assert_eq!(bodies.len(), 8);
    // The writer still uses the same framing and markers.
    let mut written = format::HEADER.to_vec();
    format::encode(&mut written, &JournalMarker::Boot(BOOT_ID.to_owned())).unwrap();
    assert!(FIXTURE.starts_with(&written));
    let mut written = Vec::new();
    format::encode(&mut written, &JournalMarker::CleanShutdown).unwrap();
    assert!(FIXTURE.ends_with(&written));
}

#[test]
fn checksum_has_the_published_check_value() {
    assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32_bit_by_bit(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32fast::hash(b""), 0);
}

/// CRC-32/ISO-HDLC by its definition.
fn crc32_bit_by_bit(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 }
        })
    })
}

/// Writes the fixture of the present format, where there is none yet.
#[test]
#[ignore = "writes the fixture of a new format"]
fn write_fixture() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/journal/tests/fixtures/state-1.log");
    assert!(!path.exists(), "a fixture is never changed");
    let initial = format::encode_journal(&records(3), Some(BOOT_ID), 1).unwrap();
    let mut file = JournalFile::create(&path, &initial).unwrap();
    let mut appended = Vec::new();
    format::encode(&mut appended, &record(3)).unwrap();
    format::encode(&mut appended, &record(4)).unwrap();
    format::encode(&mut appended, &JournalMarker::CleanShutdown).unwrap();
    file.append(&appended).unwrap();
}
