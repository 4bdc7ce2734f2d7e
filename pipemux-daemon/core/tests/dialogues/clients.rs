//! Clients that vanish, repeat their requests, or break the protocol.

use crate::world::{Behaviour, RequestEnd, World, garbage, reader, run};
use pipemux_core::{Event, limits};
use pipemux_proto::client::{Verb, VerbRequest};
use pipemux_proto::{Envelope, Incarnation, Method};

#[test]
fn confirmation_counts_on_disk_before_its_client_is_told_so() {
    for by_event in [false, true] {
        let mut world = World::new();
        world.model("notes/main").add("one");
        let one = world.open(reader("a"), "notes").id("k1 r1");
        let client = world.connect();
        let call = world.call(reader("a"), run(&format!("notes.wipe(obj:{one})")));
        let request = world.send(client, &call);
        let asked = world.answer_to(client, request).expect("a question");
        asked.exits(5).has("needs an answer · notes.wipe");
        world.effects.clear();
        match by_event {
            true => world.end(client, asked.delivery),
            false => world.confirm(client, asked.delivery),
        }
        let position = |kind: &str| {
            let found = world.effects.iter().position(|effect| effect.starts_with(kind));
            found.unwrap_or_else(|| panic!("no {kind}: {:?}", world.effects))
        };
        // Who was told that the question counts as shown may confirm it, whatever becomes of the
        // daemon.
        let told = position(if by_event { "CloseClient" } else { "ToClient" });
        assert!(position("Persist(Question") < told, "{:?}", world.effects);
    }
}

#[test]
fn steps_not_yet_sent_are_dropped_when_the_client_vanishes() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x'); notes.say('y'); notes.say('z')"));
    world.send(client, &call);
    world.vanish(client);
    world.release("notes/main");
    world.run_out();
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn run_that_waits_for_a_start_is_dropped_when_the_client_vanishes() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.lose_daemon();
    // The run waits for the app to start, because its actions aren't known yet.
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x')"));
    world.send(client, &call);
    world.vanish(client);
    world.release("notes/main");
    world.run_out();
    assert!(world.invoked.is_empty());
}

#[test]
fn cancelled_run_is_answered() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('x'); notes.say('y')"));
    let request = world.send(client, &call);
    world.cancel(client, request);
    world.release("notes/main");
    let said = world.answer_to(client, request).expect("an answer");
    said.exits(1).has("1 done · say: x").has("cancelled before it began; nothing was sent");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn repeated_run_gets_the_first_answer_and_is_not_carried_out_again() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let call = world.call(reader("a"), run("notes.say('once')"));
    let first = world.ask_call(&call);
    let again = world.ask_call(&call);
    assert_eq!((first.exit, &first.text), (again.exit, &again.text));
    assert_eq!(world.invoked.len(), 1);
    // While the run is under way, there is no answer to repeat.
    world.set_behaviour("notes/main", Behaviour::Holds);
    let call = world.call(reader("a"), run("notes.say('slow')"));
    let client = world.connect();
    let request = world.send(client, &call);
    world.ask_call(&call).exits(7).has("still being carried out");
    world.release("notes/main");
    world.answer_to(client, request).expect("an answer").exits(0);
    assert_eq!(world.invoked.len(), 2);
}

#[test]
fn request_before_the_greeting_is_refused_and_closes_the_client() {
    let mut world = World::new();
    let client = pipemux_core::ClientId(99);
    world.clients.insert(client, Default::default());
    world.event(Event::ClientOpened { client });
    let call = world.call(reader("a"), run("notes.say('x')"));
    let id = world.send(client, &call);
    assert!(matches!(world.request_ends(client, id), [RequestEnd::Fault(_)]));
    assert!(world.clients[&client].closed);
}

#[test]
fn closing_confirmation_drops_steps_that_were_not_sent() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let seen = |world: &mut World, client| {
        let view = world.call(reader("a"), Verb::View(Default::default()));
        let request = world.send(client, &view);
        world.answer_to(client, request).expect("an answer").delivery
    };
    // A closing message that can't be decoded closes the connection too, and confirms nothing.
    let client = world.connect();
    seen(&mut world, client);
    let frame = garbage(Envelope::event(Method::Seen, Incarnation(0)));
    world.event(Event::ClientFrame { client, frame });
    assert!(world.clients[&client].closed);
    // The step that is with its app is finished, as when the client vanishes.
    let client = world.connect();
    let delivery = seen(&mut world, client);
    world.set_behaviour("notes/main", Behaviour::Holds);
    let call = world.call(reader("a"), run("notes.say('1'); notes.say('2')"));
    world.send(client, &call);
    world.end(client, delivery);
    world.release("notes/main");
    world.run_out();
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn unreadable_request_is_refused_and_the_connection_stays_open() {
    let mut world = World::new();
    let client = world.connect();
    for method in [Method::Verb, Method::Seen, Method::Invoke] {
        let id = 500 + method as u64;
        let frame = garbage(Envelope::request(method, id, Incarnation(0)));
        world.event(Event::ClientFrame { client, frame });
        assert!(matches!(world.request_ends(client, id), [RequestEnd::Fault(_)]), "{method:?}");
    }
    world.open(reader("a"), "notes").exits(0);
}

#[test]
fn json_answer_has_the_same_outcome_as_markdown() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let call = world.call(reader("a"), run("notes.fail()"));
    let call = VerbRequest { format: pipemux_proto::client::Format::Json, ..call };
    world.ask_call(&call).exits(1).has("status: Failed").has("it can't be done");
}

#[test]
fn step_cancelled_during_its_lookup_is_not_sent() {
    for app in [Behaviour::Normal, Behaviour::Silent] {
        let mut world = World::new();
        world.model("notes/main").add("one");
        let id = world.open(reader("a"), "notes").id("k1 r1");
        world.view_at(reader("a"), "notes/main", pipemux_proto::projection::Lod::Gist);
        world.set_behaviour("notes/main", Behaviour::Holds);
        let client = world.connect();
        let call = world.call(reader("a"), run(&format!("notes.edit(obj:{id}, 'x')")));
        let request = world.send(client, &call);
        world.cancel(client, request);
        if app == Behaviour::Normal {
            world.release("notes/main");
        }
        world.pass(40_000);
        world.answer_to(client, request).expect("an answer");
        assert!(world.invoked.is_empty());
    }
}

#[test]
fn click_cancelled_while_its_link_is_looked_for_is_not_sent() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let link = world.open(reader("a"), "notes").id("edit k1 r1");
    world.model("notes/main").hide(0, true);
    world.view(reader("a"));
    world.model("notes/main").hide(0, false);
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::Click { link: format!("link:{link}") });
    let request = world.send(client, &call);
    assert!(world.answer_to(client, request).is_none(), "its window is asked for");
    world.cancel(client, request);
    world.release("notes/main");
    world.settle();
    world.answer_to(client, request).expect("an answer").exits(6).has("nothing was sent");
    assert!(world.invoked.is_empty());
}

#[test]
fn repeated_run_is_not_carried_out_again_by_a_later_daemon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let answered = world.call(reader("a"), run("notes.say('x')"));
    world.ask_call(&answered).exits(0);
    // This run was with the app when the daemon was lost.
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let lost = world.call(reader("a"), run("notes.say('y')"));
    world.send(client, &lost);
    world.settle();
    let reached = world.invoked.len();
    assert_eq!(reached, 2);
    for _ in 0..2 {
        world.lose_daemon();
        world.set_behaviour("notes/main", Behaviour::Normal);
        world.ask_call(&answered).exits(0).has("answered before");
        world.ask_call(&lost).exits(7).has("may or may not");
        assert_eq!(world.invoked.len(), reached, "carried out again");
    }
}

#[test]
fn runs_of_a_neighbour_dont_make_a_repeated_run_happen_again() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let mine = world.call(reader("a"), run("notes.say('mine')"));
    world.ask_call(&mine).exits(0);
    let client = world.connect();
    for _ in 0..600 {
        let call = world.call(reader("b"), run("notes.say('theirs')"));
        let id = world.send(client, &call);
        world.answer_to(client, id).expect("an answer").exits(0);
    }
    let reached = world.invoked.len();
    let first = world.ask_call(&mine);
    first.exits(0).has("1 done");
    assert_eq!(world.invoked.len(), reached, "carried out again");
    // The same id is another run where another reader or workspace sends it.
    let other = VerbRequest { reader: "b".into(), ..mine.clone() };
    world.ask_call(&other).exits(0);
    world.open(reader("a").at("elsewhere"), "notes");
    let workspace = world.call(reader("a").at("elsewhere"), run("")).workspace;
    world.ask_call(&VerbRequest { workspace, ..mine }).exits(0);
    assert_eq!(world.invoked.len(), reached + 2);
}

#[test]
fn run_that_is_too_old_to_be_known_is_not_carried_out() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let timed = |world: &mut World, ms_ago: u64| {
        let run_id = pipemux_proto::run_id::new(world.now.unix_ms - ms_ago, world.next_run.into());
        VerbRequest { run_id, ..world.call(reader("a"), run("notes.say('x')")) }
    };
    let old = timed(&mut world, 0);
    world.ask_call(&old).exits(0);
    let late = timed(&mut world, 1);
    world.pass(limits::RECORDS_MS + 1_000);
    let new = timed(&mut world, 0);
    world.ask_call(&new).exits(0);
    let reached = world.invoked.len();
    for _ in 0..2 {
        for call in [&old, &late] {
            let client = world.connect();
            let id = world.send(client, call);
            let ends = format!("{:?}", world.request_ends(client, id));
            assert!(ends.contains("code: Unknown") && ends.contains("pipemux history"), "{ends}");
        }
        assert_eq!(world.invoked.len(), reached, "carried out again");
        world.records = world.core.snapshot();
        world.lose_daemon();
    }
    let ahead = timed(&mut world, 0);
    world.now.unix_ms -= limits::CLOCK_AHEAD_MS + 60_000;
    let client = world.connect();
    let id = world.send(client, &ahead);
    let ends = format!("{:?}", world.request_ends(client, id));
    assert!(ends.contains("code: Refused") && ends.contains("360 s ahead"), "{ends}");
}

#[test]
fn apps_know_a_run_by_a_pseudonym_that_stays_the_same_for_a_later_daemon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.model("notes/main").add("one");
    world.run(reader("a"), "notes.pick(); notes.say('x')").exits(5);
    world.records = world.core.snapshot();
    world.set_pseudonym_key([9; 16]);
    world.lose_daemon();
    world.answer(reader("a"), "1").exits(0);
    let call = world.call(reader("a"), run("notes.say('x')"));
    world.ask_call(&call).exits(0);
    world.ask_call(&VerbRequest { reader: "b".into(), ..call.clone() }).exits(0);
    let ids: Vec<&str> = world.invoked.iter().map(|(_, invoke)| &*invoke.run_id).collect();
    assert_eq!(ids.len(), 5, "{ids:?}");
    assert!(ids[..3].iter().all(|id| *id == ids[0]), "one run: {ids:?}");
    assert!(ids[0] != ids[3] && ids[3] != ids[4], "{ids:?}");
    let expected = pipemux_core::Pseudonyms::new(*b"a secret to apps");
    assert_eq!(ids[3], expected.of(&call.workspace.key, "a", &call.run_id));
}

#[test]
fn idle_client_makes_room_and_one_client_too_many_is_refused() {
    let mut world = World::new();
    let mute = pipemux_core::ClientId(70_000);
    world.clients.insert(mute, Default::default());
    world.event(Event::ClientOpened { client: mute });
    let polite = world.connect();
    world.pass(limits::GREET_MS);
    assert!(world.clients[&mute].closed, "it stays for ever");
    assert!(!world.clients[&polite].closed);
    let request_ends = &world.clients[&mute].request_ends;
    assert!(format!("{request_ends:?}").contains("no Hello within 10 s"), "{request_ends:?}");
    // Of those that wait for nothing the one makes room that was silent longest, and one that
    // hasn't greeted before.
    world.pass(1);
    for _ in 2..limits::CLIENTS_MAX {
        world.connect();
    }
    let silent = pipemux_core::ClientId(70_001);
    world.clients.insert(silent, Default::default());
    world.event(Event::ClientOpened { client: silent });
    let late = world.connect();
    assert!(world.clients[&silent].closed && !world.clients[&polite].closed);
    let request_ends = &world.clients[&silent].request_ends;
    assert!(format!("{request_ends:?}").contains("closed to make room"), "{request_ends:?}");
    world.vanish(silent);
    let later = world.connect();
    assert!(world.clients[&polite].closed, "it was silent longest");
    assert!(!world.clients[&late].closed && !world.clients[&later].closed);
}
