//! Pieces of work, and how many instructions each may take: what the stored baseline says, and a little more.

use std::collections::HashMap;

use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig};

/// Does the work once.
pub type Work = Box<dyn FnMut()>;

/// Written by `tests/bench/instructions.py`.
const BASELINE: &str = include_str!("../../../tests/bench/results/instructions.json");
/// What is let pass above the baseline, in percent: other processors and C libraries choose other
/// routines for copying.
const TOLERANCE: u64 = 5;
/// And in instructions: some dozen are five percent of a small piece of work.
const SPARE: u64 = 60;
/// How often work is done before it is counted: what only the first times cost doesn't count.
const BEFORE: usize = 20;

/// Work that has been done some times already.
pub fn ready(mut work: impl FnMut() + 'static) -> Work {
    for _ in 0..BEFORE {
        work();
    }
    Box::new(work)
}

/// Bounds a piece of work by its baseline. What the baseline doesn't know exceeds its bound, which is 0.
pub fn bounded(work: &str) -> LibraryBenchmarkConfig {
    let baseline: HashMap<String, u64> = serde_json::from_str(BASELINE).unwrap();
    let most = baseline.get(work).map_or(0, |count| count + count * TOLERANCE / 100 + SPARE);
    let mut callgrind = Callgrind::with_args(["--cache-sim=no"]);
    callgrind.hard_limits([(EventKind::Ir, most)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}
