//! Versions of windows that a client says it has: its word counts, not what is known of its reader.

use std::collections::BTreeMap;

use crate::world::{AnswerText, Behaviour, Reader, RequestEnd, World, reader, session_addr};
use pipemux_core::Exit;
use pipemux_proto::client::{Body, Format, HeldWindow, Inject, Verb, VerbRequest, ViewArgs};
use pipemux_proto::limits::HELD_MAX;
use pipemux_proto::projection::Lod;
use proptest::prelude::*;

fn held(claims: &[(&str, &str)]) -> Vec<HeldWindow> {
    let claim = |(window, version): &(&str, &str)| HeldWindow {
        window: (*window).into(),
        version: (*version).into(),
    };
    claims.iter().map(claim).collect()
}

fn inject(world: &mut World, who: Reader, claims: &[(&str, &str)]) -> AnswerText {
    let inject = Some(Inject::default());
    world.ask(who, Verb::View(ViewArgs { inject, held: held(claims), ..ViewArgs::default() }))
}

fn with_notes() -> World {
    let mut world = World::new();
    for note in 0..9 {
        world.model("notes/main").add(&format!("note number {note}"));
    }
    world.open(reader("opener"), "notes");
    world
}

fn view(world: &mut World, who: Reader, session: &str) -> String {
    let view = ViewArgs { session: Some(session_addr(session)), ..ViewArgs::default() };
    world.ask(who, Verb::View(view)).text
}

/// Returns the version that an answer tells of a window.
fn version(answer: &AnswerText, session: &str) -> String {
    let told = answer.text.rsplit_once(&format!("\n{session}=")).map(|(_, told)| told);
    let told = told.or_else(|| answer.text.strip_prefix(&format!("{session}=")));
    let (version, _) = told.and_then(|told| told.split_once(' ')).expect(&answer.text);
    version.to_owned()
}

#[test]
fn window_that_a_client_has_is_unchanged_a_difference_or_whole() {
    let mut world = with_notes();
    let a = reader("a");
    let first = inject(&mut world, a, &[("notes/main", "none")]);
    first.has("note number 8").has("\nnotes/main=1.0.0 whole\n");
    inject(&mut world, a, &[("notes", "1.0.0")]).has("notes/main=1.0.0 unchanged\n").lacks("## ");
    world.model("notes/main").change(0, "another");
    world.report_change("notes/main");
    // Another reader, of whom nothing is known, has that version, too.
    for who in [a, reader("b")] {
        let changed = inject(&mut world, who, &[("notes/main", "1.0.0")]);
        changed.has("\n- [k1 r1]").has("\n+ [k1 r2]").lacks("number 8");
        changed.has("\nnotes/main=2.0.0 changed since 1.0.0\n");
    }
    let view = |held| Verb::View(ViewArgs { held, ..ViewArgs::default() });
    world.ask(a, view(held(&[("notes", "2.0.0")]))).has("notes/main=2.0.0 unchanged\n").lacks("##");
    // As data, only what isn't unchanged is there.
    let call = world.call(a, view(held(&[("notes", "2.0.0")])));
    let data = world.ask_call(&VerbRequest { format: Format::Json, ..call });
    data.has("windows: []").has("change: Unchanged, version: Some(\"2.0.0\")");
}

#[test]
fn what_is_no_known_version_shows_all_of_the_window_and_says_why() {
    let mut world = with_notes();
    let a = reader("a");
    let whole = |world: &mut World, version: &str, why: &str| {
        let told = inject(world, a, &[("notes/main", version)]);
        told.exits(0).has("note number 8").has(" whole · VersionMismatch · ").has(why);
    };
    inject(&mut world, a, &[]);
    whole(&mut world, "99.0.0", "99.0.0 is later than the newest one\n");
    whole(&mut world, "0.0.1", "0.0.1 is not known any more\n");
    whole(&mut world, "1.0.x", "`1.0.x` is no version like 2.0.6\n");
    whole(&mut world, "", "`` is no version");
    inject(&mut world, a, &[("nobody", "1.0.0"), ("a b", "1.0.0")])
        .exits(0)
        .has("nobody/main has no version · no window is open · pipemux open nobody/main\n")
        .has("a b has no version · no window is open\n");
    let now = version(&inject(&mut world, a, &[("notes", "none")]), "notes/main");
    world.lose_daemon();
    whole(&mut world, &now, &format!("{now} is not known any more\n"));
    let refused = |world: &mut World, view: ViewArgs, why: &str| {
        world.ask(a, Verb::View(view)).exits(2).has(why);
    };
    let twice = held(&[("notes", "1.0.0"), ("notes/main", "2.0.0")]);
    refused(&mut world, ViewArgs { held: twice, ..ViewArgs::default() }, "`notes/main` twice");
    let some = held(&[("notes", "1.0.0")]);
    let since = ViewArgs { held: some, since: Some(0), ..ViewArgs::default() };
    refused(&mut world, since, "--have goes without --since and --wait");
    let many: Vec<HeldWindow> = (0..=HELD_MAX)
        .map(|n| HeldWindow { window: format!("notes/{n}"), version: "1.0.0".into() })
        .collect();
    refused(&mut world, ViewArgs { held: many, ..ViewArgs::default() }, "(limit 64)");
}

#[test]
fn version_that_was_shown_in_two_forms_is_no_word_for_either() {
    let mut world = with_notes();
    let a = reader("a");
    let first = version(&inject(&mut world, a, &[("notes", "none")]), "notes/main");
    // A look at another detail has the same version, and is another text.
    world.view_at(a, "notes/main", Lod::Gist).exits(0);
    let whole = inject(&mut world, a, &[("notes", &first)]);
    whole.has("note number 8").has(" whole · VersionMismatch");
    let now = version(&whole, "notes/main");
    inject(&mut world, a, &[("notes", &now)]).has(" unchanged\n").lacks("##");
}

#[test]
fn part_of_a_window_has_no_version() {
    let mut world = World::new();
    for note in 0..60 {
        world.model("notes/main").add(&format!("note number {note}"));
    }
    world.open(reader("opener"), "notes");
    let inject = Some(Inject::default());
    let claims = held(&[("notes", "none")]);
    let verb = Verb::View(ViewArgs { inject, held: claims, ..ViewArgs::default() });
    let call = VerbRequest { budget: Some(400), ..world.call(reader("a"), verb) };
    world.ask_call(&call).has("note number 0").lacks("note number 59").has(
        "\nnotes/main has no version · no room for all of it · pipemux view notes/main --have notes/main=none\n",
    );
}

const SESSIONS: [&str; 3] = ["notes/main", "notes/b", "other/main"];
const READERS: [&str; 2] = ["a", "b"];

/// What a client has of a window: heading, links, and how often each line of the content stands
/// there.
#[derive(Debug, Clone, Default, PartialEq)]
struct Text {
    heading: String,
    links: String,
    lines: BTreeMap<String, i64>,
}

impl Text {
    /// Reads a whole window, without what can be done with it.
    fn read<'a>(mut lines: impl Iterator<Item = &'a str>) -> Self {
        let heading = lines.next().unwrap_or_default().to_owned();
        let mut text = Self { heading, ..Self::default() };
        let mut in_fence = false;
        for line in lines {
            match line {
                "```ts" | "```" => in_fence = !in_fence,
                _ if in_fence => {}
                _ if line.starts_with("[pick]") => text.links = line.into(),
                _ => text.count(line, 1),
            }
        }
        text
    }

    /// Applies a difference.
    fn apply<'a>(&mut self, mut lines: impl Iterator<Item = &'a str>) {
        self.heading = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            match line.split_at_checked(2) {
                Some(("+ ", line)) => self.count(line, 1),
                Some(("- ", line)) => self.count(line, -1),
                Some(("  " | "mo", _)) => {}
                _ => self.links = line.into(),
            }
        }
    }

    fn count(&mut self, line: &str, by: i64) {
        let count = self.lines.entry(line.to_owned()).or_default();
        *count += by;
        if *count == 0 {
            self.lines.remove(line);
        }
    }
}

/// Returns the lines of a window in an answer.
fn block<'a>(answer: &'a str, session: &str) -> impl Iterator<Item = &'a str> {
    let heading = format!("## {session}");
    let ends = |line: &&str| {
        let is_session = SESSIONS.iter().any(|session| line.starts_with(session));
        let last = ["workspace ", "all of a window", "cut to fit", "no room"];
        !(line.is_empty() || is_session || last.iter().any(|last| line.starts_with(last)))
    };
    let lines = answer.lines().skip_while(move |line| !line.starts_with(&heading));
    lines.take_while(ends).filter(|line| !line.starts_with("actions: "))
}

#[derive(Debug, Clone)]
enum Step {
    /// Adds, changes, removes, hides a note, or adds the same text once more.
    Change(usize, u8, usize),
    /// The client looks, in a way and as a reader; of each window it has what it was told, an older
    /// one, or nothing.
    Look(u8, usize, [u8; 3]),
    /// Another reader looks, at another detail or budget.
    Other(u8, usize),
    /// The client keeps the data of a look.
    Data(u8),
    /// A reader turns to a page in the window that shows each its own.
    Turn(usize, usize),
    Kill(usize),
    Reopen(usize),
    LoseDaemon,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..3_usize, 0..5_u8, 0..6_usize).prop_map(|(s, how, n)| Step::Change(s, how, n)),
        6 => (0..4_u8, 0..2_usize, any::<[u8; 3]>()).prop_map(|(how, who, have)| Step::Look(how, who, have)),
        2 => (0..4_u8, 0..3_usize).prop_map(|(how, s)| Step::Other(how, s)),
        2 => (0..3_u8).prop_map(Step::Data),
        2 => (0..2_usize, 1..3_usize).prop_map(|(who, page)| Step::Turn(who, page)),
        1 => (0..3_usize).prop_map(Step::Kill),
        1 => (0..3_usize).prop_map(Step::Reopen),
        1 => Just(Step::LoseDaemon),
    ];
    prop::collection::vec(step, 1..40)
}

/// What the client was told so far: each version of each window with its text.
type Told = Vec<(&'static str, String, Text)>;

fn look(world: &mut World, told: &mut Told, how: u8, who: usize, have: [u8; 3]) {
    let mut mine: BTreeMap<&str, (String, Text)> = BTreeMap::new();
    let mut claims = Vec::new();
    for (session, have) in SESSIONS.into_iter().zip(have) {
        let of_session = told.iter().rev().filter(|(of, ..)| *of == session);
        let back = match have % 8 {
            0 => None,
            // What it was told last, mostly.
            1..=5 => Some(0),
            _ => Some(usize::from(have) / 8 % 4),
        };
        let known = back.and_then(|back| of_session.clone().nth(back));
        match known {
            Some((_, version, text)) => {
                mine.insert(session, (version.clone(), text.clone()));
                claims.push((session, version.clone()));
            }
            None => {
                claims.push((session, ["none", "x.1", "999.0.0"][usize::from(have) % 3].into()))
            }
        }
    }
    let claims: Vec<(&str, &str)> = claims.iter().map(|(s, version)| (*s, &**version)).collect();
    let held = held(&claims);
    let (inject, budget) = match how {
        0 => (None, None),
        1 => (Some(Inject::default()), None),
        2 => (Some(Inject { reset: true }), None),
        _ => (Some(Inject::default()), Some(300)),
    };
    let verb = Verb::View(ViewArgs { inject, held, ..ViewArgs::default() });
    let call = world.call(reader(READERS[who]), verb);
    let answer = world.ask_call(&VerbRequest { budget, ..call }).text;
    for session in SESSIONS {
        let line = answer.lines().rfind(|line| {
            line.starts_with(&format!("{session}=")) || line.starts_with(&format!("{session} "))
        });
        let line = line.unwrap_or_else(|| panic!("nothing of {session} in {answer}"));
        if line.contains(" has no version") {
            continue;
        }
        let says = line.split_once('=').and_then(|(_, told)| told.split_once(' '));
        let (version, how) = says.expect("a version and what is shown");
        let before = mine.get(session).map(|(_, text)| text.clone());
        let text = if how.starts_with("whole") {
            Text::read(block(&answer, session))
        } else {
            let mut text = before.unwrap_or_else(|| panic!("it had nothing: {answer}"));
            if how.starts_with("changed") {
                text.apply(block(&answer, session));
            }
            text
        };
        let truth = view(world, reader(READERS[who]), session);
        assert_eq!(text, Text::read(block(&truth, session)), "{session} in {answer}\nis {truth}");
        told.push((session, version.to_owned(), text));
    }
}

/// Has the client keep what the data of a look shows, with its version.
fn keep_data(world: &mut World, told: &mut Told, how: u8) {
    let call = world.call(reader("a"), Verb::View(ViewArgs::default()));
    let lod = (how == 1).then_some(Lod::Gist);
    let call = VerbRequest { format: Format::Json, lod, titles: how == 2, ..call };
    let client = world.connect();
    let id = world.send(client, &call);
    world.settle();
    let ends = world.request_ends(client, id).to_vec();
    let [RequestEnd::Answer(answer)] = &ends[..] else { return world.vanish(client) };
    let Body::Report(report) = &answer.body else { panic!("{answer:?}") };
    for context in &report.windows {
        let read = |session: &&str| context.content.starts_with(&format!("## {session}"));
        let session = SESSIONS.into_iter().find(read).expect("a session");
        let text = Text::read(context.content.lines());
        told.push((session, context.header.version.to_string(), text));
    }
    world.end(client, answer.delivery);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn client_that_applies_the_answers_has_the_windows_as_they_are(steps in steps()) {
        let mut world = World::new();
        world.set_behaviour("other/main", Behaviour::PerReader);
        for session in SESSIONS {
            world.model(session).add("the first");
            world.open(reader("opener"), session);
        }
        let mut told = Told::new();
        for step in steps {
            match step {
                Step::Change(session, how, note) => {
                    let model = world.model(SESSIONS[session]);
                    match how {
                        0 if model.notes.len() < 12 => drop(model.add(&format!("note {note}"))),
                        1 => model.remove(note),
                        2 => model.hide(note, true),
                        3 => model.hide(note, false),
                        _ => model.change(note, "a new text"),
                    }
                    if world.process(SESSIONS[session]).is_some() {
                        world.report_change(SESSIONS[session]);
                    }
                }
                Step::Look(how, who, have) => look(&mut world, &mut told, how, who, have),
                Step::Other(0, session) => drop(view(&mut world, reader("c"), SESSIONS[session])),
                Step::Other(1, session) => drop(world.view_at(reader("c"), SESSIONS[session], Lod::Gist)),
                Step::Other(how, _) => {
                    let inject = (how == 2).then(Inject::default);
                    let verb = Verb::View(ViewArgs { inject, ..ViewArgs::default() });
                    let call = world.call(reader("c"), verb);
                    drop(world.ask_call(&VerbRequest { budget: Some(250), ..call }));
                }
                Step::Data(how) => keep_data(&mut world, &mut told, how),
                Step::Turn(who, page) => {
                    drop(world.run(reader(READERS[who]), &format!("other.say('{page}')")));
                }
                Step::Kill(session) => {
                    if let Some(app) = world.process(SESSIONS[session]) {
                        world.kill(app, Exit::Code(1), &[]);
                    }
                    world.pass(60_000);
                }
                Step::Reopen(session) => {
                    let session = session_addr(SESSIONS[session]);
                    world.ask(reader("c"), Verb::Close { session: session.clone(), end: false });
                    world.open(reader("c"), &session.to_string());
                }
                Step::LoseDaemon => {
                    world.lose_daemon();
                    // Another daemon lists windows once it is asked.
                    SESSIONS.iter().for_each(|session| drop(world.open(reader("c"), session)));
                }
            }
        }
    }
}
