//! A notebook that was hibernated and woken behaves like one that kept running.

use crate::common::{STORE, add, at, done, filter, open, search};
use docui::Lod;
use docui::testing::Host;
use pipemux_notebook::{Action, Notebook};
use pipemux_proto::app::Outcome;
use pipemux_proto::projection::{LinkSlot, Piece};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::TempDir;

const TEXTS: &[&str] = &["", "one", "计划 plan", "a\r\nb", "x\ny\nz\nlast", "🦀 plan `code`"];
const TAGS: &[&str] = &["q1", "标签"];

/// Something that happens to a session.
#[derive(Debug, Clone)]
enum Event {
    /// The session carries out an action.
    Act(Action),
    /// The reader clicks a link of the last answer or of the window.
    Click(usize),
    /// The reader removes an entry in its current state.
    Remove(u64),
    /// Another session writes to the same store.
    Elsewhere(Action),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => action().prop_map(Event::Act),
        3 => any::<usize>().prop_map(Event::Click),
        1 => (1..5u64).prop_map(Event::Remove),
        2 => action().prop_map(Event::Elsewhere),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let words = || select(TEXTS);
    let entry = || (1..6u64, 1..4u64).prop_map(|(id, rev)| at(id, rev));
    prop_oneof![
        4 => (words(), words(), vec(select(TAGS), 0..2)).prop_map(|(title, text, tags)| {
            add(&format!("t {}", title.split('\n').next().unwrap().trim()), text, &tags)
        }),
        2 => (entry(), words()).prop_map(|(entry, text)| Action::Edit { entry, text: text.into() }),
        2 => (entry(), words()).prop_map(|(entry, text)| Action::Append {
            entry,
            text: text.into(),
        }),
        1 => entry().prop_map(|entry| Action::Rename { entry, new: "renamed".into() }),
        1 => (entry(), vec(select(TAGS), 0..2)).prop_map(|(entry, tags)| Action::Tag {
            entry,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        }),
        1 => (1..9u32).prop_map(|change| Action::UndoChange { change: format!("c{change}").into() }),
        2 => entry().prop_map(|entry| Action::ExpandOne { entry }),
        1 => entry().prop_map(|entry| Action::Fold { entry }),
        1 => vec(entry(), 0..2).prop_map(|entries| Action::Focus { entries }),
        1 => select(&["plan", "计划", "x"][..]).prop_map(search),
        1 => select(TAGS).prop_map(filter),
        1 => Just(Action::ShowAll {}),
        1 => Just(Action::Undo { steps: 1 }),
    ]
}

struct World {
    host: Host<Notebook>,
    other: Host<Notebook>,
    links: Vec<LinkSlot>,
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut host = open(&dir, "a", &[STORE]).unwrap();
        for text in TEXTS {
            done(&mut host, add(&format!("first {text:?}"), text, &[]));
        }
        let other = open(&dir, "b", &[STORE]).unwrap();
        Self { host, other, links: Vec::new(), dir }
    }

    fn apply(&mut self, event: &Event, sleep: bool) -> String {
        let version = sleep.then(|| self.host.hibernate().unwrap());
        let mut told = String::new();
        if let Event::Elsewhere(action) = event {
            told = format!("{:?}", self.other.invoke(action));
        }
        if let Some(version) = version {
            let (resumed, _) = self.host.wake(version, &[&[STORE], &[]]).unwrap();
            assert!(resumed);
        }
        let outcome = match event {
            Event::Act(action) => self.host.invoke(action),
            Event::Click(which) => {
                let Some(link) = self.links.get(which % self.links.len().max(1)) else {
                    return told;
                };
                let decode = <Action as docui::Actions>::decode;
                self.host.invoke(&decode(&link.action, link.args.clone()).unwrap())
            }
            Event::Remove(id) => {
                let docui::Found::Here(rev) =
                    docui::App::find(self.host.app().unwrap(), &format!("n{id}"))
                else {
                    return told;
                };
                self.host.invoke(&Action::Remove { entries: vec![at(*id, rev)] })
            }
            Event::Elsewhere(_) => return told,
        };
        if let Outcome::Done(done) = &outcome {
            self.links.clone_from(&done.links);
        }
        format!("{outcome:?}")
    }

    fn views(&mut self) -> String {
        let mut all = String::new();
        for lod in [Lod::Gist, Lod::Summary, Lod::Full] {
            for budget in [0, 60, 10_000] {
                let projection = self.host.project(lod, budget).unwrap();
                let links = projection.content.iter().filter_map(|piece| match piece {
                    Piece::Link(link) => Some(link),
                    _ => None,
                });
                self.links.extend(links.chain(&projection.nav).cloned());
                all += &format!("{lod:?} {budget}: {projection:?}\n");
            }
        }
        all.replace(self.dir.path().to_str().unwrap(), "DIR")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn hibernation_changes_no_answer_and_no_view(
        events in vec((event(), prop::bool::weighted(0.3)), 1..12),
    ) {
        let (mut awake, mut woken) = (World::new(), World::new());
        prop_assert_eq!(awake.views(), woken.views());
        for (event, sleep) in &events {
            prop_assert_eq!(awake.apply(event, false), woken.apply(event, *sleep), "{:?}", event);
            prop_assert_eq!(awake.views(), woken.views(), "{:?}", event);
        }
    }
}

#[test]
fn session_does_not_resume_on_a_replaced_store() {
    let mut world = World::new();
    let version = world.host.hibernate().unwrap();
    for name in [STORE, "notes.db-wal", "notes.db-shm"] {
        let _ = std::fs::remove_file(world.dir.path().join(name));
    }
    let (resumed, notes) = world.host.wake(version, &[&[STORE]]).unwrap();
    assert!(!resumed && notes.len() == 1, "{notes:?}");
    assert!(notes[0].contains("different store"), "{notes:?}");
}

#[test]
fn changes_by_others_during_hibernation_are_shown_once_afterwards() {
    let mut world = World::new();
    let seen = world.host.project(Lod::Summary, 9_000).unwrap().version;
    done(&mut world.other, add("meanwhile", "", &[]));
    // What the other session wrote before and during the hibernation is new to readers, once each.
    let version = world.host.hibernate().unwrap();
    done(&mut world.other, add("asleep", "", &[]));
    assert!(world.host.wake(version, &[&[STORE]]).unwrap().0);
    let projection = world.host.project(Lod::Summary, 9_000).unwrap();
    assert!(seen < version && version < projection.version);
    assert!(format!("{projection:?}").contains("asleep"));
    assert_eq!(world.host.project(Lod::Summary, 9_000).unwrap().version, projection.version);
}
