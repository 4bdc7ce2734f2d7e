//! The context of a prompt: everything once, then only what the reader hasn't seen.

use crate::world::{AnswerText, Behaviour, Reader, World, open, reader, session_addr};
use pipemux_core::limits::INJECT_BUDGET;
use pipemux_proto::client::{Format, Inject, OpenArgs, Verb, VerbRequest, ViewArgs};

const FIRST: &str = "PipeMux context v1 · act on it: pipemux run '<call>'";

fn inject(world: &mut World, who: Reader) -> AnswerText {
    ask(world, who, Inject::default(), None)
}

fn ask(world: &mut World, who: Reader, how: Inject, budget: Option<u32>) -> AnswerText {
    let verb = Verb::View(ViewArgs { inject: Some(how), ..ViewArgs::default() });
    let call = world.call(who, verb);
    world.ask_call(&VerbRequest { budget, ..call })
}

/// Opens a session with notes as a reader who isn't asked about.
fn with_notes(notes: usize) -> World {
    let mut world = World::new();
    for note in 0..notes {
        world.model("notes/main").add(&format!("note number {note}"));
    }
    world.open(reader("opener"), "notes");
    world
}

#[test]
fn everything_is_injected_once_then_changes_then_nothing() {
    let mut world = with_notes(3);
    let a = reader("a");
    inject(&mut world, a).exits(0).has(FIRST).has("note number 2").has("say(");
    assert_eq!(inject(&mut world, a).exits(0).text, "");
    world.model("notes/main").add("a new one");
    world.report_change("notes/main");
    inject(&mut world, a).exits(0).lacks(FIRST).has("+ ").has("a new one").lacks("number 2");
    assert_eq!(inject(&mut world, a).text, "");
    // Another reader has seen nothing of it.
    inject(&mut world, reader("b")).has(FIRST).has("a new one");
}

#[test]
fn results_of_own_runs_are_not_injected_again() {
    let mut world = with_notes(2);
    let (a, b) = (reader("a"), reader("b"));
    inject(&mut world, a).has("[k1 r1](obj:note:2)");
    inject(&mut world, b).has(FIRST);
    world.run(a, "notes.edit(obj:2, 'mine')").exits(0);
    assert_eq!(inject(&mut world, a).text, "");
    inject(&mut world, b).exits(0).has("mine");
}

#[test]
fn reset_tells_what_was_done_and_then_the_windows_that_the_reader_used() {
    let mut world = with_notes(3);
    world.open(reader("opener"), "other");
    let a = reader("a");
    // Who has used nothing is shown everything, without what can be done: that is in the guide.
    let first = ask(&mut world, a, Inject { reset: true }, None);
    first.has("## notes/main").has("## other/main").has("note number 2").lacks("say(");
    let b = reader("b");
    world.run(b, "notes.say('x')").exits(0);
    world.run(b, "notes.fail(); notes.say('later')").exits(1);
    let again = ask(&mut world, b, Inject { reset: true }, None);
    again.has("Done so far; pipemux undo N takes round N back alone:\n1. 10:00:00Z · b · notes.say('x') → ");
    again.has("kept as ").has("notes.say('later')");
    again.has("## notes/main").lacks("## other/main").lacks("say(text");
    // What is new to the reader comes with the next prompt.
    inject(&mut world, b).has("## other/main").lacks("## notes/main");
    assert_eq!(inject(&mut world, b).text, "");
}

#[test]
fn rounds_of_a_long_history_leave_room_for_the_windows() {
    let mut world = with_notes(3);
    let a = reader("a");
    for text in 0..60 {
        world.run(a, &format!("notes.say('{text} {}')", "long ".repeat(60))).exits(0);
    }
    let told = ask(&mut world, a, Inject { reset: true }, None);
    told.has("\n60. ").has(" earlier: pipemux history --rounds 60\n").has("note number 2");
    assert!(pipemux_tokens::estimate(&told.text) <= INJECT_BUDGET.into());
}

#[test]
fn window_that_was_cut_is_not_new_as_long_as_it_does_not_change() {
    let mut world = with_notes(400);
    let a = reader("a");
    let call = world.call(reader("opener"), open("notes"));
    world.ask_call(&VerbRequest { budget: Some(8_000), ..call }).exits(0);
    let first = inject(&mut world, a);
    first.exits(0).has(FIRST).has(&format!("cut to fit {INJECT_BUDGET} tokens"));
    assert!(pipemux_tokens::estimate(&first.text) <= INJECT_BUDGET.into());
    first.lacks("note number 390");
    assert_eq!(inject(&mut world, a).text, "");
    world.model("notes/main").change(0, "another one");
    world.report_change("notes/main");
    let second = inject(&mut world, a);
    second.has("another one").lacks("note number 390").lacks("to fit");
    assert!(pipemux_tokens::estimate(&second.text) < 100, "{}", second.text);
}

fn seven_windows() -> World {
    let mut world = with_notes(1);
    for session in ["notes/b", "notes/c", "notes/d", "notes/e", "notes/f", "notes/g"] {
        world.open(reader("opener"), session);
    }
    world
}

#[test]
fn windows_that_found_no_room_come_with_the_next_injections() {
    let mut world = seven_windows();
    let a = reader("a");
    let small = |world: &mut World| ask(world, a, Inject::default(), Some(170));
    let first = small(&mut world);
    first.exits(0).has(FIRST).has("## notes/main").has(" windows: pipemux inject shows more\n");
    let mut shown = first.text.matches("## notes/").count();
    for _ in 0..7 {
        let next = small(&mut world);
        assert!(pipemux_tokens::estimate(&next.text) <= 170, "{}", next.text);
        shown += next.text.matches("## notes/").count();
        if next.text.is_empty() {
            break;
        }
    }
    assert_eq!(shown, 7);
    assert_eq!(small(&mut world).text, "");
    assert_eq!(inject(&mut world, a).text, "");
}

#[test]
fn window_that_never_finds_room_is_named_once_and_shown_when_it_changes() {
    let mut world = seven_windows();
    let a = reader("a");
    let small = |world: &mut World| ask(world, a, Inject::default(), Some(100));
    small(&mut world).exits(0).has(FIRST).has("no room for 7 windows: pipemux view notes/main");
    assert_eq!(small(&mut world).text, "");
    world.model("notes/g").add("a new one");
    world.report_change("notes/g");
    small(&mut world).has("## notes/g").has("a new one").lacks("no room").lacks(FIRST);
}

#[test]
fn window_that_never_showed_anything_is_told_once_and_shown_when_it_does() {
    let mut world = with_notes(1);
    let a = reader("a");
    world.set_behaviour("notes/main", Behaviour::Silent);
    let late = |world: &mut World| {
        let client = world.connect();
        let verb = Verb::View(ViewArgs { inject: Some(Inject::default()), ..ViewArgs::default() });
        let call = world.call(a, verb);
        let id = world.send(client, &call);
        world.settle();
        world.pass(10_000);
        let answer = world.answer_to(client, id).expect("an answer");
        if answer.delivery > 0 {
            world.confirm(client, answer.delivery);
        }
        answer
    };
    late(&mut world).has("## notes/main");
    assert_eq!(late(&mut world).text, "");
    assert_eq!(late(&mut world).text, "");
}

#[test]
fn window_that_is_cut_to_its_own_budget_is_told_with_the_call_that_shows_all_of_it() {
    let mut world = with_notes(75);
    let a = reader("a");
    let whole = inject(&mut world, a);
    whole.has(" more lines\n").has("\nall of a window: pipemux view notes/main --lod full\n");
    whole.lacks("cut to fit");
    world.model("notes/main").change(0, "another one");
    world.report_change("notes/main");
    inject(&mut world, a).has("another one").lacks("all of a window");
}

#[test]
fn prototypes_of_an_app_are_told_once_for_all_its_windows() {
    let mut world = with_notes(1);
    world.open(reader("opener"), "notes/b");
    let a = reader("a");
    assert_eq!(inject(&mut world, a).text.matches("say(").count(), 1);
    world.open(reader("opener"), "notes/c");
    inject(&mut world, a).has("## notes/c").lacks("say(");
    // After a reset the reader still has the guide.
    ask(&mut world, a, Inject { reset: true }, None).has("## notes/c").lacks("say(");
}

#[test]
fn data_of_an_injection_has_only_what_is_new() {
    let mut world = with_notes(1);
    world.open(reader("opener"), "other");
    let a = reader("a");
    let as_data = |world: &mut World| {
        let verb = Verb::View(ViewArgs { inject: Some(Inject::default()), ..ViewArgs::default() });
        let call = world.call(a, verb);
        world.ask_call(&VerbRequest { format: Format::Json, ..call })
    };
    as_data(&mut world).has("note number 0").has("other/main");
    as_data(&mut world).lacks("note number 0").lacks("other/main");
    world.model("notes/main").add("a new one");
    world.report_change("notes/main");
    as_data(&mut world).has("a new one").lacks("other/main");
}

#[test]
fn windows_that_somebody_closed_or_ended_are_told_once() {
    let mut world = with_notes(1);
    let a = reader("a");
    world.open(reader("opener"), "other");
    inject(&mut world, a).has(FIRST);
    let close = Verb::Close { session: session_addr("notes/main"), end: false };
    world.ask(reader("opener"), close).exits(0);
    inject(&mut world, a).has("open now: other/main\n").lacks("## ");
    assert_eq!(inject(&mut world, a).text, "");
    world.ask(reader("opener"), Verb::End { session: session_addr("other/main") }).exits(0);
    inject(&mut world, a).has("0 windows are open now\n");
    assert_eq!(inject(&mut world, a).text, "");
}

#[test]
fn workspace_without_windows_injects_nothing_unless_it_is_reset() {
    let mut world = World::new();
    let a = reader("a");
    assert_eq!(inject(&mut world, a).exits(0).text, "");
    let said = ask(&mut world, a, Inject { reset: true }, None);
    said.exits(0).has("0 windows · pipemux --help");
}

#[test]
fn busy_window_that_was_seen_says_nothing_and_one_that_was_not_says_so() {
    let mut world = with_notes(1);
    let a = reader("a");
    inject(&mut world, a).has(FIRST);
    world.set_behaviour("notes/main", Behaviour::Silent);
    world.model("notes/main").version += 1;
    world.report_change("notes/main");
    assert_eq!(inject(&mut world, a).exits(0).text, "");
    inject(&mut world, reader("b")).exits(0).has("busy, as it was before").has("note number 0");
}

#[test]
fn windows_stand_by_priority_and_share_the_budget_by_weight() {
    let mut world = with_notes(60);
    for note in 0..60 {
        world.model("other/main").add(&format!("other number {note}"));
    }
    let ranked = |priority, weight| {
        let Verb::Open(open) = open("other") else { panic!("an open") };
        Verb::Open(OpenArgs { priority: Some(priority), weight: Some(weight), ..open })
    };
    let a = reader("a");
    world.ask(a, ranked(5, 3)).exits(0);
    let look = |world: &mut World| {
        let call = world.call(a, Verb::View(ViewArgs::default()));
        let text = world.ask_call(&VerbRequest { budget: Some(3_000), ..call }).text;
        let at = |session| text.find(session).unwrap_or_else(|| panic!("no {session}: {text}"));
        let is_first = at("## other/main") < at("## notes/main");
        (is_first, text.contains(") other number 59"), text.contains(") note number 0"))
    };
    // Of 3,000 tokens one has 2,250, which is room for all of it, and one 750.
    assert_eq!(look(&mut world), (true, true, false));
    // A later daemon keeps it.
    world.lose_daemon();
    assert_eq!(look(&mut world), (true, true, false));
    world.ask(a, ranked(-5, 9)).exits(0);
    assert_eq!(look(&mut world), (false, true, false));
}
