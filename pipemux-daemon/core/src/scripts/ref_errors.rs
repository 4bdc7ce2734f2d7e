//! Ref errors: the exact sentences for refs that lead nowhere. Agents match on them, so they never
//! change. A hint or a reason says how to get on.

use pipemux_proto::Fault;
use pipemux_proto::refs::{Local, Ref};

use crate::keys::SessionKey;
use crate::text::clip;
use crate::workspaces::Workspace;

/// The longest action of a round that an error repeats, in bytes.
const ACTION_SHOWN: usize = 80;

/// The error for a ref whose meaning changed since the reader saw it.
pub fn stale(shown: &str) -> Fault {
    let message = format!("Anchor {shown} is stale. Please refresh to get current IDs.");
    Fault::stale(message).naming(shown)
}

/// The meaning of the ref changed since the reader saw it at an epoch: says which round acted on
/// its session since.
pub fn stale_since(workspace: &Workspace, session: &SessionKey, seen: u64, shown: &str) -> Fault {
    let mut fault = stale(shown);
    let round = match seen {
        // The reader never saw it.
        0 => None,
        _ => workspace.history.newest_change_since(session, seen),
    };
    if let Some(round) = round {
        // The day is told by the history.
        let second = round.unix_ms / 1000 % 86_400;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let (number, reader) = (round.number, &round.reader);
        let action = clip(&round.action, ACTION_SHOWN);
        fault.message += &format!(
            " Since e{seen}: round {number} by {reader} at {hour:02}:{minute:02}:{second:02}Z, {action}."
        );
    }
    fault
}

/// The error for an object folded, scrolled or filtered away, or in a closed window.
pub fn out_of_view(shown: &str, how: Option<String>) -> Fault {
    let message = format!("Anchor {shown} is out of view. Navigate or expand to access.");
    how.into_iter().fold(Fault::out_of_view(message).naming(shown), Fault::hint)
}

/// The object is gone, the id was never issued here, or the epoch has not been issued yet.
pub fn not_found(shown: &str, why: Option<String>) -> Fault {
    let mut message = format!("Anchor {shown} not found in current context.");
    if let Some(why) = why {
        message += &format!(" {why}.");
    }
    Fault::not_found(message).naming(shown).hint("pipemux view")
}

/// The error for an object that was in a window and is gone from it.
pub fn not_found_in(session: &SessionKey, shown: &str, why: Option<String>) -> Fault {
    let mut fault = not_found(shown, why);
    fault.hints = vec![format!("pipemux view {session}")];
    fault
}

/// A ref as the sentences name it: without its epoch, and without the session of an id, which is
/// unique.
pub fn name(of: &Ref) -> String {
    let owner = match of.local {
        Local::Id(_) => None,
        Local::Key(_) => of.owner.clone(),
    };
    Ref { epoch: None, owner, ..of.clone() }.to_string()
}

/// The error for an epoch that no answer has had yet.
pub fn unissued_epoch(epoch: u64, newest: u64) -> Fault {
    Fault::not_found(why_unissued(epoch, newest))
}

/// The reason why a ref with an epoch that no answer has had yet is invalid.
pub fn why_unissued(epoch: u64, newest: u64) -> String {
    format!("e{epoch} has not been issued, the newest is e{newest}")
}
