//! What grows, and what is measured at each size.

use std::time::Instant;

use pipemux_client::proto::client::Verb;

use super::Table;
use super::desk::{Desk, link, middle, open, open_app, run, view};

/// Measures one kind of growth up to a size.
pub type Sweep = fn(usize) -> Table;

/// Every kind, by name.
pub const ALL: [(&str, Sweep); 5] = [
    ("sessions", sessions),
    ("workspaces", workspaces),
    ("anchors", anchors),
    ("document", document),
    ("history", history),
];

/// Windows that one desk holds here: the others are at other desks.
const AT_A_DESK: usize = 100;

/// Anchors that one window holds here: the others are in other windows.
const IN_A_WINDOW: usize = 1000;

fn sizes(all: &[usize], most: usize) -> impl Iterator<Item = usize> {
    all.iter().copied().filter(move |size| *size <= most)
}

fn sessions(most: usize) -> Table {
    let mut desk = Desk::new();
    desk.ask(open(0, 10));
    let (before, mut there) = (desk.memory(), 1);
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let mut opened = Vec::new();
        while there < size {
            let began = Instant::now();
            desk.ask_at(&format!("desk{}", there / AT_A_DESK), open(there, 10));
            opened.push(began.elapsed());
            there += 1;
        }
        let spare = (size - 1).max(1) as f64;
        let link = link(&desk.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            desk.time_exchange("grower/s0"),
            desk.time(|_| run("grower.tick()")),
            desk.time(|_| Verb::Click { link: link.clone() }),
            desk.time(|_| view(Some("grower/s0"))),
            middle(opened) / 1e3,
            (desk.memory() - before) / spare,
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

fn workspaces(most: usize) -> Table {
    let mut desk = Desk::new();
    desk.ask(open(0, 10));
    let mut there = 1;
    let rows = sizes(&[1, 10, 100], most).map(|size| {
        while there < size {
            desk.ask_at(&format!("desk{there}"), open(0, 10));
            there += 1;
        }
        let figures = vec![
            desk.time_exchange("grower/s0"),
            desk.time(|_| run("grower.tick()")),
            desk.time(|_| view(None)),
            desk.time_restart(),
        ];
        // The daemon is another one by now, and the app is started anew by the first look.
        desk.ask(view(None));
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec!["exchange µs", "run µs", "view µs", "daemon start ms"];
    Table { grows: "workspaces", columns, rows }
}

fn anchors(most: usize) -> Table {
    let rows = sizes(&[10, 100, 1000, 10_000], most).map(|size| {
        let mut desk = Desk::new();
        // All of it is to be shown.
        desk.budget = Some(200_000);
        let began = Instant::now();
        desk.ask(open(0, size.min(IN_A_WINDOW)));
        let opened = began.elapsed().as_secs_f64() * 1e6;
        for session in 1..size / IN_A_WINDOW {
            desk.ask(open(session, IN_A_WINDOW));
        }
        let link = link(&desk.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            opened,
            desk.time(|_| run("grower/s0.tick()")),
            desk.time(|_| run("grower/s0.touch(obj:grower/s0:t3)")),
            desk.time(|_| Verb::Click { link: link.clone() }),
            desk.time(|_| view(Some("grower/s0"))),
            desk.time(|_| view(None)),
            desk.memory(),
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "open µs",
        "run µs",
        "run with a ref µs",
        "click µs",
        "view µs",
        "view of all µs",
        "daemon KiB",
    ];
    Table { grows: "anchors", columns, rows }
}

fn document(most: usize) -> Table {
    let rows = sizes(&[10_000, 100_000, 1_000_000, 10_000_000], most).map(|size| {
        let mut desk = Desk::new();
        let line = "a line of the document, like any other of its lines\n";
        desk.world.write("long.txt", line.repeat(size / line.len()));
        let path = desk.world.path("long.txt").display().to_string();
        let began = Instant::now();
        desk.ask(open_app("editor", "main", vec![path]));
        let opened = began.elapsed().as_secs_f64() * 1e6;
        let figures = vec![
            opened,
            desk.time(|number| run(format!("editor.insert({}, 'x')", 5 + number))),
            desk.time(|number| run(format!("editor.goto({})", 10 + number))),
            desk.time(|_| view(None)),
            desk.time(|_| run("editor.save()")),
            desk.memory_of_apps(),
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec!["open µs", "insert µs", "goto µs", "view µs", "save µs", "editor KiB"];
    Table { grows: "document", columns, rows }
}

fn history(most: usize) -> Table {
    let mut desk = Desk::new();
    desk.ask(open(0, 10));
    let mut there = 0;
    let rows = sizes(&[10, 100, 1000, 10_000], most).map(|size| {
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
