//! Pieces of work, and the number of instructions that each may take: the stored baseline with a tolerance.

use std::collections::HashMap;

use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig};

/// Does the work once.
pub type Work = Box<dyn FnMut()>;

/// Written by `tests/bench/instructions.py`.
const BASELINE: &str = include_str!("../../../tests/bench/results/instructions.json");
/// Tolerance above the baseline in percent, because processors and C libraries differ in their routines
/// for copying.
const TOLERANCE: u64 = 5;
/// Additional tolerance in instructions, because a few dozen are five percent of a small piece of work.
const SPARE: u64 = 60;
/// How often work is done before it is counted, so that costs of the first time don't count.
const BEFORE: usize = 20;

/// Does the work a few times, and returns it ready to be counted.
pub fn ready(mut work: impl FnMut() + 'static) -> Work {
    for _ in 0..BEFORE {
        work();
    }
    Box::new(work)
}

/// Bounds a piece of work by its baseline. Work that is missing in the baseline has the bound 0, so it
/// fails.
pub fn bounded(work: &str) -> LibraryBenchmarkConfig {
    let baseline: HashMap<String, u64> = serde_json::from_str(BASELINE).unwrap();
    let most = baseline.get(work).map_or(0, |count| count + count * TOLERANCE / 100 + SPARE);
    let mut callgrind = Callgrind::with_args(["--cache-sim=no"]);
    callgrind.hard_limits([(EventKind::Ir, most)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}
