//! What grows, and what is measured at each size: what a daemon has, here; what one window has, in
//! `content`.

mod content;

use std::time::{Duration, Instant};

use pipemux_client::proto::client::Verb;

use super::Table;
use super::desk::{Desk, link, middle, open, run, view};

/// Measures one kind of growth up to a size.
pub type Sweep = fn(usize) -> Table;

/// Every kind, by name.
pub const ALL: [(&str, Sweep); 7] = [
    ("sessions", sessions),
    ("saved", saved),
    ("workspaces", workspaces),
    ("history", history),
    ("anchors", content::anchors),
    ("window", content::window),
    ("document", content::document),
];

/// Windows that one desk holds here: the others are at other desks.
const AT_A_DESK: usize = 100;

/// How many bytes an exchange carries where their number isn't what grows.
const EXCHANGED: usize = 64;

fn sizes(all: &[usize], most: usize) -> impl Iterator<Item = usize> {
    all.iter().copied().filter(move |size| *size <= most)
}

fn sessions(most: usize) -> Table {
    let mut desk = Desk::new();
    let (before, mut there) = (desk.memory(), 0);
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let opened = fill(&mut desk, &mut there, size);
        let link = link(&desk.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            desk.time_exchange("grower/s0", EXCHANGED),
            desk.time(|_| run("grower/s0.tick()")),
            desk.time(|_| Verb::Click { link: link.clone() }),
            desk.time(|_| view(Some("grower/s0"))),
            middle(opened) / 1e3,
            (desk.memory() - before) / size as f64,
            desk.memory_of_apps() / size as f64,
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "exchange µs",
        "run µs",
        "click µs",
        "view µs",
        "open ms",
        "daemon KiB a session",
        "app KiB",
    ];
    Table { grows: "sessions", columns, rows }
}

/// What a daemon's start costs that finds so many sessions in its state.
fn saved(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let mut desk = Desk::new();
        fill(&mut desk, &mut 0, size);
        let start = desk.time_restart();
        let memory = desk.memory();
        // The app isn't there yet: the first look starts it.
        let began = Instant::now();
        desk.ask(view(Some("grower/s0")));
        (size, vec![start, began.elapsed().as_secs_f64() * 1e3, memory])
    });
    let rows = rows.collect();
    Table { grows: "saved", columns: vec!["daemon start ms", "first view ms", "daemon KiB"], rows }
}

fn workspaces(most: usize) -> Table {
    let mut desk = Desk::new();
    let mut there = 0;
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let mut opened = Vec::new();
        while there < size {
            let name = if there == 0 { "desk".to_owned() } else { format!("desk{there}") };
            let began = Instant::now();
            desk.ask_at(&name, open(0, 10));
            opened.push(began.elapsed());
            there += 1;
        }
        let link = link(&desk.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            desk.time_exchange("grower/s0", EXCHANGED),
            desk.time(|_| run("grower.tick()")),
            desk.time(|_| Verb::Click { link: link.clone() }),
            desk.time(|_| view(None)),
            middle(opened) / 1e3,
            desk.memory(),
            desk.time_restart(),
        ];
        // The daemon is another one by now, and the app is started anew by the first look.
        desk.ask(view(None));
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "exchange µs",
        "run µs",
        "click µs",
        "view µs",
        "open ms",
        "daemon KiB",
        "daemon start ms",
    ];
    Table { grows: "workspaces", columns, rows }
}

fn history(most: usize) -> Table {
    let mut desk = Desk::new();
    desk.ask(open(0, 10));
    let mut there = 0;
    let rows = sizes(&[1, 10, 100, 1000, 10_000], most).map(|size| {
        while there < size {
            desk.ask(run("grower.tick()"));
            there += 1;
        }
        let figures = vec![
            desk.time(|_| run("grower.tick()")),
            desk.time(|_| Verb::History { detail: false, rounds: Some(20) }),
            desk.memory(),
            desk.time_restart(),
        ];
        desk.ask(view(None));
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec!["run µs", "history µs", "daemon KiB", "daemon start ms"];
    Table { grows: "history", columns, rows }
}

/// Opens sessions of ten things until so many are there; the first is at the desk `desk`.
fn fill(desk: &mut Desk, there: &mut usize, size: usize) -> Vec<Duration> {
    let mut opened = Vec::new();
    while *there < size {
        let name = match *there / AT_A_DESK {
            0 => "desk".to_owned(),
            other => format!("desk{other}"),
        };
        let began = Instant::now();
        desk.ask_at(&name, open(*there, 10));
        opened.push(began.elapsed());
        *there += 1;
    }
    opened
}
