use super::*;
use proptest::prelude::*;

struct TestLog {
    directory: tempfile::TempDir,
}

impl TestLog {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    fn open(&self, max: u64) -> LogWriter {
        LogWriter::open(&self.path(), 0, max, 0).unwrap()
    }

    /// Returns the content of both files, the previous one first.
    fn text(&self) -> Vec<u8> {
        let mut all = fs::read(rotated_path(&self.path())).unwrap_or_default();
        all.extend(fs::read(self.path()).unwrap());
        all
    }
}

#[test]
fn log_is_rotated_between_lines() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(10);
    assert!(writer.write_output(b"one\ntwo\nthree\n", 0));
    assert_eq!(fs::read(test_log.path()).unwrap(), b"three\n");
    assert_eq!(fs::read(rotated_path(&test_log.path())).unwrap(), b"one\ntwo\n");
    assert_eq!((writer.start(), writer.end()), (8, 14));
    // A line that fits in no file is split between characters.
    writer.write_output("一二三四五六\n".as_bytes(), 0);
    let (old, new) =
        (fs::read(rotated_path(&test_log.path())).unwrap(), fs::read(test_log.path()).unwrap());
    assert_eq!([old, new].concat(), "一二三四五六\n".as_bytes());
    assert_eq!(writer.end(), 14 + 19);
}

#[test]
fn flood_is_limited_and_its_end_kept() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(u64::MAX);
    let line = "一行 of a flood\n";
    let flood = line.repeat(200_000);
    for piece in flood.as_bytes().chunks(64 * 1024) {
        writer.write_output(piece, 0);
    }
    writer.write_output("the last words".as_bytes(), 0);
    assert!(test_log.text().len() as u64 <= LOG_BURST + line.len() as u64);
    writer.finish();
    let text = String::from_utf8_lossy(&test_log.text()).into_owned();
    assert!(text.len() as u64 <= LOG_BURST + LOG_TAIL as u64 + 64);
    assert!(text.ends_with("a flood\nthe last words"));
    let omission: Vec<&str> = text.lines().filter(|line| line.starts_with('…')).collect();
    assert_eq!(omission.len(), 1, "{omission:?}");
    let lost: String = omission[0].chars().filter(char::is_ascii_digit).collect();
    let lost: usize = lost.parse().unwrap();
    let record = omission[0].len() + 1;
    assert_eq!(text.len() - record + lost, flood.len() + "the last words".len());
    // The lines on both sides of the omission are complete.
    let rest = text.replace(omission[0], "").replace(line, "");
    assert_eq!(rest, "\nthe last words");
}

#[test]
fn lasting_flood_is_sampled_and_its_end_follows_in_a_pause() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(u64::MAX);
    let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<u8>>();
    // 10 MB per second for ten seconds.
    for ms in 0..10_000 {
        for _ in 0..10 {
            writer.write_output(&line, ms);
        }
    }
    let kept = test_log.text().len() as u64;
    assert!((LOG_RATE * 9..=LOG_BURST + LOG_RATE * 11).contains(&kept), "{kept}");
    writer.write_output(b"and then: quiet\n", 10_000);
    let due = writer.resume_at().unwrap();
    assert!(due <= 12_000, "{due}");
    assert!(writer.resume_if_due(due));
    assert!(test_log.text().ends_with(b"\nand then: quiet\n"));
    assert_eq!(writer.resume_at(), None);
    assert!(!writer.resume_if_due(due + 1));
}

#[test]
fn failed_writes_are_resumed_later() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(8);
    writer.write_output(b"first\n", 0);
    // Without its directory the log can't be rotated.
    let away = test_log.directory.path().with_extension("away");
    fs::rename(test_log.directory.path(), &away).unwrap();
    assert!(!writer.write_output(b"second\n", 0));
    assert!(writer.resume_at().is_some());
    fs::rename(&away, test_log.directory.path()).unwrap();
    assert!(writer.resume_if_due(0));
    assert_eq!(test_log.text(), b"first\nsecond\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn normal_output_is_complete_and_files_respect_their_limit(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
        max in 4u64..60,
    ) {
        let test_log = TestLog::new();
        let mut writer = test_log.open(max);
        let mut all = Vec::new();
        for piece in &pieces {
            writer.write_output(piece, 0);
            all.extend_from_slice(piece);
            prop_assert!(fs::metadata(test_log.path()).unwrap().len() <= max);
        }
        prop_assert!(all.ends_with(&test_log.text()));
        prop_assert_eq!(writer.end(), all.len() as u64);
    }
}
