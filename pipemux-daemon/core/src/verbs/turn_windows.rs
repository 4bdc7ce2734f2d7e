//! Turns windows to the reader who is served: see `workspaces/per_reader`.

use std::rc::Rc;

use pipemux_proto::Fault;

use crate::Core;
use crate::keys::{RequestId, WorkspaceKey};
use crate::verbs::tasks::Task;
use crate::views::answer_window::is_overtaken;
use crate::views::requested_window::WindowStatus;

impl Core {
    /// Turns the windows of apps that show each reader something else to the reader of a request. Whatever serves a
    /// request begins with it; it costs nothing as long as there is no such app.
    pub(crate) fn turn_windows_for(&mut self, id: RequestId) {
        if self.processes.any_per_reader()
            && let Some(request) = self.clients.request(id)
        {
            let (at, reader) = (request.workspace.clone(), Rc::from(&*request.call.reader));
            self.turn_windows(&at, &reader);
        }
    }

    /// Turns the windows of such apps in a workspace to a reader.
    pub(crate) fn turn_windows(&mut self, at: &WorkspaceKey, reader: &Rc<str>) {
        if self.processes.any_per_reader()
            && let Some(workspace) = self.workspaces.get_mut(at)
        {
            let processes = &self.processes;
            workspace.turn_to_reader(reader, |session| processes.is_per_reader(session));
        }
    }

    /// Requests a window of an answer once more that was shown to another reader in a newer version while this answer
    /// waited: what came for this reader is older, and what came for that one is not this one's. Returns false when there is
    /// none.
    pub(super) fn request_overtaken(&mut self, id: RequestId) -> Result<bool, Fault> {
        if !self.processes.any_per_reader() {
            return Ok(false);
        }
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        let (Some(workspace), Some(Task::Viewing(view))) = (workspace, self.tasks.get_mut(id))
        else {
            return Ok(false);
        };
        let processes = &self.processes;
        let overtaken = view.windows.iter_mut().find(|requested| {
            let window = workspace.window(&requested.session);
            requested.state == WindowStatus::Fresh
                && !requested.asked_again
                && processes.is_per_reader(&requested.session)
                && window
                    .zip(requested.held.as_ref())
                    .is_some_and(|(w, held)| is_overtaken(w, held))
        });
        let Some(requested) = overtaken else { return Ok(false) };
        (requested.asked_again, requested.state) = (true, WindowStatus::Waiting);
        let (session, lod, budget) = (requested.session.clone(), requested.lod, requested.budget);
        self.project(id, &session, lod, budget, false)?;
        Ok(true)
    }
}
