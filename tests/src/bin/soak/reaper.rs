//! Kills: apps all the time, the daemon and the launcher in the first half. Now and then an app is only
//! stopped for a moment.

use std::time::{Duration, Instant};

use pipemux_tests::{Process, Signal, kill};

use crate::Ground;
use crate::chance::Chance;

/// Kills until the soak is over.
pub fn reap(ground: &Ground) {
    let mut chance = Chance::new(ground.plan.seed, 0);
    let half = Duration::from_secs_f64(ground.plan.minutes * 30.0);
    let mut daemon_at = Instant::now() + chance.around(ground.plan.kill_daemon_s);
    loop {
        let pause = chance.around(ground.plan.kill_app_s);
        if !ground.pause(pause) {
            return;
        }
        let all = ground.world.processes();
        let named = |name: &str| -> Vec<&Process> {
            all.iter().filter(|process| process.command.contains(name)).collect()
        };
        if ground.started.elapsed() < half && Instant::now() >= daemon_at {
            daemon_at = Instant::now() + chance.around(ground.plan.kill_daemon_s);
            let whole = if chance.one_in(4) { "pipemuxd launcher" } else { "pipemuxd serve" };
            if let Some(process) = named(whole).first() {
                kill(process.pid, Signal::SIGKILL);
                ground.count(|tally| *tally.kills.entry(whole).or_default() += 1);
            }
            continue;
        }
        let apps: Vec<(&str, &Process)> = ["pipemux-editor", "pipemux-notebook", "rogue"]
            .into_iter()
            .flat_map(|name| named(name).into_iter().map(move |process| (name, process)))
            .collect();
        let Some((name, process)) = chance.pick(&apps) else { continue };
        if chance.one_in(8) {
            // Stopped for a moment: nothing may be lost by that, nor anything be done twice.
            kill(process.pid, Signal::SIGSTOP);
            let pause = chance.around(1.0);
            ground.pause(pause);
            kill(process.pid, Signal::SIGCONT);
            ground.count(|tally| tally.stopped += 1);
        } else {
            kill(process.pid, Signal::SIGKILL);
            ground.count(|tally| *tally.kills.entry(name).or_default() += 1);
        }
    }
}
