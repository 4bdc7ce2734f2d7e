//! Questions, their answers, and the steps that wait for them.

use crate::world::{AnswerText, Behaviour, World, reader, run, session_addr};
use pipemux_core::limits::QUESTION_MS;
use pipemux_proto::client::{Format, VerbRequest};

fn asked(world: &mut World, code: &str) -> AnswerText {
    for text in ["one", "two", "three"] {
        world.model("notes/main").add(text);
    }
    world.open(reader("a"), "notes");
    let said = world.run(reader("a"), code);
    said.exits(5);
    said
}

#[test]
fn question_lists_its_options_and_the_ways_to_answer() {
    let mut world = World::new();
    let said = asked(&mut world, "notes.pick(); notes.say('after')");
    said.has("needs an answer · notes.pick: 3 notes; then notes.say\n")
        .has("](link:")
        .has(": one\n")
        .has("pipemux answer 1,3 · [all](link:")
        .has(" · all but 2 · none\n");
    assert_eq!(world.invoked.len(), 1, "later steps wait");
    world
        .answer(reader("a"), "1,3")
        .exits(0)
        .has("1 done · pick: picked [1, 3]")
        .has("2 done · say: after");
    let resumed = &world.invoked[1].1;
    assert_eq!(resumed.run_id, world.invoked[0].1.run_id, "one run");
    world.answer(reader("a"), "1").exits(3).has("no question is open");
}

#[test]
fn all_but_picks_the_complement() {
    let mut world = World::new();
    asked(&mut world, "notes.pick()");
    world.answer(reader("a"), "all but 2").exits(0).has("all but [2]");
}

#[test]
fn none_cancels_the_step_and_skips_later_steps() {
    let mut world = World::new();
    asked(&mut world, "notes.pick(); notes.say('after')");
    world.answer(reader("a"), "none").exits(0).has("cancelled").has("not run: notes.say");
    assert_eq!(world.invoked.len(), 1);
}

#[test]
fn option_link_answers_for_its_own_reader_once() {
    let mut world = World::new();
    let said = asked(&mut world, "notes.pick()");
    let link = said.id("k2");
    world.click(reader("b"), &format!("link:{link}")).exits(4).has("is stale");
    world.click(reader("b"), &format!("link:{link}@e2")).exits(9).has("was asked of a");
    world.click(reader("a"), &format!("link:{link}")).exits(0).has("picked [2]");
    world.click(reader("a"), &format!("link:{link}")).exits(3);
}

#[test]
fn option_link_answers_while_the_window_is_busy() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let client = world.connect();
    world.set_behaviour("notes/main", Behaviour::Holds);
    let call = world.call(reader("a"), run("notes.pick()"));
    let request = world.send(client, &call);
    // The question arrives, but the window that was requested after it doesn't.
    let app = world.process("notes/main").expect("it runs");
    let question = world.apps.get_mut(&app).expect("it runs").held.remove(0);
    world.event(pipemux_core::Event::AppFrame { app, frame: question });
    world.pass(2_000);
    let said = world.answer_to(client, request).expect("the question");
    world.confirm(client, said.delivery);
    world.release("notes/main");
    let link = said.exits(5).id("k1");
    world.click(reader("a"), &format!("link:{link}")).exits(0).has("picked [1]");
}

#[test]
fn invalid_answer_is_refused_and_the_question_stays_open() {
    let mut world = World::new();
    asked(&mut world, "notes.pick()");
    for wrong in ["7", "0", "maybe", "1,9", "all but 9", "go", "yes"] {
        world.answer(reader("a"), wrong).exits(2).has("is no answer to notes.pick").has("1,3");
    }
    world.view(reader("a")).exits(0);
    world.run(reader("b"), "notes.say('x')").exits(0);
    world.answer(reader("a"), "all").exits(0).has("all but []");
}

#[test]
fn confirmation_binds_what_the_question_showed() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    let code = format!("notes.remove(obj:{id}); notes.say('after')");
    world
        .run(reader("a"), &code)
        .exits(5)
        .has("needs an answer · notes.remove: 1 note")
        .has("- k1");
    assert!(world.invoked.iter().all(|(_, invoke)| !invoke.confirmed));
    // The thing changed meanwhile, so the confirmation no longer applies.
    world.model("notes/main").change(0, "changed");
    world.answer(reader("a"), "yes").exits(4).has("is stale").has(": notes.say('after') · ");
    world.run(reader("a"), &code).exits(5);
    world.answer(reader("a"), "yes").exits(0).has("remove: removed").has("2 done · say: after");
    assert!(world.model("notes/main").notes.is_empty());
}

#[test]
fn text_question_takes_any_text() {
    let mut world = World::new();
    asked(&mut world, "notes.name()");
    world.answer(reader("a"), "Grüße, 世界").exits(0).has("named Grüße, 世界");
}

#[test]
fn closing_the_window_closes_its_question() {
    let mut world = World::new();
    asked(&mut world, "notes.pick()");
    let session = session_addr("notes/main");
    world.ask(reader("a"), pipemux_proto::client::Verb::Close { session, end: false }).exits(0);
    world.answer(reader("a"), "1").exits(3);
    world.open(reader("a"), "notes");
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn answer_must_name_one_of_two_open_questions() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.set_behaviour("notes/main", Behaviour::Holds);
    let clients = [world.connect(), world.connect()];
    for client in clients {
        let call = world.call(reader("a"), run("notes.pick()"));
        world.send(client, &call);
    }
    world.release("notes/main");
    world.answer(reader("a"), "1").exits(2).has("2 questions are open").has("pipemux answer --to ");
    // Each of them is in the data, too.
    let view = pipemux_proto::client::Verb::View(Default::default());
    let call = world.call(reader("a"), view);
    let said = world.ask_call(&VerbRequest { format: Format::Json, ..call });
    let (_, questions) = said.text.split_once("questions: [").expect("questions");
    assert_eq!(questions.matches("QuestionReport {").count(), 2, "{}", said.text);
}

#[test]
fn answer_after_a_restart_claims_no_seen_version() {
    let mut world = World::new();
    asked(&mut world, "notes.pick()");
    assert!(world.invoked[0].1.seen_version.is_some());
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    world.answer(reader("a"), "1").exits(0);
    assert_eq!(world.invoked[1].1.seen_version, None);
}

#[test]
fn apps_of_older_protocols_are_always_sent_a_seen_version() {
    for (minor, expected) in [(5, Some(0)), (6, None)] {
        let mut world = World::new();
        world.set_behaviour("notes/main", Behaviour::SpeaksMinor(minor));
        asked(&mut world, "notes.pick()");
        let app = world.process("notes/main").expect("it runs");
        world.kill(app, pipemux_core::Exit::Signal(9), &[]);
        world.answer(reader("a"), "1").exits(0);
        assert_eq!(world.invoked[1].1.seen_version, expected, "1.{minor}");
    }
}

#[test]
fn unanswered_question_expires_with_one_notice() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let link = world.run(reader("a"), "notes.pick(); notes.say('after')").exits(5).id("k1");
    world.pass(QUESTION_MS - 1_000);
    world.run(reader("a"), "notes.say('x')").exits(5).has("runs behind the answer");
    world.pass(1_000);
    let told = world.view(reader("a"));
    told.has("has expired: notes.pick");
    world.view(reader("a")).lacks("has expired");
    world.answer(reader("a"), "1").exits(3).has("no question is open");
    let late = world.click(reader("a"), &format!("link:{link}"));
    assert!(matches!(late.exit, 3 | 4), "{late:?}");
    assert_eq!(world.invoked.len(), 1, "the later step never ran");
    world.run(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn expired_question_stays_expired_after_daemon_loss() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.run(reader("a"), "notes.pick()").exits(5);
    world.pass(QUESTION_MS);
    world.lose_daemon();
    world.answer(reader("a"), "1").exits(3).has("no question is open");
    world.run(reader("a"), "notes.pick()").exits(5);
    world.lose_daemon();
    // A question that was restored expires too, counted from the start of the next daemon.
    world.view(reader("a"));
    world.pass(QUESTION_MS);
    world.answer(reader("a"), "1").exits(3).has("no question is open");
}

#[test]
fn destructive_action_of_an_app_that_previews_nothing_is_confirmed_before_it_is_sent() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let seen = world.open(reader("a"), "notes");
    let (one, two) = (seen.id("k1 r1"), seen.id("k2 r1"));
    let asked = world.run(reader("a"), &format!("notes.wipe(obj:{one}); notes.say('x')"));
    asked
        .exits(5)
        .has("notes.wipe: cannot be undone; notes doesn't show beforehand what it affects");
    asked.has("then notes.say").has("pipemux answer [yes](link:");
    assert!(world.invoked.is_empty(), "nothing reached the app");
    world.answer(reader("a"), "yes").exits(0).has("1 done").has("2 done");
    let (_, wiped) = &world.invoked[0];
    assert!(wiped.confirmed && wiped.resume.is_none(), "{wiped:?}");
    assert_eq!(world.invoked.len(), 2, "asked once, sent once");
    world.run(reader("a"), &format!("notes.wipe(obj:{two})")).exits(5);
    world.answer(reader("a"), "no");
    assert_eq!(world.invoked.len(), 2);
    // It is asked for by a later daemon, too.
    world.run(reader("a"), &format!("notes.wipe(obj:{two})")).exits(5);
    world.records = world.core.snapshot();
    world.lose_daemon();
    world.answer(reader("a"), "yes").exits(0);
    assert!(world.invoked[2].1.confirmed && world.invoked[2].1.resume.is_none());
}

#[test]
fn options_that_the_budget_does_not_hold_are_shown_by_answer_and_can_be_chosen() {
    let mut world = World::new();
    for number in 0..15 {
        world
            .model("notes/main")
            .add(&format!("a note with a text of some words, number {number}"));
    }
    world.open(reader("a"), "notes");
    let mut call = world.call(reader("a"), run("notes.pick()"));
    call.budget = Some(120);
    let said = world.ask_call(&call);
    said.exits(5).has("1. [").lacks("number 14").has(" more options: pipemux answer\n");
    said.has("pipemux answer 1,3");
    let all = world.answer(reader("a"), "");
    all.has("number 14").lacks("more options");
    world.answer(reader("a"), "15").exits(0).has("picked [15]");
}
