//! What others changed in files while a step ran is told with it, and again to the app that takes
//! it back.

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::app::ChangedBeside;
use pipemux_proto::client::Verb;

use crate::world::{Behaviour, World, reader, run};

const READERS: [&str; 4] = ["a", "b", "c", "d"];
const SESSIONS: [&str; 4] = ["notes/1", "notes/2", "notes/3", "notes/4"];
const SEEDS: u64 = 60;

fn world(sessions: &[&'static str]) -> World {
    let mut world = World::new();
    for session in sessions {
        world.open(reader("a"), session);
        let model = world.model(session);
        model.names_changes = true;
        model.changed_files =
            vec![format!("/p/{}.txt", session.replace('/', "-")), "/p/all".into()];
    }
    world
}

/// Returns what the last action was told that reached an app.
fn told(world: &mut World) -> Vec<ChangedBeside> {
    std::mem::take(&mut world.invoked).pop().expect("an action").1.changed_beside
}

#[test]
fn file_that_another_reader_changed_meanwhile_is_told_with_the_step_and_with_its_undo() {
    let mut world = world(&["notes/main", "other/main"]);
    world.run(reader("b"), "other.say('before')").exits(0);
    world.pass(5);
    world.set_behaviour("notes/main", Behaviour::Holds);
    let client = world.connect();
    let call = world.call(reader("a"), run("notes.say('long')"));
    let id = world.send(client, &call);
    world.pass(5);
    world.run(reader("b"), "other.say('meanwhile')").exits(0);
    world.pass(5);
    world.set_behaviour("notes/main", Behaviour::Normal);
    world.release("notes/main");
    let answer = world.answer_to(client, id).expect("an answer");
    answer.has("say: long · round 2 (b) changed all meanwhile · [undo]");
    world.pass(5);
    world.run(reader("b"), "other.say('later')").exits(0).lacks("meanwhile");
    let file = || vec!["/p/other-main.txt".to_owned(), "/p/all".into()];
    let beside = ChangedBeside { by: "round 2 (b)".into(), files: file(), more_files: 0 };
    world.lose_daemon();
    world.ask(reader("a"), Verb::Undo { round: Some(3) }).exits(0);
    assert_eq!(told(&mut world), std::slice::from_ref(&beside));
    // What was made again is taken back as what it was at first.
    world.ask(reader("a"), Verb::Undo { round: Some(5) }).exits(0);
    world.ask(reader("a"), Verb::Undo { round: Some(6) }).exits(0);
    assert_eq!(told(&mut world), [beside]);
}

/// A number below `most`, by a seed that it changes.
fn below(seed: &mut u64, most: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % most
}

#[test]
fn undo_is_told_of_exactly_the_rounds_and_runs_that_may_have_changed_files_while_its_own_did() {
    let mut told_of = 0;
    for first in 0..SEEDS {
        let mut seed = first;
        let mut world = world(&SESSIONS);
        // When each step that runs was sent; of each round its session, and from when to when it
        // ran.
        let mut running: BTreeMap<usize, u64> = BTreeMap::new();
        let mut rounds: Vec<(usize, u64, u64)> = Vec::new();
        for at in 0..40 {
            let who = below(&mut seed, 4) as usize;
            let (session, now) = (SESSIONS[who], world.now.unix_ms);
            match running.remove(&who) {
                None if at < 30 => {
                    world.set_behaviour(session, Behaviour::Holds);
                    let client = world.connect();
                    let call =
                        world.call(reader(READERS[who]), run(&format!("{session}.say('x')")));
                    world.send(client, &call);
                    running.insert(who, now);
                }
                None => {}
                Some(sent) => {
                    world.set_behaviour(session, Behaviour::Normal);
                    world.release(session);
                    rounds.push((who, sent, now));
                }
            }
            world.pass(below(&mut seed, 3));
        }
        let mut undone = BTreeSet::new();
        // An app takes back its newest change only.
        for (at, (who, sent, ended)) in rounds.iter().enumerate().rev() {
            if running.contains_key(who) {
                continue;
            }
            world.ask(reader("a"), Verb::Undo { round: Some(at as u64 + 1) }).exits(0);
            let told = told(&mut world).into_iter();
            let told: BTreeSet<String> = told
                .map(|told| {
                    assert_eq!(told.more_files > 0, told.by.starts_with("a run"), "{told:?}");
                    told.by
                })
                .collect();
            let beside = rounds.iter().enumerate().rev().filter(|(of, (_, began, done))| {
                *of != at && !undone.contains(of) && began < ended && done > sent
            });
            let beside =
                beside.map(|(of, (who, ..))| format!("round {} ({})", of + 1, READERS[*who]));
            // What a step changes that is under way isn't known before its end.
            let running = running.iter().filter(|(_, began)| *began < ended);
            let running = running.map(|(who, _)| format!("a run ({})", READERS[*who]));
            let beside: BTreeSet<String> = running.chain(beside).collect();
            told_of += told.len();
            assert_eq!(told, beside, "seed {first}, round {}", at + 1);
            undone.insert(at);
        }
    }
    assert!(told_of > 100, "{told_of}");
}
