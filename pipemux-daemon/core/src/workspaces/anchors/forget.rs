//! Forgetting anchors that vanished.

use rustc_hash::FxHashSet;

use crate::keys::SessionKey;
use crate::limits::{ANCHORS_MAX, SESSION_ANCHORS_MAX, VANISHED_EPOCHS};
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::anchors::session_anchors::SessionAnchors;

impl AnchorTable {
    /// Forgets links that vanished [`VANISHED_EPOCHS`] ago, and of a session with more than
    /// [`SESSION_ANCHORS_MAX`] anchors those that weren't shown for the longest time. Beyond
    /// [`ANCHORS_MAX`] in all, only sessions with more than an equal share lose some: no app makes
    /// another app's things unknown. An object that comes back after that gets a new id, never an
    /// old one.
    pub fn forget(&mut self, epoch: u64) {
        let crowded = self.anchors.len() > ANCHORS_MAX;
        let over = |of_session: &SessionAnchors| of_session.len() > SESSION_ANCHORS_MAX;
        let overfull = crowded || self.sessions.iter().any(over);
        if epoch < self.last_eviction + VANISHED_EPOCHS / 4 && !overfull {
            return;
        }
        self.last_eviction = epoch;
        self.forget_links(epoch.saturating_sub(VANISHED_EPOCHS));
        if overfull {
            let share = match crowded {
                true => SESSION_ANCHORS_MAX.min(ANCHORS_MAX / self.sessions.len().max(1)),
                false => SESSION_ANCHORS_MAX,
            };
            for index in 0..self.sessions.len() {
                self.forget_of_session(index, share, epoch);
            }
        }
    }

    /// Forgets the anchors of a session that weren't shown for the longest time, if it has more
    /// than a number. A quarter more goes, so that it isn't done again at the next answer.
    fn forget_of_session(&mut self, index: usize, most: usize, epoch: u64) {
        let Some(of_session) = self.sessions.get_mut(index).filter(|own| own.len() > most) else {
            return;
        };
        let anchors = &self.anchors;
        let mut hidden: Vec<(u64, u64)> = of_session
            .ids()
            .filter_map(|id| Some((id, anchors.get(&id)?)))
            .filter(|(_, anchor)| anchor.last_epoch < epoch && anchor.embeds == 0)
            .filter(|(_, anchor)| !anchor.shown || anchor.offered)
            .map(|(id, anchor)| (anchor.last_epoch, id))
            .collect();
        let shown: FxHashSet<u64> = of_session.shown_to_any().collect();
        hidden.retain(|(_, id)| !shown.contains(id));
        pipemux_tokens::work::spend(of_session.len());
        hidden.sort_unstable();
        let excess = of_session.len() - most + most / 4;
        for (_, id) in hidden.into_iter().take(excess) {
            if let Some(gone) = self.anchors.remove(&id) {
                of_session.remove(&gone.target, id);
            }
        }
    }

    /// Forgets the links that vanished before an epoch.
    fn forget_links(&mut self, past: u64) {
        let shown: FxHashSet<u64> = match self.eviction_candidates.is_empty() {
            true => FxHashSet::default(),
            false => self.sessions.iter().flat_map(SessionAnchors::shown_to_any).collect(),
        };
        pipemux_tokens::work::spend(shown.len() + self.eviction_candidates.len());
        let (anchors, sessions) = (&mut self.anchors, &mut self.sessions);
        let index_by_session = &self.index_by_session;
        self.eviction_candidates.retain(|id| {
            let Some(anchor) = anchors.get(id) else { return false };
            if anchor.embeds > 0 {
                return true;
            }
            if anchor.shown && !anchor.offered {
                // Its window shows it again.
                return false;
            }
            let index = index_by_session.get(&anchor.session);
            let of_session = index.and_then(|index| sessions.get_mut(*index));
            let vanished =
                |_: &&mut SessionAnchors| anchor.last_epoch < past && !shown.contains(id);
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
        self.embedded.remove(&*gone.session);
    }
}
