//! Questions before anything runs, and questions of apps; their answers.

use pipemux_proto::app::{Choice, QuestionKind};

use crate::foreign::{Needs, OptionItem, Question};
use crate::runs::questions::asker::Asker;
use crate::runs::questions::question::{OpenQuestion, ParsedAnswer};
use crate::runs::suspended::Suspended;

use super::*;

/// Keeps the run with the question that it asks.
#[track_caller]
fn asked(run: &Run, output: RunOutput) -> OpenQuestion {
    match output {
        RunOutput::Ask { needs, asker } => OpenQuestion::new(Suspended::of(run), needs, asker, 0),
        RunOutput::AskAgain { question, .. } => {
            OpenQuestion::new(Suspended::of(run), question.needs, question.asker, 0)
        }
        other => panic!("expected a question, got {other:?}"),
    }
}

fn read(scene: &Scene, question: &OpenQuestion, text: &str) -> Result<ParsedAnswer, Fault> {
    let typed = TypedAnswer::read(text, None, &question.value_names())?;
    question.read(typed, &scene.context())
}

/// Answers a question as its reader would, and resumes the run.
#[track_caller]
fn answer(scene: &Scene, question: OpenQuestion, text: &str) -> (Run, RunOutput) {
    let answer = read(scene, &question, text).unwrap();
    let (mut run, input) = question.answer(1, answer, &scene.context());
    let output = scene.resume(&mut run, input);
    (run, output)
}

fn missing(ty: Type, meant: Option<Value>) -> Argument {
    Argument::Missing(MissingArgument { ty, meant, raw: false, secret: false })
}

fn needs(kind: QuestionKind, labels: &[&str]) -> Outcome {
    let option = |label: &&str| OptionItem { label: (*label).into(), text: "".into() };
    let options = labels.iter().map(option).collect();
    let question =
        Question { text: "3 matches".into(), kind, options, unlisted: 0, ..Question::default() };
    Outcome::Needs(Needs { question, token: Value::from("token").to_blob(), numbers: Vec::new() })
}

#[test]
fn missing_arguments_are_asked_for_before_anything_runs() {
    let scene = Scene::new();
    let second = step("todo/main", "add")
        .with("text", Type::String, missing(Type::String, None))
        .with("count", Type::Int, missing(Type::Int, Some(Value::Int(3))));
    let mut run = scene.run(vec![step("notes/main", "a"), second]);

    let output = scene.begin(&mut run);
    let question = asked(&run, output);
    assert_eq!(question.title(), "todo.add: needs text");
    let filled = question.fill("milk", None, &scene.context()).unwrap();
    assert!(filled.fault.is_none(), "what was given as another type is what was meant");
    let fields = ParsedAnswer::Fields(filled.given);
    let (mut run, input) = question.answer(1, fields, &scene.context());
    let output = scene.resume(&mut run, input);
    assert_eq!(sent(output).0, key("notes/main"), "the first step begins now");

    let (_, invoke) = sent(scene.reply(&mut run, done(11)));
    assert_eq!(invoke.args["text"], Arg::from(Value::from("milk")));
    assert_eq!(invoke.args["count"], Arg::from(Value::Int(3)));
    assert_eq!(run.answers.count, 1);
}

#[test]
fn objects_are_offered_for_a_missing_ref() {
    let mut scene = Scene::new();
    scene.show("notes/main", "n1", 4);
    let ty = Type::Anchor(Some("note".into()));
    let open = step("notes/main", "open").with("at", ty.clone(), missing(ty, None));
    let mut run = scene.run(vec![open]);
    let output = scene.begin(&mut run);
    let question = asked(&run, output);
    assert!(read(&scene, &question, "").is_err());
    // The object moves on: what was listed is what is chosen.
    scene.show("notes/main", "n1", 5);
    let (_, output) = answer(&scene, question, "1");
    let Arg::Ref(chosen) = &sent(output).1.args["at"] else { panic!() };
    assert_eq!((chosen.key.as_str(), chosen.rev), ("n1", 4));
}

#[test]
fn ambiguous_session_is_asked_for() {
    let scene = Scene::new();
    let mut add = step("notes/main", "add");
    add.candidates = vec![key("notes/main"), key("todo/main")];
    let mut run = scene.run(vec![add]);
    let output = scene.begin(&mut run);
    let question = asked(&run, output);
    assert!(matches!(question.asker, Asker::AmbiguousTarget(0)));
    let (run, output) = answer(&scene, question, "2");
    assert_eq!(sent(output).0, key("todo/main"));
    assert!(run.progress.steps[0].candidates.is_empty());
}

#[test]
fn answer_to_an_app_resumes_its_step() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "pick"), step("todo/main", "add")]);
    let (_, first) = sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::PickMany, &["a", "b", "c"]));
    let question = asked(&run, output);
    assert!(run.in_flight().is_none() && run.progress.done.is_empty());

    let (mut run, output) = answer(&scene, question, "1,3");
    let (session, second) = sent(output);
    let resume = second.resume.clone().unwrap();
    assert_eq!((session, resume.choice), (key("notes/main"), Choice::Picked(vec![1, 3])));
    assert_eq!(resume.token, Value::from("token").to_blob());
    assert_eq!(Invoke { resume: None, ..second }, first);
    assert_eq!(sent(scene.reply(&mut run, done(11))).0, key("todo/main"));
}

#[test]
fn only_yes_confirms() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "drop")]);
    assert!(!sent(scene.begin(&mut run)).1.confirmed);
    let output = scene.reply(&mut run, needs(QuestionKind::Confirm, &[]));
    let question = asked(&run, output);
    let (_, output) = answer(&scene, question, "yes");
    assert!(sent(output).1.confirmed);
}

#[test]
fn confirmed_action_stays_confirmed_when_it_asks_for_something_else() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "drop")]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::Confirm, &[]));
    let question = asked(&run, output);
    let (mut run, output) = answer(&scene, question, "yes");
    assert!(sent(output).1.confirmed);
    let output = scene.reply(&mut run, needs(QuestionKind::PickOne, &["trash", "disk"]));
    let question = asked(&run, output);
    let (_, output) = answer(&scene, question, "disk");
    let (_, invoke) = sent(output);
    assert!(invoke.confirmed);
    assert_eq!(invoke.resume.unwrap().choice, Choice::Picked(vec![2]));
}

#[test]
fn only_yes_and_no_answer_a_confirmation() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "drop")]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::Confirm, &["a", "b"]));
    let question = asked(&run, output);
    for wrong in ["go", "1", "all", "a", "", "ok", "link", "yes yes"] {
        assert!(read(&scene, &question, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn answer_that_the_app_refuses_as_wrong_leaves_the_question_open() {
    let scene = Scene::new();
    let ty = Type::Int;
    let mut cast = step("notes/main", "cast").with("mana", ty.clone(), missing(ty, None));
    cast.call = "cast()".into();
    let mut run = scene.run(vec![cast, step("notes/main", "after")]);
    let output = scene.begin(&mut run);
    let question = asked(&run, output);
    let (mut run, output) = answer(&scene, question, "0");
    sent(output);
    assert_eq!(run.progress.steps[0].call, "notes.cast(mana=0)");
    let wrong = Outcome::Failed(Fault::usage("mana: at least 1"));
    let output = scene.reply(&mut run, wrong);
    assert!(
        matches!(&output, RunOutput::AskAgain { fault, .. } if fault.message == "mana: at least 1")
    );
    assert_eq!((run.answers.count, run.progress.steps[0].call.as_str()), (0, "cast()"));
    let question = asked(&run, output);
    let (mut run, output) = answer(&scene, question, "7");
    assert_eq!(sent(output).1.args["mana"], Arg::from(Value::Int(7)));
    assert_eq!(sent(scene.reply(&mut run, done(11))).1.action, "after");
    assert_eq!(run.answers.count, 1);
}

#[test]
fn undelivered_answer_leaves_the_question_open() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "pick")]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::PickMany, &["a"]));
    let question = asked(&run, output);
    let (mut run, output) = answer(&scene, question, "1");
    sent(output);
    let lost = lost(false, false, "notes/main can't start");
    assert!(matches!(scene.resume(&mut run, RunInput::Replied(lost)), RunOutput::AskAgain { .. }));
    // What may have been carried out is not asked again.
    let mut run = scene.run(vec![step("notes/main", "pick")]);
    sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::PickMany, &["a"]));
    let question = asked(&run, output);
    let (mut run, output) = answer(&scene, question, "1");
    sent(output);
    assert_finished(scene.die(&mut run));
    assert!(run.unknown);
}

#[test]
fn run_that_was_cancelled_while_its_app_asked_goes_on_with_the_answer() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "pick")]);
    sent(scene.begin(&mut run));
    run.cancelled = true;
    let output = scene.reply(&mut run, needs(QuestionKind::PickMany, &["a"]));
    let question = asked(&run, output);
    let (_, output) = answer(&scene, question, "1");
    sent(output);
}

#[test]
fn typed_ref_means_what_its_reader_has_seen_by_now() {
    let mut scene = Scene::new();
    scene.show("notes/main", "n1", 1);
    let ty = Type::Anchor(Some("note".into()));
    let open = step("notes/main", "open").with("at", ty.clone(), missing(ty, None));
    let mut run = scene.run(vec![open]);
    let output = scene.begin(&mut run);
    let question = asked(&run, output);
    let later = scene.show("notes/main", "n2", 1);
    let typed = format!("obj:{later}");
    assert_eq!(
        read(&scene, &question, &typed).unwrap_err().code,
        pipemux_proto::Code::Stale,
        "not seen"
    );
    scene.see(later);
    let (_, output) = answer(&scene, question, &typed);
    let Arg::Ref(chosen) = &sent(output).1.args["at"] else { panic!() };
    assert_eq!(chosen.key, "n2");
}

#[test]
fn call_with_nothing_to_choose_from_fails_at_once() {
    let scene = Scene::new();
    let ty = Type::List(Box::new(Type::Anchor(Some("note".into()))));
    let open = step("notes/main", "open").with("at", ty.clone(), missing(ty, None));
    let mut run = scene.run(vec![step("todo/main", "add"), open]);
    // The window is looked at before it is said that it shows nothing.
    assert!(matches!(scene.begin(&mut run), RunOutput::LookUp(LookupRequest::Refresh { .. })));
    assert!(run.needs_ids());
    let window = ArrivedWindow { app: Incarnation(1), version: 10, ids: Vec::new(), epoch: 5 };
    assert_finished(scene.resume(&mut run, RunInput::LookedUp(LookupReply::Window(Ok(window)))));
    assert_eq!(
        outcomes(&run),
        [
            "Skipped: not run",
            "Failed: needs at: Anchor<note>[], and notes/main shows none to choose"
        ]
    );
    assert_eq!(run.exit_status(), 2);
}

#[test]
fn list_of_things_takes_several_of_them() {
    let mut scene = Scene::new();
    for object in ["n1", "n2", "n3"] {
        scene.show("notes/main", object, 1);
    }
    let ty = Type::List(Box::new(Type::Anchor(Some("note".into()))));
    for (text, expected) in [
        ("1,3", &["n1", "n3"][..]),
        ("2", &["n2"]),
        ("all", &["n1", "n2", "n3"]),
        ("all but 2", &["n1", "n3"]),
        ("obj:3, obj:1", &["n3", "n1"]),
        ("at=[obj:3]", &["n3"]),
    ] {
        let open = step("notes/main", "open").with("at", ty.clone(), missing(ty.clone(), None));
        let mut run = scene.run(vec![open]);
        let output = scene.begin(&mut run);
        let question = asked(&run, output);
        assert_eq!(question.needs.question.kind, QuestionKind::PickMany);
        for id in 1..=3 {
            scene.see(id);
        }
        let (run, output) = answer(&scene, question, text);
        let Arg::List(chosen) = sent(output).1.args["at"].clone() else { panic!("{text}") };
        let keys: Vec<String> = chosen
            .iter()
            .map(|one| match one {
                Arg::Ref(thing) => thing.key.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(keys, expected, "{text}");
        assert!(
            run.progress.steps[0].call.starts_with("notes.open(at=[obj:"),
            "{}",
            run.progress.steps[0].call
        );
    }
}

#[test]
fn declined_step_is_skipped_and_ends_the_run() {
    let scene = Scene::new();
    for sent_before in [false, true] {
        let mut run = scene.run(vec![step("notes/main", "drop"), step("notes/main", "b")]);
        sent(scene.begin(&mut run));
        let output = scene.reply(&mut run, needs(QuestionKind::Confirm, &[]));
        let mut question = asked(&run, output);
        if sent_before {
            question.suspended.attempts.sent_before = vec![0];
        }
        assert!(matches!(read(&scene, &question, "no"), Ok(ParsedAnswer::Cancel)));
        let (run, output) = answer(&scene, question, "no");
        assert_finished(output);
        assert_eq!(run.unknown, sent_before, "{:?}", outcomes(&run));
        assert_eq!(run.progress.done.len(), 1);
        assert!(!run.progress.took_effect());
    }
}

#[test]
fn nested_call_that_asks_fails() {
    let scene = Scene::new();
    let outer = step("todo/main", "add").with("text", Type::String, Argument::Result(0));
    let mut run = scene.run(vec![step("notes/main", "pick").nested(), outer]);
    sent(scene.begin(&mut run));
    assert_finished(scene.reply(&mut run, needs(QuestionKind::Confirm, &[])));
    let failed = "Failed: pick asks, and a nested call can't be answered: 3 matches";
    assert_eq!(outcomes(&run), [failed]);
}

#[test]
fn further_options_of_an_app_are_counted_not_listed() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "pick")]);
    sent(scene.begin(&mut run));
    let most = pipemux_proto::limits::CHOICES_MAX;
    let output = scene.reply(&mut run, needs(QuestionKind::PickOne, &vec!["x"; most + 7]));
    let question = asked(&run, output).needs.question;
    assert_eq!((question.options.len(), question.unlisted), (most, 7));
}
