//! Kills apps all the time, and the daemon and the launcher in the first half. Sometimes an app is
//! only stopped for a moment.

use std::time::{Duration, Instant};

use pipemux_tests::{Process, Signal, kill};

use crate::Soak;
use pipemux_tests::random::SeededRandom;

/// Kills processes until the test is over.
pub fn kill_processes(soak: &Soak) {
    let mut random = SeededRandom::new(soak.plan.seed, 0);
    let half = Duration::from_secs_f64(soak.plan.minutes * 30.0);
    let mut daemon_at = Instant::now() + random.duration_around(soak.plan.kill_daemon_s);
    loop {
        let pause = random.duration_around(soak.plan.kill_app_s);
        if !soak.pause(pause) {
            return;
        }
        let all = soak.env.processes();
        let named = |name: &str| -> Vec<&Process> {
            all.iter().filter(|process| process.command.contains(name)).collect()
        };
        if soak.started.elapsed() < half && Instant::now() >= daemon_at {
            daemon_at = Instant::now() + random.duration_around(soak.plan.kill_daemon_s);
            let whole = if random.one_in(4) { "pipemuxd launcher" } else { "pipemuxd serve" };
            if let Some(process) = named(whole).first() {
                kill(process.pid, Signal::SIGKILL);
                soak.count(|counters| *counters.kills.entry(whole).or_default() += 1);
            }
            continue;
        }
        let apps: Vec<(&str, &Process)> = ["pipemux-editor", "pipemux-notebook", "rogue"]
            .into_iter()
            .flat_map(|name| named(name).into_iter().map(move |process| (name, process)))
            .collect();
        let Some((name, process)) = random.pick(&apps) else { continue };
        if random.one_in(8) {
            // An app that is stopped for a moment loses nothing and does nothing twice.
            kill(process.pid, Signal::SIGSTOP);
            let pause = random.duration_around(1.0);
            soak.pause(pause);
            kill(process.pid, Signal::SIGCONT);
            soak.count(|counters| counters.stopped += 1);
        } else {
            kill(process.pid, Signal::SIGKILL);
            soak.count(|counters| *counters.kills.entry(name).or_default() += 1);
        }
    }
}
