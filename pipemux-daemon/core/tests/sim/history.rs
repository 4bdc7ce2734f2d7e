//! Histories from seeds: what happens how often.

use fastrand::Rng;
use pipemux_proto::projection::Lod;

use crate::action::{
    Act, Action, Ask, Change, Confirming, How, Look, Manner, Owner, Pick, Ref, Rogue, Rudeness,
    Step,
};
use crate::places::{CALM, CALM_READER, OWN, PLACES, Place, SHARED};
use crate::sequel::sequel;

/// What a history is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// True when a calm workspace lives beside it and the daemon itself is left alone, so that what the
    /// calm one is told can be compared with what it is told without all the others.
    pub calm: bool,
    /// True when all sessions of a provider, of whatever workspace, live in one process.
    pub hosts: bool,
    /// How many things happen.
    pub length: usize,
}

/// The history of a seed.
pub fn history(seed: u64) -> (Kind, Vec<Action>) {
    let mut rng = Rng::with_seed(seed);
    let (calm, length) = (rng.u8(..4) == 0, rng.usize(60..220));
    let kind = Kind { calm, hosts: !calm && seed % 4 == 1, length };
    let mut all = Vec::new();
    for place in (0..PLACES).map(Place) {
        if !place.is_calm() || kind.calm {
            for _ in 0..rng.u8(0..4) {
                all.push(Action::Change(place.0, Change::Add(rng.u8(..40))));
            }
        }
    }
    for who in 0..CALM_READER {
        for addr in [OWN[0], addr(&mut rng)] {
            all.push(Action::Ask(
                who,
                Ask::Open { addr, file: false, look: Look::default() },
                plain(),
            ));
        }
    }
    all.push(Action::Pass(20));
    // Draws of its own, beside those of the history's own course.
    let mut aside = Rng::with_seed(!seed);
    while all.len() < kind.length {
        let calm = kind.calm && rng.u8(..4) == 0;
        let next = if calm { calm_action(&mut rng) } else { action(&mut rng, kind) };
        let crashes = matches!(next, Action::CrashDaemon(_));
        let follows = sequel(&mut aside, &next);
        all.push(next);
        all.extend(follows);
        if crashes && rng.bool() {
            let step = Step { addr: OWN[0], owner: Owner::Full, act: Act::Add };
            let run = Ask::Run { steps: vec![step], at: false, look: Look::default() };
            all.push(Action::Ask(rng.usize(..CALM_READER), run, plain()));
            all.push(Action::Pass(rng.u64(1..40)));
            all.push(Action::Again(pick(&mut rng) & !1));
        }
    }
    (kind, all)
}

/// What of a history happens in the calm workspace.
pub fn calm_part(history: &[Action]) -> Vec<Action> {
    let calm = |action: &&Action| match action {
        Action::Ask(who, ..) => *who == CALM_READER,
        Action::Change(place, _) => Place(*place).is_calm(),
        Action::Pass(_) => true,
        _ => false,
    };
    history.iter().filter(calm).cloned().collect()
}

pub fn plain() -> How {
    How { json: false, deadline: 0, confirm: Confirming::Now, kept: false }
}

/// Draws one of several by weight.
fn weighted<T: Copy>(rng: &mut Rng, of: &[(u32, T)]) -> T {
    let mut left = rng.u32(..of.iter().map(|(weight, _)| *weight).sum::<u32>());
    for (weight, one) in of {
        if left < *weight {
            return *one;
        }
        left -= weight;
    }
    of[0].1
}

fn pick(rng: &mut Rng) -> Pick {
    rng.u16(..)
}

fn addr(rng: &mut Rng) -> &'static str {
    weighted(rng, &[(5, OWN[0]), (2, OWN[1]), (3, OWN[2]), (2, SHARED)])
}

pub fn place(rng: &mut Rng) -> usize {
    let workspace = usize::from(rng.u8(..3) == 0);
    Place::of(workspace, addr(rng)).map_or(0, |place| place.0)
}

fn look(rng: &mut Rng) -> Look {
    let lod = weighted(
        rng,
        &[(6, None), (1, Some(Lod::Gist)), (1, Some(Lod::Summary)), (1, Some(Lod::Full))],
    );
    let budget = weighted(rng, &[(8, None), (1, Some(50)), (1, Some(150)), (1, Some(600))]);
    Look { lod, budget }
}

fn how(rng: &mut Rng) -> How {
    How {
        json: rng.u8(..5) < 2,
        deadline: weighted(rng, &[(12, 0), (1, 150), (2, 3_000)]),
        confirm: weighted(
            rng,
            &[(12, Confirming::Now), (2, Confirming::Late), (1, Confirming::Never)],
        ),
        kept: rng.u8(..4) == 0,
    }
}

fn reference(rng: &mut Rng) -> Ref {
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

fn act(rng: &mut Rng) -> Act {
    let of = reference(rng);
    match rng.u8(..40) {
        0..2 => Act::Say,
        2..4 => Act::Same,
        4..6 => Act::Add,
        6..15 => Act::Edit(of),
        15..17 => Act::Select(of),
        17..21 => Act::Drop(of),
        21..24 => Act::Text(of),
        24..27 => Act::SayOf(of),
        27..29 => Act::SayText(addr(rng), of),
        29..31 => Act::EditSelection,
        31 => Act::EditNothing,
        32..34 => Act::Line(rng.u8(1..9)),
        34..37 => Act::Pick,
        37 => Act::Name,
        38 => Act::Fail,
        _ => Act::Nonsense,
    }
}

fn steps(rng: &mut Rng) -> Vec<Step> {
    let addr = addr(rng);
    let count = weighted(rng, &[(6, 1), (3, 2), (2, 3), (1, 5)]);
    let step = |rng: &mut Rng| Step {
        addr: if rng.u8(..5) == 0 { self::addr(rng) } else { addr },
        owner: weighted(rng, &[(10, Owner::Full), (2, Owner::Provider), (1, Owner::None)]),
        act: act(rng),
    };
    (0..count).map(|_| step(rng)).collect()
}

const ANSWERS: [(u32, &str); 10] = [
    (4, "yes"),
    (4, "1"),
    (2, "all"),
    (2, "2"),
    (1, "1,2"),
    (1, "all but 1"),
    (1, "none"),
    (1, "no"),
    (4, "go"),
    (1, "?!"),
];

fn ask(rng: &mut Rng) -> Ask {
    let addr = addr(rng);
    match rng.u8(..100) {
        0..12 => Ask::Open { addr, file: rng.u8(..4) == 0, look: look(rng) },
        12..21 => Ask::View { addr: None, since: None, look: look(rng), wait: 0 },
        21 => {
            let addr = rng.bool().then_some(addr);
            Ask::View { addr, since: None, look: Look::default(), wait: rng.u32(1..3_000) }
        }
        22..32 => Ask::View { addr: Some(addr), since: None, look: look(rng), wait: 0 },
        32..36 => {
            let addr = (rng.bool()).then_some(addr);
            Ask::View { addr, since: Some(pick(rng)), look: Look::default(), wait: 0 }
        }
        36..66 => {
            let look = if rng.u8(..8) == 0 { look(rng) } else { Look::default() };
            Ask::Run { steps: steps(rng), at: rng.u8(..12) == 0, look }
        }
        66..74 => Ask::Click(pick(rng)),
        74..86 => Ask::Answer(weighted(rng, &ANSWERS)),
        86..90 => Ask::Read(reference(rng)),
        90 => Ask::Close(addr, rng.u8(..3) == 0),
        91 => Ask::End(addr),
        92 => Ask::Restart(addr),
        93 => match rng.u8(..4) {
            0 => Ask::Logs(addr, 0),
            1 => Ask::Logs(addr, 800),
            2 => Ask::Watch(rng.u32(..2_000)),
            _ => Ask::Limits,
        },
        94 => {
            let (option, value) = weighted(
                rng,
                &[
                    (1, ("epoch", "strict")),
                    (3, ("epoch", "meaning")),
                    (2, ("rebase", "on")),
                    (2, ("rebase", "off")),
                    (1, ("colour", "blue")),
                ],
            );
            Ask::Set(option, value)
        }
        95 if rng.bool() => Ask::Pin(addr, rng.u8(..3) > 0),
        95 => Ask::History(rng.bool()),
        96 => Ask::Sessions,
        97 => Ask::Status,
        98 => Ask::Help(if rng.bool() { "notes" } else { "nots" }),
        _ => Ask::Apps,
    }
}

fn change(rng: &mut Rng) -> Change {
    match rng.u8(..12) {
        0..4 => Change::Add(rng.u8(..60)),
        4..8 => Change::Edit(pick(rng)),
        8 => Change::Remove(pick(rng)),
        9 => Change::Hide(pick(rng), true),
        10 => Change::Hide(pick(rng), false),
        _ => Change::Select(pick(rng)),
    }
}

fn manner(rng: &mut Rng) -> Manner {
    let late = weighted(rng, &[(3, 20), (3, 700), (1, 1_500), (1, 12_000), (1, 40_000)]);
    let after = rng.bool();
    weighted(
        rng,
        &[
            (16, Manner::Normal),
            (4, Manner::Slow(late)),
            (2, Manner::Hangs),
            (1, Manner::Stopped),
            (1, Manner::Garbage),
            (2, Manner::Twice),
            (3, Manner::DiesOnInvoke(after)),
            (1, Manner::DiesOnProject),
            (1, Manner::NoHello),
            (1, Manner::WrongVersion),
            (1, Manner::DiesAtStart),
            (1, Manner::DiesOnOpen),
            (1, Manner::RefusesOpen),
            (1, Manner::Unstartable),
        ],
    )
}

fn rogue(rng: &mut Rng) -> Rogue {
    weighted(
        rng,
        &[
            (2, Rogue::NeverAsked),
            (2, Rogue::AnsweredBefore),
            (4, Rogue::AnotherLife),
            (1, Rogue::Garbage),
            (1, Rogue::BadReply),
            (1, Rogue::Hello),
            (1, Rogue::Asks),
            (2, Rogue::Events),
        ],
    )
}

fn rudeness(rng: &mut Rng) -> Rudeness {
    weighted(
        rng,
        &[
            (1, Rudeness::Garbage),
            (1, Rudeness::NoHello),
            (1, Rudeness::BadBody),
            (1, Rudeness::AppMethods),
            (1, Rudeness::Gone),
            (1, Rudeness::WrongVersion),
        ],
    )
}

fn action(rng: &mut Rng, kind: Kind) -> Action {
    let who = rng.usize(..CALM_READER);
    let place = place(rng);
    match rng.u16(..1000) {
        0..430 => Action::Ask(who, ask(rng), how(rng)),
        430..445 => Action::Again(pick(rng)),
        445..465 => Action::Confirm(pick(rng)),
        465..475 => Action::Cancel(pick(rng)),
        475..490 => Action::Vanish(pick(rng), weighted(rng, &[(2, 0), (1, 30), (1, 2_000)])),
        490..500 => Action::Rude(rudeness(rng)),
        500 => Action::FloodClient(who),
        501 if rng.bool() => Action::FloodApp(who, addr(rng)),
        501..650 => Action::Change(place, change(rng)),
        650..720 => Action::Manner(place, manner(rng)),
        720..735 => Action::Kill(place),
        735..740 => Action::HalfOpen(place),
        740..770 => Action::Rogue(place, rogue(rng)),
        770..778 => Action::Chatter(place, weighted(rng, &[(3, 2), (1, 300)]), rng.bool()),
        778..900 => Action::Pass(rng.u64(1..60)),
        900..945 => Action::Pass(rng.u64(60..3_000)),
        945..955 => {
            Action::Pass(weighted(rng, &[(3, 11_000), (2, 35_000), (2, 70_000), (1, 3_700_000)]))
        }
        _ if kind.calm => Action::Pass(rng.u64(1..20)),
        955..960 => Action::LauncherLost,
        960..978 => Action::CrashDaemon(rng.u8(..14)),
        978..984 => Action::DiskFull(true),
        984..990 => Action::DiskFull(false),
        990..994 => Action::Stop,
        994..995 => Action::Ask(who, Ask::Down, plain()),
        _ => Action::Compact,
    }
}

fn calm_action(rng: &mut Rng) -> Action {
    let addr = weighted(rng, &[(3, OWN[0]), (2, OWN[2])]);
    let own = |step: Step| Step { addr, owner: Owner::Full, ..step };
    let ask = match rng.u8(..20) {
        0..3 => Ask::Open { addr, file: false, look: look(rng) },
        3..7 => {
            Ask::View { addr: rng.bool().then_some(addr), since: None, look: look(rng), wait: 0 }
        }
        7..13 => Ask::Run {
            steps: steps(rng).into_iter().map(own).collect(),
            at: false,
            look: look(rng),
        },
        13..15 => Ask::Click(pick(rng)),
        15..17 => Ask::Answer(weighted(rng, &ANSWERS)),
        17 => Ask::Read(Ref::Shown(pick(rng))),
        _ => {
            let place = Place::of(CALM, addr).map_or(0, |place| place.0);
            return Action::Change(place, change(rng));
        }
    };
    let how = how(rng);
    // Late confirmations are picked among everybody's.
    let confirm = if how.confirm == Confirming::Late { Confirming::Never } else { how.confirm };
    Action::Ask(CALM_READER, ask, How { deadline: 0, confirm, ..how })
}
