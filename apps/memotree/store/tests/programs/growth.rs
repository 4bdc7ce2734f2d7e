//! Measures what the store costs in trees of 1,000, 10,000 and 100,000 nodes, beside the floor of
//! each: reading the index, reading all files.
//!
//! ```sh
//! cargo run --release -p pipemux-memotree-store --example growth [-- 1000 10000 100000]
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pipemux_context::{Budgets, Frame, RenderSource, Size, shares};
use pipemux_memotree_store::actions::{NewNode, NewPlace, NodePlace};
use pipemux_memotree_store::config::TokenForm;
use pipemux_memotree_store::render;
use pipemux_memotree_store::{Level, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let counts: Vec<usize> =
        std::env::args().skip(1).filter_map(|count| count.parse().ok()).collect();
    let counts = if counts.is_empty() { vec![1_000, 10_000, 100_000] } else { counts };
    println!(
        "{:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}",
        "nodes",
        "make",
        "read all",
        "no index",
        "stale",
        "open",
        "index rd",
        "expand",
        "move",
        "view",
        "rare word",
        "in all"
    );
    for count in counts {
        measure(count)?;
    }
    Ok(())
}

fn measure(count: usize) -> Result<(), Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("memotree-growth-{}-{count}", std::process::id()));
    let (root, state) = (dir.join(".memotree"), dir.join("state"));
    fs::create_dir_all(&root)?;
    let make = write_files(&root, count)?;
    let (read_all, _) = best(3, || read_files(&root))?;
    let no_index = time(|| Ok(Store::open(&root, &state)?))?.0;
    let settle = || -> Result<(), Box<dyn Error>> {
        std::thread::sleep(Duration::from_millis(60));
        let (mut store, _) = Store::open(&root, &state)?;
        store.files.refresh()?;
        Ok(())
    };
    settle()?;
    fs::write(root.join("nodes/outside.md"), "---\ntitle: outside\n---\n")?;
    let stale = time(|| Ok(Store::open(&root, &state)?))?.0;
    settle()?;
    let (index_read, _) = best(5, || Ok(fs::read(state.join("index.db"))?.len()))?;
    let (open, _) = best(5, || Ok(Store::open(&root, &state)?))?;
    let before = resident();
    let (mut store, _) = Store::open(&root, &state)?;
    let all: Vec<String> = (0..count.min(2_000)).map(|number| format!("n{number}")).collect();
    store.state.set_levels("all", &all, Some(Level::Gist))?;
    let mut turn = 0;
    let (expand, _) = best(20, || {
        turn += 1;
        let level = if turn % 2 == 0 { None } else { Some(Level::Full) };
        Ok(store.state.set_levels("default", &["n5".to_owned()], level)?)
    })?;
    let (moved, _) = best(10, || {
        turn += 1;
        let before = Some(if turn % 2 == 0 { "n1" } else { "n3" }.to_owned());
        Ok(store.move_nodes(&["n7"], &NodePlace { parent: None, before })?)
    })?;
    let budgets = Budgets::new(Size::tokens(2_000)).framed_by(Frame::Caller);
    let share = shares(&[RenderSource::new("tree", "")], &budgets)[0];
    let (view, _) = best(5, || Ok(render::tree(&mut store, "all", &share, TokenForm::Long)?))?;
    let rare = format!("word{}", count / 2);
    let (search, found) = best(5, || Ok(store.index().search(&rare, 20)?))?;
    assert!(!found.nodes.is_empty());
    let (common, _) = best(5, || Ok(store.index().search("common text", 20)?))?;
    let after = resident();
    println!(
        "{count:>7} {make:>9.1?} {read_all:>9.1?} {no_index:>9.1?} {stale:>9.1?} {open:>9.1?} {index_read:>8.1?} {expand:>8.1?} {moved:>8.1?} {view:>8.1?} {search:>9.1?} {common:>9.1?} · memory {} KiB, {} bytes a node",
        (after.saturating_sub(before)) / 1024,
        after.saturating_sub(before) / count as u64
    );
    fs::remove_dir_all(&dir)?;
    Ok(())
}

fn write_files(root: &Path, count: usize) -> Result<Duration, Box<dyn Error>> {
    // In parts, since an action adds a bounded number; through the store's own files.
    let (mut store, _) = Store::open(root, &root.join("../making"))?;
    let nodes = (0..count).map(|number| NewNode {
        title: format!("n{number}"),
        gist: format!("what node {number} is about"),
        text: format!("Some common text of a node, with word{number} in it.\n\nAnd a second paragraph: 数据库设计。\n"),
        place: match number.checked_sub(10) {
            None => NewPlace::At(NodePlace::default()),
            Some(rest) => NewPlace::Below(rest / 10),
        },
        ..NewNode::default()
    });
    let nodes: Vec<NewNode> = nodes.collect();
    Ok(time(|| Ok(store.add(&nodes)?))?.0)
}

fn read_files(root: &Path) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    for entry in fs::read_dir(root.join("nodes"))? {
        bytes += fs::read(entry?.path())?.len();
    }
    Ok(bytes)
}

fn time<T>(
    work: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<(Duration, T), Box<dyn Error>> {
    let start = Instant::now();
    let done = work()?;
    Ok((start.elapsed(), done))
}

fn best<T>(
    times: usize,
    mut work: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<(Duration, T), Box<dyn Error>> {
    let (mut best, mut last) = time(&mut work)?;
    for _ in 1..times {
        let (took, done) = time(&mut work)?;
        best = best.min(took);
        last = done;
    }
    Ok((best, last))
}

/// Returns the resident memory in bytes; 0 where that isn't known.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
