//! Requests that wait: `view --wait` until something changes.

use crate::world::{AnswerText, Behaviour, Reader, World, open, reader, session_addr};
use pipemux_core::{ClientId, Event, Exit, limits};
use pipemux_proto::client::{Verb, ViewArgs, WatchArgs};

/// How long requests wait; the deadlines of their clients are later.
pub const WAIT_MS: u32 = 60_000;

fn wait(session: Option<&str>) -> Verb {
    let session = session.map(session_addr);
    Verb::View(ViewArgs { session, wait_ms: WAIT_MS, ..ViewArgs::default() })
}

pub fn watch(after: Option<u64>) -> Verb {
    Verb::Watch(WatchArgs { after, wait_ms: WAIT_MS, ..WatchArgs::default() })
}

/// Changes a session without a request; its app reports the change.
pub fn change(world: &mut World, session: &str, text: &str) {
    world.model(session).add(text);
    world.report_change(session);
}

pub fn begin(world: &mut World, who: Reader, verb: Verb) -> (ClientId, u64) {
    let client = world.connect();
    let call = world.call(who, verb);
    let id = world.send_for(client, &call, WAIT_MS + 30_000);
    (client, id)
}

#[track_caller]
pub fn now(world: &World, (client, id): (ClientId, u64)) -> AnswerText {
    world.answer_to(client, id).expect("an answer by now")
}

#[test]
fn waiting_view_returns_when_something_changes() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.pass(20_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none(), "nothing has changed");
    change(&mut world, "notes/main", "new");
    now(&world, waiting).exits(0).has("new").lacks("unchanged");
}

#[test]
fn waiting_view_returns_at_once_when_its_reader_missed_a_change() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    change(&mut world, "notes/main", "new");
    let waiting = begin(&mut world, reader("a"), wait(None));
    now(&world, waiting).exits(0).has("new");
    // Another reader has seen nothing so far.
    let waiting = begin(&mut world, reader("b"), wait(Some("notes/main")));
    now(&world, waiting).exits(0).has("new");
}

#[test]
fn waiting_view_reports_no_change_at_its_deadline() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    for session in [None, Some("notes/main")] {
        let waiting = begin(&mut world, reader("a"), wait(session));
        world.pass(u64::from(WAIT_MS) - 1);
        assert!(world.answer_to(waiting.0, waiting.1).is_none());
        world.pass(1);
        now(&world, waiting).exits(0).has("unchanged for 60 s\n").has("## notes/main");
    }
}

#[test]
fn wait_that_ends_with_a_change_does_not_claim_that_there_was_none() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.pass(20_000);
    // The app doesn't say so, and learns of it only when it looks.
    world.model("notes/main").add("quiet");
    world.pass(u64::from(WAIT_MS) - 20_000);
    now(&world, waiting).exits(0).has("quiet").lacks("unchanged");
}

#[test]
fn changes_of_an_app_that_does_not_report_them_end_a_wait_soon() {
    let mut world = World::new();
    world.behaviours.insert("notes/main".into(), Behaviour::Observes);
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    // Before the wait: it doesn't begin at all.
    world.model("notes/main").add("before");
    let waiting = begin(&mut world, reader("a"), wait(None));
    let said = now(&world, waiting);
    said.exits(0).has("before").lacks("unchanged");
    world.confirm(waiting.0, said.delivery);
    // While it lasts, also for a part of the workspace.
    for session in [None, Some("notes/main")] {
        let waiting = begin(&mut world, reader("a"), wait(session));
        world.pass(10 * limits::WAIT_CHECK_MS);
        assert!(world.answer_to(waiting.0, waiting.1).is_none(), "nothing has changed");
        world.model("notes/main").add("meanwhile");
        world.pass(limits::WAIT_CHECK_MS);
        let said = now(&world, waiting);
        said.exits(0).has("meanwhile").lacks("unchanged");
        world.confirm(waiting.0, said.delivery);
    }
    // No check goes on after the wait.
    world.pass(limits::PING_MS);
    let asked = world.projected.len();
    world.pass(60_000);
    assert_eq!(world.projected.len(), asked);
}

#[test]
fn waiting_view_of_one_window_ignores_other_windows() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    world.view(reader("a"));
    let one = begin(&mut world, reader("a"), wait(Some("notes/main")));
    let all = begin(&mut world, reader("a"), wait(None));
    change(&mut world, "other/main", "elsewhere");
    now(&world, all).has("elsewhere");
    assert!(world.answer_to(one.0, one.1).is_none());
    change(&mut world, "notes/main", "here");
    now(&world, one).has("here").lacks("elsewhere");
}

#[test]
fn windows_opened_or_closed_by_others_end_a_wait() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    world.view(reader("a"));
    let close = || Verb::Close { session: session_addr("other/main"), end: false };
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.ask(reader("b"), close());
    now(&world, waiting).lacks("## other/main").lacks("unchanged");
    // The same holds for windows that were opened before the wait began.
    let said = now(&world, waiting);
    world.confirm(waiting.0, said.delivery);
    world.ask(reader("b"), open("other"));
    let waiting = begin(&mut world, reader("a"), wait(None));
    let said = now(&world, waiting);
    said.has("## other/main");
    world.confirm(waiting.0, said.delivery);
    world.ask(reader("a"), close());
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.pass(30_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none(), "it knows what it did itself");
}

#[test]
fn reader_who_only_opened_windows_waits_for_a_change() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.pass(30_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none(), "nothing has changed");
    change(&mut world, "other/main", "new");
    now(&world, waiting).has("new").lacks("unchanged");
    // One who opened only some of them is shown the others.
    world.open(reader("b"), "notes");
    let waiting = begin(&mut world, reader("b"), wait(None));
    now(&world, waiting).has("## other/main");
}

#[test]
fn wait_for_a_missing_window_is_refused() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let waiting = begin(&mut world, reader("a"), wait(Some("other/main")));
    now(&world, waiting).exits(3).has("no window of other/main");
    let later = Verb::View(ViewArgs { since: Some(99), wait_ms: WAIT_MS, ..ViewArgs::default() });
    let waiting = begin(&mut world, reader("a"), later);
    now(&world, waiting).exits(3).has("e99 has not been issued");
}

#[test]
fn wait_since_an_epoch_compares_with_that_epoch() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    change(&mut world, "notes/main", "one");
    let epoch = crate::world::text::epoch(&world.view(reader("a")).text).expect("an epoch");
    let since = |epoch| {
        Verb::View(ViewArgs { since: Some(epoch), wait_ms: WAIT_MS, ..ViewArgs::default() })
    };
    // A change counts although the reader has seen it in a later epoch.
    let waiting = begin(&mut world, reader("a"), since(epoch - 1));
    now(&world, waiting).has("one");
    let waiting = begin(&mut world, reader("a"), since(epoch));
    assert!(world.answer_to(waiting.0, waiting.1).is_none());
    change(&mut world, "notes/main", "two");
    now(&world, waiting).has("two");
}

#[test]
fn restart_ends_a_wait() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    let waiting = begin(&mut world, reader("a"), wait(None));
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &[]);
    // The view of another reader starts the session again.
    world.view(reader("b"));
    now(&world, waiting).has("was restarted");
}

#[test]
fn cancelled_and_abandoned_waits_leave_no_task() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    for verb in [wait(None), watch(None)] {
        let (client, _) = begin(&mut world, reader("a"), verb.clone());
        let (cancelled, id) = begin(&mut world, reader("a"), verb);
        world.vanish(client);
        world.cancel(cancelled, id);
        now(&world, (cancelled, id)).exits(6).has("cancelled");
        world.vanish(cancelled);
    }
    // The check of the app's health is due first, and is not repeated for an idle app.
    world.pass(limits::PING_MS);
    assert_eq!(world.core.next_timeout(), None, "a wait left a timer");
    world.open(reader("a"), "notes").exits(0);
    change(&mut world, "notes/main", "new");
}

#[test]
fn shutdown_ends_all_waits() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    let view = begin(&mut world, reader("a"), wait(None));
    world.event(Event::Stop);
    assert!(world.stopped);
    now(&world, view).exits(6).has("going down");
}

#[test]
fn session_with_a_waiting_view_stays_awake() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::After(10_000));
    world.open(reader("a"), "notes");
    world.view(reader("a"));
    let waiting = begin(&mut world, reader("a"), wait(None));
    world.pass(50_000);
    assert!(world.process("notes/main").is_some(), "it is waited for");
    world.pass(10_000);
    now(&world, waiting).has("unchanged");
    world.pass(30_000);
    assert!(world.process("notes/main").is_none(), "nobody uses it");
}
