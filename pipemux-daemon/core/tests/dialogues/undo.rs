//! `undo`: a whole round is taken back, the newest step first, or nothing.

use pipemux_proto::client::{HistoryArgs, Verb};

use crate::world::{AnswerText, Behaviour, World, reader};

/// A world with two apps whose outcomes offer to take their changes back.
fn world() -> World {
    let mut world = World::new();
    for session in ["notes/main", "other/main"] {
        world.open(reader("a"), session);
        world.model(session).names_changes = true;
    }
    world
}

fn undo(world: &mut World, round: Option<u64>) -> AnswerText {
    world.ask(reader("a"), Verb::Undo { round })
}

/// Returns the actions that apps received since the last call, with their sessions.
fn sent(world: &mut World) -> Vec<String> {
    let invoked = std::mem::take(&mut world.invoked).into_iter();
    invoked.map(|(session, invoke)| format!("{session} {}", invoke.action)).collect()
}

#[test]
fn round_is_taken_back_in_all_apps_newest_step_first() {
    let mut world = world();
    let code = "notes.say('x'); other.say('y'); notes.say('z')";
    world.run(reader("a"), code).exits(0);
    sent(&mut world);
    let said = undo(&mut world, None);
    said.exits(0)
        .has("1 done · undo of notes.say('z'): took ")
        .has("3 done · undo of notes.say('x')");
    let all = ["notes/main takeback", "other/main takeback", "notes/main takeback"];
    assert_eq!(sent(&mut world), all);
    assert!(world.model("notes/main").changes.is_empty());
    undo(&mut world, None).exits(3).has("no round of yours is left to undo");
    undo(&mut world, Some(1)).exits(9).has("round 1 is undone already, in round 2");
    assert!(sent(&mut world).is_empty());
}

#[test]
fn undo_without_a_number_goes_from_round_to_round_and_is_remembered() {
    let mut world = world();
    for text in ["x", "y", "z"] {
        world.run(reader("a"), &format!("notes.say('{text}')")).exits(0);
    }
    undo(&mut world, None).exits(0).has("undo of notes.say('z')");
    world.lose_daemon();
    undo(&mut world, None).exits(0).has("undo of notes.say('y')");
    undo(&mut world, Some(1)).exits(0).has("undo of notes.say('x')");
    undo(&mut world, None).exits(3);
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("undo of round 3: notes.say('z')");
}

#[test]
fn what_a_run_has_done_that_asks_is_told_and_undo_takes_back_nothing_older() {
    let mut world = world();
    world.run(reader("a"), "notes.say('older')").exits(0);
    world.run(reader("a"), "notes.say('x'); other.pick()").exits(5);
    sent(&mut world);
    undo(&mut world, None).exits(9).has("question 5 is open");
    assert!(sent(&mut world).is_empty());
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("1. ").has("\nwaits · a · not run: pick; say done: x");
    world.ask(reader("a"), Verb::History(HistoryArgs::default())).has("waits · ");
    world.answer(reader("a"), "none").exits(0);
    undo(&mut world, None).exits(0).has("undo of notes.say('x')");
}

#[test]
fn later_change_in_between_is_refused_by_the_app_and_nothing_is_undone() {
    let mut world = world();
    world.run(reader("a"), "other.say('x'); notes.say('x')").exits(0);
    world.run(reader("b"), "notes.say('later')").exits(0);
    sent(&mut world);
    let said = undo(&mut world, Some(1));
    said.exits(1).has("a later change is in between").has("not run: other.takeback");
    assert_eq!(sent(&mut world), ["notes/main takeback"]);
    world.ask(reader("b"), Verb::Undo { round: None }).exits(0).has("undo of notes.say('later')");
    undo(&mut world, None).exits(0).has("undo of other.say('x')");
}

#[test]
fn round_of_which_a_step_cannot_be_taken_back_is_left_whole() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x'); other.say('y'); other.say('z')").exits(0);
    world.run(reader("b"), "notes.say('later')").exits(0);
    let before = world.model("other/main").changes.clone();
    sent(&mut world);
    let said = undo(&mut world, Some(1));
    said.exits(1).has("failed · undo of notes.say('x'): a later change is in between");
    said.has("nothing was undone; once it can be: pipemux undo 1").lacks("other.").lacks("not run");
    let other = "other/main takeback";
    let sent_all = [other, other, "notes/main takeback", other, other];
    assert_eq!(sent(&mut world), sent_all);
    assert_eq!(world.model("other/main").changes, before);
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.lacks("undone\n");
    // It can be taken back as a whole later, also by the next daemon.
    world.ask(reader("b"), Verb::Undo { round: None }).exits(0);
    world.lose_daemon();
    undo(&mut world, Some(1)).exits(0).has("3 done · undo of notes.say('x')");
}

#[test]
fn undo_of_which_nothing_can_be_made_again_tells_what_is_left() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x'); other.say('y')").exits(0);
    world.run(reader("b"), "notes.say('later')").exits(0);
    world.model("other/main").forgets_undone = true;
    let said = undo(&mut world, Some(1));
    said.exits(1).has("half undone, other.say('y'); the rest: pipemux undo 1");
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has(" · half undone\n");
    world.ask(reader("b"), Verb::Undo { round: None }).exits(0);
    undo(&mut world, Some(1)).exits(0).has("1 done · undo of notes.say('x')").lacks("other");
}

#[test]
fn step_without_an_undo_stays_and_is_named() {
    let mut world = world();
    world.model("other/main").names_changes = false;
    world.run(reader("a"), "notes.say('y'); other.say('z')").exits(0);
    world.run(reader("a"), "other.say('w')").exits(0);
    sent(&mut world);
    // The newest round of which anything can be taken back.
    let said = undo(&mut world, None);
    said.exits(0).has("undo of notes.say('y')");
    said.has("not undone, since it has no undo: other.say");
    assert_eq!(sent(&mut world), ["notes/main takeback"]);
    undo(&mut world, None).exits(3).has("no round of yours is left to undo");
    let said = undo(&mut world, Some(2));
    said.exits(9).has("round 2 can't be undone: other.say has no undo; nothing was undone");
    undo(&mut world, Some(7)).exits(3).has("there is no round 7");
    assert!(sent(&mut world).is_empty());
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("1. 10:00:00Z · a · notes.say('y'); other.say('z') → ").has(" · undone\n");
    history.has("2. 10:00:00Z · a · other.say('w') → ").has(" · no undo\n");
}

#[test]
fn step_without_an_undo_says_why_or_that_there_is_nothing_to_undo() {
    let mut world = world();
    world.model("other/main").no_undo = Some(String::new());
    world.run(reader("a"), "other.say('nothing')").exits(0);
    undo(&mut world, None).exits(3);
    undo(&mut world, Some(1)).exits(9).has("round 1 changed nothing that undo takes back");
    world.run(reader("a"), "notes.say('y'); other.say('nothing')").exits(0);
    undo(&mut world, None).exits(0).has("undo of notes.say('y')").lacks("not undone");
    world.model("other/main").no_undo = Some("no `repository`\nhere".into());
    world.run(reader("a"), "notes.say('z'); other.say('files')").exits(0);
    let why = "not undone, since it has no undo: other.say (no";
    undo(&mut world, None).exits(0).has(why).lacks("\nhere");
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("1. 10:00:00Z · a · other.say('nothing') → say done: nothing\n");
}

#[test]
fn steps_that_an_earlier_round_told_are_not_taken_back_twice() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x'); notes.fail(); notes.say('z')").exits(1);
    world.answer(reader("a"), "notes.say('y')").exits(0);
    sent(&mut world);
    undo(&mut world, None).exits(0).has("1 done · undo of notes.say('z')").lacks("say('x')");
    undo(&mut world, None).exits(0).has("1 done · undo of notes.say('x')");
    assert_eq!(sent(&mut world).len(), 3);
}

#[test]
fn round_that_is_being_undone_is_not_undone_at_the_same_time() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x')").exits(0);
    sent(&mut world);
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::Undo { round: None });
    let id = world.send(client, &call);
    for round in [None, Some(1)] {
        undo(&mut world, round).exits(9).has("round 1 is being undone already: nothing was undone");
    }
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.release("notes/main");
    world.answer_to(client, id).expect("an answer").exits(0).has("undo of notes.say('x')");
    assert_eq!(sent(&mut world), ["notes/main takeback"]);
}

#[test]
fn undo_that_the_loss_of_the_daemon_interrupts_tells_what_took_effect_and_what_is_unknown() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x'); other.say('y')").exits(0);
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::Undo { round: None });
    world.send(client, &call);
    world.lose_daemon();
    world.set_behaviour("notes/main", Behaviour::Normal);
    sent(&mut world);
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("its undo has no known end: pipemux undo 1");
    let told = undo(&mut world, None);
    told.exits(7).has("notes.say('x') may or may not be taken back; taken back: other.say('y')");
    told.has("next: pipemux view notes/main").has("next: pipemux undo 1: takes back what is left");
    assert!(sent(&mut world).is_empty(), "nothing is sent before its reader knows");
    // Told once, and also after another loss.
    world.lose_daemon();
    let again = undo(&mut world, Some(1));
    again.exits(0).has("undo of notes.say('x')").lacks("other.say");
    assert_eq!(sent(&mut world), ["notes/main takeback"]);
}

#[test]
fn run_that_the_loss_of_the_daemon_cuts_off_has_a_round_that_can_be_taken_back() {
    let mut world = world();
    world.set_behaviour("other/main", Behaviour::Silent);
    let client = world.connect();
    let code = "notes.say('x'); other.say('y'); notes.say('z')";
    let call =
        world.call(reader("a"), Verb::Run { code: code.into(), stdin: None, only_queries: false });
    world.send(client, &call);
    world.lose_daemon();
    world.set_behaviour("other/main", Behaviour::Normal);
    world.run(reader("b"), "other.say('later')").exits(0);
    // Twice: the second daemon reads what the first one made of it.
    for _ in 0..2 {
        let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
        history
            .has("1. ")
            .has("say unknown: the daemon was lost meanwhile; not run: say; say done: x (exit 7)")
            .has("\n2. ");
        world.lose_daemon();
    }
    sent(&mut world);
    undo(&mut world, None).exits(0).has("undo of notes.say('x')").lacks("'y'").lacks("'z'");
    assert_eq!(sent(&mut world), ["notes/main takeback"]);
}

#[test]
fn run_that_ended_or_asked_before_the_daemon_was_lost_has_no_second_round() {
    let mut world = world();
    world.run(reader("a"), "notes.say('x'); notes.say('y')").exits(0);
    world.run(reader("a"), "notes.say('z'); notes.pick()").exits(5);
    world.lose_daemon();
    world.ask(reader("a"), Verb::History(HistoryArgs::default())).has("1. ").lacks("2. ");
}

#[test]
fn round_of_a_session_that_was_ended_is_passed_over_and_named() {
    let mut world = world();
    for code in ["notes.say('x')", "other.say('y')", "other.say('z')"] {
        world.run(reader("a"), code).exits(0);
    }
    let end = Verb::End { session: "other/main".parse().unwrap() };
    world.ask(reader("a"), end).exits(0);
    let said = undo(&mut world, None);
    said.exits(0).has("1 done · undo of notes.say('x')");
    said.has("skipped: 2 rounds, 2 to 3, since other/main isn't open · pipemux open other/main, then pipemux undo 3");
    // Nothing else is left, so the reason is the whole answer.
    undo(&mut world, None).exits(4).has("other/main isn't open: nothing was undone");
}
