//! Soft landings: the exact sentences for refs that lead nowhere (UI-Anchor, "软着陆"), with what
//! saves the next turn.

use pipemux_proto::Fault;
use pipemux_proto::refs::Ref;

/// Its meaning changed since the reader saw it.
pub fn stale(shown: &str) -> Fault {
    let message = format!("Anchor {shown} is stale. Please refresh to get current IDs.");
    Fault::stale(message).naming(shown)
}

/// There, but folded, scrolled or filtered away, or its window closed.
pub fn out_of_view(shown: &str, how: Option<String>) -> Fault {
    let message = format!("Anchor {shown} is out of view. Navigate or expand to access.");
    how.into_iter().fold(Fault::out_of_view(message).naming(shown), Fault::hint)
}

/// Gone, never minted here, or from an epoch not issued yet.
pub fn not_found(shown: &str, why: Option<String>) -> Fault {
    let mut message = format!("Anchor {shown} not found in current context.");
    if let Some(why) = why {
        message += &format!(" {why}.");
    }
    Fault::not_found(message).naming(shown)
}

/// A ref as the sentences name it: without the epoch.
pub fn name(of: &Ref) -> String {
    Ref { epoch: None, owner: None, ..of.clone() }.to_string()
}
