//! Line numbers that a reader saw before the session was restarted.

use docui::{App, Context};

use crate::support::*;

/// Starts the session and performs actions, each in a run of its own by a reader who saw the
/// version before it. Dropping the editor ends it like a crash.
fn start(dir: &Path, state: &Path, again: bool, actions: &[Action]) -> Editor {
    let mut editor = Editor::open(&opening(&["a.txt"], dir, state, again)).unwrap();
    for (version, action) in (1..).zip(actions) {
        let (run_id, seen_version) = (format!("run {version}"), version);
        let context = Context { run_id, version, seen_version, ..Context::default() };
        editor.update(action.clone(), &context).unwrap();
    }
    editor
}

/// Performs an action for a reader who last saw the session before its restart.
fn update_after_restart(editor: &mut Editor, action: Action) -> Result<docui::Reply, Fault> {
    editor.update(action, &after_restart())
}

fn after_restart() -> Context {
    Context { run_id: "later run".into(), version: 20, seen_lost: true, ..Context::default() }
}

#[test]
fn numbers_from_before_a_restart_are_stale_if_the_file_changed_and_then_mean_the_present_lines() {
    let (dir, state) = directories();
    edit_and_crash(dir.path(), state.path(), &[]);
    std::fs::write(dir.path().join("b.txt"), "other\nlines\n").unwrap();
    let mut editor = Editor::open(&opening(&[], dir.path(), state.path(), true)).unwrap();
    let seen_lost = true;
    let context = Context { version: 1, run_id: "new".into(), seen_lost, ..Context::default() };
    let lines = |range: &str| Action::Select { first: line_of(range), last: line_of(range) };
    let fault = editor.update(lines("b.txt:2"), &context).unwrap_err();
    assert_eq!((fault.code, fault.repeatable), (pipemux_proto::Code::Stale, Some(true)));
    let there = Action::DeleteLines { first: line_of("a.txt:1"), last: line_of("a.txt:1") };
    assert!(editor.update(there, &context).is_ok());
    // The refusal said what the numbers mean now.
    let context = Context { numbers: fault.numbers.into_vec(), ..context };
    assert!(editor.update(lines("b.txt:2"), &context).is_ok());
    // No line has this number now.
    let fault = editor.update(lines("b.txt:9"), &context).unwrap_err();
    assert_eq!((fault.code, fault.repeatable), (pipemux_proto::Code::Stale, Some(false)));
}

#[test]
fn numbers_from_before_a_restart_are_stale_once_any_text_changed() {
    let named = Action::ReplaceLines { first: line_of("a.txt:3"), last: at(3), text: text("x") };
    let cases: [&[Action]; 6] = [
        &[insert(1, "new")],
        &[insert(1, "new"), save()],
        // The text is the same in the end, but in between another one was shown.
        &[insert(1, "new"), undo()],
        &[delete_lines(1, 1), undo(), save()],
        &[close(), open("a.txt")],
        &[replace_all("line", "LINE")],
    ];
    for (number, actions) in cases.iter().enumerate() {
        let (dir, state) = directories();
        drop(start(dir.path(), state.path(), false, actions));
        for again in [true, false] {
            let mut editor = start(dir.path(), state.path(), again, &[]);
            let before = current(&editor);
            let stale = [
                replace_lines(3, 3, "x"),
                named.clone(),
                delete_lines(1, 2),
                move_lines(1, 1, 3),
                insert(6, "x"),
                insert(400, "x"),
                Action::Select { first: at(1), last: at(2) },
            ];
            for action in stale {
                let fault = update_after_restart(&mut editor, action.clone()).unwrap_err();
                assert_eq!(fault.code, pipemux_proto::Code::Stale, "{number} {action:?} {fault}");
                assert!(fault.message.contains("the editor was restarted since you saw it; "));
            }
            // A query that another call takes must be what the reader saw; one by itself shows what
            // is there.
            let lines = Action::Lines { first: at(1), last: at(2) };
            let nested = Context { nested: true, ..after_restart() };
            let fault = editor.update(lines.clone(), &nested).unwrap_err();
            assert_eq!(fault.code, pipemux_proto::Code::Stale, "{number} {fault}");
            let shown = format!("{:?}", update_after_restart(&mut editor, lines).unwrap());
            let present = before.lines().zip(1..=2).map(|(line, at)| format!("{at}\t{line}\n"));
            let present = format!("{:?}", present.collect::<String>());
            assert!(shown.contains(&present), "{number} {shown}");
            assert_eq!(current(&editor), before);
        }
    }
}

#[test]
fn numbers_from_before_a_restart_count_if_only_one_text_was_ever_shown() {
    let (dir, state) = directories();
    drop(start(dir.path(), state.path(), false, &[find("line 3")]));
    let mut editor = start(dir.path(), state.path(), true, &[]);
    // A later step of the same run may use such numbers too.
    update_after_restart(&mut editor, delete_lines(1, 1)).unwrap();
    update_after_restart(&mut editor, replace_lines(3, 3, "x")).unwrap();
    assert_eq!(current(&editor), "line 2\nx\nline 4\nline 5\n");
    // They are stale once another run has changed the file since the restart.
    let (dir, state) = directories();
    drop(start(dir.path(), state.path(), false, &[]));
    let mut editor = start(dir.path(), state.path(), true, &[insert(1, "theirs")]);
    assert!(update_after_restart(&mut editor, delete_lines(3, 3)).is_err());
    let fault = update_after_restart(&mut editor, undo()).unwrap_err();
    assert!(fault.message.contains("a change that you haven't seen"), "{fault}");
    // They are also stale if the file on disk had another text between two processes.
    let (dir, state) = directories();
    drop(start(dir.path(), state.path(), false, &[]));
    std::fs::write(dir.path().join("a.txt"), numbered(6)).unwrap();
    drop(start(dir.path(), state.path(), true, &[]));
    std::fs::write(dir.path().join("a.txt"), numbered(5)).unwrap();
    let mut editor = start(dir.path(), state.path(), true, &[]);
    assert!(update_after_restart(&mut editor, delete_lines(3, 3)).is_err());
}

#[test]
fn bare_number_from_before_a_restart_needs_a_single_current_file() {
    let (dir, state) = directories();
    drop(start(dir.path(), state.path(), false, &[open("b.txt"), open("a.txt")]));
    let mut editor = start(dir.path(), state.path(), true, &[]);
    let fault = update_after_restart(&mut editor, delete_lines(1, 1)).unwrap_err();
    assert_eq!(fault.code, pipemux_proto::Code::Stale);
    let named = Action::DeleteLines { first: line_of("a.txt:1"), last: line_of("a.txt:1") };
    update_after_restart(&mut editor, named).unwrap();
    assert!(current(&editor).starts_with("line 2\n"));
    // A step of the same run says which file its numbers refer to.
    update_after_restart(&mut editor, open("b.txt")).unwrap();
    update_after_restart(&mut editor, delete_lines(1, 1)).unwrap();
    assert_eq!(current(&editor), "b\r\n");
}

#[test]
fn numbers_of_restored_text_are_the_present_ones_unless_it_may_have_been_seen() {
    let (dir, state) = directories();
    drop(start(dir.path(), state.path(), false, &[hold(), insert(1, "new")]));
    let mut host = Host::<Editor>::open(&["a.txt"], dir.path(), state.path()).unwrap();
    assert_eq!(failed(host.invoke_lost(&delete_lines(3, 3))).code, pipemux_proto::Code::Stale);
    done(host.invoke_as("stranger", 0, &delete_lines(3, 3)));
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&delete_lines(3, 3)));
}
