//! Windows that changed outside of an answer: the answer to a run names them, if its reader saw
//! them as they were.

use crate::world::{World, reader, session_addr};
use pipemux_core::{Idle, Scope};
use pipemux_proto::client::{Verb, ViewArgs};

const IDLE: u64 = 60_000;

fn look(session: &str) -> Verb {
    Verb::View(ViewArgs { session: Some(session_addr(session)), ..ViewArgs::default() })
}

/// A world in which two readers have seen three windows.
fn three() -> World {
    watched_by_two(World::new())
}

fn watched_by_two(mut world: World) -> World {
    for session in ["notes", "notes/b", "notes/c"] {
        world.open(reader("a"), session).exits(0);
    }
    world.view(reader("b")).exits(0);
    world
}

/// Changes the state of a session without a request.
fn change(world: &mut World, session: &str) {
    world.model(session).version += 1;
    world.report_change(session);
}

#[test]
fn changed_windows_are_named_in_the_order_they_were_opened_until_seen() {
    let mut world = three();
    world.run(reader("b"), "notes/c.say('x'); notes/b.say('y')").exits(0).lacks("changed too");
    let told = "\nchanged too: notes/b, notes/c · pipemux view\n";
    world.run(reader("a"), "notes/main.say('z')").exits(0).has(told);
    world.run(reader("a"), "notes/main.say('z')").exits(0).has(told);
    world.run(reader("a"), "notes/c.say('z')").exits(0).has("changed too: notes/b · ");
    world.ask(reader("a"), look("notes/b")).exits(0);
    world.run(reader("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.run(reader("b"), "notes/b.say('x')").exits(0).has("changed too: notes/main, notes/c · ");
}

#[test]
fn window_that_changes_before_its_answer_is_confirmed_is_still_named() {
    let mut world = three();
    let client = world.connect();
    let call = world.call(reader("a"), look("notes/b"));
    let id = world.send(client, &call);
    world.settle();
    let shown = world.answer_to(client, id).expect("an answer");
    change(&mut world, "notes/b");
    world.run(reader("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
    world.confirm(client, shown.delivery);
    world.run(reader("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
}

#[test]
fn window_that_changed_while_closed_is_named_once_it_is_reopened() {
    let mut world = three();
    let close = Verb::Close { session: session_addr("notes/b"), end: false };
    world.ask(reader("b"), close).exits(0);
    change(&mut world, "notes/b");
    world.run(reader("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.open(reader("b"), "notes/b").exits(0);
    world.run(reader("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
    let end = Verb::End { session: session_addr("notes/b") };
    world.ask(reader("b"), end).exits(0);
    world.open(reader("b"), "notes/b").exits(0);
    world.run(reader("a"), "notes/main.say('z')").exits(0).lacks("changed too");
}

#[test]
fn hibernated_window_with_changes_is_named_once_it_woke() {
    let mut world = World::with_notes(|notes| notes.idle = Idle::After(IDLE));
    for session in ["notes/main", "notes/b", "notes/c"] {
        world.model(session).add("one");
    }
    let mut world = watched_by_two(world);
    world.run(reader("b"), "notes/b.say('x')").exits(0);
    world.pass(IDLE + 1);
    assert!(world.process("notes/b").is_none());
    world.run(reader("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.ask(reader("b"), look("notes/b")).exits(0);
    world.run(reader("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
}

#[test]
fn shared_window_changed_in_another_workspace_is_named() {
    let mut world = World::with_notes(|notes| notes.scope = Scope::User);
    for workspace in ["w1", "w2"] {
        world.open(reader("a").at(workspace), "notes/b").exits(0);
        world.open(reader("a").at(workspace), "notes").exits(0);
    }
    world.run(reader("a").at("w1"), "notes/b.say('x')").exits(0);
    world.run(reader("a").at("w2"), "notes/main.say('y')").exits(0).has("changed too: notes/b · ");
    world.run(reader("a").at("w1"), "notes/b.say('x')").exits(0).has("changed too: notes/main · ");
}
