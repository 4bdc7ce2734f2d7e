//! Windows that an answer waits for no longer: they were closed, time is up, or the daemon goes down.

use pipemux_proto::Fault;

use crate::Core;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::verbs::show::{RequestedWindow, WindowStatus};
use crate::verbs::tasks::Task;

impl Core {
    /// A window was closed: answers that wait for others leave out what came of it, since what is opened
    /// under its name is another window, and may be another session's.
    pub(super) fn unshow(&mut self, at: &WorkspaceKey, session: &SessionKey) {
        for (request, task) in self.tasks.iter_mut() {
            let Task::Viewing(showing) = task else { continue };
            if self.clients.request(*request).is_none_or(|request| request.workspace != *at) {
                continue;
            }
            let came = |shown: &&mut RequestedWindow| {
                shown.session == *session && shown.state == WindowStatus::Fresh
            };
            for shown in showing.windows.iter_mut().filter(came) {
                (shown.held, shown.state) = (None, closed_meanwhile(session));
            }
        }
    }

    /// Answers with what has come so far. A window that was shown before is as it was; of one that never
    /// was, it is said `why` there is none.
    pub(crate) fn show_what_there_is(&mut self, job: RequestId, why: &str) {
        let Some(found) = self.clients.request(job) else { return };
        let Some(Task::Viewing(showing)) = self.tasks.get_mut(job) else { return };
        let workspace = self.workspaces.get(&found.workspace);
        for shown in showing.windows.iter_mut().filter(|shown| shown.state == WindowStatus::Waiting)
        {
            let session = &shown.session;
            shown.state = match workspace.and_then(|workspace| workspace.window(session)) {
                Some(window) if window.rendered.is_some() => WindowStatus::Busy,
                Some(_) => {
                    let fault =
                        Fault::unavailable(format!("{session} is open, not shown yet: {why}"));
                    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux view {session}"))))
                }
                None => closed_meanwhile(session),
            };
        }
        self.finish_show(job);
    }
}

/// How a window stands in an answer that waited for it while it was closed.
pub(super) fn closed_meanwhile(session: &SessionKey) -> WindowStatus {
    let fault = Fault::not_found(format!("the window of {session} was closed meanwhile"));
    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux open {session}"))))
}
