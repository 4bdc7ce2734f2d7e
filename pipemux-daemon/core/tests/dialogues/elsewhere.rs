//! Windows that changed beside those of an answer: each act's answer names them, to whoever saw them as they
//! were.

use crate::world::{World, asker, frame};
use pipemux_core::{Event, Idle, Scope};
use pipemux_proto::app::Changed;
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Method};

const IDLE: u64 = 60_000;

fn look(session: &str) -> Verb {
    Verb::View(ViewArgs {
        session: Some(session.parse().expect("a session")),
        ..ViewArgs::default()
    })
}

/// Two readers who have seen three windows.
fn three() -> World {
    watched_by_two(World::new())
}

fn watched_by_two(mut world: World) -> World {
    for session in ["notes", "notes/b", "notes/c"] {
        world.open(asker("a"), session).exits(0);
    }
    world.view(asker("b")).exits(0);
    world
}

/// The state of a session changes by itself.
fn change(world: &mut World, session: &str) {
    let app = world.process(session).expect("it runs");
    let model = world.model(session);
    model.version += 1;
    let changed = Changed { version: model.version };
    let frame = frame(&Envelope::event(Method::Changed, app), &changed);
    world.event(Event::AppFrame { app, frame });
}

#[test]
fn they_are_named_in_the_order_they_were_opened_until_they_are_seen() {
    let mut world = three();
    world.run(asker("b"), "notes/c.say('x'); notes/b.say('y')").exits(0).lacks("changed too");
    let told = "\nchanged too: notes/b, notes/c · pipemux view\n";
    world.run(asker("a"), "notes/main.say('z')").exits(0).has(told);
    world.run(asker("a"), "notes/main.say('z')").exits(0).has(told);
    world.run(asker("a"), "notes/c.say('z')").exits(0).has("changed too: notes/b · ");
    world.ask(asker("a"), look("notes/b")).exits(0);
    world.run(asker("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.run(asker("b"), "notes/b.say('x')").exits(0).has("changed too: notes/main, notes/c · ");
}

#[test]
fn what_changed_while_an_answer_was_on_its_way_is_named_with_the_next() {
    let mut world = three();
    let client = world.connect();
    let call = world.call(asker("a"), look("notes/b"));
    let id = world.send(client, &call);
    world.settle();
    let shown = world.said(client, id).expect("an answer");
    change(&mut world, "notes/b");
    world.run(asker("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
    world.confirm(client, shown.delivery);
    world.run(asker("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
}

#[test]
fn what_changed_while_its_window_was_closed_is_named_once_it_is_open_again() {
    let mut world = three();
    let close = Verb::Close { session: "notes/b".parse().expect("a session"), end: false };
    world.ask(asker("b"), close).exits(0);
    change(&mut world, "notes/b");
    world.run(asker("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.open(asker("b"), "notes/b").exits(0);
    world.run(asker("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
    let end = Verb::End { session: "notes/b".parse().expect("a session") };
    world.ask(asker("b"), end).exits(0);
    world.open(asker("b"), "notes/b").exits(0);
    world.run(asker("a"), "notes/main.say('z')").exits(0).lacks("changed too");
}

#[test]
fn what_sleeps_is_named_once_it_woke_as_it_fell_asleep() {
    let mut world = World::with_notes(|notes| notes.idle = Idle::After(IDLE));
    for session in ["notes/main", "notes/b", "notes/c"] {
        world.model(session).add("one");
    }
    let mut world = watched_by_two(world);
    world.run(asker("b"), "notes/b.say('x')").exits(0);
    world.pass(IDLE + 1);
    assert!(world.process("notes/b").is_none());
    world.run(asker("a"), "notes/main.say('z')").exits(0).lacks("changed too");
    world.ask(asker("b"), look("notes/b")).exits(0);
    world.run(asker("a"), "notes/main.say('z')").exits(0).has("changed too: notes/b · ");
}

#[test]
fn what_another_workspace_changed_is_named_too() {
    let mut world = World::with_notes(|notes| notes.scope = Scope::User);
    for workspace in ["w1", "w2"] {
        world.open(asker("a").at(workspace), "notes/b").exits(0);
        world.open(asker("a").at(workspace), "notes").exits(0);
    }
    world.run(asker("a").at("w1"), "notes/b.say('x')").exits(0);
    world.run(asker("a").at("w2"), "notes/main.say('y')").exits(0).has("changed too: notes/b · ");
    world.run(asker("a").at("w1"), "notes/b.say('x')").exits(0).has("changed too: notes/main · ");
}
