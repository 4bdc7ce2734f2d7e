use super::*;
use proptest::prelude::*;
use std::fs;

/// Returns a log that was rotated at byte `split`.
fn rotated_log(content: &[u8], split: usize) -> (tempfile::TempDir, LogReader) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(rotated_path(&path), &content[..split]).unwrap();
    fs::write(&path, &content[split..]).unwrap();
    let reader = LogReader::open(&path, None).unwrap();
    (directory, reader)
}

fn tail_of(content: &[u8], lines: usize, bytes: u64) -> String {
    let (_directory, mut reader) = rotated_log(content, content.len() / 2);
    reader.tail(lines, bytes, 0).unwrap().text
}

#[test]
fn tail_returns_complete_lines() {
    let content = "一\r\ntwo\n\n🦀 four\nfive".as_bytes();
    assert_eq!(tail_of(content, 1, 100), "five");
    assert_eq!(tail_of(content, 2, 100), "🦀 four\nfive");
    assert_eq!(tail_of(content, 3, 100), "\n🦀 four\nfive");
    assert_eq!(tail_of(content, 99, 100), "一\r\ntwo\n\n🦀 four\nfive");
    assert_eq!(tail_of(content, 99, 5), "five");
    assert_eq!(tail_of(content, 99, 4), "five");
    assert_eq!(tail_of(content, 99, 3), "");
    assert_eq!(tail_of(content, 0, 100), "");
    assert_eq!(tail_of(b"", 5, 100), "");
    assert_eq!(tail_of(b"\n", 5, 100), "\n");
    assert_eq!(tail_of(b"a\nb\n", 1, 100), "b\n");
    assert_eq!(tail_of(b"\xff\xfe\nok\n", 5, 100), "\u{fffd}\u{fffd}\nok\n");
}

#[test]
fn tail_starts_at_the_given_position() {
    for (content, since, expected) in [
        ("old words\n", 10, ""),
        ("old words\nnew\n", 10, "new\n"),
        // The earlier process's last line has no end.
        ("old wordsnew\nlast", 9, "new\nlast"),
        ("old words\n", 99, ""),
        ("old words\n", 0, "old words\n"),
    ] {
        for split in 0..content.len() {
            let (_directory, mut reader) = rotated_log(content.as_bytes(), split);
            assert_eq!(reader.tail(9, 99, since).unwrap().text, expected, "{content:?} {split}");
        }
    }
    let (_directory, mut reader) = rotated_log(b"old\none\ntwo\n", 5);
    assert_eq!(reader.tail(1, 99, 4).unwrap().text, "two\n");
    assert_eq!(reader.tail(9, 5, 4).unwrap().text, "two\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn tail_is_a_suffix_of_the_log_within_its_limits(
        content in "[ab\n]{0,60}", split in 0usize..60, lines in 0usize..8, bytes in 0u64..40,
    ) {
        let (_directory, mut reader) = rotated_log(content.as_bytes(), split.min(content.len()));
        let LogText { text: found, next, .. } = reader.tail(lines, bytes, 0).unwrap();
        prop_assert_eq!(next, content.len() as u64);
        prop_assert!(content.ends_with(&found));
        prop_assert!(found.len() as u64 <= bytes);
        prop_assert!(found.lines().count() <= lines);
        let before = &content[..content.len() - found.len()];
        prop_assert!(before.is_empty() || found.is_empty() || before.ends_with('\n'));
        // One more line would have exceeded a limit.
        let all = content.lines().count() <= lines && content.len() as u64 <= bytes;
        prop_assert!(!all || found == content);
    }

    #[test]
    fn consecutive_reads_return_the_whole_log(
        content in "[a一\n]{0,40}", split in 0usize..60, lines in 1usize..4, bytes in 4u64..20,
        start in 100u64..200,
    ) {
        let content = content.as_bytes();
        let split = split.min(content.len());
        let (directory, _) = rotated_log(content, split);
        let path = directory.path().join("log");
        let mut position = 0;
        let mut joined = String::new();
        loop {
            let mut reader = LogReader::open(&path, Some(start)).unwrap();
            let piece = reader.after(position, lines, bytes).unwrap();
            let first = start - split as u64;
            prop_assert_eq!(piece.missed, if position == 0 { first } else { 0 });
            prop_assert!(piece.text.len() as u64 <= bytes);
            if piece.text.is_empty() {
                break;
            }
            joined += &piece.text;
            position = piece.next;
        }
        prop_assert_eq!(joined.as_bytes(), content);
        prop_assert_eq!(position.max(start - split as u64), start - split as u64 + content.len() as u64);
    }
}

#[test]
fn unknown_position_counts_as_the_end_and_partial_character_waits() {
    let (directory, mut reader) = rotated_log("ab\nc\u{1f980}".as_bytes(), 3);
    assert_eq!(
        reader.after(99, 9, 99).unwrap(),
        LogText { text: String::new(), next: 8, missed: 0 }
    );
    fs::write(directory.path().join("log"), b"c\xf0\x9f").unwrap();
    assert_eq!(reader.after(3, 9, 99).unwrap(), LogText { text: "c".into(), next: 4, missed: 0 });
}

#[test]
fn pipe_or_link_as_log_is_an_error_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let link = directory.path().join("link");
    fs::write(directory.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("secret", &link).unwrap();
    for wrong in [pipe, link] {
        assert!(LogReader::open(&wrong, None).is_err());
        assert!(super::super::files::open_for_append(&wrong).is_err());
    }
    let nothing = LogReader::open(&directory.path().join("nothing"), None).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::NotFound);
}
