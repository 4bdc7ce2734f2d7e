//! The tables: growth of what a daemon has is measured here, growth of one window in `content`.

mod content;

use std::time::{Duration, Instant};

use pipemux_client::proto::client::{HistoryArgs, Verb};

use super::Table;
use super::fixture::{Fixture, link, median, open, run, view};

/// Measures one table up to a size.
pub type Sweep = fn(usize) -> Table;

/// All tables by name.
pub const ALL: [(&str, Sweep); 7] = [
    ("sessions", sessions),
    ("saved", saved),
    ("workspaces", workspaces),
    ("history", history),
    ("anchors", content::anchors),
    ("window", content::window),
    ("document", content::document),
];

/// Windows in one workspace; further windows are in other workspaces.
const WINDOWS_PER_WORKSPACE: usize = 100;

/// Bytes of an exchange, in tables where their number doesn't grow.
const EXCHANGE_SIZE: usize = 64;

fn sizes(all: &[usize], most: usize) -> impl Iterator<Item = usize> {
    all.iter().copied().filter(move |size| *size <= most)
}

fn sessions(most: usize) -> Table {
    let mut fixture = Fixture::new();
    let (before, mut opened_so_far) = (fixture.memory(), 0);
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let opened = fill(&mut fixture, &mut opened_so_far, size);
        let link = link(&fixture.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            fixture.time_exchange("grower/s0", EXCHANGE_SIZE),
            fixture.time(|_| run("grower/s0.tick()")),
            fixture.time(|_| Verb::Click { link: link.clone() }),
            fixture.time(|_| view(Some("grower/s0"))),
            median(opened) / 1e3,
            (fixture.memory() - before) / size as f64,
            fixture.memory_of_apps() / size as f64,
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
    Table { subject: "sessions", columns, rows }
}

/// Measures the start of a daemon that finds so many sessions in its state.
fn saved(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let mut fixture = Fixture::new();
        fill(&mut fixture, &mut 0, size);
        let start = fixture.time_restart();
        let memory = fixture.memory();
        // The first view starts the app.
        let began = Instant::now();
        fixture.ask(view(Some("grower/s0")));
        (size, vec![start, began.elapsed().as_secs_f64() * 1e3, memory])
    });
    let rows = rows.collect();
    Table {
        subject: "saved",
        columns: vec!["daemon start ms", "first view ms", "daemon KiB"],
        rows,
    }
}

fn workspaces(most: usize) -> Table {
    let mut fixture = Fixture::new();
    let mut opened_so_far = 0;
    let rows = sizes(&[1, 10, 100, 1000], most).map(|size| {
        let mut opened = Vec::new();
        while opened_so_far < size {
            let name = if opened_so_far == 0 {
                "main".to_owned()
            } else {
                format!("workspace{opened_so_far}")
            };
            let began = Instant::now();
            fixture.ask_in(&name, open(0, 10));
            opened.push(began.elapsed());
            opened_so_far += 1;
        }
        let link = link(&fixture.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            fixture.time_exchange("grower/s0", EXCHANGE_SIZE),
            fixture.time(|_| run("grower.tick()")),
            fixture.time(|_| Verb::Click { link: link.clone() }),
            fixture.time(|_| view(None)),
            median(opened) / 1e3,
            fixture.memory(),
            fixture.time_restart(),
        ];
        // The daemon was restarted, so the first view starts the app again.
        fixture.ask(view(None));
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
    Table { subject: "workspaces", columns, rows }
}

fn history(most: usize) -> Table {
    let mut fixture = Fixture::new();
    fixture.ask(open(0, 10));
    let mut opened_so_far = 0;
    let rows = sizes(&[1, 10, 100, 1000, 10_000], most).map(|size| {
        while opened_so_far < size {
            fixture.ask(run("grower.tick()"));
            opened_so_far += 1;
        }
        let figures = vec![
            fixture.time(|_| run("grower.tick()")),
            fixture.time(|_| {
                Verb::History(HistoryArgs { rounds: Some(20), ..HistoryArgs::default() })
            }),
            fixture.memory(),
            fixture.time_restart(),
        ];
        fixture.ask(view(None));
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec!["run µs", "history µs", "daemon KiB", "daemon start ms"];
    Table { subject: "history", columns, rows }
}

/// Opens sessions of ten objects until there are `size`; the first is in the workspace `main`.
fn fill(fixture: &mut Fixture, opened_so_far: &mut usize, size: usize) -> Vec<Duration> {
    let mut opened = Vec::new();
    while *opened_so_far < size {
        let name = match *opened_so_far / WINDOWS_PER_WORKSPACE {
            0 => "main".to_owned(),
            other => format!("workspace{other}"),
        };
        let began = Instant::now();
        fixture.ask_in(&name, open(*opened_so_far, 10));
        opened.push(began.elapsed());
        *opened_so_far += 1;
    }
    opened
}
