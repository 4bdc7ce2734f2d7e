//! Forms, records and secrets.

use pipemux_proto::app::*;
use pipemux_proto::hello::{FORMS, ProtocolVersion};
use pipemux_proto::projection::*;
use pipemux_proto::prototype::{Field, Param, Prototype, Type};
use pipemux_proto::report::{AnswerOption, FieldReport, QuestionReport, Report};
use pipemux_proto::{Blob, Fault, Hello, Kind, Method, Role, Value};

use super::{Sample, add};

pub fn samples(all: &mut Vec<Sample>) {
    let protocol = ProtocolVersion { major: 1, minor: 6 };
    let fields = fields();
    let daemon = Hello {
        protocol,
        features: vec![FORMS.to_owned()],
        ..Hello::new(Role::Daemon, "pipemuxd 0.1.0")
    };
    add(all, "hello-daemon-1-6", (Kind::Event, Method::Hello), &daemon);
    let record =
        Param { name: "task".into(), ty: Type::Record(fields.clone()), ..Param::default() };
    let labels =
        Param { name: "labels".into(), ty: Type::Map(Box::new(Type::Int)), ..Param::default() };
    let key = Param { name: "key".into(), ty: Type::String, secret: true, ..Param::default() };
    let params = vec![record, labels, key];
    let prototypes = vec![Prototype { name: "add".into(), params, ..Prototype::default() }];
    let app = Hello { protocol, prototypes, ..Hello::new(Role::App, "docui 0.1.0") };
    add(all, "hello-app-record", (Kind::Event, Method::Hello), &app);

    let reply = (Kind::Reply, Method::Invoke);
    let token = Blob(b"\x01token"[..].into());
    let needs = |question| Needs { question, token: token.clone(), numbers: Vec::new() };
    let form = Question {
        text: "a new task".into(),
        kind: QuestionKind::Form,
        fields,
        ..Question::default()
    };
    add(all, "outcome-needs-form", reply, &Outcome::Needs(needs(form)));
    let secret = Question { text: "password".into(), secret: true, ..Question::default() };
    add(all, "outcome-needs-secret", reply, &Outcome::Needs(needs(secret)));
    let refused = Fault::usage("taken").field("title");
    add(all, "outcome-failed-field", reply, &Outcome::Failed(refused));

    let thing = RefArg { key: "k1".into(), rev: 2, ty: Some("note".into()) };
    let entries = [("note", Arg::Ref(thing)), ("count", Arg::from(Value::Int(2)))];
    let entries: Args = entries.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
    let invoke = Invoke {
        action: "add".into(),
        args: [("task".to_owned(), Arg::Record(entries.clone()))].into(),
        reader: "default".into(),
        run_id: "r-1".into(),
        seen_version: Some(0),
        ..Invoke::default()
    };
    let request = (Kind::Request, Method::Invoke);
    add(all, "invoke-record", request, &invoke);
    let resume = Some(Resume { token, choice: Choice::Fields(entries) });
    add(all, "invoke-fields", request, &Invoke { resume, ..invoke });

    let answer = (Kind::Reply, Method::Verb);
    let note = AnswerOption { label: "k1".into(), detail: String::new(), link: "obj:7".into() };
    let title = FieldReport {
        name: "title".into(),
        ty: "string".into(),
        required: true,
        given: Some("'x'".into()),
        ..FieldReport::default()
    };
    let about = FieldReport {
        name: "about".into(),
        ty: "Anchor<note>".into(),
        doc: "What it is about.".into(),
        required: true,
        choices: vec![note],
        ..FieldReport::default()
    };
    let count = FieldReport {
        name: "count".into(),
        ty: "int".into(),
        default: Some(Value::Int(1)),
        ..FieldReport::default()
    };
    let key = FieldReport {
        name: "key".into(),
        ty: "secret".into(),
        secret: true,
        ..FieldReport::default()
    };
    let question = QuestionReport {
        id: 66,
        text: "todo.add: a new task".into(),
        fields: vec![title, about, count, key],
        hints: vec!["pipemux answer about=obj:7".into()],
        ..QuestionReport::default()
    };
    let asked = |question| pipemux_proto::client::Answer {
        exit: 5,
        body: pipemux_proto::client::Body::Report(Box::new(Report {
            workspace: "work".into(),
            question: Some(question),
            ..Report::default()
        })),
        delivery: 0,
        error: false,
    };
    add(all, "answer-report-form", answer, &asked(question.clone()));
    let secret = QuestionReport { fields: Vec::new(), secret: true, ..question };
    add(all, "answer-report-secret", answer, &asked(secret));
}

fn fields() -> Vec<Field> {
    let field = |name: &str, ty| Field { name: name.into(), ty, ..Field::default() };
    vec![
        Field {
            doc: "What is to be done.".into(),
            pattern: Some("[^ ].*".into()),
            max: Some(80.0),
            ..field("title", Type::String)
        },
        Field {
            default: Some(Value::Int(1)),
            min: Some(1.0),
            max: Some(9.5),
            ..field("count", Type::Int)
        },
        field("note", Type::Optional(Box::new(Type::String))),
        Field { secret: true, ..field("key", Type::String) },
    ]
}
