//! Runs that are kept for `answer go`: what it sends, and what it leaves alone.

use crate::world::{World, asker};

/// Two notes that the reader has seen, the first of which has changed since.
fn changed() -> (World, u64, u64) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let said = world.open(asker("a"), "notes");
    let ids = (said.id("k1 r1"), said.id("k2 r1"));
    world.model("notes/main").change(0, "new");
    (world, ids.0, ids.1)
}

/// The actions that the app was sent.
fn sent(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.invoked).into_iter().map(|(_, invoke)| invoke.action).collect()
}

#[test]
fn go_does_what_was_left_and_nothing_that_was_done() {
    let (mut world, first, _) = changed();
    let code = format!("notes.say('x'); notes.edit(obj:{first}, 'mine'); notes.say('y')");
    world.run(asker("a"), &code).exits(1).has("pipemux answer go").has("not run: notes.say");
    assert_eq!(sent(&mut world), ["say", "edit"]);
    world.answer(asker("a"), "go").exits(0);
    assert_eq!(sent(&mut world), ["edit", "say"]);
    world.answer(asker("a"), "go").exits(3).has("no question is open");
    assert!(sent(&mut world).is_empty());
}

#[test]
fn what_a_nested_step_gave_is_taken_anew_with_its_outer_step() {
    let (mut world, first, second) = changed();
    let code = format!("notes.edit(obj:{first}, text=notes.text(obj:{second}))");
    world.run(asker("a"), &code).exits(1).has("pipemux answer go");
    assert_eq!(sent(&mut world), ["text", "edit"]);
    world.answer(asker("a"), "go").exits(0);
    assert_eq!(sent(&mut world), ["text", "edit"]);
}

#[test]
fn a_later_run_takes_the_place_of_the_one_that_was_kept() {
    let (mut world, first, _) = changed();
    world.run(asker("a"), &format!("notes.edit(obj:{first}, 'mine')")).exits(4);
    world.run(asker("a"), "notes.say('x')").exits(0);
    sent(&mut world);
    world.answer(asker("a"), "go").exits(3).has("no question is open");
    assert!(sent(&mut world).is_empty());
}

#[test]
fn it_is_kept_for_its_own_reader() {
    let (mut world, first, _) = changed();
    world.run(asker("a"), &format!("notes.edit(obj:{first}, 'mine')")).exits(4);
    world.answer(asker("b"), "go").exits(3);
    world.answer(asker("a"), "go").exits(0);
}
