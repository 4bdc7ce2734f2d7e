//! What a failed run leaves: kept under a number, resumed with a corrected call, dropped, or
//! lapsed.

use bytes::Bytes;
use pipemux_core::limits::{KEPT_MS, KEPT_RESTS_MAX};
use pipemux_proto::client::Verb;

use crate::world::{AnswerText, Behaviour, World, reader, run};

/// A world with two notes that the reader has seen. Returns their ids.
fn world() -> (World, u64, u64) {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    let said = world.open(reader("a"), "notes");
    let ids = (said.id("k1 r1"), said.id("k2 r1"));
    (world, ids.0, ids.1)
}

/// Returns the actions that apps received since the last call, with their texts.
fn sent(world: &mut World) -> Vec<String> {
    let invoked = std::mem::take(&mut world.invoked).into_iter();
    invoked
        .map(|(_, invoke)| match invoke.args.get("text") {
            Some(pipemux_proto::projection::Arg::Value(text)) => {
                format!("{} {}", invoke.action, text.to_value().expect("a value"))
            }
            _ => invoke.action,
        })
        .collect()
}

fn run_with(world: &mut World, code: &str, stdin: &str) -> AnswerText {
    let stdin = Some(Bytes::copy_from_slice(stdin.as_bytes()));
    world.ask(reader("a"), Verb::Run { code: code.into(), stdin, only_queries: false })
}

/// Returns the number under which an answer says that something is kept.
fn number(said: &AnswerText) -> u64 {
    let (_, rest) = said.text.split_once("kept as ").expect("something is kept");
    rest.split(':').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn answer_to(world: &mut World, number: u64, text: &str) -> AnswerText {
    world.ask(reader("a"), Verb::Answer { text: text.into(), to: Some(number), stdin: None })
}

#[test]
fn corrected_call_takes_the_place_of_the_failed_one_and_the_run_goes_on() {
    let (mut world, ..) = world();
    let said = world.run(reader("a"), "notes.say('x'); notes.fail(); notes.say(\"y\"); say('z')");
    let number = number(said.exits(1));
    said.has(&format!(
        "kept as {number}: notes.say(\"y\"); say('z') · pipemux answer '<corrected call>' runs it in place of step 2 \
         and goes on · pipemux answer none\n"
    ));
    said.lacks("not run:");
    assert_eq!(sent(&mut world), ["say 'x'", "fail"]);
    world.answer(reader("a"), "notes.say('now')").exits(0).has("2 done · say").has("4 done · say");
    assert_eq!(sent(&mut world), ["say 'now'", "say 'y'", "say 'z'"]);
    world.answer(reader("a"), "notes.say('now')").exits(3).has("no question is open");
    answer_to(&mut world, number, "notes.say('now')").exits(3);
    assert!(sent(&mut world).is_empty());
}

#[test]
fn time_that_a_kept_call_waits_is_named_in_the_way_to_go_on() {
    let (mut world, ..) = world();
    for (kept, wait) in [("say('wait')", " --wait 500 "), ("say('z')", " ")] {
        let mut call = world.call(reader("a"), run(&format!("notes.fail(); notes.{kept}")));
        call.wait_ms = 499_001;
        let way = format!("pipemux answer '<corrected call>'{wait}runs it in place of step 1");
        world.ask_call(&call).exits(1).has(&way);
    }
}

#[test]
fn long_steps_that_are_kept_are_told_by_their_names_and_listed_whole_on_demand() {
    let (mut world, ..) = world();
    let long = "a text that its reader wrote and need not see again ".repeat(3);
    let code = format!("notes.fail(); notes.say('{long}'); notes.say('y'); say('z')");
    let said = world.run(reader("a"), &code);
    let number = number(said.exits(1));
    said.has(&format!("kept as {number}: 3 steps: notes.say ×2, say · pipemux answer"));
    said.lacks("need not see");
    world.answer(reader("a"), "").exits(0).has("need not see again").has("say('z')");
    // One more failure doesn't tell more.
    world.answer(reader("a"), "notes.fail()").exits(1).has("3 steps: ").lacks("need not see");
}

#[test]
fn long_text_of_a_failed_call_is_kept_for_the_corrected_one() {
    let (mut world, ..) = world();
    let long = "a line that nobody wants to write twice\n".repeat(20);
    // As a raw block and in quotes; refused before it ran, and failed.
    let calls = [
        format!("notes.fail(<<END)\n{long}\nEND"),
        format!("notes.nonsense('{}')", long.replace('\n', "\\n")),
        format!("notes.edit(obj:999, text=<<END)\n{long}\nEND\nnotes.say('then')"),
    ];
    for code in calls {
        let said = world.run(reader("a"), &code);
        said.has("your text as stdin (800 bytes) · pipemux answer '<corrected call>'");
        sent(&mut world);
        world.answer(reader("a"), "notes.say(text=stdin)").exits(0);
        let first = sent(&mut world).remove(0);
        assert_eq!(first.matches("nobody wants").count(), 20, "{code}");
    }
    // Not a short one, nor one of two, nor beside input that was sent.
    for code in ["notes.fail(<<END)\nshort\nEND", "notes.fail(<<A, <<B)\n{long}\nA\n{long}\nB"] {
        let code = code.replace("{long}", &long);
        world.run(reader("a"), &code).lacks("your text");
    }
    let code = format!("notes.fail(<<END)\n{long}\nEND");
    run_with(&mut world, &code, "text").lacks("your text");
}

#[test]
fn steps_of_a_resumed_run_carry_the_id_of_the_run_that_they_were_written_for() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    world.answer(reader("a"), "notes.say('x')").exits(0);
    let ids: Vec<&String> = world.invoked.iter().map(|(_, invoke)| &invoke.run_id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn nothing_is_kept_or_said_when_nothing_is_left() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail()").exits(1).lacks("kept as").lacks("answer");
    world.run(reader("a"), "notes.say('x'); notes.fail()").exits(1).lacks("kept as");
    world.run(reader("a"), "notes.nothing()").exits(2).lacks("kept as");
    world.answer(reader("a"), "notes.say('x')").exits(3).has("no question is open");
    // Standard input that an earlier step used up is of no more use.
    run_with(&mut world, "notes.say(stdin); notes.fail()", "text\n").exits(1).lacks("kept as");
}

#[test]
fn standard_input_is_used_again_without_being_sent_again() {
    let (mut world, ..) = world();
    let text = "long text\n".repeat(460);
    let said = run_with(&mut world, "notes.fail(text=stdin)", &text);
    said.exits(2).has(": stdin (4,600 bytes) · pipemux answer '<corrected call>' may use it · ");
    world.answer(reader("a"), "notes.say(text=stdin)").exits(0);
    let said = run_with(&mut world, "notes.fail(); notes.say(text=stdin)", &text);
    said.has(": notes.say(text=stdin (4,600 bytes)) · ");
    world.answer(reader("a"), "notes.fail()").exits(1).has("1 failed").has("kept as");
    world.answer(reader("a"), "notes.say('x')").exits(0).has("2 done · say");
    let texts = sent(&mut world);
    assert_eq!(texts.iter().filter(|sent| sent.contains("long text")).count(), 2, "{texts:?}");
}

#[test]
fn none_drops_what_is_kept() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    world.answer(reader("a"), "none").exits(0).has("dropped ").has("notes.say('y')");
    world.answer(reader("a"), "notes.say('x')").exits(3);
    assert_eq!(sent(&mut world), ["fail"]);
}

#[test]
fn another_run_in_between_passes_and_drops_nothing() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    world.run(reader("a"), "notes.say('between')").exits(0);
    world.run(reader("b"), "notes.fail()").exits(1);
    world.answer(reader("a"), "notes.say('x')").exits(0);
    assert_eq!(sent(&mut world), ["fail", "say 'between'", "fail", "say 'x'", "say 'y'"]);
}

#[test]
fn answer_names_its_number_once_a_later_run_has_failed() {
    let (mut world, ..) = world();
    let first = number(&world.run(reader("a"), "notes.fail(); notes.say('y')"));
    world.run(reader("a"), "notes.fail()").exits(1).lacks("kept as");
    let said = world.answer(reader("a"), "notes.say('x')");
    said.exits(2).has(&format!("pipemux answer --to {first} '<corrected call>' # notes.say('y')"));
    let said = world.answer(reader("a"), "none");
    said.exits(2).has(&format!("next: pipemux answer --to {first} none # notes.say('y')\n"));
    let second = number(&world.run(reader("a"), "notes.fail(); notes.say('z')"));
    let listed = world.answer(reader("a"), "");
    listed.exits(0).has(&format!("kept as {first}: ")).has(&format!("kept as {second}: "));
    listed.has(&format!("pipemux answer --to {first} none"));
    sent(&mut world);
    world.answer(reader("a"), "notes.say('x')").exits(0).has("2 done · say");
    answer_to(&mut world, first, "notes.say('w')").exits(0);
    assert_eq!(sent(&mut world), ["say 'x'", "say 'z'", "say 'w'", "say 'y'"]);
}

#[test]
fn kept_steps_belong_to_their_reader() {
    let (mut world, ..) = world();
    let number = number(&world.run(reader("a"), "notes.fail(); notes.say('y')"));
    world.answer(reader("b"), "notes.say('x')").exits(3);
    let verb = Verb::Answer { text: "none".into(), to: Some(number), stdin: None };
    world.ask(reader("b"), verb).exits(9).has("was kept for a");
    world.answer(reader("a"), "notes.say('x')").exits(0);
}

#[test]
fn whole_script_is_kept_when_one_of_its_calls_is_wrong() {
    let (mut world, ..) = world();
    let said = world.run(reader("a"), "notes.say('x'); notes.sy('y'); notes.say(tex='z')");
    said.exits(2).has("refused, nothing ran · unknown action").has("did you mean say?");
    said.has(": notes.say('x'); (step 2); notes.say(tex='z') · pipemux answer ");
    said.has(" runs them with it as step 2 · pipemux answer none\n");
    // The next error is told once this one is corrected.
    let said = world.answer(reader("a"), "notes.say('y')");
    said.exits(2).has("did you mean text?").has("as step 3");
    let said = world.answer(reader("a"), "notes.syy('z')");
    said.exits(2).has("unknown action").has("as step 3");
    assert!(sent(&mut world).is_empty());
    world.answer(reader("a"), "notes.say('z'); notes.say('more')").exits(0).has("4 done · say");
    assert_eq!(sent(&mut world), ["say 'x'", "say 'y'", "say 'z'", "say 'more'"]);
}

#[test]
fn only_standard_input_is_kept_where_the_syntax_is_broken() {
    let (mut world, ..) = world();
    let said = run_with(&mut world, "notes.say('x'; notes.say(stdin)", "text");
    said.exits(2).has(": stdin (4 bytes) · pipemux answer '<corrected call>' may use it");
    world.run(reader("a"), "notes.say('x'; notes.say('y')").exits(2).lacks("kept as");
    let said = world.answer(reader("a"), "");
    let number = number(&said);
    answer_to(&mut world, number, "notes.say('x'); notes.say(stdin)").exits(0);
    assert_eq!(sent(&mut world), ["say 'x'", "say 'text'"]);
}

#[test]
fn kept_steps_outlive_the_daemon_and_lapse() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    world.lose_daemon();
    world.view(reader("a")).exits(0);
    world.answer(reader("a"), "notes.say('x')").exits(0);
    assert_eq!(sent(&mut world), ["fail", "say 'x'", "say 'y'"]);
    world.lose_daemon();
    world.answer(reader("a"), "notes.say('x')").exits(3);
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1);
    world.pass(KEPT_MS - 1_000);
    world.answer(reader("a"), "").exits(0);
    world.pass(1_000);
    world.answer(reader("a"), "").exits(3);
    world.lose_daemon();
    world.answer(reader("a"), "notes.say('x')").exits(3);
}

#[test]
fn refs_of_kept_steps_mean_what_they_meant_when_they_were_written() {
    let (mut world, first, second) = world();
    let code = format!("notes.fail(); notes.edit(obj:{second}, 'mine')");
    world.run(reader("a"), &code).exits(1);
    // The reader sees the change before it goes on: the kept step still means what was there
    // before.
    world.model("notes/main").change(1, "theirs");
    world.model("notes/main").change(0, "theirs");
    world.view(reader("a")).exits(0).has("theirs");
    let said = world.answer(reader("a"), &format!("notes.edit(obj:{first}, 'seen')"));
    said.exits(1).has("1 done · edit").has(&format!("Anchor obj:{second} is stale"));
}

#[test]
fn go_and_a_corrected_call_never_both_send_the_steps_behind() {
    let (mut world, first, _) = world();
    let code = format!("notes.edit(obj:{first}, 'mine'); notes.say('y')");
    for way in ["go", "notes.say('x')"] {
        world.view(reader("a")).exits(0);
        world.model("notes/main").change(0, way);
        let said = world.run(reader("a"), &code);
        let number = number(said.exits(4).has("pipemux answer go"));
        sent(&mut world);
        world.answer(reader("a"), way).exits(0);
        assert_eq!(sent(&mut world).iter().filter(|sent| **sent == "say 'y'").count(), 1);
        world.answer(reader("a"), "go").exits(3);
        answer_to(&mut world, number, "notes.say('x')").exits(3);
        assert!(sent(&mut world).is_empty());
    }
}

#[test]
fn answered_question_whose_step_fails_keeps_the_steps_behind() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.pick(); notes.say('y')").exits(5).lacks("kept as");
    world.set_behaviour("notes/main", Behaviour::DiesOnInvokeOnce);
    let said = world.answer(reader("a"), "1");
    said.exits(7).has("kept as ").has(": notes.say('y') · ");
    world.answer(reader("a"), "notes.say('x')").exits(0).has("2 done · say");
}

#[test]
fn oldest_kept_steps_make_room() {
    let (mut world, ..) = world();
    let numbers: Vec<u64> = (0..=KEPT_RESTS_MAX)
        .map(|n| number(&world.run(reader("a"), &format!("notes.fail(); notes.say('{n}')"))))
        .collect();
    answer_to(&mut world, numbers[0], "none").exits(3);
    answer_to(&mut world, numbers[1], "none").exits(0);
}

#[test]
fn report_has_what_is_kept() {
    let (mut world, ..) = world();
    let verb = run("notes.fail(); notes.say('y')");
    let mut call = world.call(reader("a"), verb);
    call.format = pipemux_proto::client::Format::Json;
    let said = world.ask_call(&call);
    said.has("KeptReport { id: ").has("steps: [\"notes.say('y')\"], stdin: None");
}

#[test]
fn answer_means_the_run_before_once_what_the_newest_left_is_dropped() {
    let (mut world, ..) = world();
    let first = number(world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1));
    let second = number(world.run(reader("a"), "notes.fail(); notes.say('z')").exits(1));
    sent(&mut world);
    let dropped = world.answer(reader("a"), "none");
    dropped.exits(0).has(&format!("dropped {second}: notes.say('z')\nkept as {first}: "));
    dropped.has("pipemux answer '<corrected call>' runs it in place of step 1 and goes on");
    world.answer(reader("a"), "notes.say('x')").exits(0);
    assert_eq!(sent(&mut world), ["say 'x'", "say 'y'"]);
    // Another reader's steps are never meant.
    world.run(reader("b"), "notes.fail(); notes.say('b')").exits(1);
    world.run(reader("a"), "notes.fail(); notes.say('a')").exits(1);
    world.answer(reader("a"), "none").exits(0).lacks("kept as");
    world.answer(reader("a"), "notes.say('x')").exits(3);
}

#[test]
fn query_that_fails_in_between_leaves_what_was_kept_the_newest() {
    let (mut world, ..) = world();
    world.run(reader("a"), "notes.fail(); notes.say('y')").exits(1).has("kept as");
    let verb = Verb::Run { code: "notes.text(obj:99)".into(), stdin: None, only_queries: true };
    assert_ne!(world.ask(reader("a"), verb).exit, 0);
    world.answer(reader("a"), "notes.say('x')").exits(0).has("2 done");
}
