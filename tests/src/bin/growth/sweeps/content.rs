//! Growth of what one window has: anchors, text, a document.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use pipemux_client::proto::client::Verb;

use crate::Table;
use crate::fixture::{Fixture, link, median, open, open_app, open_showing, run, view};
use crate::growth_app::LINE;

use super::sizes;

/// Anchors in one window; further anchors are in other windows.
const ANCHORS_PER_WINDOW: usize = 1000;
/// A token budget that shows a window completely.
const WHOLE_WINDOW: u32 = 200_000;
/// How often a session is opened for a median.
const OPENED: usize = 5;
/// The age from which on the times of a file prove that it was not written again.
const SETTLED: Duration = Duration::from_millis(150);

pub fn anchors(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000, 10_000], most).map(|size| {
        let mut fixture = Fixture::new();
        fixture.budget = Some(WHOLE_WINDOW);
        let here = size.min(ANCHORS_PER_WINDOW);
        fixture.ask(open(0, here));
        for session in 1..size / ANCHORS_PER_WINDOW {
            fixture.ask(open(session, ANCHORS_PER_WINDOW));
        }
        let link = link(&fixture.ask(view(Some("grower/s0"))), "tick");
        let figures = vec![
            fixture.time(|_| run("grower/s0.tick()")),
            fixture.time(|_| run("grower/s0.touch(obj:grower/s0:t0)")),
            fixture.time(|_| Verb::Click { link: link.clone() }),
            fixture.time_changed("grower/s0"),
            fixture.time(|_| view(Some("grower/s0"))),
            fixture.time(|_| view(None)),
            fixture.memory(),
            // These come last, so that what they leave doesn't affect the other figures.
            fixture.time_restart(),
            median((0..OPENED).map(|number| opened(&mut fixture, number, here)).collect()),
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
    Table { subject: "anchors", columns, rows }
}

fn opened(fixture: &mut Fixture, number: usize, things: usize) -> Duration {
    let began = Instant::now();
    fixture.ask_in(&format!("opened{number}"), open(0, things));
    began.elapsed()
}

/// Measures a window of so many lines of 64 bytes: views after a change and without one, an
/// exchange of as many bytes, which the daemon passes on unread, and a copy of them in memory. The
/// change is the heading of the window, one line, or all lines.
pub fn window(most: usize) -> Table {
    let rows = sizes(&[1, 10, 100, 1000, 16_000], most).map(|size| {
        let mut fixture = Fixture::new();
        fixture.budget = Some(WHOLE_WINDOW);
        fixture.ask(open_showing(0, &format!("prose={size}")));
        fixture.ask(open_showing(1, &format!("code={size}")));
        fixture.ask(open_showing(2, &format!("edited={size}")));
        fixture.ask(open_showing(3, &format!("other={size}")));
        let shown = fixture.ask(view(Some("grower/s1"))).len();
        let (prose, code) = (fixture.time_changed("grower/s0"), fixture.time_changed("grower/s1"));
        let (edited, other) =
            (fixture.time_changed("grower/s2"), fixture.time_changed("grower/s3"));
        let unchanged = fixture.time(|_| view(Some("grower/s1")));
        let exchange = fixture.time_exchange("grower/s1", LINE.len() * size);
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
    Table { subject: "window", columns, rows }
}

fn time_copy(text: &str) -> f64 {
    let times = (0..100).map(|_| {
        let began = Instant::now();
        black_box(black_box(text).to_owned());
        began.elapsed()
    });
    median(times.collect())
}

pub fn document(most: usize) -> Table {
    let rows = sizes(&[10_000, 100_000, 1_000_000, 10_000_000], most).map(|size| {
        let mut fixture = Fixture::new();
        fixture.env.write("long.txt", LINE.repeat(size / LINE.len()));
        let path = fixture.env.path("long.txt");
        settle(&path);
        let name = path.display().to_string();
        let opened = (0..OPENED).map(|number| {
            let began = Instant::now();
            fixture.ask(open_app("editor", &format!("d{number}"), vec![name.clone()]));
            let took = began.elapsed();
            if number > 0 {
                let session = format!("editor/d{number}").parse().expect("a session");
                fixture.ask(Verb::Close { session, end: true });
            }
            took
        });
        let opened = median(opened.collect());
        let memory = fixture.memory_of_apps();
        let began = Instant::now();
        fixture.ask(run("editor.insert(5, 'x')"));
        let first = began.elapsed().as_secs_f64() * 1e6;
        let figures = vec![
            opened,
            first,
            fixture.time(|number| run(format!("editor.insert({}, 'x')", 5 + number))),
            fixture.time(|number| run(format!("editor.goto({})", 10 + number))),
            fixture.time(|_| view(None)),
            fixture.time(|_| run("editor.insert(5, 'x'); editor.save()")),
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
    Table { subject: "document", columns, rows }
}

/// Waits until the times of a file prove that it was not written again; before that, each view
/// reads the file.
fn settle(path: &std::path::Path) {
    let written = std::fs::metadata(path).and_then(|found| found.modified()).expect("the file");
    while SystemTime::now().duration_since(written).unwrap_or_default() < SETTLED {
        std::thread::yield_now();
    }
}
