//! Foreign text costs no more for each byte the longer it is, whatever is in it: work is counted,
//! not timed.

use std::time::Instant;

use crate::world::{Behaviour, World, reader, slot};
use pipemux_proto::app::{Done, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::call;
use pipemux_proto::projection::{CodePiece, LinkSlot, Lod, ObjectSlot, Piece, Projection};
use pipemux_proto::{Fault, Value};
use pipemux_tokens::work::Meter;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Texts of which a long repetition has made some function look at the rest again and again, or
/// might.
const PATTERNS: [&str; 34] = [
    "[",
    "[[",
    "[[A",
    "[[MT:Node:",
    "](",
    "](obj:",
    "[x](obj:",
    "[x](obj:1)",
    "[]",
    "`",
    "```\n",
    "` ",
    "#",
    "# ",
    "## a/b\n",
    "\n## ",
    "~",
    ":",
    "<",
    "<obj:",
    "\\",
    "\\[",
    " ",
    "\n",
    "\t",
    "\u{1}",
    "\u{85}",
    "é",
    "界",
    "🦀",
    "a ",
    "pipemux ",
    "'''",
    "f(",
];

/// Where an app's text comes in, and what is done with it.
const PLACES: [&str; 11] = [
    "content",
    "code",
    "numbered",
    "title",
    "label",
    "link code",
    "brief",
    "detail",
    "fault",
    "question",
    "value",
];

/// Has an app send a text in one place, and an agent meet it. Returns nothing: what counts is the
/// work.
fn meet(place: &str, said: &str) {
    let mut world = World::new();
    let text = said.to_owned();
    let shown = |content: Vec<Piece>| Projection { version: 1, content, ..Projection::default() };
    let code = |first| CodePiece { text: text.clone(), first, ..CodePiece::default() };
    let done = |done: Done| Outcome::Done(Done { version: 1, ..done });
    let object = ObjectSlot { key: "k".into(), label: text.clone(), ..ObjectSlot::default() };
    let link =
        LinkSlot { code: Some(format!("say({text}")), titled: true, ..slot(&text, "say", []) };
    let question = Question {
        text: text.clone(),
        kind: QuestionKind::Text,
        options: Vec::new(),
        unlisted: 0,
        ..Question::default()
    };
    let needs = Needs { question, token: Value::Null.to_blob(), numbers: Vec::new() };
    let window = match place {
        "content" => Some(shown(vec![Piece::Text(text)])),
        "code" => Some(shown(vec![Piece::Code(code(None))])),
        "numbered" => Some(shown(vec![Piece::Code(code(Some(1)))])),
        "title" => Some(Projection { title: text, ..shown(Vec::new()) }),
        "label" => Some(shown(vec![Piece::Object(object)])),
        "link code" => Some(shown(vec![Piece::Link(link)])),
        _ => None,
    };
    let outcome = match place {
        "brief" => done(Done { brief: said.into(), ..Done::default() }),
        "detail" => done(Done { detail: Some(said.into()), ..Done::default() }),
        "value" => done(Done { value: Some(Value::from(said).to_blob()), ..Done::default() }),
        "fault" => Outcome::Failed(Fault::failed(said).hint(said)),
        _ => Outcome::Needs(needs),
    };
    match window {
        Some(window) => {
            world.set_behaviour("notes/main", Behaviour::Shows(Box::new(window)));
            world.open(reader("a"), "notes").exits(0);
            world.view_at(reader("a"), "notes/main", Lod::Full).exits(0);
        }
        None => {
            world.open(reader("a"), "notes");
            world.set_behaviour("notes/main", Behaviour::Ends(Box::new(outcome)));
            world.run(reader("a"), "notes.pick()");
        }
    }
}

fn repeated(pattern: &str, bytes: usize) -> String {
    pattern.repeat(bytes / pattern.len())
}

fn units(place: &str, pattern: &str, bytes: usize) -> u64 {
    let said = repeated(pattern, bytes);
    let meter = Meter::start();
    meet(place, &said);
    meter.units()
}

#[test]
fn work_for_each_byte_does_not_grow_with_the_text() {
    let (short, long) = (8 * 1024, 64 * 1024);
    for place in PLACES {
        let constant = units(place, "a", 8);
        for pattern in PATTERNS {
            let few = units(place, pattern, short).saturating_sub(constant) as f64 / short as f64;
            let many = units(place, pattern, long).saturating_sub(constant) as f64 / long as f64;
            assert!(
                many <= few * 1.3 + 16.0 && many <= UNITS_A_BYTE as f64,
                "{pattern:?} in {place}: {few:.1} units a byte, then {many:.1}"
            );
        }
    }
}

#[test]
fn code_and_refs_cost_no_more_for_each_byte_of_a_long_text() {
    type Reads = fn(&str);
    let readers: [(&str, Reads); 4] = [
        ("call::parse", |text| drop(call::parse(text, None))),
        ("call::parse of arguments", |text| drop(call::parse(&format!("f({text}"), None))),
        ("call::markdown_link", |text| {
            text.match_indices('[').for_each(|(at, _)| {
                let _ = call::markdown_link(&text[at..]);
            });
        }),
        ("call::blocks", |text| drop(call::blocks::blocks(text))),
    ];
    for (name, read) in readers {
        for pattern in PATTERNS.into_iter().chain(["[a](x", "[a](obj:", "x,", "'a',"]) {
            let units = |bytes: usize| {
                let text = repeated(pattern, bytes);
                let meter = Meter::start();
                read(&text);
                meter.units() as f64 / bytes as f64
            };
            let (few, many) = (units(16 * 1024), units(128 * 1024));
            assert!(many <= few * 1.3 + 4.0, "{pattern:?} in {name}: {few:.1}, then {many:.1}");
        }
    }
}

proptest! {
    // The same cases each time: `cases` of a few thousand, and another seed, search for more.
    #![proptest_config(ProptestConfig {
        cases: 48,
        rng_seed: RngSeed::Fixed(77),
        failure_persistence: None,
        ..Default::default()
    })]

    /// Searches for mixtures that make something look at the same text again and again.
    #[test]
    fn work_for_each_byte_of_a_mixed_text_is_bounded(
        parts in proptest::collection::vec((0..PATTERNS.len(), 1_usize..600), 1..6),
        rounds in 1_usize..4,
        place in 0..PLACES.len(),
    ) {
        let place = PLACES[place];
        let mixed: String =
            parts.iter().map(|(pattern, times)| PATTERNS[*pattern].repeat(*times)).collect();
        let said = mixed.repeat(rounds);
        let meter = Meter::start();
        meet(place, &said);
        let units = meter.units().saturating_sub(units(place, "a", 8));
        prop_assert!(
            units <= UNITS_A_BYTE * (said.len() as u64 + 64),
            "{units} units for {} bytes in {place}: {parts:?}",
            said.len()
        );
    }
}

/// The most work that a byte of foreign text may make, whatever is around it.
const UNITS_A_BYTE: u64 = 160;

/// Prints what each way of foreign text costs: run it with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "it prints times, and asserts nothing"]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn table_of_times_for_each_byte() {
    println!("| place | worst text | ns a byte, 64 KiB | ns a byte, 640 KiB | growth |");
    println!("|---|---|---|---|---|");
    for place in PLACES {
        let time = |pattern: &str, bytes: usize| {
            let said = repeated(pattern, bytes);
            let began = Instant::now();
            meet(place, &said);
            began.elapsed().as_nanos() as f64 / bytes as f64
        };
        let rows = PATTERNS.map(|p| (time(p, 64 * 1024), time(p, 640 * 1024), p));
        let worst = rows.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((few, many, pattern)) = worst {
            println!("| {place} | {pattern:?} | {few:.1} | {many:.1} | {:.2} |", many / few);
        }
    }
}
