//! A sleeping session is started at the time that its app named, whatever became of the daemon
//! meanwhile.

use crate::world::{Behaviour, World, reader};
use pipemux_core::Idle;
use pipemux_proto::client::Verb;

const IDLE: u64 = 60_000;
const HOUR: u64 = 3_600_000;

/// A session that sleeps, and is to be woken in an hour.
fn asleep_for_an_hour() -> World {
    let mut world = World::with_notes(|notes| notes.idle = Idle::After(IDLE));
    let wake_at = world.now.unix_ms + HOUR;
    let model = world.model("notes/main");
    model.add("one");
    model.wake_at = Some(wake_at);
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    world.pass(IDLE + 1);
    assert!(world.apps.is_empty(), "it sleeps");
    world
}

/// Checks that the session was started because its time came, with the state that it saved.
fn assert_woken_in_time(world: &World) {
    let app = world.process("notes/main").expect("it was woken");
    let open = world.apps[&app].opens.last().expect("an open");
    assert!(open.due, "it is told that its time has come");
    assert_eq!(open.woken, Some(1), "it goes on from what it saved");
}

#[test]
fn session_is_woken_at_the_time_that_its_app_named() {
    let mut world = asleep_for_an_hour();
    world.pass(HOUR - IDLE - 1_000);
    assert!(world.apps.is_empty(), "its time has not come");
    world.pass(1_000);
    assert_woken_in_time(&world);
    // It named no further time, and nobody needs it.
    world.model("notes/main").wake_at = None;
    world.pass(IDLE + 1);
    assert!(world.apps.is_empty());
    assert!(world.core.next_timeout().is_none(), "nothing is left to wait for");
    world.view(reader("a")).exits(0).lacks("restarted");
}

#[test]
fn later_daemon_wakes_what_an_earlier_one_put_to_sleep() {
    let mut world = asleep_for_an_hour();
    world.lose_daemon();
    world.ask(reader("a"), Verb::Sessions).has("notes/main  asleep");
    world.pass(HOUR);
    assert_woken_in_time(&world);

    let mut world = asleep_for_an_hour();
    world.lose_daemon();
    // No daemon runs when the time comes: the next one is late.
    world.now.unix_ms += 2 * HOUR;
    world.ask(reader("a"), Verb::Status).exits(0);
    world.pass(1);
    assert_woken_in_time(&world);
}

#[test]
fn later_daemon_wakes_a_session_though_no_client_comes() {
    let mut world = asleep_for_an_hour();
    world.lose_daemon();
    world.pass(HOUR);
    assert_woken_in_time(&world);

    let mut world = asleep_for_an_hour();
    world.lose_daemon();
    world.now.unix_ms += 2 * HOUR;
    world.pass(1);
    assert_woken_in_time(&world);
}

#[test]
fn clock_that_is_set_is_noticed() {
    let mut world = asleep_for_an_hour();
    world.now.unix_ms += HOUR;
    world.pass(IDLE);
    assert_woken_in_time(&world);

    let mut world = asleep_for_an_hour();
    world.now.unix_ms -= HOUR;
    world.pass(HOUR);
    assert!(world.apps.is_empty(), "by the clock its time has not come");
    world.pass(HOUR);
    assert_woken_in_time(&world);
}

#[test]
fn session_that_is_used_earlier_is_not_woken_again() {
    let mut world = asleep_for_an_hour();
    world.model("notes/main").wake_at = None;
    world.view(reader("a")).exits(0);
    let app = world.process("notes/main").expect("it was used");
    assert!(!world.apps[&app].opens.last().expect("an open").due);
    world.pass(IDLE + 1);
    assert!(world.apps.is_empty());
    world.lose_daemon();
    world.pass(2 * HOUR);
    assert!(world.apps.is_empty(), "its app wants to be woken no more");
}

#[test]
fn session_that_would_be_woken_at_once_is_left_running() {
    let mut world = World::with_notes(|notes| notes.idle = Idle::After(IDLE));
    let soon = world.now.unix_ms + IDLE + 500;
    world.model("notes/main").wake_at = Some(soon);
    world.open(reader("a"), "notes");
    world.pass(IDLE + 1);
    world.process("notes/main").expect("it would sleep for half a second");
}

#[test]
fn session_that_dies_of_being_woken_stays_down_in_the_end() {
    let mut world = asleep_for_an_hour();
    world.set_behaviour("notes/main", Behaviour::DiesAtStart(Vec::new()));
    world.run_out();
    assert!(world.apps.is_empty());
    world.ask(reader("a"), Verb::Sessions).has("notes/main  failed");
    world.lose_daemon();
    world.run_out();
    assert!(world.apps.is_empty(), "it is not tried for ever");
}
