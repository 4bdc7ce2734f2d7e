//! Values that are too long for a message pass as files.

use crate::world::{Behaviour, World, reader};
use pipemux_proto::projection::{Arg, Copied, Lod};

/// Longer than what passes in a message.
const LONG: usize = 700_000;

/// A long note, the call that passes it to another app, and that app.
fn with_long_note(receiver: Behaviour) -> (World, String) {
    let mut world = World::new();
    world.set_behaviour("other/main", receiver);
    world.model("notes/main").add("short");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    // Its window shows only the beginning.
    world.model("notes/main").notes[0].text = "x".repeat(LONG);
    world.open(reader("a"), "other");
    (world, format!("other.say(obj:{id})"))
}

/// The value that the last step was sent.
fn last_copied(world: &World) -> Copied {
    let (_, invoke) = world.invoked.last().expect("it was sent");
    match invoke.args.get("text") {
        Some(Arg::Copied(copied)) => copied.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn long_value_is_written_to_a_file_of_the_session_that_takes_it() {
    let (mut world, say) = with_long_note(Behaviour::TakesValueFiles);
    world.run(reader("a"), &say).exits(0);
    let copied = last_copied(&world);
    let file = copied.file.expect("a file");
    assert!(file.contains("/other/main/values/"), "{file}");
    assert_eq!((copied.from.as_str(), copied.label.as_str()), ("notes/main", "k1 r1"));
    let parts = world.effects.iter().filter(|effect| effect.starts_with("StoreValue")).count();
    assert!(parts > 5, "in {parts} parts");
    assert_eq!(world.removed_values, [file], "once, after the run");
    assert!(world.values.is_empty());
    // Another run gets another file.
    world.run(reader("a"), &say).exits(0);
    assert_ne!(last_copied(&world).file.as_ref(), world.removed_values.first());
}

#[test]
fn app_that_takes_no_files_is_not_asked() {
    let (mut world, say) = with_long_note(Behaviour::Normal);
    let refused = world.run(reader("a"), &say);
    refused.exits(9).has("has 700000 bytes; at most 524288 pass from app to app");
    assert!(world.invoked.is_empty() && world.values.is_empty());
}

#[test]
fn value_that_cannot_be_written_fails_the_step_with_the_reason() {
    let (mut world, say) = with_long_note(Behaviour::TakesValueFiles);
    world.value_refusal = Some("the disk is full".into());
    let failed = world.run(reader("a"), &say);
    failed.exits(6).has("can't be passed as a file: the disk is full").has("pipemux doctor");
    assert!(world.invoked.is_empty());
}

#[test]
fn short_value_needs_no_file() {
    let mut world = World::new();
    world.set_behaviour("other/main", Behaviour::TakesValueFiles);
    world.model("notes/main").add("short");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    world.open(reader("a"), "other");
    world.run(reader("a"), &format!("other.say(obj:{id})")).exits(0).has("say: short");
    assert_eq!(last_copied(&world).file, None);
}

#[test]
fn later_daemon_asks_the_app_whether_it_takes_files() {
    for (receiver, exit) in [(Behaviour::TakesValueFiles, 0), (Behaviour::Normal, 9)] {
        let (mut world, say) = with_long_note(receiver);
        world.lose_daemon();
        world.model("notes/main").notes[0].text = "short".into();
        let seen = world.view_at(reader("a"), "notes/main", Lod::Full).id("k1 r1");
        world.model("notes/main").notes[0].text = "x".repeat(LONG);
        assert_eq!(say, format!("other.say(obj:{seen})"));
        world.run(reader("a"), &say).exits(exit);
        assert_eq!(world.removed_values.len(), usize::from(exit == 0));
    }
}
