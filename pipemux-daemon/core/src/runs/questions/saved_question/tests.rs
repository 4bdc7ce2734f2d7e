//! Questions that an earlier release wrote are read, and what is written now is what that release
//! wrote.

use pipemux_proto::app::{Choice, Invoke, QuestionKind, Resume};
use pipemux_proto::projection::{Arg, Copied, RefArg};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{SessionAddr, Value};

use super::*;

use crate::foreign::{LinkSlot, Needs, OptionItem, Question};

const WORKSPACE: &str = "/home/ada/project";

fn key(workspace: Option<&str>, addr: &str) -> SessionKey {
    let addr: SessionAddr = addr.parse().unwrap();
    SessionKey { workspace: workspace.map(Into::into), addr }
}

fn param(name: &str, ty: Type, default: Option<Value>) -> Param {
    Param { name: name.into(), ty, default, ..Param::default() }
}

fn prototype(name: &str, params: Vec<Param>) -> Prototype {
    Prototype {
        name: name.into(),
        doc: "Does it.".into(),
        params,
        returns: Some(Type::List(Box::new(Type::Anchor(Some("row".into()))))),
        risk: Risk::Changes,
        idempotent: true,
        prominence: Default::default(),
        ..Prototype::default()
    }
}

/// A nested call that has run, then the asking step, with every form of an argument.
fn steps() -> Vec<Step> {
    let editor = key(Some(WORKSPACE), "editor/main");
    let shared = key(None, "shell/main");
    let union = Type::Union(vec!["up".into(), "down".into()]);
    let nested = Step {
        session: shared.clone(),
        candidates: Vec::new(),
        prototype: prototype("grep", vec![param("text", Type::String, None)]),
        args: vec![("text".into(), Argument::Fixed(Arg::from(Value::from("parse"))))],
        call: "grep('parse')".into(),
        origin: StepOrigin::Call,
        nested: true,
    };
    let thing = RefArg { key: "line-7".into(), rev: 3, ty: Some("line".into()) };
    let copied = Copied {
        value: Value::from("text").to_blob(),
        from: "shell/main".into(),
        label: "output".into(),
        file: None,
    };
    let outer = Step {
        session: editor.clone(),
        candidates: Vec::new(),
        prototype: prototype(
            "replace",
            vec![
                param("at", Type::Anchor(None), None),
                param("lines", Type::List(Box::new(Type::Line)), None),
                param("way", union.clone(), Some(Value::from("up"))),
                param("limit", Type::Optional(Box::new(Type::Int)), Some(Value::Int(5))),
            ],
        ),
        args: vec![
            (
                "at".into(),
                Argument::Ref {
                    of: "obj:editor/main:line:23@e7".parse().unwrap(),
                    ty: Type::Anchor(Some("line".into())),
                },
            ),
            (
                "lines".into(),
                Argument::List(vec![
                    Argument::Result(0),
                    Argument::Fixed(Arg::Ref(thing.clone())),
                    Argument::Fixed(Arg::Copied(copied.clone())),
                    Argument::Fixed(Arg::List(vec![Arg::from(Value::Int(-4))])),
                    Argument::Ref { of: "obj:9".parse().unwrap(), ty: Type::String },
                    Argument::Name {
                        session: shared.clone(),
                        name: "result".into(),
                        ty: Type::Any,
                    },
                ]),
            ),
            ("way".into(), Argument::Fixed(Arg::from(Value::from("down")))),
        ],
        call: "editor.replace(obj:23@e7, [grep('parse')], way='down')".into(),
        origin: StepOrigin::Call,
        nested: false,
    };
    vec![nested, outer]
}

fn done() -> Vec<StepOutcome> {
    let again = LinkSlot {
        label: "again".into(),
        action: "grep".into(),
        args: [("text".to_owned(), Arg::from(Value::from("parse")))].into(),
        ..LinkSlot::default()
    };
    vec![StepOutcome {
        value: Some(Value::List(vec![Value::Int(1), Value::Null]).to_blob()),
        label: Some("2 rows".into()),
        detail: Some("a\nb".into()),
        links: vec![again],
        status: StepStatus::Done,
        ..StepOutcome::skipped("2 matches")
    }]
}

fn suspended(steps: Vec<Step>) -> Suspended {
    let caller = Caller::new(WORKSPACE.into(), "agent-1", "run-77");
    let caller = Caller { cwd: "/home/ada/project/src".into(), ..caller };
    let mut suspended = Suspended::restored(caller, steps);
    suspended.answers.count = 2;
    suspended
}

fn needs(kind: QuestionKind, labels: &[&str]) -> Needs {
    let option = |label: &&str| OptionItem { label: (*label).into(), text: "text".into() };
    let options = labels.iter().map(option).collect();
    let question =
        Question { text: "3 matches".into(), kind, options, unlisted: 1, ..Question::default() };
    Needs { question, token: Value::from("token").to_blob(), numbers: Vec::new() }
}

/// A question that the app asks about its second step, for the second time.
fn app_question() -> OpenQuestion {
    let invoke = Invoke {
        action: "replace".into(),
        args: [("at".to_owned(), Arg::from(Value::Int(23)))].into(),
        seen_version: Some(12),
        seen_lost: true,
        cwd: "/home/ada/project/src".into(),
        reader: "agent-1".into(),
        run_id: "run-77".into(),
        confirmed: true,
        resume: Some(Resume {
            token: Value::from("first").to_blob(),
            choice: Choice::Picked(vec![1, 3]),
        }),
        ..Invoke::default()
    };
    let mut suspended = suspended(steps());
    (suspended.progress.next, suspended.progress.done) = (1, done());
    suspended.attempts.sent_before = vec![1];
    let needs = needs(QuestionKind::PickMany, &["line 57", "line 58"]);
    OpenQuestion::new(suspended, needs, Asker::App(Box::new(invoke)), 0)
}

/// A question of the daemon for an argument, with another one to follow.
fn argument_question() -> OpenQuestion {
    let mut steps = steps();
    let ty = Type::Anchor(Some("line".into()));
    let missing = MissingArgument { ty, meant: None, raw: false, secret: false };
    steps[1].args[0].1 = Argument::Missing(missing.clone());
    let meant = Some(Value::Float(2.5));
    let limit =
        Argument::Missing(MissingArgument { ty: Type::Int, meant, raw: false, secret: false });
    steps[1].args.push(("limit".into(), limit));
    let thing = RefArg { key: "line-7".into(), rev: 3, ty: None };
    let options = vec![
        Argument::Fixed(Arg::Ref(thing.clone())),
        Argument::List(vec![Argument::Fixed(Arg::Ref(thing))]),
    ];
    let asker = Asker::MissingArgument(AskedArgument { step: 1, index: 0, missing, options });
    OpenQuestion::new(suspended(steps), needs(QuestionKind::PickOne, &["a", "b"]), asker, 0)
}

/// A question of the daemon about which session a step means.
fn target_question() -> OpenQuestion {
    let mut steps = steps();
    steps[1].candidates = vec![key(Some(WORKSPACE), "editor/main"), key(None, "editor/other")];
    let needs = needs(QuestionKind::PickOne, &["editor/main", "editor/other"]);
    OpenQuestion::new(suspended(steps), needs, Asker::AmbiguousTarget(1), 0)
}

fn fixtures() -> [(OpenQuestion, &'static str, &'static str); 3] {
    [
        (app_question(), "app", include_str!("fixtures/app.hex")),
        (argument_question(), "argument", include_str!("fixtures/argument.hex")),
        (target_question(), "target", include_str!("fixtures/target.hex")),
    ]
}

fn hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(48).map(|chunk| line(chunk) + "\n").collect()
}

fn unhex(text: &str) -> Bytes {
    let digits: String = text.split_whitespace().collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect::<Vec<u8>>().into()
}

#[test]
fn saved_form_is_that_of_version_1() {
    for (question, name, fixture) in fixtures() {
        let saved = save(&question).unwrap();
        assert_eq!(saved.version, 1, "{name}");
        assert_eq!(hex(&saved.state), fixture, "{name}");
    }
}

#[test]
fn version_1_is_restored_in_full() {
    for (question, name, fixture) in fixtures() {
        let saved = SavedQuestion { version: 1, state: unhex(fixture) };
        let restored = restore(&saved, &WORKSPACE.into()).unwrap();
        assert_eq!(format!("{restored:#?}"), format!("{question:#?}"), "{name}");
    }
}

#[test]
fn shown_question_is_restored_as_shown() {
    let question = OpenQuestion { shown: true, ..app_question() };
    assert!(restore(&save(&question).unwrap(), &WORKSPACE.into()).unwrap().shown);
}

#[test]
fn other_versions_and_damaged_state_are_not_restored() {
    for (_, name, fixture) in fixtures() {
        let state = unhex(fixture);
        let other = SavedQuestion { version: 2, state: state.clone() };
        assert!(restore(&other, &WORKSPACE.into()).is_none(), "{name}");
        let cut = SavedQuestion { version: 1, state: state.slice(..state.len() - 1) };
        assert!(restore(&cut, &WORKSPACE.into()).is_none(), "{name}");
    }
}
