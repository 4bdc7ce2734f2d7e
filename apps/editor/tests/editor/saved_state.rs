//! Saved state of format 1 stays readable: the files in `tests/fixtures/format-1` were written by
//! an editor of that format and are never written again.
//!
//! The files that the session edited were in `/pipemux-fixture/project`. They don't exist any more,
//! so everything that these tests see comes from the saved state.

use docui::{App, Context, Found, ViewRequest};
use pipemux_proto::Code;

use crate::support::*;

const PROJECT: &str = "/pipemux-fixture/project";
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1");
const IDS: &str = "18ea60c90246b7ed-62e0";

/// A copy of the fixture that the editor may write to.
fn state_dir() -> tempfile::TempDir {
    let state = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(FIXTURE).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), state.path().join(entry.file_name())).unwrap();
    }
    state
}

fn woken(state: &Path) -> Editor {
    let opening = docui::Opening { woken: true, ..opening(&[], Path::new(PROJECT), state, true) };
    Editor::open(&opening).unwrap()
}

fn context(version: u64) -> Context {
    Context { reader: "ada".into(), version, seen_version: version, ..Context::default() }
}

fn text_of(editor: &Editor, name: &str) -> String {
    editor.file(&Path::new(PROJECT).join(name)).unwrap().buffer().text()
}

fn is_unsaved(editor: &Editor, name: &str) -> bool {
    editor.file(&Path::new(PROJECT).join(name)).unwrap().is_unsaved()
}

fn brief(editor: &mut Editor, action: Action, version: u64) -> String {
    match editor.update(action, &context(version)).unwrap() {
        docui::Reply::Done(done) => format!("{done:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn snapshot_of_format_1_restores_texts_and_window() {
    let state = state_dir();
    let mut editor = woken(state.path());
    assert!(editor.resumed());
    assert_eq!(editor.notes(), Vec::<String>::new());
    assert!(text_of(&editor, "a2.txt").starts_with("unsaved\ntop\nfirst 漢\nline 2\nline 10\n"));
    assert_eq!(text_of(&editor, "b.txt"), "kept\r\none\r\nnew\r\ntwo\r\nthree");
    assert_eq!(text_of(&editor, "theirs.txt"), "mine\ntheirs\n");
    let names = ["c.txt", "gone.txt", "odd.txt", "theirs.txt", "b.txt", "a2.txt"];
    let unsaved: Vec<_> = names.into_iter().filter(|name| is_unsaved(&editor, name)).collect();
    assert_eq!(unsaved, ["theirs.txt", "b.txt", "a2.txt"]);
    let key = format!("{PROJECT}/b.txt");
    assert!(editor.read(&key).unwrap().starts_with("\u{feff}kept\r\n".as_bytes()));

    let look = ViewRequest {
        window: 1,
        lod: Lod::Full,
        budget: 9_000,
        version: 27,
        reader: String::new(),
    };
    let view = format!("{:?}", editor.view(&look));
    for expected in ["a2.txt · 60 lines · unsaved", "a2.txt:8-10", &format!("change-{IDS}-32")] {
        assert!(view.contains(expected), "{expected}: {view}");
    }
}

#[test]
fn snapshot_of_format_1_keeps_keys_and_their_meaning() {
    let state = state_dir();
    let editor = woken(state.path());
    let selection = format!("selection-{IDS}-12");
    assert_eq!(editor.find(&selection), Found::Here(0));
    assert_eq!(editor.read(&selection).unwrap(), b"line 4\nline 5\nline 6\n");
    let deleted = editor.find(&format!("selection-{IDS}-6"));
    assert_eq!(deleted, Found::Gone(Some("its text went with delete_lines".into())));
    // The window lists no matches any more; they keep their keys.
    let found = editor.find(&format!("match-{IDS}-34"));
    assert!(matches!(found, Found::Hidden { rev: 0, .. }), "{found:?}");
    let closed = editor.find(&format!("{PROJECT}/closed.txt"));
    assert_eq!(closed, Found::Gone(Some("it was closed".into())));
    let renamed = editor.find(&format!("{PROJECT}/a.txt"));
    assert_eq!(renamed, Found::Gone(Some("it was saved as a2.txt".into())));
}

#[test]
fn snapshot_of_format_1_keeps_undo_history_and_line_numbers() {
    let state = state_dir();
    let mut editor = woken(state.path());
    // Line 14 of version 11 was 'line 12'; two lines were put above it since.
    let seen = Context { seen_version: 11, run_id: "new".into(), ..context(27) };
    let lines = Action::Lines { first: at(14), last: at(14) };
    let docui::Reply::Done(done) = editor.update(lines, &seen).unwrap() else { panic!("asked") };
    assert!(format!("{done:?}").contains("a2.txt:16"), "{done:?}");

    // The files don't exist any more.
    brief(&mut editor, hold(), 28);
    let redo = Action::Redo { steps: 1, change: Some(format!("change-{IDS}-33").into()) };
    assert!(brief(&mut editor, redo, 29).contains("insert in c.txt: line 2 again"));
    assert_eq!(text_of(&editor, "c.txt"), "c\nundone\n");
    brief(&mut editor, undo(), 30);
    let undo =
        |id: u32| Action::Undo { steps: 1, change: Some(format!("change-{IDS}-{id}").into()) };
    assert!(brief(&mut editor, undo(30), 31).contains("insert in a2.txt: 1 line gone"));
    let undo = Action::Undo { steps: 7, change: None };
    assert!(
        brief(&mut editor, undo, 32)
            .contains("insert, insert, insert, replace, move_lines, delete_lines, insert in ")
    );
    assert_eq!(text_of(&editor, "a2.txt"), numbered(60));
    assert_eq!(text_of(&editor, "b.txt"), "one\r\ntwo\r\nthree");
    assert_eq!(text_of(&editor, "theirs.txt"), "theirs\n");
}

#[test]
fn journals_of_format_1_restore_unsaved_edits_after_a_crash() {
    let state = state_dir();
    let opening = opening(&["a2.txt"], Path::new(PROJECT), state.path(), true);
    let mut editor = Editor::open(&opening).unwrap();
    // The manifest lists six files; those without unsaved edits can't be read any more.
    let notes = editor.notes();
    let restored = |name: &str| {
        let start = format!("{name}: unsaved edits restored");
        notes.iter().any(|note| note.starts_with(&start))
    };
    assert!(notes.len() == 6 && ["a2.txt", "b.txt", "theirs.txt"].into_iter().all(restored));
    assert!(text_of(&editor, "a2.txt").starts_with("unsaved\ntop\nfirst 漢\nline 2\n"));
    assert_eq!(text_of(&editor, "b.txt"), "kept\r\none\r\nnew\r\ntwo\r\nthree");
    assert_eq!(text_of(&editor, "theirs.txt"), "mine\ntheirs\n");
    assert!(editor.current().unwrap().path().ends_with("a2.txt"));
    // Several texts were shown of every file: no line number from before the crash can be trusted.
    let lost = Context { seen_lost: true, seen_version: 0, ..context(1) };
    let named = Action::DeleteLines { first: line_of("b.txt:1"), last: line_of("b.txt:1") };
    assert_eq!(editor.update(named, &lost).unwrap_err().code, Code::Stale);
}
