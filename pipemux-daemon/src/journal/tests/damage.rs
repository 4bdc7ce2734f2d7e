//! What becomes of a log that was damaged in any way.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::limits::BAD_MAX;

/// A log and where each of its records ends.
fn log(first: u64, count: u64) -> (Vec<u8>, Vec<usize>) {
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

/// Something that happens to a file.
#[derive(Debug, Clone)]
enum Fate {
    Flip(Index, u8),
    Garbage(Index, Vec<u8>),
    Zeros(Index, usize),
    Cut(Index),
    Inserted(Index, Vec<u8>),
    Twice(Index, Index),
    /// From a byte on, sectors of 512 bytes that never reached the disk.
    LostSectors(Index, Vec<bool>),
    Longer(Vec<u8>),
}

impl Fate {
    fn befall(&self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        if whole.is_empty() {
            return bytes;
        }
        match self {
            Fate::Flip(at, bit) => bytes[at.index(whole.len())] ^= 1 << (bit % 8),
            Fate::Garbage(at, garbage) => {
                let at = at.index(whole.len());
                for (byte, garbage) in bytes[at..].iter_mut().zip(garbage) {
                    *byte = *garbage;
                }
            }
            Fate::Zeros(at, length) => {
                let at = at.index(whole.len());
                bytes[at..].iter_mut().take(*length).for_each(|byte| *byte = 0);
            }
            Fate::Cut(at) => bytes.truncate(at.index(whole.len() + 1)),
            Fate::Inserted(at, garbage) => {
                let at = at.index(whole.len() + 1);
                bytes.splice(at..at, garbage.iter().copied());
            }
            Fate::Twice(from, to) => {
                let (from, to) = (from.index(whole.len()), to.index(whole.len()));
                let part = whole[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from.max(to)..from.max(to), part);
            }
            Fate::LostSectors(from, lost) => {
                let first = from.index(whole.len()).div_ceil(512);
                for (sector, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
                    let start = (first + sector) * 512;
                    let end = (start + 512).min(whole.len());
                    bytes.get_mut(start..end).into_iter().flatten().for_each(|byte| *byte = 0);
                }
            }
            Fate::Longer(garbage) => bytes.extend(garbage),
        }
        bytes
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    let at = any::<Index>;
    let bytes = || prop::collection::vec(any::<u8>(), 1..40);
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, bit)| Fate::Flip(at, bit)),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Fate::Garbage(at, bytes)),
        1 => (at(), 1..600usize).prop_map(|(at, length)| Fate::Zeros(at, length)),
        2 => at().prop_map(Fate::Cut),
        1 => (at(), bytes()).prop_map(|(at, bytes)| Fate::Inserted(at, bytes)),
        1 => (at(), at()).prop_map(|(from, to)| Fate::Twice(from, to)),
        3 => (at(), prop::collection::vec(any::<bool>(), 1..8))
            .prop_map(|(at, lost)| Fate::LostSectors(at, lost)),
        1 => bytes().prop_map(Fate::Longer),
    ]
}

/// A log that something happened to, its records, and how many end before the first changed byte.
fn damaged() -> impl Strategy<Value = (Vec<u8>, Vec<Record>, usize)> {
    let fates = prop::collection::vec(fate(), 1..3);
    (1..60u64, 0..60u64, fates).prop_map(|(count, first, fates)| {
        let (whole, ends) = log(first, count);
        let bytes = fates.iter().fold(whole.clone(), |bytes, fate| fate.befall(&bytes));
        let same = whole.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
        let safe = ends.iter().filter(|end| **end <= same).count();
        // A part that stands there twice may be whole records once more.
        let twice = fates.iter().any(|fate| matches!(fate, Fate::Twice(..)));
        let allowed =
            if twice { [records(count), records(count)].concat() } else { records(count) };
        (bytes, allowed, safe)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..Default::default() })]

    /// What stands before the first changed byte is read, and nothing that was never written.
    #[test]
    fn damage_costs_only_what_stands_behind_it((bytes, records, safe) in damaged()) {
        let parsed = parse(&bytes);
        let read = parsed.records.len();
        prop_assert!(safe <= read, "{read} of {safe}");
        prop_assert_eq!(&parsed.records[..safe], &records[..safe]);
        prop_assert!(parsed.records.iter().all(|record| records.contains(record)));
        prop_assert_eq!(parsed.damage.is_none(), parsed.valid_length == bytes.len() && !bytes.is_empty());
        prop_assert!(parsed.valid_length == 0 || parse(&bytes[..parsed.valid_length]).damage.is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    /// A damaged log is told, and goes on with what could be read.
    #[test]
    fn what_comes_after_damage_is_read_again((bytes, _, _) in damaged()) {
        let (_directory, path) = in_directory();
        fs::write(&path, &bytes).unwrap();
        let parsed = parse(&bytes);
        let loaded = load_with_boot_id(&path, Some("this"));
        prop_assert_eq!(&loaded.records, &parsed.records);
        prop_assert_eq!(loaded.problems.is_empty(), parsed.damage.is_none());
        // Nobody says that the machine is still the same: numbers leap.
        let gone = (bytes.len() - parsed.valid_length) as u64;
        prop_assert!(loaded.loss.is_some_and(|loss| loss.bytes >= gone));

        let mut journal = Journal::create(&path, &loaded.records).unwrap();
        append(&mut journal, &record(7)).unwrap();
        let expected: Vec<Record> = parsed.records.into_iter().chain([record(7)]).collect();
        prop_assert_eq!(sound(&path), expected);
    }
}

#[test]
fn a_tail_torn_at_any_byte_costs_only_the_last_record() {
    let (directory, path) = in_directory();
    let boot = Some("this".to_owned());
    let mut whole = format::encode_journal(&records(4), boot.as_deref()).unwrap();
    let start = whole.len();
    format::encode(&mut whole, &record(4)).unwrap();
    for end in start..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let loaded = load_with_boot_id(&path, boot.as_deref());
        assert_eq!(loaded.records, records(4), "cut at {end}");
        assert_eq!(loaded.problems.len(), usize::from(end > start), "cut at {end}");
        // Nothing that was answered is missing, so nobody is told.
        assert_eq!(loaded.loss.and_then(|loss| loss.told), None, "cut at {end}");
    }
    assert_eq!(names(directory.path()), ["state.log"]);
}

#[test]
fn a_length_that_was_changed_is_no_torn_tail() {
    let (directory, path) = in_directory();
    let (mut bytes, ends) = log(0, 9);
    // It points past the end, as that of a record that was cut short does.
    bytes[ends[3] + 1] = 0x7f;
    fs::write(&path, &bytes).unwrap();
    let loaded = load(&path);
    assert_eq!(loaded.records, records(4));
    assert!(loaded.loss.unwrap().told.unwrap().contains("state.log.bad-1"));
    assert_eq!(names(directory.path()), ["state.log", "state.log.bad-1"]);
    assert_eq!(fs::read(directory.path().join("state.log.bad-1")).unwrap(), bytes);
}

#[test]
fn zeros_are_no_records() {
    let (bytes, _) = log(0, 3);
    let parsed = parse(&[&bytes[..], &[0; 4096]].concat());
    assert_eq!((parsed.records, parsed.damage), (records(3), Some(Damage::Corrupt)));
    assert_eq!((parsed.unknown_records, parsed.valid_length), (0, bytes.len()));
}

#[test]
fn what_is_no_log_is_set_aside_and_told_and_few_are_kept() {
    let (directory, path) = in_directory();
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
    assert_eq!(names(directory.path()).len(), 1 + BAD_MAX as usize);
}

#[test]
fn a_directory_in_its_place_is_moved_away() {
    let (directory, path) = in_directory();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "x").unwrap();
    let loaded = load(&path);
    assert!(loaded.problems[0].contains("can't be read"), "{:?}", loaded.problems);
    assert!(loaded.loss.unwrap().workspaces);
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    append(&mut journal, &record(1)).unwrap();
    assert_eq!(sound(&path), records(2));
    assert!(directory.path().join("state.log.bad-1/inside").exists());
}

#[test]
fn a_record_of_a_newer_release_is_left_out_and_the_file_kept() {
    let (directory, path) = in_directory();
    let (mut bytes, _) = log(0, 2);
    format::encode(&mut bytes, &("hologram", 1)).unwrap();
    format::encode(&mut bytes, &record(2)).unwrap();
    fs::write(&path, bytes).unwrap();
    let loaded = load(&path);
    assert_eq!(loaded.records, records(3));
    assert!(loaded.problems[0].contains("newer release"), "{:?}", loaded.problems);
    assert_eq!(names(directory.path()), ["state.log", "state.log.bad-1"]);
}

#[test]
fn numbers_leap_after_power_loss_and_only_then() {
    let (_directory, path) = in_directory();
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    append(&mut journal, &record(1)).unwrap();
    let here = current_boot_id();
    if here.is_some() {
        assert_eq!(
            load_with_boot_id(&path, here.as_deref()).loss,
            None,
            "the same start of the machine"
        );
    }
    let loss = load_with_boot_id(&path, Some("another")).loss.unwrap();
    assert_eq!(loss, Loss { told: None, bytes: UNSYNCED_MAX, workspaces: false });
    drop(journal);
    assert_eq!(load_with_boot_id(&path, Some("another")).loss, None, "an ordered end");
}
