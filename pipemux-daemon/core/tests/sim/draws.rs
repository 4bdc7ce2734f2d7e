//! The parts of actions, drawn at random.

use crate::action::{
    AddressForm, Confirmation, Pick, Ref, RequestOptions, Step, StepAction, ViewOptions,
};
use crate::sessions::{OWN, SHARED, SessionKey};
use fastrand::Rng;
use pipemux_proto::projection::Lod;

pub fn plain() -> RequestOptions {
    RequestOptions { json: false, deadline: 0, confirm: Confirmation::Now, kept: false }
}

/// Draws one of several by weight.
pub fn weighted<T: Copy>(rng: &mut Rng, of: &[(u32, T)]) -> T {
    let mut left = rng.u32(..of.iter().map(|(weight, _)| *weight).sum::<u32>());
    for (weight, one) in of {
        if left < *weight {
            return *one;
        }
        left -= weight;
    }
    of[0].1
}

pub fn pick(rng: &mut Rng) -> Pick {
    rng.u16(..)
}

pub fn addr(rng: &mut Rng) -> &'static str {
    weighted(rng, &[(5, OWN[0]), (2, OWN[1]), (3, OWN[2]), (2, SHARED)])
}

pub fn session_key(rng: &mut Rng) -> usize {
    let workspace = usize::from(rng.u8(..3) == 0);
    SessionKey::of(workspace, addr(rng)).map_or(0, |session_key| session_key.0)
}

pub fn view_options(rng: &mut Rng) -> ViewOptions {
    let lod = weighted(
        rng,
        &[(6, None), (1, Some(Lod::Gist)), (1, Some(Lod::Summary)), (1, Some(Lod::Full))],
    );
    let budget = weighted(rng, &[(8, None), (1, Some(50)), (1, Some(150)), (1, Some(600))]);
    ViewOptions { lod, budget }
}

pub fn options(rng: &mut Rng) -> RequestOptions {
    RequestOptions {
        json: rng.u8(..5) < 2,
        deadline: weighted(rng, &[(12, 0), (1, 150), (2, 3_000)]),
        confirm: weighted(
            rng,
            &[(12, Confirmation::Now), (2, Confirmation::Late), (1, Confirmation::Never)],
        ),
        kept: rng.u8(..4) == 0,
    }
}

pub fn reference(rng: &mut Rng) -> Ref {
    let pick = pick(rng);
    let number = rng.u8(..80);
    weighted(
        rng,
        &[
            (20, Ref::Shown(pick)),
            (4, Ref::Pinned(pick)),
            (2, Ref::Anyones(pick)),
            (2, Ref::Key(pick)),
            (1, Ref::Number(number)),
        ],
    )
}

pub fn act(rng: &mut Rng) -> StepAction {
    let of = reference(rng);
    match rng.u8(..40) {
        0..2 => StepAction::Say,
        2..4 => StepAction::Same,
        4..6 => StepAction::Add,
        6..15 => StepAction::Edit(of),
        15..17 => StepAction::Select(of),
        17..21 => StepAction::Drop(of),
        21..24 => StepAction::Text(of),
        24..27 => StepAction::SayOf(of),
        27..29 => StepAction::SayText(addr(rng), of),
        29..31 => StepAction::EditSelection,
        31 => StepAction::EditNothing,
        32..34 => StepAction::Line(rng.u8(1..9)),
        34..36 => StepAction::Pick,
        36 => StepAction::List,
        37 => StepAction::Name,
        38 => StepAction::Fail,
        _ => StepAction::Nonsense,
    }
}

pub fn steps(rng: &mut Rng) -> Vec<Step> {
    let addr = addr(rng);
    let count = weighted(rng, &[(6, 1), (3, 2), (2, 3), (1, 5)]);
    let step = |rng: &mut Rng| Step {
        addr: if rng.u8(..5) == 0 { self::addr(rng) } else { addr },
        form: weighted(
            rng,
            &[(10, AddressForm::Full), (2, AddressForm::Provider), (1, AddressForm::None)],
        ),
        act: act(rng),
    };
    (0..count).map(|_| step(rng)).collect()
}
