//! The Contexts of windows, under a clock that the test sets: versions, timestamps and
//! invalidation.

use crate::world::{Behaviour, Reader, World, reader, session_addr};
use pipemux_proto::Fault;
use pipemux_proto::client::{Body, Format, Verb, VerbRequest, ViewArgs};
use pipemux_proto::context::{AnchorType, Context};
use pipemux_proto::projection::{Lod, Media, ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Param, Prototype, Type};
use pipemux_proto::report::Report;
use proptest::prelude::*;

fn report(world: &mut World, who: Reader, lod: Option<Lod>) -> Report {
    let call = world.call(who, Verb::View(ViewArgs::default()));
    let call = VerbRequest { format: Format::Json, lod, ..call };
    let client = world.connect();
    let id = world.send(client, &call);
    for _ in 0..100 {
        if let [crate::world::RequestEnd::Answer(answer)] = world.request_ends(client, id) {
            let (delivery, body) = (answer.delivery, answer.body.clone());
            world.confirm(client, delivery);
            world.vanish(client);
            match body {
                Body::Report(report) => return *report,
                other => panic!("{other:?}"),
            }
        }
        let due = world.core.next_timeout().expect("an unanswered request has a timer");
        world.pass(due.saturating_sub(world.now.mono_ms));
    }
    panic!("no answer");
}

fn context(world: &mut World, lod: Option<Lod>) -> Context {
    report(world, reader("a"), lod).windows.remove(0)
}

/// Opens the window at a level of detail, which it keeps.
fn open_at(world: &mut World, lod: Lod) {
    let call =
        VerbRequest { lod: Some(lod), ..world.call(reader("a"), crate::world::open("notes")) };
    world.ask_call(&call).exits(0);
}

fn version(context: &Context) -> (u64, u64, u64) {
    let version = context.header.version;
    (version.major, version.minor, version.patch)
}

#[test]
fn context_does_not_change_with_time_alone() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let first = report(&mut world, reader("a"), None);
    world.pass(60_000);
    assert_eq!(report(&mut world, reader("a"), None), first);
    // Views of another reader and epochs of other windows change nothing either.
    world.pass(60_000);
    world.model("other/main").add("elsewhere");
    world.open(reader("b"), "other");
    world.pass(60_000);
    assert_eq!(report(&mut world, reader("a"), None).windows[0], first.windows[0]);
}

#[test]
fn context_timestamp_is_when_its_content_changed() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let first = context(&mut world, None);
    world.pass(61_000);
    world.model("notes/main").change(0, "other");
    let changed = context(&mut world, None);
    assert_eq!(version(&changed), (version(&first).0 + 1, 0, 0));
    assert_ne!(changed.header.timestamp, first.header.timestamp);
    world.pass(61_000);
    open_at(&mut world, Lod::Gist);
    let gist = context(&mut world, None);
    assert_eq!(version(&gist), (version(&changed).0, 1, 0));
    assert_ne!(gist.header.timestamp, changed.header.timestamp);
    assert!(gist.header.version.is_compatible_with(changed.header.version));
    assert!(!gist.header.version.renders_same_as(changed.header.version));
    assert!(!first.header.version.is_compatible_with(changed.header.version));
}

#[test]
fn restart_raises_the_major_version() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    let before = context(&mut world, None);
    let app = world.process("notes/main").expect("it runs");
    world.kill(app, pipemux_core::Exit::Signal(9), &[]);
    world.pass(10_000);
    let after = context(&mut world, None);
    assert!(
        version(&after).0 > version(&before).0,
        "{:?} after {:?}",
        version(&after),
        version(&before)
    );
    assert_eq!((&after.content, &after.anchors), (&before.content, &before.anchors));
}

#[test]
fn context_of_a_broken_window_has_a_diagnosis_and_no_anchors() {
    let mut world = World::new();
    world.model("notes/main").add("one");
    world.open(reader("a"), "notes");
    world.model("notes/main").add("two");
    world.set_behaviour("notes/main", Behaviour::Garbage);
    let broken = context(&mut world, None);
    assert!(broken.anchors.is_empty() && broken.content.contains("notes/main"), "{broken:?}");
    assert_eq!(broken.header.app_id, "notes");
    let id = &broken.header.session_id;
    assert!(id.starts_with("main-"), "{id}");
}

/// What can happen between two views.
#[derive(Debug, Clone)]
enum Deed {
    Add,
    Change(usize),
    Remove(usize),
    Hide(usize, bool),
    Edit(usize),
    Pass(u64),
    LookAt(Option<Lod>),
    OtherLooks,
    Kill,
    /// The app's version goes back by so many, unless it can't read its data: nobody would see a
    /// version that fell and rose again in between.
    GoBack(u64),
    /// The app can't read its data, or can again.
    Break(bool),
    CloseAndOpen,
    /// The daemon ends in order, or is killed.
    Restart(bool),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let index = || 0..4_usize;
    let lod = prop_oneof![Just(None), Just(Some(Lod::Gist)), Just(Some(Lod::Full))];
    let deed = prop_oneof![
        2 => Just(Deed::Add),
        3 => index().prop_map(Deed::Change),
        1 => index().prop_map(Deed::Remove),
        1 => (index(), any::<bool>()).prop_map(|(index, hidden)| Deed::Hide(index, hidden)),
        2 => index().prop_map(Deed::Edit),
        2 => (1..5_000_u64).prop_map(Deed::Pass),
        3 => lod.prop_map(Deed::LookAt),
        2 => Just(Deed::OtherLooks),
        1 => Just(Deed::Kill),
        1 => (1..4_u64).prop_map(Deed::GoBack),
        2 => any::<bool>().prop_map(Deed::Break),
        1 => Just(Deed::CloseAndOpen),
        1 => any::<bool>().prop_map(Deed::Restart),
    ];
    prop::collection::vec(deed, 1..12)
}

fn carry_out(world: &mut World, deed: &Deed) {
    match deed {
        Deed::Add => drop(world.model("notes/main").add("new")),
        Deed::Change(index) => world.model("notes/main").change(*index, "changed"),
        Deed::Remove(index) => world.model("notes/main").remove(*index),
        Deed::Hide(index, hidden) => world.model("notes/main").hide(*index, *hidden),
        Deed::Edit(index) => {
            let key = world.model("notes/main").notes.get(*index).map(|note| note.key.clone());
            if let Some(key) = key {
                world.run(reader("a"), &format!("notes.edit('obj:{key}', 'edited')"));
            }
        }
        Deed::Pass(ms) => world.pass(*ms),
        Deed::LookAt(lod) => drop(report(world, reader("a"), *lod)),
        Deed::OtherLooks => drop(world.view(reader("b"))),
        Deed::Kill => {
            if let Some(app) = world.process("notes/main") {
                world.kill(app, pipemux_core::Exit::Signal(9), &[]);
            }
        }
        Deed::GoBack(by) => {
            let is_broken = |behaviour| matches!(behaviour, &Behaviour::RefusesProject(_));
            if world.behaviours.get("notes/main").is_some_and(is_broken) {
                return;
            }
            let model = world.model("notes/main");
            model.version = model.version.saturating_sub(*by);
        }
        Deed::Break(true) => {
            let fault = Fault::invalid_source_data("notes.txt is not a list of notes");
            world.set_behaviour("notes/main", Behaviour::RefusesProject(Box::new(fault)));
        }
        Deed::Break(false) => world.set_behaviour("notes/main", Behaviour::Normal),
        Deed::CloseAndOpen => {
            let close = Verb::Close { session: session_addr("notes/main"), end: false };
            world.ask(reader("a"), close);
            world.open(reader("a"), "notes");
        }
        Deed::Restart(in_order) => {
            if *in_order {
                world.event(pipemux_core::Event::Stop);
            }
            world.lose_daemon();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    /// Two views with only time between them are the same. The version tells whether two views
    /// differ, its major number never falls, and the same version has the same content at the
    /// window's own level of detail, whoever looked at another one in between. A view's anchors are
    /// those of its content and its actions.
    #[test]
    fn equal_context_versions_mean_equal_contexts(deeds in deeds()) {
        let mut world = World::new();
        world.model("notes/main").add("one");
        world.open(reader("a"), "notes");
        let mut last: Option<Context> = None;
        let mut known: Vec<Context> = Vec::new();
        for deed in &deeds {
            carry_out(&mut world, deed);
            let now = context(&mut world, None);
            world.pass(1_500);
            let again = context(&mut world, None);
            if world.process("notes/main").is_none() {
                continue;
            }
            prop_assert_eq!(&now, &again, "after {:?}", deed);
            // A peek shows this version, too, and changes nothing.
            let peek = context(&mut world, Some(Lod::Gist));
            prop_assert_eq!(&peek.header, &now.header);
            prop_assert_eq!(&context(&mut world, None), &now, "after a peek");
            let without_history = |context: &Context| Context { history: None, ..context.clone() };
            if let Some(last) = &last {
                prop_assert!(now.header.version.major >= last.header.version.major);
                prop_assert!(now.header.version >= last.header.version);
                let same = now.header.version == last.header.version;
                let (now, last) = (without_history(&now), without_history(last));
                prop_assert_eq!(same, now == last, "after {:?}", deed);
            }
            for (id, anchor) in &now.anchors {
                let shown = match anchor.ty {
                    AnchorType::Form => format!("{}(", id.trim_start_matches("notes.")),
                    _ => format!("]({id}"),
                };
                prop_assert!(now.content.contains(&shown), "{} in {}", id, now.content);
            }
            prop_assert!(now.history.as_ref().is_none_or(|rounds| rounds.len() <= 8));
            for older in &known {
                if older.header.version == now.header.version {
                    prop_assert_eq!(&older.content, &now.content);
                    prop_assert_eq!(&older.header, &now.header);
                }
            }
            known.push(now.clone());
            last = Some(now);
        }
    }
}

#[test]
fn window_unchanged_since_an_unknown_version_is_requested_as_a_whole() {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world.model("notes/main").add("first");
    world.view(reader("a")).has("first");
    let before = world.projected.len();
    // The app claims that nothing changed since a version that it never sent. The whole window is
    // requested once more, and an app that repeats its claim has sent no window.
    let claim = Projection { version: 999, unchanged: true, ..Projection::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(claim)));
    world.view(reader("a")).has("sent no window").has("never sent");
    let known: Vec<_> =
        world.projected[before..].iter().map(|(_, ask)| ask.known_version).collect();
    assert!(matches!(known.as_slice(), [Some(_), None]), "asked once more, as a whole: {known:?}");
}

#[test]
fn report_shows_the_last_window_of_a_silent_app() {
    let mut world = World::new();
    world.model("notes/main").add("first");
    let id = world.open(reader("a"), "notes").id("k1 r1");
    let before = context(&mut world, None);
    world.set_behaviour("notes/main", Behaviour::Silent);
    // The answer shows what its reader counts as having seen.
    let busy = report(&mut world, reader("b"), None).windows.remove(0);
    assert!(busy.content.starts_with("## notes/main"), "{}", busy.content);
    assert!(busy.content.contains(" · busy, as it was before\n"), "{}", busy.content);
    assert!(busy.content.contains(&format!("obj:note:{id}")), "{}", busy.content);
    assert_eq!(busy.anchors, before.anchors);
    // It is marked, so its version is another one; the mark stays as long as the app is silent.
    let (major, minor, patch) = version(&before);
    assert_eq!(version(&busy), (major, minor, patch + 1));
    world.pass(60_000);
    assert_eq!(report(&mut world, reader("b"), None).windows.remove(0), busy);
}

#[test]
fn context_says_what_the_value_of_a_thing_is_that_is_no_text() {
    let mut world = World::new();
    let object = |key: &str, media| {
        let (key, label) = (key.to_owned(), key.to_owned());
        Piece::Object(ObjectSlot { key, label, media, ..ObjectSlot::default() })
    };
    let (width, height) = (Some(640), Some(480));
    let diagram =
        Media { media_type: "image/png".into(), bytes: 31_000, width, height, ..Media::default() };
    let content = vec![object("diagram", Some(diagram)), object("text", None)];
    let shows = Projection { version: 1, content, ..Projection::default() };
    world.set_behaviour("notes/main", Behaviour::Shows(Box::new(shows)));
    world.open(reader("a"), "notes");
    let anchors = context(&mut world, None).anchors;
    let shown: Vec<_> = anchors.iter().filter(|(key, _)| key.starts_with("obj:")).collect();
    let [(_, diagram), (_, text)] = shown[..] else { panic!("{shown:?}") };
    let media = serde_json::to_value(&diagram.media).unwrap();
    let told = r#"{"type":"image/png","bytes":31000,"width":640,"height":480}"#;
    assert_eq!(media, serde_json::from_str::<serde_json::Value>(told).unwrap());
    assert_eq!(text.media, None);
}

#[test]
fn context_marks_the_input_of_the_app() {
    let text = Param { name: "text".into(), ty: Type::String, ..Param::default() };
    let shout = Prototype { name: "shout".into(), params: vec![text], ..Prototype::default() };
    let say = Prototype { name: "say".into(), input: true, ..shout.clone() };
    // One that can't be called with a line alone is none.
    let ask = Prototype { name: "ask".into(), params: Vec::new(), ..say.clone() };
    let mut world = World::new();
    world.set_behaviour("notes/main", Behaviour::Greets(vec![ask, shout, say]));
    world.open(reader("a"), "notes").exits(0);
    let shown = context(&mut world, None);
    let inputs = shown.anchors.iter().filter(|(_, anchor)| anchor.input);
    let inputs: Vec<&str> = inputs.map(|(name, _)| name.as_str()).collect();
    assert_eq!(inputs, ["notes.say"]);
}
