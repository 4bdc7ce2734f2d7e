//! Names that apps bind, as `notes.selection`: a name means what the last answer that showed it
//! said.

use crate::world::{Behaviour, Reader, World, reader, run, session_addr};
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::{Arg, ObjectSlot, Piece, Projection};

/// Makes the app show a version in which `selection` is that thing.
fn selects(world: &mut World, version: u64, key: &str) {
    let slot = |key: &str| {
        let label = format!("{key} r1");
        ObjectSlot {
            key: key.into(),
            rev: 1,
            ty: Some("note".into()),
            label,
            ..ObjectSlot::default()
        }
    };
    let mut content = Vec::new();
    for key in ["k1", "k2"] {
        content.extend([Piece::Object(slot(key)), Piece::Text("\n".into())]);
    }
    let names = [("selection".to_owned(), slot(key))].into();
    let title = format!("{key} selected");
    let shows = Projection { version, title, names, content, ..Projection::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(shows)));
}

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    selects(&mut world, 2, "k1");
    world.open(reader("a"), "notes").exits(0).has("k1 selected");
    world
}

/// Gives a request a budget of its own.
fn glance(world: &World, call: VerbRequest) -> VerbRequest {
    assert!(world.process("notes/main").is_some());
    VerbRequest { budget: Some(300), ..call }
}

fn glances(world: &mut World, who: Reader) {
    let call = world.call(who, Verb::View(ViewArgs::default()));
    let call = glance(world, call);
    world.ask_call(&call).exits(0).has("selected");
}

/// Returns the key of the thing with which the last step was sent.
fn sent(world: &World) -> Option<&str> {
    let (_, invoke) = world.invoked.last()?;
    match invoke.args.get("note")? {
        Arg::Ref(of) => Some(&of.key),
        _ => None,
    }
}

#[test]
fn name_means_what_a_view_with_its_own_budget_showed() {
    let mut world = notes();
    selects(&mut world, 3, "k2");
    glances(&mut world, reader("a"));
    world.run(reader("a"), "notes.edit(notes.selection, 'mine')").exits(0);
    assert_eq!(sent(&world), Some("k2"));
}

#[test]
fn name_that_moved_away_and_back_is_stale() {
    let mut world = notes();
    selects(&mut world, 3, "k2");
    glances(&mut world, reader("a"));
    selects(&mut world, 4, "k1");
    world.view(reader("b")).has("k1 selected");
    world.run(reader("a"), "notes.edit(notes.selection, 'mine')").exits(4).has("is stale");
    assert_eq!(sent(&world), None);
}

#[test]
fn view_with_less_detail_keeps_the_names_of_its_version() {
    let mut world = notes();
    let bare = Projection { version: 2, title: "k1 selected".into(), ..Projection::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(bare)));
    glances(&mut world, reader("a"));
    selects(&mut world, 2, "k1");
    world.view(reader("b"));
    world.run(reader("a"), "notes.edit(notes.selection, 'mine')").exits(0);
    assert_eq!(sent(&world), Some("k1"));
}

#[test]
fn delayed_answer_does_not_show_an_earlier_incarnation() {
    let mut world = notes();
    world.open(reader("a"), "notes/b").exits(0);
    world.set_behaviour("notes/b", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
    let call = glance(&world, call);
    let id = world.send(client, &call);
    // The window arrived with `k1` selected. The app dies, and its next process selects another
    // thing.
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    selects(&mut world, 1, "k2");
    let session = Some(session_addr("notes/main"));
    world
        .ask(reader("a"), Verb::View(ViewArgs { session, ..ViewArgs::default() }))
        .has("k2 selected");
    world.release("notes/b");
    let said = world.answer_to(client, id).expect("an answer");
    said.has("k2 selected · busy, as it was before").lacks("k1 selected");
    world.confirm(client, said.delivery);
    world.ask(reader("a"), run("notes.edit(notes.selection, 'mine')")).exits(0);
    assert_eq!(sent(&world), Some("k2"));
}
