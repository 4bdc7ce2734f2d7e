//! Runs that are kept for `answer go`: which steps it sends.

use pipemux_proto::client::{HistoryArgs, Verb};

use crate::world::{Behaviour, World, reader};

/// A world with two notes that the reader has seen, of which the first has changed since. Returns
/// their ids.
fn changed() -> (World, u64, u64) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let said = world.open(reader("a"), "notes");
    let ids = (said.id("k1 r1"), said.id("k2 r1"));
    world.model("notes/main").change(0, "new");
    (world, ids.0, ids.1)
}

/// Returns the actions that apps received since the last call.
fn sent(world: &mut World) -> Vec<String> {
    std::mem::take(&mut world.invoked).into_iter().map(|(_, invoke)| invoke.action).collect()
}

#[test]
fn go_sends_the_remaining_steps_only() {
    let (mut world, first, _) = changed();
    let code = format!("notes.say('x'); notes.edit(obj:{first}, 'mine'); notes.say('y')");
    world.run(reader("a"), &code).exits(1).has("pipemux answer go").has(": notes.say('y') · ");
    assert_eq!(sent(&mut world), ["say", "edit"]);
    world.answer(reader("a"), "go").exits(0);
    assert_eq!(sent(&mut world), ["edit", "say"]);
    world.answer(reader("a"), "go").exits(3).has("no question is open");
    assert!(sent(&mut world).is_empty());
}

#[test]
fn go_repeats_a_nested_step_with_its_outer_step() {
    let (mut world, first, second) = changed();
    let code = format!("notes.edit(obj:{first}, text=notes.text(obj:{second}))");
    world.run(reader("a"), &code).exits(4).has("pipemux answer go");
    assert_eq!(sent(&mut world), ["text", "edit"]);
    world.answer(reader("a"), "go").exits(0);
    assert_eq!(sent(&mut world), ["text", "edit"]);
}

#[test]
fn later_run_replaces_the_kept_run() {
    let (mut world, first, _) = changed();
    world.run(reader("a"), &format!("notes.edit(obj:{first}, 'mine')")).exits(4);
    world.run(reader("a"), "notes.say('x')").exits(0);
    sent(&mut world);
    world.answer(reader("a"), "go").exits(3).has("no question is open");
    assert!(sent(&mut world).is_empty());
}

#[test]
fn kept_run_belongs_to_its_reader() {
    let (mut world, first, _) = changed();
    world.run(reader("a"), &format!("notes.edit(obj:{first}, 'mine')")).exits(4);
    world.answer(reader("b"), "go").exits(3);
    world.answer(reader("a"), "go").exits(0);
}

/// A world with a kept run: its nested step was done, the app of its outer step died, and the note
/// of the nested step has changed since.
fn lost_with_its_outer_step() -> World {
    let (mut world, first, _) = changed();
    world.view(reader("a")).exits(0);
    world.open(reader("a"), "other").exits(0);
    world.set_behaviour("other/main", Behaviour::DiesOnInvokeOnce);
    let code = format!("other.say(notes.text(obj:{first}))");
    world.run(reader("a"), &code).exits(7).has("unknown · say: other/main died");
    world.model("notes/main").change(0, "newer");
    assert_eq!(sent(&mut world), ["text", "say"]);
    world
}

#[test]
fn outer_step_stays_unknown_when_its_nested_step_fails_on_go() {
    let mut world = lost_with_its_outer_step();
    let said = world.answer(reader("a"), "go");
    said.exits(7).has("failed · Anchor obj:").has("is stale");
    said.has("unknown · say: an earlier attempt may have taken effect; now: it was not sent again");
    said.has("pipemux view other/main").has("pipemux answer go");
    assert_eq!(sent(&mut world), ["text"]);
    // The run is still kept, and continues once the reader has seen the change.
    world.view(reader("a")).exits(0).has("newer");
    world.answer(reader("a"), "go").exits(0).has("say: newer");
    assert_eq!(sent(&mut world), ["text", "say"]);
}

#[test]
fn kept_run_stays_unknown_when_app_dies() {
    let mut world = lost_with_its_outer_step();
    world.view(reader("a")).exits(0);
    world.set_behaviour("notes/main", Behaviour::DiesOnInvokeOnce);
    let said = world.answer(reader("a"), "go");
    said.exits(7)
        .has("unknown · text in other.say: notes/main died")
        .has("unknown · say: an earlier attempt may have taken");
    let verb = Verb::History(HistoryArgs::default());
    world
        .ask(reader("a"), verb)
        .exits(0)
        .has("say unknown: an earlier attempt may have taken effect");
}

#[test]
fn unknown_step_stays_unknown_when_its_retry_is_cancelled() {
    let (mut world, _, second) = changed();
    let code = format!("notes.remove(obj:{second})");
    world.run(reader("a"), &code).exits(5);
    world.set_behaviour("notes/main", Behaviour::DiesOnInvokeOnce);
    world.answer(reader("a"), "yes").exits(7).has("pipemux answer go");
    world.view(reader("a")).exits(0);
    world.answer(reader("a"), "go").exits(5);
    let said = world.answer(reader("a"), "no");
    said.exits(7).has("an earlier attempt may have taken effect; now: cancelled");
}
