//! Runs that are kept for `answer go`: what it sends, and what it leaves alone.

use pipemux_proto::client::Verb;

use crate::world::{Manner, World, asker};

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

/// A run whose outer step's app died with it, once what its nested call gave was taken; that note has
/// changed since.
fn lost_with_its_outer_step() -> World {
    let (mut world, first, _) = changed();
    world.view(asker("a")).exits(0);
    world.open(asker("a"), "other").exits(0);
    world.manner("other/main", Manner::DiesOnInvokeOnce);
    let code = format!("other.say(notes.text(obj:{first}))");
    world.run(asker("a"), &code).exits(7).has("unknown · say: other/main died");
    world.model("notes/main").change(0, "newer");
    assert_eq!(sent(&mut world), ["text", "say"]);
    world
}

#[test]
fn a_nested_call_that_fails_leaves_it_open_what_its_outer_step_did_before() {
    let mut world = lost_with_its_outer_step();
    let said = world.answer(asker("a"), "go");
    said.exits(7).has("failed · Anchor obj:").has("is stale");
    said.has("unknown · say: an earlier attempt may have taken effect; the retry failed: it was not sent again");
    said.has("pipemux view other/main shows how it stands").has("pipemux answer go");
    assert_eq!(sent(&mut world), ["text"]);
    // It is kept still, and goes on once the reader has seen what is there.
    world.view(asker("a")).exits(0).has("newer");
    world.answer(asker("a"), "go").exits(0).has("say: newer");
    assert_eq!(sent(&mut world), ["text", "say"]);
}

#[test]
fn so_does_one_whose_own_app_dies() {
    let mut world = lost_with_its_outer_step();
    world.view(asker("a")).exits(0);
    world.manner("notes/main", Manner::DiesOnInvokeOnce);
    let said = world.answer(asker("a"), "go");
    said.exits(7).has("unknown · text: notes/main died").has("unknown · say: it may have taken");
    let verb = Verb::History { detail: false, rounds: None };
    world.ask(asker("a"), verb).exits(0).has("say unknown: it may have taken effect");
}

#[test]
fn what_may_have_been_done_before_is_not_said_to_be_left_out_when_it_is_cancelled() {
    let (mut world, _, second) = changed();
    let code = format!("notes.remove(obj:{second})");
    world.run(asker("a"), &code).exits(5);
    world.manner("notes/main", Manner::DiesOnInvokeOnce);
    world.answer(asker("a"), "yes").exits(7).has("pipemux answer go");
    world.view(asker("a")).exits(0);
    world.answer(asker("a"), "go").exits(5);
    let said = world.answer(asker("a"), "no");
    said.exits(7).has("an earlier attempt may have taken effect; the retry failed: cancelled");
}
