//! Resolves a call that several apps offer: the app is the one that the script's other calls belong
//! to.

use pipemux_proto::call::{Call, Script, Step};

/// Returns the calls of scripts that name no app, without those in arguments.
pub fn ownerless_calls<'s>(scripts: impl Iterator<Item = &'s Script>) -> Vec<&'s Call> {
    let calls = scripts.flat_map(|script| &script.steps).filter_map(|step| match step {
        Step::Call(call) => Some(call),
        Step::Ref(..) => None,
    });
    calls.filter(|call| call.owner.is_none()).collect()
}

/// Returns the index of the candidate that the script's other calls point to: those for which
/// exactly one candidate has an action. `has` tells whether a candidate has an action for a call,
/// `elsewhere` whether an app that is no candidate does; such calls are ignored. Returns `None` if
/// the calls contradict each other.
pub fn meant_by_neighbours(
    candidates: usize,
    calls: &[&Call],
    has: impl Fn(usize, &Call) -> bool,
    elsewhere: impl Fn(&Call) -> bool,
) -> Option<usize> {
    let only_holder = |call: &&&Call| {
        let mut holders = (0..candidates).filter(|candidate| has(*candidate, call));
        let first = holders.next()?;
        (holders.next().is_none() && !elsewhere(call)).then_some(first)
    };
    let mut votes = calls.iter().filter_map(|call| only_holder(&call));
    let first = votes.next()?;
    votes.all(|vote| vote == first).then_some(first)
}
