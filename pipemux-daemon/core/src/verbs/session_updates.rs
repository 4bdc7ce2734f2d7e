//! What the workspaces that show a session must know of it: that its state changed, and what it can do.

use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::keys::SessionKey;

impl Core {
    /// A session's state changed.
    pub(crate) fn session_changed(&mut self, key: &SessionKey) {
        // One that workspaces share may be shown by many, and change often: they look at it themselves.
        let own = key.workspace.as_ref().and_then(|at| self.workspaces.get_mut(at));
        if let Some(workspace) = own {
            workspace.session_changed(key);
        }
        self.tell_session(EventKind::Changed, key, "changed");
    }

    /// A session came or went, or greeted: its windows are found by what it can do.
    pub(crate) fn actions_changed(&mut self, key: &SessionKey) {
        let actions = self.processes.actions_of(key);
        for workspace in self.workspaces.of_session_mut(key) {
            workspace.windows.set_actions(key, actions.clone());
        }
    }
}
