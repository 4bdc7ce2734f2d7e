//! Apps that fall silent, requests that kill their app, and steps that are sent again.

use crate::world::{Behaviour, World, reader, session_addr};
use pipemux_core::{Event, Exit, Restart, limits};
use pipemux_proto::app::{Changed, Notify, Progress};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::hello::PROGRESS;
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
    world.ask(reader("a"), Verb::Sessions).has("notes/main  silent");
    // It has an action to answer, so it may be working.
    world.pass(limits::WORKING_MS - limits::WEDGED_MS);
    assert!(world.apps.contains_key(&app), "it was ended while it may be working");
    world.pass(limits::WEDGED_MS + 2 * limits::PING_MS);
    assert!(!world.apps.contains_key(&app), "it was left to hang");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.view(reader("a")).exits(0).has("was restarted").has("it did not answer for 300 s");
}

#[test]
fn app_that_shows_no_window_any_more_is_restarted_soon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.view(reader("a")).has("busy");
    world.pass(limits::WEDGED_MS + 2 * limits::PING_MS);
    assert!(!world.apps.contains_key(&app), "it was left to hang");
}

#[test]
fn app_that_works_for_two_minutes_is_noted_in_its_log_and_left_running() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.run(reader("a"), "notes.say('x')").exits(7);
    let notes = |world: &World| -> Vec<String> {
        let noted = world.effects.iter().filter(|effect| effect.starts_with("NoteLog"));
        noted.cloned().collect()
    };
    let noted = notes(&world);
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0].contains("pipemux: notes/main has not answered for 7 s."), "{noted:?}");
    world.pass(120_000);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(limits::PING_MS * 2);
    world.run(reader("a"), "notes.say('y')").exits(0).lacks("restarted");
    assert_eq!((notes(&world).len(), world.process("notes/main")), (1, Some(app)));
}

#[test]
fn progress_keeps_a_working_app_alive_and_a_wedged_one_only_for_a_while() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
    world.send_for(client, &call, 60_000);
    let progress = Progress { done: 1, total: 0, text: "working".into() };
    let event = Envelope::event(Method::Progress, app);
    let passes = |world: &mut World, ms: u64| {
        for _ in 0..ms / 4_000 {
            if world.apps.contains_key(&app) {
                let frame = crate::world::frame(&event, &progress);
                world.event(Event::AppFrame { app, frame });
            }
            world.pass(4_000);
        }
    };
    passes(&mut world, limits::EVENTS_ALIVE_MS - 60_000);
    world.ask(reader("a"), Verb::Sessions).has("notes/main  ready");
    passes(&mut world, limits::WORKING_MS + 2 * 60_000);
    assert!(!world.apps.contains_key(&app), "its other thread keeps it alive");
}

#[test]
fn progress_of_a_request_reaches_the_client_that_wants_it() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let app = world.process("notes/main").expect("it runs");
    for (features, expected) in [(vec![], 0), (vec![PROGRESS.to_owned()], 1)] {
        let client = world.connect_with(features);
        let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
        let id = world.send(client, &call);
        let asked = world.apps[&app].held.iter().map(|frame| frame.envelope.id).max();
        let progress = Progress { done: 3, total: 10, text: "reading".into() };
        let about = asked.expect("it is asked");
        let event = Envelope { id: about, ..Envelope::event(Method::Progress, app) };
        // The second one comes too soon to be told.
        for _ in 0..2 {
            let frame = crate::world::frame(&event, &progress);
            world.event(Event::AppFrame { app, frame });
        }
        let told = &world.clients[&client].progress;
        assert_eq!(told.len(), expected, "{told:?}");
        assert!(told.iter().all(|(of, told)| (*of, told) == (id, &progress)));
        world.release("notes/main");
        world.answer_to(client, id).expect("an answer").exits(0);
        world.set_behaviour("notes/main", Behaviour::Holds);
    }
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
    world.ask(reader("a"), Verb::Sessions).has("notes/main  ready");
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
    world.ask(reader("a"), Verb::Sessions).has("notes/main  ready");
    world.pass(limits::PING_MS + limits::PONG_MS);
    world.ask(reader("a"), Verb::Sessions).has("notes/main  silent");
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
