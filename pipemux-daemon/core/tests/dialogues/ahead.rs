//! Windows that are asked for behind the last step of a run, before its outcome is known.

use crate::world::{Manner, World, asker, frame, open, run};
use pipemux_core::{ClientId, limits};
use pipemux_proto::client::Verb;
use pipemux_proto::projection::{Lod, Piece, Projection};
use pipemux_proto::{Fault, Incarnation, Kind, Method};

/// A run that its app has taken, and holds the answers of back: the step's and the window's.
fn held(code: &str) -> (World, ClientId, u64, Incarnation) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(asker("a"), "notes");
    world.projected.clear();
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), run(code));
    let id = world.send(client, &call);
    let app = world.process("notes/main").expect("it runs");
    let methods: Vec<Method> =
        world.apps[&app].held.iter().map(|frame| frame.envelope.method).collect();
    assert_eq!(methods, [Method::Invoke, Method::Project], "both were sent at once");
    (world, client, id, app)
}

#[test]
fn the_window_is_asked_for_once_behind_the_step() {
    let (mut world, client, id, _) = held("notes.say('x')");
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).has("say: x");
    assert_eq!(world.projected.len(), 1);
}

#[test]
fn only_the_last_step_is_followed_by_it() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.projected.clear();
    world.run(asker("a"), "notes.say('x'); notes.say('y'); notes.say('z')").exits(0);
    assert_eq!((world.invoked.len(), world.projected.len()), (3, 1));
    // A step that fails before the last: the window is asked for then.
    world.run(asker("a"), "notes.fail(); notes.say('y')").exits(1);
    assert_eq!((world.invoked.len(), world.projected.len()), (4, 2));
}

#[test]
fn a_window_from_before_the_step_is_not_shown_after_it() {
    let (mut world, client, id, app) = held("notes.say('x')");
    // Made while the step was still under way: its app does several things at once.
    let window = &mut world.apps.get_mut(&app).expect("it runs").held[1];
    let old = Projection {
        version: 1,
        content: vec![Piece::Text("as it was\n".into())],
        ..Projection::default()
    };
    *window = frame(&window.envelope, &old);
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).lacks("as it was");
    assert_eq!(world.projected.len(), 2, "it was asked for again");
    world.view(asker("a")).has("k1 r1").lacks("as it was");
}

#[test]
fn a_window_that_comes_before_the_outcome_is_passed_over() {
    let (mut world, client, id, app) = held("notes.say('x')");
    world.apps.get_mut(&app).expect("it runs").held.swap(0, 1);
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).has("say: x");
    assert_eq!(world.projected.len(), 2, "it was asked for again");
}

#[test]
fn nobody_waits_for_it_once_the_run_was_answered() {
    let (mut world, client, id, app) = held("notes.say('x')");
    world.pass(limits::REQUEST_MS);
    world.said(client, id).expect("an answer").exits(7);
    let app = &world.apps[&app];
    let cancelled = |id| app.got.iter().any(|got| (got.kind, got.id) == (Kind::Cancel, id));
    assert!(app.held[..2].iter().all(|frame| cancelled(frame.envelope.id)), "{:?}", app.got);
    world.release("notes/main");
    world.view(asker("a")).exits(0).has("k1 r1");
}

#[test]
fn a_session_that_is_busy_with_others_is_asked_afterwards() {
    let mut world = World::new();
    world.open(asker("a"), "notes");
    world.manner("notes/main", Manner::Holds);
    let client = world.connect();
    let first = world.call(asker("a"), run("notes.say('x')"));
    let second = world.call(asker("b"), run("notes.say('y')"));
    let (first, second) = (world.send(client, &first), world.send(client, &second));
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].held.len(), 3, "two steps and the first one's window");
    world.release("notes/main");
    world.said(client, first).expect("an answer").exits(0);
    world.said(client, second).expect("an answer").exits(0);
}

#[test]
fn a_window_that_is_refused_while_the_step_is_under_way_is_asked_for_again() {
    let (mut world, client, id, app) = held("notes.say('x')");
    let window = &mut world.apps.get_mut(&app).expect("it runs").held[1];
    *window = frame(&window.envelope.answer(Kind::Fault), &Fault::refused("a step is under way"));
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).lacks("a step is under way");
    assert_eq!(world.projected.len(), 2);
}

#[test]
fn what_was_asked_of_a_window_that_was_closed_is_not_the_one_opened_after_it() {
    let (mut world, client, id, _) = held("notes.say('x')");
    let session = "notes/main".parse().expect("a session");
    world.ask(asker("b"), Verb::Close { session, end: false }).exits(0);
    let other = world.connect();
    let call = world.call(asker("b"), open("notes"));
    world.send(other, &call);
    let fresh = world.projected.last().expect("it is asked for").1.window;
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0);
    let asked = world.projected.iter().filter(|(_, ask)| ask.window == fresh).count();
    assert_eq!(asked, 2, "for the open, and for the run: {:?}", world.projected);
}

#[test]
fn what_was_asked_at_one_level_of_detail_is_not_shown_at_another() {
    let (mut world, client, id, _) = held("notes.say('x')");
    // Meanwhile another reader wants less of the window, for good.
    let other = world.connect();
    let mut call = world.call(asker("b"), open("notes"));
    call.lod = Some(Lod::Gist);
    world.send(other, &call);
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0);
    let gists = world.projected.iter().filter(|(_, ask)| ask.lod == Lod::Gist).count();
    assert_eq!(gists, 2, "for the open, and for the run: {:?}", world.projected);
}
