//! Opening, saving, closing.

use std::os::unix::fs::PermissionsExt;

use docui::Choice;
use pipemux_proto::Code;

use super::*;

fn refusal(name: &str, prepare: impl FnOnce(&Path)) -> Fault {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("good.txt"), "good\n").unwrap();
    prepare(&dir.path().join(name));
    let opened = Host::<Editor>::open(&["good.txt", name], dir.path(), state.path());
    let fault = opened.err().expect("it is refused");
    let listed = std::fs::read_dir(state.path()).unwrap().count();
    assert_eq!(listed, 0, "nothing is opened by halves");
    fault
}

#[test]
fn what_is_no_text_file_is_refused_clearly() {
    let fault = refusal("goud.txt", |_| {});
    assert_eq!(fault.code, Code::NotFound);
    assert!(fault.message.ends_with("goud.txt: no such file"), "{fault}");
    assert!(fault.hints[0].ends_with("good.txt?"), "{:?}", fault.hints);
    let fault = refusal("dir", |path| std::fs::create_dir(path).unwrap());
    assert!(fault.message.ends_with("dir is a directory, expected a file"), "{fault}");
    let fault = refusal("bin", |path| std::fs::write(path, b"ab\0c").unwrap());
    assert!(fault.message.ends_with("bin is a binary file: byte 2 is NUL"), "{fault}");
    let fault =
        refusal("latin1", |path| std::fs::write(path, b"\xef\xbb\xbfa\ncaf\xe9\n").unwrap());
    assert!(fault.message.ends_with("latin1 is not UTF-8: byte 8 in line 2"), "{fault}");
    let fault = refusal("huge", |path| {
        std::fs::File::create(path).unwrap().set_len(pipemux_editor::limits::FILE_MAX + 1).unwrap();
    });
    assert!(fault.message.ends_with("huge is larger than the limit of 64 MiB"), "{fault}");
    let fault = refusal("none/a.txt", |_| {});
    assert_eq!(fault.code, Code::NotFound);
    let fault = refusal("dangling", |path| std::os::unix::fs::symlink("nowhere", path).unwrap());
    assert_eq!(fault.code, Code::NotFound);
    let socket = refusal("socket", |path| drop(std::os::unix::net::UnixListener::bind(path)));
    assert!(socket.message.ends_with("socket is not a regular file"), "{socket}");
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = dir.path().join("secret");
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    if std::fs::File::open(&path).is_ok() {
        return;
    }
    let fault = Host::<Editor>::open(&["secret"], dir.path(), state.path()).err().unwrap();
    assert!(fault.message.ends_with("secret: permission denied"), "{fault}");
}

#[test]
fn a_session_without_a_file_says_how_to_open_one() {
    let mut desk = Desk::with(&[]);
    assert!(desk.look().contains("pipemux open editor <path>"));
    assert_eq!(desk.failed(&save()).message, "no file is open");
    std::fs::write(desk.path("a.txt"), "a\nb\n").unwrap();
    assert_eq!(desk.done(&Action::Open { path: "a.txt".into() }).brief, "a.txt, 2 lines");
    assert!(desk.look().starts_with("## a.txt · 2 lines · saved\n"));
}

#[test]
fn one_file_by_two_names_is_one_file() {
    let mut desk = Desk::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    std::os::unix::fs::symlink(desk.path("a.txt"), desk.path("link")).unwrap();
    desk.host.attach(&["./link"]).unwrap();
    let shown = desk.look();
    assert!(shown.starts_with("## a.txt · 1 line · saved\n"), "{shown}");
    assert_eq!(
        desk.objects().iter().filter(|object| object.ty.as_deref() == Some("file")).count(),
        2
    );
    let outcome = desk.done(&Action::Open { path: "b.txt".into() });
    assert_eq!(outcome.brief, "b.txt, 1 line, already open");
}

#[test]
fn a_save_keeps_the_mode_and_the_symlink() {
    let mut desk = Desk::with(&[("run.sh", "#!/bin/sh\n")]);
    std::os::unix::fs::symlink("run.sh", desk.path("link")).unwrap();
    std::fs::set_permissions(desk.path("run.sh"), std::fs::Permissions::from_mode(0o751)).unwrap();
    desk.host.attach(&["link"]).unwrap();
    desk.done(&insert(2, "echo"));
    assert_eq!(desk.done(&save()).brief, "run.sh");
    assert_eq!(desk.on_disk("run.sh"), "#!/bin/sh\necho\n");
    assert!(std::fs::symlink_metadata(desk.path("link")).unwrap().is_symlink());
    let mode = std::fs::metadata(desk.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    assert_eq!(desk.done(&save()).brief, "run.sh, no changes");
    let names = std::fs::read_dir(desk.files.path()).unwrap().count();
    assert_eq!(names, 2, "nothing else is left there");
}

#[test]
fn a_read_only_file_is_not_written() {
    let mut desk = Desk::with(&[("a.txt", "a\n")]);
    desk.done(&insert(1, "x"));
    std::fs::set_permissions(desk.path("a.txt"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(desk.failed(&save()).message.ends_with("a.txt is read-only"));
    assert_eq!(desk.on_disk("a.txt"), "a\n");
}

#[test]
fn a_file_changed_on_disk_is_never_overwritten_unasked() {
    let mut desk = Desk::with(&[("a.txt", "a\nb\n")]);
    desk.done(&replace("b", "mine"));
    desk.write("a.txt", "a\ntheirs\n");
    assert!(desk.look().starts_with("## a.txt · 2 lines · unsaved · changed on disk\n"));
    let needs = desk.asks(&save());
    assert_eq!(needs.question.text, "a.txt was changed on disk by someone else");
    let labels: Vec<_> = needs.question.options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels, ["overwrite", "reload", "keep"]);
    let fault = failed(desk.host.answer(Choice::Picked(vec![3])));
    assert_eq!(
        (fault.message.as_str(), desk.on_disk("a.txt").as_str()),
        ("a.txt was not saved", "a\ntheirs\n")
    );

    desk.asks(&save());
    // Changed once more before the answer: that isn't what was asked about.
    desk.write("a.txt", "a\ntheirs 2\n");
    assert!(matches!(desk.host.answer(Choice::Picked(vec![1])), Outcome::Needs(_)));
    assert_eq!(desk.on_disk("a.txt"), "a\ntheirs 2\n");
    done(desk.host.answer(Choice::Picked(vec![2])));
    assert_eq!(
        (desk.text().as_str(), desk.on_disk("a.txt").as_str()),
        ("a\ntheirs 2\n", "a\ntheirs 2\n")
    );
    assert!(desk.look().starts_with("## a.txt · 2 lines · saved\n"));
    desk.done(&undo());
    assert_eq!(desk.text(), "a\nmine\n", "nothing is lost");
    desk.done(&save());
    assert_eq!(desk.on_disk("a.txt"), "a\nmine\n");

    desk.done(&replace("mine", "more"));
    desk.write("a.txt", "x\n");
    desk.asks(&save());
    done(desk.host.answer(Choice::Picked(vec![1])));
    assert_eq!(desk.on_disk("a.txt"), "a\nmore\n");
}

#[test]
fn a_file_deleted_on_disk_is_written_again_when_asked() {
    let mut desk = Desk::with(&[("a.txt", "a\n")]);
    std::fs::remove_file(desk.path("a.txt")).unwrap();
    assert!(desk.look().starts_with("## a.txt · 1 line · saved · deleted on disk\n"));
    assert_eq!(desk.asks(&save()).question.text, "a.txt was deleted on disk");
    done(desk.host.answer(Choice::Picked(vec![1])));
    assert_eq!(desk.on_disk("a.txt"), "a\n");
    assert!(desk.look().starts_with("## a.txt · 1 line · saved\n"));
}

#[test]
fn a_saved_file_follows_the_disk() {
    let mut desk = Desk::with(&[("a.txt", &numbered(20))]);
    desk.write("a.txt", &numbered(20).replace("line 7\n", "seven\nand a half\n"));
    assert!(desk.look().starts_with("## a.txt · 21 lines · saved\n"));
    assert!(desk.text().contains("seven\nand a half\n"));
    desk.write("a.txt", "\u{feff}with a mark\n");
    assert!(desk.look().contains("1\twith a mark\n"));
    desk.write("a.txt", "not text \0");
    let shown = desk.look();
    assert!(shown.contains("changed on disk to content that can't be opened"), "{shown}");
    assert_eq!(desk.text(), "with a mark\n");
}

#[test]
fn save_as_goes_on_with_the_new_name() {
    let mut desk = Desk::with(&[("a.sh", "a\n"), ("other.txt", "other\n")]);
    desk.go("a.sh:1");
    std::fs::set_permissions(desk.path("a.sh"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let save_as = |name: &str| Action::SaveAs { path: name.into() };
    desk.done(&insert(2, "b"));
    assert_eq!(desk.failed(&save_as("other.txt")).message, "other.txt is open in this session");
    assert_eq!(desk.done(&save_as("new.sh")).brief, "now new.sh");
    assert_eq!((desk.on_disk("new.sh").as_str(), desk.on_disk("a.sh").as_str()), ("a\nb\n", "a\n"));
    let mode = std::fs::metadata(desk.path("new.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(desk.look().starts_with("## new.sh · 2 lines · saved\n"));
    assert_eq!(desk.asks(&save_as("a.sh")).question.text, "a.sh already exists");
    assert!(failed(desk.host.answer(Choice::Picked(vec![2]))).message.contains("a.sh was kept"));
    desk.asks(&save_as("a.sh"));
    done(desk.host.answer(Choice::Picked(vec![1])));
    assert_eq!(desk.on_disk("a.sh"), "a\nb\n");
    let fault = desk.failed(&save_as("no/such/dir.txt"));
    assert_eq!(fault.code, Code::NotFound);
    assert!(fault.message.ends_with("/no/such is missing"), "{fault}");
    assert!(fault.hints[0].starts_with("mkdir -p "), "{:?}", fault.hints);
    assert!(desk.failed(&save_as(".")).message.contains("is a directory"));
}

#[test]
fn a_file_with_unsaved_changes_is_not_closed_unasked() {
    let mut desk = Desk::with(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let close = Action::Close { file: None };
    desk.done(&insert(1, "x"));
    assert_eq!(desk.asks(&close).question.text, "c.txt has unsaved changes");
    assert_eq!(failed(desk.host.answer(Choice::Picked(vec![3]))).message, "c.txt is still open");
    desk.asks(&close);
    done(desk.host.answer(Choice::Picked(vec![1])));
    assert_eq!(desk.on_disk("c.txt"), "x\nc\n");
    assert!(desk.look().starts_with("## b.txt"));
    desk.done(&insert(1, "x"));
    desk.asks(&close);
    assert_eq!(done(desk.host.answer(Choice::Picked(vec![2]))).brief, "b.txt, changes discarded");
    assert_eq!(desk.on_disk("b.txt"), "b\n");
    let key = desk.host.app().unwrap().current().unwrap().key();
    let anchored = Action::Close { file: Some(docui::Anchor::new(key, 0)) };
    desk.look();
    assert_eq!(desk.done(&anchored).brief, "a.txt");
    assert!(desk.look().starts_with("## no file"));
    assert_eq!(desk.failed(&anchored).hints, ["it was closed"]);
}

#[test]
fn diff_compares_with_the_disk() {
    let mut desk = Desk::with(&[("a.txt", &numbered(9))]);
    let diff = Action::Diff {};
    assert_eq!(desk.done(&diff).brief, "a.txt, no changes");
    desk.done(&replace_lines(5, 5, "five\nand more"));
    let outcome = desk.done(&diff);
    assert_eq!(outcome.brief, "a.txt, +2 -1 lines");
    let expected = "--- a.txt\n+++ a.txt (unsaved)\n@@ -2,7 +2,8 @@\n line 2\n line 3\n line 4\n-line 5\n+five\n+and more\n line 6\n line 7\n line 8\n";
    assert_eq!(value(&outcome), expected);
    assert_eq!(outcome.detail.as_deref(), Some(expected));
}

#[test]
fn a_path_starts_where_the_caller_stands_and_is_shown_from_the_root() {
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
    assert_eq!(title(&mut host), "one/a.txt · 1 line · saved");
    host.stand(&two);
    let open = |path: &str| Action::Open { path: path.into() };
    assert_eq!(done(host.invoke(&open("a.txt"))).brief, "two/a.txt, 1 line");
    assert_eq!(title(&mut host), "two/a.txt · 1 line · saved");
    // What a window shows is understood wherever the caller stands.
    assert_eq!(done(host.invoke(&open("one/a.txt"))).brief, "one/a.txt, 1 line, already open");
    let outside = root.join("out.txt").display().to_string();
    assert_eq!(done(host.invoke(&open("../../out.txt"))).brief, format!("{outside}, 1 line"));
    host.attach(&["a.txt"]).unwrap();
    assert_eq!(title(&mut host), "two/a.txt · 1 line · saved");
    let saved = done(host.invoke(&Action::SaveAs { path: "b.txt".into() }));
    assert_eq!(saved.brief, "now two/b.txt");
    assert_eq!(std::fs::read_to_string(two.join("b.txt")).unwrap(), "other\n");
    assert!(!one.join("b.txt").exists());
}

#[test]
fn a_save_names_its_file_and_those_still_unsaved() {
    let names: Vec<String> = (0..8).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "x\n")).collect();
    let mut desk = Desk::with(&files);
    desk.done(&insert(1, "new"));
    desk.done(&Action::Insert { at: place("2.txt:1"), text: text("new") });
    assert_eq!(desk.done(&save()).brief, "7.txt · still unsaved: 2.txt");
    assert_eq!(desk.done(&save()).brief, "7.txt, no changes · still unsaved: 2.txt");
    for name in &names[..7] {
        desk.done(&Action::Insert { at: place(&format!("{name}:1")), text: text("new") });
    }
    let brief = desk.done(&save()).brief;
    assert!(brief.ends_with("still unsaved: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more"));
}
