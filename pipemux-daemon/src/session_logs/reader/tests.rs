use super::*;
use proptest::prelude::*;
use std::fs;

/// A log that was rotated_path at that byte.
fn kept(content: &[u8], split: usize) -> (tempfile::TempDir, LogReader) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(rotated_path(&path), &content[..split]).unwrap();
    fs::write(&path, &content[split..]).unwrap();
    let kept = LogReader::open(&path, None).unwrap();
    (directory, kept)
}

fn tail_of(content: &[u8], lines: usize, bytes: u64) -> String {
    let (_directory, mut kept) = kept(content, content.len() / 2);
    kept.tail(lines, bytes, 0).unwrap().text
}

#[test]
fn the_last_lines_are_whole_lines() {
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
fn the_last_lines_since_a_position_begin_there() {
    for (content, since, expected) in [
        ("old words\n", 10, ""),
        ("old words\nnew\n", 10, "new\n"),
        // The earlier process's last line has no end.
        ("old wordsnew\nlast", 9, "new\nlast"),
        ("old words\n", 99, ""),
        ("old words\n", 0, "old words\n"),
    ] {
        for split in 0..content.len() {
            let (_directory, mut kept) = kept(content.as_bytes(), split);
            assert_eq!(kept.tail(9, 99, since).unwrap().text, expected, "{content:?} {split}");
        }
    }
    let (_directory, mut kept) = kept(b"old\none\ntwo\n", 5);
    assert_eq!(kept.tail(1, 99, 4).unwrap().text, "two\n");
    assert_eq!(kept.tail(9, 5, 4).unwrap().text, "two\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn a_tail_is_the_end_of_the_log_and_within_its_bounds(
        content in "[ab\n]{0,60}", split in 0usize..60, lines in 0usize..8, bytes in 0u64..40,
    ) {
        let (_directory, mut kept) = kept(content.as_bytes(), split.min(content.len()));
        let LogText { text: found, next, .. } = kept.tail(lines, bytes, 0).unwrap();
        prop_assert_eq!(next, content.len() as u64);
        prop_assert!(content.ends_with(&found));
        prop_assert!(found.len() as u64 <= bytes);
        prop_assert!(found.lines().count() <= lines);
        let before = &content[..content.len() - found.len()];
        prop_assert!(before.is_empty() || found.is_empty() || before.ends_with('\n'));
        // One line more would have passed a bound.
        let all = content.lines().count() <= lines && content.len() as u64 <= bytes;
        prop_assert!(!all || found == content);
    }

    #[test]
    fn pieces_joined_are_the_log(
        content in "[a一\n]{0,40}", split in 0usize..60, lines in 1usize..4, bytes in 4u64..20,
        start in 100u64..200,
    ) {
        let content = content.as_bytes();
        let split = split.min(content.len());
        let (directory, _) = kept(content, split);
        let path = directory.path().join("log");
        let mut position = 0;
        let mut joined = String::new();
        loop {
            let mut kept = LogReader::open(&path, Some(start)).unwrap();
            let piece = kept.after(position, lines, bytes).unwrap();
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
fn a_position_that_no_longer_is_counts_as_the_end_and_half_a_character_waits() {
    let (directory, mut kept) = kept("ab\nc\u{1f980}".as_bytes(), 3);
    assert_eq!(kept.after(99, 9, 99).unwrap(), LogText { text: String::new(), next: 8, missed: 0 });
    fs::write(directory.path().join("log"), b"c\xf0\x9f").unwrap();
    assert_eq!(kept.after(3, 9, 99).unwrap(), LogText { text: "c".into(), next: 4, missed: 0 });
}

#[test]
fn a_pipe_or_link_in_place_of_a_log_is_an_error_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let link = directory.path().join("link");
    fs::write(directory.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("secret", &link).unwrap();
    for wrong in [pipe, link] {
        assert!(LogReader::open(&wrong, None).is_err());
        assert!(super::super::open_for_append(&wrong).is_err());
    }
    let nothing = LogReader::open(&directory.path().join("nothing"), None).unwrap_err();
    assert_eq!(nothing.kind(), io::ErrorKind::NotFound);
}
