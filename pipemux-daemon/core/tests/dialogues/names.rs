//! Names that apps bind: what one means is what the last answer that showed it said.

use crate::world::{Asker, Manner, World, asker, run};
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::{Arg, ObjectSlot, Piece, Projection};

/// A window in that version whose `selection` is that thing.
fn selects(world: &mut World, version: u64, key: &str) {
    let slot = |key: &str| {
        let label = format!("{key} r1");
        ObjectSlot { key: key.into(), rev: 1, ty: Some("note".into()), label }
    };
    let mut content = Vec::new();
    for key in ["k1", "k2"] {
        content.extend([Piece::Object(slot(key)), Piece::Text("\n".into())]);
    }
    let names = [("selection".to_owned(), slot(key))].into();
    let title = format!("{key} selected");
    let shows = Projection { version, title, names, content, ..Projection::default() };
    world.manner("notes/main", Manner::Shows(Box::new(shows)));
}

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    selects(&mut world, 2, "k1");
    world.open(asker("a"), "notes").exits(0).has("k1 selected");
    world
}

/// A look with a budget of its own.
fn glance(world: &World, call: VerbRequest) -> VerbRequest {
    assert!(world.process("notes/main").is_some());
    VerbRequest { budget: Some(300), ..call }
}

fn glances(world: &mut World, who: Asker) {
    let call = world.call(who, Verb::View(ViewArgs::default()));
    let call = glance(world, call);
    world.ask_call(&call).exits(0).has("selected");
}

/// The key of the thing that the last step was sent with.
fn sent(world: &World) -> Option<&str> {
    let (_, invoke) = world.invoked.last()?;
    match invoke.args.get("note")? {
        Arg::Ref(of) => Some(&of.key),
        _ => None,
    }
}

#[test]
fn a_name_means_what_a_look_with_its_own_budget_showed() {
    let mut world = notes();
    selects(&mut world, 3, "k2");
    glances(&mut world, asker("a"));
    world.run(asker("a"), "notes.edit(notes.selection, 'mine')").exits(0);
    assert_eq!(sent(&world), Some("k2"));
}

#[test]
fn a_name_that_stands_again_for_what_an_older_answer_showed_is_stale() {
    let mut world = notes();
    selects(&mut world, 3, "k2");
    glances(&mut world, asker("a"));
    selects(&mut world, 4, "k1");
    world.view(asker("b")).has("k1 selected");
    world.run(asker("a"), "notes.edit(notes.selection, 'mine')").exits(4).has("is stale");
    assert_eq!(sent(&world), None);
}

#[test]
fn less_of_the_same_version_leaves_names_as_they_were() {
    let mut world = notes();
    let bare = Projection { version: 2, title: "k1 selected".into(), ..Projection::default() };
    world.manner("notes/main", Manner::Shows(Box::new(bare)));
    glances(&mut world, asker("a"));
    selects(&mut world, 2, "k1");
    world.view(asker("b"));
    world.run(asker("a"), "notes.edit(notes.selection, 'mine')").exits(0);
    assert_eq!(sent(&world), Some("k1"));
}

#[test]
fn an_answer_that_waited_for_another_window_shows_no_earlier_life_than_others_did() {
    let mut world = notes();
    world.open(asker("a"), "notes/b").exits(0);
    world.manner("notes/b", Manner::Holds);
    let client = world.connect();
    let call = world.call(asker("a"), Verb::View(ViewArgs::default()));
    let call = glance(&world, call);
    let id = world.send(client, &call);
    // It has come with `k1`; its app dies, and in its next life another thing is selected.
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    selects(&mut world, 1, "k2");
    let session = Some("notes/main".parse().expect("a session"));
    world
        .ask(asker("a"), Verb::View(ViewArgs { session, ..ViewArgs::default() }))
        .has("k2 selected");
    world.release("notes/b");
    let said = world.said(client, id).expect("an answer");
    said.has("k2 selected · busy, as it was before").lacks("k1 selected");
    world.confirm(client, said.delivery);
    world.ask(asker("a"), run("notes.edit(notes.selection, 'mine')")).exits(0);
    assert_eq!(sent(&world), Some("k2"));
}
