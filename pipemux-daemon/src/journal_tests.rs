use super::*;
use pipemux_core::saved::SavedOpen;
use proptest::prelude::*;

fn record(number: u64) -> Record {
    match number % 3 {
        0 => Record::Reserved { numbers_below: number },
        1 => Record::WindowClosed {
            workspace: "/项目".into(),
            session: format!("editor/{number}"),
        },
        _ => Record::Session {
            workspace: None,
            session: "monitor/main".into(),
            opens: vec![SavedOpen { args: vec!["🦀".into()], cwd: "/".into(), env: vec![] }],
        },
    }
}

fn records(count: u64) -> Vec<Record> {
    (0..count).map(record).collect()
}

fn in_directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.log");
    (directory, path)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_was_appended_is_read_again_in_order() {
    let (_directory, path) = in_directory();
    assert_eq!(load(&path).unwrap(), Loaded::default());
    let mut journal = Journal::create(&path, &records(3)).unwrap();
    journal.append(&record(3)).unwrap();
    journal.append(&record(4)).unwrap();
    // As after kill -9: nothing is closed or synced first.
    assert_eq!(load(&path).unwrap(), Loaded { records: records(5), problems: vec![] });
    journal.rewrite(&records(1)).unwrap();
    journal.append(&record(1)).unwrap();
    assert_eq!(load(&path).unwrap().records, records(2));
}

#[test]
fn a_tail_torn_at_any_byte_costs_only_the_last_record() {
    let (directory, path) = in_directory();
    let mut journal = Journal::create(&path, &records(4)).unwrap();
    let start = journal.length as usize;
    journal.append(&record(4)).unwrap();
    drop(journal);
    let whole = fs::read(&path).unwrap();
    for end in start..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let loaded = load(&path).unwrap();
        assert_eq!(loaded.records, records(4), "cut at {end}");
        assert_eq!(loaded.problems.len(), usize::from(end > start), "cut at {end}");
    }
    assert_eq!(names(directory.path()), ["state.log"]);
}

#[test]
fn a_file_that_is_no_log_is_set_aside_and_told() {
    let (directory, path) = in_directory();
    for _ in 0..2 {
        fs::write(&path, "precious, but of another program\n").unwrap();
        let loaded = load(&path).unwrap();
        assert_eq!(loaded.records, []);
        assert!(loaded.problems[0].contains("state.log.bad-"), "{:?}", loaded.problems);
        drop(Journal::create(&path, &[]).unwrap());
    }
    assert_eq!(names(directory.path()), ["state.log", "state.log.bad-1", "state.log.bad-2"]);
}

#[test]
fn a_record_of_a_newer_release_is_left_out_and_the_file_kept() {
    let (directory, path) = in_directory();
    drop(Journal::create(&path, &records(2)).unwrap());
    let body = rmp_serde::to_vec_named(&("hologram", 1)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(crc32(&body).to_be_bytes());
    bytes.extend(&body);
    encode(&mut bytes, &record(2)).unwrap();
    fs::write(&path, bytes).unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.records, records(3));
    assert!(loaded.problems[0].contains("newer release"), "{:?}", loaded.problems);
    assert_eq!(names(directory.path()), ["state.log", "state.log.bad-1"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_full_disk_refused_is_written_with_the_next_record() {
    let (_directory, path) = in_directory();
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let good = std::mem::replace(&mut *journal.file.lock().unwrap(), full);
    assert!(journal.append(&record(1)).is_err());
    assert!(journal.append(&record(2)).is_err());
    *journal.file.lock().unwrap() = good;
    assert_eq!(load(&path).unwrap().records, records(1));
    journal.append(&record(3)).unwrap();
    assert_eq!(load(&path).unwrap().records, records(4));
    // Nor is memory filled for ever.
    journal.unwritten = vec![0; UNWRITTEN_MAX + 1];
    assert!(journal.append(&record(4)).is_err());
    assert_eq!(journal.unwritten.len(), UNWRITTEN_MAX + 1);
}

#[test]
fn an_overgrown_log_says_so_until_it_is_rewritten() {
    let (_directory, path) = in_directory();
    let mut journal = Journal::create(&path, &[]).unwrap();
    let opens = vec![SavedOpen { args: vec!["x".repeat(1 << 20)], ..SavedOpen::default() }];
    let big = Record::Session { workspace: None, session: "a/b".into(), opens };
    let mut appended = 0;
    while !journal.is_overgrown() {
        journal.append(&big).unwrap();
        appended += 1;
    }
    assert_eq!(appended, 4);
    journal.rewrite(std::slice::from_ref(&big)).unwrap();
    assert!(!journal.is_overgrown());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damage_anywhere_leaves_a_prefix(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let (_directory, path) = in_directory();
        drop(Journal::create(&path, &records(6)).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        fs::write(&path, &bytes).unwrap();
        let loaded = load(&path).unwrap();
        prop_assert!(loaded.records.len() < 6);
        prop_assert_eq!(&loaded.records[..], &records(6)[..loaded.records.len()]);
        prop_assert_eq!(loaded.problems.len(), 1);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), with in any::<bool>()) {
        let mut whole = if with { FORMAT.to_vec() } else { Vec::new() };
        whole.extend(bytes);
        let _ = parse(&whole);
    }
}
