//! What the app costs in trees of 1,000 and 100,000 nodes:
//! `cargo test --release -p pipemux-memotree --test memotree growth -- --ignored --nocapture`
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use crate::common::{Fixture, text, texts};

fn best<T>(times: usize, mut work: impl FnMut() -> T) -> Duration {
    let timed = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        drop(work());
        start.elapsed()
    };
    (0..times).map(|_| timed(&mut work)).min().unwrap_or_default()
}

#[test]
#[ignore = "it prints times, and asserts nothing"]
fn table_of_times_by_number_of_nodes() {
    for count in [1_000, 100_000] {
        let mut tree = Fixture::new();
        let rows: String = (0..count)
            .map(|number: usize| {
                let parent = match number.checked_sub(10) {
                    None => String::new(),
                    Some(rest) => format!(", \"parent\": \"n{}\"", rest / 10),
                };
                format!("{{\"title\": \"n{number}\", \"gist\": \"about {number}\", \"text\": \"common text, word{number}\"{parent}}}\n")
            })
            .collect();
        let made = best(1, || tree.call("add_many", [("rows", text(&rows))]));
        tree.call("create", [("name", text("other"))]);
        // The index is settled, as after a while.
        std::thread::sleep(Duration::from_millis(100));
        tree.view();
        let opened = best(3, || crate::common::open(&tree.dir, "a").unwrap());
        let first = best(1, || crate::common::open(&tree.dir, "no-index").unwrap());
        let view = best(5, || tree.view());
        let expand = best(5, || tree.call("expand", [("nodes", texts(&["n5"]))]));
        let mut turn = 0;
        let switch = best(6, || {
            turn += 1;
            tree.call("switch", [("view", text(if turn % 2 == 0 { "default" } else { "other" }))])
        });
        let rare = best(5, || tree.ask("search", [("query", text(&format!("word{}", count / 2)))]));
        let common = best(5, || tree.ask("search", [("query", text("common text"))]));
        let show = best(5, || tree.ask("show", [("nodes", text("n77"))]));
        let outline = best(5, || tree.ask("show", []));
        let moved =
            best(5, || tree.call("move", [("nodes", texts(&["n7"])), ("before", text("n3"))]));
        let edit = best(5, || tree.call("append", [("node", text("n9")), ("text", text("x"))]));
        println!(
            "{count:>7} nodes: make {made:.1?} · open {opened:.1?}, without index {first:.1?} · view {view:.1?} · expand {expand:.1?} \
             · switch {switch:.1?} · search rare {rare:.1?}, common {common:.1?} · show {show:.1?}, outline {outline:.1?} · \
             move {moved:.1?} · append {edit:.1?}"
        );
    }
}
