//! Watching events with `watch`, and following logs.

use super::waiting_views::{WAIT_MS, begin, change, watch};
use crate::world::{Reader, RequestEnd, World, reader, session_addr};
use pipemux_core::{ClientId, Event, Exit, LogText, limits};
use pipemux_proto::client::{Body, ProvidersArgs, Verb, WatchArgs};
use pipemux_proto::watch::{EventKind, Events};

fn events(world: &World, (client, id): (ClientId, u64)) -> Option<Events> {
    match world.request_ends(client, id) {
        [] => None,
        [RequestEnd::Answer(answer)] => match &answer.body {
            Body::Events(events) => Some(events.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn events_are_ordered_and_name_their_reader() {
    let mut world = World::new();
    let watching = begin(&mut world, reader("w"), watch(None));
    world.open(reader("a"), "notes");
    world.pass(limits::WATCH_PAUSE_MS);
    let first = events(&world, watching).expect("events");
    let kinds: Vec<EventKind> = first.events.iter().map(|event| event.what).collect();
    assert_eq!(kinds, [EventKind::Opened, EventKind::Started]);
    assert_eq!(first.events[0].reader.as_deref(), Some("a"));
    assert_eq!(first.events[0].workspace.as_deref(), Some("demo"));
    assert_eq!(first.events[0].session.as_deref(), Some("notes/main"));

    world.run(reader("a"), "notes.say('x')");
    let watching = begin(&mut world, reader("w"), watch(Some(first.last)));
    let later = events(&world, watching).expect("what happened meanwhile");
    let act = later.events.iter().find(|event| event.what == EventKind::Act).expect("the act");
    assert!(act.text.starts_with("notes.say('x') · say done"), "{}", act.text);
    let kinds: Vec<EventKind> = later.events.iter().map(|event| event.what).collect();
    assert_eq!(kinds, [EventKind::Changed, EventKind::Act], "a change comes before the act");
    assert_eq!(act.run_exit, Some(0));
    assert!(later.events.iter().all(|event| event.number > first.last));
    assert_eq!((later.life, later.dropped), (first.life, 0));
    // A watcher has seen no window, so its first view shows everything.
    world.view(reader("w")).has("edit(note: Anchor<note>, text)");
}

#[test]
fn questions_crashes_sleep_and_providers_are_events() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::After(100_000));
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    world.run(reader("a"), &format!("notes.remove(obj:{id})")).exits(5);
    world.answer(reader("a"), "no");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &[]);
    world.view(reader("a"));
    world.pass(400_000);
    world.ask(reader("a"), Verb::Providers(ProvidersArgs::default()));
    let all = begin(&mut world, reader("w"), watch(Some(0)));
    let told = events(&world, all).expect("events").events;
    for what in [
        EventKind::Asked,
        EventKind::Answered,
        EventKind::Crashed,
        EventKind::Restarted,
        EventKind::Hibernated,
    ] {
        assert!(told.iter().any(|event| event.what == what), "{what:?} in {told:#?}");
    }
    let crashed = told.iter().find(|event| event.what == EventKind::Crashed).expect("a crash");
    assert!(crashed.text.contains("killed by signal 9"), "{}", crashed.text);
    assert_eq!(crashed.process_exit.and_then(|exit| exit.signal), Some(9));
    assert!(told.iter().all(|event| event.what != EventKind::Providers), "none came or went");
}

#[test]
fn watch_shows_other_workspaces_only_with_all() {
    let mut world = World::new();
    let there = Reader { workspace: "elsewhere", reader: "b" };
    world.open(there, "notes");
    world.open(there, "shared");
    let told = |world: &mut World, all| {
        let verb = Verb::Watch(WatchArgs { after: Some(0), wait_ms: 1_000, life: 0, all });
        let watching = begin(world, reader("w"), verb);
        world.pass(1_000);
        let told = events(world, watching).expect("events").events;
        told.into_iter().filter_map(|event| event.session).collect::<Vec<_>>()
    };
    assert_eq!(told(&mut world, false), ["shared/main"], "the user's own, started");
    let all = told(&mut world, true);
    assert!(all.contains(&"notes/main".to_owned()), "{all:?}");
}

#[test]
fn frequent_changes_are_merged_into_one_event() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let last = |world: &mut World| {
        let watching = begin(world, reader("w"), Verb::Watch(WatchArgs::default()));
        events(world, watching).expect("at once").last
    };
    let after = last(&mut world);
    let watching = begin(&mut world, reader("w"), watch(Some(after)));
    for _ in 0..500 {
        change(&mut world, "notes/main", "x");
    }
    assert!(events(&world, watching).is_none(), "it is gathered first");
    world.pass(limits::WATCH_PAUSE_MS);
    let told = events(&world, watching).expect("events");
    assert_eq!(told.events.len(), 1);
    assert_eq!(told.events[0].number, last(&mut world));
}

#[test]
fn watch_reports_dropped_events_and_restarts_with_a_new_daemon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    for _ in 0..limits::FEED_MAX {
        world.run(reader("a"), "notes.say('x')");
    }
    let watching = begin(&mut world, reader("w"), watch(Some(1)));
    let first = events(&world, watching).expect("events");
    assert!(first.dropped > 1, "{}", first.dropped);
    assert_eq!(first.events.len(), limits::EVENTS_A_TURN);
    assert_eq!(first.last, first.events.last().expect("one").number, "there are more");

    world.pass(1_000);
    world.lose_daemon();
    world.open(reader("a"), "notes");
    let watch = WatchArgs { after: Some(first.last), life: first.life, wait_ms: 1, all: false };
    let watching = begin(&mut world, reader("w"), Verb::Watch(watch));
    let restarted = events(&world, watching).expect("events");
    assert!(restarted.life != first.life && restarted.dropped == 0);
    assert_eq!(restarted.events[0].number, 1, "all events of the new daemon");
}

#[test]
fn followed_log_is_watched_once_and_unwatched_at_the_end() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let logs = |after, wait_ms| Verb::Logs {
        session: session_addr("notes/main"),
        lines: 5,
        after,
        wait_ms,
    };
    let part = |world: &World, (client, id): (ClientId, u64)| match world.request_ends(client, id) {
        [RequestEnd::Answer(answer)] => match &answer.body {
            Body::Log(part) => part.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let first = begin(&mut world, reader("a"), logs(None, WAIT_MS));
    let first = part(&world, first);
    assert!(first.text.starts_with("log of /state/logs/"), "{}", first.text);
    world.effects.clear();
    let following = begin(&mut world, reader("a"), logs(Some(first.next), WAIT_MS));
    let watched = |effect: &String| effect.starts_with("WatchLog");
    assert_eq!(world.effects.iter().filter(|effect| watched(effect)).count(), 1);
    world.pass(u64::from(WAIT_MS));
    let quiet = part(&world, following);
    assert_eq!((quiet.text.as_str(), quiet.next, quiet.missed), ("", first.next, 0));
    assert!(world.effects.iter().any(|effect| effect.starts_with("UnwatchLog")));
    // Log text that arrives after the wait is dropped.
    let number = |effect: &String| -> Option<u64> {
        effect.strip_prefix("UnwatchLog { request: ")?.trim_end_matches(" }").parse().ok()
    };
    let request = world.effects.iter().find_map(number).expect("its number");
    let read = Ok(LogText { text: "late".into(), next: 99, missed: 0 });
    world.event(Event::LogRead { request, read });

    world.effects.clear();
    let (client, _) = begin(&mut world, reader("a"), logs(Some(first.next), WAIT_MS));
    world.vanish(client);
    assert!(world.effects.iter().any(|effect| effect.starts_with("UnwatchLog")));
}
