//! Clients that vanish, repeat themselves, or say what they shouldn't.

use crate::world::{Manner, Terminal, World, asker, garbage, run};
use pipemux_core::{Event, limits};
use pipemux_proto::client::{Verb, VerbRequest};
use pipemux_proto::{Envelope, Incarnation, Method};

#[test]
fn the_steps_of_a_vanished_client_that_were_not_begun_are_not_begun() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), run("notes.say('x'); notes.say('y'); notes.say('z')"));
    world.send(client, &call);
    world.vanish(client);
    world.release("notes/main");
    world.run_out();
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn a_run_whose_client_vanished_before_it_began_never_begins() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.lose_daemon();
    // What the app can do isn't known yet: the run waits for its start.
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), run("notes.say('x')"));
    world.send(client, &call);
    world.vanish(client);
    world.release("notes/main");
    world.run_out();
    assert!(world.invoked.is_empty());
}

#[test]
fn a_cancelled_run_is_answered() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), run("notes.say('x'); notes.say('y')"));
    let request = world.send(client, &call);
    world.cancel(client, request);
    world.release("notes/main");
    let said = world.said(client, request).expect("an answer");
    said.exits(1).has("1 done · say: x").has("cancelled before it began; nothing was sent");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn a_run_that_is_sent_again_is_not_carried_out_again() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let call = world.call(asker("a"), run("notes.say('once')"));
    let first = world.ask_call(&call);
    let again = world.ask_call(&call);
    assert_eq!((first.exit, &first.text), (again.exit, &again.text));
    assert_eq!(world.invoked.len(), 1);
    // While it runs there is no answer to repeat yet.
    world.manner("notes/main", Manner::Holds);
    let call = world.call(asker("a"), run("notes.say('slow')"));
    let client = world.connect();
    let request = world.send(client, &call);
    world.ask_call(&call).exits(7).has("still being carried out");
    world.release("notes/main");
    world.said(client, request).expect("an answer").exits(0);
    assert_eq!(world.invoked.len(), 2);
}

#[test]
fn a_client_greets_first() {
    let mut world = World::new();
    let client = pipemux_core::ClientId(99);
    world.clients.insert(client, Default::default());
    world.event(Event::ClientOpened { client });
    let call = world.call(asker("a"), run("notes.say('x')"));
    let id = world.send(client, &call);
    assert!(matches!(world.terminals(client, id), [Terminal::Fault(_)]));
    assert!(world.clients[&client].closed);
}

#[test]
fn a_last_word_takes_back_what_was_not_begun_and_nothing_is_answered() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let seen = |world: &mut World, client| {
        let view = world.call(asker("a"), Verb::View(Default::default()));
        let request = world.send(client, &view);
        world.said(client, request).expect("an answer").delivery
    };
    // What can't be read ends as well, and confirms nothing.
    let client = world.connect();
    seen(&mut world, client);
    let frame = garbage(Envelope::event(Method::Seen, Incarnation(0)));
    world.event(Event::ClientFrame { client, frame });
    assert!(world.clients[&client].closed);
    // A run under way goes on to the end of the step that is with its app, as when the client vanishes.
    let client = world.connect();
    let delivery = seen(&mut world, client);
    world.manner("notes/main", Manner::Holds);
    let call = world.call(asker("a"), run("notes.say('1'); notes.say('2')"));
    world.send(client, &call);
    world.end(client, delivery);
    world.release("notes/main");
    world.run_out();
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn what_cannot_be_read_is_refused_and_the_client_goes_on() {
    let mut world = World::new();
    let client = world.connect();
    for method in [Method::Verb, Method::Seen, Method::Invoke] {
        let id = 500 + method as u64;
        let frame = garbage(Envelope::request(method, id, Incarnation(0)));
        world.event(Event::ClientFrame { client, frame });
        assert!(matches!(world.terminals(client, id), [Terminal::Fault(_)]), "{method:?}");
    }
    world.open(asker("a"), "notes").exits(0);
}

#[test]
fn json_says_the_same() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let call = world.call(asker("a"), run("notes.fail()"));
    let call = VerbRequest { format: pipemux_proto::client::Format::Json, ..call };
    world.ask_call(&call).exits(1).has("status: Failed").has("it can't be done");
}

#[test]
fn a_step_that_is_taken_back_while_its_ref_is_looked_up_is_not_run() {
    for app in [Manner::Normal, Manner::Silent] {
        let mut world = World::new();
        world.model("notes/main").add("one");
        let id = world.open(asker("a"), "notes").id("k1 r1");
        world.view_at(asker("a"), "notes/main", pipemux_proto::projection::Lod::Gist);
        world.manner("notes/main", Manner::Holds);
        let client = world.connect();
        let call = world.call(asker("a"), run(&format!("notes.edit(obj:{id}, 'x')")));
        let request = world.send(client, &call);
        world.cancel(client, request);
        if app == Manner::Normal {
            world.release("notes/main");
        }
        world.pass(40_000);
        world.said(client, request).expect("an answer");
        assert!(world.invoked.is_empty());
    }
}

#[test]
fn a_run_is_not_carried_out_again_by_a_later_daemon() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let answered = world.call(asker("a"), run("notes.say('x')"));
    world.ask_call(&answered).exits(0);
    // One that was with the app when the daemon was lost.
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let lost = world.call(asker("a"), run("notes.say('y')"));
    world.send(client, &lost);
    world.settle();
    let reached = world.invoked.len();
    assert_eq!(reached, 2);
    for _ in 0..2 {
        world.lose_daemon();
        world.manner("notes/main", Manner::Normal);
        world.ask_call(&answered).exits(0).has("answered before");
        world.ask_call(&lost).exits(7).has("may or may not");
        assert_eq!(world.invoked.len(), reached, "carried out again");
    }
}

#[test]
fn a_client_that_says_nothing_makes_room_and_one_too_many_is_told() {
    let mut world = World::new();
    let mute = pipemux_core::ClientId(70_000);
    world.clients.insert(mute, Default::default());
    world.event(Event::ClientOpened { client: mute });
    let polite = world.connect();
    world.pass(limits::GREET_MS);
    assert!(world.clients[&mute].closed, "it stays for ever");
    assert!(!world.clients[&polite].closed);
    let terminals = &world.clients[&mute].terminals;
    assert!(format!("{terminals:?}").contains("no Hello within 10 s"), "{terminals:?}");
    for _ in 1..limits::CLIENTS_MAX {
        world.connect();
    }
    let late = world.connect();
    assert!(world.clients[&late].closed);
    let terminals = &world.clients[&late].terminals;
    assert!(format!("{terminals:?}").contains("too many"), "{terminals:?}");
    world.vanish(polite);
    let next = world.connect();
    assert!(!world.clients[&next].closed, "there is room again");
}
