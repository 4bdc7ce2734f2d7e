//! Token budgets hold whatever apps send: apps estimate, the daemon cuts.

use crate::world::{World, reader};
use pipemux_core::limits::{ANSWER_BUDGET_MIN, BUDGET_MIN};
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};

use proptest::prelude::*;

/// Returns the number of tokens that an answer says it has.
fn receipt(text: &str) -> u64 {
    let last = text.lines().last().unwrap_or_default();
    let shown = last.split(" · ").last().and_then(|receipt| receipt.split(' ').next());
    shown.and_then(|shown| shown.parse().ok()).unwrap_or_else(|| panic!("no receipt: {text}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn view_stays_within_its_budget(
        budget in BUDGET_MIN..1500,
        titles: bool,
        notes in prop::collection::vec("[a-z 界🦀]{0,60}", 0..60),
        others in prop::collection::vec("[a-z ]{0,400}", 0..12),
    ) {
        let mut world = World::new();
        world.open(reader("a"), "notes");
        world.open(reader("a"), "other");
        for note in &notes {
            world.model("notes/main").add(note);
        }
        for note in &others {
            world.model("other/main").add(note);
        }
        let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
        let said = world.ask_call(&VerbRequest { budget: Some(budget), titles, ..call });
        said.exits(0);
        let allowed = u64::from(budget.max(ANSWER_BUDGET_MIN));
        prop_assert!(receipt(&said.text) <= allowed, "{} of {allowed}:\n{}", receipt(&said.text), said.text);
        prop_assert!(receipt(&said.text) + 1 >= pipemux_tokens::estimate(&said.text));
        // An answer says so when it leaves something out.
        let shown = notes.iter().chain(&others).filter(|note| said.text.contains(note.trim()));
        let whole = shown.count() == notes.len() + others.len();
        prop_assert!(whole || ["to fit", "no room for"].iter().any(|word| said.text.contains(word)), "{}", said.text);
    }
}
