//! The core alone: an event in, its effects out, and an app that answers from memory.

// Benches are no tests to clippy.
#![allow(clippy::unwrap_used, missing_docs)]

mod desk;
#[path = "../../../pipemux-proto/benches/harness/mod.rs"]
mod harness;

use std::hint::black_box;

use desk::Desk;
use pipemux_core::exchange::End;
use pipemux_core::{Effect, Now};
use pipemux_proto::client::{Verb, View};
use pipemux_proto::{Envelope, Kind, Method};

fn main() {
    harness::main(&[
        ("exchange", || {
            let mut desk = Desk::new(0);
            let life = desk.attach();
            let mut id = 1_000;
            Box::new(move || {
                id += 1;
                let asked = Envelope::request(Method::Exchange, id, life);
                let client = End::Client(desk.client);
                let there = desk.route(client, &asked);
                let back = desk.route(there.to, &there.envelope.answer(Kind::Reply));
                assert_eq!((back.to, back.envelope.id), (client, id));
            })
        }),
        ("status", || asking(0, false, || Verb::Status)),
        ("run_one_action", || asking(0, true, || run("notes.tick()"))),
        ("run_ten_actions", || asking(0, true, || run(&"notes.tick();".repeat(10)))),
        ("click", || {
            let mut desk = Desk::new(0);
            let link = desk.link();
            Box::new(move || {
                desk.changed();
                black_box(desk.ask(Verb::Click { link: link.clone() }));
            })
        }),
        ("view_unchanged_100_lines", || asking(100, false, view)),
        ("view_unchanged_1000_lines", || asking(1_000, false, view)),
        ("view_changed_100_lines", || asking(100, true, view)),
        ("view_changed_1000_lines", || asking(1_000, true, view)),
    ]);
}

/// A verb, asked over and over of an app that shows so many lines, each with an anchor; changed each time
/// or never.
fn asking(lines: usize, changing: bool, verb: impl Fn() -> Verb + 'static) -> Box<dyn FnMut()> {
    let mut desk = Desk::new(lines);
    Box::new(move || {
        if changing {
            desk.changed();
        }
        black_box(desk.ask(verb()));
    })
}

fn run(code: &str) -> Verb {
    Verb::Run { code: code.into(), stdin: None }
}

fn view() -> Verb {
    Verb::View(View::default())
}

impl Desk {
    fn route(&mut self, from: End, envelope: &Envelope) -> pipemux_core::exchange::Forward {
        let mut out: Vec<Effect> = Vec::new();
        let now = Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 };
        let forward = self.core.exchange(from, envelope, 64, now, &mut out);
        assert!(out.is_empty(), "{out:?}");
        forward.unwrap()
    }
}
