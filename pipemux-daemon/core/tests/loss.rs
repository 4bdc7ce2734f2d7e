//! A part of the saved state was lost: no number is used again, and readers learn of the loss.

#[allow(unused_imports, reason = "it serves several tests")]
#[path = "world/mod.rs"]
mod world;

use pipemux_core::Loss;
use pipemux_core::saved::Record;
use pipemux_proto::client::Verb;
use proptest::prelude::*;
use proptest::sample::Index;
use world::{Output, World, reader, run, text};

const TOLD: &str = "the saved state was damaged";

/// A world in which two windows were viewed and changed in this many rounds.
fn played(rounds: usize) -> World {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    for round in 0..rounds {
        world.model("notes/main").add(&format!("note {round}"));
        world.ask(reader("a"), Verb::View(Default::default())).exits(0);
        world.ask(reader("a"), run("notes.say('x')")).exits(0);
    }
    world
}

/// Returns the highest id, epoch and incarnation that left the core.
fn highest(world: &World) -> (u64, u64, u64) {
    let (mut id, mut epoch, mut incarnation) = (0, 0, 0);
    for shown in &world.shown {
        match shown {
            Output::Text(_, said) => {
                id = text::anchors(said).iter().map(|anchor| anchor.id).fold(id, u64::max);
                epoch = epoch.max(text::epoch(said).unwrap_or(0));
            }
            Output::Started(app) => incarnation = incarnation.max(app.0),
            Output::Saved(_) => {}
        }
    }
    (id, epoch, incarnation)
}

/// Returns the least number of bytes that records take in the log.
fn bytes(records: &[Record]) -> u64 {
    let length =
        |record: &Record| pipemux_proto::encode(record).map_or(0, |body| body.len() as u64);
    records.iter().map(length).sum()
}

/// Starts another daemon with the first records only.
fn restored(records: &[Record], kept: usize, workspaces: bool) -> World {
    let mut world = World::restored(records[..kept].to_vec());
    let loss = Loss {
        told: Some(TOLD.into()),
        bytes: bytes(&records[kept..]),
        workspaces,
        ..Loss::default()
    };
    world.core.lost(loss, world.now);
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn numbers_never_go_back_however_much_is_lost(rounds in 0..16usize, cut in any::<Index>()) {
        let before = played(rounds);
        let (id, epoch, incarnation) = highest(&before);
        let kept = cut.index(before.records.len() + 1);
        let mut world = restored(&before.records, kept, kept == 0);
        for _ in 0..2 {
            let said = world.open(reader("b"), "notes");
            said.exits(0);
            let new = said.id("pick");
            // A link whose record was kept has its old id.
            let known = before.records[..kept].iter().any(|record| {
                matches!(record, Record::Anchors { anchors, .. } if anchors.iter().any(|a| a.id == new))
            });
            prop_assert!(new > id || known, "link:{new} after {id}");
            let new = text::epoch(&said.text).unwrap_or(0);
            prop_assert!(new > epoch, "e{new} after e{epoch}");
            let new = world.process("notes/main").map_or(0, |app| app.0);
            prop_assert!(new > incarnation, "incarnation {new} after {incarnation}");
            // The same holds for a later daemon that lost nothing.
            world = World::restored(world.core.snapshot());
        }
    }
}

#[test]
fn lost_workspace_begins_above_all_numbers_ever_used() {
    let mut world = restored(&[], 0, true);
    let said = world.open(reader("a"), "notes");
    assert!(said.id("pick") > 10_000_000, "{}", said.text);
    let mut later = World::restored(world.core.snapshot());
    let other = world::Reader { workspace: "another", reader: "a" };
    assert!(later.open(other, "notes").id("pick") > 10_000_000);
}

#[test]
fn loss_is_shown_once_to_each_reader_and_in_status() {
    let before = played(1);
    let mut world = restored(&before.records, before.records.len(), false);
    world.ask(reader("a"), Verb::View(Default::default())).has(TOLD);
    world.ask(reader("a"), Verb::View(Default::default())).lacks(TOLD);
    world.ask(reader("a"), Verb::Status).has(TOLD);
    let new = world::Reader { workspace: "new", reader: "a" };
    world.open(new, "notes").has(TOLD);
    world.open(new, "notes").lacks(TOLD);
    let newer = world::Reader { workspace: "newer", reader: "a" };
    world.open(newer, "notes").lacks(TOLD);
}
