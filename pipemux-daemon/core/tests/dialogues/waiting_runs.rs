//! Runs that come while a question of their reader is open: they run behind its answer.

use bytes::Bytes;
use pipemux_proto::client::Verb;

use crate::world::{AnswerText, World, reader};

/// A world with two notes and an open question. Returns the notes' ids.
fn asked() -> (World, u64, u64) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let said = world.open(reader("a"), "notes");
    let ids = (said.id("k1 r1"), said.id("k2 r1"));
    world.run(reader("a"), "notes.pick(); notes.say('own')").exits(5);
    world.invoked.clear();
    (world, ids.0, ids.1)
}

/// Returns the texts that apps were told to say, in order.
fn said(world: &World) -> Vec<String> {
    let texts = world.invoked.iter().filter_map(|(_, invoke)| match invoke.args.get("text") {
        Some(pipemux_proto::projection::Arg::Value(text)) => text.to_value().ok(),
        _ => None,
    });
    texts.map(|text| text.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn run_that_comes_while_a_question_is_open_runs_behind_the_answer() {
    let (mut world, ..) = asked();
    world
        .run(reader("a"), "notes.say('x'); notes.say('y')")
        .exits(5)
        .has("kept: your 2 steps run behind the answer; `none` drops them\n")
        .has("notes.pick: 2 notes; then notes.say");
    world.run(reader("a"), "notes.say('z')").exits(5).has("kept: your step runs behind");
    assert!(world.invoked.is_empty(), "{:?}", world.invoked);
    // Another reader's runs don't wait.
    world.run(reader("b"), "notes.say('other')").exits(0);
    world.answer(reader("a"), "1").exits(0).has("picked [1]").has("5 done · say");
    assert_eq!(said(&world), ["other", "own", "x", "y", "z"]);
    world.answer(reader("a"), "1").exits(3).has("no question is open");
}

#[test]
fn declined_question_drops_what_waits_behind_it_and_says_so() {
    let (mut world, ..) = asked();
    world.run(reader("a"), "notes.say('x')").exits(5);
    world.answer(reader("a"), "none").has("not run: notes.say, notes.say\n");
    assert!(said(&world).is_empty());
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn waiting_run_survives_the_daemon_and_waits_once_however_often_it_is_sent() {
    let (mut world, ..) = asked();
    let call = world.call(reader("a"), crate::world::run("notes.say('x')"));
    let client = world.connect();
    world.send(client, &call);
    world.vanish(client);
    world.lose_daemon();
    let client = world.connect();
    world.send(client, &call);
    world.vanish(client);
    world.answer(reader("a"), "1").has("picked [1]");
    assert_eq!(said(&world), ["own", "x"]);
}

#[test]
fn waiting_steps_mean_what_their_reader_had_seen() {
    let (mut world, one, two) = asked();
    world.run(reader("a"), &format!("notes.edit(obj:{one}, 'late')")).exits(5);
    // Another reader changes that note, and the one who waits sees it only after it wrote its call.
    world.view(reader("b"));
    world.run(reader("b"), &format!("notes.edit(obj:{one}, 'by b')")).exits(0);
    world.view(reader("a"));
    let answered = world.answer(reader("a"), "2");
    answered.has("2 done · say").has("is stale");
    assert!(!said(&world).contains(&"late".to_owned()));
    world.run(reader("a"), &format!("notes.edit(obj:{two}, 'now')")).exits(0);
}

#[test]
fn value_of_a_call_in_a_waiting_step_goes_to_that_step() {
    let (mut world, one, two) = asked();
    let code = format!("notes.say(notes.text(obj:{two})); notes.say(notes.text(obj:{one}))");
    world.run(reader("a"), &code).exits(5);
    world.answer(reader("a"), "1").exits(0).has("say: two").has("say: one");
}

#[test]
fn failed_waiting_step_leaves_the_rest_to_be_corrected() {
    let (mut world, one, _) = asked();
    world.run(reader("a"), &format!("notes.edit(obj:{one}, 'late'); notes.say('rest')")).exits(5);
    world.run(reader("b"), "notes.say('b')");
    world.view(reader("b"));
    world.run(reader("b"), &format!("notes.edit(obj:{one}, 'by b')")).exits(0);
    let failed = world.answer(reader("a"), "2");
    failed.has("3 failed").has("kept as").has("say('rest')");
    world.answer(reader("a"), "notes.say('corrected')").exits(0);
    assert_eq!(said(&world).last().map(String::as_str), Some("rest"));
}

#[test]
fn two_standard_inputs_dont_wait_in_one_run() {
    let (mut world, ..) = asked();
    let with_stdin = |world: &mut World, text: &'static str| -> AnswerText {
        let stdin = Some(Bytes::from_static(text.as_bytes()));
        let code = "notes.say(stdin)".into();
        world.ask(reader("a"), Verb::Run { code, stdin, only_queries: false })
    };
    with_stdin(&mut world, "first").exits(5).has("kept: your step");
    with_stdin(&mut world, "second").exits(9).has("is open: notes.pick");
    world.answer(reader("a"), "1").exits(0);
    assert_eq!(said(&world), ["own", "first"]);
}
