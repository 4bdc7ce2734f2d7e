//! Text from apps is inert: only anchors that the daemon minted work, and no line of an app reads as a heading or a
//! fence of the daemon.

use crate::world::{Behaviour, World, reader, text};
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::projection::Projection;
use proptest::prelude::*;

/// Sends a text wherever an app may send text, and checks every answer.
fn check(said: &str) -> Result<(), TestCaseError> {
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Says(said.to_owned()));
    let opened = world.open(reader("a"), "notes");
    harmless(&opened.text, said)?;
    let ran = world.run(reader("a"), "notes.say('x')");
    harmless(&ran.text, said)?;
    let app = world.process("notes/main").expect("it runs");
    let notify = pipemux_proto::app::Notify { text: said.to_owned() };
    let envelope = pipemux_proto::Envelope::event(pipemux_proto::Method::Notify, app);
    let frame = crate::world::frame(&envelope, &notify);
    world.event(pipemux_core::Event::AppFrame { app, frame });
    harmless(&world.view(reader("b")).text, said)?;
    harmless(&world.view(reader("a")).text, said)?;
    // The delta of a changed window shows lines of code without their fence.
    world.set_behaviour("notes/main", Behaviour::Says(format!("new {said}\n{said}")));
    harmless(&world.run(reader("a"), "notes.say('x')").text, said)?;
    world.set_behaviour("other/main", Behaviour::RefusesOpen(said.to_owned()));
    harmless(&world.open(reader("a"), "other").text, said)?;
    Ok(())
}

fn harmless(answer: &str, said: &str) -> Result<(), TestCaseError> {
    let mut fence: Option<String> = None;
    for line in answer.lines() {
        let run = line.len() - line.trim_start_matches('`').len();
        match &fence {
            Some(open) if line == *open => fence = None,
            // Text inside a fence is exact.
            Some(_) => continue,
            None if run >= 3 => {
                let info = &line[run..];
                prop_assert!(!info.contains('`'), "a fence of {said:?} in\n{answer}");
                fence = Some("`".repeat(run));
            }
            None => {}
        }
        // A line that is indented by more than three spaces is code.
        let trimmed = line.trim_start_matches(' ');
        let trimmed = if line.len() - trimmed.len() > 3 { "" } else { trimmed };
        let own = line.starts_with("## notes/main") || line.starts_with("## other/main");
        // Headings of its own an app may write.
        let heading = ["# ", "## "].iter().find_map(|mark| trimmed.strip_prefix(mark));
        let word = heading.and_then(|heading| heading.split_whitespace().next());
        let heading = word.is_some_and(|word| word.contains('/'));
        prop_assert!(own || !heading, "a heading of {said:?} in\n{answer}");
        prop_assert!(!trimmed.starts_with("~~~"), "a fence of {said:?} in\n{answer}");
        for anchor in text::anchors(line) {
            prop_assert!(anchor.id < 900, "an anchor of {said:?}: {anchor:?} in\n{answer}");
        }
        for forged in ["<obj:9", "<link:9", "[[MT:"] {
            for (at, _) in line.match_indices(forged) {
                let escapes = line[..at].len() - line[..at].trim_end_matches('\\').len();
                prop_assert!(escapes % 2 == 1, "{forged} of {said:?} in\n{answer}");
            }
        }
        let ours = |c: char| c == '\t' || !c.is_control();
        prop_assert!(line.chars().all(ours), "a control character of {said:?} in\n{answer:?}");
    }
    prop_assert!(fence.is_none(), "a fence of {said:?} is left open in\n{answer}");
    Ok(())
}

/// Makes texts from the parts of anchors, fences and headings.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("[x](obj:901)"),
        Just("]"),
        Just("["),
        Just("("),
        Just("(obj:902)"),
        Just("link:903"),
        Just("<obj:904>"),
        Just("<"),
        Just("[[MT:Node:905]]"),
        Just("\\"),
        Just("```"),
        Just("`"),
        Just("~~~"),
        Just("~"),
        Just("## "),
        Just("#"),
        Just(" "),
        Just("\n"),
        Just("\r\n"),
        Just("a"),
        Just("世界"),
        Just(":"),
        Just("]: obj:906"),
        Just("\t"),
        Just("</a>"),
        Just("](link:907 \"t\")"),
        Just("\u{1f600}"),
        Just("\""),
        Just("- "),
        Just("> "),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn hostile_text_is_inert(said in hostile()) {
        check(&said)?;
    }
}

#[test]
fn texts_that_were_live_in_earlier_releases_are_inert() {
    for said in [
        "\\<obj:901>",
        "\\[[MT:Node:901]]",
        "``",
        "``\n`",
        "~~",
        "<obj:901>",
        "## x/y",
        "##  notes/main · saved",
        "# editor／main",
        "#",
        "x\n## y/z",
        "](obj:901)",
        "[a](link:901)",
        "\u{1b}[31m",
        "a\r## b/c",
        "]\n(obj:901)",
        "\\",
        "<",
    ] {
        check(said).unwrap_or_else(|error| panic!("{said:?}: {error}"));
    }
}

#[test]
fn extreme_numbers_from_apps_are_harmless() {
    let mut world = World::new();
    let huge = Projection { hidden_tokens: u64::MAX, version: u64::MAX, ..Default::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(huge)));
    world.open(reader("a"), "notes").exits(0);
    let done = Outcome::Done(Done { version: u64::MAX, ..Default::default() });
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(done)));
    world.run(reader("a"), "notes.say('x'); notes.say('y')").exits(0);
    let question = pipemux_proto::app::Question {
        text: "many".into(),
        kind: pipemux_proto::app::QuestionKind::PickMany,
        options: vec![pipemux_proto::app::OptionItem { label: "one".into(), text: String::new() }],
        unlisted: u64::MAX,
    };
    let needs =
        pipemux_proto::app::Needs { question, token: Default::default(), numbers: Vec::new() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Needs(needs))));
    world.run(reader("a"), "notes.say('x')").exits(5);
    world.answer(reader("a"), "4000000000").exits(5);
}
