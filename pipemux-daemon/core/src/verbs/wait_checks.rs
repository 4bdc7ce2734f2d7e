//! Asking apps whether they have changed, while a client waits for a change.
//!
//! An app says by an event that its state has changed. One whose state others change, as a file on
//! disk, learns of it only when it looks: it announces so when it greets, and is asked for its
//! window as long as somebody waits. Nobody asks a session that sleeps or doesn't answer.

use std::rc::Rc;

use pipemux_proto::envelope::Method;

use crate::announcements::Announcements;
use crate::answers::per_reader::turn_windows_for;
use crate::answers::window_requests::projection_request;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::limits::{PROJECT_MS, WAIT_CHECK_MS};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::timers::Timer;
use crate::verbs::tasks::{Task, Wait, WaitLimits};
use crate::verbs::viewed_state::holds_version;
use crate::verbs::waits::Waits;
use crate::workspaces::raw_projection::RawProjection;

impl Waits<'_> {
    /// Asks the apps whose windows a request waits for, if they don't report changes themselves.
    pub(crate) fn check_unreported(&mut self, id: RequestId) {
        self.check_windows(id, |waits, key| {
            let session = waits.processes.get(key);
            session.is_some_and(|found| found.profile.changes_unreported)
                || waits.is_unknown(id, key)
        });
    }

    /// Asks per-reader apps whose version is newer than what this reader was shown: the change may
    /// concern another reader's page only.
    pub(crate) fn check_unknown(&mut self, id: RequestId) {
        let asked = |limits: &WaitLimits| limits.checks_open > 0;
        if self.processes.any_per_reader()
            && let Some(Task::Waiting(_, limits)) = self.tasks.get(id)
            && !asked(limits)
        {
            self.check_windows(id, |waits, key| waits.is_unknown(id, key));
        }
    }

    fn check_windows(&mut self, id: RequestId, asks: impl Fn(&Self, &SessionKey) -> bool) {
        turn_windows_for(self.clients, self.workspaces, self.processes, id);
        let Some(Task::Waiting(wait, _)) = self.tasks.get(id) else { return };
        let Wait::View { view, .. } = &**wait else { return };
        let mut sessions = self.waited_sessions(id, view);
        let request = self.clients.request(id);
        if let Some(workspace) = request.and_then(|request| self.workspaces.get(&request.workspace))
        {
            let rendered =
                sessions.iter().filter_map(|key| workspace.window(key)?.rendered.as_ref());
            let embeds = rendered.flat_map(|(_, rendered)| rendered.embeds.windows());
            let embedded: Vec<SessionKey> = embeds.map(|shown| shown.session.clone()).collect();
            sessions.extend(embedded);
            sessions.sort_unstable();
            sessions.dedup();
        }
        let sessions: Vec<SessionKey> =
            sessions.into_iter().filter(|key| asks(self, key)).collect();
        if sessions.is_empty() {
            return;
        }
        let mut sent = 0;
        for session in sessions {
            sent += u32::from(self.check_window(id, &session));
        }
        if let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id) {
            (limits.check_at, limits.checks_open) = (None, sent);
        }
        if sent == 0 {
            self.schedule_wait_check(id);
        }
    }

    /// True for a window of a per-reader app if it is unknown what the current version shows to the
    /// waiting reader.
    fn is_unknown(&self, id: RequestId, key: &SessionKey) -> bool {
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        let window = workspace.and_then(|workspace| workspace.window(key));
        let (Some(window), Some(session)) = (window, self.processes.get(key)) else { return false };
        session.profile.per_reader
            && session.ready().is_some_and(|app| !holds_version(window, (app, session.version)))
    }

    /// Asks one app for its window. Returns false for one that is not to be asked now.
    fn check_window(&mut self, id: RequestId, session: &SessionKey) -> bool {
        let Some(request) = self.clients.request(id) else { return false };
        let process = self.processes.get(session);
        if process.is_none_or(|process| process.ready().is_none() || process.health.silent()) {
            return false;
        }
        let workspace = self.workspaces.get(&request.workspace);
        let Some(window) = workspace.and_then(|workspace| workspace.window(session)) else {
            return false;
        };
        let (lod, budget) = window.detail(None, None);
        let reader = &request.call.reader;
        let project = projection_request(self.processes, window, reader, (lod, budget));
        let deadline = self.turn.now.mono_ms + PROJECT_MS;
        let key = ProjectionKey { window: window.number, lod, budget };
        let to = ReplyTo::WaitCheck(id, key);
        self.processes.request(self.turn, session, Method::Project, &project, deadline, to);
        true
    }

    /// Takes an app's reply to a check. A newer version counts as a change that the app has told
    /// of. Returns true if the wait is over.
    pub(crate) fn take_check_reply(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        asked: ProjectionKey,
        reply: AppReply,
    ) -> bool {
        self.take_checked_window(id, session, asked, reply);
        let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id) else { return false };
        limits.checks_open = limits.checks_open.saturating_sub(1);
        if limits.checks_open == 0 {
            self.schedule_wait_check(id);
        }
        self.processes.is_per_reader(session) && self.has_happened(id)
    }

    /// Keeps a window that an app sent for a check, so that the app can answer the next check with
    /// `unchanged`.
    fn take_checked_window(
        &mut self,
        id: RequestId,
        key: &SessionKey,
        asked: ProjectionKey,
        reply: AppReply,
    ) {
        // What is wrong with a window is told by the answer that shows it.
        let AppReply::Reply(body) = reply else { return };
        let Ok(projection) = RawProjection::read(&body) else { return };
        let version = projection.version;
        let app = self.processes.get(key).and_then(|session| session.app());
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get_mut(&request.workspace));
        if let Some(app) = app
            && let Some(window) = workspace.and_then(|workspace| workspace.window_mut(key))
            && !projection.unchanged
        {
            let overtaken = window.projection.as_ref().is_some_and(|held| {
                held.app == app && held.projection.version > projection.version
            });
            if !overtaken {
                window.hold(asked, app, Rc::new(projection));
            }
        }
        let session = self.processes.get_mut(key);
        if session.is_some_and(|session| session.set_version(version)) {
            let now = self.turn.now;
            let (feed, workspaces) = (&mut *self.feed, &mut *self.workspaces);
            Announcements { feed, workspaces, now }.session_changed(key);
        }
    }

    fn schedule_wait_check(&mut self, id: RequestId) {
        let at = self.turn.now.mono_ms + WAIT_CHECK_MS;
        if let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id)
            && at < limits.until
        {
            limits.check_at = Some(at);
            self.turn.set_timer(at, Timer::WaitCheck(id));
        }
    }
}
