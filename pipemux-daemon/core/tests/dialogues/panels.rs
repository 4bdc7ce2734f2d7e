//! Panels: what the daemon itself adds to the workspace document.

use crate::world::{AnswerText, Behaviour, Reader, World, frame, reader, session_addr};
use pipemux_core::{Event, Exit};
use pipemux_proto::app::Notify;
use pipemux_proto::client::{Format, Inject, Verb, VerbRequest, ViewArgs};
use pipemux_proto::{Envelope, Fault, Method};

fn set(world: &mut World, panels: &str) -> AnswerText {
    let (option, value) = (Some("panels".into()), Some(panels.into()));
    world.ask(reader("a"), Verb::Set { option, value })
}

fn inject(world: &mut World, who: Reader) -> AnswerText {
    let verb = Verb::View(ViewArgs { inject: Some(Inject::default()), ..ViewArgs::default() });
    world.ask(who, verb)
}

fn two_windows() -> World {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes").exits(0);
    world.open(reader("a"), "other").exits(0);
    world
}

#[test]
fn panels_are_off_until_set_and_stand_around_the_windows() {
    let mut world = two_windows();
    world.view(reader("a")).lacks("## pipemux/");
    set(&mut world, "views,environment,notices,history,questions").exits(0);
    let shown = world.view(reader("a"));
    shown.has("## pipemux/views\n- notes/main · 1 notes\n- other/main · 0 notes\n");
    shown.has("## pipemux/environment\nworkspace demo · context v1\n");
    shown.lacks("## pipemux/history").lacks("## pipemux/questions");
    let at = |part: &str| shown.text.find(part).expect(part);
    assert!(at("## pipemux/environment") < at("## notes/main"));
    assert_eq!(world.view(reader("a")).text, shown.text, "bytes stay");
    world.pass(3_600_000);
    assert_eq!(world.view(reader("a")).text, shown.text, "whatever the time is");
    world.run(reader("a"), "notes.say('x')").exits(0);
    let shown = world.view(reader("a"));
    shown.has("## pipemux/history\n- 1 · a · notes.say").has(" · ");
    let at = |part: &str| shown.text.find(part).expect(part);
    assert!(at("## other/main") < at("## pipemux/history"));
    set(&mut world, "off").exits(0).has("panels off");
    world.view(reader("a")).lacks("## pipemux/");
}

#[test]
fn unknown_panel_is_refused_with_those_that_there_are_and_panels_survive_the_daemon() {
    let mut world = two_windows();
    set(&mut world, "views,clock").exits(2).has("`clock` is no panel").has("views, environment");
    set(&mut world, "history, views").exits(0).has("panels views,history · ");
    world.lose_daemon();
    world.ask(reader("a"), Verb::Set { option: None, value: None }).has("panels views,history");
    world.view(reader("a")).has("## pipemux/views").lacks("## pipemux/environment");
}

#[test]
fn injection_has_a_panel_once_and_then_what_its_reader_cannot_know() {
    let mut world = two_windows();
    set(&mut world, "views,environment,notices,history,questions").exits(0);
    world.run(reader("y"), "notes.say('before')").exits(0);
    let first = inject(&mut world, reader("x"));
    first.has("## pipemux/views").has("## pipemux/environment").has("## pipemux/history\n- 1 ");
    assert_eq!(inject(&mut world, reader("x")).text, "");
    // The number of notes stands in the window's heading, and what the reader ran was answered.
    world.run(reader("x"), "notes.say('mine')").exits(0);
    assert_eq!(inject(&mut world, reader("x")).text, "");
    world.run(reader("y"), "notes.say('of y')").exits(0);
    let told = inject(&mut world, reader("x"));
    told.has("## pipemux/history\n- 3 · y · notes.say").lacks("- 2 ").lacks("- 1 ");
    told.lacks("## pipemux/views").lacks("## pipemux/environment");
    assert_eq!(inject(&mut world, reader("x")).text, "");
    // A window that others open is in the panel of windows.
    world.open(reader("y"), "notes/b").exits(0);
    let told = inject(&mut world, reader("x"));
    told.has("## pipemux/views").has("\n- notes/b\n").lacks("open now: ");
    // All of it comes again once the model has lost it.
    let reset = Inject { reset: true };
    let verb = Verb::View(ViewArgs { inject: Some(reset), ..ViewArgs::default() });
    let again = world.ask(reader("x"), verb);
    again.has("## pipemux/views").has("## pipemux/environment");
    again.has("## pipemux/history\n- 1 ").has("\n- 2 ").has("\n- 3 ");
}

#[test]
fn open_question_is_listed_once_and_stands_whole_below_its_heading() {
    let mut world = two_windows();
    set(&mut world, "questions").exits(0);
    inject(&mut world, reader("x")).lacks("## pipemux/");
    world.run(reader("x"), "notes.remove('k1 r1')").exits(5);
    let told = inject(&mut world, reader("x"));
    told.has("## pipemux/questions\n- notes.remove: ")
        .has("pipemux answer --to ")
        .lacks("## notes");
    assert_eq!(inject(&mut world, reader("x")).text, "");
    let shown = world.view(reader("x"));
    assert_eq!(shown.text.matches("## pipemux/questions\n").count(), 1, "{}", shown.text);
    shown.lacks("- notes.remove");
}

#[test]
fn notice_that_its_panel_shows_is_not_told_twice() {
    let mut world = two_windows();
    set(&mut world, "notices").exits(0);
    inject(&mut world, reader("x")).lacks("## pipemux/");
    let app = world.process("notes/main").expect("a process");
    world.kill(app, Exit::Signal(9), &[]);
    world.pass(10_000);
    let told = inject(&mut world, reader("x"));
    assert_eq!(told.text.matches("restarted").count(), 1, "{}", told.text);
    told.lacks("## pipemux/notices");
    let first = inject(&mut world, reader("y"));
    first.has("## pipemux/notices\n- notes/main");
    assert_eq!(first.text.matches("restarted").count(), 1, "{}", first.text);
}

#[test]
fn panels_without_room_are_named_with_the_call_that_shows_them() {
    let mut world = two_windows();
    set(&mut world, "views,environment").exits(0);
    let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
    let short = world.ask_call(&VerbRequest { budget: Some(200), ..call });
    short.has("no room for 2 panels: pipemux view\n").has("## notes/main").lacks("## pipemux/");
    assert!(pipemux_tokens::estimate(&short.text) <= 200, "{}", short.text);
}

#[test]
fn panels_have_no_absolute_path_and_no_user() {
    let mut world = two_windows();
    set(&mut world, "views,environment,notices,history,questions").exits(0);
    world.run(reader("a"), "notes.say('/home/ann/secrets/a.txt')").exits(0);
    let app = world.process("notes/main").expect("a process");
    let notify = Notify { text: "can't read /home/ann/secrets/b.txt".into() };
    let frame = frame(&Envelope::event(Method::Notify, app), &notify);
    world.event(Event::AppFrame { app, frame });
    let shown = world.view(reader("b"));
    let panels: Vec<&str> =
        shown.text.split("## ").filter(|part| part.starts_with("pipemux/")).collect();
    assert!(panels.len() > 2, "{}", shown.text);
    let panels = panels.concat();
    assert!(panels.contains("…/b.txt") && !panels.contains("ann"), "{panels}");
}

#[test]
fn panels_keep_to_their_shares_and_are_data_too() {
    let mut world = two_windows();
    for name in 0..60 {
        world.open(reader("a"), &format!("notes/n{name}")).exits(0);
    }
    set(&mut world, "views").exits(0);
    let shown = world.view(reader("a"));
    shown.has(" more: pipemux view --lod gist\n");
    let panel = shown.text.split("## ").nth(1).expect("a panel");
    assert!(pipemux_tokens::estimate(panel) <= 310, "{panel}");
    let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
    world.ask_call(&VerbRequest { format: Format::Json, ..call }).has("pipemux/views");
}

#[test]
fn source_that_fails_or_hangs_leaves_the_document_around_it_as_it_is() {
    let document = |world: &mut World| {
        let client = world.connect();
        let call = world.call(reader("r"), Verb::View(ViewArgs::default()));
        let id = world.send(client, &VerbRequest { budget: Some(600), ..call });
        world.settle();
        world.pass(30_000);
        let shown = world.answer_to(client, id).expect("an answer");
        let text = shown.exits(0).text.clone();
        let parts = text.split("## ").map(str::to_owned);
        let around: Vec<String> =
            parts.filter(|part| part.starts_with("notes/b") || part.starts_with("other")).collect();
        assert_eq!(around.len(), 2, "{text}");
        around
    };
    let mut world = World::new();
    for session in ["notes/main", "notes/b", "other"] {
        world.open(reader("a"), session).exits(0);
    }
    world.model("notes/b").add("what stays");
    let before = document(&mut world);
    let failing = Behaviour::RefusesProject(Box::new(Fault::failed("its file is gone")));
    for behaviour in [failing, Behaviour::Silent] {
        world.set_behaviour("notes/main", behaviour);
        world.model("notes/main").add("new");
        assert_eq!(document(&mut world)[0].trim_end(), before[0].trim_end());
    }
    let close = Verb::Close { session: session_addr("notes/main"), end: false };
    world.ask(reader("a"), close).exits(0);
}
