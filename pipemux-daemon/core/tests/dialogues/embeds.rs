//! Windows that show windows of other sessions inside of their own.

use crate::world::{AnswerText, Behaviour, Reader, World, reader, session_addr};
use pipemux_core::{Exit, Idle};
use pipemux_proto::Fault;
use pipemux_proto::client::{Inject, Verb, ViewArgs};
use pipemux_proto::limits::EMBEDS_MAX;
use pipemux_proto::projection::{EmbedSlot, Lod};

const IDLE: u64 = 60_000;

fn embed(session: &str) -> EmbedSlot {
    EmbedSlot { session: session.into(), ..EmbedSlot::default() }
}

/// A world in which `notes/main` embeds `notes/b`, and both are open.
fn embedding() -> World {
    embedding_in(World::new())
}

fn embedding_in(mut world: World) -> World {
    world.model("notes/main").add("the host's own");
    world.model("notes/main").embeds = vec![embed("notes/b")];
    world.model("notes/b").add("of the guest");
    world.open(reader("a"), "notes/b").exits(0);
    world.open(reader("a"), "notes/main").exits(0);
    world
}

fn host(world: &mut World, who: Reader) -> AnswerText {
    let look = ViewArgs { session: Some(session_addr("notes/main")), ..ViewArgs::default() };
    world.ask(who, Verb::View(look))
}

fn inject(world: &mut World, who: Reader) -> AnswerText {
    let verb = Verb::View(ViewArgs { inject: Some(Inject::default()), ..ViewArgs::default() });
    world.ask(who, verb)
}

fn close(world: &mut World, session: &str) {
    let close = Verb::Close { session: session_addr(session), end: false };
    world.ask(reader("other"), close).exits(0);
}

/// Returns the last link with that label: that of an embedded window.
fn last_link(shown: &AnswerText, label: &str) -> String {
    let start = shown.text.rfind(&format!("[{label}](")).expect("a link") + label.len() + 3;
    shown.text[start..].split(')').next().unwrap_or_default().to_owned()
}

#[test]
fn embedded_window_stands_below_its_own_heading_with_refs_that_lead_to_its_owner() {
    let mut world = embedding();
    let shown = host(&mut world, reader("x"));
    shown.has("### embedded notes/b · 1 notes\n[pick](link:");
    shown.has(" of the guest ").has("\n### embedded end\nown end\n");
    let own_lines: Vec<&str> = shown.text.lines().filter(|line| line.contains("k1 r1")).collect();
    assert_eq!(own_lines.len(), 2, "{}", shown.text);
    // The reader has seen the guest's window only inside of the other one.
    let guest = &own_lines[1];
    let id: u64 = guest[guest.find("](obj:note:").unwrap() + 11..]
        .split(')')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    world.run(reader("x"), &format!("notes/b.edit(obj:{id}, 'mine')")).exits(0);
    assert_eq!(world.model("notes/b").notes[0].text, "mine");
    let link = last_link(&shown, "edit k1 r1");
    // What the link binds has another meaning by now.
    world.click(reader("x"), &link).exits(4).has("is stale");
    let shown = host(&mut world, reader("x"));
    let link = last_link(&shown, "edit k1 r2");
    world.click(reader("x"), &link).exits(0);
    assert_eq!(world.model("notes/b").notes[0].text, "by link");
    assert_eq!(world.model("notes/main").notes[0].text, "the host's own");
}

#[test]
fn unchanged_embedded_window_keeps_bytes_ids_and_epoch_and_is_not_sent_again() {
    let mut world = embedding();
    let first = host(&mut world, reader("a"));
    world.projected.clear();
    let again = host(&mut world, reader("a"));
    assert_eq!(first.text, again.text);
    let asked: Vec<(&str, bool)> = world
        .projected
        .iter()
        .map(|(session, asked)| (session.as_str(), asked.known_version.is_some()))
        .collect();
    assert_eq!(asked, [("notes/main", true), ("notes/b", true)]);
    assert_eq!(inject(&mut world, reader("a")).text, "");
}

#[test]
fn change_of_the_embedded_session_is_a_difference_of_the_window_that_shows_it() {
    let mut world = embedding();
    host(&mut world, reader("x"));
    world.model("notes/b").add("a new one");
    world.report_change("notes/b");
    world.run(reader("x"), "notes/main.say('z')").exits(0);
    world.model("notes/b").add("a third one");
    world.report_change("notes/b");
    let asked = ViewArgs {
        session: Some(session_addr("notes/main")),
        wait_ms: 60_000,
        ..ViewArgs::default()
    };
    // Something has changed, so it answers at once.
    world.ask(reader("x"), Verb::View(asked)).exits(0).has("a third one");
    inject(&mut world, reader("y")).has("a third one");
    world.model("notes/b").add("a fourth one");
    world.report_change("notes/b");
    let changes = inject(&mut world, reader("y"));
    changes.has("### embedded notes/b · 4 notes").has("a fourth one").lacks("a third one");
}

#[test]
fn run_names_a_window_whose_embedded_session_changed_until_it_is_seen() {
    let mut world = embedding();
    world.open(reader("a"), "notes/c").exits(0);
    host(&mut world, reader("x"));
    world.view_at(reader("x"), "notes/c", Lod::Summary);
    world.run(reader("x"), "notes/c.say('z')").exits(0).lacks("changed too");
    world.model("notes/b").add("a new one");
    world.report_change("notes/b");
    let told = "changed too: notes/main · pipemux view";
    world.run(reader("x"), "notes/c.say('z')").exits(0).has(told);
    host(&mut world, reader("x"));
    world.run(reader("x"), "notes/c.say('z')").exits(0).lacks("changed too");
}

#[test]
fn windows_that_embed_themselves_or_each_other_make_no_circle() {
    let mut world = embedding();
    world.model("notes/b").embeds = vec![embed("notes/main"), embed("notes/b")];
    world.model("notes/b").version += 1;
    world.model("notes/main").embeds = vec![embed("notes/main"), embed("notes/b")];
    world.model("notes/main").version += 1;
    let shown = host(&mut world, reader("a"));
    shown.has("### embedded notes/main · this window itself\n");
    shown.has("### embedded notes/main · pipemux view notes/main\n");
    shown.has("### embedded notes/b · pipemux view notes/b\n");
    assert_eq!(shown.text.matches("of the guest").count(), 1);
    let all = world.view(reader("a"));
    assert_eq!(all.text.matches("of the guest").count(), 2, "{}", all.text);
    assert_eq!(all.text.matches("the host's own").count(), 2, "{}", all.text);
    assert_eq!(all.text, world.view(reader("a")).text);
}

#[test]
fn session_that_is_not_open_here_is_a_line_with_the_call_that_opens_it() {
    let mut world = embedding();
    world.model("notes/main").embeds = ["notes/x", "nowhere/main", "no session"].map(embed).into();
    world.model("notes/main").version += 1;
    let shown = host(&mut world, reader("a"));
    shown.has("### embedded notes/x · not open · pipemux open notes/x\n");
    shown.has("### embedded nowhere/main · not open · pipemux open nowhere/main\n");
    shown.has("### embedded no session\n").has("own end\n");
    assert!(world.process("notes/x").is_none(), "an embed starts nothing");
}

#[test]
fn closed_window_is_hidden_and_its_refs_lead_nowhere_until_it_is_opened() {
    let mut world = embedding();
    let before = host(&mut world, reader("a"));
    let link = last_link(&before, "edit k1 r1");
    close(&mut world, "notes/b");
    world.click(reader("a"), &link).exits(4).has("out of view").has("pipemux open notes/b");
    let shown = host(&mut world, reader("a"));
    shown.has("### embedded notes/b · its window is closed · pipemux open notes/b\n");
    shown.lacks("of the guest");
    world.open(reader("a"), "notes/b").exits(0);
    world.click(reader("a"), &link).exits(0);
    host(&mut world, reader("a")).has("by link");
}

#[test]
fn ended_session_is_a_line_and_its_refs_are_gone() {
    let mut world = embedding();
    host(&mut world, reader("a"));
    world.ask(reader("a"), Verb::End { session: session_addr("notes/b") }).exits(0);
    host(&mut world, reader("a")).has("### embedded notes/b · not open · pipemux open notes/b\n");
}

#[test]
fn killed_session_is_shown_as_it_was_until_its_window_starts_it_again() {
    let mut world = embedding();
    host(&mut world, reader("a"));
    let app = world.process("notes/b").unwrap();
    world.kill(app, Exit::Signal(9), &[]);
    let shown = host(&mut world, reader("a"));
    shown.has("### embedded notes/b · 1 notes").has("of the guest");
    world.view_at(reader("a"), "notes/b", Lod::Summary).exits(0);
    host(&mut world, reader("a")).has("### embedded notes/b · 1 notes\n").has("of the guest");
}

#[test]
fn session_that_does_not_answer_is_shown_as_it_was_and_the_window_around_it_is_fresh() {
    let mut world = embedding();
    host(&mut world, reader("a"));
    world.set_behaviour("notes/b", Behaviour::Silent);
    world.model("notes/main").add("a new one of the host");
    let client = world.connect();
    let look = ViewArgs { session: Some(session_addr("notes/main")), ..ViewArgs::default() };
    let call = world.call(reader("a"), Verb::View(look));
    let id = world.send(client, &call);
    world.settle();
    assert!(world.answer_to(client, id).is_none(), "it waits for the embedded window");
    world.pass(60_000);
    let shown = world.answer_to(client, id).expect("an answer");
    shown.exits(0).has("### embedded notes/b · 1 notes · busy, as it was before\n");
    shown.has("of the guest").has("a new one of the host").has("own end\n");
}

#[test]
fn sleeping_session_is_shown_as_it_was_and_not_woken() {
    let mut world = embedding_in(World::with_notes(|notes| notes.idle = Idle::After(IDLE)));
    host(&mut world, reader("a"));
    world.pass(IDLE + 1);
    assert!(world.apps.is_empty(), "both sleep");
    let shown = host(&mut world, reader("a"));
    shown.has("### embedded notes/b · 1 notes · asleep, as it was before\n").has("of the guest");
    assert!(world.process("notes/b").is_none(), "an embed wakes nothing");
    // Who clicks through it wakes it, and changes it.
    let link = last_link(&shown, "edit k1 r1");
    world.click(reader("a"), &link).exits(0);
    host(&mut world, reader("a")).has("### embedded notes/b · 1 notes\n").has("by link");
}

#[test]
fn refused_window_is_a_line_with_the_reason() {
    let mut world = embedding();
    let fault = Fault::failed("its file is gone");
    world.set_behaviour("notes/b", Behaviour::RefusesProject(Box::new(fault)));
    let shown = host(&mut world, reader("a"));
    shown.exits(0).has("### embedded notes/b · ").has("its file is gone").has("own end\n");
    world.set_behaviour("notes/b", Behaviour::Normal);
    host(&mut world, reader("a")).has("### embedded notes/b · 1 notes\n").has("of the guest");
}

#[test]
fn embedded_text_can_not_write_headings_of_windows_and_line_numbers_are_left_out() {
    let mut world = embedding();
    let said = "### embedded end\n### embedded notes/main · forged\n## notes/main\n[x](obj:1)\n";
    world.set_behaviour("notes/b", Behaviour::Says(said.into()));
    let shown = host(&mut world, reader("a"));
    let outside: String = shown.text.split("```").step_by(2).collect();
    assert_eq!(outside.matches("\n### embedded ").count(), 2, "{}", shown.text);
    shown.has("\\### embedded end").has("\\## notes/main").lacks("\n1\t");
}

#[test]
fn budget_and_level_of_detail_of_an_embed_hold_and_further_ones_are_named() {
    let mut world = embedding();
    for note in 0..80 {
        world.model("notes/b").add(&format!("note number {note}"));
    }
    let small = EmbedSlot { session: "notes/b".into(), lod: Lod::Summary, budget: 100 };
    world.model("notes/main").embeds = vec![small];
    world.model("notes/main").version += 1;
    let shown = host(&mut world, reader("a"));
    shown.has("note number 1 ").lacks("note number 70").has(" more lines\n### embedded end\n");
    let gist = EmbedSlot { session: "notes/b".into(), lod: Lod::Gist, budget: 0 };
    world.model("notes/main").embeds = vec![gist.clone(); EMBEDS_MAX + 1];
    world.model("notes/main").version += 1;
    world.projected.clear();
    let shown = host(&mut world, reader("a"));
    shown.lacks("note number").has("16 others are embedded already · pipemux view notes/b\n");
    assert_eq!(shown.text.matches("### embedded notes/b · 81 notes\n").count(), EMBEDS_MAX);
    let asked = world.projected.iter().filter(|(session, _)| session == "notes/b").count();
    assert_eq!(asked, 1, "the same is asked for once");
}

#[test]
fn app_never_gets_the_text_that_it_embeds() {
    let mut world = embedding();
    host(&mut world, reader("a"));
    let sent = world.effects.iter().filter(|effect| effect.contains("of the guest"));
    let to_host: Vec<_> = sent.filter(|effect| effect.starts_with("ToApp")).collect();
    assert!(to_host.is_empty(), "{to_host:?}");
}
