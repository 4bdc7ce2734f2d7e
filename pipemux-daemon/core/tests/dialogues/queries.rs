//! Queries: they change nothing, and their results are whole answers.

use crate::world::{AnswerText, Behaviour, World, reader, run};
use pipemux_core::limits::ANSWER_BUDGET_MIN;
use pipemux_core::saved::Record;
use pipemux_proto::client::{HistoryArgs, Verb, VerbRequest};
use proptest::prelude::*;

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes").exits(0);
    world
}

fn ask(world: &mut World, code: &str) -> AnswerText {
    let verb = Verb::Run { code: code.into(), stdin: None, only_queries: true };
    world.ask(reader("a"), verb)
}

fn with_budget(world: &mut World, code: &str, budget: u32) -> AnswerText {
    let call = world.call(reader("a"), run(code));
    world.ask_call(&VerbRequest { budget: Some(budget), ..call })
}

#[test]
fn result_is_the_whole_answer() {
    let mut world = notes();
    let said = world.ask(reader("a"), run("notes.list()"));
    said.exits(0);
    let (result, last) = said.text.rsplit_once("```\n").expect("a fence");
    assert_eq!(result, "list: 3 lines\n```\n1\tline 1\n2\tline 2\n3\tline 3\n");
    assert!(last.starts_with("e1 · "), "no window follows: {last}");
}

#[test]
fn every_query_of_a_run_shows_its_result_in_order() {
    let mut world = notes();
    let said = world.ask(reader("a"), run("notes.list(1); notes.say('x'); notes.list(2)"));
    let lines: Vec<&str> = said.text.lines().take(10).collect();
    let wanted = [
        "1 list: 1 lines",
        "```",
        "1\tline 1",
        "```",
        "2 done · say: x · [undo](link:4)",
        "3 list: 2 lines",
        "```",
        "1\tline 1",
        "2\tline 2",
        "```",
    ];
    assert_eq!(lines, wanted, "{}", said.text);
}

#[test]
fn query_of_the_same_name_is_chosen_by_its_arguments() {
    let mut world = notes();
    world
        .ask(reader("a"), run("notes.list(obj:2)"))
        .exits(0)
        .has("1 note")
        .has("[k1 r1](obj:note:2)");
    world.ask(reader("a"), run("notes.list(lines=1)")).exits(0).has("1 lines");
    world.ask(reader("a"), run("notes.list(note=obj:2)")).exits(0).has("1 note");
    // The error is that of the first one.
    world.ask(reader("a"), run("notes.list(1, 2)")).exits(2).has("list(lines = 3)");
}

#[test]
fn failed_query_leaves_the_other_queries_their_answers() {
    let mut world = notes();
    let said = ask(&mut world, "notes.list(-1); notes.list(1); notes.list(obj:99); notes.list(2)");
    // The worst of both: no such note, rather than a failure.
    said.exits(3).has("1 failed · list: fewer than no lines\n").has("2 list: 1 lines\n");
    said.has("3 failed · list: Anchor obj:99 not found").has("4 list: 2 lines\n");
    said.lacks("kept as").lacks("not run");
    // The other steps of a run, once nothing but queries is left.
    let said = world.ask(reader("a"), run("notes.say('x'); notes.list(-1); notes.list(1)"));
    said.exits(1).has("1 done · say: x").has("2 failed · list").has("3 list: 1 lines");
    said.lacks("kept as");
}

#[test]
fn failed_query_stops_an_act_behind_it() {
    let mut world = notes();
    let said = world.ask(reader("a"), run("notes.list(-1); notes.list(1); notes.say('x')"));
    said.exits(1).has("1 failed · list").lacks("1 lines");
    said.has("kept as").has("notes.list(1); notes.say('x')");
    world.answer(reader("a"), "notes.list(2)").exits(0).has("2 lines").has("3 done · say: x");
}

#[test]
fn failed_call_inside_a_query_leaves_the_others_their_answers() {
    let mut world = notes();
    let said = ask(&mut world, "notes.list(note=notes.list(-1)); notes.list(1)");
    said.has("list").has("2 list: 1 lines").lacks("list: not run");
}

#[test]
fn undo_is_offered_once_an_answer() {
    let mut world = notes();
    world.model("notes/main").names_changes = true;
    let said = world.ask(reader("a"), run("notes.say('x'); notes.say('y'); notes.list(1)"));
    said.exits(0).has("1 done · say: x\n").has("2 done · say: y · [undo](link:");
}

#[test]
fn ask_refuses_what_is_no_query() {
    let mut world = notes();
    ask(&mut world, "notes.list()").exits(0).has("3 lines");
    let before = world.invoked.len();
    ask(&mut world, "notes.list(); notes.say('x')")
        .exits(9)
        .has("say is no query")
        .has("nothing ran");
    ask(&mut world, "notes.say(notes.list())").exits(9);
    ask(&mut world, "link:3").exits(9).has("pipemux click link:3");
    assert_eq!(world.invoked.len(), before);
}

#[test]
fn queries_pass_while_a_question_is_open() {
    let mut world = notes();
    world.ask(reader("a"), run("notes.pick()")).exits(5);
    world.ask(reader("a"), run("notes.list(1)")).exits(0).has("line 1");
    world.answer(reader("a"), "1").exits(0).has("picked [1]");
}

#[test]
fn queries_are_no_rounds_of_history() {
    let mut world = notes();
    world.ask(reader("a"), run("notes.list()")).exits(0);
    world.ask(reader("a"), Verb::History(HistoryArgs::default())).exits(0).has("0 rounds");
}

#[test]
fn thing_in_a_result_can_be_acted_on() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("b"), "notes").exits(0);
    // This reader has seen nothing but the result.
    world.ask(reader("a"), run("notes.edit(obj:2, 'new')")).exits(4);
    world.ask(reader("c"), run("notes.list(0)")).exits(0).has("[k1 r1](obj:note:2)");
    let said = world.ask(reader("c"), run("notes.edit(obj:2, 'new')"));
    said.exits(0);
    assert!(
        !said.text.contains("## notes/main"),
        "the window isn't shown after an act: {}",
        said.text
    );
}

#[test]
fn answer_tells_of_each_step_once() {
    let mut world = notes();
    world
        .ask(reader("a"), run("notes.list(1); notes.say('x'); notes.pick()"))
        .exits(5)
        .has("2 done · say: x");
    let said = world.answer(reader("a"), "1");
    said.exits(0).has("3 done · pick: picked [1]");
    assert!(!said.text.contains("say: x") && !said.text.contains("line 1"), "{}", said.text);
}

#[test]
fn nested_query_gives_its_value_and_shows_nothing() {
    let mut world = notes();
    let said = world.ask(reader("a"), run("notes.say(notes.list(1))"));
    said.exits(0).has("done · say: 1\tline 1");
    assert!(!said.text.contains("```"), "{}", said.text);
}

/// The records of requests that a run adds, by name.
fn recorded(world: &mut World, code: &str) -> Vec<&'static str> {
    let before = world.records.len();
    let _ = world.run(reader("a"), code);
    let name = |record: &Record| match record {
        Record::Begun { .. } => Some("begun"),
        Record::Answered { .. } => Some("answered"),
        Record::Round { .. } => Some("round"),
        _ => None,
    };
    world.records[before..].iter().filter_map(name).collect()
}

#[test]
fn queries_alone_write_nothing_to_disk() {
    let mut world = notes();
    let before = world.records.len();
    world.run(reader("a"), "notes.list(1); notes.list(2)").exits(0);
    ask(&mut world, "notes.list(1)").exits(0);
    assert_eq!(world.records.len(), before, "{:?}", &world.records[before..]);
    // A run that acts is recorded, whatever its first step is, and one that was refused as well.
    let acted = recorded(&mut world, "notes.list(1); notes.say('x')");
    assert_eq!(acted, ["begun", "round", "answered"]);
    assert_eq!(recorded(&mut world, "notes.nonsense()"), ["begun", "answered"]);
}

#[test]
fn queries_are_carried_out_again_after_daemon_loss_and_actions_are_not() {
    let mut world = notes();
    for (code, sent_again) in [("notes.list(1)", 1), ("notes.list(1); notes.say('x')", 0)] {
        let call = world.call(reader("a"), run(code));
        world.ask_call(&call).exits(0);
        world.lose_daemon();
        let before = world.invoked.len();
        world.ask_call(&call).exits(0);
        assert_eq!(world.invoked.len() - before, sent_again, "{code}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn run_stays_within_its_budget(budget in 50_u32..600, lines in 1_u32..200, more in 1_u32..200) {
        let mut world = notes();
        let code = format!("notes.list({lines}); notes.say('x'); notes.list({more})");
        let said = with_budget(&mut world, &code, budget);
        said.exits(0).has("2 done · say: x");
        let shown = pipemux_tokens::estimate(&said.text);
        prop_assert!(shown <= u64::from(budget.max(ANSWER_BUDGET_MIN)), "{shown} of {budget}: {}", said.text);
        let whole = said.text.contains(&format!("line {lines}\n"));
        prop_assert!(whole || said.text.contains("more lines"), "{}", said.text);
    }
}

#[test]
fn thing_that_a_query_shows_after_daemon_loss_is_not_stale() {
    let mut world = notes();
    world.lose_daemon();
    let found = world.run(reader("a"), "notes.list(0)");
    let id = found.exits(0).id("k1 r1");
    world.run(reader("a"), &format!("notes.text(obj:{id})")).exits(0);
}

#[test]
fn thing_that_was_cut_from_a_result_was_not_shown() {
    let mut world = notes();
    for note in 0..11 {
        world.model("notes/main").add(&format!("note {note}"));
    }
    let last = world.view(reader("a")).id("k12 r1");
    world.model("notes/main").change(11, "last");
    let said = with_budget(&mut world, "notes.list(0)", ANSWER_BUDGET_MIN);
    said.exits(0).lacks("k12 r2").has("more lines");
    world.run(reader("a"), &format!("notes.text(obj:{last})")).exits(4).has("is stale");
}

#[test]
fn window_that_shows_less_than_a_query_is_not_shown_as_it_was() {
    let mut world = notes();
    world.model("notes/main").change(0, "new text");
    ask(&mut world, "notes.list(0)").exits(0).has("k1 r2");
    world.set_behaviour("notes/main", Behaviour::Silent);
    // The same id would stand for two states of its thing in one epoch.
    let said = world.view(reader("a"));
    said.has("notes/main did not answer in time").lacks("k1 r1");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(60_000);
    world.view(reader("a")).exits(0).has("k1 r2");
}
