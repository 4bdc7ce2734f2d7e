//! Growth of what one window has: anchors, text, a document.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use pipemux_client::proto::client::Verb;

use crate::Table;
use crate::app::LINE;
use crate::desk::{Desk, link, middle, open, open_app, open_showing, run, view};

use super::sizes;

/// Anchors that one window holds here: the others are in other windows.
const IN_A_WINDOW: usize = 1000;
/// Tokens that are asked for: all of a window is to be shown.
const ALL_OF_IT: u32 = 200_000;
/// How often a session is opened for a median.
const OPENED: usize = 5;
/// Age past which a file's times prove that nobody has written to it since.
const SETTLED: Duration = Duration::from_millis(150);

pub fn anchors(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000, 10_000], most).map(|size| {
        let mut desk = Desk::new();
        desk.budget = Some(ALL_OF_IT);
        let here = size.min(IN_A_WINDOW);
        desk.ask(open(0, here));
        for session in 1..size / IN_A_WINDOW {
            desk.ask(open(session, IN_A_WINDOW));
        }
        let link = link(&desk.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            desk.time(|_| run("grower/s0.tick()")),
            desk.time(|_| run("grower/s0.touch(obj:grower/s0:t0)")),
            desk.time(|_| Verb::Click { link: link.clone() }),
            desk.time_changed("grower/s0"),
            desk.time(|_| view(Some("grower/s0"))),
            desk.time(|_| view(None)),
            desk.memory(),
            // At the end: what they leave is no part of the others.
            desk.time_restart(),
            middle((0..OPENED).map(|number| opened(&mut desk, number, here)).collect()),
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "run µs",
        "run with a ref µs",
        "click µs",
        "view, changed µs",
        "view µs",
        "view of all µs",
        "daemon KiB",
        "daemon start ms",
        "open µs",
    ];
    Table { grows: "anchors", columns, rows }
}

fn opened(desk: &mut Desk, number: usize, things: usize) -> Duration {
    let began = Instant::now();
    desk.ask_at(&format!("opened{number}"), open(0, things));
    began.elapsed()
}

/// A window of so many lines of 64 bytes: looks at it after a change and without one, an exchange of as
/// many bytes, which the daemon passes on unread, and one copy of them in memory. What changes is the window's
/// heading, and in others a line or all of them.
pub fn window(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000, 16_000], most).map(|size| {
        let mut desk = Desk::new();
        desk.budget = Some(ALL_OF_IT);
        desk.ask(open_showing(0, &format!("prose={size}")));
        desk.ask(open_showing(1, &format!("code={size}")));
        desk.ask(open_showing(2, &format!("edited={size}")));
        desk.ask(open_showing(3, &format!("other={size}")));
        let shown = desk.ask(view(Some("grower/s1"))).len();
        let (prose, code) = (desk.time_changed("grower/s0"), desk.time_changed("grower/s1"));
        let (edited, other) = (desk.time_changed("grower/s2"), desk.time_changed("grower/s3"));
        let unchanged = desk.time(|_| view(Some("grower/s1")));
        let exchange = desk.time_exchange("grower/s1", LINE.len() * size);
        let copy = time_copy(&LINE.repeat(size));
        let figures = vec![
            shown as f64 / 1024.0,
            prose,
            code,
            edited,
            other,
            unchanged,
            exchange,
            copy,
            prose / exchange,
            code / exchange,
            edited / exchange,
            other / exchange,
            unchanged / exchange,
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "shown KiB",
        "prose, changed µs",
        "code, changed µs",
        "code, a line changed µs",
        "code, every line changed µs",
        "code, unchanged µs",
        "exchange of as much µs",
        "copy in memory µs",
        "prose / exchange",
        "code / exchange",
        "a line / exchange",
        "every line / exchange",
        "unchanged / exchange",
    ];
    Table { grows: "window", columns, rows }
}

fn time_copy(text: &str) -> f64 {
    let times = (0..100).map(|_| {
        let began = Instant::now();
        black_box(black_box(text).to_owned());
        began.elapsed()
    });
    middle(times.collect())
}

pub fn document(most: usize) -> Table {
    let rows = sizes(&[10_000, 100_000, 1_000_000, 10_000_000], most).map(|size| {
        let mut desk = Desk::new();
        desk.world.write("long.txt", LINE.repeat(size / LINE.len()));
        let path = desk.world.path("long.txt");
        settle(&path);
        let name = path.display().to_string();
        let opened = (0..OPENED).map(|number| {
            let began = Instant::now();
            desk.ask(open_app("editor", &format!("d{number}"), vec![name.clone()]));
            let took = began.elapsed();
            if number > 0 {
                let session = format!("editor/d{number}").parse().expect("a session");
                desk.ask(Verb::Close { session, end: true });
            }
            took
        });
        let opened = middle(opened.collect());
        let memory = desk.memory_of_apps();
        let began = Instant::now();
        desk.ask(run("editor.insert(5, 'x')"));
        let first = began.elapsed().as_secs_f64() * 1e6;
        let figures = vec![
            opened,
            first,
            desk.time(|number| run(format!("editor.insert({}, 'x')", 5 + number))),
            desk.time(|number| run(format!("editor.goto({})", 10 + number))),
            desk.time(|_| view(None)),
            desk.time(|_| run("editor.insert(5, 'x'); editor.save()")),
            memory,
        ];
        (size, figures)
    });
    let rows = rows.collect();
    let columns = vec![
        "open µs",
        "first insert µs",
        "insert µs",
        "goto µs",
        "view µs",
        "insert and save µs",
        "editor KiB",
    ];
    Table { grows: "document", columns, rows }
}

/// Waits until a file is so old that its times prove what it holds: before that, each look at it reads it.
fn settle(path: &std::path::Path) {
    let written = std::fs::metadata(path).and_then(|found| found.modified()).expect("the file");
    while SystemTime::now().duration_since(written).unwrap_or_default() < SETTLED {
        std::thread::yield_now();
    }
}
