//! A budget is kept, whatever apps send: they estimate, the daemon bounds.

use crate::world::{World, asker};
use pipemux_core::limits::BUDGET_MIN;
use pipemux_proto::client::{Verb, VerbRequest, ViewArgs};
use proptest::prelude::*;

/// Tokens of what isn't required: headings, links under them, and the lines that say what was cut.
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
            || line.starts_with("less detail, to fit")
            || line.starts_with("workspace ");
        after_heading = line.starts_with("## ");
        if !required {
            counted += line;
            counted.push('\n');
        }
    }
    pipemux_tokens::estimate(&counted)
}

/// An estimate of parts may differ from that of the whole by a token at each seam.
const SEAMS: u64 = 4;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_view_keeps_its_budget(
        budget in BUDGET_MIN..1500,
        titles: bool,
        notes in prop::collection::vec("[a-z 界🦀]{0,60}", 0..60),
        others in prop::collection::vec("[a-z ]{0,400}", 0..12),
    ) {
        let mut world = World::new();
        world.open(asker("a"), "notes");
        world.open(asker("a"), "other");
        for note in &notes {
            world.model("notes/main").add(note);
        }
        for note in &others {
            world.model("other/main").add(note);
        }
        let call = world.call(asker("a"), Verb::View(ViewArgs::default()));
        let said = world.ask_call(&VerbRequest { budget: Some(budget), titles, ..call });
        said.exits(0);
        // A share is never less than the least budget.
        let allowed = u64::from(budget.max(2 * BUDGET_MIN)) + SEAMS;
        prop_assert!(content(&said.text) <= allowed, "{} of {allowed}:\n{}", content(&said.text), said.text);
        // What is left out is told.
        let shown = notes.iter().chain(&others).filter(|note| said.text.contains(note.trim()));
        let whole = shown.count() == notes.len() + others.len();
        prop_assert!(whole || said.text.contains("to fit"), "{}", said.text);
    }
}
