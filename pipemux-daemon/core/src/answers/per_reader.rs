//! Turns the windows of apps that show each reader something else to the reader who is served: see
//! `workspaces/per_reader`.

use std::rc::Rc;

use crate::clients::Clients;
use crate::keys::{RequestId, WorkspaceKey};
use crate::processes::Processes;
use crate::workspaces::Workspaces;

/// Turns such windows to the reader of a request. `Core::follow` begins with it, and whatever reads
/// windows for a request before that. It costs nothing as long as there is no such app.
pub(crate) fn turn_windows_for(
    clients: &Clients,
    workspaces: &mut Workspaces,
    processes: &Processes,
    id: RequestId,
) {
    if processes.any_per_reader()
        && let Some(request) = clients.request(id)
    {
        let reader = Rc::from(&*request.call.reader);
        turn_windows(workspaces, processes, &request.workspace, &reader);
    }
}

/// Turns such windows of a workspace to a reader.
pub(crate) fn turn_windows(
    workspaces: &mut Workspaces,
    processes: &Processes,
    at: &WorkspaceKey,
    reader: &Rc<str>,
) {
    if processes.any_per_reader()
        && let Some(workspace) = workspaces.get_mut(at)
    {
        workspace.turn_to_reader(reader, |session| processes.is_per_reader(session));
    }
}
