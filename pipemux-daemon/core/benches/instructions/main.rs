//! Counts the instructions of the core alone, from an event to its effects, with an app that
//! answers from memory.

// Clippy doesn't treat benches as tests, and the macros don't follow our lints.
#![allow(clippy::exit, clippy::unwrap_used, unused_qualifications)]

mod bench_world;
#[path = "../../../../pipemux-proto/benches/instructions/work.rs"]
mod work;

use std::hint::black_box;

use bench_world::BenchWorld;
use gungraun::prelude::*;
use pipemux_core::exchange::{End, Forward};
use pipemux_core::{Effect, Now};
use pipemux_proto::client::{Verb, ViewArgs};
use pipemux_proto::{Envelope, Kind, Method, SessionAddr};
use work::{Work, config, ready};

#[library_benchmark]
#[bench::exchange(exchange())]
#[bench::status(asking(0, false, || Verb::Status))]
fn routing(mut work: Work) -> Work {
    work();
    work
}

#[library_benchmark]
#[bench::run_one_action(asking(0, true, || run("notes.tick()")))]
#[bench::run_ten_actions(asking(0, true, || run(&"notes.tick();".repeat(10))))]
#[bench::click(click(1, 0))]
fn acting(mut work: Work) -> Work {
    work();
    work
}

#[library_benchmark]
#[bench::view_unchanged_100_lines(asking(100, false, view))]
#[bench::view_unchanged_1000_lines(asking(1_000, false, view))]
#[bench::view_changed_100_lines(asking(100, true, view))]
#[bench::view_changed_1000_lines(asking(1_000, true, view))]
#[bench::view_unchanged_1_mb(asking_at(BenchWorld::of_a_megabyte(), false, view))]
#[bench::view_changed_1_mb(asking_at(BenchWorld::of_a_megabyte(), true, view))]
#[bench::view_edited_1_mb(editing(false))]
#[bench::view_another_1_mb(editing(true))]
fn projection(mut work: Work) -> Work {
    work();
    work
}

// Requests that concern one of many windows, each with ten lines.
#[library_benchmark]
#[bench::run_among_1(run_among(1))]
#[bench::run_among_10(run_among(10))]
#[bench::run_among_100(run_among(100))]
#[bench::click_among_1(click(1, 10))]
#[bench::click_among_10(click(10, 10))]
#[bench::click_among_100(click(100, 10))]
#[bench::view_among_1(view_among(1))]
#[bench::view_among_10(view_among(10))]
#[bench::view_among_100(view_among(100))]
fn among(mut work: Work) -> Work {
    work();
    work
}

library_benchmark_group!(name = core, benchmarks = [routing, acting, projection, among]);
main!(config = config(); library_benchmark_groups = core);

/// Prepares an exchange from a client to the app and back.
fn exchange() -> Work {
    let mut world = BenchWorld::new(0);
    let incarnation = world.attach();
    let mut id = 1_000;
    ready(move || {
        id += 1;
        let asked = Envelope::request(Method::Exchange, id, incarnation);
        let client = End::Client(world.client);
        let there = world.route(client, &asked);
        let back = world.route(there.to, &there.envelope.answer(Kind::Reply));
        assert_eq!((back.to, back.envelope.id), (client, id));
    })
}

fn click(windows: usize, lines: usize) -> Work {
    let mut world = BenchWorld::among(windows, lines);
    let link = world.link();
    ready(move || {
        world.changed();
        black_box(world.ask(Verb::Click { link: link.clone() }));
    })
}

fn run_among(windows: usize) -> Work {
    asking_at(BenchWorld::among(windows, 10), true, || run("notes.tick()"))
}

fn view_among(windows: usize) -> Work {
    let session: SessionAddr = "notes/main".parse().unwrap();
    let view =
        move || Verb::View(ViewArgs { session: Some(session.clone()), ..ViewArgs::default() });
    asking_at(BenchWorld::among(windows, 10), false, view)
}

/// Repeats a verb with an app that shows this many lines, each with an anchor. Its state changes
/// before each request if `changing` is set.
fn asking(lines: usize, changing: bool, verb: impl Fn() -> Verb + 'static) -> Work {
    asking_at(BenchWorld::new(lines), changing, verb)
}

fn asking_at(mut world: BenchWorld, changing: bool, verb: impl Fn() -> Verb + 'static) -> Work {
    ready(move || {
        if changing {
            world.changed();
        }
        black_box(world.ask(verb()));
    })
}

fn editing(everywhere: bool) -> Work {
    let mut world = BenchWorld::of_a_megabyte();
    ready(move || {
        world.edited(everywhere);
        black_box(world.ask(view()));
    })
}

fn run(code: &str) -> Verb {
    Verb::Run { code: code.into(), stdin: None, only_queries: false }
}

fn view() -> Verb {
    Verb::View(ViewArgs::default())
}

impl BenchWorld {
    fn route(&mut self, from: End, envelope: &Envelope) -> Forward {
        let mut out: Vec<Effect> = Vec::new();
        let now = Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 };
        let forward = self.core.exchange(from, envelope, 64, now, &mut out);
        assert!(out.is_empty(), "{out:?}");
        forward.unwrap()
    }
}
