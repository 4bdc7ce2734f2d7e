//! Plays scenarios, and shortens those that break a law.

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::sync::atomic::{AtomicBool, Ordering};

use crate::action::{Action, Ask, RequestOptions, ViewOptions};
use crate::law::{BrokenLaw, LawResult, Statistics, law};
use crate::scenario::{ScenarioKind, calm_part, scenario};
use crate::sim::Sim;

/// Set while the events of a scenario are printed.
pub static TRACING: AtomicBool = AtomicBool::new(false);

/// Prints an event when tracing is on.
#[allow(clippy::print_stdout)]
pub fn trace(what: impl FnOnce() -> String) {
    if TRACING.load(Ordering::Relaxed) {
        println!("  {}", what().replace('\n', "\n    "));
    }
}

/// Plays a scenario to its end.
pub fn play(kind: ScenarioKind, actions: &[Action], twin: bool) -> LawResult<Sim> {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut sim = Sim::new(kind, twin);
        for action in actions {
            trace(|| format!("{action:?}"));
            sim.step(action)?;
        }
        sim.end()?;
        sim.request_history()?;
        Ok(sim)
    }));
    played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
        Err(BrokenLaw { law: "no panic", details: said.unwrap_or_default() })
    })
}

/// Plays a scenario, and its calm part again by itself: the answers in the calm workspace must be
/// the same.
pub fn check_scenario(kind: ScenarioKind, actions: &[Action], twin: bool) -> LawResult<Statistics> {
    let sim = play(kind, actions, twin)?;
    if kind.calm {
        let alone = play(kind, &calm_part(actions), false)?;
        let differs = sim.calm.iter().zip(&alone.calm).find(|(one, other)| one != other);
        law!(
            differs.is_none() && sim.calm.len() == alone.calm.len(),
            "faults stay in their workspace",
            "{} and {} answers; {differs:#?}",
            sim.calm.len(),
            alone.calm.len()
        );
    }
    Ok(sim.statistics)
}

/// Plays the scenario of a seed.
pub fn seed(seed: u64) -> LawResult<Statistics> {
    let (kind, actions) = scenario(seed);
    check_scenario(kind, &actions, seed.is_multiple_of(3))
}

/// Shortens the scenario of a seed as long as it still breaks the same law.
pub fn shrink(seed: u64) -> (Vec<Action>, BrokenLaw) {
    let (kind, mut actions) = scenario(seed);
    let twin = seed.is_multiple_of(3);
    let mut broken = match check_scenario(kind, &actions, twin) {
        Err(broken) => broken,
        Ok(_) => return (actions, BrokenLaw { law: "none", details: "it holds now".into() }),
    };
    let law = broken.law;
    let mut left = 1_200;
    let mut fails = |actions: &[Action]| {
        if left == 0 {
            return None;
        }
        left -= 1;
        check_scenario(kind, actions, twin).err().filter(|broken| broken.law == law)
    };
    let mut chunk = actions.len().div_ceil(2);
    loop {
        let mut at = 0;
        let mut removed = false;
        while at < actions.len() {
            let end = (at + chunk).min(actions.len());
            let fewer = [&actions[..at], &actions[end..]].concat();
            match fails(&fewer) {
                Some(found) => (actions, broken, removed) = (fewer, found, true),
                None => at = end,
            }
        }
        match (chunk, removed) {
            (1, false) => break,
            (1, true) => {}
            _ => chunk = chunk.div_ceil(2),
        }
    }
    for at in 0..actions.len() {
        for simpler in simpler(&actions[at]) {
            let mut others = actions.clone();
            others[at] = simpler;
            if let Some(found) = fails(&others) {
                (actions, broken) = (others, found);
            }
        }
    }
    (actions, broken)
}

/// Returns simpler variants of an action.
fn simpler(action: &Action) -> Vec<Action> {
    match action {
        Action::Pass(ms) if *ms > 1 => vec![Action::Pass(ms / 2), Action::Pass(1)],
        Action::Ask(who, ask, options) => {
            let plain = RequestOptions { json: false, deadline: 0, kept: false, ..*options };
            let mut all = vec![Action::Ask(*who, ask.clone(), plain)];
            match ask {
                Ask::Run { steps, at, .. } if steps.len() > 1 => {
                    for index in 0..steps.len() {
                        let mut fewer = steps.clone();
                        fewer.remove(index);
                        let run = Ask::Run {
                            steps: fewer,
                            at: *at,
                            view_options: ViewOptions::default(),
                        };
                        all.push(Action::Ask(*who, run, plain));
                    }
                }
                Ask::View { addr, .. } => {
                    let view = Ask::View {
                        addr: *addr,
                        since: None,
                        view_options: ViewOptions::default(),
                        wait: 0,
                    };
                    all.push(Action::Ask(*who, view, plain));
                }
                Ask::Open { addr, .. } => {
                    let open =
                        Ask::Open { addr, file: false, view_options: ViewOptions::default() };
                    all.push(Action::Ask(*who, open, plain));
                }
                _ => {}
            }
            all
        }
        _ => Vec::new(),
    }
}
