//! A soak test: many sessions, several clients, random edits, random kills, and a model that knows
//! which edits must be there afterwards.
//!
//! | module | holds |
//! |---|---|
//! | [`plan`] | the arguments, and the sessions that follow from them |
//! | [`client`] | one client: edits, and records the outcomes |
//! | [`model`] | which edits of a client must be there |
//! | [`audit`] | checks that they are there |
//! | [`killer`] | kills apps, the launcher and the daemon |
//! | [`sampler`] | memory and descriptors over time |
//! | [`report`] | the report |
//!
//! Two clients share a workspace and act on the same sessions. Every edit contains a marker that
//! occurs only once, so that a view at the end shows what was lost, done twice, or done although it
//! was refused.

mod audit;

mod client;
mod killer;
mod model;
mod plan;
mod report;
mod sampler;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use pipemux_tests::TestEnv;

use client::Client;
use plan::Plan;
use report::Counters;

/// The state that all threads share.
pub struct Soak {
    /// The environment with the daemon.
    pub env: TestEnv,
    /// The arguments.
    pub plan: Plan,
    /// When the test began.
    pub started: Instant,
    /// True when the clients must stop.
    pub over: AtomicBool,
    /// The counters.
    pub counters: Mutex<Counters>,
}

impl Soak {
    /// Changes the counters, even after another thread has panicked.
    pub fn count(&self, note: impl FnOnce(&mut Counters)) {
        note(&mut self.counters.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// Records a failed check.
    pub fn report_failure(&self, what: String) {
        let seconds = self.started.elapsed().as_secs();
        self.count(|counters| counters.failures.push(format!("at {seconds} s: {what}")));
    }

    /// Waits for that long; returns false when the test is over before.
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

/// Returns true when no check failed.
fn soak(plan: Plan) -> std::io::Result<bool> {
    let env = TestEnv::new();
    env.install_rogue("rogue", "tame");
    env.pipemux(&["up"]).ok();
    let soak = Arc::new(Soak {
        env,
        plan,
        started: Instant::now(),
        over: AtomicBool::new(false),
        counters: Mutex::default(),
    });
    let sampler = {
        let soak = Arc::clone(&soak);
        thread::spawn(move || sampler::watch(&soak))
    };
    let clients: Vec<_> = (0..soak.plan.clients)
        .map(|number| {
            let mut client = Client::new(Arc::clone(&soak), number);
            thread::spawn(move || {
                client.work();
                client
            })
        })
        .collect();
    let killer = {
        let soak = Arc::clone(&soak);
        thread::spawn(move || killer::kill_processes(&soak))
    };

    soak.pause(Duration::from_secs_f64(soak.plan.minutes * 60.0));
    soak.over.store(true, Ordering::Relaxed);
    if killer.join().is_err() {
        soak.report_failure("the thread that kills panicked".into());
    }
    let ended: Vec<_> = clients.into_iter().map(thread::JoinHandle::join).collect();
    // Nothing is killed any more, so every edit that was answered as done must be there now.
    for client in ended {
        match client {
            Ok(mut client) => client.audit_all(),
            Err(_) => soak.report_failure("a client panicked".into()),
        }
    }
    let samples = sampler.join().unwrap_or_default();
    report::write(&soak, &samples)
}
