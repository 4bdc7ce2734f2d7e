//! What comes readily after something, beside a history's own course: its draws are from elsewhere, so that
//! the rest of the history is as it would be.

use fastrand::Rng;

use crate::action::{Action, Ask, How, Look, Manner, Rogue};
use crate::history::{place, plain};
use crate::places::{CALM_READER, OWN};

/// What follows.
pub fn sequel(rng: &mut Rng, of: &Action) -> Vec<Action> {
    match of {
        Action::Ask(who, Ask::Run { steps, .. }, _) if *who != CALM_READER => {
            let addr = steps.first().map_or(OWN[0], |step| step.addr);
            after_run(rng, *who, addr)
        }
        _ if rng.u8(..60) > 0 => Vec::new(),
        _ => {
            let place = place(rng);
            vec![match rng.u8(..4) {
                0 => Action::Manner(place, Manner::Unordered),
                1 => Action::Manner(place, Manner::AtOnce),
                _ => Action::Rogue(place, Rogue::ClosedLife),
            }]
        }
    }
}

/// A run is sent again, once or twice; or its window is closed and opened anew while it is under way, by
/// another reader of the same workspace.
fn after_run(rng: &mut Rng, who: usize, addr: &'static str) -> Vec<Action> {
    let json = How { json: rng.bool(), ..plain() };
    match rng.u8(..24) {
        times @ 0..6 => {
            let waits = (times < 4).then(|| Action::Pass(rng.u64(1..30)));
            let go = Action::Ask(who, Ask::Answer("go"), json);
            let goes = std::iter::repeat_n(go, 1 + usize::from(times % 2));
            waits.into_iter().chain(goes).collect()
        }
        end @ 6..8 => {
            let other = [1, 0, 2][who];
            let open = Ask::Open { addr, file: false, look: Look::default() };
            vec![
                Action::Ask(other, Ask::Close(addr, end == 6), json),
                Action::Ask(other, open, json),
                Action::Pass(30),
                Action::Rogue(0, Rogue::ClosedLife),
            ]
        }
        _ => Vec::new(),
    }
}
