//! Determines whether the windows that a request views have changed since its reader saw them.

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::client::ViewArgs;

use crate::clients::client_request::ClientRequest;
use crate::event::Now;
use crate::jobs::{Job, Jobs};
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::workspaces::{Reader, Rendered, Window, Workspace};

/// The state that a request views, with what is needed to detect changes.
#[derive(Clone, Copy)]
pub(crate) struct ViewedState<'a> {
    pub request: &'a ClientRequest,
    pub workspace: &'a Workspace,
    pub processes: &'a Processes,
    pub jobs: &'a Jobs,
    pub now: Now,
}

impl ViewedState<'_> {
    /// Returns true when the view would show something that its reader hasn't seen, or when it can
    /// only fail.
    pub(crate) fn has_changed(&self, view: &ViewArgs) -> bool {
        let Self { request, workspace, .. } = self;
        let reader = request.call.reader.as_str();
        if view.since.is_some_and(|epoch| epoch > workspace.epoch) {
            return true;
        }
        let (own, of_apps) = workspace.unread_notices(reader, 0, self.now);
        if !own.is_empty() || !of_apps.is_empty() {
            return true;
        }
        let known = (request.workspace.clone(), reader.into());
        let concerned = |job: &Job| {
            view.session.as_ref().is_none_or(|addr| workspace.names_session(addr, &job.session))
        };
        if self.jobs.untold(&known).any(concerned) {
            return true;
        }
        let known_reader = workspace.reader(reader);
        let has_changed = |window: &Window| self.window_changed(window, known_reader, view.since);
        match &view.session {
            None => {
                workspace.has_other_windows(reader) || workspace.windows.iter().any(has_changed)
            }
            Some(addr) => {
                let mut named = workspace.windows.named(addr).peekable();
                named.peek().is_none() || named.any(has_changed)
            }
        }
    }

    /// Returns true when a job of the windows that a view shows has made progress that its reader
    /// hasn't seen.
    pub(crate) fn has_progressed(&self, view: &ViewArgs) -> bool {
        let reader = self.workspace.reader(&self.request.call.reader);
        let seen = |number| reader.map_or(0, |reader| reader.seen_job(number));
        let sessions = viewed_sessions(self.workspace, view);
        let mut running = sessions.iter().flat_map(|session| self.jobs.running(session));
        running.any(|job| job.rev > seen(job.number))
    }

    /// Returns true when a window has changed since an epoch or, without one, since the reader saw
    /// it.
    fn window_changed(&self, window: &Window, reader: Option<&Reader>, since: Option<u64>) -> bool {
        let seen = match since {
            Some(epoch) => window.at(epoch).map(|past| (past.seen, &past.rendered)),
            None => reader
                .and_then(|reader| reader.seen.get(&window.session))
                .map(|seen| ((seen.app, seen.version), &seen.rendered)),
        };
        let Some(((app, version), rendered)) = seen else { return true };
        let newest = |session: &SessionKey| {
            let session = self.processes.get(session)?;
            Some((session.ready()?, session.version))
        };
        if rendered.embeds.have_changed(newest) {
            return true;
        }
        let Some(session) = self.processes.get(&window.session) else { return false };
        match session.ready() {
            // A later version may show the same: it was shown to another reader.
            Some(ready) if ready == app => {
                let now = (app, session.version);
                let newer = now.1 > version && !window.was_delivered(now, rendered);
                // What another reader did may concern only that one: the app is asked, while this
                // one waits.
                newer
                    && (!session.profile.per_reader || shows_something_else(window, rendered, now))
            }
            // Another process may show another state. One that went on from a saved state is not
            // another one here: `app` was replaced when it woke up.
            Some(_) => true,
            // A session that was put to sleep hasn't changed; one that crashed has.
            None => session.crashes.untold.is_some() || session.failed.is_some(),
        }
    }
}

/// Returns the sessions whose windows a view shows.
pub(crate) fn viewed_sessions(workspace: &Workspace, view: &ViewArgs) -> Vec<SessionKey> {
    let session = |window: &Window| window.session.clone();
    match &view.session {
        Some(addr) => workspace.windows.named(addr).map(session).collect(),
        None => workspace.windows.iter().map(session).collect(),
    }
}

/// True if the app has sent this reader a window for the version, and its content differs from what
/// was rendered. Until the app has sent it, the difference is unknown.
fn shows_something_else(
    window: &Window,
    rendered: &Rc<Rendered>,
    version: (Incarnation, u64),
) -> bool {
    holds_version(window, version) && !window.holds_content_of(rendered)
}

/// True when a window holds what its app sent for a version, or for a later one.
pub(crate) fn holds_version(window: &Window, (app, version): (Incarnation, u64)) -> bool {
    let held = window.projection.as_ref();
    held.is_some_and(|held| held.app == app && held.projection.version >= version)
}
