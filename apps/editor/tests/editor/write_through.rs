//! Edits are on disk when they are done, and undo leads back to each earlier text, also after
//! restarts.

use std::fs;

use proptest::prelude::*;

use crate::support::*;

#[derive(Debug, Clone)]
enum Step {
    Insert(usize, &'static str),
    Delete(usize),
    Create(usize, &'static str),
    Undo(i64),
    Redo,
    Hold(bool),
    /// The process ends and starts again.
    Crash,
    Hibernate,
}

fn step() -> impl Strategy<Value = Step> {
    let words = || prop::sample::select(vec!["one", "漢\nzwei", "x\n", "y"]);
    prop_oneof![
        6 => (0..3_usize, words()).prop_map(|(file, text)| Step::Insert(file, text)),
        3 => (0..3_usize).prop_map(Step::Delete),
        2 => (0..3_usize, words()).prop_map(|(file, text)| Step::Create(file, text)),
        4 => (1..4_i64).prop_map(Step::Undo),
        2 => Just(Step::Redo),
        1 => any::<bool>().prop_map(Step::Hold),
        1 => Just(Step::Crash),
        1 => Just(Step::Hibernate),
    ]
}

const NAMES: [&str; 3] = ["a.txt", "b.txt", "new/c.txt"];

/// The texts of all files, as the session has them.
fn texts(host: &Host<Editor>, dir: &Path) -> Vec<Option<String>> {
    let root = dir.canonicalize().unwrap();
    let text = |name: &&str| {
        let file = host.app().unwrap().file(&root.join(name));
        let on_disk = fs::read_to_string(root.join(name)).ok();
        match file {
            Some(file) if file.is_unsaved() => Some(file.buffer().text()),
            Some(file) if file.is_new() => None,
            Some(file) => {
                assert_eq!(Some(file.buffer().text()), on_disk, "{name} is on disk");
                on_disk
            }
            None => on_disk,
        }
    };
    NAMES.iter().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn disk_has_each_edit_and_undo_leads_back_to_every_earlier_text(
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(dir.path().join("a.txt"), numbered(3)).unwrap();
        fs::write(dir.path().join("b.txt"), "b\r\nno newline").unwrap();
        let opens: &[&[&str]] = &[&["a.txt", "b.txt"]];
        let mut host = Host::<Editor>::open_as("editor/main", opens[0], dir.path(), state.path()).unwrap();
        // The texts before each change that can be undone.
        let mut before = Vec::new();
        let mut hold = false;
        for step in steps {
            host.project(Lod::Full, 9_000).unwrap();
            let now = texts(&host, dir.path());
            let line = |file: usize| line_of(&format!("{}:1", NAMES[file]));
            let action = match &step {
                Step::Insert(file, new) => Action::Insert { at: line(*file), text: text(new) },
                Step::Delete(file) => Action::DeleteLines { first: line(*file), last: line(*file) },
                Step::Create(file, new) => Action::Create { path: NAMES[*file].into(), text: text(new).into(), overwrite: true },
                Step::Undo(steps) => Action::Undo { steps: *steps, change: None },
                Step::Redo => redo(),
                Step::Hold(on) => Action::Hold { on: *on },
                Step::Crash => {
                    host = Host::restart("editor/main", opens, dir.path(), state.path());
                    prop_assert_eq!(&texts(&host, dir.path()), &now);
                    continue;
                }
                Step::Hibernate => {
                    host.hibernate_and_wake(opens).unwrap();
                    prop_assert_eq!(&texts(&host, dir.path()), &now);
                    continue;
                }
            };
            let outcome = host.invoke(&action);
            let then = texts(&host, dir.path());
            let Outcome::Done(done) = outcome else {
                prop_assert_eq!(&then, &now, "{:?} failed and changed something", step);
                continue;
            };
            match step {
                Step::Undo(steps) => {
                    let mut text: Vec<Option<String>> = now;
                    for _ in 0..steps {
                        text = before.pop().unwrap();
                    }
                    prop_assert_eq!(&then, &text);
                }
                Step::Redo => before.push(now),
                Step::Hold(on) => {
                    hold = on;
                    prop_assert_eq!(&then, &now);
                }
                _ if done.brief.starts_with("no change") => prop_assert_eq!(&then, &now),
                _ => {
                    before.push(now);
                }
            }
            let unsaved = host.app().unwrap().current().is_some_and(|file| file.is_unsaved());
            prop_assert!(hold || !unsaved, "everything is on disk");
        }
        host.project(Lod::Full, 9_000).unwrap();
        // A file that is on disk can't be deleted by an undo that is held.
        done(host.invoke(&Action::Hold { on: false }));
        while let Some(text) = before.pop() {
            host.project(Lod::Full, 9_000).unwrap();
            done(host.invoke(&undo()));
            prop_assert_eq!(&texts(&host, dir.path()), &text);
        }
    }
}

#[test]
fn edit_is_on_disk_when_it_is_done_and_the_title_says_nothing_about_it() {
    let mut session = TestSession::with(&[("a.txt", "one\ntwo\n")]);
    session.done(&replace("one", "ONE"));
    assert_eq!(session.on_disk("a.txt"), "ONE\ntwo\n");
    assert!(session.view().starts_with("## a.txt · 2 lines\n"));
    assert_eq!(session.done(&hold()).brief, "edits stay in the session until save()");
    session.done(&replace("two", "TWO"));
    assert_eq!(session.on_disk("a.txt"), "ONE\ntwo\n");
    assert!(session.view().starts_with("## a.txt · 2 lines · unsaved, edits are held\n"));
    assert_eq!(session.done(&Action::Hold { on: false }).brief, "off · saved a.txt");
    assert_eq!(session.on_disk("a.txt"), "ONE\nTWO\n");
    assert_eq!(
        session.done(&Action::Undo { steps: 2, change: None }).brief,
        "replace, replace in a.txt: lines 1-2 as before"
    );
    assert_eq!(session.on_disk("a.txt"), "one\ntwo\n");
}

#[test]
fn hold_that_has_ended_stays_ended_after_a_crash() {
    let (dir, state) = directories();
    let opens: &[&[&str]] = &[&["a.txt"]];
    let mut host =
        Host::<Editor>::open_as("editor/main", opens[0], dir.path(), state.path()).unwrap();
    for action in [hold(), insert(1, "held"), Action::Hold { on: false }] {
        host.project(Lod::Full, 9_000).unwrap();
        done(host.invoke(&action));
    }
    host = Host::restart("editor/main", opens, dir.path(), state.path());
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&insert(1, "new")));
    let on_disk = fs::read_to_string(dir.path().join("a.txt")).unwrap();
    assert_eq!(on_disk, format!("new\nheld\n{}", numbered(5)));
}

#[test]
fn undo_of_changes_that_add_up_to_nothing_takes_them_back_also_after_a_restart() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    let opens: &[&[&str]] = &[&["a.txt"]];
    let mut host =
        Host::<Editor>::open_as("editor/main", opens[0], dir.path(), state.path()).unwrap();
    for action in [insert(1, "first"), delete_lines(2, 2), insert(2, "one")] {
        host.project(Lod::Full, 9_000).unwrap();
        done(host.invoke(&action));
    }
    host.project(Lod::Full, 9_000).unwrap();
    let undone = done(host.invoke(&Action::Undo { steps: 2, change: None }));
    assert_eq!(undone.brief, "insert, delete_lines in a.txt: unchanged");
    host = Host::restart("editor/main", opens, dir.path(), state.path());
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&undo()));
    let on_disk = || fs::read_to_string(dir.path().join("a.txt")).unwrap();
    assert_eq!(on_disk(), "one\n");
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&Action::Redo { steps: 2, change: None }));
    assert_eq!(on_disk(), "first\n");
    host.project(Lod::Full, 9_000).unwrap();
    done(host.invoke(&redo()));
    assert_eq!(on_disk(), "first\none\n");
    host.project(Lod::Full, 9_000).unwrap();
    assert_eq!(failed(host.invoke(&redo())).message, "nothing to redo");
}

#[test]
fn path_that_does_not_exist_is_a_new_file_that_its_first_edit_writes() {
    let mut session = TestSession::with(&[("good.txt", "x\n")]);
    let opened = session.done(&open("deep/er/goud.txt"));
    assert_eq!(opened.brief, "deep/er/goud.txt is a new file");
    assert!(session.view().starts_with("## deep/er/goud.txt · 0 lines · new\n"));
    assert!(!session.path("deep").exists());
    session.done(&insert(1, "hello"));
    assert_eq!(session.on_disk("deep/er/goud.txt"), "hello\n");
    assert_eq!(session.done(&undo()).brief, "insert in deep/er/goud.txt: deleted");
    assert!(!session.path("deep/er/goud.txt").exists());
    let notes = session.host.attach(&["goud.txt"]).unwrap();
    assert_eq!(notes, ["goud.txt is a new file (there is good.txt)."]);
}

#[test]
fn folder_and_glob_open_their_text_files_in_one_line() {
    let mut session = TestSession::with(&[("a.txt", "a\n")]);
    fs::create_dir_all(session.path("src/deep")).unwrap();
    fs::create_dir(session.path(".git")).unwrap();
    fs::write(session.path(".gitignore"), "*.log\n").unwrap();
    for number in 0..12 {
        fs::write(session.path(&format!("src/{number:02}.rs")), "fn f() {}\n").unwrap();
    }
    fs::write(session.path("src/deep/one.rs"), "mod x;\n").unwrap();
    fs::write(session.path("src/left.log"), "ignored\n").unwrap();
    fs::write(session.path("src/binary"), b"a\0b").unwrap();
    let opened = session.done(&open("src"));
    assert_eq!(opened.brief, "13 files open in src; 1 not text · src/00.rs, 1 line");
    assert!(session.view().contains("\n14 files open in src, ., src/deep\n"), "{}", session.view());
    let opened = session.done(&open("src/{deep,x}/*.rs"));
    assert_eq!(opened.brief, "1 file open in src/{deep,x}/*.rs · src/deep/one.rs, 1 line");
    let attached = session.host.attach(&["src/*.rs", "a.txt"]).unwrap();
    assert_eq!(attached, ["12 files open in src/*.rs."]);
    assert!(session.view().starts_with("## a.txt"));
    assert_eq!(session.failed(&open("src/*.py")).message, "no file matches src/*.py");
    let several = Action::Open { path: vec!["src/01.rs".into(), "src/02.rs".into()] };
    assert_eq!(session.done(&several).brief, "14 files open; src/02.rs, 1 line");
}

#[test]
fn create_makes_folders_and_asks_before_it_replaces_a_file() {
    let mut session = TestSession::with(&[("a.txt", "one\ntwo\n")]);
    let create = |path: &str, new: &str, overwrite| Action::Create {
        path: path.into(),
        text: text(new).into(),
        overwrite,
    };
    assert_eq!(
        session.done(&create("src/x/mod.rs", "mod x;", false)).brief,
        "src/x/mod.rs, 1 line"
    );
    assert_eq!(session.on_disk("src/x/mod.rs"), "mod x;\n");
    assert_eq!(session.asks(&create("a.txt", "new", false)).question.text, "a.txt exists, 2 lines");
    assert_eq!(session.on_disk("a.txt"), "one\ntwo\n");
    let replaced = done(session.host.answer(docui::Choice::Picked(vec![1])));
    assert!(replaced.brief.starts_with("a.txt, 1 line in place of 2"), "{}", replaced.brief);
    assert_eq!(session.on_disk("a.txt"), "new\n");
    session.view();
    session.done(&undo());
    assert_eq!(session.on_disk("a.txt"), "one\ntwo\n");
    session.view();
    session.done(&create("a.txt", "new", true));
    assert_eq!(session.on_disk("a.txt"), "new\n");
}

#[test]
fn saved_files_are_closed_to_make_room_and_unsaved_ones_never() {
    use pipemux_editor::limits::FILES_MAX;
    let mut session = TestSession::with(&[("a.txt", "a\n")]);
    session.done(&hold());
    session.done(&insert(1, "held"));
    for number in 0..FILES_MAX {
        let name = format!("{number}.txt");
        fs::write(session.path(&name), "x\n").unwrap();
        session.done(&open(&name));
    }
    let editor = session.host.app().unwrap();
    let root = session.files.path().canonicalize().unwrap();
    assert!(editor.file(&root.join("a.txt")).unwrap().is_unsaved());
    assert!(editor.file(&root.join("0.txt")).is_none());
    assert!(editor.file(&root.join(format!("{}.txt", FILES_MAX - 1))).is_some());
    let shown = session.view();
    let listed = format!("{FILES_MAX} files open in . · unsaved: [a.txt]");
    assert!(shown.contains(&listed), "{}", &shown[..300]);
}
