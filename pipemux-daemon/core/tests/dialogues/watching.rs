//! Those who wait for something to happen: `view --wait`, `watch`, a log that is followed.

use crate::world::{Asker, Said, Terminal, World, asker, frame, open};
use pipemux_core::{ClientId, Event, Exit, LogText, limits};
use pipemux_proto::app::Changed;
use pipemux_proto::client::{Body, ProvidersArgs, Verb, ViewArgs, WatchArgs};
use pipemux_proto::watch::{EventKind, Events};
use pipemux_proto::{Envelope, Method};

/// Waits of a minute, by a client that waits for longer.
const WAIT_MS: u32 = 60_000;

fn wait(session: Option<&str>) -> Verb {
    let session = session.map(|session| session.parse().expect("a session"));
    Verb::View(ViewArgs { session, since: None, wait_ms: WAIT_MS })
}

fn watch(after: Option<u64>) -> Verb {
    Verb::Watch(WatchArgs { after, wait_ms: WAIT_MS, ..WatchArgs::default() })
}

/// Something of a session changes, and its app says so.
fn change(world: &mut World, session: &str, text: &str) {
    world.model(session).add(text);
    let version = world.model(session).version;
    let app = world.process(session).expect("it runs");
    let changed = frame(&Envelope::event(Method::Changed, app), &Changed { version });
    world.event(Event::AppFrame { app, frame: changed });
}

fn begin(world: &mut World, who: Asker, verb: Verb) -> (ClientId, u64) {
    let client = world.connect();
    let call = world.call(who, verb);
    let id = world.send_for(client, &call, WAIT_MS + 30_000);
    (client, id)
}

fn events(world: &World, (client, id): (ClientId, u64)) -> Option<Events> {
    match world.terminals(client, id) {
        [] => None,
        [Terminal::Answer(answer)] => match &answer.body {
            Body::Events(events) => Some(events.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn now(world: &World, (client, id): (ClientId, u64)) -> Said {
    world.said(client, id).expect("an answer by now")
}

#[test]
fn a_waiting_view_returns_when_something_changes_and_not_before() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    let waiting = begin(&mut world, asker("a"), wait(None));
    world.pass(20_000);
    assert!(world.said(waiting.0, waiting.1).is_none(), "nothing has changed");
    change(&mut world, "notes/main", "new");
    now(&world, waiting).exits(0).has("new").lacks("unchanged");
}

#[test]
fn a_waiting_view_returns_at_once_when_its_reader_has_not_seen_the_newest() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    change(&mut world, "notes/main", "new");
    let waiting = begin(&mut world, asker("a"), wait(None));
    now(&world, waiting).exits(0).has("new");
    // Another reader has seen nothing yet.
    let waiting = begin(&mut world, asker("b"), wait(Some("notes/main")));
    now(&world, waiting).exits(0).has("new");
}

#[test]
fn at_the_end_of_its_time_a_view_is_as_it_is_and_says_so() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    for session in [None, Some("notes/main")] {
        let waiting = begin(&mut world, asker("a"), wait(session));
        world.pass(u64::from(WAIT_MS) - 1);
        assert!(world.said(waiting.0, waiting.1).is_none());
        world.pass(1);
        now(&world, waiting).exits(0).has("unchanged for 60 s\n").has("## notes/main");
    }
}

#[test]
fn a_window_waits_for_itself_and_the_workspace_for_all() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("a"), "other");
    world.view(asker("a"));
    let one = begin(&mut world, asker("a"), wait(Some("notes/main")));
    let all = begin(&mut world, asker("a"), wait(None));
    change(&mut world, "other/main", "elsewhere");
    now(&world, all).has("elsewhere");
    assert!(world.said(one.0, one.1).is_none());
    change(&mut world, "notes/main", "here");
    now(&world, one).has("here").lacks("elsewhere");
}

#[test]
fn windows_that_others_open_and_close_are_changes_and_ones_own_are_not() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.open(asker("a"), "other");
    world.view(asker("a"));
    let close = || Verb::Close { session: "other/main".parse().expect("a session"), end: false };
    let waiting = begin(&mut world, asker("a"), wait(None));
    world.ask(asker("b"), close());
    now(&world, waiting).lacks("## other/main").lacks("unchanged");
    // As it was before the wait began, too.
    let said = now(&world, waiting);
    world.confirm(waiting.0, said.delivery);
    world.ask(asker("b"), open("other"));
    let waiting = begin(&mut world, asker("a"), wait(None));
    let said = now(&world, waiting);
    said.has("## other/main");
    world.confirm(waiting.0, said.delivery);
    world.ask(asker("a"), close());
    let waiting = begin(&mut world, asker("a"), wait(None));
    world.pass(30_000);
    assert!(world.said(waiting.0, waiting.1).is_none(), "it knows what it did itself");
}

#[test]
fn a_wait_for_a_window_that_is_not_there_is_refused_at_once() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let waiting = begin(&mut world, asker("a"), wait(Some("other/main")));
    now(&world, waiting).exits(3).has("no window of other/main");
    let later = Verb::View(ViewArgs { session: None, since: Some(99), wait_ms: WAIT_MS });
    let waiting = begin(&mut world, asker("a"), later);
    now(&world, waiting).exits(3).has("e99 has not been issued");
}

#[test]
fn since_an_epoch_counts_what_that_epoch_showed() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    change(&mut world, "notes/main", "one");
    let epoch = crate::world::text::epoch(&world.view(asker("a")).text).expect("an epoch");
    let since =
        |epoch| Verb::View(ViewArgs { session: None, since: Some(epoch), wait_ms: WAIT_MS });
    // What it has seen later is a change since then.
    let waiting = begin(&mut world, asker("a"), since(epoch - 1));
    now(&world, waiting).has("one");
    let waiting = begin(&mut world, asker("a"), since(epoch));
    assert!(world.said(waiting.0, waiting.1).is_none());
    change(&mut world, "notes/main", "two");
    now(&world, waiting).has("two");
}

#[test]
fn a_restart_ends_a_wait() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    let waiting = begin(&mut world, asker("a"), wait(None));
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &[]);
    // Somebody else's touch starts it again.
    world.view(asker("b"));
    now(&world, waiting).has("was restarted");
}

#[test]
fn who_waits_no_more_leaves_nothing_behind() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    for verb in [wait(None), watch(None)] {
        let (client, _) = begin(&mut world, asker("a"), verb.clone());
        let (cancelled, id) = begin(&mut world, asker("a"), verb);
        world.vanish(client);
        world.cancel(cancelled, id);
        now(&world, (cancelled, id)).exits(6).has("cancelled");
        world.vanish(cancelled);
    }
    world.open(asker("a"), "notes").exits(0);
    change(&mut world, "notes/main", "new");
}

#[test]
fn going_down_ends_all_waits() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    let view = begin(&mut world, asker("a"), wait(None));
    world.event(Event::Stop);
    assert!(world.stopped);
    now(&world, view).exits(6).has("going down");
}

#[test]
fn what_is_waited_for_stays_awake() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::After(10_000));
    world.open(asker("a"), "notes");
    world.view(asker("a"));
    let waiting = begin(&mut world, asker("a"), wait(None));
    world.pass(50_000);
    assert!(world.process("notes/main").is_some(), "it is waited for");
    world.pass(10_000);
    now(&world, waiting).has("unchanged");
    world.pass(30_000);
    assert!(world.process("notes/main").is_none(), "nobody uses it");
}

#[test]
fn events_are_told_in_order_with_who_did_what() {
    let mut world = World::new();
    let watching = begin(&mut world, asker("w"), watch(None));
    world.open(asker("a"), "notes");
    world.pass(limits::WATCH_PAUSE_MS);
    let first = events(&world, watching).expect("events");
    let kinds: Vec<EventKind> = first.events.iter().map(|event| event.what).collect();
    assert_eq!(kinds, [EventKind::Opened, EventKind::Started]);
    assert_eq!(first.events[0].reader.as_deref(), Some("a"));
    assert_eq!(first.events[0].workspace.as_deref(), Some("demo"));
    assert_eq!(first.events[0].session.as_deref(), Some("notes/main"));

    world.run(asker("a"), "notes.say('x')");
    let watching = begin(&mut world, asker("w"), watch(Some(first.last)));
    let later = events(&world, watching).expect("what happened meanwhile");
    let act = later.events.iter().find(|event| event.what == EventKind::Act).expect("the act");
    assert!(act.text.starts_with("notes.say('x') · say done"), "{}", act.text);
    assert!(later.events.iter().all(|event| event.number > first.last));
    assert_eq!((later.life, later.dropped), (first.life, 0));
    // A watcher is a reader of nothing: what it was told, nobody has seen.
    world.view(asker("w")).has("edit(note: Anchor<note>, text)");
}

#[test]
fn questions_crashes_sleep_and_providers_are_events() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::After(100_000));
    world.model("notes/main").add("one");
    let id = world.open(asker("a"), "notes").id("k1 r1");
    world.run(asker("a"), &format!("notes.remove(obj:{id})")).exits(5);
    world.answer(asker("a"), "no");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &[]);
    world.view(asker("a"));
    world.pass(400_000);
    world.ask(asker("a"), Verb::Providers(ProvidersArgs::default()));
    let all = begin(&mut world, asker("w"), watch(Some(0)));
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
    assert!(told.iter().all(|event| event.what != EventKind::Providers), "none came or went");
}

#[test]
fn one_workspace_is_not_told_of_another_unless_it_asks_for_all() {
    let mut world = World::new();
    let there = Asker { workspace: "elsewhere", reader: "b" };
    world.open(there, "notes");
    world.open(there, "shared");
    let told = |world: &mut World, all| {
        let verb = Verb::Watch(WatchArgs { after: Some(0), wait_ms: 1_000, life: 0, all });
        let watching = begin(world, asker("w"), verb);
        world.pass(1_000);
        let told = events(world, watching).expect("events").events;
        told.into_iter().filter_map(|event| event.session).collect::<Vec<_>>()
    };
    assert_eq!(told(&mut world, false), ["shared/main"], "the user's own, started");
    let all = told(&mut world, true);
    assert!(all.contains(&"notes/main".to_owned()), "{all:?}");
}

#[test]
fn a_flood_of_changes_is_few_answers_and_the_last_of_them_is_told() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let last = |world: &mut World| {
        let watching = begin(world, asker("w"), Verb::Watch(WatchArgs::default()));
        events(world, watching).expect("at once").last
    };
    let after = last(&mut world);
    let watching = begin(&mut world, asker("w"), watch(Some(after)));
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
fn what_was_dropped_is_said_and_another_life_begins_anew() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    for _ in 0..limits::FEED_MAX {
        world.run(asker("a"), "notes.say('x')");
    }
    let watching = begin(&mut world, asker("w"), watch(Some(1)));
    let first = events(&world, watching).expect("events");
    assert!(first.dropped > 1, "{}", first.dropped);
    assert_eq!(first.events.len(), limits::EVENTS_A_TURN);
    assert_eq!(first.last, first.events.last().expect("one").number, "there are more");

    world.pass(1_000);
    world.lose_daemon();
    world.open(asker("a"), "notes");
    let watch = WatchArgs { after: Some(first.last), life: first.life, wait_ms: 1, all: false };
    let watching = begin(&mut world, asker("w"), Verb::Watch(watch));
    let anew = events(&world, watching).expect("events");
    assert!(anew.life != first.life && anew.dropped == 0);
    assert_eq!(anew.events[0].number, 1, "all of the new life");
}

#[test]
fn a_log_is_followed_without_asking_again_and_again() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    let logs = |after, wait_ms| Verb::Logs {
        session: "notes/main".parse().expect("a session"),
        lines: 5,
        after,
        wait_ms,
    };
    let part = |world: &World, (client, id): (ClientId, u64)| match world.terminals(client, id) {
        [Terminal::Answer(answer)] => match &answer.body {
            Body::Log(part) => part.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let first = begin(&mut world, asker("a"), logs(None, WAIT_MS));
    let first = part(&world, first);
    assert!(first.text.starts_with("log of /state/logs/"), "{}", first.text);
    world.effects.clear();
    let following = begin(&mut world, asker("a"), logs(Some(first.next), WAIT_MS));
    let watched = |effect: &String| effect.starts_with("WatchLog");
    assert_eq!(world.effects.iter().filter(|effect| watched(effect)).count(), 1);
    world.pass(u64::from(WAIT_MS));
    let quiet = part(&world, following);
    assert_eq!((quiet.text.as_str(), quiet.next, quiet.missed), ("", first.next, 0));
    assert!(world.effects.iter().any(|effect| effect.starts_with("UnwatchLog")));
    // What comes after it was given up is nobody's.
    let number = |effect: &String| -> Option<u64> {
        effect.strip_prefix("UnwatchLog { request: ")?.trim_end_matches(" }").parse().ok()
    };
    let request = world.effects.iter().find_map(number).expect("its number");
    let read = Ok(LogText { text: "late".into(), next: 99, missed: 0 });
    world.event(Event::LogRead { request, read });

    world.effects.clear();
    let (client, _) = begin(&mut world, asker("a"), logs(Some(first.next), WAIT_MS));
    world.vanish(client);
    assert!(world.effects.iter().any(|effect| effect.starts_with("UnwatchLog")));
}
