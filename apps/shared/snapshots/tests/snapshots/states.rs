//! What is kept, what is left out, and what comes back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pipemux_snapshots::{Direction, Store, Unavailable, limits};

use crate::support::{Sample, all, git};

#[test]
fn change_is_named_and_taken_back_around_later_edits() {
    let sample = Sample::new();
    sample.write("a.txt", "one\ntwo\nthree\nfour\n");
    sample.write("gone.sh", "echo\r\n");
    fs::set_permissions(sample.path("gone.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    sample.write("run", "x");
    let change = sample.change(|sample| {
        sample.write("a.txt", "ONE\ntwo\nthree\nfour\n");
        sample.write("new/b.txt", "b\n");
        fs::remove_file(sample.path("gone.sh")).unwrap();
        fs::set_permissions(sample.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    assert_eq!(change.named(100), "a.txt, gone.sh, new/b.txt, run");
    assert_eq!(change.named(8), "a.txt, +3 more");
    sample.write("a.txt", "ONE\ntwo\nthree\n4\n");
    assert_eq!(sample.back(&change).unwrap().files.len(), 4);
    assert_eq!(sample.read("a.txt"), "one\ntwo\nthree\n4\n");
    assert!(!sample.path("new").exists());
    let mode = |name: &str| fs::metadata(sample.path(name)).unwrap().permissions().mode() & 0o111;
    assert_eq!((sample.read("gone.sh").as_str(), mode("gone.sh")), ("echo\r\n", 0o111));
    assert_eq!(mode("run"), 0);
    sample.store.put(&change, Direction::Again).unwrap();
    assert_eq!(sample.read("a.txt"), "ONE\ntwo\nthree\n4\n");
    assert!(sample.path("new/b.txt").exists() && !sample.path("gone.sh").exists());
}

#[test]
fn secret_file_comes_back_for_its_owner_only() {
    let sample = Sample::new();
    let mode = |name: &str| fs::metadata(sample.path(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode| {
        fs::set_permissions(sample.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    sample.write("key", "k");
    set("key", 0o600);
    sample.take();
    let store = Store::open(&sample.root(), &sample.root().join("../state")).unwrap();
    let before = store.take().unwrap();
    fs::remove_file(sample.path("key")).unwrap();
    sample.write("made", "m");
    set("made", 0o700);
    let change = store.change(&before, &store.take().unwrap()).unwrap();
    store.put(&change, Direction::Back).unwrap();
    assert_eq!(mode("key"), 0o600);
    store.put(&change, Direction::Again).unwrap();
    assert_eq!((mode("made"), sample.path("key").exists()), (0o700, false));
}

#[test]
fn conflict_shows_both_and_writes_nothing() {
    let sample = Sample::new();
    sample.write("a.txt", "one\ntwo\n");
    let change = sample.change(|sample| {
        sample.write("a.txt", "ONE\ntwo\n");
        sample.write("b.txt", "b\n");
    });
    sample.write("a.txt", "uno\ntwo\n");
    let refused = sample.back(&change).unwrap_err().to_string();
    assert!(refused.ends_with("a.txt:1 now:\nuno\ninstead of it:\none"), "{refused}");
    assert!(sample.path("b.txt").exists());
    sample.write("a.txt", "ONE\ntwo\n");
    sample.write("b.txt", "mine\n");
    let refused = sample.back(&change).unwrap_err().to_string();
    assert!(refused.ends_with("b.txt is another text now"), "{refused}");
    assert_eq!(sample.read("a.txt"), "ONE\ntwo\n");
}

#[test]
fn links_come_back_and_are_never_followed() {
    let sample = Sample::new();
    sample.write("target", "t\n");
    symlink("target", sample.path("link")).unwrap();
    sample.write("d/x", "x\n");
    let change = sample.change(|sample| {
        fs::remove_file(sample.path("link")).unwrap();
        sample.write("link", "text\n");
        sample.write("d/x", "y\n");
    });
    let outside = sample.root().join("../outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "y\n").unwrap();
    fs::remove_dir_all(sample.path("d")).unwrap();
    symlink(&outside, sample.path("d")).unwrap();
    let refused = sample.back(&change).unwrap_err().to_string();
    assert!(refused.contains("d/x is in a folder that is none any more now"), "{refused}");
    fs::remove_file(sample.path("d")).unwrap();
    sample.write("d/x", "y\n");
    sample.back(&change).unwrap();
    assert_eq!(fs::read_link(sample.path("link")).unwrap().to_str(), Some("target"));
    assert_eq!((sample.read("target"), sample.read("d/x")), ("t\n".to_owned(), "x\n".to_owned()));
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "y\n");
}

#[test]
fn what_was_left_out_before_is_never_taken_for_new() {
    let sample = Sample::new();
    sample.write(".gitignore", "secret\n");
    sample.write("secret", "s\n");
    sample.write("large", vec![b'x'; usize::try_from(limits::FILE_BYTES_MAX).unwrap() + 1]);
    sample.write("nested/file", "n\n");
    git(&sample.path("nested"), &["init", "-q"]);
    let change = sample.change(|sample| {
        sample.write(".gitignore", "");
        sample.write("large", "small now\n");
        fs::remove_dir_all(sample.path("nested/.git")).unwrap();
    });
    assert_eq!(change.named(99), ".gitignore, secret");
    let back = sample.back(&change).unwrap();
    assert_eq!((back.files, back.unsure), (vec![".gitignore".into()], vec!["secret".into()]));
    assert_eq!(sample.read(".gitignore"), "secret\n");
    for (name, text) in [("secret", "s\n"), ("large", "small now\n"), ("nested/file", "n\n")] {
        assert_eq!(sample.read(name), text);
    }
    // Rules that only leave out more are no reason.
    let change = sample.change(|sample| {
        sample.write("made/.gitignore", "target\n");
        sample.write("made/main.rs", "m\n");
    });
    sample.back(&change).unwrap();
    assert!(!sample.path("made").exists());
}

#[test]
fn exclude_file_of_the_repository_counts() {
    let sample = Sample::new();
    sample.write(".git/info/exclude", "kept-out\n");
    let change = sample.change(|sample| sample.write("kept-out", "x"));
    assert!(change.files.is_empty());
    let change = sample.change(|sample| sample.write(".git/info/exclude", ""));
    assert_eq!(change.named(99), "kept-out");
    assert_eq!(sample.back(&change).unwrap().unsure, [std::path::Path::new("kept-out")]);
    assert_eq!(sample.read("kept-out"), "x");
}

#[test]
fn folder_that_became_a_file_comes_back() {
    let sample = Sample::new();
    sample.write("d/e/x", "x\n");
    let change = sample.change(|sample| {
        fs::remove_dir_all(sample.path("d")).unwrap();
        sample.write("d", "f\n");
    });
    sample.back(&change).unwrap();
    assert_eq!(sample.read("d/e/x"), "x\n");
    // What was written over it since is no part of the change.
    let change = sample.change(|sample| {
        fs::remove_dir_all(sample.path("d")).unwrap();
        sample.write("d", "f\n");
    });
    sample.write("d", "mine\n");
    sample.back(&change).unwrap_err();
    assert_eq!(sample.read("d"), "mine\n");
}

#[test]
fn folder_outside_of_a_repository_has_no_snapshots() {
    let dir = tempfile::tempdir().unwrap();
    let opened = Store::open(dir.path(), &dir.path().join("state"));
    assert_eq!(opened.unwrap_err(), Unavailable::NoRepository);
    assert!(!dir.path().join("state").exists());
}

#[test]
fn snapshots_last_longer_than_the_process_that_took_them() {
    let sample = Sample::new();
    sample.write("a", "1\n");
    let before = sample.take();
    sample.write("a", "2\n");
    let after = sample.take();
    let again = Store::open(&sample.root(), &sample.root().join("../state")).unwrap();
    let change = again.change(&before, &after).unwrap();
    again.put(&change, Direction::Back).unwrap();
    assert_eq!(sample.read("a"), "1\n");
}

/// Prints what a snapshot of so many unchanged files takes:
/// `cargo test -p pipemux-snapshots -- --ignored --nocapture`.
#[test]
#[ignore = "it measures times"]
fn unchanged_files_cost_one_look() {
    for files in [10_000, 100_000] {
        let sample = Sample::new();
        for at in 0..files {
            sample.write(&format!("d{}/f{at}.rs", at / 100), format!("{at}\n").repeat(100));
        }
        let began = std::time::Instant::now();
        let first = sample.take();
        let whole = began.elapsed();
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let mut times: Vec<_> = (0..11)
            .map(|_| {
                let began = std::time::Instant::now();
                assert_eq!(sample.take(), first);
                began.elapsed()
            })
            .collect();
        times.sort();
        println!("{files} files: first {whole:?}, unchanged {:?}..{:?}", times[0], times[5]);
    }
}

#[test]
fn objects_of_the_project_are_not_kept_twice_and_stay_as_they_are() {
    let sample = Sample::new();
    for at in 0..=limits::PACKED_FROM {
        sample.write(&format!("f{at}"), format!("{at} {}\n", "x".repeat(at)));
    }
    sample.write("empty", "");
    symlink("f1", sample.path("link")).unwrap();
    git(&sample.root(), &["add", "."]);
    git(&sample.root(), &["commit", "-qm", "first"]);
    git(&sample.root(), &["gc", "-q"]);
    git(&sample.root(), &["commit", "-q", "--allow-empty", "-m", "second"]);
    let untouched = all(&sample.path(".git"));
    sample.take();
    let kept = all(&sample.root().join("../state/objects"));
    assert!(kept.len() < 12, "{kept:?}");
    let change = sample.change(|sample| sample.write("f7", "7\n"));
    sample.back(&change).unwrap();
    assert_eq!(sample.read("f7"), "7 xxxxxxx\n");
    assert_eq!(all(&sample.path(".git")), untouched);
}

#[test]
fn states_of_another_project_are_forgotten() {
    let (sample, other) = (Sample::new(), Sample::new());
    sample.write("a", "1\n");
    let before = sample.take();
    sample.write("a", "2\n");
    let after = sample.take();
    let state = sample.root().join("../state");
    Store::open(&other.root(), &state).unwrap();
    let again = Store::open(&sample.root(), &state).unwrap();
    assert_eq!(again.change(&before, &after).unwrap_err(), Unavailable::Forgotten);
}

#[test]
fn pipes_in_the_repository_are_not_waited_for() {
    let sample = Sample::new();
    for name in [".git/commondir", ".git/info/exclude", "pipe"] {
        let _ = fs::remove_file(sample.path(name));
        let made = std::process::Command::new("mkfifo").arg(sample.path(name)).status().unwrap();
        assert!(made.success());
    }
    fs::remove_file(sample.path(".git/info/exclude")).unwrap();
    let store = Store::open(&sample.root(), &sample.root().join("../other")).unwrap();
    let before = store.take().unwrap();
    sample.write("a", "1\n");
    assert_eq!(store.change(&before, &store.take().unwrap()).unwrap().named(9), "a");
}
