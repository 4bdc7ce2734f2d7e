//! Windows that are closed, reopened or given another level of detail while they are requested from
//! their app, and steps that are sent a second time.

use crate::world::{Behaviour, Reader, World, reader, session_addr};
use pipemux_core::ClientId;
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::projection::Lod;

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes").exits(0);
    world
}

/// Sends a request with a level of detail, and doesn't wait for the answer.
fn asks(world: &mut World, who: Reader, verb: Verb, lod: Option<Lod>) -> (ClientId, u64) {
    let client = world.connect();
    let mut call = world.call(who, verb);
    call.lod = lod;
    (client, world.send(client, &call))
}

fn views(session: Option<&str>) -> Verb {
    Verb::View(ViewArgs { session: session.map(session_addr), ..ViewArgs::default() })
}

/// Checks that each known version that the core claimed belongs to a projection that it had
/// requested before.
fn assert_known_versions_were_requested(world: &World) {
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
fn projection_of_a_closed_window_is_not_known_of_the_reopened_one() {
    let mut world = notes();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let (client, id) = asks(&mut world, reader("b"), views(Some("notes/main")), Some(Lod::Gist));
    world
        .ask(reader("a"), Verb::Close { session: session_addr("notes/main"), end: false })
        .exits(0);
    asks(&mut world, reader("a"), crate::world::open("notes"), None);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).has("notes/main");
    world.view_at(reader("b"), "notes/main", Lod::Gist).exits(0);
    assert_known_versions_were_requested(&world);
}

#[test]
fn late_projection_of_a_closed_window_is_not_known_of_the_reopened_one() {
    let mut world = notes();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let (client, id) = asks(&mut world, reader("b"), views(Some("notes/main")), Some(Lod::Gist));
    world.set_behaviour("notes/main", Behaviour::Normal);
    world
        .ask(reader("a"), Verb::Close { session: session_addr("notes/main"), end: false })
        .exits(0);
    world.open(reader("a"), "notes").exits(0);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).has("notes/main");
    world.view_at(reader("b"), "notes/main", Lod::Gist).exits(0);
    assert_known_versions_were_requested(&world);
}

#[test]
fn window_of_an_ended_session_is_left_out_of_a_delayed_answer() {
    let mut world = notes();
    world.open(reader("a"), "notes/b").exits(0);
    world.set_behaviour("notes/b", Behaviour::Holds);
    let (client, id) = asks(&mut world, reader("a"), views(None), None);
    world.ask(reader("b"), Verb::End { session: session_addr("notes/main") }).exits(0);
    world.open(reader("b"), "notes").exits(0);
    world.release("notes/b");
    let said = world.answer_to(client, id).expect("an answer");
    said.has("the window of notes/main was closed meanwhile").lacks("k1 r1");
}

#[test]
fn projection_at_another_level_of_detail_is_not_known_of_the_window() {
    let mut world = notes();
    let id = world.view(reader("a")).id("k1 r1");
    let rebase =
        |value: &str| Verb::Set { option: Some("rebase".into()), value: Some(value.into()) };
    world.ask(reader("a"), rebase("on")).exits(0);
    world.model("notes/main").change(0, "new");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let code = format!("notes.text(obj:{id})");
    let (client, run) = asks(&mut world, reader("a"), crate::world::run(&code), None);
    // The step is refused as stale, and the window is requested. Meanwhile another reader lowers
    // its level of detail.
    world.release("notes/main");
    world.set_behaviour("notes/main", Behaviour::Holds);
    asks(&mut world, reader("b"), crate::world::open("notes"), Some(Lod::Gist));
    world.release("notes/main");
    world.answer_to(client, run).expect("an answer").exits(0);
    world.view(reader("b")).exits(0);
    assert_known_versions_were_requested(&world);
}

#[test]
fn unknown_step_stays_unknown_when_its_retry_fails() {
    let mut world = notes();
    let id = world.view(reader("a")).id("k1 r1");
    world.set_behaviour("notes/main", Behaviour::Garbage);
    let edit = format!("notes.edit(obj:{id}, 'mine')");
    world.run(reader("a"), &edit).exits(7).has("pipemux answer go");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.model("notes/main").remove(0);
    world.view(reader("a")).exits(0);
    world
        .answer(reader("a"), "go")
        .exits(7)
        .has("an earlier attempt may have taken effect; now: Anchor obj:")
        .has("pipemux view notes/main");
}

#[test]
fn session_reopened_while_its_process_ends_survives_daemon_loss() {
    let mut world = notes();
    let app = world.process("notes/main").expect("it runs");
    world.apps.get_mut(&app).expect("it runs").stubborn = true;
    let end = Verb::End { session: session_addr("notes/main") };
    asks(&mut world, reader("a"), end, None);
    world.open(reader("a"), "notes").exits(0);
    world.lose_daemon();
    world.view(reader("a")).exits(0).has("notes/main").has("k1 r1");
}
