//! Processes that fail, and what the answers say about it.

use crate::world::{Behaviour, World, frame, reader, session_addr};
use pipemux_core::{DiskFailure, Event, Exit, limits};
use pipemux_proto::app::Empty;
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Method};

#[test]
fn step_is_unknown_when_its_app_dies() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::DiesOnInvoke);
    world
        .run(reader("a"), "notes.say('x'); notes.say('y')")
        .exits(7)
        .has("unknown · say: notes/main died while it ran (killed by signal 9)")
        .has("may or may not")
        .has("pipemux view notes/main")
        .has(": notes.say('y') · ");
    assert_eq!(world.invoked.len(), 1, "never sent again by itself");
}

#[test]
fn restart_notice_is_shown_once_to_each_reader() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("b"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &["out of cheese"]);
    let notice = "notes/main was restarted just now: killed by signal 9 (1st of 5 allowed in 60 s";
    world.view(reader("a")).exits(0).has(notice);
    world.view(reader("a")).lacks("restarted");
    world.run(reader("b"), "notes.say('x')").exits(0).has("was restarted");
    world.view(reader("b")).lacks("restarted");
    world.open(reader("c"), "notes").lacks("restarted");
}

#[test]
fn app_that_never_greets_is_unavailable() {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::NoHello);
    world
        .open(reader("a"), "notes")
        .exits(6)
        .has("could not start")
        .has("sent no Hello within 10 s");
}

#[test]
fn app_that_answers_before_its_greeting_is_ended() {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Ungreeted);
    let told = world.open(reader("a"), "notes");
    told.exits(6).has("could not start: it answered before its Hello");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.open(reader("a"), "notes").exits(0);
}

#[test]
fn failed_start_shows_the_last_lines_of_output() {
    let mut world = World::new();
    let lines = vec!["Traceback:".to_owned(), "no module named x".to_owned()];
    world.set_behaviour("notes/main", Behaviour::DiesAtStart(lines));
    world
        .open(reader("a"), "notes")
        .exits(6)
        .has("notes/main could not start: ended with status 1\n")
        .has("no module named x");
    assert!(world.apps.is_empty(), "it isn't started again by itself");
    world.set_behaviour("notes/main", Behaviour::Unstartable);
    world.open(reader("a"), "notes").exits(6).has("could not start: no such program");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.open(reader("a"), "notes").exits(0);
}

#[test]
fn unreadable_answer_ends_the_process() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Garbage);
    world.run(reader("a"), "notes.say('x')").exits(7).has("can't be read");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.view(reader("a")).exits(0).has("was restarted").has("its answer could not be read");
}

#[test]
fn silent_app_does_not_delay_other_apps() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    world.set_behaviour("notes/main", Behaviour::Silent);
    let began = world.now.mono_ms;
    world.run(reader("a"), "notes.say('x')").exits(7).has("did not answer in time");
    assert!(world.now.mono_ms - began <= limits::REQUEST_MS);
    let began = world.now.mono_ms;
    world.run(reader("a"), "other.say('x')").exits(0);
    world.view(reader("a")).exits(0).has("## notes/main").has("busy");
    assert!(world.now.mono_ms - began <= limits::PROJECT_MS, "others don't wait for it");
}

#[test]
fn late_and_duplicate_answers_are_dropped() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    world.run(reader("a"), "notes.say('x')").exits(7);
    world.release("notes/main");
    world.set_behaviour("notes/main", Behaviour::Twice);
    world.run(reader("a"), "notes.say('y'); notes.say('z')").exits(0).has("2 done · say: z");
}

#[test]
fn session_stays_down_after_too_many_crashes_until_restart() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::DiesOnInvoke);
    for n in 0..=limits::CRASHES_MAX {
        world.run(reader("a"), &format!("notes.say('{n}')")).exits(7);
    }
    world
        .run(reader("a"), "notes.say('x')")
        .exits(6)
        .has("is down")
        .has("pipemux restart notes/main");
    world.set_behaviour("notes/main", Behaviour::Normal);
    let session = session_addr("notes/main");
    world.ask(reader("a"), Verb::Restart { session }).exits(0);
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn view_does_not_wait_for_a_window_that_was_closed() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.model("notes/main").add("one");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let session = "notes/main".parse().ok();
    let call = world.call(reader("a"), Verb::View(ViewArgs { session, ..ViewArgs::default() }));
    let request = world.send(client, &call);
    let session = session_addr("notes/main");
    world.ask(reader("b"), Verb::Close { session, end: false }).exits(0);
    world.release("notes/main");
    world.pass(limits::PROJECT_MS);
    world.answer_to(client, request).expect("an answer at once");
}

#[test]
fn down_ends_stubborn_processes_and_stops_the_daemon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    let app = world.process("other/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    world.ask(reader("a"), Verb::Down).exits(0).has("down");
    assert!(world.stopped && world.apps.is_empty());
}

#[test]
fn requests_from_apps_are_answered_or_refused() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
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
fn run_does_not_wait_for_sessions_it_does_not_name() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    world.lose_daemon();
    world.set_behaviour("notes/main", Behaviour::Unstartable);
    world.run(reader("a"), "other.say('x')").exits(0).has("say: x");
}

#[test]
fn repeated_crashes_delay_the_next_start() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let crash = |world: &mut World| {
        let app = world.process("notes/main").expect("it runs");
        world.kill(app, Exit::Signal(11), &[]);
    };
    // The first crash within the time window causes no wait.
    crash(&mut world);
    world.view(reader("a")).exits(0);
    crash(&mut world);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
    let id = world.send(client, &call);
    world.settle();
    assert!(world.process("notes/main").is_none(), "it is started at once");
    assert!(world.answer_to(client, id).is_none(), "what waits for it is not refused");
    world.pass(limits::BACKOFF_MS * 2);
    world.settle();
    assert!(world.process("notes/main").is_some(), "it is not started after the wait");
    world.answer_to(client, id).expect("an answer").exits(0).has("2nd of 5");
    // A process that ran for the whole time window is restarted at once.
    world.pass(limits::CRASH_WINDOW_MS + 1);
    crash(&mut world);
    world.view(reader("a")).exits(0).has("1st of 5");
}

#[test]
fn full_disk_refuses_runs_but_not_views() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.event(Event::Disk { failing: Some(no_room()) });
    world.run(reader("a"), "notes.say('x')").exits(9).has("no space left");
    assert!(world.invoked.is_empty(), "nothing reached the app");
    world.view(reader("a")).exits(0);
    world.event(Event::Disk { failing: None });
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn session_ended_during_its_backoff_is_gone() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    for _ in 0..2 {
        let app = world.process("notes/main").expect("it runs");
        world.kill(app, Exit::Signal(11), &[]);
        if world.process("notes/main").is_none() {
            world.view(reader("a"));
        }
    }
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(11), &[]);
    let client = world.connect();
    let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
    let id = world.send(client, &call);
    assert!(world.answer_to(client, id).is_none(), "it waits");
    let session = session_addr("notes/main");
    world.ask(reader("b"), Verb::End { session }).exits(0);
    world.answer_to(client, id).expect("an answer at once").exits(6);
    world.ask(reader("b"), Verb::Sessions).has("0 sessions");
    assert!(world.invoked.is_empty());
}

#[test]
fn session_of_an_unregistered_app_waits_for_its_manifest() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.forget_provider("notes");
    world.lose_daemon();
    world.view(reader("a")).exits(0).has("no app notes is registered").has("pipemux apps");
    world.remember_providers();
    world.ask(reader("a"), Verb::Apps).exits(0);
    world.view(reader("a")).exits(0).has("## notes/main · 0 notes");
}

fn no_room() -> DiskFailure {
    DiskFailure { why: "no space left".into(), next: "make room, then send it again".into() }
}
