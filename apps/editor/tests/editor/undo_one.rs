//! One change is taken back as `git merge-file` would do it, whatever came later, and made again.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::*;

/// One step of a history: an edit of the session, or a write by another program.
#[derive(Debug, Clone)]
enum Step {
    Replace(i64, i64, String),
    Insert(i64, String),
    Delete(i64, i64),
    Word(&'static str, &'static str),
    Outside(i64, String),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || {
        prop::sample::select(vec!["alpha", "beta x", "", "中文", "  }", "beta\nx"])
            .prop_map(str::to_owned)
    };
    let line = || 1..20i64;
    prop::collection::vec(
        prop_oneof![
            (line(), 0..3i64, text()).prop_map(|(at, more, text)| Step::Replace(
                at,
                at + more,
                text
            )),
            (line(), text()).prop_map(|(at, text)| Step::Insert(at, text)),
            (line(), 0..3i64).prop_map(|(at, more)| Step::Delete(at, at + more)),
            Just(Step::Word("beta", "gamma")),
            Just(Step::Word("line", "row")),
            (line(), text()).prop_map(|(at, text)| Step::Outside(at, text)),
        ],
        2..7,
    )
}

/// Returns what Git makes of three texts; `None` for a conflict.
fn git(directory: &Path, now: &str, with: &str, without: &str) -> Option<String> {
    for (name, text) in [("now", now), ("with", with), ("without", without)] {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let words = ["merge-file", "-p", "-q", "now", "with", "without"];
    let merged = Command::new("git").args(words).current_dir(directory).output().unwrap();
    merged.status.success().then(|| String::from_utf8(merged.stdout).unwrap())
}

#[test]
fn one_change_is_taken_back_as_git_merges_and_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let (taken, merged) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(96);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let law = |(steps, chosen, ending): (Vec<Step>, prop::sample::Index, &'static str)| {
        let original = numbered(16).replace('\n', ending);
        let mut session = TestSession::with(&[("a.txt", &original)]);
        let mut made = Vec::new();
        for step in &steps {
            let before = session.text();
            let action = match step {
                Step::Replace(first, last, text) => replace_lines(*first, *last, text),
                Step::Insert(at, text) => insert(*at, text),
                Step::Delete(first, last) => delete_lines(*first, *last),
                Step::Word(old, new) => replace_all(old, new),
                Step::Outside(at, text) => {
                    let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
                    let text = format!("{text}{ending}");
                    lines.insert(usize::try_from(*at).unwrap().min(lines.len()), &text);
                    session.write_externally("a.txt", &lines.concat());
                    session.view();
                    continue;
                }
            };
            if let Outcome::Done(done) = session.host.invoke(&action) {
                let undo = done.links.iter().find(|link| link.label == "undo").cloned();
                made.extend(undo.map(|undo| (undo, before, session.text())));
            }
            session.view();
        }
        prop_assume!(!made.is_empty());
        let (undo, before, after) = chosen.get(&made).clone();
        let now = session.text();
        let expected = git(directory.path(), &now, &after, &before);
        let outcome = session.click(&undo);
        match (outcome, expected) {
            (Outcome::Done(back), expected) => {
                taken.set(taken.get() + 1);
                // Within lines more is known than Git knows.
                if let Some(expected) = expected {
                    merged.set(merged.get() + 1);
                    prop_assert_eq!(&session.text(), &expected);
                }
                let text = session.text();
                prop_assert_eq!(&session.on_disk("a.txt"), &text);
                session.view();
                prop_assert_eq!(
                    done(session.click(&undo)).brief,
                    "no change: it is undone already"
                );
                prop_assert_eq!(&session.text(), &text);
                let redo = back.links.iter().find(|link| link.label == "redo").unwrap();
                let redone = done(session.click(redo));
                prop_assert_eq!(&session.text(), &now);
                // And once more, by the link of the redo.
                session.view();
                done(session.click(redone.links.iter().find(|link| link.label == "undo").unwrap()));
                prop_assert_eq!(&session.text(), &text);
            }
            (Outcome::Failed(fault), None) => {
                prop_assert!(fault.message.contains("nothing was written"), "{}", fault);
                prop_assert_eq!(&session.text(), &now);
                prop_assert_eq!(&session.on_disk("a.txt"), &now);
            }
            (outcome, expected) => prop_assert!(false, "{outcome:?}, Git: {expected:?}"),
        }
        Ok(())
    };
    let endings = prop::sample::select(vec!["\n", "\r\n"]);
    let inputs = (steps(), any::<prop::sample::Index>(), endings);
    TestRunner::new(config).run(&inputs, law).unwrap();
    let (taken, merged) = (taken.get(), merged.get());
    assert!(merged > cases / 3, "{merged} merged, {taken} taken back, of {cases}");
}

#[test]
fn undo_without_a_name_goes_on_behind_what_was_taken_back_alone() {
    let mut session = TestSession::with(&[("a.txt", &numbered(9))]);
    let first = session.done(&replace_lines(2, 2, "two"));
    session.view();
    let second = session.done(&replace_lines(8, 8, "eight"));
    session.view();
    done(session.click(&first.links[0]));
    assert_eq!(session.text(), numbered(9).replace("line 8", "eight"));
    session.view();
    // Without a name, the latest change that is made is undone: not what took another one back.
    session.done(&undo());
    assert_eq!(session.text(), numbered(9));
    session.view();
    assert_eq!(done(session.click(&second.links[0])).brief, "no change: it is undone already");
    assert_eq!(session.failed(&undo()).message, "nothing to undo");
    session.done(&redo());
    assert_eq!(session.text(), numbered(9).replace("line 8", "eight"));
    session.view();
    session.done(&redo());
    assert_eq!(session.text(), numbered(9).replace("line 8", "eight").replace("line 2", "two"));
}

#[test]
fn round_of_two_changes_is_made_again_around_a_later_one() {
    let mut session = TestSession::with(&[("a.txt", &numbered(20))]);
    let links: Vec<_> = [replace_lines(5, 5, "five"), replace_lines(9, 9, "nine")]
        .iter()
        .map(|action| session.done(action).links[0].clone())
        .collect();
    let back: Vec<_> =
        links.iter().rev().map(|link| done(session.click(link)).links[0].clone()).collect();
    assert_eq!(session.text(), numbered(20));
    session.view();
    session.done(&insert(14, "mine"));
    for link in back.iter().rev() {
        done(session.click(link));
    }
    let expected = numbered(20).replace("line 5\n", "five\n").replace("line 9\n", "nine\n");
    assert_eq!(session.text(), expected.replace("line 14\n", "mine\nline 14\n"));
}

#[test]
fn conflict_of_a_move_that_is_taken_back_names_both_places() {
    let mut session = TestSession::with(&[("y.txt", "p\nq\n"), ("x.txt", "a\nb\nc\nd\n")]);
    let patch = "*** Begin Patch\n*** Update File: x.txt\n@@\n a\n-b\n-c\n d\n*** Update File: y.txt\n@@\n p\n q\n+b\n+c\n*** End Patch\n";
    let moved = session.done(&Action::Apply { patch: text(patch) });
    session.write_externally("y.txt", "p\nq\nB mine\nc\n");
    session.view();
    let fault = failed(session.click(&moved.links[0]));
    assert!(
        fault.message.contains("y.txt:3-4 now:\nB mine\nc\ninstead of it:\n(nothing)\n"),
        "{fault}"
    );
    assert!(fault.message.ends_with("and in x.txt:\nb\nc"), "{fault}");
}
