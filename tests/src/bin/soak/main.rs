//! A soak: many sessions, several clients, random acts, random kills, and a model that knows what has to
//! be there afterwards.
//!
//! | module | holds |
//! |---|---|
//! | [`plan`] | what the command line asks for |
//! | [`chance`] | seeded choices |
//! | [`client`] | one client: acts, and hears what became of them |
//! | [`model`] | what one client has to find again |
//! | [`audit`] | looks whether it is there |
//! | [`reaper`] | kills apps, the launcher and the daemon |
//! | [`sampler`] | memory and descriptors over time |
//! | [`report`] | the figures |
//!
//! Clients share workspaces two by two and act on the same sessions. What each writes carries a mark of
//! its own that never occurs twice, so that one look at the end tells what was lost, doubled or done
//! although it was denied.

mod audit;
mod chance;
mod client;
mod model;
mod plan;
mod reaper;
mod report;
mod sampler;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use pipemux_tests::World;

use client::Client;
use plan::Plan;
use report::Tally;

/// What all threads share.
pub struct Ground {
    /// The world.
    pub world: World,
    /// What is asked for.
    pub plan: Plan,
    /// When it began.
    pub started: Instant,
    /// True when clients are to come to their end.
    pub over: AtomicBool,
    /// What was counted.
    pub tally: Mutex<Tally>,
}

impl Ground {
    /// Counts, whoever panicked before.
    pub fn count(&self, note: impl FnOnce(&mut Tally)) {
        note(&mut self.tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// Notes what must not be.
    pub fn complain(&self, what: String) {
        let seconds = self.started.elapsed().as_secs();
        self.count(|tally| tally.complaints.push(format!("at {seconds} s: {what}")));
    }

    /// Waits, but no longer than the soak lasts; false when it is over.
    pub fn pause(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.over.load(Ordering::Relaxed) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(Duration::from_millis(200)));
        }
        false
    }
}

fn main() -> ExitCode {
    let plan = Plan::parse();
    match soak(plan) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True when nothing is to be complained of.
fn soak(plan: Plan) -> std::io::Result<bool> {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["up"]).ok();
    let ground = Arc::new(Ground {
        world,
        plan,
        started: Instant::now(),
        over: AtomicBool::new(false),
        tally: Mutex::default(),
    });
    let sampler = {
        let ground = Arc::clone(&ground);
        thread::spawn(move || sampler::watch(&ground))
    };
    let clients: Vec<_> = (0..ground.plan.clients)
        .map(|number| {
            let mut client = Client::new(Arc::clone(&ground), number);
            thread::spawn(move || {
                client.work();
                client
            })
        })
        .collect();
    let reaper = {
        let ground = Arc::clone(&ground);
        thread::spawn(move || reaper::reap(&ground))
    };

    ground.pause(Duration::from_secs_f64(ground.plan.minutes * 60.0));
    ground.over.store(true, Ordering::Relaxed);
    if reaper.join().is_err() {
        ground.complain("the thread that kills panicked".into());
    }
    let ended: Vec<_> = clients.into_iter().map(thread::JoinHandle::join).collect();
    // Nobody is killed any more: now everything that was promised has to be there.
    for client in ended {
        match client {
            Ok(mut client) => client.audit_all(),
            Err(_) => ground.complain("a client panicked".into()),
        }
    }
    let samples = sampler.join().unwrap_or_default();
    report::write(&ground, &samples)
}
