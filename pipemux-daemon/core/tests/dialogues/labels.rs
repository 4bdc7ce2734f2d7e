//! Labels as names, and calls that lack arguments.

use crate::world::{World, reader};

#[test]
fn label_names_the_one_visible_thing_that_has_it() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let id = world.open(reader("a"), "notes").id("k2 r1");
    world.run(reader("a"), "notes.edit('k2 r1', 'x')").exits(0);
    world.run(reader("a"), "notes.edit('K1  R1', 'y')").exits(0);
    assert_eq!(world.model("notes/main").notes[1].text, "x");
    assert_eq!(world.model("notes/main").notes[0].text, "y");
    let said = world.run(reader("a"), "notes.edit('k2', 'z')");
    said.exits(2).has("not a ref or a label").has("did you mean k2 r2 · obj:");
    world.run(reader("a"), &format!("notes.edit([k2 r2](obj:note:{id}), 'w')")).exits(0);
    world.run(reader("a"), &format!("notes.edit('[k2 r3](obj:note:{id})', 'v')")).exits(0);
    assert_eq!(world.model("notes/main").notes[1].text, "v");
}

#[test]
fn label_of_several_things_is_a_choice() {
    let mut world = World::new();
    for _ in 0..2 {
        world.model("notes/main").add("one");
    }
    // Labels are keys and revisions, so a second note gets the first one's key in another case.
    world.model("notes/main").notes[1].key = "K1".into();
    world.open(reader("a"), "notes");
    let said = world.run(reader("a"), "notes.edit('k1 R1', 'x')");
    said.exits(2).has("ambiguous label").has("2 things have this label: k1 r1 · obj:");
    world.run(reader("a"), "notes.edit('K1 r1', 'x')").exits(0);
}
