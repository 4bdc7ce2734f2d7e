//! The windows that changed since readers saw them. A reader is told of them with its next run, and
//! may have a hundred windows open: each window is noted when it may have changed, so that no other
//! one is compared.

use std::collections::BTreeSet;

use pipemux_proto::Incarnation;

use crate::keys::SessionKey;
use crate::processes::Prototypes;
use crate::workspaces::{Rank, Window, Workspace};

impl Workspace {
    /// Adds a window, and what its session can do. The session may have changed since a reader saw
    /// an earlier window of it.
    pub fn open_window(&mut self, window: Window, actions: Option<Prototypes>) {
        let session = window.session.clone();
        self.windows.push(window);
        self.windows.set_actions(&session, actions);
        self.session_changed(&session);
    }

    /// Removes the window of a session. It is no longer noted for any reader, since a reader who
    /// never acts would gather all windows that were ever closed.
    pub fn close_window(&mut self, session: &SessionKey) {
        let Some(rank) = self.windows.rank(session) else { return };
        self.windows.remove(session);
        for reader in self.readers.iter_mut() {
            reader.dirty_windows.remove(&rank);
        }
    }

    /// Notes that a reader opened or closed a window. A reader who knew all windows before still
    /// does after its own change.
    pub fn window_set_changed(&mut self, by: &str) {
        let before = self.windows.set_revision;
        self.windows.set_revision += 1;
        let reader = self.readers.get_mut(by);
        if let Some(reader) = reader.filter(|reader| reader.window_set_revision == before) {
            reader.window_set_revision = self.windows.set_revision;
        }
    }

    /// Returns true if, after being shown these windows, a reader has seen exactly the windows that
    /// are open.
    pub fn completes<'a>(
        &'a self,
        reader: &str,
        shown: impl Iterator<Item = &'a SessionKey>,
    ) -> bool {
        // Most often it had before: nothing was opened or closed since.
        if self.windows.set_revision > 0 && !self.has_other_windows(reader) {
            return true;
        }
        let before = self.readers.get(reader).into_iter().flat_map(|reader| reader.seen.keys());
        let known: BTreeSet<&SessionKey> = before.chain(shown).collect();
        known.len() == self.windows.len() && known.iter().all(|key| self.window(key).is_some())
    }

    /// Returns true when windows were opened or closed since the reader saw all of them.
    pub fn has_other_windows(&self, reader: &str) -> bool {
        self.readers
            .get(reader)
            .is_none_or(|reader| reader.window_set_revision < self.windows.set_revision)
    }

    /// Returns true when windows were opened or closed since a reader was shown all of them.
    pub fn knows_other_windows(&self, reader: &str) -> bool {
        let known = self.readers.get(reader).map_or(0, |reader| reader.window_set_revision);
        known > 0 && known < self.windows.set_revision
    }

    /// Notes that a session has another version: readers may have seen an older one.
    pub fn session_changed(&mut self, session: &SessionKey) {
        let Some(rank) = self.windows.rank(session) else { return };
        for reader in self.readers.iter_mut() {
            reader.dirty_windows.insert(rank);
        }
    }

    /// Returns the sessions that have another version than a reader saw, in the order in which
    /// their windows were opened. `newest` gives the process and version that a session has now.
    pub fn take_dirty_windows(
        &mut self,
        reader: &str,
        newest: impl Fn(&SessionKey) -> Option<(Incarnation, u64)>,
    ) -> Vec<SessionKey> {
        let Some(reader) = self.readers.get_mut(reader) else { return Vec::new() };
        let (windows, seen) = (&self.windows, &reader.seen);
        let changed = |rank: &Rank| {
            let session = &windows.at(*rank)?.session;
            let seen = seen.get(session)?;
            let own = newest(session)
                .is_some_and(|(app, version)| app == seen.app && version > seen.version);
            (own || seen.rendered.embeds.have_changed(&newest)).then(|| session.clone())
        };
        // Changes of a shared session aren't noted: many workspaces may show it.
        reader.dirty_windows.extend(windows.shared());
        // Nor is noted which windows show others: any of these may have changed.
        reader.dirty_windows.extend(windows.embedding());
        let mut sessions = Vec::new();
        reader.dirty_windows.retain(|rank| {
            let session = changed(rank);
            let stays = session.is_some();
            sessions.extend(session);
            stays
        });
        sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspaces::FirstNumbers;

    #[test]
    fn closed_windows_are_noted_for_no_reader() {
        let mut workspace =
            Workspace::new("w".into(), "w".into(), FirstNumbers { id: 1, epoch: 0 });
        workspace.enter_reader("idle", Default::default());
        let session = |workspace: Option<&str>| SessionKey {
            workspace: workspace.map(Into::into),
            addr: "notes/main".parse().unwrap(),
        };
        for key in [session(Some("w")), session(None)] {
            for number in 0..9 {
                workspace.open_window(Window::new(number, key.clone(), 0), None);
                assert_eq!(workspace.reader("idle").unwrap().dirty_windows.len(), 1);
                workspace.close_window(&key);
                assert!(workspace.window(&key).is_none());
                assert!(workspace.reader("idle").unwrap().dirty_windows.is_empty());
            }
        }
    }
}
