//! Windows that are requested right after the last step of a run, before its outcome is known.

use crate::world::{Behaviour, World, frame, open, reader, run, session_addr};
use pipemux_core::{ClientId, limits};
use pipemux_proto::client::Verb;
use pipemux_proto::projection::{Lod, Piece, Projection};
use pipemux_proto::{Fault, Incarnation, Kind, Method};

/// A world with a run whose app holds both answers: the outcome of the step and the window.
fn held(code: &str) -> (World, ClientId, u64, Incarnation) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.projected.clear();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), run(code));
    let id = world.send(client, &call);
    let app = world.process("notes/main").expect("it runs");
    let methods: Vec<Method> =
        world.apps[&app].held.iter().map(|frame| frame.envelope.method).collect();
    assert_eq!(methods, [Method::Invoke, Method::Project], "both were sent at once");
    (world, client, id, app)
}

#[test]
fn window_is_requested_once_right_after_the_step() {
    let (mut world, client, id, _) = held("notes.say('x')");
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).has("say: x");
    assert_eq!(world.projected.len(), 1);
}

#[test]
fn window_is_requested_after_the_last_step_only() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.projected.clear();
    world.run(reader("a"), "notes.say('x'); notes.say('y'); notes.say('z')").exits(0);
    assert_eq!((world.invoked.len(), world.projected.len()), (3, 1));
    // When an earlier step fails, the window is requested after it.
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    assert_eq!((world.invoked.len(), world.projected.len()), (4, 2));
}

#[test]
fn window_from_before_the_step_is_requested_again() {
    let (mut world, client, id, app) = held("notes.say('x')");
    // An app that handles requests concurrently may send the window from before the step.
    let window = &mut world.apps.get_mut(&app).expect("it runs").held[1];
    let old = Projection {
        version: 1,
        content: vec![Piece::Text("as it was\n".into())],
        ..Projection::default()
    };
    *window = frame(&window.envelope, &old);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).lacks("as it was");
    assert_eq!(world.projected.len(), 2, "it was asked for again");
    world.view(reader("a")).has("k1 r1").lacks("as it was");
}

#[test]
fn window_that_arrives_before_the_outcome_is_ignored() {
    let (mut world, client, id, app) = held("notes.say('x')");
    world.apps.get_mut(&app).expect("it runs").held.swap(0, 1);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).has("say: x");
    assert_eq!(world.projected.len(), 2, "it was asked for again");
}

#[test]
fn prefetched_window_is_cancelled_once_the_run_is_answered() {
    let (mut world, client, id, app) = held("notes.say('x')");
    world.pass(limits::REQUEST_MS);
    world.answer_to(client, id).expect("an answer").exits(7);
    let app = &world.apps[&app];
    let cancelled = |id| app.got.iter().any(|got| (got.kind, got.id) == (Kind::Cancel, id));
    assert!(app.held[..2].iter().all(|frame| cancelled(frame.envelope.id)), "{:?}", app.got);
    world.release("notes/main");
    world.view(reader("a")).exits(0).has("k1 r1");
}

#[test]
fn busy_session_is_asked_for_its_window_after_the_step() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let first = world.call(reader("a"), run("notes.say('x')"));
    let second = world.call(reader("b"), run("notes.say('y')"));
    let (first, second) = (world.send(client, &first), world.send(client, &second));
    let app = world.process("notes/main").expect("it runs");
    assert_eq!(world.apps[&app].held.len(), 3, "two steps and the first one's window");
    world.release("notes/main");
    world.answer_to(client, first).expect("an answer").exits(0);
    world.answer_to(client, second).expect("an answer").exits(0);
}

#[test]
fn window_refused_during_the_step_is_requested_again() {
    let (mut world, client, id, app) = held("notes.say('x')");
    let window = &mut world.apps.get_mut(&app).expect("it runs").held[1];
    *window = frame(&window.envelope.answer(Kind::Fault), &Fault::refused("a step is under way"));
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).lacks("a step is under way");
    assert_eq!(world.projected.len(), 2);
}

#[test]
fn prefetch_of_a_closed_window_does_not_fill_the_reopened_one() {
    let (mut world, client, id, _) = held("notes.say('x')");
    let session = session_addr("notes/main");
    world.ask(reader("b"), Verb::Close { session, end: false }).exits(0);
    let other = world.connect();
    let call = world.call(reader("b"), open("notes"));
    world.send(other, &call);
    let fresh = world.projected.last().expect("it is asked for").1.window;
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0);
    let asked = world.projected.iter().filter(|(_, ask)| ask.window == fresh).count();
    assert_eq!(asked, 2, "for the open, and for the run: {:?}", world.projected);
}

#[test]
fn prefetch_at_one_level_of_detail_is_not_shown_at_another() {
    let (mut world, client, id, _) = held("notes.say('x')");
    // Meanwhile another reader sets a lower level of detail for the window.
    let other = world.connect();
    let mut call = world.call(reader("b"), open("notes"));
    call.lod = Some(Lod::Gist);
    world.send(other, &call);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0);
    let gists = world.projected.iter().filter(|(_, ask)| ask.lod == Lod::Gist).count();
    assert_eq!(gists, 2, "for the open, and for the run: {:?}", world.projected);
}
