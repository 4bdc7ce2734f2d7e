//! Sessions that share a process: `isolation = "provider"`.

use crate::world::{Manner, World, asker, open};
use pipemux_core::{Event, Exit, Idle, Isolation, Manifest, limits};
use pipemux_proto::SessionAddr;
use pipemux_proto::client::Verb;

fn shared(notes: &mut Manifest) {
    notes.isolation = Isolation::Provider;
}

fn addr(session: &str) -> SessionAddr {
    session.parse().expect("a session")
}

/// Two workspaces with a session each, and a third session of the first.
fn three() -> World {
    let mut world = World::with_notes(shared);
    world.model("notes/main").add("one");
    world.open(asker("a").at("w1"), "notes").exits(0);
    world.open(asker("b").at("w2"), "notes").exits(0);
    world.open(asker("a").at("w1"), "notes/b").exits(0);
    assert_eq!(world.apps.len(), 1, "one process has them all");
    world
}

#[test]
fn each_has_its_own_state_in_the_one_process() {
    let mut world = three();
    world.run(asker("a").at("w1"), "notes/b.say('x')").exits(0);
    world.run(asker("b").at("w2"), "notes.say('y')").exits(0);
    let (first, second) = (world.model_of("w1", "notes/b"), world.model_of("w2", "notes/main"));
    assert_eq!(first.map(|m| m.version), Some(1));
    assert_eq!(second.map(|m| m.version), Some(1));
    assert_eq!(world.model_of("w1", "notes/main").map(|m| m.version), Some(1), "as it was");
    world.view(asker("a").at("w1")).exits(0).has("k1 r1");
    world.view(asker("b").at("w2")).exits(0).lacks("k1 r1");
}

#[test]
fn one_that_ends_leaves_the_others_and_the_last_one_ends_the_process() {
    let mut world = three();
    for session in ["notes/b", "notes/main"] {
        world.ask(asker("a").at("w1"), Verb::End { session: addr(session) }).exits(0);
        assert_eq!(world.apps.len(), 1);
    }
    world.run(asker("b").at("w2"), "notes.say('y')").exits(0).lacks("restarted");
    world.ask(asker("b").at("w2"), Verb::End { session: addr("notes/main") }).exits(0);
    assert!(world.apps.is_empty(), "a process without sessions runs on");
    assert_eq!(world.core.next_timeout(), None);
    world.open(asker("a").at("w1"), "notes").exits(0);
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn its_end_is_told_to_every_session_and_one_process_is_started_for_all() {
    let mut world = three();
    let app = *world.apps.keys().next().expect("it runs");
    world.kill(app, Exit::Signal(11), &["out of cheese"]);
    world.view(asker("a").at("w1")).exits(0).has("notes/main was restarted").has("notes/b was");
    world.view(asker("b").at("w2")).exits(0).has("killed by signal 11");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn a_request_that_ends_it_is_unknown_and_the_others_are_told_why() {
    let mut world = three();
    world.manner("notes/b", Manner::DiesOnInvoke);
    world.run(asker("a").at("w1"), "notes/b.say('x')").exits(7);
    world.manner("notes/b", Manner::Normal);
    world.view(asker("b").at("w2")).exits(0).has("was restarted");
}

#[test]
fn garbage_of_one_ends_the_process_and_the_neighbours_are_told_whose_it_was() {
    let mut world = three();
    world.manner("notes/b", Manner::Garbage);
    world.run(asker("a").at("w1"), "notes/b.say('x')").exits(7);
    world.manner("notes/b", Manner::Normal);
    world
        .view(asker("b").at("w2"))
        .exits(0)
        .has("notes/b, which shares its process, was ended: its answer could not be read");
}

#[test]
fn one_whose_open_is_refused_does_not_hurt_the_others() {
    let mut world = three();
    world.manner("notes/c", Manner::RefusesOpen("no such book".into()));
    world.open(asker("a").at("w1"), "notes/c").has("no such book");
    world.run(asker("b").at("w2"), "notes.say('y')").exits(0).lacks("restarted");
    assert_eq!(world.apps.len(), 1);
    world.ask(asker("a").at("w1"), Verb::Sessions).lacks("notes/c");
}

#[test]
fn they_sleep_one_by_one_and_wake_in_a_new_process() {
    let mut world = World::with_notes(|notes| {
        shared(notes);
        notes.idle = Idle::After(60_000);
    });
    world.model("notes/main").add("one");
    world.open(asker("a"), "notes");
    let before = world.view(asker("a")).text;
    world.open(asker("a"), "notes/b");
    world.pass(40_000);
    world.run(asker("a"), "notes/b.say('x')").exits(0);
    world.pass(40_000);
    world.ask(asker("a"), Verb::Sessions).has("notes/main · asleep").has("notes/b · ready");
    world.pass(40_000);
    assert!(world.apps.is_empty(), "nobody is awake in it");
    let after = world.view(asker("a"));
    after.exits(0).lacks("restarted").has("k1 r1");
    assert!(before.contains("k1 r1"));
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn what_comes_while_the_process_ends_waits_for_the_next() {
    let mut world = World::with_notes(shared);
    world.open(asker("a"), "notes");
    let app = *world.apps.keys().next().expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    world.ask(asker("a"), Verb::End { session: addr("notes/main") }).exits(0);
    assert_eq!(world.apps.len(), 1, "it takes its time");
    world.open(asker("a"), "notes").exits(0);
    assert!(!world.apps.contains_key(&app), "it was left to linger");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn down_ends_it_and_frames_of_lives_that_are_not_its_own_are_dropped() {
    let mut world = three();
    world.open(asker("a").at("w1"), "other").exits(0);
    let other = world.process("other/main").expect("it runs");
    let notes = *world.apps.keys().find(|app| **app != other).expect("it runs");
    for life in 0..20 {
        let envelope = pipemux_proto::Envelope::event(
            pipemux_proto::Method::Notify,
            pipemux_proto::Incarnation(life),
        );
        let body = pipemux_proto::app::Notify { text: "forged".into() };
        let frame = crate::world::frame(&envelope, &body);
        world.event(Event::AppFrame { app: other, frame: frame.clone() });
        if life == other.0 {
            world.event(Event::AppFrame { app: notes, frame });
        }
    }
    let said = world.view(asker("a").at("w1"));
    assert_eq!(said.text.matches("forged").count(), 1, "other's own: {}", said.text);
    world.ask(asker("a").at("w1"), Verb::Down).exits(0).has("down");
    assert!(world.stopped && world.apps.is_empty());
}

#[test]
fn a_process_that_never_greets_fails_all_who_wait_for_it() {
    let mut world = World::with_notes(shared);
    world.manner("notes/main", Manner::NoHello);
    let client = world.connect();
    let first = world.call(asker("a"), open("notes"));
    let first = world.send(client, &first);
    let second = world.call(asker("a"), open("notes/b"));
    let second = world.send(client, &second);
    world.pass(limits::START_MS + limits::DRAIN_MS);
    for id in [first, second] {
        world.said(client, id).expect("an answer").exits(6);
    }
    assert!(world.apps.is_empty());
}

#[test]
fn a_restart_starts_the_one_process_anew_and_tells_the_neighbours() {
    let mut world = three();
    let before = *world.apps.keys().next().expect("it runs");
    world.ask(asker("a").at("w1"), Verb::Restart { session: addr("notes/main") }).exits(0);
    assert!(!world.apps.contains_key(&before), "the old process runs on");
    world
        .view(asker("b").at("w2"))
        .exits(0)
        .has("notes/main was restarted with notes/main, which shares its process");
    assert_eq!(world.apps.len(), 1);
}

#[test]
fn a_hung_process_is_restarted_within_its_deadlines() {
    let mut world = three();
    let before = *world.apps.keys().next().expect("it runs");
    for session in ["notes/main", "notes/b"] {
        world.manner(session, Manner::Silent);
    }
    let client = world.connect();
    let call = world.call(asker("a").at("w1"), Verb::Restart { session: addr("notes/main") });
    let id = world.send(client, &call);
    world.pass(limits::DRAIN_MS - 1);
    for session in ["notes/main", "notes/b"] {
        world.manner(session, Manner::Normal);
    }
    world.pass(limits::DRAIN_MS);
    world.said(client, id).expect("an answer").exits(0).has("restarted notes/main");
    assert!(!world.apps.contains_key(&before));
}
