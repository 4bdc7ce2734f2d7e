//! Secrets: given, sent to the app, and told to nobody.

use pipemux_core::audit::CallPart;
use pipemux_proto::app::{Choice, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::client::{HistoryArgs, Verb, ViewArgs, WatchArgs};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Field, Param, Prototype, Type};
use pipemux_proto::{Blob, Value, encode};

use crate::world::{Behaviour, World, reader};

const SECRET: &str = "hunter2";

fn param(name: &str, ty: Type) -> Param {
    Param { name: name.into(), ty, ..Param::default() }
}

/// A world whose app unlocks things.
fn vault() -> World {
    let mut world = World::new();
    let key = Param { secret: true, ..param("key", Type::String) };
    let pin = Param { secret: true, ..param("pin", Type::Int) };
    let action =
        |name: &str, params| Prototype { name: name.into(), params, ..Prototype::default() };
    let login = Type::Record(vec![
        Field { name: "user".into(), ty: Type::String, ..Field::default() },
        Field { name: "key".into(), ty: Type::String, secret: true, ..Field::default() },
    ]);
    let prototypes = vec![
        action("unlock", vec![key.clone()]),
        action("login", vec![param("user", Type::String), key]),
        action("code", vec![pin]),
        action("join", vec![param("login", login)]),
        action("pick", vec![]),
        action("say", vec![param("text", Type::String)]),
        action("fail", vec![]),
    ];
    world.set_behaviour("notes/main", Behaviour::Greets(prototypes));
    world.open(reader("a"), "notes").exits(0);
    world
}

/// Looks everywhere where something is told or kept.
#[track_caller]
fn assert_hidden(world: &mut World) {
    let history = world
        .ask(reader("a"), Verb::History(HistoryArgs { detail: true, ..HistoryArgs::default() }));
    history.lacks(SECRET);
    let watch = Verb::Watch(WatchArgs { after: Some(0), life: 0, wait_ms: 0, all: true });
    world.ask(reader("a"), watch).lacks(SECRET);
    world.ask(reader("a"), Verb::View(ViewArgs::default())).lacks(SECRET);
    for entry in &world.audited {
        for part in &entry.call {
            let text = match part {
                CallPart::Text(text) => text.clone(),
                CallPart::Value(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            };
            assert!(!text.contains(SECRET) && !text.contains("7391"), "{text}");
        }
        assert!(!format!("{:?}", entry.notes).contains(SECRET), "{:?}", entry.notes);
    }
    for record in &world.records {
        let bytes = encode(record).expect("it encodes");
        let found = bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!found, "{record:?}");
    }
}

#[track_caller]
fn sent(world: &World, name: &str) -> Value {
    let (_, invoke) = world.invoked.last().expect("a request");
    match &invoke.args[name] {
        Arg::Value(blob) => blob.to_value().expect("a value"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn secret_that_is_asked_for_comes_from_standard_input() {
    let mut world = vault();
    let said = world.run(reader("a"), "notes.unlock()");
    said.exits(5).has(
        "needs an answer · notes.unlock: needs key: string\n\
         secret: from standard input it is in no argument list or shell history\n\
         pipemux answer - · cancel\n",
    );
    let stdin = Some(format!("{SECRET}\n").into_bytes().into());
    let said = world.ask(reader("a"), Verb::Answer { text: "-".into(), to: None, stdin });
    said.exits(0).lacks(SECRET);
    assert_eq!(sent(&world, "key"), Value::from(SECRET));
    assert_hidden(&mut world);
    let history = world.ask(reader("a"), Verb::History(HistoryArgs::default()));
    history.has("notes.unlock(key='***')");
}

#[test]
fn secret_in_a_call_is_told_to_nobody() {
    let mut world = vault();
    for (code, exit) in [
        (format!("notes.unlock('{SECRET}')"), 0),
        (format!("notes.login(key='{SECRET}', user='me'); notes.say('x')"), 0),
        (format!("notes.join({{user: 'me', key: '{SECRET}'}})"), 0),
        (format!("notes.unlock(<<END)\n{SECRET}\nEND"), 0),
        // Refused in any way, also for its syntax.
        (format!("notes.unlock(key='{SECRET}', user=1)"), 2),
        (format!("notes.unlock(key='{SECRET}'"), 2),
        (format!("notes.unlock(key='{SECRET}"), 2),
        (format!("notes.unlock(key='it''s {SECRET}')"), 2),
        (format!("notes.code('{SECRET}')"), 2),
        (format!("notes.join({{user: 'me', key: {SECRET}}})"), 2),
        (format!("notes.login('me', '{SECRET}'); notes.fail(1)"), 2),
        (format!("notes.nothing(key='{SECRET}')"), 2),
        // The rest of a run that failed isn't kept.
        (format!("notes.unlock('{SECRET}'); notes.say(obj:999); notes.unlock('{SECRET}')"), 1),
    ] {
        let said = world.run(reader("a"), &code);
        assert_eq!(said.exit, exit, "{code}: {}", said.text);
        // The caller knows the code that it sent; of a call that isn't known nothing is secret.
        if !code.contains("nothing") {
            said.lacks(SECRET);
        }
        assert_hidden(&mut world);
    }
    assert_eq!(sent(&world, "key"), Value::from(SECRET));
}

#[test]
fn secret_of_another_type_is_taken_without_a_question() {
    let mut world = vault();
    world.run(reader("a"), "notes.unlock(7391)").exits(0).lacks("7391");
    assert_eq!(sent(&world, "key"), Value::from("7391"));
    world.run(reader("a"), "notes.code()").exits(5).has("needs pin: int");
    world.answer(reader("a"), SECRET).exits(2).lacks(SECRET).has("needs an answer");
    assert_hidden(&mut world);
    world.answer(reader("a"), "7391").exits(0).lacks("7391");
    assert_eq!(sent(&world, "pin"), Value::Int(7391));
    assert_hidden(&mut world);
}

#[test]
fn form_with_a_secret_keeps_the_rest_only() {
    let mut world = vault();
    world
        .run(reader("a"), "notes.login()")
        .exits(5)
        .has("user: string\nkey: secret\npipemux answer user=\"…\" key=stdin < FILE · cancel\n");
    let said = world.answer(reader("a"), &format!("key={SECRET}"));
    said.exits(2).has("still needs user").has("key = '***'").lacks(SECRET);
    assert_hidden(&mut world);
    let stdin = Some(SECRET.as_bytes().to_vec().into());
    let text = "user='me' key=stdin".to_owned();
    world.ask(reader("a"), Verb::Answer { text, to: None, stdin }).exits(0).lacks(SECRET);
    assert_eq!(sent(&world, "key"), Value::from(SECRET));
    assert_hidden(&mut world);
    // After a daemon's loss a secret is asked for again.
    world.run(reader("a"), "notes.login()").exits(5);
    world.answer(reader("a"), &format!("key={SECRET}")).exits(2);
    world.answer(reader("a"), &format!("nokey={SECRET} {SECRET}")).exits(2).lacks(SECRET);
    world.run(reader("a"), "notes.say('x')");
    assert_hidden(&mut world);
}

#[test]
fn secret_answer_to_an_app_is_told_to_nobody() {
    let mut world = vault();
    let asks = |secret| {
        let question = Question { text: "password".into(), secret, ..Question::default() };
        let needs = Needs { question, token: Blob::default(), numbers: Vec::new() };
        Behaviour::Ends(Box::new(Outcome::Needs(needs)))
    };
    world.set_behaviour("notes/main", asks(true));
    world.run(reader("a"), "notes.pick()").exits(5).has("pipemux answer - · cancel");
    // It asks something else then: that question is kept on disk, with the action that was
    // answered.
    world.set_behaviour("notes/main", asks(false));
    world.answer(reader("a"), SECRET).exits(5).lacks(SECRET);
    let (_, invoke) = world.invoked.last().expect("a request");
    let choice = invoke.resume.as_ref().map(|resume| resume.choice.clone());
    assert_eq!(choice, Some(Choice::Text(SECRET.into())));
    assert_hidden(&mut world);
    world.answer(reader("a"), "cancel");
    // Nobody knows what a text was meant for when no question is open.
    world.answer(reader("a"), SECRET).exits(3);
    assert_hidden(&mut world);
}

#[test]
fn question_after_a_secret_is_not_written_down() {
    let mut world = vault();
    let question =
        Question { text: "sure".into(), kind: QuestionKind::Confirm, ..Question::default() };
    let needs = Needs { question, token: Blob::default(), numbers: Vec::new() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Needs(needs))));
    world.run(reader("a"), &format!("notes.unlock('{SECRET}')")).exits(5).lacks(SECRET);
    assert_hidden(&mut world);
    world.lose_daemon();
    world.answer(reader("a"), "yes").exits(3).has("no question is open");
}

#[test]
fn standard_input_of_a_refused_run_is_kept_unless_it_may_have_been_a_secret() {
    let run = |world: &mut World, code: &str| {
        let stdin = Some(SECRET.repeat(100).into_bytes().into());
        world.ask(reader("a"), Verb::Run { code: code.into(), stdin, only_queries: false })
    };
    let mut world = vault();
    world.open(reader("a"), "other").exits(0);
    for code in ["other.sya(stdin)", "other.say(txt=stdin)", "notes.say(txt=stdin)"] {
        run(&mut world, code).exits(2).has("stdin (700 bytes) · pipemux answer '<corrected call>'");
    }
    let mut world = vault();
    world.open(reader("a"), "other").exits(0);
    for code in [
        "notes.unlok(stdin)",
        "unlok(stdin)",
        "notes.unlock(kye=stdin)",
        "notes.say(txt=stdin); notes.unlock(stdin)",
        "other.say(stdin",
    ] {
        run(&mut world, code).exits(2).lacks("kept as");
    }
    assert_hidden(&mut world);
}
