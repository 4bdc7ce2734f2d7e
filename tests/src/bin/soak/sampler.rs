//! Memory and descriptors over time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use std::{fs, thread};

use pipemux_tests::proc_stats::{cpu_seconds, open_descriptors, resident_kib};

use crate::Soak;

/// The figures of one moment.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Seconds from the start.
    pub seconds: f64,
    /// The daemon's process id, which changes with each kill.
    pub daemon: i32,
    /// Its memory, in KiB.
    pub resident: u64,
    /// Its descriptors.
    pub descriptors: usize,
    /// Its processor time so far, in seconds.
    pub processor: f64,
    /// Apps that run.
    pub apps: usize,
    /// Their memory together, in KiB.
    pub apps_resident: u64,
    /// Bytes of the saved state.
    pub state: u64,
    /// Answers so far.
    pub acts: u64,
}

/// Takes samples until the test is over, and one at the end.
pub fn watch(soak: &Soak) -> Vec<Sample> {
    let mut samples = Vec::new();
    let step = Duration::from_secs_f64(soak.plan.sample_s.max(0.1));
    let mut next = Instant::now() + step;
    while !soak.over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
        if Instant::now() >= next {
            next += step;
            samples.extend(sample(soak));
        }
    }
    samples.extend(sample(soak));
    samples
}

fn sample(soak: &Soak) -> Option<Sample> {
    let all = soak.env.processes();
    let daemon = all.iter().find(|process| process.command.contains("pipemuxd serve"))?.pid;
    let apps: Vec<u64> = all
        .iter()
        .filter(|process| !process.command.contains("pipemuxd") && !is_client(&process.command))
        .filter_map(|process| resident_kib(process.pid))
        .collect();
    let mut acts = 0;
    soak.count(|counters| acts = counters.acts());
    let state = fs::metadata(soak.env.paths().state_dir.join("state.log"));
    Some(Sample {
        seconds: soak.started.elapsed().as_secs_f64(),
        daemon,
        resident: resident_kib(daemon)?,
        descriptors: open_descriptors(daemon)?,
        processor: cpu_seconds(daemon)?,
        apps: apps.len(),
        apps_resident: apps.iter().sum(),
        state: state.map_or(0, |found| found.len()),
        acts,
    })
}

fn is_client(command: &str) -> bool {
    command.split(' ').next().is_some_and(|program| program.ends_with("/pipemux"))
}
