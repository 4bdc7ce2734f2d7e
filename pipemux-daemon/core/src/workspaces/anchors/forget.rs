//! Forgetting anchors that vanished.

use rustc_hash::FxHashSet;

use crate::keys::SessionKey;
use crate::limits::{ANCHORS_MAX, VANISHED_EPOCHS};
use crate::workspaces::anchors::session_anchors::SessionAnchors;
use crate::workspaces::anchors::{Anchor, AnchorTable};

impl AnchorTable {
    /// Forgets links that vanished [`VANISHED_EPOCHS`] ago, and beyond [`ANCHORS_MAX`] the anchors that
    /// weren't shown for the longest time. An object that comes back after that gets a new id, never an
    /// old one.
    pub fn forget(&mut self, epoch: u64) {
        let crowded = self.anchors.len() > ANCHORS_MAX;
        if epoch < self.last_eviction + VANISHED_EPOCHS / 4 && !crowded {
            return;
        }
        self.last_eviction = epoch;
        self.forget_links(epoch.saturating_sub(VANISHED_EPOCHS));
        if crowded {
            let shown = self.sessions.iter().flat_map(|of_session| &of_session.shown);
            let visible: FxHashSet<u64> = shown.copied().collect();
            let mut epochs: Vec<u64> = self.anchors.values().map(|a| a.last_epoch).collect();
            epochs.sort_unstable();
            let cut = epochs.get(epochs.len().saturating_sub(ANCHORS_MAX / 2)).copied();
            let cut = cut.unwrap_or(epoch);
            self.remove(|id, anchor| anchor.last_epoch < cut && !visible.contains(&id));
        }
    }

    /// Forgets the links that vanished before an epoch.
    fn forget_links(&mut self, past: u64) {
        let (anchors, sessions) = (&mut self.anchors, &mut self.sessions);
        let index_by_session = &self.index_by_session;
        self.eviction_candidates.retain(|id| {
            let Some(anchor) = anchors.get(id) else { return false };
            if anchor.shown && !anchor.offered {
                // Its window shows it again.
                return false;
            }
            let index = index_by_session.get(&anchor.session);
            let of_session = index.and_then(|index| sessions.get_mut(*index));
            let vanished = |of_session: &&mut SessionAnchors| {
                anchor.last_epoch < past && !of_session.shown.contains(id)
            };
            let Some(of_session) = of_session.filter(vanished) else { return true };
            if of_session.links.get(&anchor.target) == Some(id) {
                of_session.links.remove(&anchor.target);
            }
            anchors.remove(id);
            false
        });
    }

    /// Forgets all of a session that ended for good.
    pub fn forget_session(&mut self, session: &SessionKey) {
        let Some(index) = self.index_by_session.remove(session) else { return };
        let gone = self.sessions.swap_remove(index);
        if let Some(moved) = self.sessions.get(index) {
            self.index_by_session.insert(moved.session.clone(), index);
        }
        self.anchors.retain(|_, anchor| anchor.session != gone.session);
    }

    fn remove(&mut self, gone: impl Fn(u64, &Anchor) -> bool) {
        let before = self.anchors.len();
        self.anchors.retain(|id, anchor| !gone(*id, anchor));
        if self.anchors.len() == before {
            return;
        }
        let anchors = &self.anchors;
        for of_session in &mut self.sessions {
            of_session.objects.retain(|_, id| anchors.contains_key(id));
            of_session.links.retain(|_, id| anchors.contains_key(id));
        }
    }
}
