//! Looking changes nothing: neither versions nor epochs, nor which refs are valid, nor what a
//! prompt is told.

use crate::world::{Reader, World, reader, session_addr, text};
use pipemux_proto::client::{Format, Inject, Verb, VerbRequest, ViewArgs};
use pipemux_proto::projection::Lod;

use proptest::prelude::*;

/// One way of looking.
#[derive(Debug, Clone)]
struct Look {
    who: usize,
    session: Option<usize>,
    inject: bool,
    json: bool,
    lod: Option<Lod>,
    budget: Option<u32>,
}

fn look() -> impl Strategy<Value = Look> {
    let lod = prop::option::of(prop_oneof![Just(Lod::Gist), Just(Lod::Summary), Just(Lod::Full)]);
    let budget = prop::option::weighted(0.3, 150_u32..6_000);
    (
        0..3_usize,
        prop::option::of(0..6_usize),
        prop::bool::weighted(0.2),
        any::<bool>(),
        lod,
        budget,
    )
        .prop_map(|(who, session, inject, json, lod, budget)| {
            let session = session.filter(|_| !inject);
            let lod = lod.filter(|_| !inject);
            Look { who, session, inject, json, lod, budget }
        })
}

const READERS: [&str; 3] = ["a", "b", "c"];

fn inject(world: &mut World, who: Reader) -> String {
    let verb = Verb::View(ViewArgs { inject: Some(Inject::default()), ..ViewArgs::default() });
    let call = world.call(who, verb);
    world.ask_call(&call).text
}

/// The epoch, and the version of each window at its own detail, which a report tells.
fn state(world: &mut World, sessions: &[String]) -> (Option<u64>, Vec<String>) {
    let epoch = text::epoch(&world.ask(reader("z"), Verb::View(ViewArgs::default())).text);
    let versions = sessions.iter().map(|session| {
        let session = Some(session_addr(session));
        let call = world.call(reader("z"), Verb::View(ViewArgs { session, ..ViewArgs::default() }));
        let report = world.ask_call(&VerbRequest { format: Format::Json, ..call }).text;
        let versions = report
            .split([',', '{', '}'])
            .filter(|part| ["major", "minor", "patch"].iter().any(|word| part.contains(word)));
        versions.collect::<Vec<_>>().join(",")
    });
    let versions = versions.collect();
    (epoch, versions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn looks_change_nothing(
        sizes in prop::collection::vec(0_usize..90, 2..6),
        looks in prop::collection::vec(look(), 1..14),
    ) {
        let mut world = World::new();
        let sessions: Vec<String> = (0..sizes.len()).map(|index| format!("notes/n{index}")).collect();
        for (session, size) in sessions.iter().zip(&sizes) {
            world.open(reader("a"), session);
            for note in 0..*size {
                world.model(session).add(&format!("note {note} of {session}, which takes some tokens"));
            }
            world.report_change(session);
        }
        // Whatever is shown for the first time gets its number then.
        for name in READERS.iter().chain(&["z"]) {
            for session in &sessions {
                world.view_at(reader(name), session, Lod::Full);
                let session = Some(session_addr(session));
                world.ask(reader(name), Verb::View(ViewArgs { session, ..ViewArgs::default() }));
            }
            inject(&mut world, reader(name));
        }
        state(&mut world, &sessions);
        let before = state(&mut world, &sessions);
        for Look { who, session, inject, json, lod, budget } in looks {
            let session = session.and_then(|index| sessions.get(index));
            let session = session.map(|session| session_addr(session));
            let inject = inject.then(Inject::default);
            let verb = Verb::View(ViewArgs { session, inject, ..ViewArgs::default() });
            let call = world.call(reader(READERS[who]), verb);
            let format = if json { Format::Json } else { Format::Markdown };
            world.ask_call(&VerbRequest { lod, budget, format, ..call }).exits(0);
        }
        prop_assert_eq!(state(&mut world, &sessions), before);
        for name in READERS {
            prop_assert_eq!(inject(&mut world, reader(name)), "", "{} was told it all", name);
        }
    }
}
