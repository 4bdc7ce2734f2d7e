//! Journals: the end of the process loses no confirmed edit.

use std::os::unix::fs::MetadataExt;

use docui::{App, Context};

use crate::support::*;

#[test]
fn unsaved_edits_are_restored_and_not_written_to_the_file() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[insert(2, "é"), replace("é", "漢")]);
    for again in [false, true] {
        let opening = opening(&["a.txt", "b.txt"], dir.path(), state.path(), again);
        let mut editor = Editor::open(&opening).unwrap();
        assert_eq!(current(&editor), "b\r\n漢\r\nb\r\n");
        let notes = editor.notes();
        assert!(notes == ["b.txt: unsaved edits restored."], "{notes:?}");
        assert!(editor.current().unwrap().is_unsaved());
        assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "b\r\nb\r\n");
    }
}

#[test]
fn undone_and_saved_edits_leave_no_journal() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[insert(1, "x"), undo()]);
    assert_eq!(journals(state.path()).len(), 0);
    edit_and_crash(dir.path(), state.path(), &[insert(1, "x")]);
    assert_eq!(journals(state.path()).len(), 1);
    edit_and_crash(dir.path(), state.path(), &[save()]);
    assert_eq!(journals(state.path()).len(), 0);
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "x\r\nb\r\nb\r\n");
}

#[test]
fn restored_edits_of_a_file_changed_on_disk_are_kept_and_save_asks() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[insert(1, "mine")]);
    std::fs::write(dir.path().join("b.txt"), "theirs\n").unwrap();
    let opening = opening(&[], dir.path(), state.path(), true);
    let mut editor = Editor::open(&opening).unwrap();
    assert!(editor.notes()[0].contains("changed in the meantime: save() will ask"));
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
    editor.refresh();
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
    let context = Context { version: 1, ..Context::default() };
    assert!(matches!(editor.update(save(), &context), Ok(docui::Reply::Ask(_))));
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "theirs\n");
}

#[test]
fn torn_last_record_is_ignored_and_damaged_journal_is_set_aside() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[insert(1, "one"), insert(2, "two")]);
    let journal = journals(state.path()).remove(0);
    let bytes = std::fs::read(&journal).unwrap();
    let open = || {
        let mut editor = Editor::open(&opening(&[], dir.path(), state.path(), true)).unwrap();
        let notes = editor.notes();
        (current(&editor), notes)
    };
    std::fs::write(&journal, &bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(open().0, "one\r\nb\r\nb\r\n");
    // Wherever the journal is cut, it is read or set aside, and the file is open.
    for cut in (0..bytes.len()).step_by(7) {
        std::fs::write(&journal, &bytes[..cut]).unwrap();
        let (text, notes) = open();
        let set_aside = notes.iter().any(|note| note.contains("they are kept in "));
        let restored = notes.iter().any(|note| note.contains("unsaved edits restored"));
        match text.as_str() {
            // No edit was complete, or the journal is damaged, which is reported.
            "b\r\nb\r\n" => {
                assert!(!restored && (notes.is_empty() || set_aside), "{cut}: {notes:?}")
            }
            "one\r\nb\r\nb\r\n" | "one\r\nb\r\ntwo\r\nb\r\n" => {
                assert!(restored, "{cut}: {notes:?}")
            }
            other => panic!("{cut}: {other:?}"),
        }
    }
    std::fs::write(&journal, b"garbage").unwrap();
    let (text, notes) = open();
    assert_eq!(text, "b\r\nb\r\n");
    assert!(notes[0].contains("they are kept in "), "{notes:?}");
    assert!(journal.with_extension("damaged").exists());
}

#[test]
fn restart_reopens_files_and_skips_deleted_ones() {
    let (dir, state) = directories();
    std::fs::write(dir.path().join("c.txt"), "c\n").unwrap();
    let close = Action::Close {
        file: Some(docui::Anchor::new(
            dir.path().canonicalize().unwrap().join("a.txt").to_str().unwrap(),
            0,
        )),
    };
    edit_and_crash(dir.path(), state.path(), &[open("c.txt"), close]);
    std::fs::remove_file(dir.path().join("b.txt")).unwrap();
    let mut editor =
        Editor::open(&opening(&["a.txt", "b.txt"], dir.path(), state.path(), true)).unwrap();
    let notes = editor.notes();
    assert!(notes.len() == 1 && notes[0].contains("b.txt: no such file"), "{notes:?}");
    assert_eq!(current(&editor), "c\n");
    let more = editor.attach(&opening(&["a.txt"], dir.path(), state.path(), true)).unwrap();
    assert!(more.is_empty());
    assert_eq!(current(&editor), "c\n", "what was closed stays closed");
}

#[test]
fn long_journal_is_rewritten_from_the_text() {
    let (dir, state) = directories();
    let long = "x".repeat(300_000);
    let edits: Vec<_> = (0..8)
        .flat_map(|_| {
            [insert(1, &long), Action::Undo { steps: 1, change: None }, insert(1, "kept")]
        })
        .collect();
    edit_and_crash(dir.path(), state.path(), &edits);
    let size: u64 = std::fs::read_dir(state.path())
        .unwrap()
        .flatten()
        .map(|e| e.metadata().unwrap().len())
        .sum();
    assert!(size < 2_000_000, "{size}");
    let editor = Editor::open(&opening(&[], dir.path(), state.path(), true)).unwrap();
    assert_eq!(current(&editor), format!("{}b\r\nb\r\n", "kept\r\n".repeat(8)));
}

#[test]
fn edit_appends_only_itself_to_the_journal() {
    let (dir, state) = directories();
    std::fs::write(dir.path().join("b.txt"), numbered(50_000)).unwrap();
    let opening = opening(&["--hold", "b.txt"], dir.path(), state.path(), false);
    let mut editor = Editor::open(&opening).unwrap();
    let mut edit = |version| {
        let run_id = format!("run {version}");
        let context = Context { run_id, version, seen_version: version, ..Context::default() };
        editor.update(insert(3, "x"), &context).unwrap();
        let found = journals(state.path()).remove(0).metadata().unwrap();
        (found.ino(), found.len())
    };
    // The first edit starts the journal with the whole text.
    let (file, length) = edit(1);
    let (same, longer) = (2..12).map(&mut edit).last().unwrap();
    // Further edits append to that file: it is not rewritten, and its length grows little.
    assert_eq!(same, file);
    assert!(longer > length && longer < length + 10 * 100, "{length} -> {longer}");
}

#[test]
fn unsaved_edits_of_files_that_are_not_opened_are_reported() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[insert(1, "mine")]);
    let mut editor = Editor::open(&opening(&["a.txt"], dir.path(), state.path(), false)).unwrap();
    let notes = editor.notes();
    assert!(notes.len() == 1 && notes[0].contains("b.txt are kept"), "{notes:?}");
    let context = Context { version: 1, ..Context::default() };
    editor.update(open("b.txt"), &context).unwrap();
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
}

#[test]
fn edit_that_cannot_be_recorded_is_not_made() {
    let (dir, state) = directories();
    for arguments in [&["a.txt"][..], &["--hold", "a.txt"]] {
        let opening = opening(arguments, dir.path(), state.path(), false);
        let mut editor = Editor::open(&opening).unwrap();
        std::fs::remove_dir_all(state.path()).unwrap();
        let context = Context { version: 1, run_id: "run".into(), ..Context::default() };
        let fault = editor.update(insert(1, "x"), &context).unwrap_err();
        assert!(fault.message.starts_with("the change couldn't be recorded in "), "{fault}");
        assert_eq!(current(&editor), numbered(5));
        assert!(!editor.current().unwrap().is_unsaved());
        assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), numbered(5));
        std::fs::create_dir(state.path()).unwrap();
        editor.update(insert(1, "x"), &context).unwrap();
        assert_eq!(editor.current().unwrap().is_unsaved(), arguments.len() > 1);
        editor.update(undo(), &context).unwrap();
    }
}
