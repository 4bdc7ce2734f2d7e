//! Windows that are closed, opened anew or given another look while an app is asked for them, and steps
//! that are sent a second time.

use crate::world::{Asker, Manner, World, asker};
use pipemux_core::ClientId;
use pipemux_proto::SessionAddr;
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::projection::Lod;

fn addr(session: &str) -> SessionAddr {
    session.parse().expect("a session")
}

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(asker("a"), "notes").exits(0);
    world
}

/// Asks at a level of detail, and doesn't wait for the answer.
fn asks(world: &mut World, who: Asker, verb: Verb, lod: Option<Lod>) -> (ClientId, u64) {
    let client = world.connect();
    let mut call = world.call(who, verb);
    call.lod = lod;
    (client, world.send(client, &call))
}

fn views(session: Option<&str>) -> Verb {
    Verb::View(ViewArgs { session: session.map(addr), ..ViewArgs::default() })
}

/// An app is told that a version is known only of a look that it was asked for before.
fn nothing_is_known_that_was_not_asked_for(world: &World) {
    let look = |at: usize| {
        let (session, ask) = &world.projected[at];
        (session.clone(), ask.window, ask.lod, ask.budget)
    };
    for (at, (_, ask)) in world.projected.iter().enumerate() {
        let before = (0..at).any(|before| look(before) == look(at));
        assert!(ask.known_version.is_none() || before, "{ask:?} of {:?}", world.projected);
    }
}

#[test]
fn what_came_for_a_closed_window_is_not_held_of_the_one_opened_after_it() {
    let mut world = notes();
    world.manner("notes/main", Manner::Holds);
    let (client, id) = asks(&mut world, asker("b"), views(Some("notes/main")), Some(Lod::Gist));
    world.ask(asker("a"), Verb::Close { session: addr("notes/main"), end: false }).exits(0);
    asks(&mut world, asker("a"), crate::world::open("notes"), None);
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).has("notes/main");
    world.view_at(asker("b"), "notes/main", Lod::Gist).exits(0);
    nothing_is_known_that_was_not_asked_for(&world);
}

#[test]
fn it_is_not_held_either_when_it_comes_after_the_new_one_was_shown() {
    let mut world = notes();
    world.manner("notes/main", Manner::Holds);
    let (client, id) = asks(&mut world, asker("b"), views(Some("notes/main")), Some(Lod::Gist));
    world.manner("notes/main", Manner::Normal);
    world.ask(asker("a"), Verb::Close { session: addr("notes/main"), end: false }).exits(0);
    world.open(asker("a"), "notes").exits(0);
    world.release("notes/main");
    world.said(client, id).expect("an answer").exits(0).has("notes/main");
    world.view_at(asker("b"), "notes/main", Lod::Gist).exits(0);
    nothing_is_known_that_was_not_asked_for(&world);
}

#[test]
fn what_came_of_a_session_that_ended_is_left_out_of_an_answer_that_waits_for_another() {
    let mut world = notes();
    world.open(asker("a"), "notes/b").exits(0);
    world.manner("notes/b", Manner::Holds);
    let (client, id) = asks(&mut world, asker("a"), views(None), None);
    world.ask(asker("b"), Verb::End { session: addr("notes/main") }).exits(0);
    world.open(asker("b"), "notes").exits(0);
    world.release("notes/b");
    let said = world.said(client, id).expect("an answer");
    said.has("the window of notes/main was closed meanwhile").lacks("k1 r1");
}

#[test]
fn another_look_that_is_fixed_meanwhile_is_not_the_one_that_came() {
    let mut world = notes();
    let id = world.view(asker("a")).id("k1 r1");
    let rebase =
        |value: &str| Verb::Set { option: Some("rebase".into()), value: Some(value.into()) };
    world.ask(asker("a"), rebase("on")).exits(0);
    world.model("notes/main").change(0, "new");
    world.manner("notes/main", Manner::Holds);
    let code = format!("notes.text(obj:{id})");
    let (client, run) = asks(&mut world, asker("a"), crate::world::run(&code), None);
    // The step is refused as stale, the window is asked for; meanwhile another reader wants less of it.
    world.release("notes/main");
    world.manner("notes/main", Manner::Holds);
    asks(&mut world, asker("b"), crate::world::open("notes"), Some(Lod::Gist));
    world.release("notes/main");
    world.said(client, run).expect("an answer").exits(0);
    world.view(asker("b")).exits(0);
    nothing_is_known_that_was_not_asked_for(&world);
}

#[test]
fn a_step_that_may_have_taken_effect_stays_unknown_however_it_ends_when_sent_again() {
    let mut world = notes();
    let id = world.view(asker("a")).id("k1 r1");
    world.manner("notes/main", Manner::Garbage);
    let edit = format!("notes.edit(obj:{id}, 'mine')");
    world.run(asker("a"), &edit).exits(7).has("pipemux answer go");
    world.manner("notes/main", Manner::Normal);
    world.model("notes/main").remove(0);
    world.view(asker("a")).exits(0);
    world
        .answer(asker("a"), "go")
        .exits(7)
        .has("an earlier attempt may have taken effect; the retry failed: Anchor obj:")
        .has("pipemux view notes/main");
}

#[test]
fn what_is_opened_anew_while_its_process_ends_is_there_for_the_next_daemon() {
    let mut world = notes();
    let app = world.process("notes/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    let end = Verb::End { session: addr("notes/main") };
    asks(&mut world, asker("a"), end, None);
    world.open(asker("a"), "notes").exits(0);
    world.lose_daemon();
    world.view(asker("a")).exits(0).has("notes/main").has("k1 r1");
}
