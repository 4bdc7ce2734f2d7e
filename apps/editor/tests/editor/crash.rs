//! What the end of the process loses: nothing that was answered.

use std::os::unix::fs::MetadataExt;

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
        assert!(notes == ["b.txt: unsaved edits restored, undo history is lost."], "{notes:?}");
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
    assert!(editor.notes()[0].contains("changed in the meantime: save() will ask"));
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
fn an_edit_writes_down_itself_and_not_the_text() {
    let (dir, state) = desk();
    std::fs::write(dir.path().join("b.txt"), numbered(50_000)).unwrap();
    let opening = opening(&["b.txt"], dir.path(), state.path(), false);
    let mut editor = Editor::open(&opening).unwrap();
    let mut edit = |version| {
        let run_id = format!("run {version}");
        let context = Context { run_id, version, seen_version: version, ..Context::default() };
        editor.update(insert(3, "x"), &context).unwrap();
        let mut kept = std::fs::read_dir(state.path()).unwrap().flatten();
        let journal = kept.find(|entry| entry.path().extension().is_some_and(|e| e == "unsaved"));
        let found = journal.unwrap().metadata().unwrap();
        (found.ino(), found.len())
    };
    // The first one writes the text down, once.
    let (file, length) = edit(1);
    let (same, longer) = (2..12).map(&mut edit).last().unwrap();
    // The journal in which the text stands is the same file, not one written anew.
    assert_eq!(same, file);
    assert!(longer > length && longer < length + 10 * 100, "{length} -> {longer}");
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
    assert!(fault.message.starts_with("the change couldn't be recorded in "), "{fault}");
    assert_eq!(current(&editor), numbered(5));
    assert!(!editor.current().unwrap().is_unsaved());
    std::fs::create_dir(state.path()).unwrap();
    editor.update(insert(1, "x"), &context).unwrap();
    assert!(editor.current().unwrap().is_unsaved());
}

/// What happens to a session in one life, by a reader who saw its beginning.
fn life(dir: &Path, state: &Path, again: bool, actions: &[Action]) -> Editor {
    let mut editor = Editor::open(&opening(&["a.txt"], dir, state, again)).unwrap();
    for (version, action) in (1..).zip(actions) {
        let (run_id, seen_version) = (format!("life {version}"), version);
        let context = Context { run_id, version, seen_version, ..Context::default() };
        editor.update(action.clone(), &context).unwrap();
    }
    editor
}

fn by_lost(editor: &mut Editor, action: Action) -> Result<docui::Reply, Fault> {
    let context =
        Context { run_id: "lost".into(), version: 20, seen_lost: true, ..Context::default() };
    editor.update(action, &context)
}

#[test]
fn numbers_of_an_earlier_life_are_refused_once_anything_has_changed() {
    let open = |path: &str| Action::Open { path: path.into() };
    let named = Action::ReplaceLines { first: place("a.txt:3"), last: at(3), text: text("x") };
    let lives: [&[Action]; 7] = [
        &[insert(1, "new")],
        &[insert(1, "new"), save()],
        // The text is the same in the end, yet somebody was shown another one.
        &[insert(1, "new"), undo()],
        &[delete_lines(1, 1), undo(), save()],
        &[Action::SaveAs { path: "c.txt".into() }, open("a.txt")],
        &[Action::Close { file: None }, open("a.txt")],
        &[Action::Replace { old: "line".into(), new: text("LINE"), all: true }],
    ];
    for (number, actions) in lives.iter().enumerate() {
        let (dir, state) = desk();
        drop(life(dir.path(), state.path(), false, actions));
        for again in [true, false] {
            let mut editor = life(dir.path(), state.path(), again, &[]);
            let before = current(&editor);
            let stale = [
                replace_lines(3, 3, "x"),
                named.clone(),
                delete_lines(1, 2),
                move_lines(1, 1, 3),
                insert(6, "x"),
                insert(400, "x"),
                Action::Lines { first: at(1), last: at(2) },
                Action::Select { first: at(1), last: at(2) },
            ];
            for action in stale {
                let fault = by_lost(&mut editor, action.clone()).unwrap_err();
                assert_eq!(fault.code, pipemux_proto::Code::Stale, "{number} {action:?} {fault}");
                assert!(
                    fault.message.contains("the editor was restarted since you saw it; now:\n")
                );
            }
            assert_eq!(current(&editor), before);
        }
    }
}

#[test]
fn numbers_of_an_earlier_life_count_when_nobody_ever_saw_another_text() {
    let (dir, state) = desk();
    drop(life(dir.path(), state.path(), false, &[Action::Find { text: "line 3".into() }]));
    let mut editor = life(dir.path(), state.path(), true, &[]);
    // Also those of a later step, after the run's own changes.
    by_lost(&mut editor, delete_lines(1, 1)).unwrap();
    by_lost(&mut editor, replace_lines(3, 3, "x")).unwrap();
    assert_eq!(current(&editor), "line 2\nx\nline 4\nline 5\n");
    // Somebody else's change in this life ends it.
    let (dir, state) = desk();
    drop(life(dir.path(), state.path(), false, &[]));
    let mut editor = life(dir.path(), state.path(), true, &[insert(1, "theirs")]);
    assert!(by_lost(&mut editor, delete_lines(3, 3)).is_err());
    let fault = by_lost(&mut editor, undo()).unwrap_err();
    assert!(fault.message.contains("a change that you haven't seen"), "{fault}");
    // And so does a change on disk between two lives.
    let (dir, state) = desk();
    drop(life(dir.path(), state.path(), false, &[]));
    std::fs::write(dir.path().join("a.txt"), numbered(6)).unwrap();
    drop(life(dir.path(), state.path(), true, &[]));
    std::fs::write(dir.path().join("a.txt"), numbered(5)).unwrap();
    let mut editor = life(dir.path(), state.path(), true, &[]);
    assert!(by_lost(&mut editor, delete_lines(3, 3)).is_err());
}

#[test]
fn a_bare_number_of_an_earlier_life_needs_the_one_file_that_was_ever_current() {
    let (dir, state) = desk();
    let open = |path: &str| Action::Open { path: path.into() };
    drop(life(dir.path(), state.path(), false, &[open("b.txt"), open("a.txt")]));
    let mut editor = life(dir.path(), state.path(), true, &[]);
    let fault = by_lost(&mut editor, delete_lines(1, 1)).unwrap_err();
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    let named = Action::DeleteLines { first: place("a.txt:1"), last: place("a.txt:1") };
    by_lost(&mut editor, named).unwrap();
    assert!(current(&editor).starts_with("line 2\n"));
    // One's own step says which file is meant.
    by_lost(&mut editor, open("b.txt")).unwrap();
    by_lost(&mut editor, delete_lines(1, 1)).unwrap();
    assert_eq!(current(&editor), "b\r\n");
}

#[test]
fn a_reader_who_never_looked_names_no_lines_of_what_was_restored() {
    let (dir, state) = desk();
    drop(life(dir.path(), state.path(), false, &[insert(1, "new")]));
    let mut host = Host::<Editor>::open(&["a.txt"], dir.path(), state.path()).unwrap();
    let fault = failed(host.invoke_as("stranger", 0, &delete_lines(3, 3)));
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    assert_eq!(failed(host.invoke_lost(&delete_lines(3, 3))).code, pipemux_proto::Code::Stale);
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&delete_lines(3, 3)));
}
