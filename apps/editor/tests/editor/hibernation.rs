//! Hibernation: files that change in the meantime, damaged snapshots, crashes afterwards.

use std::fs;

use docui::App;

use crate::scenario::{OPENS, Scenario, Step};
use crate::support::*;

const SNAPSHOT: &str = "asleep.json";

/// Returns a session with unsaved edits of two files, one of them with mixed line endings.
fn edited() -> Scenario {
    let mut scenario = Scenario::new();
    for action in [hold(), replace("line 42", "四"), open("mixed.txt")] {
        done(scenario.host.invoke(&action));
    }
    scenario.views();
    done(scenario.host.invoke(&insert(1, "new")));
    scenario.views();
    scenario
}

fn view(scenario: &mut Scenario) -> String {
    scenario.host.text(Lod::Full, 2_000).unwrap()
}

#[test]
fn line_ending_stays_what_it_was_when_the_file_was_read() {
    let mut scenario = edited();
    for _ in 0..2 {
        done(scenario.host.invoke(&delete_lines(1, 2)));
        scenario.views();
    }
    scenario.host.hibernate_and_wake(OPENS).unwrap();
    done(scenario.host.invoke(&insert(1, "crlf")));
    let text = scenario.host.app().unwrap().current().unwrap().buffer().text();
    assert_eq!(text, "crlf\r\nfour\nfive\r\n");
}

#[test]
fn file_changed_during_hibernation_is_reloaded_like_any_other() {
    let mut scenario = Scenario::new();
    done(scenario.host.invoke(&open("real.txt")));
    view(&mut scenario);
    let version = scenario.host.hibernate().unwrap();
    scenario.change_on_disk(&Step::Write("real.txt", "new\nline 1\nline 2\n"));
    assert_eq!(scenario.host.wake(version, OPENS), Ok((true, Vec::new())));
    // The number was seen before the hibernation. The line is still there, one further down.
    done(scenario.host.invoke(&replace_lines(2, 2, "zwei")));
    assert!(view(&mut scenario).contains("3\tzwei\n"));
    done(scenario.host.invoke(&Action::Undo { steps: 1, change: None }));
    assert!(view(&mut scenario).contains("3\tline 2\n"), "what others wrote stays");
    let version = scenario.host.hibernate().unwrap();
    fs::remove_file(scenario.files.path().join("real.txt")).unwrap();
    assert_eq!(scenario.host.wake(version, OPENS), Ok((true, Vec::new())));
    assert!(view(&mut scenario).contains("lines · deleted on disk"));
}

#[test]
fn damaged_or_missing_snapshot_is_reported_and_loses_no_edit() {
    let mut scenario = edited();
    let mut version = scenario.host.hibernate().unwrap();
    let path = scenario.state.path().join(SNAPSHOT);
    let whole = fs::read(&path).unwrap();
    let cuts = [0, 1, 17, whole.len() / 2, whole.len() - 1];
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut damaged: Vec<_> = cuts.iter().map(|cut| whole[..*cut].to_vec()).collect();
    damaged.extend([10, whole.len() / 3, whole.len() - 4].map(flipped));
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(&path, bytes).unwrap();
        let (resumed, notes) = scenario.host.wake(version, OPENS).unwrap();
        assert!(!resumed, "{number}");
        let expected = format!("is damaged ({})", path.with_extension("damaged").display());
        assert!(
            notes[0].contains(&expected) && notes[1].contains("unsaved edits restored"),
            "{notes:?}"
        );
        assert!(view(&mut scenario).contains("1\tnew\n"));
        version = scenario.host.hibernate().unwrap();
        fs::remove_file(path.with_extension("damaged")).unwrap();
    }
    fs::remove_file(&path).unwrap();
    let version =
        scenario.host.wake(version, OPENS).map(|_| scenario.host.hibernate().unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let (resumed, notes) = scenario.host.wake(version, OPENS).unwrap();
    assert!(!resumed && notes[0].contains("before hibernation is missing"), "{notes:?}");
    assert!(view(&mut scenario).contains("1\tnew\n"));
    // A process that isn't woken ignores a snapshot and removes it.
    fs::write(&path, &whole).unwrap();
    let restart = opening(&[], scenario.files.path(), scenario.state.path(), true);
    assert!(!Editor::open(&restart).unwrap().resumed() && !path.exists());
}

#[test]
fn crash_after_waking_restores_the_edits_made_since() {
    let mut scenario = edited();
    let (path, files) = (scenario.state.path().join(SNAPSHOT), scenario.files.path().to_owned());
    // The journals are lost in the meantime, but the snapshot has the unsaved edits.
    let version = scenario.host.hibernate().unwrap();
    let lost = journals(scenario.state.path());
    lost.iter().for_each(|journal| fs::remove_file(journal).unwrap());
    assert_eq!(scenario.host.wake(version, OPENS), Ok((true, Vec::new())));
    assert!(path.exists(), "the snapshot stays valid until something changes");
    assert_eq!(journals(scenario.state.path()).len(), 2);
    view(&mut scenario);
    done(scenario.host.invoke(&insert(1, "after")));
    assert!(!path.exists(), "an outdated snapshot must not come back");
    let mut again = Editor::open(&opening(&[], &files, scenario.state.path(), true)).unwrap();
    assert!(again.notes().iter().all(|note| note.contains("unsaved edits restored")));
    assert!(again.current().unwrap().buffer().text().starts_with("after\r\nnew\r\n"));
}

#[test]
fn session_stays_awake_if_its_snapshot_cannot_be_written() {
    let mut scenario = edited();
    let before = scenario.views();
    let away = scenario.files.path().join("away");
    fs::rename(scenario.state.path(), &away).unwrap();
    assert!(scenario.host.hibernate().unwrap_err().message.contains("can't be written"));
    fs::rename(&away, scenario.state.path()).unwrap();
    assert_eq!(scenario.views(), before);
    scenario.host.hibernate_and_wake(OPENS).unwrap();
    assert_eq!(scenario.views(), before);
}

#[test]
fn large_session_wakes_unchanged() {
    wakes_unchanged(170_000, 50);
}

#[test]
fn session_with_a_long_history_wakes_unchanged() {
    wakes_unchanged(3_000, 1_000);
}

/// Puts a session to sleep that changed that many lines of a file, one by one, and wakes it.
fn wakes_unchanged(lines: usize, steps: i64) {
    let mut scenario = Scenario::new();
    let long = "0123456789 漢字 a line of some length, as there are many\n".repeat(lines);
    fs::write(scenario.files.path().join("new.txt"), &long).unwrap();
    done(scenario.host.invoke(&open("new.txt")));
    done(scenario.host.invoke(&hold()));
    view(&mut scenario);
    for step in 0..steps {
        let line = step * 3 + 1;
        done(scenario.host.invoke(&replace_lines(line, line, &format!("step {step}"))));
    }
    let before = scenario.views();
    let version = scenario.host.hibernate().unwrap();
    assert_eq!(scenario.host.wake(version, OPENS), Ok((true, Vec::new())));
    assert_eq!(scenario.views(), before);
}
