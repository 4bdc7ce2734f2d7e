//! Types and keys in refs: each form that is printed is accepted, and means what it was printed
//! for.

use crate::world::{Behaviour, Reader, World, reader};
use pipemux_proto::client::Verb;
use pipemux_proto::projection::{Arg, ObjectSlot, Piece, Projection};

const A: Reader = Reader { workspace: "demo", reader: "a" };

fn object(key: &str, rev: u64, ty: Option<&str>) -> ObjectSlot {
    ObjectSlot {
        key: key.into(),
        rev,
        ty: ty.map(Into::into),
        label: format!("the {key}"),
        ..ObjectSlot::default()
    }
}

fn keyed(key: &str, ty: Option<&str>) -> ObjectSlot {
    ObjectSlot { show_key: true, ..object(key, 1, ty) }
}

/// Makes a session show these objects, each on its line.
fn shows(world: &mut World, session: &str, version: u64, objects: &[ObjectSlot]) {
    let line = |object: &ObjectSlot| [Piece::Object(object.clone()), Piece::Text("\n".into())];
    let content = objects.iter().flat_map(line).collect();
    let projection = Projection { version, content, ..Projection::default() };
    world.set_behaviour(session, Behaviour::Shows(Box::new(projection)));
}

/// Returns the key of the object with which the last step was sent, and the session that got it.
fn sent(world: &World) -> Option<(String, String)> {
    let (session, invoke) = world.invoked.last()?;
    match invoke.args.get("note")? {
        Arg::Ref(of) => Some((session.clone(), of.key.clone())),
        _ => None,
    }
}

/// Returns the refs to objects that an answer shows, as printed.
fn printed(said: &str) -> Vec<String> {
    let refs = said.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    refs.filter(|of| of.starts_with("obj:")).map(Into::into).collect()
}

#[test]
fn type_stands_before_the_id() {
    let mut world = World::new();
    let long = "t".repeat(33);
    let types = [None, Some("note"), Some("Node"), Some("a b"), Some(""), Some(&*long)];
    let objects: Vec<_> =
        types.iter().enumerate().map(|(n, ty)| object(&format!("k{n}"), 1, *ty)).collect();
    shows(&mut world, "notes/main", 1, &objects);
    let said = world.open(A, "notes");
    let first = said.id("the k0");
    let expected: Vec<String> =
        (0..6).map(|n| format!("obj:{}{}", if n == 1 { "note:" } else { "" }, first + n)).collect();
    assert_eq!(printed(&said.text), expected, "{}", said.text);
}

#[test]
fn printed_forms_are_accepted_back() {
    let keys = [
        "cpu_load",
        "src/main.ts",
        "my notes (1).md",
        "设计/数据库.md",
        "7",
        "=7",
        "a:b@e3%20",
        "//x",
        "a|b&amp;c",
        "[slug].tsx",
        "it's \"q\"`\\<b>",
        "line\nbreak\u{202e}",
        "obj:1",
        "notes/main",
    ];
    let mut world = World::new();
    let objects: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(n, key)| if n % 2 == 0 { keyed(key, Some("note")) } else { keyed(key, None) })
        .collect();
    shows(&mut world, "notes/main", 1, &objects);
    let said = world.open(A, "notes");
    let refs = printed(&said.text);
    assert_eq!(refs.len(), keys.len(), "{}", said.text);
    assert_eq!(
        refs[..3],
        ["obj:note:cpu_load", "obj:src/main.ts", "obj:note:my%20notes%20%281%29.md"]
    );
    assert_eq!(refs[3], "obj:设计/数据库.md");
    for (of, key) in refs.iter().zip(keys) {
        let pinned = format!("{of}@e1");
        for code in [
            format!("notes.text({of})"),
            format!("notes.text('{of}')"),
            format!("text(note={pinned})"),
            format!("text(\"{pinned}\");"),
        ] {
            world.run(A, &code);
            let expected = Some(("notes/main".to_owned(), key.to_owned()));
            assert_eq!(sent(&world), expected, "{code}");
            world.invoked.clear();
        }
    }
    // An answer to a question takes them, too.
    world.run(A, "notes.text()").exits(5).has("obj:note:cpu_load");
    world.answer(A, &refs[2]);
    assert_eq!(sent(&world).map(|(_, key)| key).as_deref(), Some("my notes (1).md"));
}

#[test]
fn key_of_two_sessions_is_shown_with_the_session_of_the_second() {
    let mut world = World::new();
    shows(&mut world, "notes/main", 1, &[keyed("a.rs", Some("note"))]);
    shows(&mut world, "notes/b", 1, &[keyed("a.rs", Some("note")), keyed("a.rs2", Some("note"))]);
    let (first, second) = (world.open(A, "notes"), world.open(A, "notes/b"));
    assert_eq!(printed(&first.text), ["obj:note:a.rs"]);
    assert_eq!(printed(&second.text), ["obj:notes/b:note:a.rs", "obj:note:a.rs2"]);
    for (code, session) in [
        ("text(obj:note:a.rs)", "notes/main"),
        ("text(obj:notes/b:note:a.rs)", "notes/b"),
        ("text('obj:notes/b:note:a.rs@e2')", "notes/b"),
    ] {
        world.run(A, code);
        assert_eq!(sent(&world).map(|(session, _)| session).as_deref(), Some(session), "{code}");
    }
    // Where the first object isn't there any more, its ref leads to no other.
    world.ask(A, Verb::End { session: "notes/main".parse().unwrap() }).exits(0);
    let lost = world.run(A, "notes/b.text(obj:note:a.rs)");
    lost.exits(2).has("obj:note:a.rs is ambiguous: obj:notes/b:note:a.rs (notes/b)");
}

#[test]
fn ref_that_shows_another_type_is_stale() {
    let mut world = World::new();
    shows(&mut world, "notes/main", 1, &[object("k1", 1, Some("note"))]);
    let id = world.open(A, "notes").id("the k1");
    shows(&mut world, "notes/main", 2, &[object("k1", 1, Some("corpse"))]);
    world.view(reader("b")).has(&format!("(obj:corpse:{id})"));
    let before = world.invoked.len();
    world
        .run(A, &format!("notes.say(obj:{id})"))
        .exits(4)
        .has(&format!("Anchor obj:{id} is stale"));
    assert_eq!(world.invoked.len(), before);
}

#[test]
fn file_is_passed_as_its_path_where_one_is_taken() {
    let mut world = World::new();
    world.model("notes/main").add("/project/src/main.ts");
    world.model("notes/main").add("no file");
    let said = world.open(A, "notes");
    world.open(A, "other");
    let (file, other) = (said.id("k1 r1"), said.id("k2 r1"));
    for code in [
        format!("other.load(obj:note:{file})"),
        format!("other.load('obj:note:{file}')"),
        format!("notes.load(obj:note:{file})"),
    ] {
        world.run(A, &code).exits(0);
        let (_, invoke) = world.invoked.last().expect("it was sent");
        let Some(Arg::Copied(copied)) = invoke.args.get("text") else { panic!("{invoke:?}") };
        let value = copied.value.to_value().ok();
        assert_eq!(value.as_ref().and_then(|v| v.as_str()), Some("/project/src/main.ts"), "{code}");
    }
    let before = world.invoked.len();
    let said = world.run(A, &format!("other.load(obj:note:{other})"));
    said.exits(2).has(&format!("obj:note:{other} of notes/main has no path"));
    assert_eq!(world.invoked.len(), before);
    // Text stays text, and elsewhere a file is passed as its value.
    world.run(A, &format!("other.say(obj:note:{file})")).exits(0).has("/project/src/main.ts");
}
