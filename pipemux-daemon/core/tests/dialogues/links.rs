//! Links: what they belong to, and what became of one that its window doesn't show.

use crate::world::{AnswerText, Behaviour, World, reader, slot};
use pipemux_core::limits;
use pipemux_proto::client::Format;
use pipemux_proto::projection::{CodePiece, LinkSlot, Piece, Projection};
use pipemux_proto::{Value, client::Verb};

fn notes(world: &mut World, texts: &[&str]) -> AnswerText {
    for text in texts {
        world.model("notes/main").add(text);
    }
    world.open(reader("a"), "notes")
}

fn click(world: &mut World, link: u64) -> AnswerText {
    world.click(reader("a"), &format!("link:{link}"))
}

#[test]
fn old_undo_never_takes_back_a_later_change() {
    let mut world = World::new();
    notes(&mut world, &["one"]);
    // The fake app's undo names no change.
    let first = world.run(reader("a"), "notes.say('x')").id("undo");
    let second = world.run(reader("a"), "notes.say('y')").id("undo");
    assert_ne!(first, second, "each belongs to its own change");
    let invoked = world.invoked.len();
    let said = click(&mut world, first);
    said.exits(4)
        .has(&format!("Anchor link:{first} is stale. Please refresh to get current IDs."))
        .has("pipemux view notes/main");
    assert_eq!(world.invoked.len(), invoked, "nothing was sent");
    click(&mut world, second).exits(0);
    // Once clicked it is used up: the click was a change.
    click(&mut world, second).exits(4).has("is stale");
    // The same holds for a change that only a view has shown so far.
    let third = world.run(reader("a"), "notes.say('z')").id("undo");
    world.model("notes/main").add("by another program");
    world.view(reader("a"));
    click(&mut world, third).exits(4).has("is stale");
}

#[test]
fn undo_without_a_change_outlives_hibernation_but_no_crash() {
    let mut world = World::with_notes(|notes| notes.idle = pipemux_core::Idle::After(10_000));
    notes(&mut world, &["one"]);
    let undo = world.run(reader("a"), "notes.say('x')").id("undo");
    world.pass(60_000);
    assert!(world.process("notes/main").is_none(), "it sleeps");
    world.view(reader("b"));
    click(&mut world, undo).exits(0);
    let undo = world.run(reader("a"), "notes.say('y')").id("undo");
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    world.view(reader("a"));
    click(&mut world, undo).exits(4).has("is stale");
}

#[test]
fn link_to_a_thing_that_is_gone_is_told_how_it_vanished() {
    let mut world = World::new();
    let link = notes(&mut world, &["one", "two"]).id("edit k1 r1");
    world.model("notes/main").remove(0);
    world.view(reader("a"));
    click(&mut world, link)
        .exits(3)
        .has(&format!("Anchor link:{link} not found in current context. it was removed."))
        .lacks("out of view");
    // Before any view has shown that it is gone.
    let link = world.view(reader("a")).id("edit k2 r1");
    world.model("notes/main").remove(0);
    click(&mut world, link)
        .exits(3)
        .has(&format!("Anchor link:{link} not found in current context. it was removed."));
}

#[test]
fn link_to_a_hidden_thing_is_told_the_way_to_it() {
    let mut world = World::new();
    let link = notes(&mut world, &["one"]).id("edit k1 r1");
    world.model("notes/main").hide(0, true);
    world.view(reader("a"));
    click(&mut world, link)
        .exits(4)
        .has(&format!("Anchor link:{link} is out of view. Navigate or expand to access."))
        .has("notes.unhide()");
    // It is back before anybody has looked: the click is carried out.
    world.model("notes/main").hide(0, false);
    click(&mut world, link).exits(0).has("clicked \"edit k1 r1\" (edit) of notes/main: edited");
    // Its thing has changed meanwhile: the link is stale.
    click(&mut world, link).exits(4).has(&format!("Anchor link:{link} is stale."));
}

#[test]
fn link_that_its_window_offers_no_more_is_not_found() {
    let mut world = World::new();
    let save = || slot("save", "say", [("text", Value::from("saved").into())]);
    let shows = |nav: Vec<LinkSlot>, version| {
        let content = vec![Piece::Text("text\n".into())];
        Behaviour::Shows(Box::new(Projection { version, nav, content, ..Projection::default() }))
    };
    world.set_behaviour("notes/main", shows(vec![save()], 1));
    let link = world.open(reader("a"), "notes").id("save");
    world.set_behaviour("notes/main", shows(Vec::new(), 2));
    world.view(reader("a"));
    let sentence = format!(
        "Anchor link:{link} not found in current context. notes/main no longer offers this \"save\"."
    );
    click(&mut world, link).exits(3).has(&sentence).has("next: pipemux view notes/main");
    // No view brings it back, so the answer doesn't say that one does.
    world.view(reader("a"));
    click(&mut world, link).exits(3).lacks("out of view");
    // An app that doesn't answer leaves it open.
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let call = world.call(reader("a"), Verb::Click { link: format!("link:{link}") });
    let id = world.send(client, &call);
    world.pass(limits::PROJECT_MS);
    world.answer_to(client, id).expect("an answer").exits(4).has("is out of view");
    // Offered again, it can be clicked.
    world.set_behaviour("notes/main", shows(vec![save()], 3));
    click(&mut world, link).exits(0);
}

#[test]
fn refs_in_exact_text_are_told_from_links_of_the_same_number() {
    let mut world = World::new();
    let save = slot("save", "say", [("text", Value::from("saved").into())]);
    let code = |text: &str| {
        Piece::Code(CodePiece {
            lang: "md".into(),
            text: text.into(),
            first: Some(1),
            ..Default::default()
        })
    };
    let shows = |text: &str, version| {
        let (nav, content) = (vec![save.clone()], vec![code(text)]);
        Behaviour::Shows(Box::new(Projection { version, nav, content, ..Projection::default() }))
    };
    world.set_behaviour("notes/main", shows("[read more](link:1) [a](link:77)\n", 1));
    let note = "only text inside fences: link:1 (really \"save\" of notes/main)\n";
    let opened = world.open(reader("a"), "notes");
    assert_eq!(opened.id("save"), 1);
    opened.has("[read more](link:1)").has(note).lacks("link:77 (");
    let call = world.call(reader("a"), Verb::View(Default::default()));
    let call = pipemux_proto::client::VerbRequest { format: Format::Json, ..call };
    world.ask_call(&call).has("only text inside fences: link:1");
    // Whoever clicks the number learns what it was.
    world.click(reader("a"), "link:1").has("1 done · clicked \"save\" (say) of notes/main: saved");
    // A text that talks about links that nobody has costs nothing, as does one without the exact
    // form.
    world.set_behaviour(
        "notes/main",
        shows("[x](link:77) link:1 (link:1) [y](obj:2) [z](obj:1)\n", 2),
    );
    world.view(reader("a")).lacks("only text");
    // A difference has the note only if its own lines have such a ref. The act that follows makes
    // version 4.
    world.model("notes/main").version = 3;
    world.set_behaviour("notes/main", shows("one\ntwo\nthree\n[x](link:1)\n", 3));
    world.view(reader("a")).has(note);
    world.set_behaviour("notes/main", shows("one\ntwo!\nthree\n[x](link:1)\n", 4));
    world.run(reader("a"), "notes.touch('x')").has("two!").lacks("only text");
}
