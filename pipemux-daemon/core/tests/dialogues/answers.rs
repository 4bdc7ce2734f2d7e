//! Answers that are wrong, typed texts, and questions that are looked at again.

use pipemux_proto::client::{Format, HistoryArgs, Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::{ObjectSlot, Piece, Projection};

use crate::world::{AnswerText, Behaviour, World, reader, session_addr};

/// A world with notes of these texts that reader `a` has seen.
fn notes(texts: &[&str]) -> (World, AnswerText) {
    let mut world = World::new();
    for text in texts {
        world.model("notes/main").add(text);
    }
    let said = world.open(reader("a"), "notes");
    (world, said)
}

fn answer_with(world: &mut World, text: &str, stdin: &str) -> AnswerText {
    let stdin = Some(stdin.as_bytes().to_vec().into());
    world.ask(reader("a"), Verb::Answer { text: text.into(), to: None, stdin })
}

fn answer_to(world: &mut World, text: &str, to: u64) -> AnswerText {
    world.ask(reader("a"), Verb::Answer { text: text.into(), to: Some(to), stdin: None })
}

fn json(world: &mut World, verb: Verb) -> AnswerText {
    let call = VerbRequest { format: Format::Json, ..world.call(reader("a"), verb) };
    world.ask_call(&call)
}

fn history(world: &mut World) -> AnswerText {
    world.ask(reader("a"), Verb::History(HistoryArgs::default()))
}

#[test]
fn wrong_answer_leaves_the_parked_text_in_place() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    world.run(reader("a"), "notes.edit(text='a long text')").exits(5).has("needs note");
    for wrong in ["7", "0", "1,2", "k2 r1", "all", "maybe", "yes", "go", "note=7", "note='x'"] {
        let said = world.answer(reader("a"), wrong);
        assert_ne!(said.exit, 0, "{wrong}");
        said.has("needs an answer · notes.edit: needs note: Anchor<note>\n1. [k1 r1](link:");
    }
    world.answer(reader("a"), "obj:999").exits(3).has("Anchor obj:999 not found").has("1. [k1 r1]");
    assert!(world.invoked.is_empty());
    world.answer(reader("a"), &format!("obj:{id}")).exits(0).has("edited");
    assert_eq!(world.model("notes/main").notes[0].text, "a long text");
}

#[test]
fn choice_is_named_by_its_label() {
    let (mut world, _) = notes(&["one", "two"]);
    world.run(reader("a"), "notes.edit(text='x')").exits(5);
    world.answer(reader("a"), "K2  R1").exits(0).has("edited");
    assert_eq!(world.model("notes/main").notes[1].text, "x");
    world.run(reader("a"), "notes.pick()").exits(5);
    world.answer(reader("a"), "k1,k2").exits(0).has("picked [1, 2]");
    world.run(reader("a"), "notes.pick()").exits(5);
    world.answer(reader("a"), "all but k1").exits(0).has("all but [1]");
}

#[test]
fn things_with_the_same_label_are_told_apart() {
    let mut world = World::new();
    let object = |key: &str, detail: &str| {
        Piece::Object(ObjectSlot {
            key: key.into(),
            rev: 1,
            ty: Some("note".into()),
            label: "plan".into(),
            detail: detail.into(),
            ..ObjectSlot::default()
        })
    };
    for text in ["first", "second"] {
        world.model("notes/main").add(text);
    }
    let content = vec![object("k1", "first line"), object("k2", "")];
    let shows = Projection { version: 2, content, ..Projection::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(shows)));
    world.open(reader("a"), "notes").exits(0);
    let said = world.run(reader("a"), "notes.edit(text='x')");
    said.exits(5).has("1. [plan](link:").has("): first line · obj:").has("2. [plan](link:");
    world
        .answer(reader("a"), "plan")
        .exits(2)
        .has("`plan` can't be told: several choices have this name")
        .has("needs an answer");
    world.answer(reader("a"), "2").exits(0);
    assert_eq!(world.model("notes/main").notes[1].text, "x");
}

#[test]
fn text_comes_from_standard_input_or_as_in_a_call() {
    let (mut world, _) = notes(&["one"]);
    for (text, stdin, expected) in [
        ("-", "cancel\n", "cancel"),
        ("stdin", "one\ntwo\n", "one\ntwo"),
        ("text=stdin", "-", "-"),
        ("text='stdin'", "", "stdin"),
        ("text=<<END\nit's raw\nEND", "", "it's raw"),
        ("note=this is a text", "", "note=this is a text"),
    ] {
        world.run(reader("a"), "notes.name()").exits(5);
        match stdin {
            "" => world.answer(reader("a"), text),
            stdin => answer_with(&mut world, text, stdin),
        }
        .exits(0)
        .has(&format!("named {}", expected.lines().next().unwrap_or_default()));
    }
    world.run(reader("a"), "notes.say()").exits(5).has("needs text: string");
    for wrong in ["-", "stdin", "text=stdin", "text=unquoted", "text=<<END\nopen", "text=obj:1, 2"]
    {
        let said = world.answer(reader("a"), wrong);
        said.exits(2).has("needs an answer · notes.say: needs text");
    }
    answer_with(&mut world, "-", "").exits(2).has("standard input").has("needs an answer");
    answer_with(&mut world, "text=stdin", "kept").exits(0).has("say: kept");
}

#[test]
fn raw_block_is_a_text_without_a_name_and_none_leaves_the_question() {
    let (mut world, _) = notes(&["one"]);
    let expected = "named it's raw";
    world.run(reader("a"), "notes.name()").exits(5);
    world.answer(reader("a"), "<<END\nit's raw\nEND").exits(0).has(expected);
    for (call, leave) in
        [("notes.name()", "none"), ("notes.say()", "none"), ("notes.say()", "cancel")]
    {
        world.run(reader("a"), call).exits(5).has("<text>");
        let left = world.answer(reader("a"), leave);
        left.lacks("named none").lacks("say: none").lacks("needs an answer");
        world.answer(reader("a"), "").exits(3).has("no question is open");
    }
    world.run(reader("a"), "notes.say()").exits(5);
    world.answer(reader("a"), "text=\"none\"").exits(0).has("say: none");
}

#[test]
fn go_is_no_answer_to_a_confirmation() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    world.run(reader("a"), &format!("notes.remove(obj:{id})")).exits(5).has("answer [yes]");
    world
        .answer(reader("a"), "go")
        .exits(2)
        .has("`go` is no answer to notes.remove: 1 note")
        .has("needs an answer · notes.remove");
    assert!(world.invoked.iter().all(|(_, invoke)| !invoke.confirmed));
    world.answer(reader("a"), "no").exits(0);
    world.answer(reader("a"), "go").exits(3).has("no question is open");
    // A literal that was probably meant as another type isn't confirmed by it either.
    world.run(reader("a"), "notes.say(7)").exits(5).has("text is string: '7'?");
    world.answer(reader("a"), "go").exits(2);
    world.answer(reader("a"), "yes").exits(0).has("say: 7");
}

#[test]
fn confirmation_that_was_not_shown_confirms_nothing() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    // The client is gone before it prints the question.
    let client = world.connect();
    let call = world.call(reader("a"), crate::world::run(&format!("notes.remove(obj:{id})")));
    let request = world.send(client, &call);
    assert_eq!(world.answer_to(client, request).expect("the question").exit, 5);
    world.vanish(client);
    let said = world.answer(reader("a"), "yes");
    said.exits(9).has("was not shown to you before").has("needs an answer · notes.remove: 1 note");
    assert!(world.invoked.iter().all(|(_, invoke)| !invoke.confirmed));
    world.answer(reader("a"), "yes").exits(0).has("removed");
}

#[test]
fn question_that_was_shown_is_confirmed_after_daemon_loss() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    world.run(reader("a"), &format!("notes.remove(obj:{id})")).exits(5);
    world.lose_daemon();
    world.answer(reader("a"), "yes").exits(0).has("removed");
}

#[test]
fn number_or_link_of_a_question_proves_that_it_was_shown() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    let call = world.call(reader("a"), crate::world::run(&format!("notes.remove(obj:{id})")));
    let client = world.connect();
    world.send(client, &call);
    world.vanish(client);
    // A click can't wait behind the question.
    let link = world.link_of(reader("a"), "edit k1 r1");
    let refused = world.click(reader("a"), &link);
    let number = refused.exits(9).text.split("question ").nth(1).expect("it is named");
    let number = number.split(' ').next().expect("a number").parse().expect("a number");
    answer_to(&mut world, "yes", number).exits(0).has("removed");
}

#[test]
fn open_question_is_shown_whole_wherever_it_matters() {
    let (mut world, _) = notes(&["one", "two"]);
    world.run(reader("a"), "notes.pick(); notes.say('after')").exits(5);
    let whole = |said: &AnswerText| {
        said.has("needs an answer · notes.pick: 2 notes; then notes.say\n1. [k1](link:")
            .has("): one\n2. [k2](link:")
            .has("): two\npipemux answer 1 · [all](link:")
            .has(" · none\n");
    };
    for text in ["", " "] {
        let said = world.answer(reader("a"), text);
        said.exits(5);
        whole(&said);
    }
    let link = world.view(reader("a")).id("k2");
    whole(&world.view(reader("a")));
    let session = Some(session_addr("notes/main"));
    whole(&world.ask(reader("a"), Verb::View(ViewArgs { session, ..ViewArgs::default() })));
    whole(&world.ask(reader("a"), Verb::View(ViewArgs { since: Some(1), ..ViewArgs::default() })));
    // It is nobody else's.
    world.view(reader("b")).lacks("needs an answer");
    world.answer(reader("b"), "").exits(3).has("no question is open");
    world.click(reader("a"), &format!("link:{link}")).exits(0).has("picked [2]");
    world.view(reader("a")).lacks("needs an answer");
    world.answer(reader("a"), "").exits(3).has("no question is open");
}

#[test]
fn open_question_is_data_in_json() {
    let (mut world, _) = notes(&["one"]);
    world.run(reader("a"), "notes.pick()").exits(5);
    let option = "options: [AnswerOption { label: \"k1\", detail: \"one\", link: \"link:";
    json(&mut world, Verb::View(ViewArgs::default())).exits(0).has(option);
    json(&mut world, Verb::Answer { text: String::new(), to: None, stdin: None })
        .exits(5)
        .has(option);
    json(&mut world, crate::world::run("notes.say('x')"))
        .exits(5)
        .has(option)
        .has("kept: your step runs behind the answer");
    json(&mut world, crate::world::run("notes.text()")).exits(9).has(option).has("code: Refused");
    json(&mut world, Verb::Answer { text: "9".into(), to: None, stdin: None })
        .exits(2)
        .has(option)
        .has("code: Usage");
}

#[test]
fn looking_passes_while_a_question_is_open() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    world.run(reader("a"), "notes.pick()").exits(5);
    world.run(reader("a"), &format!("notes.text(obj:{id})")).exits(0).has("one");
    // What looks but has to ask, and what is clicked, is refused.
    world.run(reader("a"), "notes.text()").exits(9).has("is open: notes.pick");
    let link = world.link_of(reader("a"), "edit k1 r1");
    world.click(reader("a"), &link).exits(9).has("needs an answer · notes.pick");
    world.answer(reader("a"), "1").exits(0).has("picked [1]");
}

#[test]
fn call_with_nothing_to_choose_from_fails_at_once() {
    let (mut world, _) = notes(&[]);
    world
        .run(reader("a"), "notes.edit(text='x')")
        .exits(2)
        .has("needs note: Anchor<note>, and notes/main shows none to choose")
        .has("next: pipemux view notes/main");
    world.run(reader("a"), "notes.say('not held up')").exits(0);
}

#[test]
fn choices_are_looked_up_after_daemon_loss() {
    let (mut world, _) = notes(&["one"]);
    world.lose_daemon();
    world.run(reader("a"), "notes.edit(text='x')").exits(5).has("1. [k1 r1](link:");
    world.answer(reader("a"), "1").exits(0);
}

#[test]
fn history_keeps_the_final_call() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    world.run(reader("a"), "notes.edit()").exits(5);
    world.answer(reader("a"), &format!("note=obj:{id} text=new")).exits(0);
    history(&mut world).has(&format!(
        "notes.edit(note=obj:{id}, text='new') → edit done: edited (chosen in 1 step)"
    ));
    world.run(reader("a"), "notes.edit()").exits(5);
    world.answer(reader("a"), &format!("note=obj:{id}")).exits(2).has("still needs text");
    world.answer(reader("a"), "cancel").exits(0);
    let said = history(&mut world);
    assert_eq!(said.text.matches("chosen in").count(), 1, "{}", said.text);
}

#[test]
fn answered_click_is_kept_with_its_arguments() {
    let (mut world, said) = notes(&["one"]);
    let id = said.id("k1 r1");
    let link = world.link_of(reader("a"), "edit k1 r1");
    world.click(reader("a"), &link).exits(0);
    history(&mut world).has(&format!("notes.edit(note=obj:note:{id}, text='by link') ({link})"));
}

#[test]
fn pinned_ref_goes_to_what_was_shown_since() {
    let (mut world, said) = notes(&["one"]);
    let (id, epoch) = (said.id("k1 r1"), crate::world::text::epoch(&said.text).expect("an epoch"));
    world.model("notes/main").change(0, "by another");
    let code = format!("notes.edit(obj:{id}@e{epoch}, 'mine')");
    world.run(reader("a"), &code).exits(4).has("is stale").has("pipemux answer go");
    world.answer(reader("a"), "go").exits(0).has("edited");
    assert_eq!(world.model("notes/main").notes[0].text, "mine");
}

#[test]
fn chosen_thing_goes_to_what_was_shown_since() {
    let (mut world, _) = notes(&["one"]);
    world.run(reader("a"), "notes.edit(text='mine')").exits(5);
    world.model("notes/main").change(0, "by another");
    world.answer(reader("a"), "1").exits(4).has("is stale").has("pipemux answer go");
    world.answer(reader("a"), "go").exits(0).has("edited");
    assert_eq!(world.model("notes/main").notes[0].text, "mine");
}

#[test]
fn answer_that_reaches_no_app_is_given_again() {
    let (mut world, _) = notes(&["one"]);
    world.run(reader("a"), "notes.edit(text='parked')").exits(5);
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    world.set_behaviour("notes/main", Behaviour::DiesAtStart(vec!["no".into()]));
    world.answer(reader("a"), "1").exits(6).has("needs an answer · notes.edit: needs note");
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.pass(60_000);
    world.answer(reader("a"), "1").exits(0).has("edited");
    assert_eq!(world.model("notes/main").notes[0].text, "parked");
}
