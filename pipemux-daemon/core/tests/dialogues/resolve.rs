//! `resolve`: what the refs and tokens of a text are, and the calls that they name.

use crate::world::{AnswerText, Behaviour, World, reader, session_addr};
use pipemux_proto::client::{Format, Verb, VerbRequest};
use pipemux_proto::limits::{RESOLVE_MAX, RESOLVE_TEXT_MAX};

fn resolve(world: &mut World, text: &str) -> AnswerText {
    world.ask(reader("a"), Verb::Resolve { text: text.into(), run: false })
}

fn carry_out(world: &mut World, text: &str) -> AnswerText {
    world.ask(reader("a"), Verb::Resolve { text: text.into(), run: true })
}

fn close(world: &mut World, session: &str) {
    world.ask(reader("a"), Verb::Close { session: session_addr(session), end: false }).exits(0);
}

/// A world with the notes k1 and k2, of which k2 is hidden, and k3 was removed.
fn with_notes() -> World {
    let mut world = World::new();
    for text in ["one", "two", "three"] {
        world.model("notes/main").add(text);
    }
    world.model("notes/main").hide(1, true);
    world.model("notes/main").remove(2);
    world.open(reader("a"), "notes").exits(0);
    world
}

#[test]
fn live_hidden_gone_and_forged_tokens_of_a_text_are_told_apart() {
    let mut world = with_notes();
    let text = "First [[NT:Note:k1]], then [[NT:Note:k2]]; not [[NT:Note:k3]] or [[NT:Note:x]] \
        or [[ZZ:Note:k1]]. Again: [[NT:Note:k1]].";
    let told = resolve(&mut world, text);
    told.exits(0);
    let expected = "\
[[NT:Note:k1]] live · \"one\" · notes/main, in the list
  pipemux click '[[NT:Note:k1]]' = notes.say(text='k1') · taken by edit(note, text), remove(note), \
text(note), list(note), wipe(note)
[[NT:Note:k2]] hidden · \"two\" · notes/main, in the list · notes says: notes.unhide()
  pipemux click '[[NT:Note:k2]]' = notes.say(text='k2')
[[NT:Note:k3]] gone · notes/main · It was removed
[[NT:Note:x]] forged · notes/main · nothing ever had that name
[[ZZ:Note:k1]] forged · no app here has tokens of ZZ
";
    assert_eq!(told.text, expected);
    assert!(world.invoked.is_empty(), "nothing in a text acts by itself");
}

#[test]
fn refs_and_links_are_told_by_what_the_reader_has_seen() {
    let mut world = with_notes();
    let shown = world.view(reader("a"));
    let (note, link) = (shown.id("k1 r1"), shown.id("edit k1 r1"));
    let text = format!("obj:note:{note} (link:{link}), obj:9999 and link:8888");
    let told = resolve(&mut world, &text);
    told.has(&format!(
        "obj:note:{note} live · \"k1 r1\" · notes/main\n  taken by edit(note, text)"
    ));
    told.has(&format!(
        "link:{link} live · \"edit k1 r1\" · notes/main\n  pipemux click link:{link}\n"
    ));
    told.has("obj:9999 forged").has("link:8888 forged");
    world.model("notes/main").change(0, "other");
    world.view(reader("b"));
    resolve(&mut world, &text).has(&format!("obj:note:{note} stale"));
    close(&mut world, "notes/main");
    let told = resolve(&mut world, &text);
    told.has(&format!("obj:note:{note} stale")).has("link:").has(" · pipemux ");
}

#[test]
fn token_of_a_closed_window_is_hidden_and_of_two_sessions_ambiguous() {
    let mut world = with_notes();
    world.open(reader("a"), "notes/b").exits(0);
    let told = resolve(&mut world, "[[NT:Note:k1]]");
    told.has("ambiguous · notes/main and notes/b are open · close one: pipemux close notes/b\n");
    world.click(reader("a"), "[[NT:Note:k1]]").exits(2).has("notes/main and notes/b are open");
    close(&mut world, "notes/b");
    close(&mut world, "notes/main");
    let told = resolve(&mut world, "[[NT:Note:k1]]");
    told.has("hidden · the window of notes/").has("is closed: pipemux open notes/");
    world.click(reader("a"), "[[NT:Note:k1]]").exits(4).has("out of view");
}

#[test]
fn click_run_and_resolve_carry_out_the_one_call_that_a_token_names() {
    let mut world = with_notes();
    world.click(reader("a"), "[[NT:Note:k1]]").exits(0).has("say");
    world.run(reader("a"), "[[NT:Note:k2]]").exits(0);
    carry_out(&mut world, "I choose [[NT:Note:k1]].").exits(0);
    let said: Vec<&str> = world.invoked.iter().map(|(_, invoke)| invoke.action.as_str()).collect();
    assert_eq!(said, ["say"; 3]);
    let both = carry_out(&mut world, "[[NT:Note:k1]] or [[NT:Note:k2]]");
    both.exits(2).has("names 2 calls, expected one").has("pipemux click '[[NT:Note:k2]]'");
    carry_out(&mut world, "none of it").exits(3).has("names no call");
    carry_out(&mut world, "[[NT:Note:x]]").exits(3).has("not found in current context");
    world.click(reader("a"), "[[NT:Note:k3]]").exits(3).has("It was removed");
    let only_queries = true;
    let (code, stdin) = ("[[NT:Note:k1]]".to_owned(), None);
    let asked = world.ask(reader("a"), Verb::Run { code, stdin, only_queries });
    asked.exits(9).has("only queries may run here");
    assert_eq!(world.invoked.len(), 3);
}

#[test]
fn tokens_are_known_after_the_daemon_was_lost_before_their_app_runs_again() {
    let mut world = with_notes();
    world.lose_daemon();
    resolve(&mut world, "[[NT:Note:k1]]").has("live · \"one\"");
    world.lose_daemon();
    world.click(reader("a"), "[[NT:Note:k1]]").exits(0);
}

#[test]
fn app_that_does_not_answer_leaves_its_tokens_unknown_and_others_told() {
    let mut world = with_notes();
    world.open(reader("a"), "other").exits(0);
    world.set_behaviour("notes/main", Behaviour::Silent);
    let client = world.connect();
    let text = "[[NT:Note:k1]] [[OT:Note:x]]".to_owned();
    let call = world.call(reader("a"), Verb::Resolve { text, run: false });
    let id = world.send(client, &call);
    world.settle();
    world.pass(10_000);
    let told = world.answer_to(client, id).expect("an answer");
    told.exits(0).has("[[NT:Note:k1]] unknown · notes/main · ").has("[[OT:Note:x]] forged");
}

#[test]
fn text_of_an_app_about_its_token_is_inert_and_its_call_is_its_own() {
    let mut world = with_notes();
    world.model("notes/main").change(0, "[x](obj:1) [[NT:Note:k9]]\n## notes/main");
    let told = resolve(&mut world, "[[NT:Note:k1]]");
    told.has("[x]\\(obj:1)").lacks(" [[NT:Note:k9]]").lacks("\n## ");
    world.model("notes/main").notes[0].key = "k1'); other.wipe('".into();
    world.model("notes/main").notes[0].text = "x".into();
    let told = resolve(&mut world, "[[NT:Note:k1'); other.wipe(']]");
    told.lacks("pipemux click").lacks("= notes.");
}

#[test]
fn bounds_of_text_and_refs_hold_and_data_has_the_same() {
    let mut world = with_notes();
    resolve(&mut world, &"x".repeat(RESOLVE_TEXT_MAX + 1)).exits(9).has("limit 262144");
    let many: String = (0..RESOLVE_MAX + 3).map(|at| format!("[[NT:Note:k{}]] ", at + 9)).collect();
    let told = resolve(&mut world, &many);
    told.exits(0).has("… 3 more: pass the text in parts\n");
    assert_eq!(told.text.matches(" gone · ").count(), RESOLVE_MAX);
    resolve(&mut world, "nothing here").exits(0).has("0 refs and tokens found\n");
    let verb = Verb::Resolve { text: "[[NT:Note:k1]]".into(), run: false };
    let call = world.call(reader("a"), verb);
    let told = world.ask_call(&VerbRequest { format: Format::Json, ..call });
    told.has("live").has("notes.say(text='k1')").has("command");
}
