//! Paths that lead to something else than a regular file: nothing waits for them, and nothing is
//! written.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::*;

/// Puts something else than a regular file at each of these names, and returns what it is.
fn special_files(dir: &Path) -> Vec<(&'static str, &'static str)> {
    let fifo = |name| {
        mknodat(CWD, dir.join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    fifo("fifo");
    drop(UnixListener::bind(dir.join("socket")).unwrap());
    std::fs::create_dir(dir.join("dir")).unwrap();
    for (name, target) in
        [("to-fifo", "fifo"), ("to-socket", "socket"), ("to-dir", "dir"), ("zero", "/dev/zero")]
    {
        symlink(target, dir.join(name)).unwrap();
    }
    vec![
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        ("dir", "a directory"),
        ("to-fifo", "a FIFO"),
        ("to-socket", "a socket"),
        ("to-dir", "a directory"),
        ("zero", "a device"),
        ("/dev/zero", "a device"),
        ("/dev/tty", "a device"),
        ("/dev/null", "a device"),
    ]
}

#[test]
fn special_file_is_neither_opened_nor_overwritten() {
    let mut session = TestSession::with(&[("a.txt", "one\n")]);
    session.done(&replace_lines(1, 1, "ONE"));
    for (name, kind) in special_files(session.files.path()) {
        if kind != "a directory" {
            let opened = session.failed(&open(name));
            assert!(opened.message.ends_with(&format!(" is {kind}, expected a file")), "{opened}");
            let attached = session.host.attach(&[name]).unwrap_err();
            assert_eq!(attached.message, opened.message);
        }
        let saved = session.failed(&Action::SaveAs { path: name.into() });
        assert!(saved.message.contains(&format!(" is {kind}, expected a file's path")), "{saved}");
    }
    assert_eq!(session.text(), "ONE\n");
    session.view();
    session.done(&undo());
    assert_eq!(session.text(), "one\n");
}

#[test]
fn open_file_that_is_replaced_by_a_special_file_keeps_its_text() {
    for unsaved in [false, true] {
        let mut session = TestSession::with(&[("a.txt", "one\n")]);
        session.done(&replace_lines(1, 1, "two"));
        session.view();
        if unsaved {
            session.done(&hold());
            session.done(&replace_lines(1, 1, "three"));
        }
        let text = session.text();
        for (name, kind) in special_files(session.files.path()) {
            let path = session.path("a.txt");
            std::fs::remove_file(&path).unwrap();
            match name {
                "dir" => symlink("dir", &path).unwrap(),
                _ => symlink(name, &path).unwrap(),
            }
            let title = session.host.project(Lod::Summary, 1_000).unwrap().title;
            assert!(title.ends_with("changed on disk to content that can't be opened"), "{title}");
            assert_eq!(session.text(), text);
            let refused = session.failed(&save());
            assert!(refused.message.contains(&format!(" is {kind}, expected a file")), "{refused}");
            assert!(refused.hints.iter().any(|hint| hint.contains("save_as(")), "{refused:?}");
            assert!(path.symlink_metadata().unwrap().is_symlink(), "left as it is");
        }
        std::fs::remove_file(session.path("a.txt")).unwrap();
        std::fs::write(session.path("a.txt"), "two\n").unwrap();
        assert!(!session.view().contains("disk"));
        session.done(&save());
        assert_eq!(session.on_disk("a.txt"), text);
        session.done(&undo());
    }
}

#[test]
fn special_file_in_the_state_directory_is_not_waited_for() {
    let (dir, state) = directories();
    let names =
        ["files.json", "shown.json", "asleep.json", "docui.asleep", "0123456789abcdef.unsaved"];
    for name in names {
        mknodat(CWD, state.path().join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let mut host = Host::<Editor>::open(&["a.txt"], dir.path(), state.path()).unwrap();
    assert!(host.text(Lod::Full, 1_000).unwrap().contains("1\tline 1\n"));
    assert!(matches!(host.invoke(&insert(1, "new")), Outcome::Done(_)));
}

#[test]
fn copy_of_a_read_only_file_can_be_written() {
    for (mode, copied) in [(0o444, 0o644), (0o555, 0o755), (0o600, 0o600), (0o400, 0o600)] {
        let mut session = TestSession::with(&[("a.txt", "one\n")]);
        let permissions = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(session.path("a.txt"), std::fs::Permissions::from_mode(mode))
            .unwrap();
        session.view();
        session.done(&Action::SaveAs { path: "copy.txt".into() });
        session.done(&open("copy.txt"));
        session.view();
        // What the umask removes from a new file is removed here too.
        std::fs::write(session.path("new"), "").unwrap();
        let umask = permissions(&session.path("new"));
        let masked = copied & (umask | 0o111 | 0o700);
        assert_eq!(permissions(&session.path("copy.txt")), masked, "{mode:o}");
        session.done(&replace_lines(1, 1, "two"));
        assert_eq!(session.on_disk("copy.txt"), "two\n");
        assert_eq!(session.on_disk("a.txt"), "one\n");
        assert_eq!(permissions(&session.path("a.txt")), mode);
    }
}
