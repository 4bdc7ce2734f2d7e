//! Token budgets hold whatever apps send: apps estimate, the daemon cuts.

use crate::world::{World, reader};
use pipemux_core::limits::BUDGET_MIN;
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};

use proptest::prelude::*;

/// Counts the tokens of a text without the parts that are always shown: headings, links under them, and the lines that
/// say what was cut.
fn content(text: &str) -> u64 {
    let mut after_heading = false;
    let mut counted = String::new();
    for line in text.lines() {
        let required = line.is_empty()
            || line.starts_with("## ")
            || (after_heading && line.starts_with("[pick]("))
            || line.starts_with("actions: pipemux help")
            || line.starts_with("… ")
            || line.starts_with("cut to fit")
            || line.starts_with("ContextTooLarge · ")
            || line.starts_with("workspace ");
        after_heading = line.starts_with("## ");
        if !required {
            counted += line;
            counted.push('\n');
        }
    }
    pipemux_tokens::estimate(&counted)
}

/// The estimate of a whole text may exceed the sum of its parts' estimates by a token at each seam.
const SEAMS: u64 = 4;

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
        // The share of a window is at least the minimum budget.
        let allowed = u64::from(budget.max(2 * BUDGET_MIN)) + SEAMS;
        prop_assert!(content(&said.text) <= allowed, "{} of {allowed}:\n{}", content(&said.text), said.text);
        // An answer says so when it leaves something out.
        let shown = notes.iter().chain(&others).filter(|note| said.text.contains(note.trim()));
        let whole = shown.count() == notes.len() + others.len();
        prop_assert!(whole || said.text.contains("to fit"), "{}", said.text);
    }
}
