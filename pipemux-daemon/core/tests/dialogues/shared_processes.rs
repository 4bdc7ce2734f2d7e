//! Sessions that share a process: `isolation = "provider"`.

use crate::world::{Behaviour, World, open, reader, session_addr};
use pipemux_core::{Event, Exit, Idle, Isolation, Manifest, limits};
use pipemux_proto::client::Verb;

fn shared(notes: &mut Manifest) {
    notes.isolation = Isolation::Provider;
}

/// A world with two sessions of one workspace and one of another, all in one process.
fn three() -> World {
    let mut world = World::with_notes(shared);
    world.model("notes/main").add("one");
    world.open(reader("a").at("w1"), "notes").exits(0);
    world.open(reader("b").at("w2"), "notes").exits(0);
    world.open(reader("a").at("w1"), "notes/b").exits(0);
    assert_eq!(world.apps.len(), 1, "one process has them all");
    world
}

#[test]
fn sessions_in_one_process_have_their_own_state() {
    let mut world = three();
    world.run(reader("a").at("w1"), "notes/b.say('x')").exits(0);
    world.run(reader("b").at("w2"), "notes.say('y')").exits(0);
    let (first, second) = (world.model_of("w1", "notes/b"), world.model_of("w2", "notes/main"));
    assert_eq!(first.map(|m| m.version), Some(1));
    assert_eq!(second.map(|m| m.version), Some(1));
    assert_eq!(world.model_of("w1", "notes/main").map(|m| m.version), Some(1), "as it was");
    world.view(reader("a").at("w1")).exits(0).has("k1 r1");
    world.view(reader("b").at("w2")).exits(0).lacks("k1 r1");
}

#[test]
fn shared_process_ends_with_its_last_session() {
    let mut world = three();
    for session in ["notes/b", "notes/main"] {
        world.ask(reader("a").at("w1"), Verb::End { session: session_addr(session) }).exits(0);
        assert_eq!(world.apps.len(), 1);
    }
    world.run(reader("b").at("w2"), "notes.say('y')").exits(0).lacks("restarted");
    world.ask(reader("b").at("w2"), Verb::End { session: session_addr("notes/main") }).exits(0);
    assert!(world.apps.is_empty(), "a process without sessions runs on");
    assert_eq!(world.core.next_timeout(), None);
    world.open(reader("a").at("w1"), "notes").exits(0);
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn crash_of_a_shared_process_is_told_to_all_its_sessions() {
    let mut world = three();
    let app = *world.apps.keys().next().expect("it runs");
    world.kill(app, Exit::Signal(11), &["out of cheese"]);
    world.view(reader("a").at("w1")).exits(0).has("notes/main was restarted").has("notes/b was");
    world.view(reader("b").at("w2")).exits(0).has("killed by signal 11");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn step_that_kills_a_shared_process_is_unknown_and_neighbours_are_told() {
    let mut world = three();
    world.set_behaviour("notes/b", Behaviour::DiesOnInvoke);
    world.run(reader("a").at("w1"), "notes/b.say('x')").exits(7);
    world.set_behaviour("notes/b", Behaviour::Normal);
    world.view(reader("b").at("w2")).exits(0).has("was restarted");
}

#[test]
fn unreadable_answer_of_one_session_ends_the_shared_process() {
    let mut world = three();
    world.set_behaviour("notes/b", Behaviour::Garbage);
    world.run(reader("a").at("w1"), "notes/b.say('x')").exits(7);
    world.set_behaviour("notes/b", Behaviour::Normal);
    world
        .view(reader("b").at("w2"))
        .exits(0)
        .has("notes/b, which shares its process, was ended: its answer could not be read");
}

#[test]
fn refused_open_leaves_other_sessions_of_the_process_running() {
    let mut world = three();
    world.set_behaviour("notes/c", Behaviour::RefusesOpen("no such book".into()));
    world.open(reader("a").at("w1"), "notes/c").has("no such book");
    world.run(reader("b").at("w2"), "notes.say('y')").exits(0).lacks("restarted");
    assert_eq!(world.apps.len(), 1);
    world.ask(reader("a").at("w1"), Verb::Sessions).lacks("notes/c");
}

#[test]
fn sessions_of_a_shared_process_hibernate_one_by_one() {
    let mut world = World::with_notes(|notes| {
        shared(notes);
        notes.idle = Idle::After(60_000);
    });
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let before = world.view(reader("a")).text;
    world.open(reader("a"), "notes/b");
    world.pass(40_000);
    world.run(reader("a"), "notes/b.say('x')").exits(0);
    world.pass(40_000);
    world.ask(reader("a"), Verb::Sessions).has("notes/main  asleep").has("notes/b     ready");
    world.pass(40_000);
    assert!(world.apps.is_empty(), "nobody is awake in it");
    let after = world.view(reader("a"));
    after.exits(0).lacks("restarted").has("k1 r1");
    assert!(before.contains("k1 r1"));
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn open_waits_while_the_shared_process_ends() {
    let mut world = World::with_notes(shared);
    world.open(reader("a"), "notes");
    let app = *world.apps.keys().next().expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    world.ask(reader("a"), Verb::End { session: session_addr("notes/main") }).exits(0);
    assert_eq!(world.apps.len(), 1, "it takes its time");
    world.open(reader("a"), "notes").exits(0);
    assert!(!world.apps.contains_key(&app), "it was left to linger");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn frames_of_foreign_incarnations_are_dropped_and_down_ends_the_process() {
    let mut world = three();
    world.open(reader("a").at("w1"), "other").exits(0);
    let other = world.process("other/main").expect("it runs");
    let notes = *world.apps.keys().find(|app| **app != other).expect("it runs");
    for incarnation in 0..20 {
        let envelope = pipemux_proto::Envelope::event(
            pipemux_proto::Method::Notify,
            pipemux_proto::Incarnation(incarnation),
        );
        let body = pipemux_proto::app::Notify { text: "forged".into() };
        let frame = crate::world::frame(&envelope, &body);
        world.event(Event::AppFrame { app: other, frame: frame.clone() });
        if incarnation == other.0 {
            world.event(Event::AppFrame { app: notes, frame });
        }
    }
    let said = world.view(reader("a").at("w1"));
    assert_eq!(said.text.matches("forged").count(), 1, "other's own: {}", said.text);
    world.ask(reader("a").at("w1"), Verb::Down).exits(0).has("down");
    assert!(world.stopped && world.apps.is_empty());
}

#[test]
fn shared_process_that_never_greets_fails_all_waiting_opens() {
    let mut world = World::with_notes(shared);
    world.set_behaviour("notes/main", Behaviour::NoHello);
    let client = world.connect();
    let first = world.call(reader("a"), open("notes"));
    let first = world.send(client, &first);
    let second = world.call(reader("a"), open("notes/b"));
    let second = world.send(client, &second);
    world.pass(limits::START_MS + limits::DRAIN_MS);
    for id in [first, second] {
        world.answer_to(client, id).expect("an answer").exits(6);
    }
    assert!(world.apps.is_empty());
}

#[test]
fn restart_of_one_session_restarts_the_shared_process() {
    let mut world = three();
    let before = *world.apps.keys().next().expect("it runs");
    world.ask(reader("a").at("w1"), Verb::Restart { session: session_addr("notes/main") }).exits(0);
    assert!(!world.apps.contains_key(&before), "the old process runs on");
    world
        .view(reader("b").at("w2"))
        .exits(0)
        .has("notes/main was restarted with notes/main, which shares its process");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn hung_shared_process_is_restarted_within_its_deadlines() {
    let mut world = three();
    let before = *world.apps.keys().next().expect("it runs");
    for session in ["notes/main", "notes/b"] {
        world.set_behaviour(session, Behaviour::Silent);
    }
    let client = world.connect();
    let call =
        world.call(reader("a").at("w1"), Verb::Restart { session: session_addr("notes/main") });
    let id = world.send(client, &call);
    world.pass(limits::DRAIN_MS - 1);
    for session in ["notes/main", "notes/b"] {
        world.set_behaviour(session, Behaviour::Normal);
    }
    world.pass(limits::DRAIN_MS);
    world.answer_to(client, id).expect("an answer").exits(0).has("restarted notes/main");
    assert!(!world.apps.contains_key(&before));
}

#[test]
fn process_that_sessions_share_counts_once_in_their_sum() {
    let mut world = World::with_notes(shared);
    world.open(reader("a"), "notes");
    world.open(reader("a"), "notes/b");
    let listed = world.ask(reader("a"), Verb::Sessions).text;
    let rows: Vec<&str> = listed.lines().collect();
    assert!(rows[1].contains("112 B") && rows[2].contains("112 B"), "{listed}");
    assert!(rows[3].starts_with("2 sessions ") && rows[3].contains("112 B"), "{listed}");
    // What was shown was counted for the session that it was of.
    let tokens = |row: &str| row.rsplit(' ').next().and_then(|last| last.parse::<u64>().ok());
    let (one, other) = (tokens(rows[1]).unwrap(), tokens(rows[2]).unwrap());
    assert!(one > 0 && other > 0, "{listed}");
    assert_eq!(tokens(rows[3]), Some(one + other));
}
