//! What the end of the process loses: nothing that was answered.

use docui::{App, Context};

use super::*;

/// A session whose process is simply gone at the end of the test's part.
fn edited(dir: &Path, state: &Path, actions: &[Action]) {
    let mut editor = Editor::open(&opening(&["a.txt", "b.txt"], dir, state, false)).unwrap();
    for (version, action) in (1..).zip(actions) {
        let context =
            Context { run_id: "run".into(), version, seen_version: 1, ..Context::default() };
        editor.update(action.clone(), &context).unwrap();
    }
}

fn desk() -> (tempfile::TempDir, tempfile::TempDir) {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("a.txt"), numbered(5)).unwrap();
    std::fs::write(dir.path().join("b.txt"), "b\r\nb\r\n").unwrap();
    (dir, state)
}

fn current(editor: &Editor) -> String {
    editor.current().unwrap().buffer().text()
}

#[test]
fn unsaved_edits_come_back_and_are_written_nowhere() {
    let (dir, state) = desk();
    let goto = Action::Goto { line: place("a.txt:2") };
    let edits = [insert(2, "é"), replace("é", "漢"), goto, delete_lines(5, 5), undo()];
    edited(dir.path(), state.path(), &edits[..2]);
    for again in [false, true] {
        let opening = opening(&["a.txt", "b.txt"], dir.path(), state.path(), again);
        let mut editor = Editor::open(&opening).unwrap();
        assert_eq!(current(&editor), "b\r\n漢\r\nb\r\n");
        let notes = editor.notes();
        assert!(
            notes.len() == 1 && notes[0].contains("b.txt: unsaved edits restored"),
            "{notes:?}"
        );
        assert!(editor.current().unwrap().is_unsaved());
        assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "b\r\nb\r\n");
    }
}

#[test]
fn undone_edits_and_saved_ones_leave_nothing_behind() {
    let (dir, state) = desk();
    edited(dir.path(), state.path(), &[insert(1, "x"), undo()]);
    let unsaved = |state: &Path| {
        let names = std::fs::read_dir(state).unwrap().flatten();
        names.filter(|entry| entry.path().extension().is_some_and(|e| e == "unsaved")).count()
    };
    assert_eq!(unsaved(state.path()), 0);
    edited(dir.path(), state.path(), &[insert(1, "x")]);
    assert_eq!(unsaved(state.path()), 1);
    edited(dir.path(), state.path(), &[save()]);
    assert_eq!(unsaved(state.path()), 0);
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "x\r\nb\r\nb\r\n");
}

#[test]
fn a_file_that_changed_meanwhile_is_kept_and_marked() {
    let (dir, state) = desk();
    edited(dir.path(), state.path(), &[insert(1, "mine")]);
    std::fs::write(dir.path().join("b.txt"), "theirs\n").unwrap();
    let opening = opening(&[], dir.path(), state.path(), true);
    let mut editor = Editor::open(&opening).unwrap();
    assert!(editor.notes()[0].contains("changed meanwhile: save() will ask"));
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
    editor.refresh();
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
    let context = Context { version: 1, ..Context::default() };
    assert!(matches!(editor.update(save(), &context), Ok(docui::Reply::Ask(_))));
    assert_eq!(std::fs::read_to_string(dir.path().join("b.txt")).unwrap(), "theirs\n");
}

#[test]
fn a_torn_last_record_is_left_out_and_a_damaged_journal_put_aside() {
    let (dir, state) = desk();
    edited(dir.path(), state.path(), &[insert(1, "one"), insert(2, "two")]);
    let journal = std::fs::read_dir(state.path()).unwrap().flatten();
    let journal =
        journal.map(|e| e.path()).find(|path| path.extension().is_some_and(|e| e == "unsaved"));
    let journal = journal.unwrap();
    let bytes = std::fs::read(&journal).unwrap();
    let open = || {
        let mut editor = Editor::open(&opening(&[], dir.path(), state.path(), true)).unwrap();
        let notes = editor.notes();
        (current(&editor), notes)
    };
    std::fs::write(&journal, &bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(open().0, "one\r\nb\r\nb\r\n");
    // Wherever it is cut, it is read or put aside, and the file is there.
    for cut in (0..bytes.len()).step_by(7) {
        std::fs::write(&journal, &bytes[..cut]).unwrap();
        let (text, notes) = open();
        assert!(text.ends_with("b\r\nb\r\n"), "{cut}");
        assert_eq!(
            notes.is_empty(),
            text == "b\r\nb\r\n" && !notes.iter().any(|n| n.contains("kept in"))
        );
    }
    std::fs::write(&journal, b"garbage").unwrap();
    let (text, notes) = open();
    assert_eq!(text, "b\r\nb\r\n");
    assert!(notes[0].contains("they are kept in "), "{notes:?}");
    assert!(journal.with_extension("damaged").exists());
}

#[test]
fn a_restart_opens_what_was_open_and_skips_what_is_gone() {
    let (dir, state) = desk();
    std::fs::write(dir.path().join("c.txt"), "c\n").unwrap();
    let close = Action::Close {
        file: Some(docui::Anchor::new(
            dir.path().canonicalize().unwrap().join("a.txt").to_str().unwrap(),
            0,
        )),
    };
    edited(dir.path(), state.path(), &[Action::Open { path: "c.txt".into() }, close]);
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
fn numbers_from_before_a_restart_count_only_for_the_same_lines() {
    let (dir, state) = desk();
    edited(dir.path(), state.path(), &[]);
    std::fs::write(dir.path().join("b.txt"), "other\nlines\n").unwrap();
    let mut editor = Editor::open(&opening(&[], dir.path(), state.path(), true)).unwrap();
    let context = Context { version: 1, run_id: "new".into(), ..Context::default() };
    let fault = editor.update(delete_lines(1, 1), &context).unwrap_err();
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    let there = Action::DeleteLines { first: place("a.txt:1"), last: at(1) };
    assert!(editor.update(there, &context).is_ok());
}

#[test]
fn a_long_journal_starts_anew() {
    let (dir, state) = desk();
    let long = "x".repeat(300_000);
    let edits: Vec<_> = (0..8)
        .flat_map(|_| {
            [insert(1, &long), Action::Undo { steps: 1, change: None }, insert(1, "kept")]
        })
        .collect();
    edited(dir.path(), state.path(), &edits);
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
fn kept_edits_of_files_that_are_not_opened_are_told() {
    let (dir, state) = desk();
    edited(dir.path(), state.path(), &[insert(1, "mine")]);
    let mut editor = Editor::open(&opening(&["a.txt"], dir.path(), state.path(), false)).unwrap();
    let notes = editor.notes();
    assert!(notes.len() == 1 && notes[0].contains("b.txt are kept"), "{notes:?}");
    let context = Context { version: 1, ..Context::default() };
    editor.update(Action::Open { path: "b.txt".into() }, &context).unwrap();
    assert_eq!(current(&editor), "mine\r\nb\r\nb\r\n");
}

#[test]
fn an_edit_that_cannot_be_kept_is_not_made() {
    let (dir, state) = desk();
    let mut editor = Editor::open(&opening(&["a.txt"], dir.path(), state.path(), false)).unwrap();
    std::fs::remove_dir_all(state.path()).unwrap();
    let context = Context { version: 1, run_id: "run".into(), ..Context::default() };
    let fault = editor.update(insert(1, "x"), &context).unwrap_err();
    assert!(fault.message.starts_with("the change couldn't be kept safe in "), "{fault}");
    assert_eq!(current(&editor), numbered(5));
    assert!(!editor.current().unwrap().is_unsaved());
    std::fs::create_dir(state.path()).unwrap();
    editor.update(insert(1, "x"), &context).unwrap();
    assert!(editor.current().unwrap().is_unsaved());
}
