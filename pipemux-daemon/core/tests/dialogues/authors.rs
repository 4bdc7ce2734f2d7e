//! What the author of an app is told while they work on it, and the frames that they see.

use crate::world::{Behaviour, World, frame, reader, session_addr, slot};
use pipemux_core::Event;
use pipemux_proto::app::{Changed, Done, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::client::Verb;
use pipemux_proto::projection::{ObjectSlot, Piece, Projection};
use pipemux_proto::{Envelope, Frame, Method, Value};

fn dev() -> World {
    World::with_notes(|notes| notes.dev = true)
}

fn trace() -> Verb {
    Verb::Trace { session: session_addr("notes/main"), lines: 50, after: None, wait_ms: 0 }
}

fn logged(world: &World, part: &str) -> bool {
    world.effects.iter().any(|effect| effect.starts_with("NoteLog") && effect.contains(part))
}

/// A window with a link whose action isn't there and an object without a label.
fn flawed() -> Behaviour {
    let content = vec![
        Piece::Text("a".into()),
        Piece::Link(slot("go", "nowhere", [])),
        Piece::Object(ObjectSlot { key: "k".into(), ..ObjectSlot::default() }),
    ];
    Behaviour::Shows(Box::new(Projection { version: 1, content, ..Projection::default() }))
}

#[test]
fn flaws_are_told_at_once_and_logged_with_their_paths() {
    let mut world = dev();
    world.set_behaviour("notes/main", flawed());
    let opened = world.open(reader("a"), "notes");
    opened.exits(0).has("notes/main: (dev) Project · content[1].link.action · link-action:");
    opened.has("content[2].object.label · label: is empty");
    assert!(logged(&world, "content[1].link.action"), "{:?}", world.effects);
    assert!(logged(&world, " life "), "it says which life");
    // Each is told once.
    world.view(reader("a")).exits(0).lacks("(dev)");

    let mut world = World::new();
    world.set_behaviour("notes/main", flawed());
    world.open(reader("a"), "notes").exits(0).lacks("(dev)");
    assert!(!logged(&world, "content"));
}

#[test]
fn dropped_frames_are_told_with_the_reason() {
    let mut world = dev();
    world.open(reader("a"), "notes").lacks("(dev)");
    let app = world.process("notes/main").expect("it runs");
    // An event of another life, one that can't be read, and an answer that nobody waits for.
    let other = Envelope::event(Method::Changed, pipemux_proto::Incarnation(app.0 + 50));
    let event = frame(&other, &Changed { version: 9 });
    world.event(Event::AppFrame { app, frame: event });
    let body = pipemux_proto::encode(&Value::Map(vec![("verson".into(), 3.into())]));
    let unreadable = Frame {
        envelope: Envelope::event(Method::Changed, app),
        body: body.expect("it encodes").into(),
    };
    world.event(Event::AppFrame { app, frame: unreadable });
    let late = Envelope::request(Method::Project, 4_000, app).answer(pipemux_proto::Kind::Reply);
    let late = frame(&late, &Projection::default());
    world.event(Event::AppFrame { app, frame: late });
    let seen = world.view(reader("a"));
    seen.has("(dev) Changed was dropped: it has the incarnation");
    seen.has("(dev) Changed was dropped: missing field `version`");
    seen.has("(dev) Project was dropped: nobody waits for an answer to the request 4000");
}

/// Behind a step its window is asked for. When the step asks, nobody needs the window, which the
/// app answers all the same.
#[test]
fn answer_to_what_the_daemon_gave_up_is_not_told() {
    let mut world = dev();
    world.open(reader("a"), "notes").lacks("(dev)");
    let question =
        Question { text: "sure?".into(), kind: QuestionKind::Confirm, ..Question::default() };
    let needs = Needs { question, token: Value::Null.to_blob(), numbers: Vec::new() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Needs(needs))));
    world.run(reader("a"), "notes.say('x')").exits(5).has("sure?");
    world.view(reader("a")).lacks("(dev)");
}

#[test]
fn version_that_stays_is_told() {
    let mut world = dev();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes").lacks("(dev)");
    let done = Outcome::Done(Done { brief: "ok".into(), version: 1, ..Done::default() });
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(done)));
    let done = world.run(reader("a"), "notes.say('x')");
    done.has("(dev) Invoke · version: say is done and the version stayed 1");
}

#[test]
fn session_is_traced_from_the_first_question_on() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.ask(reader("a"), trace()).exits(0).has("notes/main is traced from now on");
    world.run(reader("a"), "notes.say('hello')").exits(0);
    let traced = world.ask(reader("a"), trace());
    traced.exits(0).has(" → Invoke #").has("action: \"say\"").has("\"hello\"");
    traced.has(" ← Invoke #").has(" reply {done: {");
    // Nobody asks for long: it ends.
    world.pass(11 * 60_000);
    world.run(reader("a"), "notes.say('later')").exits(0);
    world.ask(reader("a"), trace()).lacks("later");
}

#[test]
fn waiting_trace_is_answered_by_the_next_frame() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.ask(reader("a"), trace());
    let client = world.connect();
    let session = session_addr("notes/main");
    let wait = Verb::Trace { session, lines: 5, after: Some(0), wait_ms: 5_000 };
    let call = world.call(reader("w"), wait);
    let id = world.send(client, &call);
    world.settle();
    assert!(world.request_ends(client, id).is_empty(), "nothing came yet");
    world.run(reader("a"), "notes.say('x')").exits(0);
    assert_eq!(world.request_ends(client, id).len(), 1);
}

#[test]
fn changed_program_is_started_at_the_next_use() {
    let mut world = dev();
    world.open(reader("a"), "notes");
    let app = world.process("notes/main").expect("it runs");
    world.event(Event::ProgramChanged { app });
    let seen = world.view(reader("a"));
    seen.exits(0).has("notes/main: (dev) its program changed, so it is started again");
    let next = world.process("notes/main").expect("it runs again");
    assert_ne!(next, app);
}
