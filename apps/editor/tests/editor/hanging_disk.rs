//! Files whose disk doesn't answer: the session goes on, and nothing is lost.

use pipemux_proto::fault::Code;

use crate::lease::Lease;
use crate::support::*;

fn title(session: &mut TestSession) -> String {
    session.host.project(Lod::Summary, 1_000).unwrap().title
}

/// Views the session until every disk has answered, and returns the title.
fn answered_title(session: &mut TestSession) -> String {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let title = title(session);
        if !title.contains("does not answer") {
            return title;
        }
        assert!(std::time::Instant::now() < deadline, "the check is never taken in");
    }
}

fn overdue(session: &mut TestSession) -> Fault {
    failed(session.host.end_wait().unwrap())
}

#[test]
fn save_that_hangs_is_answered_and_called_off_while_other_files_go_on() {
    let mut session = TestSession::holding(&[("b.txt", "b\n"), ("a.txt", "one\ntwo\n")]);
    session.done(&replace_lines(1, 1, "ONE"));
    let lease = Lease::take(&session.path("a.txt"));
    assert!(session.host.begin(&save()).is_none(), "it waits for the disk");

    assert_eq!(title(&mut session), "a.txt · 2 lines · unsaved, edits are held · being written");
    session.done(&replace_lines(2, 2, "TWO"));
    session.goto("b.txt:1");
    session.done(&replace_lines(1, 1, "B"));
    session.goto("a.txt:1");
    let refused = session.failed(&save());
    let why = "a.txt is being written, its disk has not answered yet";
    assert_eq!(refused.message, format!("{why}; saved: b.txt"));
    assert_eq!(session.on_disk("b.txt"), "B\n", "only the disk of a.txt hangs");
    for action in [save(), close(), Action::Hold { on: false }] {
        assert_eq!(session.failed(&action).message, why);
    }

    let fault = overdue(&mut session);
    assert_eq!(fault.code, Code::Failed);
    assert!(fault.message.starts_with("the disk of a.txt did not answer within "), "{fault}");
    assert!(fault.message.ends_with("; nothing was done"), "{fault}");
    drop(lease);
    assert_eq!(session.host.wait_for_work(), Vec::<String>::new());
    assert_eq!(session.on_disk("a.txt"), "one\ntwo\n", "it was called off");
    assert_eq!(answered_title(&mut session), "a.txt · 2 lines · unsaved, edits are held");

    session.done(&save());
    assert_eq!(session.on_disk("a.txt"), "ONE\nTWO\n");
    assert_eq!(session.on_disk("b.txt"), "B\n");
    session.done(&Action::Undo { steps: 3, change: None });
    assert_eq!(session.text(), "one\ntwo\n");
}

#[test]
fn text_that_is_edited_while_it_is_saved_stays_unsaved() {
    let mut session = TestSession::holding(&[("a.txt", "one\ntwo\n")]);
    session.done(&replace_lines(1, 1, "ONE"));
    let lease = Lease::take(&session.path("a.txt"));
    assert!(session.host.begin(&save()).is_none());
    session.done(&replace_lines(2, 2, "TWO"));
    drop(lease);
    session.host.wait_for_work();
    assert_eq!(session.on_disk("a.txt"), "ONE\ntwo\n");
    assert_eq!(answered_title(&mut session), "a.txt · 2 lines · unsaved, edits are held");
    session.done(&undo());
    assert_eq!(answered_title(&mut session), "a.txt · 2 lines · edits are held");
    session.done(&redo());
    session.done(&save());
    assert_eq!(session.on_disk("a.txt"), "ONE\nTWO\n");
}

#[test]
fn text_can_be_saved_elsewhere_while_its_own_disk_hangs() {
    let mut session = TestSession::holding(&[("a.txt", "one\n")]);
    session.done(&replace_lines(1, 1, "ONE"));
    let lease = Lease::take(&session.path("a.txt"));
    assert!(session.host.begin(&save()).is_none());
    let elsewhere = session.path("b.txt");
    let outcome = session
        .host
        .invoke(&Action::SaveAs { path: docui::FilePath(elsewhere.display().to_string()) });
    assert!(matches!(outcome, Outcome::Done(_) | Outcome::Failed(_)), "{outcome:?}");
    assert_eq!(session.on_disk("b.txt"), "ONE\n");
    drop(lease);
    session.host.wait_for_work();
    assert_eq!(session.on_disk("a.txt"), "ONE\n");
    session.done(&undo());
    assert_eq!(session.text(), "one\n");
}

#[test]
fn change_on_a_disk_that_hangs_is_taken_in_when_it_answers() {
    let mut session = TestSession::with(&[("b.txt", "b\n"), ("c.txt", "c\n"), ("a.txt", "one\n")]);
    for (name, text) in [("a.txt", "two\n"), ("b.txt", "bb\n"), ("c.txt", "cc\n")] {
        session.write_externally(name, text);
    }
    let lease = Lease::take(&session.path("b.txt"));
    let shown = session.view();
    assert!(shown.contains("1\ttwo\n"), "{shown}");
    session.goto("b.txt:1");
    assert_eq!(title(&mut session), "b.txt · 1 line · its disk does not answer");
    session.goto("c.txt:1");
    assert_eq!(session.text(), "cc\n");
    drop(lease);
    session.goto("b.txt:1");
    assert_eq!(answered_title(&mut session), "b.txt · 1 line");
    assert_eq!(session.text(), "bb\n");
    let fault = session.failed(&undo());
    assert_eq!(fault.message, "nothing to undo", "what others wrote is nobody's to take back");
}

#[test]
fn open_that_hangs_is_answered_and_opens_nothing_later() {
    let mut session = TestSession::with(&[("a.txt", "one\n")]);
    let path = session.path("b.txt");
    std::fs::write(&path, "b\n").unwrap();
    let lease = Lease::take(&path);
    assert!(session.host.begin(&open("b.txt")).is_none());
    assert_eq!(title(&mut session), "a.txt · 1 line");
    let fault = overdue(&mut session);
    assert!(fault.message.starts_with("the disk of b.txt did not answer"), "{fault}");
    drop(lease);
    assert_eq!(session.host.wait_for_work(), Vec::<String>::new());
    assert_eq!(answered_title(&mut session), "a.txt · 1 line");
    session.done(&open("b.txt"));
    assert_eq!(session.text(), "b\n");
}

#[test]
fn session_starts_without_the_file_whose_disk_hangs() {
    let (dir, state) = directories();
    edit_and_crash(
        dir.path(),
        state.path(),
        &[insert(1, "new"), goto("a.txt:1"), insert(1, "new")],
    );
    let lease = Lease::take(&dir.path().join("b.txt"));
    let restarted = || {
        let opening = opening(&["a.txt", "b.txt"], dir.path(), state.path(), true);
        <Editor as docui::App>::open(&opening).unwrap()
    };
    let mut editor = restarted();
    let notes = docui::App::notes(&mut editor);
    let silent = "b.txt is no longer open: the disk of ";
    assert!(notes.iter().any(|note| note.starts_with(silent)), "{notes:?}");
    assert!(
        notes.iter().any(|note| note.ends_with("b.txt are kept; open the file to restore them."))
    );
    assert!(
        notes.iter().any(|note| note.starts_with("a.txt: unsaved edits restored")),
        "{notes:?}"
    );
    drop(lease);
    let context = docui::Context { version: 1, seen_version: 1, ..docui::Context::default() };
    docui::App::update(&mut editor, open("b.txt"), &context).unwrap();
    assert!(current(&editor).starts_with("new"), "{}", current(&editor));
}
