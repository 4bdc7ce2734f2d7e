//! The read-only state that a run can access.

use pipemux_proto::Fault;
use pipemux_proto::Incarnation;
use pipemux_proto::app::Invoke;

use crate::foreign::Speaker;
use crate::keys::SessionKey;
use crate::processes::quarantine::Fingerprint;
use crate::processes::{Sessions, speaker};
use crate::workspaces::Workspace;

/// The data from which a run decides what it needs next.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    pub workspace: &'a Workspace,
    pub sessions: &'a Sessions,
}

impl RunContext<'_> {
    /// The incarnation whose state a session has: that of its process or, while it sleeps, of the
    /// process that saved the state, since the next one continues from there.
    pub fn current_incarnation(&self, key: &SessionKey) -> Option<Incarnation> {
        let session = self.sessions.get(key)?;
        session.ready().or(session.hibernation.asleep.map(|asleep| asleep.app))
    }

    /// Returns whose sentences come from a session.
    pub fn speaker<'k>(&self, key: &'k SessionKey) -> Speaker<'k> {
        speaker(self.sessions, key)
    }

    /// True when a session's app has greeted this daemon.
    pub fn has_greeted(&self, key: &SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| session.profile.minor > 0)
    }

    /// True when a session's app takes long values as files.
    pub fn takes_value_files(&self, key: &SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| session.profile.takes_value_files)
    }

    /// True when an earlier daemon had the session: readers may mean what that daemon showed them.
    pub fn is_restored(&self, key: &SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| session.restored)
    }

    /// True when a token's prefix is the one that the session's app declared.
    pub fn declares_prefix(&self, key: &SessionKey, prefix: &str) -> bool {
        let session = self.sessions.get(key);
        session.is_some_and(|session| session.profile.token_prefix.as_deref() == Some(prefix))
    }

    /// Returns the reason not to ask a question whose session was closed in the meantime: the
    /// answer would go to the next session of the same name, where the same keys may be other
    /// objects.
    pub fn closed_while_asking(&self, key: &SessionKey) -> Option<Fault> {
        let is_open = self.workspace.window(key).is_some();
        let fault = Fault::failed(format!("{key} was closed while it asked; nothing was done"));
        (!is_open).then(|| fault.hint(format!("pipemux open {key}")))
    }

    /// The refusal of a request that repeatedly ended its app, if it is quarantined.
    pub fn quarantine_refusal(&self, key: &SessionKey, invoke: &Invoke) -> Option<Fault> {
        let quarantine = &self.sessions.get(key)?.quarantine;
        if quarantine.quarantined() == 0 {
            return None;
        }
        quarantine.refusal(Fingerprint::of(invoke), key, &invoke.action)
    }
}
