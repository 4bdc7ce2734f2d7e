//! What the workspaces that show a session must know of it: that its state changed, and what it can do.

use std::collections::BTreeMap;

use pipemux_proto::watch::What;

use crate::Core;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::workspaces::Workspace;

impl Core {
    /// A session's state changed.
    pub(crate) fn session_changed(&mut self, key: &SessionKey) {
        // One that workspaces share may be shown by many, and change often: they look at it themselves.
        let own = key.workspace.as_ref().and_then(|at| self.workspaces.get_mut(at));
        if let Some(workspace) = own {
            workspace.session_changed(key);
        }
        self.tell_session(What::Changed, key, "changed");
    }

    /// A session came or went, or greeted: its windows are found by what it can do.
    pub(crate) fn actions_changed(&mut self, key: &SessionKey) {
        let actions = self.processes.actions_of(key);
        for workspace in showing(&mut self.workspaces, key) {
            workspace.windows.set_actions(key, actions.clone());
        }
    }
}

/// The workspaces that may show a session: its own one, or all.
fn showing<'a>(
    workspaces: &'a mut BTreeMap<WorkspaceKey, Workspace>,
    key: &SessionKey,
) -> impl Iterator<Item = &'a mut Workspace> {
    let (own, all) = match &key.workspace {
        Some(at) => (workspaces.get_mut(at), None),
        None => (None, Some(workspaces.values_mut())),
    };
    own.into_iter().chain(all.into_iter().flatten())
}
