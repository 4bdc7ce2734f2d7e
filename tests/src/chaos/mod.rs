//! The attack table: one misbehaving app or client a row, siblings that are asked all the while, and what
//! is left of it.
//!
//! | module | holds |
//! |---|---|
//! | [`rows`] | the rows |
//! | [`apps`] | attacks by an app |
//! | [`clients`] | attacks by clients |
//! | [`siblings`] | the calls whose answers and times are compared |
//! | [`finding`] | what a row showed, and whether it passes |
//!
//! Each row has a world of its own. Its siblings (an editor, a notebook, the monitor and an app that could
//! misbehave but doesn't) are asked first in quiet, then during the attack, then after it. The attackers
//! act in another workspace: in their own, others would rightly be told of their ends.
//!
//! `cargo run -p pipemux-tests --bin chaos` prints the table; the tests run the same rows for a moment.

pub mod apps;
pub mod clients;
pub mod finding;
pub mod rows;
pub mod siblings;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::gauges::{descriptors, forget_peak, peak, resident};
use crate::processes::Process;
use crate::waiting::look_for;
use crate::{Desk, World};

pub use finding::Finding;
pub use rows::{ROWS, Row};

use finding::{Told, stray_files};
use siblings::Siblings;

/// Memory that the daemon may keep of an attack once it is over, in KiB: what it remembers of the attackers'
/// acts, as of anybody's (history, answers that may be asked for again), and what an allocator doesn't
/// give back to the system.
pub const KEPT_MAX: u64 = 16 * 1024;
/// Times that the slowest hundredth of the siblings' answers may take of what it takes in quiet; told,
/// never demanded.
pub const RATIO_MAX: f64 = 10.0;
/// The workspace of the attackers.
pub const ATTIC: &str = "attic";

/// How long what an attacker held may take to be let go.
const AFTERMATH: Duration = Duration::from_secs(8);
/// Rounds of the siblings before anything is measured.
const WARM_UP: usize = 2;

/// What an attack has to work with.
#[derive(Debug)]
pub struct Scene<'w> {
    /// Where it takes place.
    pub world: &'w World,
    /// The misbehaving app.
    pub provider: String,
    /// When to stop.
    pub until: Instant,
}

impl Scene<'_> {
    /// True while the attack goes on.
    pub fn goes_on(&self) -> bool {
        Instant::now() < self.until
    }

    /// A connection of the attackers' workspace.
    pub fn desk(&self) -> Desk {
        Desk::new(self.world, Some(ATTIC), "attacker")
    }
}

/// Runs rows one after the other in one world: `span` is how long each attack lasts at least; the quiet
/// run takes half of it.
///
/// # Panics
/// The world can't be made, or the siblings don't answer even in quiet.
pub fn run(rows: &[&Row], span: Duration) -> Finding {
    let world = World::new();
    world.install_rogue("honest", "tame");
    for (number, row) in rows.iter().enumerate() {
        row.install(&world, &provider(number));
    }
    world.pipemux(&["up"]).ok();
    let mut siblings = Siblings::open(&world);
    (0..WARM_UP).for_each(|_| siblings.warm_up());
    let quiet = siblings.ask_until(|asked| asked >= span / 2);

    let daemon = world.daemon();
    let apps_before = apps(&world);
    let mut finding = Finding {
        name: rows.first().map_or("", |row| row.name),
        quiet,
        memory_before: resident(daemon).unwrap_or_default(),
        descriptors_before: descriptors(daemon).unwrap_or_default(),
        ..Finding::default()
    };
    forget_peak(daemon);

    let over = AtomicBool::new(false);
    let told: Told = thread::scope(|threads| {
        let attack = threads.spawn(|| {
            let mut told = Told::default();
            for (number, row) in rows.iter().enumerate() {
                let (provider, until) = (provider(number), Instant::now() + span);
                told.join(row.attack(&Scene { world: &world, provider, until }));
            }
            over.store(true, Ordering::Relaxed);
            told
        });
        finding.attacked =
            siblings.ask_until(|_| over.load(Ordering::Relaxed) || attack.is_finished());
        attack.join().unwrap_or_else(|_| Told::of("the attack itself failed"))
    });
    finding.attack_failed = over.into_inner().then_some(()).is_none();
    finding.told = told.to_string();
    finding.memory_peak = peak(daemon).unwrap_or_default();

    // The attacker is gone: what it held is let go.
    look_for(AFTERMATH, || {
        finding.memory_after = resident(daemon).unwrap_or_default();
        finding.descriptors_after = descriptors(daemon).unwrap_or_default();
        finding.survivors = new_apps(&apps_before, apps(&world));
        let settled = finding.memory_after <= finding.memory_before + KEPT_MAX
            && finding.descriptors_after <= finding.descriptors_before
            && finding.survivors.is_empty();
        settled.then_some(())
    });
    finding.afterwards = siblings.ask_until(|_| true);
    drop(siblings);
    finding.same_daemon = world.daemon() == daemon;

    world.pipemux(&["down"]).ok();
    finding.left = world.left().into_iter().chain(stray_files(&world)).collect();
    finding
}

fn provider(number: usize) -> String {
    format!("rogue{number}")
}

/// The processes that apps have.
fn apps(world: &World) -> Vec<Process> {
    let mut all = world.processes();
    all.retain(|process| !process.command.contains("pipemuxd"));
    all
}

/// The processes that weren't there, by what they are.
fn new_apps(before: &[Process], after: Vec<Process>) -> Vec<String> {
    let new = after.into_iter().filter(|one| before.iter().all(|known| known.pid != one.pid));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for process in new {
        let name = process.command.rsplit('/').next().unwrap_or_default().to_owned();
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().map(|(name, count)| format!("{name} ×{count}")).collect()
}
