//! Processes that fail, and what is said of it.

use crate::world::{Manner, World, asker, frame};
use pipemux_core::{Event, Exit, limits};
use pipemux_proto::app::Empty;
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Method};

#[test]
fn an_app_that_dies_in_an_invoke_leaves_its_outcome_unknown() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::DiesOnInvoke);
    world
        .run(asker("a"), "notes.say('x'); notes.say('y')")
        .exits(7)
        .has("unknown · say: notes/main died while it ran (killed by signal 9)")
        .has("may or may not")
        .has("pipemux view notes/main")
        .has("not run: notes.say");
    assert_eq!(world.invoked.len(), 1, "never sent again by itself");
}

#[test]
fn a_restart_is_told_once_to_each_reader() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("b"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &["out of cheese"]);
    let notice = "notes/main was restarted just now: killed by signal 9 (1st of 5 allowed in 60 s";
    world.view(asker("a")).exits(0).has(notice);
    world.view(asker("a")).lacks("restarted");
    world.run(asker("b"), "notes.say('x')").exits(0).has("was restarted");
    world.view(asker("b")).lacks("restarted");
    world.open(asker("c"), "notes").lacks("restarted");
}

#[test]
fn an_app_that_never_greets_is_unavailable() {
    let mut world = World::new();
    world.manner("notes/main", Manner::NoHello);
    world
        .open(asker("a"), "notes")
        .exits(6)
        .has("could not start")
        .has("sent no Hello within 10 s");
}

#[test]
fn an_app_that_answers_before_it_greets_is_ended() {
    let mut world = World::new();
    world.manner("notes/main", Manner::Ungreeted);
    let told = world.open(asker("a"), "notes");
    told.exits(6).has("could not start: it answered before its Hello");
    world.manner("notes/main", Manner::Normal);
    world.open(asker("a"), "notes").exits(0);
}

#[test]
fn an_app_that_dies_at_its_start_shows_its_last_lines() {
    let mut world = World::new();
    let lines = vec!["Traceback:".to_owned(), "no module named x".to_owned()];
    world.manner("notes/main", Manner::DiesAtStart(lines));
    world
        .open(asker("a"), "notes")
        .exits(6)
        .has("notes/main could not start: ended with status 1\n")
        .has("no module named x");
    assert!(world.apps.is_empty(), "it isn't started again by itself");
    world.manner("notes/main", Manner::Unstartable);
    world.open(asker("a"), "notes").exits(6).has("could not be started: no such program");
    world.manner("notes/main", Manner::Normal);
    world.open(asker("a"), "notes").exits(0);
}

#[test]
fn garbage_ends_the_process_and_is_told() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Garbage);
    world.run(asker("a"), "notes.say('x')").exits(7).has("can't be read");
    world.manner("notes/main", Manner::Normal);
    world.view(asker("a")).exits(0).has("was restarted").has("its answer could not be read");
}

#[test]
fn a_silent_app_costs_its_own_request_only() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("a"), "other");
    world.manner("notes/main", Manner::Silent);
    let began = world.now.mono_ms;
    world.run(asker("a"), "notes.say('x')").exits(7).has("did not answer in time");
    assert!(world.now.mono_ms - began <= limits::REQUEST_MS);
    let began = world.now.mono_ms;
    world.run(asker("a"), "other.say('x')").exits(0);
    world.view(asker("a")).exits(0).has("## notes/main").has("busy");
    assert!(world.now.mono_ms - began <= limits::PROJECT_MS, "others don't wait for it");
}

#[test]
fn late_and_double_answers_are_dropped() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Holds);
    world.run(asker("a"), "notes.say('x')").exits(7);
    world.release("notes/main");
    world.manner("notes/main", Manner::Twice);
    world.run(asker("a"), "notes.say('y'); notes.say('z')").exits(0).has("2 done · say: z");
}

#[test]
fn crashes_have_a_bound_and_restart_begins_anew() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::DiesOnInvoke);
    for n in 0..=limits::CRASHES_MAX {
        world.run(asker("a"), &format!("notes.say('{n}')")).exits(7);
    }
    world
        .run(asker("a"), "notes.say('x')")
        .exits(6)
        .has("is down")
        .has("pipemux restart notes/main");
    world.manner("notes/main", Manner::Normal);
    let session = "notes/main".parse().expect("a session");
    world.ask(asker("a"), Verb::Restart { session }).exits(0);
    world.run(asker("a"), "notes.say('x')").exits(0);
}

#[test]
fn a_window_that_closes_under_a_view_does_not_hold_it_up() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.model("notes/main").add("one");
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let session = "notes/main".parse().ok();
    let call = world.call(asker("a"), Verb::View(ViewArgs { session, ..ViewArgs::default() }));
    let request = world.send(client, &call);
    let session = "notes/main".parse().expect("a session");
    world.ask(asker("b"), Verb::Close { session, end: false }).exits(0);
    world.release("notes/main");
    world.pass(limits::PROJECT_MS);
    world.said(client, request).expect("an answer at once");
}

#[test]
fn down_ends_everything_and_says_so() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("a"), "other");
    let app = world.process("other/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    world.ask(asker("a"), Verb::Down).exits(0).has("down");
    assert!(world.stopped && world.apps.is_empty());
}

#[test]
fn an_apps_own_requests_are_answered() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    for (method, answer) in [(Method::Ping, "kind: Reply"), (Method::Invoke, "kind: Fault")] {
        let request = Envelope::request(method, 9, app);
        world.event(Event::AppFrame { app, frame: frame(&request, &Empty {}) });
        let got = &world.apps[&app].got;
        let got = format!("{:?}", got.last().expect("an answer"));
        assert!(got.contains(answer) && got.contains("id: 9"), "{got}");
    }
}

#[test]
fn a_run_waits_for_all_windows_whose_actions_it_needs() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("a"), "other");
    world.lose_daemon();
    world.manner("notes/main", Manner::Unstartable);
    world.run(asker("a"), "other.say('x')").exits(0).has("say: x");
}

#[test]
fn a_session_that_keeps_crashing_waits_before_it_starts_again() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let crash = |world: &mut World| {
        let app = world.process("notes/main").expect("it runs");
        world.kill(app, Exit::Signal(11), &[]);
    };
    // The first crash of a window costs no wait.
    crash(&mut world);
    world.view(asker("a")).exits(0);
    crash(&mut world);
    let client = world.connect();
    let call = world.call(asker("a"), Verb::View(ViewArgs::default()));
    let id = world.send(client, &call);
    world.settle();
    assert!(world.process("notes/main").is_none(), "it is started at once");
    assert!(world.said(client, id).is_none(), "what waits for it is not refused");
    world.pass(limits::BACKOFF_MS * 2);
    world.settle();
    assert!(world.process("notes/main").is_some(), "it is not started after the wait");
    world.said(client, id).expect("an answer").exits(0).has("2nd of 5");
    // One that stayed up for the whole window starts at once again.
    world.pass(limits::CRASH_WINDOW_MS + 1);
    crash(&mut world);
    world.view(asker("a")).exits(0).has("1st of 5");
}

#[test]
fn with_the_disk_full_acts_are_refused_and_views_go_on() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.event(Event::Disk { failing: Some("no space left".into()) });
    world.run(asker("a"), "notes.say('x')").exits(9).has("no space left");
    assert!(world.invoked.is_empty(), "nothing reached the app");
    world.view(asker("a")).exits(0);
    world.event(Event::Disk { failing: None });
    world.run(asker("a"), "notes.say('x')").exits(0);
}

#[test]
fn a_session_that_is_ended_while_it_waits_to_start_again_is_gone() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    for _ in 0..2 {
        let app = world.process("notes/main").expect("it runs");
        world.kill(app, Exit::Signal(11), &[]);
        if world.process("notes/main").is_none() {
            world.view(asker("a"));
        }
    }
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(11), &[]);
    let client = world.connect();
    let call = world.call(asker("a"), crate::world::run("notes.say('x')"));
    let id = world.send(client, &call);
    assert!(world.said(client, id).is_none(), "it waits");
    let session = "notes/main".parse().expect("a session");
    world.ask(asker("b"), Verb::End { session }).exits(0);
    world.said(client, id).expect("an answer at once").exits(6);
    world.ask(asker("b"), Verb::Sessions).has("0 sessions");
    assert!(world.invoked.is_empty());
}

#[test]
fn a_session_whose_app_is_not_registered_any_more_waits_for_it() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.forget_provider("notes");
    world.lose_daemon();
    world.view(asker("a")).exits(0).has("no app notes is registered").has("pipemux apps");
    world.remember_providers();
    world.ask(asker("a"), Verb::Apps).exits(0);
    world.view(asker("a")).exits(0).has("## notes/main · 0 notes");
}
