//! Refs that lead nowhere, and readers beside each other.

use crate::world::{Asker, World, asker};
use pipemux_proto::projection::Lod;

fn notes(world: &mut World, texts: &[&str]) -> crate::world::Said {
    for text in texts {
        world.model("notes/main").add(text);
    }
    world.open(asker("a"), "notes")
}

#[test]
fn a_changed_meaning_is_stale_word_for_word() {
    let mut world = World::new();
    let id = notes(&mut world, &["one", "two"]).id("k1 r1");
    world.model("notes/main").change(0, "other");
    // The app knows; the daemon has seen nothing yet.
    let said = world.run(asker("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4)
        .has(&format!("Anchor obj:{id} is stale. Please refresh to get current IDs."))
        .has("k1 r2](obj:");
    // What was shown with the refusal is seen now.
    world.run(asker("a"), &format!("notes.edit(obj:{id}, 'mine')")).exits(0);
    // Another reader's look makes the daemon know before the app is asked.
    world.model("notes/main").change(0, "again");
    world.open(asker("b"), "notes");
    let before = world.invoked.len();
    let said = world.run(asker("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4).has(&format!("Anchor obj:{id} is stale. Please refresh to get current IDs."));
    assert_eq!(world.invoked.len(), before, "nothing was sent to the app");
}

#[test]
fn a_hidden_thing_is_out_of_view_word_for_word() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").hide(0, true);
    world.view(asker("a"));
    world
        .run(asker("a"), &format!("notes.edit(obj:{id}, 'x')"))
        .exits(4)
        .has(&format!("Anchor obj:{id} is out of view. Navigate or expand to access."))
        .has("notes.unhide()");
    // It comes back under its id.
    world.model("notes/main").hide(0, false);
    assert_eq!(world.view(asker("a")).id("k1 r1"), id);
}

#[test]
fn a_gone_thing_is_not_found_word_for_word() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").remove(0);
    world.view(asker("a"));
    let sentence = format!("Anchor obj:{id} not found in current context.");
    world
        .run(asker("a"), &format!("notes.edit(obj:{id}, 'x')"))
        .exits(3)
        .has(&sentence)
        .has("it was removed");
    let missing = format!("notes.edit(obj:{}, 'x')", id + 100);
    world.run(asker("a"), &missing).exits(3).has("not found in current context.");
    world
        .click(asker("a"), "link:999")
        .exits(3)
        .has("Anchor link:999 not found in current context.");
    world.run(asker("a"), &format!("notes.edit(obj:{id}@e99, 'x')")).exits(3).has(&sentence);
}

#[test]
fn a_closed_window_puts_its_things_out_of_view() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.open(asker("a"), "other");
    let session = "notes/main".parse().expect("a session");
    let close = pipemux_proto::client::Verb::Close { session, end: false };
    world.ask(asker("a"), close).exits(0);
    world
        .run(asker("a"), &format!("other.say(obj:{id})"))
        .exits(4)
        .has(&format!("Anchor obj:{id} is out of view."))
        .has("pipemux open notes/main");
    assert_eq!(world.open(asker("a"), "notes").id("k1 r1"), id);
}

#[test]
fn a_pinned_ref_means_its_epoch() {
    let mut world = World::new();
    let shown = notes(&mut world, &["one", "two"]);
    let (one, two) = (shown.id("k1 r1"), shown.id("k2 r1"));
    shown.has(" · e1 · ");
    world.model("notes/main").change(0, "changed");
    world.view(asker("a")).has(" · e2 · ");
    world.run(asker("a"), &format!("notes.edit(obj:{one}@e1, 'x')")).exits(4).has("is stale");
    world.run(asker("a"), &format!("notes.edit(obj:{one}@e2, 'x')")).exits(0);
    // Another entry's change doesn't make this one stale, at no epoch that showed it.
    world.run(asker("a"), &format!("notes.edit(obj:{two}@e1, 'x')")).exits(0);
}

#[test]
fn two_readers_have_each_their_own_last_look() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    assert_eq!(world.open(asker("b"), "notes").id("k1 r1"), id);
    world.run(asker("b"), &format!("notes.edit(obj:{id}, 'by b')")).exits(0);
    let said = world.run(asker("a"), &format!("notes.edit(obj:{id}, 'by a')"));
    said.exits(4).has("is stale").has("- [k1 r1](obj:").has("+ [k1 r2](obj:");
    world.run(asker("a"), &format!("notes.edit(obj:{id}, 'by a')")).exits(0);
}

#[test]
fn what_a_reader_was_not_shown_it_cannot_mean() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    // b learns of the change, a looks again but without detail: it has not seen the change.
    world.model("notes/main").change(0, "other");
    world.open(asker("b"), "notes");
    world.view_at(asker("a"), "notes/main", Lod::Gist).lacks("k1 r2");
    let said = world.run(asker("a"), &format!("notes.edit(obj:{id}, 'x')"));
    said.exits(4).has("is stale");
    assert_eq!(world.model("notes/main").notes[0].text, "other");
}

#[test]
fn another_readers_look_takes_no_link_away() {
    let mut world = World::new();
    let link = notes(&mut world, &["one"]).id("edit k1 r1");
    world.view_at(asker("b"), "notes/main", Lod::Gist);
    world.click(asker("a"), &format!("link:{link}")).exits(0).has("edit: edited");
}

#[test]
fn a_change_that_was_not_delivered_was_not_seen() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").change(0, "other");
    let client = world.connect();
    let call = world.call(asker("a"), pipemux_proto::client::Verb::View(Default::default()));
    let request = world.send(client, &call);
    world.said(client, request).expect("an answer").has("k1 r2");
    world.vanish(client);
    world.run(asker("a"), &format!("notes.edit(obj:{id}, 'x')")).exits(4).has("is stale");
}

#[test]
fn workspaces_share_no_ids() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    let elsewhere = Asker { workspace: "elsewhere", reader: "a" };
    world.open(elsewhere, "other");
    world
        .run(elsewhere, &format!("other.say(obj:{id})"))
        .exits(3)
        .has(&format!("Anchor obj:{id} not found in current context."));
    // A shared session's change in one workspace is seen as one in the other.
    world.model("shared/main").add("common");
    let here = world.open(asker("a"), "shared").id("k1 r1");
    let there = world.open(elsewhere, "shared").id("k1 r1");
    world.run(asker("a"), &format!("shared.edit(obj:{here}, 'x')")).exits(0);
    world.run(elsewhere, &format!("shared.edit(obj:{there}, 'y')")).exits(4).has("is stale");
}

#[test]
fn a_link_in_an_outcome_works_whatever_became_of_the_window() {
    let mut world = World::new();
    notes(&mut world, &["one"]);
    let undo = world.run(asker("a"), "notes.say('x')").id("undo");
    world.model("notes/main").add("two");
    world.view(asker("a"));
    world.click(asker("a"), &format!("link:{undo}")).exits(0).has("say: undone");
}

#[test]
fn an_old_link_is_named_itself_when_it_is_refused() {
    let mut world = World::new();
    let shown = notes(&mut world, &["one"]);
    let (id, link) = (shown.id("k1 r1"), shown.id("edit k1 r1"));
    world.run(asker("a"), &format!("notes.edit(obj:{id}, 'x')")).exits(0).has("k1 r2](obj:");
    let said = world.click(asker("a"), &format!("link:{link}"));
    said.exits(4)
        .has(&format!("Anchor link:{link} is"))
        .lacks(&format!("Anchor obj:{id} is stale"));
    // The app knows of a change that no window has shown yet.
    let link = world.view(asker("a")).id("edit k1 r2");
    world.model("notes/main").change(0, "other");
    let said = world.click(asker("a"), &format!("link:{link}"));
    said.exits(4).has(&format!("Anchor link:{link} is stale. Please refresh to get current IDs."));
}

#[test]
fn an_apps_token_means_its_own_thing() {
    let mut world = World::new();
    notes(&mut world, &["one", "two"]);
    world.model("other/main").add("elsewhere");
    world.open(asker("a"), "other");
    let text =
        |world: &mut World, token: &str| world.run(asker("a"), &format!("notes.text({token})"));
    // Both apps have a k1; the prefix says whose. A type is written with a capital in tokens.
    text(&mut world, "[[NT:Note:k2]]").exits(0);
    assert_eq!(invoked_key(&world), "k2");
    text(&mut world, "[[NT:note:k1]]").exits(0);
    assert_eq!(invoked_key(&world), "k1");
    world.run(asker("a"), "other.text('[[OT:Note:k1]]')").exits(0);
    assert_eq!(world.invoked.last().map(|(session, _)| session.as_str()), Some("other/main"));
    for token in ["[[NT:View:k1]]", "[[NT:Note:k9]]", "[[XT:Note:k1]]", "[[NT:Note:1]]"] {
        let sentence = format!("Anchor {token} not found in current context.");
        text(&mut world, token).exits(3).has(&sentence);
    }
    // It is read and pinned like any ref.
    let read = |target: &str| pipemux_proto::client::Verb::Read { target: target.into() };
    world.ask(asker("a"), read("[[NT:Note:k2]]")).exits(0);
    world.model("notes/main").change(0, "changed");
    world.view(asker("a"));
    text(&mut world, "[[NT:Note:k1]]@e1").exits(4).has("Anchor [[NT:Note:k1]] is stale.");
    text(&mut world, "[[NT:Note:k1]]").exits(0);
    // A closed window's things are out of view.
    let session = "other/main".parse().expect("a session");
    world.ask(asker("a"), pipemux_proto::client::Verb::Close { session, end: false }).exits(0);
    world.ask(asker("a"), read("[[OT:Note:k1]]")).exits(4).has("is out of view.");
}

fn invoked_key(world: &World) -> &str {
    let (_, invoke) = world.invoked.last().expect("an invocation");
    match &invoke.args["note"] {
        pipemux_proto::projection::Arg::Ref(found) => &found.key,
        other => panic!("{other:?}"),
    }
}
