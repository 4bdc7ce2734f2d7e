//! The core under simulation. A seed makes a scenario of clients, apps and faults on a virtual
//! clock. After every step, laws are checked against models of what clients and apps saw, never
//! against the core's own state.
//!
//! - `cargo test -p pipemux-core --test sim` plays 300 seeds.
//! - `PIPEMUX_SEEDS=5000 cargo test --release -p pipemux-core --test sim
//!   -- --nocapture` plays more; `PIPEMUX_FIRST=100000` sets the first seed.
//! - `PIPEMUX_SEED=123 cargo test -p pipemux-core --test sim` plays one seed; several are separated
//!   by commas, and none of these is shortened.
//!
//! A scenario that breaks a law is shortened first: actions are left out as long as the same law is
//! broken. Then the law, the remaining actions and the command that plays the seed are printed.
//! With `PIPEMUX_TELL=1`, all frames and answers of the shortened scenario are printed too.
//!
//! | module | contents |
//! |---|---|
//! | `action`, `scenario`, `draws`, `followups` | what may happen, and how a seed chooses it |
//! | `play`, `sim` | playing a scenario, and shortening one that fails |
//! | `sessions`, `store` | the sessions of a scenario, and what their apps keep |
//! | `daemon`, `effects`, `app_frames` | the core and its disk; its effects are checked and carried out |
//! | `process`, `apps`, `app_faults` | processes, and how they fail |
//! | `requests`, `clients`, `retries`, `misbehaving_clients` | clients, and how they fail |
//! | `run_code`, `answer_content`, `kept_answers` | writing runs and reading answers as an agent does |
//! | `knowledge`, `reading`, `runs`, `questions`, `kept_runs`, `corrections`, `outcomes`, `rounds`, `undos`, `lifecycle`, `windows`, `claims`, `pins`, `jobs` | models and laws |
//! | `law`, `coverage` | broken laws, and which situations must have occurred |

mod action;
mod answer_content;
mod app_faults;
mod app_frames;
mod apps;
mod bounds;
mod claims;
mod clients;
mod corrections;
mod coverage;
mod daemon;
mod draws;
mod effects;
mod followups;
mod jobs;
mod kept_answers;
mod kept_runs;
mod knowledge;
mod law;
mod lifecycle;
mod misbehaving_clients;
mod outcomes;
mod pins;
mod play;
mod process;
mod questions;
mod reading;
mod requests;
mod retries;
mod rounds;
mod run_code;
mod runs;
mod scenario;
mod sessions;
mod sim;
mod store;
mod undos;
mod windows;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use law::Statistics;

/// The number of seeds of an ordinary run.
const SEEDS: u64 = 300;

#[test]
fn laws_hold_for_every_seed() {
    // A panic of the core is a broken law, which is reported with its scenario.
    std::panic::set_hook(Box::new(|_| {}));
    let asked = std::env::var("PIPEMUX_SEED").ok();
    let seeds: Vec<u64> = match &asked {
        Some(asked) => asked.split(',').map(|seed| seed.parse().expect("a seed")).collect(),
        None => {
            let first = number("PIPEMUX_FIRST").unwrap_or(0);
            (first..first + number("PIPEMUX_SEEDS").unwrap_or(SEEDS)).collect()
        }
    };
    let count = seeds.len() as u64;
    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let statistics = Mutex::new(Statistics::default());
    let broken = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                    match play::seed(seed) {
                        Ok(of) => statistics.lock().expect("statistics").add(&of),
                        Err(of) => broken.lock().expect("broken").push((seed, of.law)),
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().expect("broken");
    let statistics = statistics.into_inner().expect("statistics");
    println!("{count} seeds in {:.1} s", began.elapsed().as_secs_f64());
    for (what, times) in &statistics.0 {
        println!("  {times:>9} {what}");
    }
    if !broken.is_empty() {
        fail(&broken, seeds.len() == 1 || asked.is_none());
    }
    // A situation that never occurs proves nothing. Of seeds that nobody chose, some lack one that
    // is rare.
    if asked.is_none() && number("PIPEMUX_FIRST").is_none() && count >= SEEDS {
        let missing: Vec<_> =
            coverage::REQUIRED.iter().filter(|what| statistics.get(what) < 3).collect();
        drop(std::panic::take_hook());
        assert!(missing.is_empty(), "these hardly happened: {missing:?}");
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Prints the seeds that break laws, and for each law a shortened scenario if that is wanted, and
/// fails.
#[allow(clippy::print_stdout)]
fn fail(broken: &[(u64, &'static str)], shortens: bool) -> ! {
    let mut told = String::new();
    let mut laws: Vec<&str> = Vec::new();
    for (seed, law) in broken {
        let is_known = laws.contains(law);
        if is_known || !shortens {
            let too = if is_known { " too" } else { "" };
            told += &format!("seed {seed} breaks it{too}: {law}\n");
            if !is_known {
                laws.push(law);
            }
            continue;
        }
        laws.push(law);
        let (actions, broken) = play::shrink(*seed);
        told += &format!("seed {seed} breaks a law: {law}\n{}\n", broken.details);
        told += &format!("{} steps are enough:\n", actions.len());
        for action in &actions {
            told += &format!("  {action:?}\n");
        }
        if std::env::var_os("PIPEMUX_TELL").is_some() {
            play::TRACING.store(true, Ordering::Relaxed);
            let (kind, _) = scenario::scenario(*seed);
            let _ = play::play(kind, &actions, false);
            play::TRACING.store(false, Ordering::Relaxed);
        }
        told += &format!("PIPEMUX_SEED={seed} cargo test -p pipemux-core --test sim\n\n");
    }
    println!("{told}");
    panic!("{} seeds break {} laws", broken.len(), laws.len());
}
