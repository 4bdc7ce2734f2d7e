//! Several arguments in one question, an app's own forms, and records.

use pipemux_proto::app::{Choice, Done, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::client::{Format, HistoryArgs, Verb, VerbRequest};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Field, Param, Prototype, Type};
use pipemux_proto::{Blob, Fault, Value};

use crate::world::{AnswerText, Behaviour, World, reader};

fn param(name: &str, ty: Type) -> Param {
    Param { name: name.into(), ty, ..Param::default() }
}

fn field(name: &str, ty: Type) -> Field {
    Field { name: name.into(), ty, ..Field::default() }
}

fn columns() -> Type {
    Type::Union(["todo", "doing", "done"].map(str::to_owned).to_vec())
}

fn action(name: &str, params: Vec<Param>) -> Prototype {
    Prototype { name: name.into(), params, ..Prototype::default() }
}

/// A world whose notes take tasks.
fn tasks() -> World {
    let mut world = World::new();
    for text in ["one", "two"] {
        world.model("notes/main").add(text);
    }
    let title = Param { doc: "What is to be done.".into(), ..param("text", Type::String) };
    let count = Param { default: Some(Value::Int(1)), ..param("count", Type::Int) };
    let about = param("note", Type::Anchor(Some("note".into())));
    let item = Type::Record(vec![
        field("name", Type::String),
        Field {
            default: Some(Value::Int(1)),
            max: Some(9.0),
            min: Some(1.0),
            ..field("count", Type::Int)
        },
        field("note", Type::Optional(Box::new(Type::Anchor(Some("note".into()))))),
    ]);
    let only =
        Param { default: Some(Value::Null), ..param("only", Type::Optional(Box::new(columns()))) };
    let prototypes = vec![
        action("filter", vec![only, param("column", columns()), count.clone()]),
        action("add", vec![title, param("column", columns()), count.clone()]),
        action("link", vec![about, param("text", Type::String)]),
        action("order", vec![param("items", Type::List(Box::new(item)))]),
        action("label", vec![param("labels", Type::Map(Box::new(Type::Int)))]),
        action("any", vec![param("what", Type::Any)]),
        action("pick", vec![]),
    ];
    world.set_behaviour("notes/main", Behaviour::Greets(prototypes));
    world.open(reader("a"), "notes").exits(0);
    world
}

/// The last request's argument as a value.
#[track_caller]
fn sent(world: &World, name: &str) -> Value {
    let (_, invoke) = world.invoked.last().expect("a request");
    fn plain(arg: &Arg) -> Value {
        match arg {
            Arg::Value(blob) => blob.to_value().expect("a value"),
            Arg::List(items) => Value::List(items.iter().map(plain).collect()),
            Arg::Record(entries) => {
                Value::Map(entries.iter().map(|(name, part)| (name.clone(), plain(part))).collect())
            }
            Arg::Ref(thing) => Value::from(format!("{} r{}", thing.key, thing.rev)),
            Arg::Copied(copied) => copied.value.to_value().expect("a value"),
        }
    }
    plain(invoke.args.get(name).unwrap_or_else(|| panic!("no {name}: {invoke:?}")))
}

fn cut(said: &AnswerText) -> String {
    let end = said.text.find("\nworkspace").unwrap_or(said.text.len());
    said.text[..end].to_owned()
}

#[test]
fn missing_arguments_are_asked_in_one_question() {
    let mut world = tasks();
    let said = world.run(reader("a"), "notes.add()");
    said.exits(5).has(
        "needs an answer · notes.add: needs text, column\n\
         text: string // What is to be done.\n\
         column: 'todo'|'doing'|'done'\n\
         optional: count: int = 1\n\
         pipemux answer text=\"…\" column=todo · cancel\n",
    );
    let said = world.answer(reader("a"), "text=\"a new task\" column=doing count=3");
    said.exits(0).has("1 done · add: a new task");
    assert_eq!(sent(&world, "column"), Value::from("doing"));
    assert_eq!(sent(&world, "count"), Value::Int(3));
    // History has the call that was carried out.
    let verb = Verb::History(HistoryArgs::default());
    world
        .ask(reader("a"), verb)
        .has("notes.add(text='a new task', column='doing', count=3)")
        .has("chosen in 1 step");
}

#[test]
fn empty_text_is_no_value_where_one_may_be_left_out_and_none_would_be_empty() {
    let mut world = tasks();
    world.run(reader("a"), "notes.filter(only='', column='todo', count='')").exits(0);
    let (_, invoke) = world.invoked.last().expect("a request");
    assert_eq!(invoke.args.keys().collect::<Vec<_>>(), ["column"]);
    world.run(reader("a"), "notes.filter(only='', column='')").exits(2).has("column is");
    world.run(reader("a"), "notes.filter(only=' ', column='todo')").exits(2).has("only is");
}

#[test]
fn fields_are_given_by_name_or_in_order() {
    for (answer, text, count) in [
        ("text='x' column=todo", "x", false),
        ("text=x y, column=todo", "x y", false),
        ("column: todo; text: \"it's\"", "it's", false),
        ("x, todo", "x", false),
        ("x todo", "x", false),
        ("\"x, y\", todo, 2", "x, y", true),
        ("column=todo text=<<END\na=b\nEND", "a=b", false),
    ] {
        let mut world = tasks();
        world.run(reader("a"), "notes.add()").exits(5);
        world.answer(reader("a"), answer).exits(0);
        assert_eq!(sent(&world, "text"), Value::from(text), "{answer}");
        assert_eq!(sent(&world, "column"), Value::from("todo"), "{answer}");
        let (_, invoke) = world.invoked.last().expect("a request");
        assert_eq!(invoke.args.contains_key("count"), count, "a default isn't sent");
    }
}

#[test]
fn invalid_field_is_refused_by_name_and_the_others_stay() {
    let mut world = tasks();
    world.run(reader("a"), "notes.add()").exits(5);
    let said = world.answer(reader("a"), "text='x' column=toto count=many");
    said.exits(2)
        .has("refused, nothing ran · column expected 'todo'|'doing'|'done', not `toto`: did you mean todo?; count expected int, not `many`\n")
        .has("text = 'x'\ncolumn: 'todo'|'doing'|'done'\n")
        .has("pipemux answer column=todo · cancel");
    assert!(world.invoked.is_empty());
    let said = world.answer(reader("a"), "colum=todo");
    said.exits(2).has("there is no field colum, but text, column, count: did you mean column?");
    world.lose_daemon();
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.answer(reader("a"), "").exits(5).has("text = 'x'\n");
    // What is left is one field: its value needs no name. One that was given may be given again.
    world.answer(reader("a"), "doing").exits(0);
    assert_eq!(sent(&world, "text"), Value::from("x"));
    assert_eq!(sent(&world, "column"), Value::from("doing"));
}

#[test]
fn incomplete_form_says_what_it_still_needs() {
    let mut world = tasks();
    world.run(reader("a"), "notes.add(); notes.any(1)").exits(5);
    world
        .answer(reader("a"), "column=done")
        .exits(2)
        .has("still needs text")
        .has("column = 'done'");
    world.answer(reader("a"), "text='y' column=todo").exits(0).has("2 done · any");
    world.run(reader("a"), "notes.add()").exits(5);
    world.answer(reader("a"), "cancel").lacks("needs an answer");
    world.answer(reader("a"), "").exits(3);
}

#[test]
fn things_of_a_field_are_listed_and_named() {
    for answer in ["note=obj:ID text=x", "text=x note=ID", "text=x note=\"k2 r1\"", "k2 r1, x"] {
        let mut world = tasks();
        let id = world.view(reader("a")).id("k2 r1");
        let said = world.run(reader("a"), "notes.link()");
        said.exits(5)
            .has("\nnote: Anchor<note> · obj:note:")
            .has(" k1 r1 · obj:note:")
            .has("pipemux answer note=obj:note:");
        let answer = answer.replace("ID", &id.to_string());
        world.answer(reader("a"), &answer).exits(0);
        assert_eq!(sent(&world, "note"), Value::from("k2 r1"), "{answer}");
    }
    let mut world = tasks();
    world.run(reader("a"), "notes.link()").exits(5);
    world.answer(reader("a"), "text=x note=k9").exits(2).has("note ").has("text = 'x'");
}

#[test]
fn form_is_data_in_json() {
    let mut world = tasks();
    let call = world.call(reader("a"), crate::world::run("notes.add()"));
    let said = world.ask_call(&VerbRequest { format: Format::Json, ..call });
    said.exits(5)
        .has("fields: [FieldReport { name: \"text\", ty: \"string\", doc: \"What is to be done.\", required: true")
        .has("hints: [\"pipemux answer text=\\\"…\\\" column=todo\"");
}

fn form() -> Needs {
    let question = Question {
        text: "a new task".into(),
        kind: QuestionKind::Form,
        fields: vec![
            Field {
                pattern: Some("[^ ].*".into()),
                max: Some(20.0),
                ..field("title", Type::String)
            },
            Field { default: Some(Value::from("todo")), ..field("column", columns()) },
            Field {
                doc: "How often.".into(),
                min: Some(1.0),
                max: Some(9.0),
                ..field("times", Type::Int)
            },
        ],
        ..Question::default()
    };
    Needs { question, token: Blob(b"t"[..].into()), numbers: Vec::new() }
}

#[test]
fn form_of_an_app_is_checked_before_the_app_is_asked() {
    let mut world = tasks();
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Needs(form()))));
    world.run(reader("a"), "notes.pick()").exits(5).has(
        "needs an answer · notes.pick: a new task\n\
         title: string // at most 20 characters, matches /[^ ].*/\n\
         times: int // How often.; 1 to 9\n\
         optional: column: 'todo'|'doing'|'done' = 'todo'\n\
         pipemux answer title=\"…\" times=1 · cancel\n",
    );
    let asked = world.invoked.len();
    let said = world.answer(reader("a"), "title=' x' times=12 column=done");
    said.exits(2)
        .has("title has to match /[^ ].*/; times has to be 1 to 9, not that")
        .has("column = 'done'");
    assert_eq!(world.invoked.len(), asked, "nothing reached the app");
    // The app refuses a field by its name: the others stay.
    let refused = Fault::usage("title: there is such a task").field("title");
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Failed(refused))));
    let said = world.answer(reader("a"), "title=x times=2");
    said.exits(2)
        .has("title: there is such a task")
        .has("column = 'done'\n")
        .has("times = 2\n")
        .has("pipemux answer title=\"…\" · cancel");
    let done = Done { brief: "added".into(), version: 9, ..Done::default() };
    world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Done(done))));
    world.answer(reader("a"), "title=\"another one\"").exits(0).has("pick: added");
    let (_, invoke) = world.invoked.last().expect("a request");
    let Some(resume) = &invoke.resume else { panic!("{invoke:?}") };
    let Choice::Fields(fields) = &resume.choice else { panic!("{resume:?}") };
    assert_eq!(fields["title"], Arg::from(Value::from("another one")));
    assert_eq!(fields["times"], Arg::from(Value::Int(2)));
    assert_eq!((fields.len(), &*resume.token.0), (3, &b"t"[..]));
}

#[test]
fn form_that_can_not_be_is_refused_as_nothing_took_effect() {
    let mut world = tasks();
    let broken: [fn(&mut Question); 5] = [
        |question| question.fields.clear(),
        |question| question.fields[0].name = "a b".into(),
        |question| question.fields[1].name = "title".into(),
        |question| question.fields[0].pattern = Some("(".into()),
        |question| question.kind = QuestionKind::Text,
    ];
    for change in broken {
        let mut needs = form();
        change(&mut needs.question);
        world.set_behaviour("notes/main", Behaviour::Ends(Box::new(Outcome::Needs(needs))));
        let said = world.run(reader("a"), "notes.pick()");
        said.exits(9).has("form").lacks("needs an answer");
    }
}

#[test]
fn records_are_checked_field_by_field() {
    let mut world = tasks();
    let id = world.view(reader("a")).id("k2 r1");
    let code = format!("notes.order([{{name: 'a', count: 2}}, {{\"name\": 'b', note: obj:{id}}}])");
    world.run(reader("a"), &code).exits(0);
    assert_eq!(
        sent(&world, "items").to_string(),
        "[{name: 'a', count: 2}, {name: 'b', note: 'k2 r1'}]"
    );
    // One record stands for a list of one.
    world.run(reader("a"), "notes.order(items={name: 'c'})").exits(0);
    assert_eq!(sent(&world, "items").to_string(), "[{name: 'c'}]");
    world.run(reader("a"), "notes.label({a: 1, 'b c': 2})").exits(0);
    assert_eq!(sent(&world, "labels").to_string(), "{a: 1, 'b c': 2}");
    world.run(reader("a"), "notes.any({a: [1, {b: 'c'}]})").exits(0);
    assert_eq!(sent(&world, "what").to_string(), "{a: [1, {b: 'c'}]}");
    let count = world.invoked.len();
    for (code, why) in [
        (
            "notes.order([{name: 'a'}, {name: 'b', count: 'x'}])",
            "^^^ items[1].count is int, not 'x'",
        ),
        ("notes.order({name: 'a', count: '3'})", "items.count is int, did you mean 3?"),
        (
            "notes.order({name: 'a', cuont: 3})",
            "^^^^^ items has name, count, note: did you mean count?",
        ),
        ("notes.order({count: 3})", "items needs name: string"),
        ("notes.order({name: 'a', count: 10})", "items.count has to be 1 to 9, not that"),
        (
            "notes.order('a')",
            "items is {name: string, count: int = 1, note?: Anchor<note>}, not string",
        ),
        ("notes.add({a: 1}, 'todo')", "text is string, not a record"),
        ("notes.label({a: 'x'})", "labels.a is int, not 'x'"),
        (&format!("notes.any({{a: obj:{id}}})"), "what takes a record of values only"),
    ] {
        world.run(reader("a"), code).exits(2).has(why);
    }
    assert_eq!(world.invoked.len(), count);
}

#[test]
fn record_that_is_asked_for_is_given_as_in_a_call() {
    let mut world = tasks();
    world.run(reader("a"), "notes.order()").exits(5).has("needs items: {name: string");
    world.answer(reader("a"), "a").exits(2).has("written {name: value}");
    world.answer(reader("a"), "items=[{name: 'a'}, {name: 'b', count: 2}]").exits(0);
    assert_eq!(sent(&world, "items").to_string(), "[{name: 'a'}, {name: 'b', count: 2}]");
}

#[test]
fn declaration_shows_records_and_what_parameters_mean() {
    let mut world = tasks();
    let said = world.view_at(reader("a"), "notes/main", pipemux_proto::projection::Lod::Full);
    said.has("/** @param text What is to be done. */\nfunction add(text: string, column: 'todo'|'doing'|'done', count: int = 1): void;")
        .has("function order(items: {name: string, count: int = 1, note?: Anchor<note>}[]): void;")
        .has("function label(labels: {[key: string]: int}): void;");
    assert!(!cut(&said).is_empty());
}
