//! What others write while no process of the session runs: earlier changes are taken back around
//! it, as `git merge-file` does it.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::*;

/// Returns what Git makes of three texts; `None` for a conflict.
fn git(directory: &Path, now: &str, with: &str, without: &str) -> Option<String> {
    for (name, text) in [("now", now), ("with", with), ("without", without)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let words = ["merge-file", "-p", "-q", "now", "with", "without"];
    let merged = Command::new("git").args(words).current_dir(directory).output().unwrap();
    merged.status.success().then(|| String::from_utf8(merged.stdout).unwrap())
}

fn with_line(text: &str, at: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.insert(at.min(lines.len()), line);
    lines.concat()
}

#[test]
fn change_is_taken_back_around_what_others_wrote_between_two_processes() {
    let merging = tempfile::tempdir().unwrap();
    let merged = std::cell::Cell::new(0);
    let law = |(edited, outside, then, opens): (i64, Vec<(usize, &'static str)>, i64, bool)| {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = dir.path().join("a.txt");
        let before = numbered(20);
        std::fs::write(&path, &before).unwrap();
        let open = |names: &[&str]| {
            Host::<Editor>::open_as("editor/main", names, dir.path(), state.path()).unwrap()
        };
        let mut host = open(&["a.txt"]);
        host.text(Lod::Full, 100_000).unwrap();
        let made = done(host.invoke(&replace_lines(edited, edited, "mine")));
        let after = std::fs::read_to_string(&path).unwrap();
        drop(host);
        let theirs =
            outside.iter().fold(after.clone(), |text, (at, line)| with_line(&text, *at, line));
        std::fs::write(&path, &theirs).unwrap();
        let mut host = open(if opens { &["a.txt"] } else { &[] });
        host.text(Lod::Full, 100_000).unwrap();
        // A change of the next day is in between.
        if then > 0 && opens {
            done(host.invoke(&insert(then, "of the next day")));
            host.text(Lod::Full, 100_000).unwrap();
        }
        let now = std::fs::read_to_string(&path).unwrap();
        let undo = &made.links[0];
        let undo = <Action as docui::Actions>::decode(&undo.action, undo.args.clone()).unwrap();
        let outcome = host.invoke(&undo);
        let text = std::fs::read_to_string(&path).unwrap();
        match (git(merging.path(), &now, &after, &before), outcome) {
            (Some(expected), Outcome::Done(_)) => {
                merged.set(merged.get() + 1);
                prop_assert_eq!(text, expected);
            }
            // Within lines more is known than Git knows.
            (None, Outcome::Done(_)) => {}
            (None, Outcome::Failed(fault)) => {
                prop_assert!(fault.message.contains("instead of it:"), "{}", fault);
                prop_assert_eq!(text, now);
            }
            (expected, outcome) => prop_assert!(false, "{outcome:?}, Git: {expected:?}"),
        }
        Ok(())
    };
    let line = prop::sample::select(vec!["out\n", "\n", "line 5\n", "中文\n"]);
    let outside = prop::collection::vec((0..22usize, line), 1..3);
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let inputs = (1..20i64, outside, 0..20i64, any::<bool>());
    TestRunner::new(config).run(&inputs, law).unwrap();
    assert!(merged.get() > 16, "{} merged", merged.get());
}

#[test]
fn bytes_that_are_no_text_are_never_written_over() {
    for theirs in [&b"their latin1 \xe9\n"[..], b"their \0 bytes\n"] {
        let mut session = TestSession::with(&[("a.txt", &numbered(9))]);
        let made = session.done(&replace_lines(5, 5, "five"));
        let bytes = [session.on_disk("a.txt").as_bytes(), theirs].concat();
        std::fs::write(session.path("a.txt"), &bytes).unwrap();
        let refused = failed(session.click(&made.links[0]));
        assert!(refused.message.contains("changed on disk by someone else"), "{refused}");
        assert_eq!(std::fs::read(session.path("a.txt")).unwrap(), bytes);
        // Once it is text again, both are merged.
        session.write_externally("a.txt", &session.text().replace("line 9", "line 9 é"));
        session.view();
        done(session.click(&made.links[0]));
        assert_eq!(session.on_disk("a.txt"), numbered(9).replace("line 9", "line 9 é"));
    }
}
