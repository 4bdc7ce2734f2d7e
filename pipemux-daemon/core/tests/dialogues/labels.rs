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

#[test]
fn label_that_was_shown_before_is_never_replaced_by_a_similar_one() {
    let mut world = World::new();
    for text in ["one", "two"] {
        world.model("notes/main").add(text);
    }
    let id = world.open(reader("a"), "notes").id("k1 r1");
    world.model("notes/main").hide(0, true);
    world.view(reader("a"));
    let said = world.run(reader("a"), "notes.edit('k1 r1', 'x')");
    said.exits(4).has(&format!("Anchor obj:{id} is out of view.")).has("notes.unhide()");
    said.lacks("did you mean");
    // Who never saw the thing is told nothing of it.
    world.open(reader("b"), "notes");
    world.run(reader("b"), "notes.edit('k1 r1', 'x')").exits(2).has("not a ref or a label");
    world.model("notes/main").remove(0);
    world.view(reader("a"));
    world.run(reader("a"), "notes.edit('k1 r1', 'x')").exits(3).has("not found in current context");
}

#[test]
fn label_of_what_an_earlier_step_makes_is_told_as_that() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let said = world.run(reader("a"), "notes.edit('k1 r1', 'x'); notes.edit('k9 r1', 'y')");
    said.exits(2).has("once it is shown: send this call after the others").lacks("did you mean");
}

#[test]
fn bare_number_is_refused_with_what_it_may_mean() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    let before = world.invoked.len();
    for number in [format!("{id}"), format!("'{id}'"), format!("\"{id}\"")] {
        let said = world.run(reader("a"), &format!("notes.edit({number}, 'x')"));
        said.exits(2).has("wrong type").has(&format!("not a number: obj:{id} is \"k1 r1\""));
        said.has("next: pipemux run 'notes.edit(").has(&format!("obj:{id}, "));
    }
    let said = world.run(reader("a"), "notes.edit(999, 'x')");
    said.exits(2).has("no thing is obj:999").lacks("next:");
    assert_eq!(world.invoked.len(), before, "nothing was sent to the app");
}

#[test]
fn epoch_that_was_never_issued_is_told_as_that() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let answer = world.open(reader("a"), "notes");
    let (id, link) = (answer.id("k1 r1"), answer.id("edit k1 r1"));
    for call in [format!("notes.edit(obj:{id}@e99, 'x')"), format!("click(link:{link}@e99)")] {
        let said = world.run(reader("a"), &call);
        said.exits(3).has("not found in current context. e99 has not been issued, the newest is e");
    }
}
