//! What is forgotten of the anchors that vanished.

use pipemux_proto::table::Table;

use crate::keys::SessionKey;
use crate::limits::{ANCHORS_MAX, VANISHED_EPOCHS};
use crate::workspaces::anchors::{Anchor, AnchorTable};

impl AnchorTable {
    /// Forgets links that vanished [`VANISHED_EPOCHS`] ago, and past [`ANCHORS_MAX`] the things
    /// longest unseen. A thing that comes back after that gets a new id, never an old one.
    pub fn forget(&mut self, epoch: u64) {
        let crowded = self.anchors.len() > ANCHORS_MAX;
        if epoch < self.forgot + VANISHED_EPOCHS / 4 && !crowded {
            return;
        }
        self.forgot = epoch;
        self.forget_links(epoch.saturating_sub(VANISHED_EPOCHS));
        if crowded {
            let shown = self.owned.iter().flat_map(|owned| &owned.shown);
            let visible: Table<u64, ()> = shown.map(|id| (*id, ())).collect();
            let mut epochs: Vec<u64> = self.anchors.values().map(|a| a.last_epoch).collect();
            epochs.sort_unstable();
            let cut = epochs.get(epochs.len().saturating_sub(ANCHORS_MAX / 2)).copied();
            let cut = cut.unwrap_or(epoch);
            self.remove(|id, anchor| anchor.last_epoch < cut && !visible.contains_key(&id));
        }
    }

    /// Forgets the links that vanished before an epoch.
    fn forget_links(&mut self, past: u64) {
        let (anchors, owned, slots) = (&mut self.anchors, &mut self.owned, &self.slots);
        self.eviction_candidates.retain(|id, ()| {
            let Some(anchor) = anchors.get(id) else { return false };
            if anchor.shown && !anchor.offered {
                // Its window shows it again.
                return false;
            }
            let own = slots.get(&anchor.session).and_then(|slot| owned.get_mut(*slot));
            let Some(own) = own.filter(|own| anchor.last_epoch < past && !own.shown.contains(id))
            else {
                return true;
            };
            if own.links.get(&anchor.target) == Some(id) {
                own.links.remove(&anchor.target);
            }
            anchors.remove(id);
            false
        });
    }

    /// Forgets all of a session that ended for good.
    pub fn forget_session(&mut self, session: &SessionKey) {
        let Some(slot) = self.slots.remove(session) else { return };
        let gone = self.owned.swap_remove(slot);
        if let Some(moved) = self.owned.get(slot) {
            self.slots.insert(moved.session.clone(), slot);
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
        for owned in &mut self.owned {
            owned.things.retain(|_, id| anchors.contains_key(id));
            owned.links.retain(|_, id| anchors.contains_key(id));
        }
    }
}
