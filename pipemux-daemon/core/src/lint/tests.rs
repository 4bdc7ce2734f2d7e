use super::*;
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::projection::{LinkSlot, ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Param, Prototype};
use pipemux_proto::{Fault, Hello, Role};

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
