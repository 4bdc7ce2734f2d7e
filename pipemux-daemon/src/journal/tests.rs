mod compaction;
mod damage;
mod fixture;
mod gone;
mod large_state;

use super::format::{Damage, parse};
use super::load::{LoadedJournal, load_with_boot_id};
use super::*;
use crate::limits::UNSYNCED_MAX;
use pipemux_core::Loss;
use pipemux_core::saved::SavedOpen;
use std::fs::OpenOptions;

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
            opens: vec![SavedOpen {
                args: vec!["🦀".into()],
                cwd: "/".into(),
                env: vec![],
                granted: vec![],
                passed: vec![],
            }],
        },
    }
}

fn records(count: u64) -> Vec<Record> {
    (0..count).map(record).collect()
}

/// Writes a record by itself, like a turn that makes no other.
fn append(journal: &mut Journal, record: &Record) -> io::Result<()> {
    journal.append(record)?;
    journal.flush()
}

fn temp_journal() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.log");
    (directory, path)
}

fn file_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut file_names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    file_names.retain(|name| name != "state.mark");
    file_names.sort();
    file_names
}

/// Loads a journal and asserts that it is undamaged.
fn load_undamaged(path: &Path) -> Vec<Record> {
    let loaded = load(path);
    assert_eq!((&loaded.problems[..], &loaded.loss), (&[][..], &None));
    loaded.records
}

#[test]
fn appended_records_load_in_order_even_after_a_kill() {
    let (_directory, path) = temp_journal();
    assert_eq!(load(&path), LoadedJournal::default());
    let mut journal = Journal::create(&path, &records(3)).unwrap();
    append(&mut journal, &record(3)).unwrap();
    append(&mut journal, &record(4)).unwrap();
    // As after SIGKILL: nothing is closed or synced first.
    assert_eq!(load_undamaged(&path), records(5));
    drop(journal);
    assert_eq!(load_undamaged(&path), records(5));
    drop(Journal::create(&path, &records(1)).unwrap());
    assert_eq!(load_undamaged(&path), records(1));
}

#[cfg(target_os = "linux")]
#[test]
fn records_refused_by_a_full_disk_are_written_later() {
    let (_directory, path) = temp_journal();
    let mut journal = Journal::create(&path, &records(1)).unwrap();
    let full = Arc::new(OpenOptions::new().append(true).open("/dev/full").unwrap());
    let good = std::mem::replace(&mut journal.file.as_mut().unwrap().handle, full);
    assert!(append(&mut journal, &record(1)).is_err());
    assert!(append(&mut journal, &record(2)).is_err());
    // A part of a record that reached the disk is removed before the next record is written.
    io::Write::write_all(&mut &*good, b"\x00\x00\x00\x40half").unwrap();
    journal.file.as_mut().unwrap().handle = good;
    assert_eq!(load(&path).records, records(1));
    append(&mut journal, &record(3)).unwrap();
    assert_eq!(load_undamaged(&path), records(4));
    // The memory for pending records is limited.
    journal.pending = vec![0; UNWRITTEN_MAX + 1];
    assert!(append(&mut journal, &record(4)).is_err());
    assert_eq!(journal.pending.len(), UNWRITTEN_MAX + 1);
}

#[test]
fn journal_that_cannot_be_created_is_created_later_with_every_record() {
    let (directory, _) = temp_journal();
    let path = directory.path().join("not yet/state.log");
    let mut journal = Journal::create(&path, &records(2)).unwrap();
    assert!(append(&mut journal, &record(2)).is_err());
    assert!(journal.flush().is_err());
    fs::create_dir(path.parent().unwrap()).unwrap();
    journal.flush().unwrap();
    append(&mut journal, &record(3)).unwrap();
    assert_eq!(load_undamaged(&path), records(4));
}

#[cfg(unix)]
#[test]
fn journal_is_readable_by_its_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let (_directory, path) = temp_journal();
    let _journal = Journal::create(&path, &[]).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
