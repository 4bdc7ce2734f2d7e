//! Attacks by clients, over the real socket.

use std::time::{Duration, Instant};

use pipemux_proto::client::Verb;
use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role};
use serde_json::{Value, json};

use super::Scene;
use super::finding::Told;
use crate::Raw;
use crate::raw::Heard;

/// How long an answer is awaited that may never come.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections of the crowd: more than the daemon takes.
const CROWD: usize = 2_000;
/// Requests at once: more than one client may have.
const REQUESTS: u64 = 500;

/// Asks for much and reads nothing.
pub fn deaf(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    let mut desk = scene.desk();
    desk.open("notebook", &[], PATIENCE);
    let text = Verb::Run {
        code: "notebook.add('long', text=stdin)".into(),
        stdin: Some("a line of some length\n".repeat(20_000).into()),
    };
    let added = desk.ask(text, PATIENCE);
    let mark = "[long](obj:";
    let id = added.text.find(mark).map(|at| &added.text[at + mark.len()..]);
    let Some(id) = id.and_then(crate::output::leading_number) else {
        return Told::of(&format!("no entry: {}", added.text));
    };
    repeat(scene, |scene| {
        let mut raw = Raw::greeted(scene.world);
        let _ = raw.stream.set_write_timeout(Some(Duration::from_millis(300)));
        let read = call(scene, json!({ "read": { "target": format!("obj:{id}") } }), "r");
        let sent = (1..=REQUESTS).take_while(|id| raw.ask(*id, &read)).count();
        let mut answers = 0;
        let ended = loop {
            match raw.hear(Duration::from_millis(500)) {
                Heard::Frame(_) => answers += 1,
                Heard::End => break "was disconnected",
                Heard::Silence => break "was waited for",
            }
        };
        told.count(&format!("{ended} after {answers} answers to {sent} requests"));
    });
    desk.end("notebook/main", PATIENCE);
    told
}

/// Begins frames and does not go on.
pub fn half_a_frame(scene: &Scene<'_>) -> Told {
    let mut held = Vec::new();
    let mut told = Told::default();
    repeat(scene, |scene| {
        if held.len() >= 100 {
            held.clear();
        }
        let mut raw = Raw::greeted(scene.world);
        raw.write(&[0, 0, 1, 0, 0x95]);
        held.push(raw);
        told.count("was waited for");
    });
    told
}

/// Sends what is no frame.
pub fn garbage(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    repeat(scene, |scene| {
        for bytes in [&[0, 0, 0, 5, 1, 2, 3, 4, 5][..], b"GET / HTTP/1.1\r\n\r\n", &[0xa5; 4096]] {
            let mut raw = Raw::connect(scene.world);
            raw.write(bytes);
            told.ending(&mut raw);
        }
    });
    told
}

/// Announces 4 GiB.
pub fn long_length(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    repeat(scene, |scene| {
        let mut raw = Raw::greeted(scene.world);
        raw.write(&[0xff; 4]);
        raw.write(&[0x95; 64 * 1024]);
        told.ending(&mut raw);
    });
    told
}

/// Connects and says nothing.
pub fn mute(scene: &Scene<'_>) -> Told {
    let mut held: Vec<Raw> = (0..200).map(|_| Raw::connect(scene.world)).collect();
    let mut closed = 0;
    while scene.goes_on() {
        let before = held.len();
        held.retain_mut(|raw| !matches!(raw.hear(Duration::from_millis(1)), Heard::End));
        closed += before - held.len();
    }
    Told::of(&format!("{closed} of 200 were closed meanwhile"))
}

/// Greets with other major versions.
pub fn other_versions(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    repeat(scene, |scene| {
        for major in [0, 2, u16::MAX] {
            let mut raw = Raw::connect(scene.world);
            let protocol = ProtocolVersion { major, minor: 0 };
            let hello = Hello { protocol, ..Hello::new(Role::Client, "another pipemux") };
            raw.send(&Envelope::event(Method::Hello, Incarnation(0)), &hello);
            told.ending(&mut raw);
        }
    });
    told
}

/// Comes in thousands.
pub fn crowd(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    repeat(scene, |scene| {
        let mut held: Vec<Raw> =
            (0..CROWD).map_while(|_| Raw::try_connect(scene.world).ok()).collect();
        held.iter_mut().for_each(Raw::greet);
        let end = Instant::now() + PATIENCE;
        for mut raw in held {
            match raw.hear(end.saturating_duration_since(Instant::now())) {
                Heard::Frame(frame) if frame.envelope.kind == Kind::Fault => {
                    let fault = pipemux_proto::decode::<pipemux_proto::Fault>(&frame.body);
                    told.count(&fault.map_or_else(|error| error.to_string(), |f| f.message));
                }
                Heard::Frame(_) => told.count("was greeted"),
                Heard::End => told.count("was closed without a word"),
                Heard::Silence => told.count("heard nothing"),
            }
        }
    });
    told
}

/// Asks an app that waits, and is gone.
pub fn sudden_death(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    let mut desk = scene.desk();
    let provider = &scene.provider;
    desk.open(provider, &[], PATIENCE);
    let gate = scene.world.path("gate");
    let code = format!("{provider}.misbehave('wait for {}')", gate.display());
    let mut number = 0;
    repeat(scene, |scene| {
        let mut raw = Raw::greeted(scene.world);
        for id in 1..=20 {
            number += 1;
            let run = json!({ "run": { "code": code, "stdin": null } });
            raw.ask(id, &call(scene, run, &format!("d{number}")));
        }
        drop(raw);
        told.count("died");
    });
    scene.world.write("gate", "");
    told.note(&desk.run(&format!("{provider}.misbehave('nothing')"), Duration::from_secs(20)));
    told.note(&desk.end(&format!("{}/main", scene.provider), PATIENCE));
    told
}

/// Asks far more than one client may at once.
pub fn flood(scene: &Scene<'_>) -> Told {
    let mut told = Told::default();
    let mut desk = scene.desk();
    desk.open(&scene.provider, &[], PATIENCE);
    let code = format!("{}.misbehave('nothing')", scene.provider);
    let mut number = 0;
    repeat(scene, |scene| {
        let mut raw = Raw::greeted(scene.world);
        let slow = json!({ "run": { "code": code } });
        number += 1;
        for id in 1..=REQUESTS {
            raw.ask(id, &call(scene, slow.clone(), &format!("f{number}-{id}")));
        }
        let mut answers = 0;
        while answers < REQUESTS {
            match raw.hear(PATIENCE) {
                Heard::Frame(frame) if frame.envelope.kind == Kind::Fault => {
                    answers += 1;
                    let fault = pipemux_proto::decode::<pipemux_proto::Fault>(&frame.body);
                    told.count(&fault.map_or_else(|error| error.to_string(), |f| f.message));
                }
                Heard::Frame(_) => {
                    answers += 1;
                    told.count("was answered");
                }
                Heard::End => return told.count("was disconnected"),
                Heard::Silence => return told.count("heard no more"),
            }
        }
    });
    desk.end(&format!("{}/main", scene.provider), PATIENCE);
    told
}

fn repeat(scene: &Scene<'_>, mut once: impl FnMut(&Scene<'_>)) {
    once(scene);
    while scene.goes_on() {
        once(scene);
    }
}

/// A call in the attackers' workspace.
fn call(scene: &Scene<'_>, verb: Value, run_id: &str) -> Value {
    let mut call = crate::raw::call(scene.world, verb, run_id);
    call["workspace"] = json!({ "key": super::ATTIC, "name": super::ATTIC });
    call
}
