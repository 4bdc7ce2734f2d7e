//! What an app sends is bounded where it is taken in: one app's excess costs its own reader a told
//! cut, and no other window, reader or app anything.

use crate::world::{Behaviour, World, frame, reader, run, slot};
use pipemux_core::limits::{
    APP_NOTICES_MAX, NAV_MAX, OPEN_RUNS_BYTES, SESSION_ANCHORS_MAX, UNCONFIRMED_BYTES,
    WINDOW_BUDGET,
};
use pipemux_core::{Event, Exit};
use pipemux_proto::app::{Done, Needs, Notify, OptionItem, Outcome, Question, QuestionKind};
use pipemux_proto::client::{Body, Format, Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::{ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Param, Prominence, Prototype};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Envelope, Fault, Method, Value};
use pipemux_tokens::estimate;

const LONG: usize = 300_000;

fn shows(projection: Projection) -> Behaviour {
    Behaviour::Shows(Box::new(Projection { version: 1, ..projection }))
}

#[test]
fn long_title_costs_no_other_window_of_the_workspace() {
    let mut world = World::new();
    world.open(reader("a"), "other");
    let title = "\u{1}".repeat(400_000);
    let nav = (0..500).map(|n| slot(&format!("go {n}"), "pick", [])).collect();
    let position = Some("\u{7f}".repeat(LONG));
    world.set_behaviour(
        "notes/main",
        shows(Projection { title, nav, position, ..Projection::default() }),
    );
    let opened = world.open(reader("a"), "notes");
    opened.exits(0).has("399600 more characters)").has(&format!("… {} more links", 500 - NAV_MAX));
    let seen = world.view(reader("b"));
    seen.exits(0).has("## other/main").has("## notes/main");
    assert!(seen.text.len() < 20_000, "{} bytes", seen.text.len());
}

#[test]
fn long_outcomes_are_cut_and_told_and_one_line_stays_one() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let many = "x\n".repeat(LONG);
    let fault = Fault::failed("why ".repeat(LONG / 2)).hint("h".repeat(LONG)).hint("pipemux view");
    let question = Question {
        text: many.clone(),
        kind: QuestionKind::PickOne,
        options: vec![OptionItem { label: "l".repeat(2_000), text: "t\n".repeat(1_000) }; 60],
        unlisted: 0,
        ..Question::default()
    };
    let needs = Needs { question, token: Value::Null.to_blob(), numbers: Vec::new() };
    let done = Done { brief: many, version: 1, ..Done::default() };
    for (outcome, exit, told) in [
        (Outcome::Done(done), 0, "more characters)"),
        (Outcome::Failed(fault), 1, "1 more hints were left out"),
        (Outcome::Needs(needs), 5, "… 40 more"),
    ] {
        world.set_behaviour("notes/main", Behaviour::Ends(Box::new(outcome)));
        let ran = world.run(reader("a"), "notes.pick()");
        ran.exits(exit).has(told).has("more characters)").lacks("x\nx");
        assert!(ran.text.len() < 60_000, "{} bytes", ran.text.len());
    }
}

#[test]
fn budget_holds_over_errors_notices_and_briefs() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let fault =
        Fault::failed("line of an error\n".repeat(LONG / 10)).hint("pipemux view ".repeat(60));
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Failed(fault))));
    notify(&mut world, "notes/main", 15, "a notice of some length, which takes tokens");
    let call = VerbRequest { budget: Some(200), ..world.call(reader("a"), run("notes.pick()")) };
    let ran = world.ask_call(&call);
    ran.exits(1).has("failed · pick: line of an error").has("more notices were left out");
    ran.has("more lines: pipemux history --detail");
    assert!(estimate(&ran.text) <= 260, "{}: {}", estimate(&ran.text), ran.text);

    let done = Done { brief: "did it ".repeat(40), version: 1, ..Done::default() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Done(done))));
    let code = "notes.pick();".repeat(200);
    let call = VerbRequest { budget: Some(300), ..world.call(reader("a"), run(&code)) };
    let ran = world.ask_call(&call);
    ran.exits(0).has("earlier steps: pipemux history --detail").has("200 done · pick: did it");
    assert!(estimate(&ran.text) <= 360, "{}: {}", estimate(&ran.text), ran.text);
}

#[test]
fn actions_beyond_their_bounds_are_refused_or_named_only() {
    let prototype = |n: usize| Prototype {
        name: format!("act{n}"),
        doc: "d".repeat(1_500),
        prominence: Prominence::Featured,
        params: vec![Param { name: "what".into(), ..Param::default() }],
        ..Prototype::default()
    };
    let mut world = World::new();
    let all: Vec<Prototype> =
        (0..25_000).map(|n| Prototype { doc: String::new(), ..prototype(n) }).collect();
    world.set_behaviour("notes/main", Behaviour::Greets(all[..9_000].to_vec()));
    world.open(reader("a"), "notes").exits(6).has("9000 actions (limit 512)");
    world.set_behaviour("other/main", Behaviour::Greets((0..160).map(prototype).collect()));
    let opened = world.open(reader("a"), "other");
    opened.exits(0).has("actions: pipemux help other").lacks("act7");
    assert!(estimate(&opened.text) < u64::from(WINDOW_BUDGET), "{}", opened.text);
}

#[test]
fn answer_that_is_too_long_keeps_its_status_and_says_where_the_rest_is() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let value = Some(Value::from("v".repeat(400_000)).to_blob());
    let done = Done { brief: "did it".into(), value, version: 1, ..Done::default() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Done(done))));
    let code = "notes.pick(); notes.name(); notes.pick(); notes.fail()";
    let call = VerbRequest { format: Format::Json, ..world.call(reader("a"), run(code)) };
    let client = world.connect();
    let id = world.send(client, &call);
    let [crate::world::RequestEnd::Answer(answer)] = world.request_ends(client, id) else {
        panic!("{:?}", world.request_ends(client, id).len());
    };
    assert_eq!((answer.exit, answer.delivery), (0, 0));
    let Body::Report(report) = &answer.body else { panic!("no report") };
    assert_eq!(report.steps.len(), 4);
    assert!(report.steps.iter().all(|step| step.status == StepStatus::Done));
    assert!(report.steps.iter().all(|step| step.brief == "did it" && step.value.is_none()));
    assert!(report.notices[0].contains("pipemux history --detail"), "{:?}", report.notices);
    // Sent again, it is the same answer, and nothing runs.
    let ran = world.invoked.len();
    let again = world.ask_call(&call);
    again.exits(0);
    assert_eq!(world.invoked.len(), ran);
}

fn notify(world: &mut World, session: &str, count: usize, text: &str) {
    let app = world.process(session).expect("it runs");
    let envelope = Envelope::event(Method::Notify, app);
    for n in 0..count {
        let notify = Notify { text: format!("{text} {n}") };
        world.event(Event::AppFrame { app, frame: frame(&envelope, &notify) });
        // Within what an app may say in a span.
        world.pass(1_000);
    }
}

#[test]
fn notices_of_an_app_push_out_no_notice_of_the_daemon() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.open(reader("a"), "other");
    let app = world.process("other/main").expect("it runs");
    world.kill(app, Exit::Signal(9), &[]);
    world.open(reader("b"), "other");
    notify(&mut world, "other/main", 2, "quiet");
    notify(&mut world, "notes/main", 2 * APP_NOTICES_MAX, "loud");
    let seen = world.view(reader("a"));
    seen.has("other/main was restarted").has("other/main: quiet 1");
    seen.has("notes/main: ").has("earlier notices were left out");
    assert!(estimate(&seen.text) < 6_000);
}

#[test]
fn hidden_things_of_one_session_are_not_forgotten_for_another() {
    let mut world = World::new();
    let object = |key: String| {
        Piece::Object(ObjectSlot { label: key.clone(), key, ..ObjectSlot::default() })
    };
    let content = vec![object("kept".into())];
    world.set_behaviour("other/main", shows(Projection { content, ..Projection::default() }));
    world.open(reader("a"), "other");
    let kept = world.view(reader("a")).id("kept");
    let hidden = Projection { version: 2, ..Projection::default() };
    world.set_behaviour("other/main", Behaviour::Shows(Box::new(hidden)));
    world.view(reader("a"));
    world.open(reader("a"), "notes");
    let rounds = 3 * SESSION_ANCHORS_MAX / 9_000;
    for round in 0..14.max(rounds) {
        let content = (0..9_000).map(|n| object(format!("{round}-{n}"))).collect();
        let done =
            Done { brief: "many".into(), content, version: round as u64 + 1, ..Done::default() };
        world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Done(done))));
        world.run(reader("a"), "notes.pick()").exits(0);
    }
    let limits = world.ask(reader("a"), Verb::Limits);
    let used = used(&limits.text, "anchors of this workspace");
    assert!(used <= SESSION_ANCHORS_MAX + 9_100, "{used} anchors");
    let text = world.ask(reader("a"), Verb::Read { target: format!("obj:{kept}") });
    // The anchor is known: its app was asked where the thing is.
    text.has("it was removed");
}

/// Returns how much of a bound is used, as `status --limits` says: bytes are rounded down.
fn used(limits: &str, what: &str) -> usize {
    let line = limits.lines().find(|line| line.starts_with(what)).expect("it is listed");
    let mut words = line[what.len() + 2..].split(' ');
    let used: f64 = words.next().and_then(|used| used.parse().ok()).expect("a number");
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = words.next().and_then(|unit| units.iter().position(|one| *one == unit));
    (used * 1024_f64.powi(unit.unwrap_or_default() as i32)) as usize
}

#[test]
fn unconfirmed_answers_keep_no_more_than_their_bytes() {
    let mut world = World::new();
    let text = |round: usize| format!("{round} {}\n", "word ".repeat(60)).repeat(1_500);
    let readers: Vec<&'static str> = (0..20).map(|n| &*format!("r{n}").leak()).collect();
    world.open(reader("a"), "notes");
    for round in 0..60 {
        let content = vec![Piece::Text(text(round))];
        let version = round as u64 + 1;
        let projection = Projection { version, content, ..Projection::default() };
        world.set_behaviour("notes/main", Behaviour::Shows(Box::new(projection)));
        let client = world.connect();
        let who = reader(readers[round % readers.len()]);
        let call = world.call(who, Verb::View(ViewArgs::default()));
        world.send(client, &VerbRequest { budget: Some(200_000), ..call });
    }
    let limits = world.ask(reader("a"), Verb::Limits);
    let held = used(&limits.text, "answers that all readers leave unconfirmed");
    assert!((1_000_000..=UNCONFIRMED_BYTES).contains(&held), "{held} bytes");
}

#[test]
fn oldest_kept_steps_make_room_for_those_of_other_readers() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    let stdin = "word ".repeat(100_000);
    let held = |world: &mut World| {
        let limits = world.ask(reader("a"), Verb::Limits);
        used(&limits.text, "open questions and kept steps, of all workspaces")
    };
    let mut most = 0;
    for number in 0..150_usize {
        let who = reader(format!("r{number}").leak());
        let code = "notes.fail(); notes.say(stdin)".into();
        let stdin = Some(stdin.clone().into_bytes().into());
        let verb = Verb::Run { code, stdin, only_queries: false };
        world.ask(who, verb).exits(1).has("kept as");
        most = most.max(held(&mut world));
    }
    assert!(most <= OPEN_RUNS_BYTES && most + (2 << 20) > OPEN_RUNS_BYTES, "{most} bytes");
    world.answer(reader("r0"), "notes.say('x')").exits(3);
    world.answer(reader("r149"), "notes.say('x')").exits(0);
}

#[test]
fn brackets_cost_no_more_than_letters() {
    let mut costs = Vec::new();
    for text in ["[".repeat(600_000), "a".repeat(600_000)] {
        let mut world = World::new();
        let content = vec![Piece::Text(text)];
        world.set_behaviour("notes/main", shows(Projection { content, ..Projection::default() }));
        let meter = pipemux_tokens::work::Meter::start();
        world.open(reader("a"), "notes").exits(0);
        costs.push(meter.units());
    }
    assert!(costs[0] < 8 * costs[1], "{costs:?} units");
}
