//! The options of a workspace: strict epochs and rebasing.

use crate::world::{AnswerText, Behaviour, Reader, World, reader};
use pipemux_proto::client::Verb;
use proptest::prelude::*;

fn set(world: &mut World, who: Reader, option: &str, value: &str) -> AnswerText {
    world.ask(who, Verb::Set { option: Some(option.into()), value: Some(value.into()) })
}

#[test]
fn strict_option_makes_older_epochs_stale_for_links_and_names() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let shown = world.open(reader("a"), "notes");
    let (one, link) = (shown.id("k1 r1"), shown.id("edit k1 r1"));
    set(&mut world, reader("a"), "epoch", "strict").exits(0);
    world.run(reader("a"), &format!("notes.text(obj:{one})")).exits(0);
    // Another thing changes, and another reader sees it: the first thing is unchanged, but its
    // epoch is older.
    world.model("notes/main").change(1, "changed");
    world.view(reader("b"));
    let before = world.invoked.len();
    let said = world.run(reader("a"), &format!("notes.edit(obj:{one}, 'x')"));
    said.exits(4).has(&format!("Anchor obj:{one} is stale. Please refresh to get current IDs."));
    world.model("notes/main").change(1, "again");
    world.view(reader("b"));
    world.click(reader("a"), &format!("link:{link}")).exits(4).has("is stale");
    assert_eq!(world.invoked.len(), before, "nothing reached the app");
    set(&mut world, reader("a"), "epoch", "meaning").exits(0);
    world.click(reader("a"), &format!("link:{link}")).exits(0);
}

#[test]
fn rebase_applies_to_safe_actions_and_is_reported() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    set(&mut world, reader("a"), "rebase", "on").exits(0);
    world.model("notes/main").change(0, "new");
    let edit = format!("notes.edit(obj:{id}, 'mine')");
    let text = format!("notes.text(obj:{id})");
    world.run(reader("a"), &text).exits(0).has("1 done · text").has("changed");
    assert_eq!(world.invoked.last().map(|(_, invoke)| invoke.action.as_str()), Some("text"));
    world.model("notes/main").change(0, "newer");
    world.run(reader("a"), &edit).exits(4).has("is stale");
    assert_eq!(world.model("notes/main").notes[0].text, "newer");
    // A removed thing can't be rebased.
    world.model("notes/main").remove(0);
    world.run(reader("a"), &text).exits(3).has("not found in current context.");
}

#[test]
fn rebased_step_does_not_rebase_later_steps() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    set(&mut world, reader("a"), "rebase", "on").exits(0);
    world.model("notes/main").change(0, "new");
    let both = format!("notes.text(obj:{id}); notes.edit(obj:{id}, 'mine')");
    world.run(reader("a"), &both).has("1 done · text").has(&format!("Anchor obj:{id} is stale."));
    assert_eq!(world.model("notes/main").notes[0].text, "new");
}

#[test]
fn unknown_step_is_not_rebased() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    set(&mut world, reader("a"), "rebase", "on").exits(0);
    world.set_behaviour("notes/main", Behaviour::Garbage);
    let text = format!("notes.text(obj:{id})");
    world.run(reader("a"), &text).exits(7).has("pipemux answer go");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.model("notes/main").change(0, "by itself, for all one knows");
    let sent = world.invoked.len();
    world.answer(reader("a"), "go").exits(7).lacks("it was done to what is there now");
    assert_eq!(world.invoked.len(), sent + 1, "sent once more, and no second time");
}

#[test]
fn options_belong_to_a_workspace_and_survive_daemon_loss() {
    let mut world = World::new();
    set(&mut world, reader("a"), "epoch", "strict").exits(0);
    set(&mut world, reader("b"), "rebase", "on").exits(0).has("epoch strict");
    set(&mut world, reader("a"), "epoch", "x").exits(2).has("epoch strict|meaning");
    world.lose_daemon();
    let all = |world: &mut World, who| world.ask(who, Verb::Set { option: None, value: None });
    all(&mut world, reader("c")).has("epoch strict").has("rebase on");
    let elsewhere = Reader { workspace: "elsewhere", reader: "a" };
    all(&mut world, elsewhere).has("epoch meaning").has("rebase off");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    /// With strict epochs, a pinned ref is valid if its epoch is the newest one and showed the
    /// thing. By meaning, it is valid as long as the thing means the same. A ref to a future epoch
    /// is never valid.
    #[test]
    fn pinned_refs_follow_the_epoch_option(
        changes in prop::collection::vec((0..3_usize, any::<bool>()), 0..6),
        strict in any::<bool>(),
        back in 0..4_u64,
        ahead in 0..2_u64,
    ) {
        let mut world = World::new();
        for text in ["one", "two", "three"] {
            world.model("notes/main").add(text);
        }
        let mut id = world.open(reader("a"), "notes").id("k1 r1");
        if strict {
            set(&mut world, reader("a"), "epoch", "strict");
        }
        // The meaning of the first note in each epoch.
        let newest = |text: &str| crate::world::text::epoch(text).expect("an epoch");
        let first = world.view(reader("a"));
        let mut meant = vec![(newest(&first.text), 1_u64)];
        for (index, looks) in changes {
            world.model("notes/main").change(index, "changed");
            if looks {
                let view = world.view(reader("a"));
                let rev = world.model("notes/main").notes[0].rev;
                id = view.id(&format!("k1 r{rev}"));
                meant.push((newest(&view.text), rev));
            }
        }
        let view = world.view(reader("a"));
        let (now, rev) = (newest(&view.text), world.model("notes/main").notes[0].rev);
        meant.push((now, rev));
        let pin = (now + ahead).saturating_sub(back).max(meant[0].0);
        let then = meant.iter().rev().find(|(epoch, _)| *epoch <= pin).map(|(_, rev)| *rev);
        let said = world.run(reader("a"), &format!("notes.text(obj:{id}@e{pin})"));
        let wanted = match () {
            () if pin > now => 3,
            () if strict && pin < now => 4,
            () if then != Some(rev) => 4,
            () => 0,
        };
        prop_assert_eq!(said.exit, wanted, "e{} of e{}: {}", pin, now, said.text);
    }
}
