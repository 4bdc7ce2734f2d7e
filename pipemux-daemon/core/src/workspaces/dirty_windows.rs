//! What changed since readers saw it. A reader is told of it with its next act, and may have a hundred windows
//! open: those that may have changed are noted when they do, so that no other one is looked at.

use crate::keys::SessionKey;
use crate::processes::Prototypes;
use crate::processes::Sessions;
use crate::workspaces::{Rank, Window, Workspace};

impl Workspace {
    /// Adds a window. Its session may have changed since a reader saw an earlier window of it.
    pub fn open_window(&mut self, window: Window, actions: Option<Prototypes>) {
        let session = window.session.clone();
        self.windows.push(window);
        self.windows.set_actions(&session, actions);
        self.session_changed(&session);
    }

    /// Removes the window of a session; readers who never act don't gather those that were closed.
    pub fn close_window(&mut self, session: &SessionKey) {
        let Some(rank) = self.windows.rank(session) else { return };
        self.windows.remove(session);
        for reader in self.readers.values_mut() {
            reader.dirty_windows.remove(&rank);
        }
    }

    /// A session has another version: readers may have seen an older one.
    pub fn session_changed(&mut self, session: &SessionKey) {
        let Some(rank) = self.windows.rank(session) else { return };
        for reader in self.readers.values_mut() {
            reader.dirty_windows.insert(rank);
        }
    }

    /// The windows of sessions that have another version than their reader saw, in the order they were
    /// opened.
    pub fn take_dirty_windows(&mut self, reader: &str, sessions: &Sessions) -> Vec<SessionKey> {
        let Some(reader) = self.readers.get_mut(reader) else { return Vec::new() };
        let (windows, seen) = (&self.windows, &reader.seen);
        let changed = |rank: &Rank| {
            let session = &windows.at(*rank)?.session;
            let (seen, live) = (seen.get(session)?, sessions.get(session)?);
            let changed = live.app() == Some(seen.app) && live.version > seen.version;
            changed.then(|| session.clone())
        };
        // Changes of a session that other workspaces may show are noted in none of them.
        reader.dirty_windows.extend(windows.shared());
        let mut all = Vec::new();
        reader.dirty_windows.retain(|rank| {
            let found = changed(rank);
            let stays = found.is_some();
            all.extend(found);
            stays
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_were_closed_are_kept_in_mind_for_no_reader() {
        let mut workspace = Workspace::new("w".into(), 1, 0);
        workspace.reader("idle", Default::default());
        let session = |workspace: Option<&str>| SessionKey {
            workspace: workspace.map(Into::into),
            addr: "notes/main".parse().unwrap(),
        };
        for key in [session(Some("w")), session(None)] {
            for number in 0..9 {
                workspace.open_window(Window::new(number, key.clone(), 0), None);
                assert_eq!(workspace.readers["idle"].dirty_windows.len(), 1);
                workspace.close_window(&key);
                assert!(workspace.window(&key).is_none());
                assert!(workspace.readers["idle"].dirty_windows.is_empty());
            }
        }
    }
}
