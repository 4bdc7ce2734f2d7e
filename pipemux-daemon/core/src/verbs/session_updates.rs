//! Keeps the workspaces that show a session informed: of changes of its state, and of its actions.

use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::keys::SessionKey;

impl Core {
    /// Notes that a session's state changed.
    pub(crate) fn session_changed(&mut self, key: &SessionKey) {
        // Many workspaces may show a shared session, which may change often, so they check it themselves.
        let owner = key.workspace.as_ref().and_then(|owner| self.workspaces.get_mut(owner));
        if let Some(workspace) = owner {
            workspace.session_changed(key);
        }
        self.publish_session(EventKind::Changed, key, "changed");
    }

    /// Updates the indexes of windows by action, because a session came, went or greeted.
    pub(crate) fn actions_changed(&mut self, key: &SessionKey) {
        let actions = self.processes.actions_of(key);
        for workspace in self.workspaces.of_session_mut(key) {
            workspace.windows.set_actions(key, actions.clone());
        }
    }
}
