//! Opening, saving, closing.

use std::os::unix::fs::PermissionsExt;

use docui::{Choice, Line};
use pipemux_proto::Code;

use crate::support::*;

fn refusal(name: &str, prepare: impl FnOnce(&Path)) -> Fault {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("good.txt"), "good\n").unwrap();
    prepare(&dir.path().join(name));
    let opened = Host::<Editor>::open(&["good.txt", name], dir.path(), state.path());
    let fault = opened.err().expect("the open must be refused");
    let listed = std::fs::read_dir(state.path()).unwrap().count();
    assert_eq!(listed, 0, "either all files are opened or none");
    fault
}

#[test]
fn files_that_are_not_text_are_refused_with_the_reason() {
    let fault =
        refusal("latin1", |path| std::fs::write(path, b"\xef\xbb\xbfa\ncaf\xe9\n").unwrap());
    assert!(fault.message.ends_with("latin1 is not UTF-8: byte 8 in line 2"), "{fault}");
    let fault = refusal("huge", |path| {
        std::fs::File::create(path).unwrap().set_len(pipemux_editor::limits::FILE_MAX + 1).unwrap();
    });
    assert!(fault.message.ends_with("huge is larger than the limit of 64 MiB"), "{fault}");
    let fault = refusal("good.txt/a.txt", |_| {});
    assert!(fault.message.ends_with("good.txt is a file, not a folder"), "{fault}");
    let fault = refusal("dangling", |path| std::os::unix::fs::symlink("nowhere", path).unwrap());
    assert_eq!(fault.code, Code::NotFound);
    let socket = refusal("socket", |path| drop(std::os::unix::net::UnixListener::bind(path)));
    assert!(socket.message.ends_with("socket is a socket, expected a file"), "{socket}");
}

#[test]
fn unreadable_file_is_refused() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = dir.path().join("secret");
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let fault = Host::<Editor>::open(&["secret"], dir.path(), state.path()).err();
    // Root may read everything, so there the file opens.
    let message = fault.map(|fault| fault.message).unwrap_or_default();
    let readable = std::fs::File::open(&path).is_ok();
    assert_eq!(message.ends_with("secret: permission denied"), !readable, "{message}");
}

#[test]
fn replacement_without_a_current_file_is_for_the_project_and_an_insertion_asks_for_a_file() {
    let mut session = TestSession::with(&[]);
    std::fs::write(session.path("a.txt"), "a\nb\n").unwrap();
    std::fs::write(session.path("b.txt"), "c\nd\n").unwrap();
    let mut in_a = replace("a", "A");
    if let Action::Replace { r#in, .. } = &mut in_a {
        *r#in = vec!["a.txt".into()];
    }
    session.done(&in_a);
    session.done(&replace("d", "D"));
    assert_eq!(std::fs::read_to_string(session.path("b.txt")).unwrap(), "c\nD\n");
    let fault = session.failed(&insert(1, "x"));
    assert_eq!(fault.message, "no file is the current one; loaded: b.txt, a.txt");
    assert_eq!(fault.hints, [r#"pipemux run 'editor.goto("b.txt:1")'"#]);
}

#[test]
fn replacement_without_a_match_in_the_current_file_names_the_files_that_have_one() {
    let mut session = TestSession::with(&[("a.txt", "a\nb\n")]);
    std::fs::write(session.path("b.txt"), "a\nc\n").unwrap();
    let outcome = session.done(&replace("a", "A"));
    assert_eq!(outcome.brief, "1 match, line 1");
    let fault = session.failed(&replace("c", "C"));
    let message = "no match in a.txt, the current file; the project has 1 match: b.txt";
    assert_eq!(fault.message, message);
    assert_eq!(fault.hints, [r#"name the files: in=["b.txt"]"#]);
    assert_eq!(std::fs::read_to_string(session.path("b.txt")).unwrap(), "a\nc\n");
    assert_eq!(session.failed(&replace("zzz", "Z")).message, "no match in a.txt");
}

#[test]
fn session_without_files_says_how_to_open_one() {
    let mut session = TestSession::with(&[]);
    assert!(session.view().contains("pipemux open editor <path>"));
    assert_eq!(session.failed(&save()).message, "no file is open");
    std::fs::write(session.path("a.txt"), "a\nb\n").unwrap();
    assert_eq!(session.done(&open("a.txt")).brief, "a.txt, 2 lines");
    assert!(session.view().starts_with("## a.txt · 2 lines\n"));
}

#[test]
fn file_opened_by_two_names_is_open_once() {
    let mut session = TestSession::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    std::os::unix::fs::symlink(session.path("a.txt"), session.path("link")).unwrap();
    session.host.attach(&["./link"]).unwrap();
    let shown = session.view();
    assert!(shown.starts_with("## a.txt · 1 line\n"), "{shown}");
    assert_eq!(
        session.objects().iter().filter(|object| object.ty.as_deref() == Some("file")).count(),
        2
    );
    let outcome = session.done(&open("b.txt"));
    assert_eq!(outcome.brief, "b.txt, 1 line, already open");
}

#[test]
fn save_keeps_permissions_and_symlinks() {
    let mut session = TestSession::with(&[("run.sh", "#!/bin/sh\n")]);
    std::os::unix::fs::symlink("run.sh", session.path("link")).unwrap();
    std::fs::set_permissions(session.path("run.sh"), std::fs::Permissions::from_mode(0o751))
        .unwrap();
    session.host.attach(&["link"]).unwrap();
    session.done(&insert(2, "echo"));
    assert_eq!(session.on_disk("run.sh"), "#!/bin/sh\necho\n");
    assert!(std::fs::symlink_metadata(session.path("link")).unwrap().is_symlink());
    let mode = std::fs::metadata(session.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(session.done(&save()).brief, "no changes");
    let names = std::fs::read_dir(session.files.path()).unwrap().count();
    assert_eq!(names, 2, "no temporary file is left");
}

#[test]
fn read_only_file_is_not_written() {
    let mut session = TestSession::with(&[("a.txt", "a\n")]);
    std::fs::set_permissions(session.path("a.txt"), std::fs::Permissions::from_mode(0o444))
        .unwrap();
    assert!(session.failed(&insert(1, "x")).message.ends_with("a.txt is read-only"));
    assert_eq!((session.text().as_str(), session.on_disk("a.txt").as_str()), ("a\n", "a\n"));
    session.done(&hold());
    session.done(&insert(1, "x"));
    assert!(session.failed(&save()).message.ends_with("a.txt is read-only"));
    assert_eq!(session.on_disk("a.txt"), "a\n");
}

#[test]
fn file_changed_on_disk_is_never_overwritten_unasked() {
    let mut session = TestSession::holding(&[("a.txt", "a\nb\n")]);
    session.done(&replace("b", "mine"));
    session.write_externally("a.txt", "a\ntheirs\n");
    assert!(
        session
            .view()
            .starts_with("## a.txt · 2 lines · unsaved, edits are held · changed on disk\n")
    );
    let needs = session.asks(&save());
    assert_eq!(needs.question.text, "a.txt was changed on disk by someone else (its line 2)");
    let labels: Vec<_> = needs.question.options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["overwrite", "reload", "keep"]);
    let fault = failed(session.host.answer(Choice::Picked(vec![3])));
    assert_eq!(
        (fault.message.as_str(), session.on_disk("a.txt").as_str()),
        ("a.txt was not saved", "a\ntheirs\n")
    );

    session.asks(&save());
    // The file changes once more before the answer, so the question is asked again.
    session.write_externally("a.txt", "a\ntheirs 2\n");
    assert!(matches!(session.host.answer(Choice::Picked(vec![1])), Outcome::Needs(_)));
    assert_eq!(session.on_disk("a.txt"), "a\ntheirs 2\n");
    done(session.host.answer(Choice::Picked(vec![2])));
    assert_eq!(
        (session.text().as_str(), session.on_disk("a.txt").as_str()),
        ("a\ntheirs 2\n", "a\ntheirs 2\n")
    );
    assert!(session.view().starts_with("## a.txt · 2 lines · edits are held\n"));
    session.done(&undo());
    assert_eq!(session.text(), "a\nmine\n", "undo brings the overwritten edits back");
    session.done(&save());
    assert_eq!(session.on_disk("a.txt"), "a\nmine\n");

    session.done(&replace("mine", "more"));
    session.write_externally("a.txt", "x\n");
    session.asks(&save());
    done(session.host.answer(Choice::Picked(vec![1])));
    assert_eq!(session.on_disk("a.txt"), "a\nmore\n");
}

#[test]
fn file_deleted_on_disk_is_written_again_after_a_question() {
    let mut session = TestSession::with(&[("a.txt", "a\n")]);
    std::fs::remove_file(session.path("a.txt")).unwrap();
    assert!(session.view().starts_with("## a.txt · 1 line · deleted on disk\n"));
    assert_eq!(session.asks(&save()).question.text, "a.txt was deleted on disk");
    done(session.host.answer(Choice::Picked(vec![1])));
    assert_eq!(session.on_disk("a.txt"), "a\n");
    assert!(session.view().starts_with("## a.txt · 1 line\n"));
}

#[test]
fn file_without_unsaved_edits_follows_the_disk() {
    let mut session = TestSession::with(&[("a.txt", &numbered(20))]);
    session.write_externally("a.txt", &numbered(20).replace("line 7\n", "seven\nand a half\n"));
    assert!(session.view().starts_with("## a.txt · 21 lines\n"));
    assert!(session.text().contains("seven\nand a half\n"));
    session.write_externally("a.txt", "\u{feff}with a mark\n");
    assert!(session.view().contains("1\twith a mark\n"));
    session.write_externally("a.txt", "not text \0");
    let shown = session.view();
    assert!(shown.contains("changed on disk to content that can't be opened"), "{shown}");
    assert_eq!(session.text(), "with a mark\n");
}

#[test]
fn save_as_writes_a_copy_and_goes_on_with_the_original() {
    let mut session = TestSession::holding(&[("a.sh", "a\n"), ("other.txt", "other\n")]);
    session.goto("a.sh:1");
    std::fs::set_permissions(session.path("a.sh"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let save_as = |name: &str| Action::SaveAs { path: name.into() };
    session.done(&insert(2, "b"));
    assert_eq!(session.failed(&save_as("other.txt")).message, "other.txt is open in this session");
    assert_eq!(session.done(&save_as("new.sh")).brief, "new.sh, 2 lines, a copy");
    assert_eq!(
        (session.on_disk("new.sh").as_str(), session.on_disk("a.sh").as_str()),
        ("a\nb\n", "a\n")
    );
    let mode = std::fs::metadata(session.path("new.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(session.view().starts_with("## a.sh · 2 lines · unsaved, edits are held\n"));
    session.done(&insert(3, "c"));
    assert_eq!(session.asks(&save_as("new.sh")).question.text, "new.sh already exists");
    let kept = failed(session.host.answer(Choice::Picked(vec![2])));
    assert!(kept.message.contains("new.sh was kept"), "{kept}");
    session.asks(&save_as("new.sh"));
    done(session.host.answer(Choice::Picked(vec![1])));
    assert_eq!(session.on_disk("new.sh"), "a\nb\nc\n");
    session.done(&save_as("no/such/dir.txt"));
    assert_eq!(session.on_disk("no/such/dir.txt"), "a\nb\nc\n");
    assert!(session.failed(&save_as("a.sh")).message.contains("is the file itself"));
    assert!(session.failed(&save_as(".")).message.contains("is a directory"));
}

#[test]
fn file_with_unsaved_changes_is_not_closed_unasked() {
    let mut session = TestSession::holding(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    session.done(&insert(1, "x"));
    assert_eq!(session.asks(&close()).question.text, "c.txt has unsaved changes");
    assert_eq!(failed(session.host.answer(Choice::Picked(vec![3]))).message, "c.txt is still open");
    session.asks(&close());
    let saved = done(session.host.answer(Choice::Picked(vec![1])));
    let path = session.path("c.txt").canonicalize().unwrap();
    assert_eq!(saved.changed_files, [path.to_str().unwrap()]);
    assert_eq!(session.on_disk("c.txt"), "x\nc\n");
    assert!(session.view().starts_with("## b.txt"));
    session.done(&insert(1, "x"));
    session.asks(&close());
    assert_eq!(
        done(session.host.answer(Choice::Picked(vec![2]))).brief,
        "b.txt, changes discarded"
    );
    assert_eq!(session.on_disk("b.txt"), "b\n");
    let key = session.host.app().unwrap().current().unwrap().key();
    let anchored = Action::Close { file: Some(docui::Anchor::new(key, 0)) };
    session.view();
    assert_eq!(session.done(&anchored).brief, "a.txt");
    assert!(session.view().starts_with("## no file"));
    assert_eq!(session.failed(&anchored).hints, ["it was closed"]);
}

#[test]
fn diff_compares_with_before_the_changes_of_the_session() {
    let mut session = TestSession::with(&[("a.txt", &numbered(9)), ("b.txt", "b\n")]);
    let diff =
        |files: &[&str]| Action::Diff { r#in: files.iter().map(|f| (*f).to_owned()).collect() };
    let none = "0 files differ from before this session's changes";
    assert_eq!(session.done(&diff(&[])).brief, none);
    session.goto("a.txt:1");
    session.done(&replace_lines(5, 5, "five\nand more"));
    let outcome = session.done(&diff(&[]));
    let brief = "1 file, +2 -1 lines; compared with before this session's changes";
    assert_eq!(outcome.brief, brief);
    let expected = "--- a.txt\n+++ a.txt\n@@ -2,7 +2,8 @@\n line 2\n line 3\n line 4\n-line 5\n+five\n+and more\n line 6\n line 7\n line 8\n";
    assert_eq!(value(&outcome), expected);
    let shown = format!("{:?}", outcome.content);
    assert!(
        shown.contains("a.txt: +2 -1\\n@@ -5 +5,2 @@\\n-line 5\\n+five\\n+and more\\n"),
        "{shown}"
    );
    assert_eq!(session.done(&diff(&["b.txt"])).brief, none);
    // What was taken back is no change.
    session.done(&undo());
    assert_eq!(session.done(&diff(&[])).brief, none);
}

#[test]
fn diff_says_of_a_block_that_moved_only_where_it_was_and_is() {
    let text = "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n\nfn c() {\n    3\n}\n";
    let mut session = TestSession::with(&[("a.rs", text)]);
    let target = |name: &str| Line::Text(name.to_owned());
    let moved = Action::Move {
        range: target("a"),
        before: None,
        after: Some(target("c")),
        at_start_of: None,
        at_end_of: None,
    };
    session.done(&moved);
    let outcome = session.done(&Action::Diff { r#in: Vec::new() });
    assert_eq!(
        outcome.brief,
        "1 file, +0 -0 lines, 1 block moved; compared with before this session's changes"
    );
    let shown = format!("{:?}", outcome.content);
    assert!(shown.contains("moved, unchanged"), "{shown}");
}

#[test]
fn paths_are_relative_to_the_caller_and_displayed_relative_to_the_root() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = dir.path().canonicalize().unwrap();
    let (one, two) = (root.join("project/one"), root.join("project/two"));
    for dir in [&one, &two, &root.join("project/.git")] {
        std::fs::create_dir_all(dir).unwrap();
    }
    std::fs::write(one.join("a.txt"), "a\n").unwrap();
    std::fs::write(two.join("a.txt"), "other\n").unwrap();
    std::fs::write(root.join("out.txt"), "out\n").unwrap();
    let mut host = Host::<Editor>::open(&["a.txt"], &one, state.path()).unwrap();
    let title = |host: &mut Host<Editor>| host.project(Lod::Summary, 900).unwrap().title;
    assert_eq!(title(&mut host), "one/a.txt · 1 line");
    host.set_cwd(&two);
    assert_eq!(done(host.invoke(&open("a.txt"))).brief, "two/a.txt, 1 line");
    assert_eq!(title(&mut host), "two/a.txt · 1 line");
    // A displayed path is understood in whatever directory the caller is.
    assert_eq!(done(host.invoke(&open("one/a.txt"))).brief, "one/a.txt, 1 line, already open");
    let outside = root.join("out.txt").display().to_string();
    assert_eq!(done(host.invoke(&open("../../out.txt"))).brief, format!("{outside}, 1 line"));
    host.attach(&["a.txt"]).unwrap();
    assert_eq!(title(&mut host), "two/a.txt · 1 line");
    let saved = done(host.invoke(&Action::SaveAs { path: "b.txt".into() }));
    assert_eq!(saved.brief, "two/b.txt, 1 line, a copy");
    assert_eq!(std::fs::read_to_string(two.join("b.txt")).unwrap(), "other\n");
    assert!(!one.join("b.txt").exists());
}

#[test]
fn save_writes_all_files_and_names_them() {
    let names: Vec<String> = (0..8).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "x\n")).collect();
    let mut session = TestSession::holding(&files);
    session.done(&insert(1, "new"));
    session.done(&Action::Insert { at: line_of("2.txt:1"), text: text("new") });
    assert_eq!(session.done(&save()).brief, "2.txt, 7.txt");
    assert_eq!(session.done(&save()).brief, "no changes");
    assert_eq!(session.on_disk("2.txt"), "new\nx\n");
    for name in &names[..7] {
        session.done(&Action::Insert { at: line_of(&format!("{name}:1")), text: text("new") });
    }
    let brief = session.done(&save()).brief;
    assert_eq!(brief, "7 files: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more");
}

#[test]
fn edit_of_a_file_with_several_names_says_that_the_others_keep_the_old_text() {
    let mut session = TestSession::with(&[("a.txt", "one\n")]);
    for other in ["x.txt", "y.txt"] {
        std::fs::hard_link(session.path("a.txt"), session.path(other)).unwrap();
    }
    let edited = session.done(&replace("one", "two")).brief;
    assert!(edited.ends_with("; its 2 other hard links keep the old text"), "{edited}");
    assert_eq!(session.on_disk("x.txt"), "one\n");
    // It has one name now.
    let edited = session.done(&replace("two", "three")).brief;
    assert!(!edited.contains("hard link"), "{edited}");
}
