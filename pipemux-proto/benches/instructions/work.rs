//! Pieces of work, ready to be counted. `tests/ratchet/run` compares the counts with the record.

use gungraun::{Callgrind, LibraryBenchmarkConfig};

/// Does the work once.
pub type Work = Box<dyn FnMut()>;

/// The number of warm-up rounds before the measurement.
const BEFORE: usize = 20;

/// Does the work a few times, and returns it ready to be counted.
pub fn ready(mut work: impl FnMut() + 'static) -> Work {
    for _ in 0..BEFORE {
        work();
    }
    Box::new(work)
}

/// Counts instructions only.
pub fn config() -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::with_args(["--cache-sim=no"]));
    config
}
