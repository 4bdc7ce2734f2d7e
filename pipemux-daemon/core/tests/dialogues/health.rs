//! Apps that fall silent, requests that kill, and what is sent again.

use crate::world::{Manner, World, asker};
use pipemux_core::{Event, Exit, Restart, limits};
use pipemux_proto::app::{Changed, Notify};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Method};

fn session() -> pipemux_proto::SessionAddr {
    "notes/main".parse().expect("a session")
}

#[test]
fn an_idle_app_is_never_pinged() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::Never);
    world.open(asker("a"), "notes");
    world.pass(limits::PING_MS * 2);
    assert_eq!(world.core.next_timeout(), None, "it owes nothing");
}

#[test]
fn a_silent_app_nobody_waits_for_is_ended_and_told() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.manner("notes/main", Manner::Silent);
    world.run(asker("a"), "notes.say('x')").exits(7).has("did not answer in time");
    world.ask(asker("a"), Verb::Sessions).has("notes/main · silent");
    world.pass(limits::WEDGED_MS + 2 * limits::PING_MS);
    assert!(!world.apps.contains_key(&app), "it was left to hang");
    world.manner("notes/main", Manner::Normal);
    world.view(asker("a")).exits(0).has("was restarted").has("it answered nothing for 60 s");
}

#[test]
fn a_silent_app_that_speaks_again_is_left_alone() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.manner("notes/main", Manner::Silent);
    world.run(asker("a"), "notes.say('x')").exits(7);
    world.pass(limits::WEDGED_MS / 2);
    world.manner("notes/main", Manner::Normal);
    world.pass(limits::WEDGED_MS * 2);
    assert!(world.apps.contains_key(&app), "it answered its ping and was ended");
    world.ask(asker("a"), Verb::Sessions).has("notes/main · ready");
    world.run(asker("a"), "notes.say('y')").exits(0);
}

#[test]
fn a_request_that_someone_still_waits_for_keeps_a_silent_app_alive() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.manner("notes/main", Manner::Silent);
    world.run(asker("a"), "notes.say('x')").exits(7);
    let client = world.connect();
    let mut call = world.call(asker("b"), crate::world::run("notes.say('long')"));
    call.run_id = "long".into();
    let id = world.send_for(client, &call, 600_000);
    world.pass(limits::WEDGED_MS * 3);
    assert!(world.apps.contains_key(&app), "someone waits for it");
    assert!(world.said(client, id).is_none());
    world.pass(600_000);
    world.said(client, id).expect("an answer").exits(7);
    assert!(!world.apps.contains_key(&app));
}

#[test]
fn an_app_that_owes_an_answer_and_misses_its_ping_is_silent_long_before_the_deadline() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Silent);
    let client = world.connect();
    let call = world.call(asker("a"), crate::world::run("notes.say('x')"));
    world.send(client, &call);
    world.ask(asker("a"), Verb::Sessions).has("notes/main · ready");
    world.pass(limits::PING_MS + limits::PONG_MS);
    world.ask(asker("a"), Verb::Sessions).has("notes/main · silent");
}

#[test]
fn a_request_that_kills_its_app_three_times_is_kept_back_until_restart() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::DiesOnInvoke);
    for reader in ["a", "b", "c"] {
        world.run(asker(reader), "notes.say('poison')").exits(7);
    }
    let sent = world.invoked.len();
    world
        .run(asker("d"), "notes.say('poison')")
        .exits(9)
        .has("quarantine")
        .has("ended notes/main 3 times")
        .has("pipemux restart notes/main");
    assert_eq!(world.invoked.len(), sent, "it reached the app");
    world.manner("notes/main", Manner::Normal);
    world.run(asker("a"), "notes.say('other')").exits(0);
    world.run(asker("a"), "notes.say('poison')").exits(9);
    world.ask(asker("a"), Verb::Restart { session: session() }).exits(0);
    world.run(asker("a"), "notes.say('poison')").exits(0);
}

#[test]
fn a_request_that_is_answered_is_suspected_no_more() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    for round in 0..5 {
        world.manner("notes/main", Manner::DiesOnInvoke);
        world.run(asker("a"), "notes.say('x')").exits(7);
        world.manner("notes/main", Manner::Normal);
        world.run(asker("a"), "notes.say('x')").exits(0);
        world.pass(limits::CRASH_WINDOW_MS + round);
    }
}

#[test]
fn only_what_is_declared_idempotent_is_sent_again_and_once() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::DiesOnInvokeOnce);
    world.run(asker("a"), "notes.touch('x')").exits(0).has("done · touch").has("was restarted");
    assert_eq!(world.invoked.len(), 2);
    assert_eq!(world.invoked[0].1.args, world.invoked[1].1.args);
    world.pass(limits::CRASH_WINDOW_MS * 2);
    world.manner("notes/main", Manner::DiesOnInvoke);
    world.run(asker("a"), "notes.touch('y')").exits(7).has("unknown · touch");
    assert_eq!(world.invoked.len(), 4, "sent again once, not for ever");
}

#[test]
fn restart_never_leaves_a_crashed_session_down() {
    let mut world = World::with_notes(|notes| notes.restart = Restart::Never);
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Code(3), &["out of cheese"]);
    world
        .run(asker("a"), "notes.say('x')")
        .exits(6)
        .has("ended with status 3; its manifest says restart = \"never\"")
        .has("out of cheese")
        .has("pipemux restart notes/main");
    world.ask(asker("a"), Verb::Restart { session: session() }).exits(0);
    world.run(asker("a"), "notes.say('x')").exits(0);
}

#[test]
fn a_flood_of_notices_is_cut_and_counted() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    let app = world.process("notes/main").expect("it runs");
    let notify = |world: &mut World, n: u64| {
        let envelope = Envelope::event(Method::Notify, app);
        let body = Notify { text: format!("notice {n} {}", "x".repeat(1_000)) };
        world.event(Event::AppFrame { app, frame: crate::world::frame(&envelope, &body) });
        let changed = Envelope::event(Method::Changed, app);
        let frame = crate::world::frame(&changed, &Changed { version: n });
        world.event(Event::AppFrame { app, frame });
    };
    for n in 0..500 {
        notify(&mut world, n);
    }
    world.pass(limits::NOTICE_SPAN_MS);
    notify(&mut world, 500);
    let said = world.view(asker("a"));
    said.exits(0).has("(480 notices before it were left out)");
    let shown = said.text.matches("notes/main: notice").count();
    assert_eq!(shown, limits::NOTICE_RATE as usize + 1);
    assert!(said.text.lines().all(|line| line.chars().count() < 600), "a notice has a bound");
    let since = Verb::View(ViewArgs::default());
    world.ask(asker("a"), since).lacks("left out");
}

#[test]
fn notice_of_an_app_arrives_as_it_was_sent() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    let body = Notify { text: "the build began {ago}".into() };
    let frame = crate::world::frame(&Envelope::event(Method::Notify, app), &body);
    world.event(Event::AppFrame { app, frame });
    world.pass(5_000);
    world.view(asker("a")).exits(0).has("notes/main: the build began {ago}");
}
