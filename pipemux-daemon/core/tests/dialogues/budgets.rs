//! Token budgets hold whatever apps send: apps estimate, the daemon cuts.

use crate::world::{Behaviour, World, open, reader, session_addr};
use pipemux_core::limits::{ANSWER_BUDGET_MIN, BUDGET_MIN};
use pipemux_proto::client::{Format, Verb, VerbRequest, ViewArgs};

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

/// Returns the call that looks at the window of notes as a report, with the smallest budget.
fn small_report(world: &mut World) -> VerbRequest {
    let session = Some(session_addr("notes/main"));
    let verb = Verb::View(ViewArgs { session, ..ViewArgs::default() });
    let call = world.call(reader("a"), verb);
    VerbRequest { budget: Some(ANSWER_BUDGET_MIN), format: Format::Json, ..call }
}

#[test]
fn report_of_a_busy_window_keeps_to_its_budget() {
    let mut world = World::new();
    for note in 0..12 {
        world.model("notes/main").add(&format!("note {note}"));
    }
    world.open(reader("a"), "notes").exits(0).has("k12 r1");
    world.set_behaviour("notes/main", Behaviour::Silent);
    let call = small_report(&mut world);
    let said = world.ask_call(&call);
    said.exits(0).has("busy, as it was before").has("k1 r1").has("more lines").lacks("k12 r1");
}

#[test]
fn window_that_a_run_looked_up_keeps_to_its_budget() {
    let mut world = World::new();
    for note in 0..5 {
        world.model("notes/main").add(&format!("note {note}"));
    }
    let call = world.call(reader("a"), open("notes"));
    world.ask_call(&VerbRequest { budget: Some(ANSWER_BUDGET_MIN), ..call }).exits(0);
    world.open(reader("a"), "notes").exits(0).has("more lines").lacks("k5 r1");
    // The notes to choose from are looked up in the window.
    world.run(reader("a"), "notes.edit(text='x')").exits(5).has("k5 r1");
    world.answer(reader("a"), "none");
    world.open(reader("a"), "notes").exits(0).has("more lines").lacks("k5 r1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn window_that_grows_changes_no_byte_of_another_within_a_budget(
        sizes in prop::collection::vec(0_usize..60, 2..5),
        others in 0_usize..20,
        budget in 200_u32..2_000,
    ) {
        let mut world = World::new();
        for note in 0..others {
            world.model("other/main").add(&format!("other {note}"));
        }
        world.open(reader("a"), "notes");
        world.open(reader("a"), "other");
        let mut shown: Option<String> = None;
        for size in sizes {
            for note in 0..size {
                world.model("notes/main").add(&format!("note {note}"));
            }
            let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
            let call = VerbRequest { budget: Some(budget), format: Format::Json, ..call };
            let said = world.ask_call(&call).text;
            let other = said.split_once("content: \"## other/main");
            let content = other.and_then(|(_, rest)| Some(rest.split_once("\", anchors")?.0));
            let content = content.unwrap_or("left out");
            let before = shown.get_or_insert_with(|| content.to_owned());
            prop_assert_eq!(before.as_str(), content);
        }
    }
}
