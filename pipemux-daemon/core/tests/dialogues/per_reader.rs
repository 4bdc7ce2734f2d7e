//! Apps that show each reader something else: one reader's page isn't everybody's.

use crate::waiting_views::{begin, now};
use crate::world::{AnswerText, Behaviour, Reader, World, reader, run, session_addr};
use pipemux_core::limits::READERS_SHOWN_MAX;
use pipemux_proto::client::{Inject, Verb, ViewArgs};

const A: Reader = Reader { workspace: "demo", reader: "a" };
const B: Reader = Reader { workspace: "demo", reader: "b" };

/// Four notes on two pages; `a` is shown the first page and `b` the second one.
fn on_two_pages() -> World {
    on_two_pages_of(World::new())
}

fn on_two_pages_of(mut world: World) -> World {
    world.set_behaviour("notes/main", Behaviour::PerReader);
    for note in 1..=4 {
        world.model("notes/main").add(&format!("note {note}"));
    }
    world.open(A, "notes").has("k1 r1").has("k2 r1").lacks("k3");
    world.open(B, "notes").has("k1 r1");
    world.run(B, "notes.say('2')").exits(0).has("k3 r1").has("k4 r1");
    world
}

fn notes(world: &mut World) -> Vec<String> {
    world.model("notes/main").notes.iter().map(|note| note.text.clone()).collect()
}

fn view(session: &str, wait_ms: u32) -> Verb {
    let session = Some(session_addr(session));
    Verb::View(ViewArgs { session, wait_ms, ..ViewArgs::default() })
}

fn inject(world: &mut World, who: Reader) -> AnswerText {
    let inject = Some(Inject::default());
    world.ask(who, Verb::View(ViewArgs { inject, ..ViewArgs::default() }))
}

#[test]
fn each_reader_is_shown_its_own_page() {
    let mut world = on_two_pages();
    for _ in 0..3 {
        world.view(A).has("[k1 r1](obj:note:").has("[k2 r1]").lacks("k3").lacks("k4");
        world.view(B).has("[k3 r1](obj:note:").has("[k4 r1]").lacks("k1").lacks("k2");
    }
}

#[test]
fn ids_of_a_page_stay_while_other_readers_look_at_others() {
    let mut world = on_two_pages();
    let (a, b) = (world.view(A), world.view(B));
    for _ in 0..80 {
        world.run(B, "notes.say('1')").exits(0);
        world.run(B, "notes.say('2')").exits(0);
    }
    let (a_now, b_now) = (world.view(A), world.view(B));
    for label in ["k1 r1", "k2 r1", "edit k1 r1"] {
        assert_eq!(a.id(label), a_now.id(label));
    }
    for label in ["k3 r1", "k4 r1", "edit k4 r1"] {
        assert_eq!(b.id(label), b_now.id(label));
    }
}

#[test]
fn clicks_and_refs_of_each_reader_mean_what_that_reader_saw() {
    let mut world = on_two_pages();
    let (a, b) = (world.view(A), world.view(B));
    world.click(A, &format!("link:{}", a.id("edit k2 r1"))).exits(0);
    world.click(B, &format!("link:{}", b.id("edit k3 r1"))).exits(0);
    assert_eq!(notes(&mut world), ["note 1", "by link", "by link", "note 4"]);
    world.run(A, &format!("notes.edit(obj:{}, 'mine')", a.id("k1 r1"))).exits(0);
    world.run(B, &format!("notes.edit(obj:{}, 'yours')", b.id("k4 r1"))).exits(0);
    assert_eq!(notes(&mut world), ["mine", "by link", "by link", "yours"]);
}

#[test]
fn labels_and_choices_are_those_of_the_reader_s_own_page() {
    let mut world = on_two_pages();
    world.view(B);
    world.run(A, "notes.edit('k1 r1', 'mine')").exits(0);
    world.run(B, "notes.edit('k1 r2', 'not shown')").exits(2).has("not a ref or a label");
    world.run(A, "notes.edit(text='x')").has("k1 r2").has("k2 r1").lacks("k3").lacks("k4");
}

#[test]
fn label_means_the_reader_s_own_page_though_another_reader_looked_while_an_app_opened() {
    for (label, exit, edited) in [("k3 r1", 0, "yours"), ("k1 r2", 2, "note 3")] {
        let mut world = on_two_pages_of(World::with_built_in());
        world.run(A, "notes.edit('k1 r1', 'note 1')").exits(0);
        world.set_behaviour("other/main", Behaviour::Holds);
        let code = format!("other.say('x'); notes.edit('{label}', 'yours')");
        let opening = begin(&mut world, B, run(&code));
        world.view(A).has("[k1 r2]");
        world.set_behaviour("other/main", Behaviour::Normal);
        world.release("other/main");
        now(&world, opening).exits(exit);
        assert_eq!(notes(&mut world), ["note 1", "note 2", edited, "note 4"]);
    }
}

#[test]
fn thing_on_another_page_is_out_of_view_for_its_reader_only() {
    let mut world = on_two_pages();
    let seen = world.view(A);
    world.run(A, "notes.say('2')").exits(0);
    world.run(B, "notes.say('1')").exits(0);
    let edit = format!("notes.edit(obj:{}, 'x')", seen.id("k1 r1"));
    world.run(A, &edit).exits(4).has("is out of view").has("notes.say('1')");
    world.run(B, &edit).exits(0);
}

#[test]
fn change_is_told_to_the_readers_whose_page_shows_it() {
    let mut world = on_two_pages();
    world.view(A);
    world.view(B);
    world.model("notes/main").change(0, "new text");
    world.report_change("notes/main");
    assert_eq!(inject(&mut world, B).text, "", "it isn't on this page");
    inject(&mut world, A).has("new text").lacks("k3");
}

#[test]
fn wait_does_not_end_when_another_reader_turns_its_page() {
    let mut world = on_two_pages();
    world.view(A);
    let waiting = begin(&mut world, A, view("notes/main", 60_000));
    world.run(B, "notes.say('1')").exits(0);
    world.run(B, "notes.say('2')").exits(0);
    world.pass(10_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none(), "nothing of this page changed");
    world.model("notes/main").change(1, "it changes");
    world.report_change("notes/main");
    now(&world, waiting).exits(0).has("it changes").lacks("k3");
    // What another reader did before the wait ends no wait, either.
    world.view(A);
    world.run(B, "notes.say('1')").exits(0);
    let waiting = begin(&mut world, A, view("notes/main", 60_000));
    world.pass(59_000);
    assert!(world.answer_to(waiting.0, waiting.1).is_none());
    world.pass(1_000);
    now(&world, waiting).exits(0).has("unchanged for 60 s");
}

#[test]
fn injection_tells_of_the_reader_s_own_page() {
    let mut world = on_two_pages();
    inject(&mut world, reader("c")).has("note 1").lacks("note 3");
    assert_eq!(inject(&mut world, A).text, "", "it was shown when it was opened");
    assert_eq!(inject(&mut world, B).text, "");
    assert_eq!(inject(&mut world, A).text, "");
    world.run(B, "notes.say('1')").exits(0);
    assert_eq!(inject(&mut world, A).text, "", "another reader's page concerns nobody else");
    world.model("notes/main").change(0, "changed");
    world.report_change("notes/main");
    inject(&mut world, A).has("changed").lacks("note 3");
}

#[test]
fn late_page_of_a_reader_makes_no_refs_of_others_stale_for_ever() {
    let mut world = on_two_pages();
    world.open(A, "other");
    world.set_behaviour("other/main", Behaviour::Holds);
    let late = begin(&mut world, reader("c"), Verb::View(ViewArgs::default()));
    world.model("notes/main").change(0, "new text");
    world.ask(A, view("notes/main", 0)).has("k1 r2");
    world.release("other/main");
    // What came for this reader first is older than what another one was shown since: it was
    // requested again.
    now(&world, late).has("k1 r2").lacks("k1 r1");
    let seen = world.ask(A, view("notes/main", 0));
    world.run(A, &format!("notes.edit(obj:{}, 'mine')", seen.id("k1 r2"))).exits(0);
    assert_eq!(notes(&mut world)[0], "mine");
}

#[test]
fn readers_beyond_the_bound_are_shown_their_page_whole_again() {
    let mut world = on_two_pages();
    let seen = world.view(A);
    let names: Vec<&'static str> =
        (0..READERS_SHOWN_MAX + 2).map(|n| &*format!("r{n}").leak()).collect();
    for name in names {
        world.view(reader(name)).has("k1 r1");
    }
    let again = world.view(A).has("k1 r1").has("k2 r1").lacks("k3").clone();
    assert_eq!(again.id("k1 r1"), seen.id("k1 r1"), "a thing keeps its id");
    world.click(A, &format!("link:{}", again.id("edit k1 r1"))).exits(0);
}

#[test]
fn page_shown_to_one_reader_while_another_waits_for_a_slow_app_is_requested_again() {
    let mut world = on_two_pages();
    world.open(A, "other");
    world.view(A);
    world.set_behaviour("other/main", Behaviour::Holds);
    let waiting = begin(&mut world, A, Verb::View(ViewArgs::default()));
    world.model("notes/main").change(2, "second page");
    world.report_change("notes/main");
    world.ask(B, view("notes/main", 0)).has("second page");
    world.release("other/main");
    now(&world, waiting).exits(0).lacks("second page").lacks("did not answer");
    world.ask(A, view("notes/main", 0)).lacks("second page");
}
