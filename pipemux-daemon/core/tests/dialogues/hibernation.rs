//! Hibernation: an idle session's state is saved and its process ended; the next request wakes it,
//! and readers see no difference.

use crate::world::{Behaviour, World, reader, session_addr};
use pipemux_core::{Event, Idle, Manifest, SandboxLevel, Scope, State};
use pipemux_proto::app::Busy;
use pipemux_proto::client::{OpenArgs, Verb};
use pipemux_proto::projection::Lod;
use pipemux_proto::{Envelope, Method};

const IDLE: u64 = 60_000;

fn sleeper(notes: &mut Manifest) {
    notes.idle = Idle::After(IDLE);
}

fn slept() -> World {
    let mut world = World::with_notes(sleeper);
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    world.pass(IDLE + 1);
    assert!(world.process("notes/main").is_none(), "nobody used it, and it runs on");
    world
}

#[test]
fn idle_session_hibernates_and_wakes_without_visible_change() {
    let mut world = World::with_notes(sleeper);
    world.model("notes/main").add("one");
    let opened = world.open(reader("a"), "notes");
    let id = opened.id("k1 r1");
    let before = world.view_at(reader("a"), "notes/main", Lod::Summary).text;
    world.pass(IDLE + 1);
    assert!(world.apps.is_empty());
    world.ask(reader("a"), Verb::Sessions).has("notes/main  asleep");
    let after = world.view_at(reader("a"), "notes/main", Lod::Summary).text;
    assert_eq!(before, after, "the window is the same, byte for byte");
    let done = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'two')"));
    done.exits(0).lacks("restarted");
    let invoke = &world.invoked.last().expect("it was sent").1;
    assert!(!invoke.seen_lost, "line numbers mean what they meant");
    assert_eq!(invoke.seen_version, Some(1));
}

#[test]
fn run_and_click_wake_a_session_with_their_meaning_unchanged() {
    let mut world = slept();
    let link = world.link_of(reader("a"), "edit k1 r1");
    world.pass(IDLE * 2);
    assert!(world.apps.is_empty());
    world.click(reader("a"), &link).exits(0).lacks("restarted");
    assert!(!world.invoked.last().expect("it was sent").1.seen_lost);
    world.pass(IDLE * 2);
    assert!(world.apps.is_empty());
    world.run(reader("a"), "notes.say('x'); notes.say('y')").exits(0);
    let lost = world.invoked.iter().filter(|(_, invoke)| invoke.seen_lost).count();
    assert_eq!(lost, 0, "the step that woke it and the one after");
}

#[test]
fn used_busy_and_pinned_sessions_stay_awake() {
    let mut world = World::with_notes(sleeper);
    world.open(reader("a"), "notes");
    for _ in 0..5 {
        world.pass(IDLE / 2);
        world.view(reader("a"));
    }
    let app = world.process("notes/main").expect("it is used");
    let envelope = Envelope::event(Method::Busy, app);
    let busy = Busy { what: "indexing".into(), for_ms: IDLE * 10 };
    world.event(Event::AppFrame { app, frame: crate::world::frame(&envelope, &busy) });
    world.pass(IDLE * 9);
    world.process("notes/main").expect("it is busy");
    world.ask(reader("a"), Verb::Sessions).has("busy: indexing");
    world.pass(IDLE * 4);
    assert!(world.apps.is_empty(), "it is busy no more");

    let mut world = World::with_notes(sleeper);
    let Verb::Open(open) = crate::world::open("notes") else { panic!() };
    world.ask(reader("a"), Verb::Open(OpenArgs { pin: Some(true), ..open.clone() }));
    world.pass(IDLE * 20);
    world.process("notes/main").expect("it is pinned");
    world.lose_daemon();
    world.view(reader("a"));
    world.pass(IDLE * 20);
    world.process("notes/main").expect("it is still pinned");
    world.ask(reader("a"), Verb::Open(OpenArgs { pin: Some(false), ..open }));
    world.pass(IDLE * 2);
    assert!(world.apps.is_empty(), "it is pinned no more");

    let mut world = World::with_notes(|notes| notes.idle = Idle::Never);
    world.open(reader("a"), "notes");
    world.pass(IDLE * 10_000);
    world.process("notes/main").expect("it never sleeps");
}

#[test]
fn one_pinned_window_keeps_a_shared_session_awake() {
    let mut world = World::with_notes(|notes| {
        sleeper(notes);
        notes.scope = Scope::User;
    });
    let Verb::Open(open) = crate::world::open("notes") else { panic!() };
    let pin = |pin| Verb::Open(OpenArgs { pin: Some(pin), ..open.clone() });
    world.ask(reader("a").at("w1"), pin(true)).exits(0);
    world.ask(reader("a").at("w2"), pin(false)).exits(0);
    world.pass(IDLE * 5);
    world.process("notes/main").expect("it is pinned in w1");
    // An open that doesn't mention the pin leaves it.
    world.open(reader("a").at("w1"), "notes").exits(0);
    world.pass(IDLE * 5);
    world.process("notes/main").expect("it is still pinned");
    world.ask(reader("a").at("w1"), pin(false)).exits(0);
    world.pass(IDLE * 2);
    assert!(world.apps.is_empty(), "nothing keeps it awake");
}

#[test]
fn app_that_cannot_save_is_left_running() {
    let mut world = World::with_notes(sleeper);
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::RefusesSave);
    world.pass(IDLE * 10);
    world.process("notes/main").expect("it would have lost something");
    world.run(reader("a"), "notes.say('x')").exits(0).lacks("restarted");
}

#[test]
fn run_during_a_save_keeps_the_session_awake() {
    let mut world = World::with_notes(sleeper);
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    world.pass(IDLE + 1);
    let client = world.connect();
    let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
    let id = world.send(client, &call);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0);
    world.process("notes/main").expect("what it saved is out of date");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn hibernated_session_survives_daemon_loss() {
    let mut world = slept();
    world.lose_daemon();
    world.ask(reader("a"), Verb::Sessions).has("notes/main  asleep");
    world.view(reader("a")).exits(0).has("k1 r1").lacks("restarted");
    let app = world.process("notes/main").expect("it woke");
    let woken = world.apps[&app].opens.last().expect("an open").woken;
    assert_eq!(woken, Some(1), "it goes on from what it saved");
    world.lose_daemon();
    world.view(reader("a")).exits(0);
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].opens.last().expect("an open").woken, None, "it was awake");
}

#[test]
fn ended_hibernated_session_discards_its_directory() {
    let mut world = World::with_notes(|notes| {
        sleeper(notes);
        notes.state = State::Discard;
    });
    world.open(reader("a"), "notes");
    world.pass(IDLE + 1);
    assert!(world.discarded.is_empty(), "it sleeps, it isn't gone");
    let session = session_addr("notes/main");
    world.ask(reader("a"), Verb::End { session }).exits(0);
    assert_eq!(world.discarded.len(), 1);
    assert!(world.discarded[0].ends_with("/notes/main"), "{:?}", world.discarded);
    assert!(world.core.next_timeout().is_none(), "nothing is left to wait for");
}

#[test]
fn click_is_refused_when_the_session_wakes_in_another_state() {
    let mut world = slept();
    world.set_behaviour("notes/main", Behaviour::ForgetsSleep);
    let link = world.link_of(reader("b"), "edit k1 r1");
    world.pass(IDLE * 2);
    assert!(world.apps.is_empty());
    world
        .click(reader("a"), &link)
        .exits(6)
        .has("did not wake in the state that was seen")
        .has("pipemux view notes/main");
    assert!(world.invoked.is_empty(), "it reached the app");
    world.view(reader("a")).exits(0);
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn open_elsewhere_replaces_the_process_and_readers_see_no_difference() {
    let mut world = World::with_notes(|notes| notes.sandbox = SandboxLevel::Standard);
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let before = world.process("notes/main");
    let named = |path: &str| {
        let Verb::Open(open) = crate::world::open("notes") else { panic!() };
        Verb::Open(OpenArgs { args: vec![path.into()], ..open })
    };
    world.ask(reader("a"), named("/elsewhere/folder")).exits(0).lacks("restarted");
    let wider = world.process("notes/main");
    assert!(wider.is_some() && wider != before, "a running process can't be granted more");
    // What lies in there is granted now.
    world.ask(reader("a"), named("/elsewhere/folder/file")).exits(0);
    assert_eq!(world.process("notes/main"), wider);
    world.run(reader("a"), "notes.say('x')").exits(0);
    let lost = world.invoked.iter().filter(|(_, invoke)| invoke.seen_lost).count();
    assert_eq!(lost, 0, "what was seen before still counts");
}
