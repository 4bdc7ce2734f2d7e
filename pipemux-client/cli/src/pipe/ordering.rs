//! Makes lines wait for the answer to an earlier line: a call may need the window that an `open`
//! makes, and the daemon starts with a request as soon as it arrives.

use pipemux_client::proto::client::{HoldsLater, VerbRequest};
use tokio::sync::oneshot;

/// The lines that later lines wait for.
#[derive(Debug, Default)]
pub struct Barrier {
    /// The unanswered lines, each with a receiver that closes once the line has its answer.
    unanswered: Vec<(Scope, oneshot::Receiver<()>)>,
}

/// Held by a line until it has its answer; later lines wait for that.
#[derive(Debug)]
pub struct BarrierGuard {
    _answered: oneshot::Sender<()>,
}

/// The later lines that have to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    /// The lines of the workspace with this key.
    Workspace(String),
    All,
}

impl Barrier {
    /// Waits for the earlier lines that concern this call. Returns a guard if later lines must wait
    /// for this one.
    pub async fn pass(&mut self, call: &VerbRequest) -> Option<BarrierGuard> {
        let own = scope_of(call);
        let workspace = Scope::Workspace(call.workspace.key.clone());
        let mut unanswered = Vec::new();
        for (scope, mut answered) in std::mem::take(&mut self.unanswered) {
            if scope == Scope::All || own == Some(Scope::All) || scope == workspace {
                // Nothing is ever sent: the sender is dropped.
                let _ = answered.await;
            } else if answered.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
                unanswered.push((scope, answered));
            }
        }
        self.unanswered = unanswered;
        let (answered, receiver) = oneshot::channel();
        self.unanswered.push((own?, receiver));
        Some(BarrierGuard { _answered: answered })
    }
}

/// Returns which later lines wait for this call, if any do.
fn scope_of(call: &VerbRequest) -> Option<Scope> {
    match call.verb.kind().holds_later() {
        HoldsLater::Nothing => None,
        HoldsLater::Workspace => Some(Scope::Workspace(call.workspace.key.clone())),
        HoldsLater::All => Some(Scope::All),
    }
}
