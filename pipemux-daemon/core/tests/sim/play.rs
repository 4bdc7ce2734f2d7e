//! Playing a history, and making one that breaks a law short.

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::sync::atomic::{AtomicBool, Ordering};

use crate::action::{Action, Ask, How, Look};
use crate::history::{Kind, calm_part, history};
use crate::law::{Broken, Figures, Lawful, law};
use crate::sim::Sim;

/// Set while what happens is to be told.
pub static TELLS: AtomicBool = AtomicBool::new(false);

/// Tells what happens, when that is wanted.
#[allow(clippy::print_stdout)]
pub fn tell(what: impl FnOnce() -> String) {
    if TELLS.load(Ordering::Relaxed) {
        println!("  {}", what().replace('\n', "\n    "));
    }
}

/// Plays a history to its end.
pub fn play(kind: Kind, actions: &[Action], twin: bool) -> Lawful<Sim> {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let mut sim = Sim::new(kind, twin);
        for action in actions {
            tell(|| format!("{action:?}"));
            sim.step(action)?;
        }
        sim.end()?;
        sim.look_back()?;
        Ok(sim)
    }));
    played.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
        Err(Broken { law: "no panic", how: said.unwrap_or_default() })
    })
}

/// Plays a history, and what of it is calm once more by itself: nobody there may notice the difference.
pub fn judge(kind: Kind, actions: &[Action], twin: bool) -> Lawful<Figures> {
    let sim = play(kind, actions, twin)?;
    if kind.calm {
        let alone = play(kind, &calm_part(actions), false)?;
        let differs = sim.calm.iter().zip(&alone.calm).find(|(one, other)| one != other);
        law!(
            differs.is_none() && sim.calm.len() == alone.calm.len(),
            "one app's fault is nobody else's",
            "{} and {} answers; {differs:#?}",
            sim.calm.len(),
            alone.calm.len()
        );
    }
    Ok(sim.figures)
}

/// Plays the history of a seed.
pub fn seed(seed: u64) -> Lawful<Figures> {
    let (kind, actions) = history(seed);
    judge(kind, &actions, seed.is_multiple_of(3))
}

/// The shortest part of a seed's history that still breaks the same law.
pub fn shrink(seed: u64) -> (Vec<Action>, Broken) {
    let (kind, mut actions) = history(seed);
    let twin = seed.is_multiple_of(3);
    let mut broken = match judge(kind, &actions, twin) {
        Err(broken) => broken,
        Ok(_) => return (actions, Broken { law: "none", how: "it holds now".into() }),
    };
    let law = broken.law;
    let mut left = 1_200;
    let mut fails = |actions: &[Action]| {
        if left == 0 {
            return None;
        }
        left -= 1;
        judge(kind, actions, twin).err().filter(|broken| broken.law == law)
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

/// The same with less to it.
fn simpler(action: &Action) -> Vec<Action> {
    match action {
        Action::Pass(ms) if *ms > 1 => vec![Action::Pass(ms / 2), Action::Pass(1)],
        Action::Ask(who, ask, how) => {
            let plain = How { json: false, deadline: 0, kept: false, ..*how };
            let mut all = vec![Action::Ask(*who, ask.clone(), plain)];
            match ask {
                Ask::Run { steps, at, .. } if steps.len() > 1 => {
                    for index in 0..steps.len() {
                        let mut fewer = steps.clone();
                        fewer.remove(index);
                        let run = Ask::Run { steps: fewer, at: *at, look: Look::default() };
                        all.push(Action::Ask(*who, run, plain));
                    }
                }
                Ask::View { addr, .. } => {
                    let view =
                        Ask::View { addr: *addr, since: None, look: Look::default(), wait: 0 };
                    all.push(Action::Ask(*who, view, plain));
                }
                Ask::Open { addr, .. } => {
                    let open = Ask::Open { addr, file: false, look: Look::default() };
                    all.push(Action::Ask(*who, open, plain));
                }
                _ => {}
            }
            all
        }
        _ => Vec::new(),
    }
}
