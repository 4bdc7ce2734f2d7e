use std::rc::Rc;

use bytes::Bytes;
use pipemux_core::audit::{AuditNotes, CallPart};
use pipemux_core::manifest::Size;
use pipemux_core::peer::{Ancestor, PeerProcess};

use super::*;
use crate::limits::AUDIT_MIN;

const NOW: u64 = 1_765_360_800_123;

fn entry(unix_ms: u64, text: &str) -> AuditEntry {
    let ancestors = vec![Ancestor { pid: 3, name: "bash".into() }];
    let peer = PeerProcess {
        pid: Some(7),
        program: "/usr/bin/pipemux".into(),
        ancestors,
        ..PeerProcess::default()
    };
    AuditEntry {
        unix_ms,
        peer: Some(Rc::new(peer)),
        reader: "default".into(),
        workspace: "/work".into(),
        verb: "run",
        call: vec![
            CallPart::Text("notes.add(".into()),
            CallPart::Value(Bytes::copy_from_slice(text.as_bytes())),
            CallPart::Text(")".into()),
        ],
        run_id: "r1".into(),
        notes: AuditNotes { round: Some(2), result: Some("add done".into()), ..Default::default() },
        ..AuditEntry::default()
    }
}

fn settings(keep_days: u64, size: u64) -> AuditSettings {
    AuditSettings { keep_days, size: Size(size) }
}

fn lines(directory: &Path) -> Vec<String> {
    let text = fs::read_to_string(directory.join("audit.log")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn line_tells_who_did_what_and_only_the_hash_of_a_long_text() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = AuditLog::open(directory.path(), settings(90, AUDIT_MIN));
    log.append(&entry(NOW, "abc"));
    log.append(&AuditEntry { exit: 9, ..entry(NOW, "\u{202e}\n\"") });
    assert!(!log.path.exists(), "one write a turn");
    log.flush(NOW);
    let lines = lines(directory.path());
    assert_eq!(
        lines[0],
        "{\"time\":\"2025-12-10T10:00:00.123Z\",\"pid\":7,\"program\":\"/usr/bin/pipemux\",\"parents\":[\"bash\"],\
         \"reader\":\"default\",\"workspace\":\"/work\",\"verb\":\"run\",\"call\":\"notes.add(<3 bytes sha256:\
         ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad>)\",\"outcome\":\"done\",\"exit\":0,\
         \"round\":2,\"result\":\"add done\",\"run_id\":\"r1\"}"
    );
    assert!(lines[1].contains("\"outcome\":\"refused\",\"exit\":9"));
    assert_eq!(lines.len(), 2);
    let mode = fs::metadata(&log.path).unwrap().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn log_is_continued_divided_and_bounded() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..4 {
        let mut log = AuditLog::open(directory.path(), settings(90, AUDIT_MIN));
        for n in 0..100 {
            log.append(&entry(NOW + round * 100 + n, "abc"));
            log.flush(NOW + round * 100 + n);
        }
    }
    let files: Vec<PathBuf> =
        fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), AUDIT_FILES as usize, "{files:?}");
    let size: u64 = files.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(size <= AUDIT_MIN && size > AUDIT_MIN / 2, "{size}");
    let last = lines(directory.path());
    assert!(last.last().unwrap().contains("10:00:00.522Z"), "{:?}", last.last());
}

#[test]
fn old_files_are_removed_and_an_old_file_is_not_continued() {
    let directory = tempfile::tempdir().unwrap();
    let today =
        u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis())
            .unwrap();
    let mut log = AuditLog::open(directory.path(), settings(8, AUDIT_MIN));
    log.append(&entry(today, "abc"));
    log.flush(today);
    // A day is an eighth of the time for which it is kept.
    log.append(&entry(today + DAY_MS + 1, "abc"));
    log.flush(today + DAY_MS + 1);
    assert!(log.older(1).exists() && lines(directory.path()).len() == 1);
    log.append(&entry(today + 9 * DAY_MS, "abc"));
    log.flush(today + 9 * DAY_MS);
    assert!(!log.older(2).exists());
}

#[test]
fn removed_log_is_begun_again_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = AuditLog::open(directory.path(), settings(90, AUDIT_MIN));
    log.append(&entry(NOW, "abc"));
    log.flush(NOW);
    fs::remove_file(&log.path).unwrap();
    log.check(NOW);
    log.append(&entry(NOW, "abc"));
    log.flush(NOW);
    let lines = lines(directory.path());
    assert!(
        lines[0]
            .ends_with("\"note\":\"the log before this line was removed while the daemon ran\"}")
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn log_that_cannot_be_written_keeps_lines_and_counts_the_lost_ones() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = AuditLog::open(&directory.path().join("later"), settings(90, AUDIT_MIN * 1024));
    let mut count = 0;
    while log.lost < 3 {
        log.append(&entry(NOW, "abc"));
        count += 1;
        log.flush(NOW);
    }
    fs::create_dir(directory.path().join("later")).unwrap();
    log.append(&entry(NOW, "abc"));
    log.flush(NOW);
    let lines = lines(&directory.path().join("later"));
    assert!(lines.last().unwrap().contains("4 lines before this one are lost"));
    assert_eq!(lines.len(), count - 3 + 1);
}

#[test]
fn half_a_line_is_ended_and_nothing_is_written_when_it_is_turned_off() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("audit.log"), "{\"time\":\"20").unwrap();
    let mut log = AuditLog::open(directory.path(), settings(90, AUDIT_MIN));
    log.append(&entry(NOW, "abc"));
    log.flush(NOW);
    let written = lines(directory.path());
    assert_eq!((written.len(), written[0].as_str()), (2, "{\"time\":\"20"));
    let mut off = AuditLog::open(directory.path(), settings(0, AUDIT_MIN));
    off.append(&entry(NOW, "abc"));
    off.flush(NOW);
    assert_eq!(lines(directory.path()).len(), 2);
}
