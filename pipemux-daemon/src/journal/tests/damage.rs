//! Damaged journals.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::limits::BAD_MAX;

/// Returns a journal and the positions where its records end.
fn journal_bytes(first: u64, count: u64) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = format::HEADER.to_vec();
    let mut ends = Vec::new();
    for number in 0..count {
        if number == first {
            format::encode(&mut bytes, &JournalMarker::SnapshotEnd).unwrap();
        }
        format::encode(&mut bytes, &record(number)).unwrap();
        ends.push(bytes.len());
    }
    (bytes, ends)
}

/// A kind of damage.
#[derive(Debug, Clone)]
enum Corruption {
    Flip(Index, u8),
    Garbage(Index, Vec<u8>),
    Zeros(Index, usize),
    Cut(Index),
    Inserted(Index, Vec<u8>),
    Repeated(Index, Index),
    /// Sectors of 512 bytes, from a byte on, that never reached the disk.
    LostSectors(Index, Vec<bool>),
    Extended(Vec<u8>),
}

impl Corruption {
    fn apply(&self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        if whole.is_empty() {
            return bytes;
        }
        match self {
            Corruption::Flip(at, bit) => bytes[at.index(whole.len())] ^= 1 << (bit % 8),
            Corruption::Garbage(at, garbage) => {
                let at = at.index(whole.len());
                for (byte, garbage) in bytes[at..].iter_mut().zip(garbage) {
                    *byte = *garbage;
                }
            }
            Corruption::Zeros(at, length) => {
                let at = at.index(whole.len());
                bytes[at..].iter_mut().take(*length).for_each(|byte| *byte = 0);
            }
            Corruption::Cut(at) => bytes.truncate(at.index(whole.len() + 1)),
            Corruption::Inserted(at, garbage) => {
                let at = at.index(whole.len() + 1);
                bytes.splice(at..at, garbage.iter().copied());
            }
            Corruption::Repeated(from, to) => {
                let (from, to) = (from.index(whole.len()), to.index(whole.len()));
                let part = whole[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from.max(to)..from.max(to), part);
            }
            Corruption::LostSectors(from, lost) => {
                let first = from.index(whole.len()).div_ceil(512);
                for (sector, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
                    let start = (first + sector) * 512;
                    let end = (start + 512).min(whole.len());
                    bytes.get_mut(start..end).into_iter().flatten().for_each(|byte| *byte = 0);
                }
            }
            Corruption::Extended(garbage) => bytes.extend(garbage),
        }
        bytes
    }
}

fn corruption() -> impl Strategy<Value = Corruption> {
    let at = any::<Index>;
    let bytes = || prop::collection::vec(any::<u8>(), 1..40);
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, bit)| Corruption::Flip(at, bit)),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Corruption::Garbage(at, bytes)),
        1 => (at(), 1..600usize).prop_map(|(at, length)| Corruption::Zeros(at, length)),
        2 => at().prop_map(Corruption::Cut),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Corruption::Inserted(at, bytes)),
        1 => (at(), at()).prop_map(|(from, to)| Corruption::Repeated(from, to)),
        3 => (at(), prop::collection::vec(any::<bool>(), 1..8))
            .prop_map(|(at, lost)| Corruption::LostSectors(at, lost)),
        1 => bytes().prop_map(Corruption::Extended),
    ]
}

/// Generates a damaged journal, the records that it may contain, and how many end before the first
/// changed byte.
fn damaged() -> impl Strategy<Value = (Vec<u8>, Vec<Record>, usize)> {
    let corruptions = prop::collection::vec(corruption(), 1..3);
    (1..60u64, 0..60u64, corruptions).prop_map(|(count, first, corruptions)| {
        let (whole, ends) = journal_bytes(first, count);
        let bytes =
            corruptions.iter().fold(whole.clone(), |bytes, corruption| corruption.apply(&bytes));
        let same = whole.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
        let intact = ends.iter().filter(|end| **end <= same).count();
        // A part that stands there repeated may contain complete records again.
        let repeated =
            corruptions.iter().any(|corruption| matches!(corruption, Corruption::Repeated(..)));
        let allowed =
            if repeated { [records(count), records(count)].concat() } else { records(count) };
        (bytes, allowed, intact)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..Default::default() })]

    /// Every record before the first changed byte is read, and none that was never written.
    #[test]
    fn damage_costs_only_the_records_behind_it((bytes, records, intact) in damaged()) {
        let parsed = parse(&bytes);
        let read = parsed.records.len();
        prop_assert!(intact <= read, "{read} of {intact}");
        prop_assert_eq!(&parsed.records[..intact], &records[..intact]);
        prop_assert!(parsed.records.iter().all(|record| records.contains(record)));
        prop_assert_eq!(parsed.damage.is_none(), parsed.valid_length == bytes.len() && !bytes.is_empty());
        prop_assert!(parsed.valid_length == 0 || parse(&bytes[..parsed.valid_length]).damage.is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    /// Damage is reported, and the journal continues with what could be read.
    #[test]
    fn journal_continues_after_damage((bytes, _, _) in damaged()) {
        let (_directory, path) = temp_journal();
        fs::write(&path, &bytes).unwrap();
        let parsed = parse(&bytes);
        let loaded = load_with_boot_id(&path, Some("this"));
        prop_assert_eq!(&loaded.records, &parsed.records);
        prop_assert_eq!(loaded.problems.is_empty(), parsed.damage.is_none());
        // The boot is unknown, so numbers leap.
        let lost_bytes = (bytes.len() - parsed.valid_length) as u64;
        prop_assert!(loaded.loss.is_some_and(|loss| loss.bytes >= lost_bytes));

        let mut journal = Journal::create(&path, &loaded.records).unwrap();
        append(&mut journal, &record(7)).unwrap();
        let expected: Vec<Record> = parsed.records.into_iter().chain([record(7)]).collect();
        prop_assert_eq!(load_undamaged(&path), expected);
    }
}

#[test]
fn truncation_at_any_byte_costs_only_the_last_record() {
    let (directory, path) = temp_journal();
    let boot = Some("this".to_owned());
    let mut whole = format::encode_journal(&records(4), boot.as_deref(), 1).unwrap();
    let start = whole.len();
    format::encode(&mut whole, &record(4)).unwrap();
    for end in start..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let loaded = load_with_boot_id(&path, boot.as_deref());
        assert_eq!(loaded.records, records(4), "cut at {end}");
        assert_eq!(loaded.problems.len(), usize::from(end > start), "cut at {end}");
        // No record that anything followed from is missing, so readers get no notice.
        assert_eq!(loaded.loss.and_then(|loss| loss.told), None, "cut at {end}");
    }
    assert_eq!(file_names(directory.path()), ["state.log"]);
}

#[test]
fn changed_length_is_damage_rather_than_truncation() {
    let (directory, path) = temp_journal();
    let (mut bytes, ends) = journal_bytes(0, 9);
    // This length points past the end, like that of a truncated record.
    bytes[ends[3] + 1] = 0x7f;
    fs::write(&path, &bytes).unwrap();
    let loaded = load(&path);
    assert_eq!(loaded.records, records(4));
    assert!(loaded.loss.unwrap().told.unwrap().contains("state.log.bad-1"));
    assert_eq!(file_names(directory.path()), ["state.log", "state.log.bad-1"]);
    assert_eq!(fs::read(directory.path().join("state.log.bad-1")).unwrap(), bytes);
}

#[test]
fn zeros_are_damage() {
    let (bytes, _) = journal_bytes(0, 3);
    let parsed = parse(&[&bytes[..], &[0; 4096]].concat());
    assert_eq!((parsed.records, parsed.damage), (records(3), Some(Damage::Corrupt)));
    assert_eq!((parsed.unknown_records, parsed.valid_length), (0, bytes.len()));
}

#[test]
fn foreign_files_are_set_aside_and_their_number_is_limited() {
    let (directory, path) = temp_journal();
    let kinds: [&[u8]; 4] =
        [b"precious, but of another program\n", b"", b"pipemux st", b"pipemux state 2\n\x00"];
    for round in 0..BAD_MAX as usize + 3 {
        fs::write(&path, kinds[round % kinds.len()]).unwrap();
        let loaded = load(&path);
        assert_eq!(loaded.records, []);
        assert!(loaded.problems[0].contains("state.log.bad-"), "{:?}", loaded.problems);
        let loss = loaded.loss.unwrap();
        assert!(loss.workspaces && loss.told.is_some());
        drop(Journal::create(&path, &[]).unwrap());
    }
    assert_eq!(file_names(directory.path()).len(), 1 + BAD_MAX as usize);
}

#[test]
fn directory_in_place_of_the_journal_is_moved_away() {
    let (directory, path) = temp_journal();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "x").unwrap();
    let loaded = load(&path);
    assert!(loaded.problems[0].contains("can't be read"), "{:?}", loaded.problems);
    assert!(loaded.loss.unwrap().workspaces);
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    append(&mut journal, &record(1)).unwrap();
    assert_eq!(load_undamaged(&path), records(2));
    assert!(directory.path().join("state.log.bad-1/inside").exists());
}

#[test]
fn unknown_record_is_skipped_and_the_file_set_aside() {
    let (directory, path) = temp_journal();
    let (mut bytes, _) = journal_bytes(0, 2);
    format::encode(&mut bytes, &("hologram", 1)).unwrap();
    format::encode(&mut bytes, &record(2)).unwrap();
    fs::write(&path, bytes).unwrap();
    let loaded = load(&path);
    assert_eq!(loaded.records, records(3));
    assert!(loaded.problems[0].contains("newer release"), "{:?}", loaded.problems);
    assert_eq!(file_names(directory.path()), ["state.log", "state.log.bad-1"]);
}

#[test]
fn numbers_leap_only_after_power_loss() {
    let (_directory, path) = temp_journal();
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    append(&mut journal, &record(1)).unwrap();
    if cfg!(target_os = "linux") {
        let here = Some(current_boot_id().unwrap());
        assert_eq!(
            load_with_boot_id(&path, here.as_deref()).loss,
            None,
            "the same start of the machine"
        );
    }
    let loss = load_with_boot_id(&path, Some("another")).loss.unwrap();
    let high_water = mark::read(&path).map(|mark| mark.high_water);
    assert!(high_water.is_some());
    let acts_to = loss.acts_to;
    assert!(acts_to.is_some());
    let (told, bytes, workspaces) = (None, UNSYNCED_MAX, false);
    assert_eq!(loss, Loss { told, bytes, workspaces, acts_to, high_water });
    drop(journal);
    assert_eq!(load_with_boot_id(&path, Some("another")).loss, None, "an ordered end");
}
