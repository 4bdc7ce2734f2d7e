//! Every attack of the chaos table, each for a moment: the siblings answer as before, the daemon
//! keeps running and releases what the attacker held, and nothing is left at the end.
//! `cargo run -p pipemux-tests --bin chaos` prints the table with figures.
//!
//! The answers to the attackers themselves are checked in [`crate::app_faults`] and
//! [`crate::client_faults`].

use std::time::Duration;

use pipemux_tests::chaos::{SCENARIOS, Scenario, run};

/// How long each attack lasts; each is carried out at least once.
const ATTACK_DURATION: Duration = Duration::from_millis(100);

/// Runs the attacks whose names end with these texts, one after the other, and asserts that every
/// check passes.
#[track_caller]
fn assert_siblings_unharmed(names: &[&str]) {
    let scenario = |name: &&str| -> &'static Scenario {
        let found: Vec<&Scenario> =
            SCENARIOS.iter().filter(|scenario| scenario.name.ends_with(name)).collect();
        assert_eq!(found.len(), 1, "attacks named `{name}`");
        found[0]
    };
    let scenarios: Vec<&Scenario> = names.iter().map(scenario).collect();
    let report = run(&scenarios, ATTACK_DURATION);
    let failures = report.failures();
    assert!(failures.is_empty(), "answers: {}\n{}", report.answers, failures.join("\n"));
    assert!(report.during.rounds > 0 && !report.answers.is_empty());
}

#[test]
fn siblings_survive_apps_that_fail_at_their_start() {
    assert_siblings_unharmed(&[
        "exits before its greeting",
        "app: another protocol version",
        "silent from its start",
        "half a greeting",
        "garbage instead of a greeting",
        "length of 4 GiB instead of a greeting",
        "never shows a window",
        "an invalid window",
    ]);
}

#[test]
fn siblings_survive_apps_that_send_invalid_frames() {
    assert_siblings_unharmed(&[
        "app: half a frame",
        "app: length of 4 GiB",
        "bytes that are no frame",
        "valid frames with random content",
        "one byte at a time, then nothing",
    ]);
}

#[test]
fn siblings_survive_apps_that_send_unrequested_answers_and_floods() {
    assert_siblings_unharmed(&[
        "answers to no request",
        "answers twice, and for another incarnation",
        "a megabyte of brackets",
        "a title of 400,000 control characters",
        "flood of Notify",
        "flood of Changed",
        "100 MB of stdout",
    ]);
}

#[test]
fn siblings_survive_apps_that_start_processes() {
    assert_siblings_unharmed(&[
        "fork bomb",
        "grandchildren ignoring SIGTERM",
        "grandchildren that setsid away",
        "crashes while its grandchildren run",
    ]);
}

#[test]
fn siblings_survive_apps_that_exhaust_resources() {
    assert_siblings_unharmed(&[
        "opens descriptors",
        "fills its state directory",
        "allocates memory",
        "busy loop",
        "100 MB of stdout, its log 256 KiB",
        "fork bomb, limited to 24",
        "opens descriptors, limited to 64",
        "allocates memory, limited to 64 MiB",
        "busy loop, limited to 1 s",
        "reads none of many requests",
    ]);
}

#[test]
fn siblings_survive_apps_that_hang_or_crash() {
    assert_siblings_unharmed(&[
        "stops itself with SIGSTOP",
        "closes its connection and keeps running",
        "never answers",
        "crashes in every answer",
        "ignores Close and SIGTERM",
    ]);
}

#[test]
fn siblings_survive_clients_that_send_invalid_frames() {
    assert_siblings_unharmed(&[
        "client: half a frame",
        "client: garbage",
        "client: length of 4 GiB",
        "never sends a greeting",
        "older and newer protocol version",
    ]);
}

#[test]
fn siblings_survive_clients_that_exceed_limits() {
    assert_siblings_unharmed(&[
        "never reads its answers",
        "thousands of connections",
        "disconnects with requests open",
        "flood of requests",
    ]);
}

#[test]
fn every_attack_of_the_table_is_in_a_story() {
    let source = include_str!("chaos.rs");
    for scenario in SCENARIOS {
        let short = scenario.name.split_once(": ").map_or(scenario.name, |(_, short)| short);
        assert!(source.contains(&format!("{short}\"")), "{} is in no story", scenario.name);
    }
}
