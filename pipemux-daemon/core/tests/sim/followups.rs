//! Actions that often follow another action. They are drawn from a random generator of their own,
//! so that the rest of a scenario stays the same for its seed.

use fastrand::Rng;
use pipemux_core::limits;

use crate::action::{
    Action, AddressForm, Ask, Behaviour, RequestOptions, RogueMessage, Step, StepAction,
    ViewOptions,
};
use crate::draws::{plain, reference, session_key};
use crate::sessions::{CALM_READER, OWN};

/// Draws the actions that follow an action.
pub fn followups(rng: &mut Rng, of: &Action) -> Vec<Action> {
    match of {
        Action::Ask(who, Ask::Run { steps, .. }, _) if *who != CALM_READER => {
            let addr = steps.first().map_or(OWN[0], |step| step.addr);
            after_run(rng, *who, addr)
        }
        Action::Ask(who, Ask::Answer(text), _) if *who != CALM_READER && !text.is_empty() => {
            vec![Action::Ask(*who, Ask::Answer(""), RequestOptions { json: rng.bool(), ..plain() })]
        }
        // What was answered before is forgotten once somebody acts again.
        Action::Pass(ms) if *ms > limits::RECORDS_MS => {
            let step = Step { addr: OWN[0], form: AddressForm::Full, act: StepAction::Say };
            let view_options = ViewOptions::default();
            let run = Ask::Run { steps: vec![step], at: false, view_options };
            let again = |rng: &mut Rng| Action::Repeat(rng.u16(..) | 1);
            vec![
                Action::Ask(rng.usize(..CALM_READER), run, plain()),
                Action::Pass(200),
                again(rng),
                Action::Pass(200),
                again(rng),
            ]
        }
        _ if rng.u8(..60) > 0 => Vec::new(),
        _ => {
            let session_key = session_key(rng);
            vec![match rng.u8(..4) {
                0 => Action::Behaviour(session_key, Behaviour::Unordered),
                1 => Action::Behaviour(session_key, Behaviour::AtOnce),
                _ => Action::RogueMessage(session_key, RogueMessage::ClosedLife),
            }]
        }
    }
}

/// Draws the view that follows a view and waits for a change.
pub fn waits(rng: &mut Rng, of: &Action) -> Vec<Action> {
    let Action::Ask(who, Ask::View { addr, .. }, _) = of else { return Vec::new() };
    if *who == CALM_READER || rng.u8(..16) > 0 {
        return Vec::new();
    }
    let view_options = ViewOptions::default();
    let view = Ask::View { addr: *addr, since: None, view_options, wait: rng.u32(1..500) };
    vec![Action::Pass(30), Action::Ask(*who, view, plain()), Action::Pass(600)]
}

/// Draws the undos that follow an action: the newest round is taken back once or twice, or any one.
pub fn undos(rng: &mut Rng, of: &Action) -> Vec<Action> {
    let Action::Ask(who, Ask::Run { .. } | Ask::Click(_) | Ask::Correct(_), _) = of else {
        return Vec::new();
    };
    let times = match rng.u8(..16) {
        _ if *who == CALM_READER => 0,
        0..3 => 1,
        3 => 2,
        _ => 0,
    };
    let mut undo = || {
        let round = (rng.u8(..3) == 0).then(|| rng.u16(..));
        let options = RequestOptions { json: rng.bool(), ..plain() };
        Action::Ask(*who, Ask::Undo(round), options)
    };
    let undos: Vec<Action> = (0..times).map(|_| undo()).collect();
    let waits = (!undos.is_empty() && rng.u8(..4) > 0).then(|| Action::Pass(rng.u64(1..30)));
    waits.into_iter().chain(undos).collect()
}

/// Draws what follows a run: `go` once or twice, or another reader closes and reopens its window
/// meanwhile.
fn after_run(rng: &mut Rng, who: usize, addr: &'static str) -> Vec<Action> {
    let json = RequestOptions { json: rng.bool(), ..plain() };
    match rng.u8(..24) {
        times @ 0..6 => {
            let waits = (times < 4).then(|| Action::Pass(rng.u64(1..30)));
            let go = Action::Ask(who, Ask::Answer("go"), json);
            let goes = std::iter::repeat_n(go, 1 + usize::from(times % 2));
            waits.into_iter().chain(goes).collect()
        }
        end @ 6..8 => {
            let other = [1, 0, 2][who];
            let open = Ask::Open { addr, file: false, view_options: ViewOptions::default() };
            vec![
                Action::Ask(other, Ask::Close(addr, end == 6), json),
                Action::Ask(other, open, json),
                Action::Pass(30),
                Action::RogueMessage(0, RogueMessage::ClosedLife),
            ]
        }
        times @ 8..12 => {
            let mut drawn = || Action::Ask(who, Ask::Correct(corrected(rng, addr)), json);
            let mut all = vec![drawn(), drawn()];
            if times < 10 {
                all.insert(0, Action::Pass(30));
            }
            all
        }
        12 => vec![Action::Ask(who, Ask::Answer("none"), json)],
        _ => Vec::new(),
    }
}

/// Draws a call that takes the place of one that failed. Each has a mark.
fn corrected(rng: &mut Rng, addr: &'static str) -> Step {
    let act = match rng.u8(..10) {
        0..5 => StepAction::Say,
        5 => StepAction::Fail,
        6 => StepAction::Pick,
        7 => StepAction::Nonsense,
        _ => StepAction::Edit(reference(rng)),
    };
    Step { addr, form: AddressForm::Full, act }
}
