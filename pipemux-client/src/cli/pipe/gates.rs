//! Which lines wait until an earlier one was answered: a call needs the window that an `open` makes, and
//! the daemon takes a request as soon as it is there.

use pipemux_client::proto::client::{Call, Verb};
use tokio::sync::oneshot;

/// Lines that others wait for.
#[derive(Debug, Default)]
pub struct Gates {
    /// Whose workspace, if it concerns only one; closed once it was answered.
    shut: Vec<(Option<String>, oneshot::Receiver<()>)>,
}

/// Held by a line until it was answered.
#[derive(Debug)]
pub struct Passed {
    _answered: oneshot::Sender<()>,
}

impl Gates {
    /// Waits for the lines before that concern this one; returns what it holds if later ones wait for it.
    pub async fn pass(&mut self, call: &Call) -> Option<Passed> {
        let own = place(call);
        let mut shut = Vec::new();
        for (place, mut answered) in std::mem::take(&mut self.shut) {
            let everywhere = place.is_none() || own == Some(None);
            if everywhere || place.as_ref() == Some(&call.workspace.key) {
                // Nobody sends: an end is an end.
                let _ = answered.await;
            } else if answered.try_recv() == Err(oneshot::error::TryRecvError::Empty) {
                shut.push((place, answered));
            }
        }
        self.shut = shut;
        let (answered, waited_for) = oneshot::channel();
        self.shut.push((own?, waited_for));
        Some(Passed { _answered: answered })
    }
}

/// What waits for that: nothing, one workspace, or all.
fn place(call: &Call) -> Option<Option<String>> {
    match call.verb {
        Verb::Open(_) | Verb::Close { .. } | Verb::Restart { .. } | Verb::End { .. } => {
            Some(Some(call.workspace.key.clone()))
        }
        Verb::Providers(_) | Verb::Down => Some(None),
        _ => None,
    }
}
