//! Takes changes back, and makes them again.

use docui::{Done, Fault};
use pipemux_memotree_store::{Committed, StoreError};
use pipemux_notes::text::count;

use crate::model::MemoTree;
use crate::reply::{ChangeReply, undo_action};

/// Takes back the last changes, the newest first; or makes them again.
///
/// # Errors
/// There are fewer, or another program changed a file since: then as many as possible are taken
/// back.
pub fn steps(
    tree: &mut MemoTree,
    steps: i64,
    mut step: impl FnMut(&mut MemoTree) -> Result<Committed, StoreError>,
) -> Result<ChangeReply, Fault> {
    let steps = usize::try_from(steps).ok().filter(|steps| *steps > 0);
    let steps = steps.ok_or_else(|| Fault::usage("steps: expected 1 or more"))?;
    let mut done: Vec<Committed> = Vec::new();
    for _ in 0..steps {
        match step(tree) {
            Ok(committed) => done.push(committed),
            Err(error) if done.is_empty() => return Err(tree.fault(error)),
            Err(error) => {
                let brief = format!("{}; then: {error}", labels(&done));
                return Ok(reverted(brief, done));
            }
        }
    }
    Ok(reverted(labels(&done), done))
}

fn reverted(brief: String, committed: Vec<Committed>) -> ChangeReply {
    ChangeReply { done: Done::new(brief).complete().reverts(), committed }
}

/// Returns what changes were, in a few words each.
fn labels(done: &[Committed]) -> String {
    let labels: Vec<String> = done
        .iter()
        .map(|committed| {
            format!("{} ({})", committed.label, count(committed.nodes.len() as u64, "node"))
        })
        .collect();
    labels.join("; ")
}

/// Takes back one change, and nothing of those that came after it.
///
/// # Errors
/// It isn't in effect, or what came after it rests on it.
pub fn change(tree: &mut MemoTree, id: &str) -> Result<ChangeReply, Fault> {
    let last = docui::command::run(&tree.call("undo()"));
    let unknown = || {
        Fault::not_found(format!("there is no change {id:?} that can be undone"))
            .hint(format!("the last one of this session: {last}"))
    };
    let number: i64 = id.trim_start_matches('c').parse().map_err(|_| unknown())?;
    let done = match tree.store().take_back(number) {
        Ok(done) => done,
        Err(StoreError::Nothing(_)) => return Err(unknown()),
        Err(error) => return Err(tree.fault(error)),
    };
    let again = done.change.map(undo_action);
    let mut reply = reverted(labels(std::slice::from_ref(&done)), vec![done]);
    if let Some(again) = &again {
        reply.done = reply.done.link("undo", again);
    }
    Ok(reply)
}
