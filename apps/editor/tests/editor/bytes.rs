//! Edits change no byte outside of them, and undo restores every byte.

use docui::App;
use pipemux_editor::limits::READ_PIECE;
use pipemux_editor::model::buffer::Buffer;
use pipemux_editor::model::disk;
use pipemux_editor::model::splice::Splice;
use proptest::prelude::*;

use crate::support::*;

/// A text of lines with mixed endings and scripts, with or without a byte order mark and a last
/// newline.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(String::new()),
        "[a-c ]{0,6}",
        Just("漢字かな".to_owned()),
        Just("👩‍👩‍👧‍👦 é\u{301}".to_owned()),
        Just("\tx\u{2028}y\rz".to_owned()),
    ];
    let lines = prop::collection::vec((line, any::<bool>()), 0..12);
    (any::<bool>(), lines, any::<bool>()).prop_map(|(bom, lines, open)| {
        let mut text: String = if bom { "\u{feff}".into() } else { String::new() };
        let count = lines.len();
        for (index, (line, crlf)) in lines.into_iter().enumerate() {
            text += &line;
            if index + 1 < count || !open {
                text += if crlf { "\r\n" } else { "\n" };
            }
        }
        text
    })
}

fn edit() -> impl Strategy<Value = (u8, usize, usize, usize, &'static str)> {
    let text = prop_oneof![Just(""), Just("new"), Just("多\nline"), Just("b"), Just("\n")];
    (0..5_u8, 0..14_usize, 0..4_usize, 0..14_usize, text)
}

/// Returns the exact text before and after the lines from `first` up to `last`.
fn outside(text: &str, first: usize, last: usize) -> (String, String) {
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let (first, last) = (first.min(lines.len()), last.min(lines.len()));
    (lines[..first].concat(), lines[last..].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn bytes_outside_of_edits_never_change(
        original in file(),
        edits in prop::collection::vec(edit(), 1..8),
    ) {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = dir.path().join("f.txt");
        std::fs::write(&path, &original).unwrap();
        let mut host = Host::<Editor>::open(&["f.txt"], dir.path(), state.path()).unwrap();
        let mut changes = 0;
        for (kind, first, more, before, new) in edits {
            host.project(Lod::Gist, 0).unwrap();
            let text = host.app().unwrap().current().unwrap().buffer().text();
            let count = text.split_inclusive('\n').count();
            let (first, last) = (first.min(count), (first + more).min(count.saturating_sub(1)));
            let (from, to) = (first as i64 + 1, last as i64 + 1);
            let action = match kind {
                0 => insert(from, new),
                1 => replace_lines(from, to, new),
                2 => delete_lines(from, to),
                3 => move_lines(from, to, before.min(count) as i64 + 1),
                _ => replace_all("b", new),
            };
            let state_before = host.app().unwrap().current().unwrap().states().state();
            let outcome = host.invoke(&action);
            let now = host.app().unwrap().current().unwrap().buffer().text();
            let Outcome::Done(done) = outcome else {
                prop_assert_eq!(now, text);
                continue;
            };
            if host.app().unwrap().current().unwrap().states().state() == state_before {
                prop_assert_eq!(now, text);
                continue;
            }
            changes += 1;
            prop_assert!(!done.links.is_empty());
            let ended = text.is_empty() || text.ends_with('\n');
            match kind {
                0 => {
                    let (head, tail) = outside(&text, first, first);
                    // Only a last line without its newline gets one, because now a line follows it.
                    prop_assert!(now.starts_with(&head), "{head:?} {now:?}");
                    prop_assert!(now.ends_with(&tail));
                    // One final newline is the end of the last line.
                    let new = new.strip_suffix('\n').unwrap_or(new);
                    let blank = new.is_empty() || new.ends_with('\n');
                    prop_assert!(now.ends_with('\n') == ended || blank);
                    let lines = if text.is_empty() { 0 } else { text.lines().count() };
                    prop_assert_eq!(now.lines().count(), lines + new.matches('\n').count() + 1);
                }
                1 | 2 => {
                    let (head, tail) = outside(&text, first, last + 1);
                    prop_assert!(now.starts_with(&head) && now.ends_with(&tail), "{head:?} {tail:?} {now:?}");
                    if !ended && last + 1 == count && kind == 1 && !new.is_empty() {
                        prop_assert!(!now.ends_with("new\n"));
                    }
                }
                3 => {
                    let sorted = |text: &str| {
                        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                        lines.sort();
                        lines
                    };
                    prop_assert_eq!(sorted(&now), sorted(&text));
                    let blank = !ended && now.ends_with('\n');
                    prop_assert_eq!(now.ends_with('\n'), ended || blank);
                    prop_assert!(now.len() == text.len() || blank, "{text:?} {now:?}");
                }
                _ => {
                    // The new text gets the line endings of the file.
                    let lf = |text: &str| text.replace("\r\n", "\n");
                    // Of a whole line, a final newline of the new text is the end.
                    let line = new.strip_suffix('\n').filter(|line| !line.is_empty() || new == "\n");
                    let replaced = lf(&text).split_inclusive('\n').map(|old| {
                        let whole = old.strip_suffix('\n').unwrap_or(old).trim_start() == "b";
                        old.replace('b', line.filter(|_| whole).unwrap_or(new))
                    }).collect::<String>();
                    prop_assert_eq!(lf(&now), replaced);
                }
            }
        }
        // A save writes the byte order mark and the text.
        let edited = host.app().unwrap().current().unwrap().buffer().text();
        if host.app().unwrap().current().unwrap().is_unsaved() {
            done(host.invoke(&save()));
            let mark = if original.starts_with('\u{feff}') { "\u{feff}" } else { "" };
            prop_assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{mark}{edited}"));
        }
        if changes > 0 {
            host.project(Lod::Gist, 0).unwrap();
            done(host.invoke(&Action::Undo { steps: changes, change: None }));
            let key = host.app().unwrap().current().unwrap().key();
            let bytes = host.app().unwrap().read(&key).unwrap();
            prop_assert_eq!(String::from_utf8(bytes).unwrap(), original);
        }
    }
}

#[test]
fn byte_order_mark_mixed_line_endings_and_missing_last_newline_survive_a_save() {
    let original = "\u{feff}one\r\ntwo\nthree\r\nfour";
    let mut session = TestSession::with(&[("a.txt", original)]);
    session.done(&replace_lines(4, 4, "FOUR\nfive"));
    session.done(&save());
    assert_eq!(session.on_disk("a.txt"), "\u{feff}one\r\ntwo\nthree\r\nFOUR\r\nfive");
    session.view();
    session.done(&insert(6, "six"));
    session.view();
    session.done(&move_lines(6, 6, 1));
    assert_eq!(session.text(), "six\r\none\r\ntwo\nthree\r\nFOUR\r\nfive");
    session.view();
    session.done(&delete_lines(6, 6));
    assert_eq!(session.text(), "six\r\none\r\ntwo\nthree\r\nFOUR\r\n");
}

#[test]
fn digest_is_the_same_for_file_loaded_text_and_buffer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.txt");
    let lengths = [0, 1, 7, 8, 31, 32, 33, READ_PIECE - 1, READ_PIECE, READ_PIECE + 1, 300_000];
    let mut seen = std::collections::BTreeSet::new();
    for (bom, length) in [false, true].into_iter().flat_map(|bom| lengths.map(|l| (bom, l))) {
        let text: String = ('a'..='z').chain(['漢', '\n']).cycle().take(length).collect();
        std::fs::write(&path, format!("{}{text}", if bom { "\u{feff}" } else { "" })).unwrap();
        let digest = disk::digest(&path).unwrap();
        let loaded = disk::load(&path).unwrap();
        // The buffer digests its text in pieces of other lengths than the file is read in.
        let mut buffer = Buffer::new(&loaded.text, loaded.bom);
        assert_eq!((Some(loaded.digest), Some(buffer.digest())), (digest, digest), "{length}");
        assert!(seen.insert(digest), "{length}");
        buffer.apply(&[Splice { at: 0, old: String::new(), new: "b".into() }]);
        assert_ne!(Some(buffer.digest()), digest, "{length}");
    }
}

#[test]
fn file_that_is_written_anew_keeps_its_line_endings_and_new_ones_follow_the_project() {
    let mut session = TestSession::with(&[("a.cs", "x\r\ny\r\n")]);
    let create = |path: &str, overwrite| Action::Create {
        path: path.into(),
        text: text("l1\nl2\n").into(),
        overwrite,
    };
    let done = session.done(&create("a.cs", true));
    assert!(done.brief.contains("2 lines in place of 2; CRLF kept"), "{}", done.brief);
    assert_eq!(session.on_disk("a.cs"), "l1\r\nl2\r\n");
    session.done(&create("b.cs", false));
    assert_eq!(session.on_disk("b.cs"), "l1\nl2\n");
    std::fs::write(session.path(".gitattributes"), "* text=auto eol=crlf\n").unwrap();
    std::fs::write(session.path(".editorconfig"), "[*.vb]\ncharset = utf-8-bom\n").unwrap();
    session.done(&create("c.cs", false));
    assert_eq!(session.on_disk("c.cs"), "l1\r\nl2\r\n");
    session.done(&create("d.vb", false));
    assert_eq!(session.on_disk("d.vb"), "\u{feff}l1\r\nl2\r\n");
    let patch = "*** Begin Patch\n*** Add File: e.cs\n+one\n*** End Patch\n";
    session.done(&Action::Apply { patch: text(patch) });
    assert_eq!(session.on_disk("e.cs"), "one\r\n");
    session.view();
    session.done(&undo());
    assert!(!session.path("e.cs").exists());
    session.view();
    session.done(&Action::Redo { steps: 1, change: None });
    assert_eq!(session.on_disk("e.cs"), "one\r\n");
}
