//! Attacks by misbehaving apps and clients, one for each scenario. Well-behaved siblings are asked
//! all the while, and their answers, the daemon's memory and what is left at the end are checked.
//!
//! | module | holds |
//! |---|---|
//! | [`scenarios`] | the table of attacks |
//! | [`apps`] | attacks by an app |
//! | [`clients`] | attacks by clients |
//! | [`siblings`] | the well-behaved sessions, whose answers and times are compared |
//! | [`report`] | the measurements of a scenario, and whether it passes |
//!
//! Each scenario has an environment of its own. Its siblings are an editor, a notebook, the monitor
//! and a `rogue` that behaves. They are asked before the attack, during it and after it. The
//! attackers act in another workspace, because readers of their own workspace are rightly told when
//! a session ends.
//!
//! `cargo run -p pipemux-tests --bin chaos` prints the table; the stories run each attack for a
//! moment.

pub mod apps;
pub mod clients;
pub mod report;
pub mod scenarios;
pub mod siblings;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::proc_stats::{open_descriptors, peak_kib, reset_peak, resident_kib};
use crate::processes::Process;
use crate::waiting::poll_until;
use crate::{TestClient, TestEnv};

pub use report::ScenarioReport;
pub use scenarios::{SCENARIOS, Scenario};

use report::{AnswerTally, stray_files};
use siblings::Siblings;

/// Memory that the daemon may keep after an attack, in KiB: the attackers' history and the answers
/// that may be requested again, which it keeps for every client, and pages that the allocator
/// doesn't give back.
pub const RETAINED_MEMORY_MAX: u64 = 16 * 1024;
/// How much longer the 99th percentile of the siblings' times may become during an attack. A longer
/// one is reported and never fails a scenario.
pub const P99_RATIO_MAX: f64 = 10.0;
/// The workspace of the attackers.
pub const ATTACKER_WORKSPACE: &str = "attic";

/// How long the daemon may take to release what an ended attacker held.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(8);
/// Rounds of the siblings before the first measurement.
const WARM_UP: usize = 2;

/// The environment of one attack.
#[derive(Debug)]
pub struct AttackContext<'e> {
    /// The environment with the daemon that is attacked.
    pub env: &'e TestEnv,
    /// The misbehaving app.
    pub provider: String,
    /// When the attack is over.
    pub until: Instant,
}

impl AttackContext<'_> {
    /// Returns true while the attack goes on.
    pub fn is_running(&self) -> bool {
        Instant::now() < self.until
    }

    /// Returns a client in the attackers' workspace.
    pub fn client(&self) -> TestClient {
        TestClient::new(self.env, Some(ATTACKER_WORKSPACE), "attacker")
    }
}

/// Runs scenarios one after the other in one environment. Each attack lasts `span` or longer; the
/// baseline is measured for half of it.
///
/// # Panics
/// The environment can't be created, or the siblings don't answer even before the attack.
pub fn run(scenarios: &[&Scenario], span: Duration) -> ScenarioReport {
    let env = TestEnv::new();
    env.install_rogue("honest", "tame");
    for (number, scenario) in scenarios.iter().enumerate() {
        scenario.install(&env, &provider(number));
    }
    env.pipemux(&["up"]).ok();
    let mut siblings = Siblings::open(&env);
    (0..WARM_UP).for_each(|_| siblings.warm_up());
    let baseline = siblings.ask_until(|measured| measured >= span / 2);

    let daemon = env.daemon_pid();
    let apps_before = apps(&env);
    let mut report = ScenarioReport {
        name: scenarios.first().map_or("", |scenario| scenario.name),
        baseline,
        memory_before: resident_kib(daemon).unwrap_or_default(),
        descriptors_before: open_descriptors(daemon).unwrap_or_default(),
        ..ScenarioReport::default()
    };
    reset_peak(daemon);

    let over = AtomicBool::new(false);
    let tally: AnswerTally = thread::scope(|threads| {
        let attack = threads.spawn(|| {
            let mut tally = AnswerTally::default();
            for (number, scenario) in scenarios.iter().enumerate() {
                let (provider, until) = (provider(number), Instant::now() + span);
                tally.join(scenario.attack(&AttackContext { env: &env, provider, until }));
            }
            over.store(true, Ordering::Relaxed);
            tally
        });
        report.during =
            siblings.ask_until(|_| over.load(Ordering::Relaxed) || attack.is_finished());
        attack.join().unwrap_or_else(|_| AnswerTally::of("the attacking thread panicked"))
    });
    report.attack_failed = !over.into_inner();
    report.answers = tally.to_string();
    report.memory_peak = peak_kib(daemon).unwrap_or_default();

    // The attack is over: the daemon releases what it held.
    poll_until(RELEASE_TIMEOUT, || {
        report.memory_after = resident_kib(daemon).unwrap_or_default();
        report.descriptors_after = open_descriptors(daemon).unwrap_or_default();
        report.survivors = new_apps(&apps_before, apps(&env));
        let settled = report.memory_after <= report.memory_before + RETAINED_MEMORY_MAX
            && report.descriptors_after <= report.descriptors_before
            && report.survivors.is_empty();
        settled.then_some(())
    });
    report.after = siblings.ask_until(|_| true);
    drop(siblings);
    report.same_daemon = env.daemon_pid() == daemon;

    env.pipemux(&["down"]).ok();
    report.leftovers = env.leftovers().into_iter().chain(stray_files(&env)).collect();
    report
}

fn provider(number: usize) -> String {
    format!("rogue{number}")
}

/// Lists the processes of apps.
fn apps(env: &TestEnv) -> Vec<Process> {
    let mut all = env.processes();
    all.retain(|process| !process.command.contains("pipemuxd"));
    all
}

/// Counts the processes that are new, by their commands.
fn new_apps(before: &[Process], after: Vec<Process>) -> Vec<String> {
    let new = after.into_iter().filter(|one| before.iter().all(|known| known.pid != one.pid));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for process in new {
        let name = process.command.rsplit('/').next().unwrap_or_default().to_owned();
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().map(|(name, count)| format!("{name} ×{count}")).collect()
}
