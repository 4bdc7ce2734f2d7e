//! Anchors of windows that show each reader something else.

use crate::keys::{ReaderId, SessionKey};
use crate::workspaces::anchors::AnchorTable;

impl AnchorTable {
    /// Makes the anchors count as shown that a session's window showed to a reader when it was last
    /// turned to that one. Those that it shows now, to another reader, are kept for that one.
    pub fn turn_to_reader(&mut self, session: &SessionKey, from: &ReaderId, to: &str, epoch: u64) {
        self.hide_session(session, epoch);
        let index = self.index_by_session.get(session);
        let Some(of_session) = index.and_then(|index| self.sessions.get_mut(*index)) else {
            return;
        };
        let hidden = std::mem::take(&mut of_session.previous);
        let readers = &mut of_session.of_readers;
        let kept = readers.iter().position(|(id, _)| **id == *to);
        let shown = kept.map_or(Vec::new(), |at| readers.swap_remove(at).1);
        readers.retain(|(id, _)| id != from);
        readers.push((from.clone(), hidden));
        for id in &shown {
            if let Some(anchor) = self.anchors.get_mut(id) {
                anchor.shown = true;
            }
        }
        of_session.shown = shown;
    }

    /// Forgets what a session's window showed to a reader to whom it isn't turned.
    pub fn forget_reader(&mut self, session: &SessionKey, reader: &str) {
        let index = self.index_by_session.get(session);
        if let Some(of_session) = index.and_then(|index| self.sessions.get_mut(*index)) {
            of_session.of_readers.retain(|(id, _)| **id != *reader);
        }
    }
}
