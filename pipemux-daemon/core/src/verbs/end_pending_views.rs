//! Windows that an answer stops waiting for: they were closed, time is up, or the daemon goes down.

use pipemux_proto::Fault;

use crate::Core;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::verbs::tasks::Task;
use crate::views::requested_window::{RequestedWindow, WindowStatus};

impl Core {
    /// Removes a window that was closed from the answers that already have it and wait for others, because a window
    /// that is opened under its name is another one and may show another session.
    pub(super) fn drop_closed_window(&mut self, at: &WorkspaceKey, session: &SessionKey) {
        for (id, task) in self.tasks.iter_mut() {
            let Task::Viewing(view) = task else { continue };
            if self.clients.request(*id).is_none_or(|request| request.workspace != *at) {
                continue;
            }
            let has_arrived = |window: &&mut RequestedWindow| {
                window.session == *session && window.state == WindowStatus::Fresh
            };
            for window in view.windows.iter_mut().filter(has_arrived) {
                (window.held, window.state) = (None, closed_meanwhile(session));
            }
        }
    }

    /// Answers a view with the windows that have arrived so far. A window that was shown before is shown as it was;
    /// for one that never was, the answer says `why` it is missing. Does nothing for a request that shows no windows.
    pub(crate) fn finish_view_early(&mut self, id: RequestId, why: &str) {
        self.turn_windows_for(id);
        let (Some(request), Some(Task::Viewing(view))) =
            (self.clients.request(id), self.tasks.get_mut(id))
        else {
            return;
        };
        let workspace = self.workspaces.get(&request.workspace);
        for window in view.windows.iter_mut().filter(|w| w.state == WindowStatus::Waiting) {
            let session = &window.session;
            window.state = match workspace.and_then(|workspace| workspace.window(session)) {
                Some(window) if window.can_be_shown_as_it_was() => WindowStatus::Busy,
                Some(_) => {
                    let fault =
                        Fault::unavailable(format!("{session} is open, not shown yet: {why}"));
                    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux view {session}"))))
                }
                None => closed_meanwhile(session),
            };
        }
        let result = self.finish_view(id);
        self.fail_on_error(id, result);
    }
}

/// Returns the status of a window that was closed while an answer waited for it.
pub(super) fn closed_meanwhile(session: &SessionKey) -> WindowStatus {
    let fault = Fault::not_found(format!("the window of {session} was closed meanwhile"));
    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux open {session}"))))
}
