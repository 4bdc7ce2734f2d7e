//! Distinguishes a run's own changes in sessions from concurrent changes by others.

use std::collections::BTreeMap;

use crate::keys::SessionKey;
use crate::runs::baseline::SeenVersions;

/// The changes that a run made to the sessions of its steps.
#[derive(Debug, Clone)]
pub struct OwnChanges {
    /// The expected version of each session, if nobody else changes it.
    pub expected: BTreeMap<SessionKey, u64>,
    /// True while every change since the reader looked is this run's own.
    pub only_own: bool,
    /// The sessions to which a step was sent, in order.
    pub touched: Vec<SessionKey>,
}

impl Default for OwnChanges {
    fn default() -> Self {
        Self { expected: BTreeMap::new(), only_own: true, touched: Vec::new() }
    }
}

impl OwnChanges {
    /// Expects the versions that the reader has seen.
    pub(super) fn expect(&mut self, seen: &SeenVersions) {
        self.expected = seen.iter().map(|(key, (_, version))| (key.clone(), *version)).collect();
    }

    /// Notes the version after a step. If it isn't the successor of the expected version, somebody
    /// else changed the session.
    pub(super) fn note_version(&mut self, session: &SessionKey, version: u64) {
        let expected = self.expected.get(session).map_or(1, |seen| seen.saturating_add(1));
        self.only_own &= expected == version;
        self.expected.insert(session.clone(), version);
    }

    /// Notes that a step is sent to a session, or that the answer has to show it.
    pub(super) fn touch(&mut self, session: &SessionKey) {
        if !self.touched.contains(session) {
            self.touched.push(session.clone());
        }
    }
}
