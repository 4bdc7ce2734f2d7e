use super::types::fits;
use super::*;
use pipemux_proto::app::{Done, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::job::{JobReport, Started};
use pipemux_proto::projection::{LinkSlot, Media, ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Field, Param, Prototype, Type};
use pipemux_proto::{Fault, Hello, Role, Value};

fn action() -> Prototype {
    let text = Param { name: "text".into(), ty: Type::String, ..Param::default() };
    Prototype { name: "add".into(), params: vec![text], ..Prototype::default() }
}

fn written(lints: Vec<Lint>) -> Vec<String> {
    lints.into_iter().map(|lint| format!("{} {}", lint.path, lint.rule)).collect()
}

#[test]
fn flawless_messages_have_no_lints() {
    let hello_ = Hello { prototypes: vec![action()], ..Hello::new(Role::App, "todo 1") };
    assert_eq!(hello(&hello_), []);
    let link = LinkSlot {
        label: "add".into(),
        action: "add".into(),
        args: [("text".to_owned(), Value::from("milk").into())].into(),
        ..LinkSlot::default()
    };
    let object = ObjectSlot { key: "i1".into(), label: "milk".into(), ..ObjectSlot::default() };
    let content = vec![Piece::Object(object), Piece::Link(link)];
    let shown = Projection { content, focus: Some("i1".into()), ..Projection::default() };
    assert_eq!(projection(&shown, &[action()]), []);
}

#[test]
fn flaws_of_a_window_are_found_with_their_places() {
    let link = |action: &str, param: &str, value: Value| {
        Piece::Link(LinkSlot {
            label: "do".into(),
            action: action.into(),
            args: [(param.to_owned(), value.into())].into(),
            ..LinkSlot::default()
        })
    };
    let object = |key: &str, rev| {
        let label = "a\nb".to_owned();
        let ty = Some("Item".to_owned());
        Piece::Object(ObjectSlot { key: key.into(), rev, label, ty, ..ObjectSlot::default() })
    };
    let content = vec![
        link("gone", "text", "x".into()),
        link("add", "txt", "x".into()),
        link("add", "text", 3.into()),
        object("i1", 0),
        object("i1", 1),
        object("", 0),
    ];
    let shown = Projection {
        content,
        focus: Some("i9".into()),
        actions: Some(vec!["gone".into()]),
        ..Projection::default()
    };
    let found = written(projection(&shown, &[action()]));
    for expected in [
        "content[0].link.action link-action",
        "content[1].link.args.txt link-argument",
        "content[2].link.args.text link-argument",
        "content[3].object.label one-line",
        "content[3].object.type type",
        "content[4].object.key key-twice",
        "content[5].object.key key",
        "focus focus",
        "actions[0] actions",
    ] {
        assert!(found.iter().any(|found| found == expected), "{expected}: {found:#?}");
    }
}

#[test]
fn value_is_compared_with_the_declared_type() {
    let returns = |ty| Prototype { returns: Some(ty), ..action() };
    let done = |value: Option<Value>| {
        Outcome::Done(Done { value: value.map(|value| value.to_blob()), ..Done::default() })
    };
    let lints = |value, ty| written(outcome(&done(value), Some(&returns(ty)), &[]));
    assert_eq!(lints(Some(3.into()), Type::Int), [""; 0]);
    assert_eq!(lints(None, Type::Int), [""; 0]);
    assert_eq!(lints(Some("3".into()), Type::Int), ["done.value value"]);
    assert_eq!(written(fault(&Fault::failed(" "))), ["message message"]);
}

#[test]
fn action_that_is_declared_twice_is_found() {
    let prototypes = vec![action(), action()];
    let greeting = Hello { prototypes, ..Hello::new(Role::App, "") };
    assert_eq!(written(hello(&greeting)), ["prototypes[1].name action-twice"]);
}

fn field(name: &str, ty: Type) -> Field {
    Field { name: name.into(), ty, ..Field::default() }
}

#[test]
fn flaws_of_jobs_are_found() {
    let started = |job: &str| {
        let started = Started { job: job.into(), brief: "build".into(), ..Started::default() };
        written(outcome(&Outcome::Started(started), None, &[]))
    };
    assert_eq!(started("j1"), Vec::<String>::new());
    assert_eq!(started(""), ["started.job key"]);
    let report = JobReport { job: "j1".into(), brief: "12 passed".into(), ..JobReport::default() };
    assert_eq!(written(job_report(&report)), ["brief brief"]);
}

#[test]
fn flaws_of_forms_are_found() {
    let asked = |kind, fields: Vec<Field>| {
        let question = Question { text: "which?".into(), kind, fields, ..Question::default() };
        let needs = Needs { question, token: Default::default(), numbers: Vec::new() };
        written(outcome(&Outcome::Needs(needs), None, &[]))
    };
    assert_eq!(asked(QuestionKind::Form, vec![field("count", Type::Int)]), Vec::<String>::new());
    assert_eq!(asked(QuestionKind::Form, vec![]), ["needs.question.fields form"]);
    let twice = vec![field("a", Type::Int), field("a", Type::Int)];
    assert_eq!(asked(QuestionKind::Form, twice), ["needs.question.fields form"]);
    let odd = Field { min: Some(3.0), max: Some(1.0), ..field("a", Type::Int) };
    assert_eq!(asked(QuestionKind::Form, vec![odd]), ["needs.question.fields[0].min bounds"]);
    let few = Field { default: Some("x".into()), ..field("a", Type::Int) };
    assert_eq!(asked(QuestionKind::Form, vec![few]), ["needs.question.fields[0].default default"]);
}

#[test]
fn records_fit_their_declaration() {
    let record = Type::Record(vec![
        field("count", Type::Int),
        field("note", Type::Optional(Box::new(Type::String))),
    ]);
    let value = |fields: &[(&str, Value)]| {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Value::Map(fields.collect())
    };
    assert!(fits(&value(&[("count", 1.into())]), &record));
    assert!(!fits(&value(&[("note", "x".into())]), &record));
    assert!(!fits(&value(&[("count", 1.into()), ("more", 1.into())]), &record));
    assert!(fits(&value(&[("any", 1.into())]), &Type::Map(Box::new(Type::Int))));
    assert!(!fits(&value(&[("any", "x".into())]), &Type::Map(Box::new(Type::Int))));
}

#[test]
fn media_types_are_names() {
    let shown = |media_type: &str| {
        let media = Some(Media { media_type: media_type.into(), bytes: 3, ..Media::default() });
        let object =
            ObjectSlot { key: "i1".into(), label: "a".into(), media, ..ObjectSlot::default() };
        let content = vec![Piece::Object(object)];
        written(projection(&Projection { content, ..Projection::default() }, &[]))
    };
    assert_eq!(shown("image/png"), Vec::<String>::new());
    assert_eq!(shown("png"), ["content[0].object.media.type media"]);
}

#[test]
fn input_that_takes_no_line_is_found() {
    let lints = |prototypes| written(hello(&Hello { prototypes, ..Hello::new(Role::App, "") }));
    let input = || Prototype { input: true, ..action() };
    let also = |ty| Param { name: "also".into(), ty, ..Param::default() };
    let mut optional = input();
    optional.params.push(also(Type::Optional(Box::new(Type::Int))));
    assert_eq!(lints(vec![optional]), [""; 0]);
    let mut asking = input();
    asking.params.push(also(Type::Int));
    assert_eq!(lints(vec![asking]), ["prototypes[0].input input"]);
    let numbered = Prototype { params: vec![also(Type::Int)], ..input() };
    assert_eq!(lints(vec![numbered]), ["prototypes[0].input input"]);
    let second = Prototype { name: "second".into(), ..input() };
    assert_eq!(lints(vec![input(), second]), ["prototypes[1].input input"]);
}
