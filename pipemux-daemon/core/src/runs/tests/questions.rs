//! Questions before anything runs, and questions of apps; their answers.

use pipemux_proto::app::{Choice, Needs, OptionItem, Question, QuestionKind};

use crate::runs::question::{Asker, OpenQuestion, ParsedAnswer};

use super::*;

/// Keeps the run with the question that it asks.
#[track_caller]
fn asked(run: &Run, output: RunOutput) -> OpenQuestion {
    match output {
        RunOutput::Ask { needs, asker } => OpenQuestion { run: run.clone(), needs, asker },
        other => panic!("expected a question, got {other:?}"),
    }
}

/// Answers a question as its reader would, and resumes the run.
#[track_caller]
fn answer(scene: &Scene, question: OpenQuestion, text: &str) -> (Run, RunOutput) {
    let answer = question.read(text).unwrap();
    let (mut run, input) = question.answer(answer);
    let output = scene.resume(&mut run, input);
    (run, output)
}

fn missing(ty: Type, meant: Option<Value>) -> Argument {
    Argument::Missing(MissingArgument { ty, meant })
}

fn needs(kind: QuestionKind, labels: &[&str]) -> Outcome {
    let option = |label: &&str| OptionItem { label: (*label).into(), text: String::new() };
    let options = labels.iter().map(option).collect();
    let question = Question { text: "3 matches".into(), kind, options, unlisted: 0 };
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
    assert_eq!(question.title(), "todo.add: needs text: string");
    let (run, output) = answer(&scene, question, "milk");
    let question = asked(&run, output);
    assert_eq!(question.title(), "todo.add: count is int: 3?");
    let (mut run, output) = answer(&scene, question, "yes");
    assert_eq!(sent(output).0, key("notes/main"), "the first step begins now");

    let (_, invoke) = sent(scene.reply(&mut run, done(11)));
    assert_eq!(invoke.args["text"], Arg::from(Value::from("milk")));
    assert_eq!(invoke.args["count"], Arg::from(Value::Int(3)));
    assert_eq!(run.answers, 2);
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
    assert!(question.read("").is_err());
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
    assert!(run.steps[0].candidates.is_empty());
}

#[test]
fn answer_to_an_app_resumes_its_step() {
    let scene = Scene::new();
    let mut run = scene.run(vec![step("notes/main", "pick"), step("todo/main", "add")]);
    let (_, first) = sent(scene.begin(&mut run));
    let output = scene.reply(&mut run, needs(QuestionKind::PickMany, &["a", "b", "c"]));
    let question = asked(&run, output);
    assert!(run.in_flight().is_none() && run.done.is_empty());

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
fn declined_step_is_skipped_and_ends_the_run() {
    let scene = Scene::new();
    for sent_before in [false, true] {
        let mut run = scene.run(vec![step("notes/main", "drop"), step("notes/main", "b")]);
        sent(scene.begin(&mut run));
        let output = scene.reply(&mut run, needs(QuestionKind::Confirm, &[]));
        let mut question = asked(&run, output);
        if sent_before {
            question.run.sent_before = vec![0];
        }
        assert!(matches!(question.read("no"), Ok(ParsedAnswer::Cancel)));
        let (run, output) = answer(&scene, question, "no");
        assert_finished(output);
        assert_eq!(run.unknown, sent_before, "{:?}", outcomes(&run));
        assert_eq!(run.done.len(), 1);
        assert!(!run.took_effect());
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
