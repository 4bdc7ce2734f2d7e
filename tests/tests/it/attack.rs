//! The attack table, each row for a moment: siblings answer as before, the daemon lives on and lets go of
//! what it held, and nothing is left. `cargo run -p pipemux-tests --bin chaos` prints it with figures.
//!
//! What each attacker is told is in [`crate::rogue`] and [`crate::clients`]; here is what the others notice
//! of it: nothing.

use std::time::Duration;

use pipemux_tests::chaos::{ROWS, Row, run};

/// How long each attack goes on; each is carried out at least once.
const MOMENT: Duration = Duration::from_millis(100);

/// The rows with these words in their names are carried out one after the other, and nobody is hurt.
#[track_caller]
fn hurt_nobody(names: &[&str]) {
    let row = |name: &&str| -> &'static Row {
        let found: Vec<&Row> = ROWS.iter().filter(|row| row.name.ends_with(name)).collect();
        assert_eq!(found.len(), 1, "rows named `{name}`");
        found[0]
    };
    let rows: Vec<&Row> = names.iter().map(row).collect();
    let finding = run(&rows, MOMENT);
    let complaints = finding.complaints();
    assert!(complaints.is_empty(), "told: {}\n{}", finding.told, complaints.join("\n"));
    assert!(finding.attacked.rounds > 0 && !finding.told.is_empty());
}

#[test]
fn apps_that_are_bad_from_their_start() {
    hurt_nobody(&[
        "exits before Hello",
        "app: another protocol version",
        "silent from its start",
        "half a Hello",
        "garbage for a Hello",
        "length of 4 GiB for a Hello",
        "never shows a window",
        "a window that is none",
    ]);
}

#[test]
fn apps_whose_frames_make_no_sense() {
    hurt_nobody(&[
        "app: half a frame",
        "app: length of 4 GiB",
        "bytes that are no frame",
        "valid frames of random content",
        "one byte at a time, then nothing",
    ]);
}

#[test]
fn apps_that_answer_what_nobody_asked_and_flood() {
    hurt_nobody(&[
        "answers never asked for",
        "answers twice, and for another life",
        "flood of Notify",
        "flood of Changed",
        "100 MB of stdout",
    ]);
}

#[test]
fn apps_that_breed() {
    hurt_nobody(&[
        "fork bomb",
        "grandchildren ignoring SIGTERM",
        "grandchildren that setsid away",
        "dies with grandchildren alive",
    ]);
}

#[test]
fn apps_that_take_what_the_machine_has() {
    hurt_nobody(&[
        "hoards descriptors",
        "fills its state directory",
        "eats memory",
        "burns processor",
        "100 MB of stdout, its log 256 KiB",
        "fork bomb, limited to 24",
        "hoards descriptors, limited to 64",
        "eats memory, limited to 64 MiB",
        "burns processor, limited to 1 s",
        "reads nothing while it is sent much",
    ]);
}

#[test]
fn apps_that_fall_silent_or_die() {
    hurt_nobody(&[
        "stops itself",
        "closes its connection, lives on",
        "never answers",
        "dies in every answer",
        "ignores Close and SIGTERM",
    ]);
}

#[test]
fn clients_that_make_no_sense() {
    hurt_nobody(&[
        "client: half a frame",
        "client: garbage",
        "client: length of 4 GiB",
        "never says Hello",
        "older and newer protocol",
    ]);
}

#[test]
fn clients_that_want_too_much() {
    hurt_nobody(&[
        "never reads its answers",
        "thousands of connections",
        "dies with requests open",
        "flood of requests",
    ]);
}

#[test]
fn every_row_of_the_table_is_tried() {
    let source = include_str!("attack.rs");
    for row in ROWS {
        let short = row.name.split_once(": ").map_or(row.name, |(_, short)| short);
        assert!(source.contains(&format!("{short}\"")), "{} is in no test", row.name);
    }
}
