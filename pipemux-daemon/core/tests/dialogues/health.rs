//! Apps that fall silent, requests that kill their app, and steps that are sent again.

use crate::world::{Behaviour, World, reader, session_addr};
use pipemux_core::{Event, Exit, Restart, limits};
use pipemux_proto::app::{Changed, Notify};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Method};

#[test]
fn idle_app_is_never_pinged() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::Never);
    world.open(reader("a"), "notes");
    world.pass(limits::PING_MS * 2);
    assert_eq!(world.core.next_timeout(), None, "it owes nothing");
}

#[test]
fn silent_app_that_nobody_waits_for_is_restarted() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.run(reader("a"), "notes.say('x')").exits(7).has("did not answer in time");
    world.ask(reader("a"), Verb::Sessions).has("notes/main · silent");
    world.pass(limits::WEDGED_MS + 2 * limits::PING_MS);
    assert!(!world.apps.contains_key(&app), "it was left to hang");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.view(reader("a")).exits(0).has("was restarted").has("it did not answer for 60 s");
}

#[test]
fn silent_app_that_answers_again_is_left_running() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.run(reader("a"), "notes.say('x')").exits(7);
    world.pass(limits::WEDGED_MS / 2);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(limits::WEDGED_MS * 2);
    assert!(world.apps.contains_key(&app), "it answered its ping and was ended");
    world.ask(reader("a"), Verb::Sessions).has("notes/main · ready");
    world.run(reader("a"), "notes.say('y')").exits(0);
}

#[test]
fn silent_app_is_kept_while_a_client_waits_for_it() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.run(reader("a"), "notes.say('x')").exits(7);
    let client = world.connect();
    let mut call = world.call(reader("b"), crate::world::run("notes.say('long')"));
    call.run_id = "long".into();
    let id = world.send_for(client, &call, 600_000);
    world.pass(limits::WEDGED_MS * 3);
    assert!(world.apps.contains_key(&app), "someone waits for it");
    assert!(world.answer_to(client, id).is_none());
    world.pass(600_000);
    world.answer_to(client, id).expect("an answer").exits(7);
    assert!(!world.apps.contains_key(&app));
}

#[test]
fn app_that_misses_a_ping_is_listed_as_silent_before_the_deadline() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
    world.send(client, &call);
    world.ask(reader("a"), Verb::Sessions).has("notes/main · ready");
    world.pass(limits::PING_MS + limits::PONG_MS);
    world.ask(reader("a"), Verb::Sessions).has("notes/main · silent");
}

#[test]
fn request_that_kills_its_app_three_times_is_quarantined_until_restart() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::DiesOnInvoke);
    for name in ["a", "b", "c"] {
        world.run(reader(name), "notes.say('poison')").exits(7);
    }
    let sent = world.invoked.len();
    world
        .run(reader("d"), "notes.say('poison')")
        .exits(9)
        .has("quarantine")
        .has("ended notes/main 3 times")
        .has("pipemux restart notes/main");
    assert_eq!(world.invoked.len(), sent, "it reached the app");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.run(reader("a"), "notes.say('other')").exits(0);
    world.run(reader("a"), "notes.say('poison')").exits(9);
    world.ask(reader("a"), Verb::Restart { session: session_addr("notes/main") }).exits(0);
    world.run(reader("a"), "notes.say('poison')").exits(0);
}

#[test]
fn answered_request_is_no_longer_suspected() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    for round in 0..5 {
        world.set_behaviour("notes/main", Behaviour::DiesOnInvoke);
        world.run(reader("a"), "notes.say('x')").exits(7);
        world.set_behaviour("notes/main", Behaviour::Normal);
        world.run(reader("a"), "notes.say('x')").exits(0);
        world.pass(limits::CRASH_WINDOW_MS + round);
    }
}

#[test]
fn idempotent_step_is_sent_again_once_after_a_crash() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::DiesOnInvokeOnce);
    world.run(reader("a"), "notes.touch('x')").exits(0).has("done · touch").has("was restarted");
    assert_eq!(world.invoked.len(), 2);
    assert_eq!(world.invoked[0].1.args, world.invoked[1].1.args);
    world.pass(limits::CRASH_WINDOW_MS * 2);
    world.set_behaviour("notes/main", Behaviour::DiesOnInvoke);
    world.run(reader("a"), "notes.touch('y')").exits(7).has("unknown · touch");
    assert_eq!(world.invoked.len(), 4, "sent again once, not for ever");
}

#[test]
fn session_with_restart_never_stays_down_after_a_crash() {
    let mut world = World::with_notes(|notes| notes.restart = Restart::Never);
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Code(3), &["out of cheese"]);
    world
        .run(reader("a"), "notes.say('x')")
        .exits(6)
        .has("ended with status 3; its manifest says restart = \"never\"")
        .has("out of cheese")
        .has("pipemux restart notes/main");
    world.ask(reader("a"), Verb::Restart { session: session_addr("notes/main") }).exits(0);
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn notices_above_the_rate_limit_are_dropped_and_counted() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
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
    let said = world.view(reader("a"));
    said.exits(0).has("(480 notices before it were left out)");
    let shown = said.text.matches("notes/main: notice").count();
    assert_eq!(shown, limits::NOTICE_RATE as usize + 1);
    assert!(said.text.lines().all(|line| line.chars().count() < 600), "a notice has a bound");
    let since = Verb::View(ViewArgs::default());
    world.ask(reader("a"), since).lacks("left out");
}

#[test]
fn notice_of_an_app_arrives_as_it_was_sent() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    let body = Notify { text: "the build began {ago}".into() };
    let frame = crate::world::frame(&Envelope::event(Method::Notify, app), &body);
    world.event(Event::AppFrame { app, frame });
    world.pass(5_000);
    world.view(reader("a")).exits(0).has("notes/main: the build began {ago}");
}
