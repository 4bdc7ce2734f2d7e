//! Links: their titles run as printed, a click is a step like any other, and a link may bind names
//! and calls.

use crate::world::{AnswerText, Behaviour, Reader, World, reader, slot};
use pipemux_proto::Value;
use pipemux_proto::client::Verb;
use pipemux_proto::projection::{Arg, LinkSlot, ObjectSlot, Piece, Projection, RefArg};
use proptest::prelude::*;

const A: Reader = Reader { workspace: "demo", reader: "a" };

fn note(key: &str) -> ObjectSlot {
    let (key, label) = (key.to_owned(), format!("{key} r1"));
    ObjectSlot { key, rev: 1, ty: Some("note".into()), label, ..ObjectSlot::default() }
}

fn to(key: &str) -> Arg {
    Arg::Ref(RefArg { key: key.into(), rev: 1, ty: Some("note".into()) })
}

fn text(text: &str) -> Arg {
    Value::from(text).into()
}

fn code(label: &str, action: &str, code: &str) -> LinkSlot {
    LinkSlot { titled: true, code: Some(code.into()), ..slot(label, action, []) }
}

fn titled(link: LinkSlot) -> LinkSlot {
    LinkSlot { titled: true, ..link }
}

/// Makes a session show notes `k1` and `k2` after these links; a name stands for one of them.
fn shows(world: &mut World, session: &str, version: u64, selected: &str, links: &[LinkSlot]) {
    let mut content = Vec::new();
    for link in links {
        content.extend([Piece::Link(link.clone()), Piece::Text("\n".into())]);
    }
    for key in ["k1", "k2"] {
        content.extend([Piece::Object(note(key)), Piece::Text("\n".into())]);
    }
    let names = [("selection".to_owned(), note(selected))].into();
    let projection = Projection { version, content, names, ..Projection::default() };
    world.set_behaviour(session, Behaviour::Shows(Box::new(projection)));
}

fn notes() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.model("notes/main").add("two");
    world
}

fn click(world: &mut World, id: u64) -> AnswerText {
    world.click(A, &id.to_string())
}

/// Returns the title of the link with this label.
fn title(said: &AnswerText, label: &str) -> String {
    let mark = format!("[{label}](link:{} \"", said.id(label));
    let at = said.text.find(&mark).unwrap_or_else(|| panic!("no title: {}", said.text));
    let title = said.text[at + mark.len()..].split("\")").next();
    title.unwrap_or_default().to_owned()
}

/// Takes the steps that were sent: session, action and arguments.
fn sent(world: &mut World) -> Vec<(String, String, String)> {
    let invoked = std::mem::take(&mut world.invoked);
    let one = |(session, invoke): (String, pipemux_proto::app::Invoke)| {
        let value = |blob: &pipemux_proto::Blob| blob.to_value().unwrap_or_default();
        let args = invoke.args.iter().map(|(name, arg)| match arg {
            Arg::Value(blob) => format!("{name}={}", value(blob)),
            Arg::Ref(of) => format!("{name}={}", of.key),
            Arg::Copied(copied) => format!("{name}={}", value(&copied.value)),
            Arg::List(_) | Arg::Record(_) => format!("{name}=[]"),
        });
        let args = args.collect::<Vec<_>>().join(", ");
        (session, invoke.action, args)
    };
    invoked.into_iter().map(one).collect()
}

fn call(action: &str, args: &str) -> (String, String, String) {
    ("notes/main".into(), action.into(), args.into())
}

#[test]
fn titles_run_as_printed_in_parameter_order() {
    let mut world = notes();
    let say = |label: &str, said: &str| slot(label, "say", [("text", text(said))]);
    let links = [
        titled(slot("edit", "edit", [("text", text("two\nlines")), ("note", to("k2"))])),
        titled(say("quote", "it's")),
        titled(slot("fail", "fail", [])),
        titled(say("long", &"x".repeat(500))),
        titled(say("double", "a \"b\" \\")),
        titled(say("forged", "](link:1)")),
        say("bare", "no title"),
    ];
    shows(&mut world, "notes/main", 1, "k1", &links);
    let said = world.open(A, "notes");
    let second = said.id("k2 r1");
    let edit = format!("edit(note='obj:note:{second}', text='two\\nlines')");
    assert_eq!(title(&said, "edit"), edit, "the object stands after the link");
    assert_eq!(title(&said, "quote"), "say(text='''it's''')");
    assert_eq!(title(&said, "fail"), "fail()");
    assert_eq!(title(&said, "long"), "call not shown: 512 characters");
    assert_eq!(title(&said, "double"), "call not shown: it can't be written in one line");
    assert_eq!(title(&said, "forged"), "call not shown: it can't be written in one line");
    said.has(&format!("[bare](link:{})", said.id("bare")));
    for label in ["edit", "quote", "fail"] {
        world.run(A, &title(&said, label));
        let ran = sent(&mut world);
        click(&mut world, said.id(label));
        assert_eq!(ran, sent(&mut world), "{label}");
        assert_eq!(ran.len(), 1, "{label}");
    }
}

#[test]
fn title_names_its_session_once_another_window_has_the_action() {
    let mut world = notes();
    shows(&mut world, "notes/main", 1, "k1", &[titled(slot("pick", "pick", []))]);
    let link = code("edit it", "edit", "edit(selection, text='x')");
    shows(&mut world, "notes/b", 1, "k1", &[titled(slot("pick", "pick", [])), link]);
    let before = world.open(A, "notes");
    assert_eq!(title(&before, "pick"), "pick()");
    let other = world.open(A, "notes/b");
    assert_eq!(title(&other, "pick"), "notes/b.pick()");
    assert_eq!(title(&other, "edit it"), "notes/b.edit(notes/b.selection, text='x')");
    let view = world.view(A);
    assert_eq!(view.id("pick"), before.id("pick"), "the link is the same");
    view.has("\"notes.pick()\"").has("\"notes/b.pick()\"");
    world.run(A, "notes/b.pick()");
    assert_eq!(sent(&mut world)[0].0, "notes/b");
}

#[test]
fn click_is_a_step_among_others() {
    let mut world = notes();
    let links = [
        slot("say a", "say", [("text", text("a"))]),
        slot("edit it", "edit", [("note", to("k1")), ("text", text("x"))]),
        slot("ask", "say", []),
    ];
    shows(&mut world, "notes/main", 1, "k1", &links);
    let said = world.open(A, "notes");
    let (say, edit, ask) = (said.id("say a"), said.id("edit it"), said.id("ask"));
    let script =
        format!("// both\nclick(link:{say}); say('b')\nclick('link:{edit}@e1'); link:{say}");
    world.run(A, &script);
    let expected = [
        call("say", "text='a'"),
        call("say", "text='b'"),
        call("edit", "note=k1, text='x'"),
        call("say", "text='a'"),
    ];
    assert_eq!(sent(&mut world), expected);
    // What a link leaves open is asked for; a link that leads nowhere stops all steps before they
    // begin.
    world.run(A, &format!("click({ask}); say('b')")).exits(5).has("needs text");
    world.answer(A, "cancel");
    world.run(A, "say('c'); click(link:999)").exits(3).has("Anchor link:999 not found");
    world.run(A, "say('c'); obj:1").exits(2);
    assert_eq!(sent(&mut world), []);
    // A link that answers a question is clicked alone.
    let asked = world.run(A, "notes.text()");
    let answer = asked.id("k1 r1");
    let refused = world.run(A, &format!("click(link:{answer}); say('d')"));
    refused.exits(2).has("it is clicked alone");
    world.run(A, &format!("click(link:{answer})"));
    assert_eq!(sent(&mut world), [call("text", "note=k1")]);
}

#[test]
fn names_and_calls_of_a_link_are_resolved_at_the_click() {
    let mut world = notes();
    let links = [
        code("edit it", "edit", "edit(selection, text='x')"),
        code("copy", "edit", "edit(obj:k2, text=text(selection))"),
        // None of these is a link: another session, two calls, another action, an id.
        code("foreign", "say", "other.say('x')"),
        code("none", "say", "say('x'); say('y')"),
        code("differs", "say", "pick()"),
        code("id", "edit", "edit(obj:1, text='x')"),
    ];
    shows(&mut world, "notes/main", 1, "k1", &links);
    let said = world.open(A, "notes");
    said.has("\nforeign\nnone\ndiffers\nid\n");
    let second = said.id("k2 r1");
    assert_eq!(title(&said, "edit it"), "edit(selection, text='x')");
    let copy = format!("edit('obj:note:{second}', text=text(selection))");
    assert_eq!(title(&said, "copy"), copy);
    click(&mut world, said.id("edit it"));
    assert_eq!(sent(&mut world), [call("edit", "note=k1, text='x'")]);
    // The name moves; the link stays the same and means what the reader was shown then.
    shows(&mut world, "notes/main", 2, "k2", &links);
    let later = world.view(A);
    assert_eq!(later.id("edit it"), said.id("edit it"));
    world.run(A, &format!("click(link:{})", said.id("edit it")));
    assert_eq!(sent(&mut world), [call("edit", "note=k2, text='x'")]);
    click(&mut world, said.id("copy"));
    assert_eq!(sent(&mut world)[0], call("text", "note=k2"), "a nested call is a step");
}

#[test]
fn titles_are_set_for_the_workspace() {
    let mut world = notes();
    shows(&mut world, "notes/main", 1, "k1", &[slot("say", "say", [("text", text("a"))])]);
    let said = world.open(A, "notes");
    said.lacks("say(text=");
    let set = |world: &mut World, value: &str| {
        let (option, value) = (Some("titles".into()), Some(value.into()));
        world.ask(A, Verb::Set { option, value })
    };
    set(&mut world, "on").exits(0).has("titles on · links show their calls\n");
    world.view(A).has(&format!("[say](link:{} \"say(text='a')\")", said.id("say")));
    world.view(reader("b")).has("say(text='a')");
    set(&mut world, "off").exits(0).has("titles off · links show their calls where the app asks");
    world.view(A).lacks("say(text=");
    set(&mut world, "maybe").exits(2).has("titles on|off");
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab'\"\\\\\n\t\r(){}\\[\\]<>`#;,=:/@中🚀\u{202e}]{0,12}",
        Just("obj:k1".to_owned()),
        ".{0,260}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_title_has_the_effect_of_its_link(
        texts in prop::collection::vec(any_text(), 1..4),
        in_code in any::<bool>(),
    ) {
        let mut world = notes();
        let link = |(n, said): (usize, &String)| {
            let label = format!("say {n}");
            match in_code {
                true => code(&label, "say", &format!("say(text={})", Value::from(said.as_str()))),
                false => titled(slot(&label, "say", [("text", text(said))])),
            }
        };
        let links: Vec<LinkSlot> = texts.iter().enumerate().map(link).collect();
        shows(&mut world, "notes/main", 1, "k1", &links);
        let opened = world.open(A, "notes");
        for n in 0..texts.len() {
            let label = format!("say {n}");
            let mark = format!("[{label}](link:");
            let Some(at) = opened.text.find(&mark) else {
                prop_assert!(in_code, "no link in {}", opened.text);
                continue;
            };
            let line = opened.text[at..].lines().next().unwrap_or_default();
            let shown = line.split_once(" \"").and_then(|(_, rest)| rest.strip_suffix("\")"));
            let shown = shown.unwrap_or_else(|| panic!("no title in {line}"));
            click(&mut world, opened.id(&label));
            let clicked = sent(&mut world);
            if shown.starts_with("call not shown: ") {
                prop_assert!(pipemux_proto::call::parse(shown, None).is_err());
                continue;
            }
            world.run(A, shown);
            prop_assert_eq!(sent(&mut world), clicked, "{}", line);
        }
    }
}
