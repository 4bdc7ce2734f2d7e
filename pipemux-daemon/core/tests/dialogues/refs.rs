//! Refs that can't be resolved, and what each reader may refer to.

use crate::world::{Behaviour, Reader, World, reader, session_addr, slot};
use pipemux_proto::Value;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::projection::{LinkSlot, Lod};

fn notes(world: &mut World, texts: &[&str]) -> crate::world::AnswerText {
    for text in texts {
        world.model("notes/main").add(text);
    }
    world.open(reader("a"), "notes")
}

#[test]
fn stale_ref_is_refused_with_the_exact_sentence() {
    let mut world = World::new();
    let id = notes(&mut world, &["one", "two"]).id("k1 r1");
    world.model("notes/main").change(0, "other");
    // Only the app knows of the change so far.
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4)
        .has(&format!("Anchor obj:{id} is stale. Please refresh to get current IDs."))
        .has("k1 r2](obj:");
    // The refusal showed the change, so it counts as seen.
    world.run(reader("a"), &format!("notes.edit(obj:{id}, 'mine')")).exits(0);
    // After another reader's view, the daemon knows of the change without asking the app.
    world.model("notes/main").change(0, "again");
    world.open(reader("b"), "notes");
    let before = world.invoked.len();
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4).has(&format!("Anchor obj:{id} is stale. Please refresh to get current IDs."));
    assert_eq!(world.invoked.len(), before, "nothing was sent to the app");
}

#[test]
fn hidden_thing_is_refused_with_the_exact_sentence() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").hide(0, true);
    world.view(reader("a"));
    world
        .run(reader("a"), &format!("notes.edit(obj:{id}, 'x')"))
        .exits(4)
        .has(&format!("Anchor obj:{id} is out of view. Navigate or expand to access."))
        .has("notes.unhide()");
    // The thing keeps its id when it is shown again.
    world.model("notes/main").hide(0, false);
    assert_eq!(world.view(reader("a")).id("k1 r1"), id);
}

#[test]
fn removed_thing_is_refused_with_the_exact_sentence() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").remove(0);
    world.view(reader("a"));
    let sentence = format!("Anchor obj:{id} not found in current context.");
    world
        .run(reader("a"), &format!("notes.edit(obj:{id}, 'x')"))
        .exits(3)
        .has(&sentence)
        .has("it was removed");
    let missing = format!("notes.edit(obj:{}, 'x')", id + 100);
    world.run(reader("a"), &missing).exits(3).has("not found in current context.");
    world
        .click(reader("a"), "link:999")
        .exits(3)
        .has("Anchor link:999 not found in current context.");
    world.run(reader("a"), &format!("notes.edit(obj:{id}@e99, 'x')")).exits(3).has(&sentence);
}

#[test]
fn things_of_a_closed_window_are_out_of_view() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.open(reader("a"), "other");
    let session = session_addr("notes/main");
    let close = pipemux_proto::client::Verb::Close { session, end: false };
    world.ask(reader("a"), close).exits(0);
    world
        .run(reader("a"), &format!("other.say(obj:{id})"))
        .exits(4)
        .has(&format!("Anchor obj:{id} is out of view."))
        .has("pipemux open notes/main");
    assert_eq!(world.open(reader("a"), "notes").id("k1 r1"), id);
}

#[test]
fn pinned_ref_means_what_its_epoch_showed() {
    let mut world = World::new();
    let shown = notes(&mut world, &["one", "two"]);
    let (one, two) = (shown.id("k1 r1"), shown.id("k2 r1"));
    shown.has(" · e1 · ");
    world.model("notes/main").change(0, "changed");
    world.view(reader("a")).has(" · e2 · ");
    world.run(reader("a"), &format!("notes.edit(obj:{one}@e1, 'x')")).exits(4).has("is stale");
    world.run(reader("a"), &format!("notes.edit(obj:{one}@e2, 'x')")).exits(0);
    // The change of one thing doesn't make another one stale, in any epoch that showed it.
    world.run(reader("a"), &format!("notes.edit(obj:{two}@e1, 'x')")).exits(0);
}

#[test]
fn each_reader_has_its_own_last_view() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    assert_eq!(world.open(reader("b"), "notes").id("k1 r1"), id);
    world.run(reader("b"), &format!("notes.edit(obj:{id}, 'by b')")).exits(0);
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'by a')"));
    said.exits(4).has("is stale").has("- [k1 r1](obj:").has("+ [k1 r2](obj:");
    world.run(reader("a"), &format!("notes.edit(obj:{id}, 'by a')")).exits(0);
}

#[test]
fn change_shown_to_another_reader_stays_stale_for_this_one() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    // Reader b sees the change. Reader a views the window without details, so it has not seen the
    // change.
    world.model("notes/main").change(0, "other");
    world.open(reader("b"), "notes");
    world.view_at(reader("a"), "notes/main", Lod::Gist).lacks("k1 r2");
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'x')"));
    said.exits(4).has("is stale");
    assert_eq!(world.model("notes/main").notes[0].text, "other");
}

#[test]
fn view_of_another_reader_keeps_links_valid() {
    let mut world = World::new();
    let link = notes(&mut world, &["one"]).id("edit k1 r1");
    world.view_at(reader("b"), "notes/main", Lod::Gist);
    world
        .click(reader("a"), &format!("link:{link}"))
        .exits(0)
        .has("clicked \"edit k1 r1\" (edit) of notes/main: edited");
}

#[test]
fn unconfirmed_answer_does_not_count_as_seen() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    world.model("notes/main").change(0, "other");
    let client = world.connect();
    let call = world.call(reader("a"), pipemux_proto::client::Verb::View(Default::default()));
    let request = world.send(client, &call);
    world.answer_to(client, request).expect("an answer").has("k1 r2");
    world.vanish(client);
    world.run(reader("a"), &format!("notes.edit(obj:{id}, 'x')")).exits(4).has("is stale");
}

#[test]
fn workspaces_share_no_ids() {
    let mut world = World::new();
    let id = notes(&mut world, &["one"]).id("k1 r1");
    let elsewhere = Reader { workspace: "elsewhere", reader: "a" };
    world.open(elsewhere, "other");
    world
        .run(elsewhere, &format!("other.say(obj:{id})"))
        .exits(3)
        .has(&format!("Anchor obj:{id} not found in current context."));
    // A change that one workspace makes in a shared session is a change in the other workspace,
    // too.
    world.model("shared/main").add("common");
    let here = world.open(reader("a"), "shared").id("k1 r1");
    let there = world.open(elsewhere, "shared").id("k1 r1");
    world.run(reader("a"), &format!("shared.edit(obj:{here}, 'x')")).exits(0);
    world.run(elsewhere, &format!("shared.edit(obj:{there}, 'y')")).exits(4).has("is stale");
}

#[test]
fn link_in_an_outcome_works_after_the_window_changed() {
    let mut world = World::new();
    notes(&mut world, &["one"]);
    let lasting =
        LinkSlot { lasting: true, ..slot("undo", "say", [("text", Value::from("undone").into())]) };
    let done = Done { brief: "x".into(), version: 1, links: vec![lasting], ..Done::default() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Done(done))));
    let undo = world.run(reader("a"), "notes.say('x')").id("undo");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.model("notes/main").add("two");
    world.view(reader("a"));
    world
        .click(reader("a"), &format!("link:{undo}"))
        .exits(0)
        .has("clicked \"undo\" (say) of notes/main: undone");
}

#[test]
fn refused_link_is_named_in_the_error() {
    let mut world = World::new();
    let shown = notes(&mut world, &["one"]);
    let (id, link) = (shown.id("k1 r1"), shown.id("edit k1 r1"));
    world.run(reader("a"), &format!("notes.edit(obj:{id}, 'x')")).exits(0).has("k1 r2](obj:");
    let said = world.click(reader("a"), &format!("link:{link}"));
    said.exits(4)
        .has(&format!("Anchor link:{link} is"))
        .lacks(&format!("Anchor obj:{id} is stale"));
    // Only the app knows of the change so far.
    let link = world.view(reader("a")).id("edit k1 r2");
    world.model("notes/main").change(0, "other");
    let said = world.click(reader("a"), &format!("link:{link}"));
    said.exits(4).has(&format!("Anchor link:{link} is stale. Please refresh to get current IDs."));
}

#[test]
fn app_token_resolves_to_its_thing() {
    let mut world = World::new();
    notes(&mut world, &["one", "two"]);
    world.model("other/main").add("elsewhere");
    world.open(reader("a"), "other");
    let text =
        |world: &mut World, token: &str| world.run(reader("a"), &format!("notes.text({token})"));
    // Both apps have a k1, which the prefix tells apart. In tokens a type begins with a capital
    // letter.
    text(&mut world, "[[NT:Note:k2]]").exits(0);
    assert_eq!(invoked_key(&world), "k2");
    text(&mut world, "[[NT:note:k1]]").exits(0);
    assert_eq!(invoked_key(&world), "k1");
    world.run(reader("a"), "other.text('[[OT:Note:k1]]')").exits(0);
    assert_eq!(world.invoked.last().map(|(session, _)| session.as_str()), Some("other/main"));
    for token in ["[[NT:ViewArgs:k1]]", "[[NT:Note:k9]]", "[[XT:Note:k1]]", "[[NT:Note:1]]"] {
        let sentence = format!("Anchor {token} not found in current context.");
        text(&mut world, token).exits(3).has(&sentence);
    }
    // A token can be read and pinned like any other ref.
    let read = |target: &str| pipemux_proto::client::Verb::Read { target: target.into() };
    world.ask(reader("a"), read("[[NT:Note:k2]]")).exits(0);
    world.model("notes/main").change(0, "changed");
    world.view(reader("a"));
    text(&mut world, "[[NT:Note:k1]]@e1").exits(4).has("Anchor [[NT:Note:k1]] is stale.");
    text(&mut world, "[[NT:Note:k1]]").exits(0);
    // The things of a closed window are out of view.
    let session = session_addr("other/main");
    world.ask(reader("a"), pipemux_proto::client::Verb::Close { session, end: false }).exits(0);
    world.ask(reader("a"), read("[[OT:Note:k1]]")).exits(4).has("is out of view.");
}

#[test]
fn token_of_a_thing_that_no_window_shows_means_it_still() {
    let mut world = World::new();
    notes(&mut world, &["one"]);
    // The app has it, the window was never shown with it.
    world.model("notes/main").add("later");
    // This app's things have revisions, of which the reader has seen none: it refuses, and the
    // window is shown.
    let unseen = world.run(reader("a"), "notes.text([[NT:Note:k2]])");
    unseen.exits(4).has("another rev").has("later");
    assert_eq!(invoked_key(&world), "k2");
    world.run(reader("a"), "notes.text([[NT:Note:k2]])").exits(0);
    // Its type is checked, the app says what is gone, and an epoch of something unseen isn't known.
    world.model("notes/main").add("third");
    let of_other_type = world.run(reader("a"), "notes.text([[NT:Page:k3]])");
    of_other_type.exits(2).has("NT:Page:k3]] is of type page, expected note");
    let gone = world.run(reader("a"), "notes.text([[NT:Note:k7]])");
    gone.exits(3).has("Anchor [[NT:Note:k7]] not found in current context.").has("it was removed");
    world.run(reader("a"), "notes.text([[NT:Note:k7]]@e1)").exits(3).lacks("it was removed");
    // Of two sessions nobody can say which one is meant.
    world.open(reader("a"), "notes/b");
    let ambiguous = world.run(reader("a"), "notes/main.text([[NT:Note:k7]])");
    ambiguous.exits(2).has("[[NT:Note:k7]] is ambiguous: notes/main and notes/b are open");
}

fn invoked_key(world: &World) -> &str {
    let (_, invoke) = world.invoked.last().expect("an invocation");
    match &invoke.args["note"] {
        pipemux_proto::projection::Arg::Ref(found) => &found.key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn value_that_ends_early_is_no_value() {
    let mut world = World::new();
    world.model("notes/main").add("cut off");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    let read = pipemux_proto::client::Verb::Read { target: format!("obj:{id}") };
    let said = world.ask(reader("a"), read);
    said.exits(1).has(&format!("the value of obj:{id} is not what its app says"));
    said.has("12 bytes are announced, 7 came");
}

#[test]
fn stale_ref_is_told_with_the_round_that_acted_since() {
    let mut world = World::new();
    let answer = notes(&mut world, &["one", "two"]);
    let (id, other) = (answer.id("k1 r1"), answer.id("k2 r1"));
    world.open(reader("b"), "notes");
    world.run(reader("b"), &format!("notes.edit(obj:{other}, 'not this')")).exits(0);
    world.view(reader("a"));
    world.run(reader("b"), &format!("notes.edit(obj:{id}, 'theirs')")).exits(0);
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4)
        .has(&format!("Anchor obj:{id} is stale. Please refresh to get current IDs. Since e"));
    said.has(": round 2 by b at ").has(&format!(", notes.edit(obj:{id}, 'theirs')."));
    // What no call did is laid to nobody.
    world.view(reader("a"));
    world.model("notes/main").change(0, "outside");
    let said = world.run(reader("a"), &format!("notes.edit(obj:{id}, 'mine')"));
    said.exits(4).lacks("round");
}
