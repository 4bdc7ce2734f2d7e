//! Anchors that a window shows because it embeds windows of other sessions.

use crate::keys::SessionKey;
use crate::workspaces::anchors::AnchorTable;
use pipemux_proto::refs::RefKind;

impl AnchorTable {
    /// Begins to write a window that another one shows: a key may stand for one object only in it,
    /// too.
    pub fn begin_embed(&mut self) {
        self.render_passes = self.render_passes.wrapping_add(1).max(1);
    }

    /// Ends what [`begin_embed`](Self::begin_embed) began. What was minted counts as shown only
    /// once [`set_embedded`](Self::set_embedded) says where.
    pub fn end_embed(&mut self) {
        for id in std::mem::take(&mut self.embedding) {
            if let Some(anchor) = self.anchors.get_mut(&id) {
                anchor.embeds = anchor.embeds.saturating_sub(1);
            }
        }
    }

    /// Notes what the window of a session shows of other sessions' windows, instead of what it
    /// showed of them before.
    pub fn set_embedded(&mut self, host: &SessionKey, ids: &[u64], epoch: u64) {
        for id in ids {
            if let Some(anchor) = self.anchors.get_mut(id) {
                anchor.embeds += 1;
            }
        }
        let before = match ids {
            [] if self.embedded.is_empty() => None,
            [] => self.embedded.remove(host),
            ids => self.embedded.insert(host.clone(), ids.into()),
        };
        for id in before.iter().flatten() {
            let Some(anchor) = self.anchors.get_mut(id) else { continue };
            anchor.embeds = anchor.embeds.saturating_sub(1);
            if anchor.embeds == 0 && !anchor.shown {
                anchor.last_epoch = epoch;
                if anchor.target.kind() == RefKind::Link {
                    self.eviction_candidates.insert(*id);
                }
            }
        }
    }
}
