//! Laws that hold whatever clients, apps and the clock do: random histories, checked as they go.

#[path = "../world/mod.rs"]
mod world;

mod history;
mod watch;

use history::{Op, ops};
use pipemux_core::saved::Record;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use watch::Watch;
use world::{Shown, World, asker, text};

fn play(ops: &[Op]) -> Result<Watch, TestCaseError> {
    let mut watch = Watch::new();
    for op in ops {
        watch.play(op)?;
    }
    watch.end()?;
    Ok(watch)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Ids, revs, staleness and answers: see [`Watch`] for each law.
    #[test]
    fn every_history_keeps_the_laws(ops in ops(60)) {
        play(&ops)?;
    }
}

/// The laws are about something: histories come to what they speak of.
#[test]
fn histories_are_rich() {
    let mut runner = TestRunner::deterministic();
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..150 {
        let ops = ops(60).new_tree(&mut runner).expect("a history").current();
        let watch = play(&ops).unwrap_or_else(|error| panic!("{error}"));
        for (what, times) in watch.met {
            *met.entry(what).or_default() += times;
        }
    }
    for (what, _) in watch::SIGNS.iter().chain(&[("ref", "")]) {
        assert!(met.get(what).is_some_and(|times| *times >= 10), "{what} in {met:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_same_events_have_the_same_effects(ops in ops(60)) {
        let (first, second) = (play(&ops)?, play(&ops)?);
        prop_assert_eq!(first.world.effects, second.world.effects);
    }

    /// A daemon may be lost between any two effects: what went out before is never given out again.
    #[test]
    fn numbers_never_go_back(ops in ops(40), cuts in prop::collection::vec(any::<prop::sample::Index>(), 8)) {
        let watch = play(&ops)?;
        let shown = watch.world.shown;
        prop_assume!(!shown.is_empty());
        for cut in cuts {
            check_cut(&shown[..=cut.index(shown.len())])?;
        }
    }
}

fn check_cut(before: &[Shown]) -> Result<(), TestCaseError> {
    let (mut id, mut epoch, mut life) = (0, 0, 0);
    let mut records: Vec<Record> = Vec::new();
    for shown in before {
        match shown {
            Shown::Saved(record) => records.push(record.clone()),
            Shown::Started(app) => life = life.max(app.0),
            Shown::Text(workspace, said) if workspace == "/demo" => {
                id = text::anchors(said).iter().map(|anchor| anchor.id).fold(id, u64::max);
                epoch = epoch.max(text::epoch(said).unwrap_or(0));
            }
            Shown::Text(..) => {}
        }
    }
    let mut world = World::restored(records);
    world.model("other/fresh").add("one");
    let said = world.open(asker("z"), "other/fresh");
    let new = said.id("k1 r1");
    prop_assert!(new > id, "obj:{new} after {id}");
    let new = text::epoch(&said.text).unwrap_or(0);
    prop_assert!(new > epoch, "e{new} after e{epoch}");
    let new = world.process("other/fresh").map_or(0, |app| app.0);
    prop_assert!(new > life, "incarnation {new} after {life}");
    Ok(())
}
