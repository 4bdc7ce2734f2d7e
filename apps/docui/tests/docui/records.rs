//! Records, maps, forms and secrets as an app's author declares them.

use std::collections::BTreeMap;

use docui::testing::Host;
use docui::{
    Actions, Anchor, App, ArgType, Ask, Choice, Context, Done, Fault, Found, Opening, Record,
    Reply, Secret, Value, View, ViewRequest,
};
use pipemux_proto::app::{Outcome, QuestionKind};
use pipemux_proto::projection::{Arg, RefArg};

docui::kind!(/** A note. */ pub Note = "note");
docui::record! {
    /// A line of an order.
    pub struct Item {
        /// What is ordered.
        name: String [min 1, max 80],
        count: i64 [min 1, max 9] = 1,
        code: Option<String> [pattern "[A-Z]{3}"],
        about: Option<Anchor<Note>>,
        r#type: String = "plain",
    }
}
docui::record! {
    /// An account.
    pub struct Account { user: String, key: Secret }
}
docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Orders some items for one table.
        changes featured Order = order(
            /// What is wanted.
            items: Vec<Item>,
            labels: BTreeMap<String, i64> = BTreeMap::new(),
        );
        changes listed Join = join(key: Secret);
        changes listed Enrol = enrol();
    }
}

struct Shop;

impl App for Shop {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Order { items, .. } => Ok(Done::new(format!("{items:?}")).into()),
            Action::Join { key } => Ok(Done::new(key.reveal().len().to_string()).into()),
            Action::Enrol {} => match context.form::<Account>()? {
                None => Ok(Ask::form::<Account>("who").default("user", "me").into()),
                Some(account) => Ok(Done::new(format!("{account:?}")).into()),
            },
        }
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new("")
    }

    fn find(&self, key: &str) -> Found {
        if key == "n1" { Found::Here(4) } else { Found::Gone(None) }
    }
}

fn host() -> Host<Shop> {
    let dir = tempfile::tempdir().unwrap();
    Host::open(&[], dir.path(), dir.path()).unwrap()
}

fn brief(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done(done) => done.brief,
        other => panic!("should be done: {other:?}"),
    }
}

#[test]
fn declaration_is_like_typescript() {
    let prototypes = Action::prototypes();
    assert_eq!(
        prototypes[0].declaration(),
        "/** Orders some items for one table. @param items What is wanted. */\n\
         function order(items: {name: string, count: int = 1, code?: string, about?: Anchor<note>, \
         type: string = 'plain'}[], labels: {[key: string]: int} = {}): void;"
    );
    assert_eq!(prototypes[1].declaration(), "function join(key: secret): void;");
    assert_eq!(prototypes[1].compact(), "join(key: secret)");
    assert!(prototypes[1].params[0].secret && prototypes[1].holds_secret());
    let fields = Item::fields();
    assert_eq!(
        (fields[0].min, fields[0].max, &*fields[0].doc),
        (Some(1.0), Some(80.0), "What is ordered.")
    );
    assert_eq!(fields[2].pattern.as_deref(), Some("[A-Z]{3}"));
    assert_eq!(fields[1].default, Some(Value::Int(1)));
}

#[test]
fn record_is_made_of_values_or_of_parts() {
    let map = |entries: &[(&str, Value)]| {
        Value::Map(
            entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        )
    };
    let plain = map(&[("name", "a".into()), ("count", Value::Int(2))]);
    let item = Item::from_arg(plain.into()).unwrap();
    assert_eq!((item.count, &*item.r#type, &item.code), (2, "plain", &None));
    assert_eq!(Item::from_arg(item.to_arg()).unwrap(), item);
    let thing = Arg::Ref(RefArg { key: "n1".into(), rev: 4, ty: Some("note".into()) });
    let parts = [("name".to_owned(), Value::from("b").into()), ("about".to_owned(), thing)];
    let item = Item::from_arg(Arg::Record(parts.into())).unwrap();
    assert_eq!(item.about.as_ref().map(|about| about.rev), Some(4));
    assert!(matches!(item.to_arg(), Arg::Record(_)));
    assert_eq!(Item::from_arg(item.to_arg()).unwrap(), item);
    for (wrong, field, why) in [
        (map(&[("count", Value::Int(2))]), Some("name"), "needs name: string"),
        (map(&[("name", Value::Int(2))]), Some("name"), "name: expected string, not int"),
        (map(&[("name", "a".into()), ("x", Value::Null)]), Some("x"), "there is no field x"),
        (Value::from("a"), None, "expected {name: string"),
    ] {
        let fault = Item::from_arg(wrong.into()).unwrap_err();
        assert_eq!(fault.field.as_deref(), field);
        assert!(fault.message.starts_with(why), "{fault}");
    }
}

#[test]
fn refs_in_a_record_are_checked_as_all_others() {
    let mut host = host();
    let order = |rev| {
        let item = Item {
            name: "a".into(),
            count: 1,
            code: None,
            about: Some(Anchor::new("n1", rev)),
            r#type: "plain".into(),
        };
        Action::Order { items: vec![item], labels: BTreeMap::new() }
    };
    assert!(brief(host.invoke(&order(4))).contains("n1"));
    let Outcome::Failed(fault) = host.invoke(&order(3)) else { panic!("it is stale") };
    assert_eq!((fault.code, fault.key.as_deref()), (docui::Code::Stale, Some("n1")));
}

#[test]
fn form_is_asked_and_answered_by_the_type() {
    let mut host = host();
    let Outcome::Needs(needs) = host.invoke(&Action::Enrol {}) else { panic!("it asks") };
    assert_eq!(needs.question.kind, QuestionKind::Form);
    assert_eq!(needs.question.fields[0].default, Some("me".into()));
    assert!(needs.question.fields[1].secret);
    let account = Account { user: "me".into(), key: Secret::from("x1") };
    let said = brief(host.answer(Choice::Fields(account.to_fields())));
    assert_eq!(said, "Account { user: \"me\", key: *** }");
}
