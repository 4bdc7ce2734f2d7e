//! Which of several apps a call means that all of them have: the one that the other calls of its
//! script are for.

use pipemux_proto::call::{Call, Script, Step};

/// Returns the calls of scripts that name no app, without those in arguments.
pub fn ownerless_calls<'s>(scripts: impl Iterator<Item = &'s Script>) -> Vec<&'s Call> {
    let calls = scripts.flat_map(|script| &script.steps).filter_map(|step| match step {
        Step::Call(call) => Some(call),
        Step::Ref(..) => None,
    });
    calls.filter(|call| call.owner.is_none()).collect()
}

/// Returns the index of the candidate that alone has actions for other calls of a script. `has`
/// says whether a candidate has one for a call, `elsewhere` whether an app does that is no
/// candidate: then the call tells nothing. Calls that contradict each other tell nothing, either.
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
