//! Makes scenarios from seeds: which actions happen, and how often.

use fastrand::Rng;

use crate::action::{
    Action, AddressForm, Ask, Behaviour, Change, Confirmation, ProtocolBreach, Ref, RequestOptions,
    RogueMessage, Step, StepAction, ViewOptions,
};
use crate::draws::*;
use crate::followups::{followups, undos, waits};
use crate::sessions::{CALM, CALM_READER, OWN, SESSIONS, SessionKey};

/// The kind of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScenarioKind {
    /// True when there is a calm workspace, in which nothing fails, and the daemon is never
    /// stopped. The answers in the calm workspace must be the same as without the others.
    pub calm: bool,
    /// True when all sessions of a provider share one process, whatever their workspace.
    pub hosts: bool,
    /// The number of actions.
    pub length: usize,
}

/// Makes the scenario of a seed.
pub fn scenario(seed: u64) -> (ScenarioKind, Vec<Action>) {
    let mut rng = Rng::with_seed(seed);
    let (calm, length) = (rng.u8(..4) == 0, rng.usize(60..220));
    let kind = ScenarioKind { calm, hosts: !calm && seed % 4 == 1, length };
    let mut all = Vec::new();
    for session_key in (0..SESSIONS).map(SessionKey) {
        if !session_key.is_calm() || kind.calm {
            for _ in 0..rng.u8(0..4) {
                all.push(Action::Change(session_key.0, Change::Add(rng.u8(..40))));
            }
        }
    }
    for who in 0..CALM_READER {
        for addr in [OWN[0], addr(&mut rng)] {
            all.push(Action::Ask(
                who,
                Ask::Open { addr, file: false, view_options: ViewOptions::default() },
                plain(),
            ));
        }
    }
    all.push(Action::Pass(20));
    // A generator of its own, so that follow-ups don't change the other actions of a seed.
    let mut followup_rng = Rng::with_seed(!seed);
    let mut wait_rng = Rng::with_seed(!seed.rotate_left(32));
    let mut undo_rng = Rng::with_seed(seed.rotate_left(32));
    while all.len() < kind.length {
        let calm = kind.calm && rng.u8(..4) == 0;
        let next = if calm { calm_action(&mut rng) } else { action(&mut rng, kind) };
        let crashes = matches!(next, Action::CrashDaemon(_));
        let follows = followups(&mut followup_rng, &next);
        let waits = waits(&mut wait_rng, &next);
        let undoes = undos(&mut undo_rng, &next);
        all.push(next);
        all.extend(follows);
        all.extend(undoes);
        all.extend(waits);
        if crashes && rng.bool() {
            let step = Step { addr: OWN[0], form: AddressForm::Full, act: StepAction::Add };
            let run =
                Ask::Run { steps: vec![step], at: false, view_options: ViewOptions::default() };
            all.push(Action::Ask(rng.usize(..CALM_READER), run, plain()));
            all.push(Action::Pass(rng.u64(1..40)));
            all.push(Action::Repeat(pick(&mut rng) & !1));
        }
    }
    (kind, all)
}

/// Returns the actions of a scenario that concern the calm workspace.
pub fn calm_part(history: &[Action]) -> Vec<Action> {
    let calm = |action: &&Action| match action {
        Action::Ask(who, ..) => *who == CALM_READER,
        Action::Change(session_key, _) => SessionKey(*session_key).is_calm(),
        Action::Pass(_) => true,
        _ => false,
    };
    history.iter().filter(calm).cloned().collect()
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
        0..12 => Ask::Open { addr, file: rng.u8(..4) == 0, view_options: view_options(rng) },
        12..21 => Ask::View { addr: None, since: None, view_options: view_options(rng), wait: 0 },
        21 => {
            let addr = rng.bool().then_some(addr);
            Ask::View {
                addr,
                since: None,
                view_options: ViewOptions::default(),
                wait: rng.u32(1..3_000),
            }
        }
        22..32 => {
            Ask::View { addr: Some(addr), since: None, view_options: view_options(rng), wait: 0 }
        }
        32..36 => {
            let addr = (rng.bool()).then_some(addr);
            Ask::View {
                addr,
                since: Some(pick(rng)),
                view_options: ViewOptions::default(),
                wait: 0,
            }
        }
        36..66 => {
            let view_options =
                if rng.u8(..8) == 0 { view_options(rng) } else { ViewOptions::default() };
            Ask::Run { steps: steps(rng), at: rng.u8(..12) == 0, view_options }
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

fn behaviour(rng: &mut Rng) -> Behaviour {
    let late = weighted(rng, &[(3, 20), (3, 700), (1, 1_500), (1, 12_000), (1, 40_000)]);
    let after = rng.bool();
    weighted(
        rng,
        &[
            (16, Behaviour::Normal),
            (4, Behaviour::Slow(late)),
            (2, Behaviour::Hangs),
            (1, Behaviour::Stopped),
            (1, Behaviour::Garbage),
            (2, Behaviour::Twice),
            (3, Behaviour::DiesOnInvoke(after)),
            (1, Behaviour::DiesOnProject),
            (1, Behaviour::NoHello),
            (1, Behaviour::WrongVersion),
            (1, Behaviour::DiesAtStart),
            (1, Behaviour::DiesOnOpen),
            (1, Behaviour::RefusesOpen),
            (1, Behaviour::Unstartable),
        ],
    )
}

fn rogue(rng: &mut Rng) -> RogueMessage {
    weighted(
        rng,
        &[
            (2, RogueMessage::NeverAsked),
            (2, RogueMessage::AnsweredBefore),
            (4, RogueMessage::AnotherLife),
            (1, RogueMessage::Garbage),
            (1, RogueMessage::BadReply),
            (1, RogueMessage::Hello),
            (1, RogueMessage::Asks),
            (2, RogueMessage::Events),
        ],
    )
}

fn breach(rng: &mut Rng) -> ProtocolBreach {
    weighted(
        rng,
        &[
            (1, ProtocolBreach::Garbage),
            (1, ProtocolBreach::NoHello),
            (1, ProtocolBreach::BadBody),
            (1, ProtocolBreach::AppMethods),
            (1, ProtocolBreach::Gone),
            (1, ProtocolBreach::WrongVersion),
            (1, ProtocolBreach::BelowApp),
        ],
    )
}

fn action(rng: &mut Rng, kind: ScenarioKind) -> Action {
    let who = rng.usize(..CALM_READER);
    let session_key = session_key(rng);
    match rng.u16(..1000) {
        0..430 => Action::Ask(who, ask(rng), options(rng)),
        430..445 => Action::Repeat(pick(rng)),
        445..465 => Action::Confirm(pick(rng)),
        465..475 => Action::Cancel(pick(rng)),
        475..490 => Action::Vanish(pick(rng), weighted(rng, &[(2, 0), (1, 30), (1, 2_000)])),
        490..500 => Action::BreakProtocol(breach(rng)),
        500 => Action::FloodClient(who),
        501 if rng.bool() => Action::FloodApp(who, addr(rng)),
        501..650 => Action::Change(session_key, change(rng)),
        650..720 => Action::Behaviour(session_key, behaviour(rng)),
        720..735 => Action::Kill(session_key),
        735..740 => Action::HalfOpen(session_key),
        740..770 => Action::RogueMessage(session_key, rogue(rng)),
        770..778 => Action::Chatter(session_key, weighted(rng, &[(3, 2), (1, 300)]), rng.bool()),
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
    let own = |step: Step| Step { addr, form: AddressForm::Full, ..step };
    let ask = match rng.u8(..20) {
        0..3 => Ask::Open { addr, file: false, view_options: view_options(rng) },
        3..7 => Ask::View {
            addr: rng.bool().then_some(addr),
            since: None,
            view_options: view_options(rng),
            wait: 0,
        },
        7..13 => Ask::Run {
            steps: steps(rng).into_iter().map(own).collect(),
            at: false,
            view_options: view_options(rng),
        },
        13..15 => Ask::Click(pick(rng)),
        15..17 => Ask::Answer(weighted(rng, &ANSWERS)),
        17 => Ask::Read(Ref::Shown(pick(rng))),
        _ => {
            let session_key = SessionKey::of(CALM, addr).map_or(0, |session_key| session_key.0);
            return Action::Change(session_key, change(rng));
        }
    };
    let options = options(rng);
    // Late confirmations are chosen among those of all readers.
    let confirm =
        if options.confirm == Confirmation::Late { Confirmation::Never } else { options.confirm };
    Action::Ask(CALM_READER, ask, RequestOptions { deadline: 0, confirm, ..options })
}
