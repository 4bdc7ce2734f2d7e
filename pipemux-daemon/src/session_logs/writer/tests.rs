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

    /// What is kept, the older file first.
    fn text(&self) -> Vec<u8> {
        let mut all = fs::read(rotated_path(&self.path())).unwrap_or_default();
        all.extend(fs::read(self.path()).unwrap());
        all
    }
}

#[test]
fn a_log_is_rotated_between_lines_while_it_is_written() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(10);
    assert!(writer.take(b"one\ntwo\nthree\n", 0));
    assert_eq!(fs::read(test_log.path()).unwrap(), b"three\n");
    assert_eq!(fs::read(rotated_path(&test_log.path())).unwrap(), b"one\ntwo\n");
    assert_eq!((writer.start(), writer.end()), (8, 14));
    // A line that no file can hold is cut, between characters.
    writer.take("一二三四五六\n".as_bytes(), 0);
    let (old, new) =
        (fs::read(rotated_path(&test_log.path())).unwrap(), fs::read(test_log.path()).unwrap());
    assert_eq!([old, new].concat(), "一二三四五六\n".as_bytes());
    assert_eq!(writer.end(), 14 + 19);
}

#[test]
fn a_flood_is_cut_and_its_end_kept() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(u64::MAX);
    let line = "一行 of a flood\n";
    let flood = line.repeat(200_000);
    for piece in flood.as_bytes().chunks(64 * 1024) {
        writer.take(piece, 0);
    }
    writer.take("the last words".as_bytes(), 0);
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
    // Lines are whole on both sides of the omission.
    let rest = text.replace(omission[0], "").replace(line, "");
    assert_eq!(rest, "\nthe last words");
}

#[test]
fn a_flood_that_goes_on_is_sampled_and_one_that_pauses_shows_its_end() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(u64::MAX);
    let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<u8>>();
    // Ten seconds of 10 MB each.
    for ms in 0..10_000 {
        for _ in 0..10 {
            writer.take(&line, ms);
        }
    }
    let kept = test_log.text().len() as u64;
    assert!((LOG_RATE * 9..=LOG_BURST + LOG_RATE * 11).contains(&kept), "{kept}");
    writer.take(b"and then: quiet\n", 10_000);
    let due = writer.resume_at().unwrap();
    assert!(due <= 12_000, "{due}");
    assert!(writer.resume_if_due(due));
    assert!(test_log.text().ends_with(b"\nand then: quiet\n"));
    assert_eq!(writer.resume_at(), None);
    assert!(!writer.resume_if_due(due + 1));
}

#[test]
fn what_can_not_be_written_is_told_later() {
    let test_log = TestLog::new();
    let mut writer = test_log.open(8);
    writer.take(b"first\n", 0);
    // Its directory is taken away, so there is no next file.
    let away = test_log.directory.path().with_extension("away");
    fs::rename(test_log.directory.path(), &away).unwrap();
    assert!(!writer.take(b"second\n", 0));
    assert!(writer.resume_at().is_some());
    fs::rename(&away, test_log.directory.path()).unwrap();
    assert!(writer.resume_if_due(0));
    assert_eq!(test_log.text(), b"first\nsecond\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn without_a_flood_nothing_is_lost_and_no_file_is_too_long(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
        max in 4u64..60,
    ) {
        let test_log = TestLog::new();
        let mut writer = test_log.open(max);
        let mut all = Vec::new();
        for piece in &pieces {
            writer.take(piece, 0);
            all.extend_from_slice(piece);
            prop_assert!(fs::metadata(test_log.path()).unwrap().len() <= max);
        }
        prop_assert!(all.ends_with(&test_log.text()));
        prop_assert_eq!(writer.end(), all.len() as u64);
    }
}
