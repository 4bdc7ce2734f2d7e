//! What may happen.

use crate::world::{Asker, Manner};
use pipemux_proto::projection::Lod;
use proptest::prelude::*;

/// One thing that happens. Numbers choose among what there is when it does.
#[derive(Debug, Clone)]
pub enum Op {
    Open(Asker, &'static str),
    View(Asker, Option<Lod>),
    ViewOne(Asker, &'static str, Lod),
    /// `edit`, `remove` or `text` on an id.
    Act(Asker, &'static str, &'static str, Id),
    /// The same on two ids, so that a first step lies between the look and the second.
    Two(Asker, &'static str, Id, Id),
    Say(Asker, &'static str),
    Pick(Asker, &'static str),
    Click(Asker, Id),
    Answer(Asker, &'static str),
    Read(Asker, Id),
    Close(Asker, &'static str, bool),
    Restart(Asker, &'static str),
    Help(Asker),
    /// The last request, under the same id.
    Again,
    /// A client goes, with what it asked for.
    Vanish(usize),
    Cancel(usize),
    /// From now on answers are confirmed, or not.
    Confirming(bool),
    Add(&'static str),
    Change(&'static str, usize),
    Remove(&'static str, usize),
    Hide(&'static str, usize, bool),
    Manner(&'static str, Manner),
    Release(&'static str),
    Kill(&'static str),
    Garbage(&'static str),
    Pass(u64),
    LoseDaemon,
}

/// How an id is chosen.
#[derive(Debug, Clone, Copy)]
pub enum Id {
    /// One that the reader was shown.
    Known(usize),
    /// One that somebody was shown somewhere.
    Anyones(usize),
    /// Any number.
    Number(u64),
}

const SESSIONS: [&str; 5] = ["notes/main", "notes/main", "notes/two", "other/main", "shared/main"];

pub fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 10..most)
}

fn op() -> impl Strategy<Value = Op> {
    let who = || {
        let all = vec![("demo", "a"), ("demo", "b"), ("else", "a")];
        prop::sample::select(all).prop_map(|(workspace, reader)| Asker { workspace, reader })
    };
    let session = || prop::sample::select(&SESSIONS[..]);
    let lod = || prop::sample::select(&[Lod::Gist, Lod::Summary, Lod::Full][..]);
    let id = || {
        prop_oneof![
            16 => any::<usize>().prop_map(Id::Known),
            2 => any::<usize>().prop_map(Id::Anyones),
            1 => (0..80_u64).prop_map(Id::Number),
        ]
    };
    let action = prop::sample::select(&["edit", "edit", "remove"][..]);
    let answer = prop::sample::select(
        &["1", "all", "yes", "yes", "yes", "none", "1,2", "all but 1", "?"][..],
    );
    let manner = prop_oneof![
        8 => Just(Manner::Normal),
        1 => Just(Manner::Silent),
        2 => Just(Manner::Holds),
        1 => Just(Manner::Garbage),
        1 => Just(Manner::Twice),
        1 => Just(Manner::DiesOnInvoke),
        1 => Just(Manner::NoHello),
        1 => Just(Manner::DiesAtStart(vec!["oh".into()])),
        1 => Just(Manner::RefusesOpen("no".into())),
        1 => Just(Manner::Unstartable),
    ];
    prop_oneof![
        8 => (who(), session()).prop_map(|(who, session)| Op::Open(who, session)),
        6 => (who(), prop::option::of(lod())).prop_map(|(who, lod)| Op::View(who, lod)),
        4 => (who(), session(), lod()).prop_map(|(who, session, lod)| Op::ViewOne(who, session, lod)),
        12 => (who(), session(), action, id()).prop_map(|(who, s, action, id)| Op::Act(who, s, action, id)),
        3 => (who(), session(), id(), id()).prop_map(|(who, s, one, two)| Op::Two(who, s, one, two)),
        2 => (who(), session()).prop_map(|(who, session)| Op::Say(who, session)),
        3 => (who(), session()).prop_map(|(who, session)| Op::Pick(who, session)),
        6 => (who(), id()).prop_map(|(who, id)| Op::Click(who, id)),
        10 => (who(), answer).prop_map(|(who, answer)| Op::Answer(who, answer)),
        3 => (who(), id()).prop_map(|(who, id)| Op::Read(who, id)),
        1 => (who(), session(), prop::bool::weighted(0.3)).prop_map(|(who, s, end)| Op::Close(who, s, end)),
        1 => (who(), session()).prop_map(|(who, session)| Op::Restart(who, session)),
        1 => who().prop_map(Op::Help),
        1 => Just(Op::Again),
        1 => any::<usize>().prop_map(Op::Vanish),
        1 => any::<usize>().prop_map(Op::Cancel),
        1 => prop::bool::weighted(0.8).prop_map(Op::Confirming),
        8 => session().prop_map(Op::Add),
        5 => (session(), 0..4_usize).prop_map(|(session, index)| Op::Change(session, index)),
        2 => (session(), 0..4_usize).prop_map(|(session, index)| Op::Remove(session, index)),
        3 => (session(), 0..4_usize, any::<bool>()).prop_map(|(s, index, hide)| Op::Hide(s, index, hide)),
        3 => (session(), manner).prop_map(|(session, manner)| Op::Manner(session, manner)),
        3 => session().prop_map(Op::Release),
        1 => session().prop_map(Op::Kill),
        1 => session().prop_map(Op::Garbage),
        4 => (1..4_000_u64).prop_map(Op::Pass),
        1 => Just(Op::Pass(40_000)),
        1 => prop::bool::weighted(0.3).prop_map(|lose| if lose { Op::LoseDaemon } else { Op::Pass(1) }),
    ]
}
