//! Waiting for something to happen: `view --wait` and `watch`.
//!
//! Waits are checked when the feed has new entries, and end by a timer. Only apps that don't say by
//! themselves when they have changed are asked, while a client waits (`wait_checks`).

use pipemux_proto::Fault;
use pipemux_proto::client::ViewArgs;

use crate::answers::per_reader::turn_windows_for;
use crate::clients::Clients;
use crate::feed::Feed;
use crate::jobs::Jobs;
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::Processes;
use crate::providers::Providers;
use crate::timers::Timer;
use crate::turn::Turn;
use crate::verbs::next::Next;
use crate::verbs::require;
use crate::verbs::tasks::{Task, Tasks, Wait, WaitLimits};
use crate::verbs::view::view_now;
use crate::verbs::viewed_state::{ViewedState, viewed_sessions};
use crate::verbs::watch::{events_after, has_events_after, life};
use crate::workspaces::Workspaces;

/// The requests that wait, and what tells whether something has happened.
pub(crate) struct Waits<'a> {
    pub turn: &'a mut Turn,
    pub tasks: &'a mut Tasks,
    pub clients: &'a mut Clients,
    pub workspaces: &'a mut Workspaces,
    pub processes: &'a mut Processes,
    pub jobs: &'a Jobs,
    pub feed: &'a mut Feed,
    pub providers: &'a Providers,
}

impl Waits<'_> {
    /// Returns true while a request waits for a change of the session, which keeps the session in
    /// use.
    pub(crate) fn are_for(&self, key: &SessionKey) -> bool {
        self.tasks.waits.iter().any(|id| match self.tasks.get(*id) {
            Some(Task::Waiting(wait, _)) => match &**wait {
                Wait::View { view, .. } => self.waited_sessions(*id, view).contains(key),
                Wait::Watch(_) => false,
            },
            _ => false,
        })
    }

    /// Has a request wait.
    ///
    /// # Errors
    /// The request has its answer already.
    pub(crate) fn begin(
        &mut self,
        id: RequestId,
        mut wait: Wait,
        wait_ms: u64,
        pause_ms: u64,
    ) -> Result<(), Fault> {
        let now = self.turn.now.mono_ms;
        let request = require::request(self.clients, id)?;
        // The answer at the end of the wait takes its time, too.
        let latest = request.deadline.saturating_sub(PROJECT_MS).max(now);
        let until = (now + wait_ms).min(latest);
        if let Wait::View { seconds, .. } = &mut wait {
            *seconds = (until - now) as f64 / 1000.0;
        }
        let limits = WaitLimits {
            not_before: now + pause_ms,
            until,
            timer_at: until,
            check_at: None,
            checks_open: 0,
        };
        self.tasks.set(id, Task::Waiting(Box::new(wait), limits));
        self.tasks.waits.insert(id);
        self.turn.set_timer(until, Timer::Wait(id));
        self.expect_progress(id);
        self.check_unreported(id);
        self.check_unknown(id);
        Ok(())
    }

    /// Returns true for a wait that is to end because something has happened in this turn.
    pub(crate) fn is_over(&mut self, id: RequestId) -> bool {
        turn_windows_for(self.clients, self.workspaces, self.processes, id);
        let Some(Task::Waiting(_, limits)) = self.tasks.get(id) else {
            self.tasks.waits.remove(&id);
            return false;
        };
        let limits = *limits;
        if !self.has_happened(id) {
            self.expect_progress(id);
            self.check_unknown(id);
            return false;
        }
        let may_end = limits.not_before <= self.turn.now.mono_ms;
        if !may_end {
            self.postpone(id, limits.not_before.min(limits.until));
        }
        may_end
    }

    /// Schedules a wait to end because of job progress once it has lasted long enough: a client
    /// that waits for something else isn't disturbed by each step of a job.
    fn expect_progress(&mut self, id: RequestId) {
        if let Some(Task::Waiting(wait, limits)) = self.tasks.get(id)
            && let Wait::View { view, progress_from, .. } = &**wait
            && self.viewed_state(id).is_some_and(|viewed| viewed.has_progressed(view))
        {
            let at = (*progress_from).min(limits.until);
            self.postpone(id, at);
        }
    }

    /// Has a wait checked at a time that is earlier than its end.
    fn postpone(&mut self, id: RequestId, at: u64) {
        if let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id)
            && limits.timer_at > at
        {
            let before = std::mem::replace(&mut limits.timer_at, at);
            self.turn.clear_timer(before, Timer::Wait(id));
            self.turn.set_timer(at, Timer::Wait(id));
        }
    }

    /// Returns true once what a request waits for has happened. False for one that waits for
    /// nothing.
    pub(crate) fn has_happened(&self, id: RequestId) -> bool {
        let Some(Task::Waiting(wait, _)) = self.tasks.get(id) else { return false };
        match &**wait {
            Wait::View { view, progress_from, .. } => {
                let late = *progress_from <= self.turn.mono_ms();
                // A view that can only fail has nothing to wait for.
                self.viewed_state(id).is_none_or(|viewed| {
                    viewed.has_changed(view) || late && viewed.has_progressed(view)
                })
            }
            Wait::Watch(watch) => {
                let request = self.clients.request(id);
                request.is_none_or(|request| has_events_after(self.feed, request, watch))
            }
        }
    }

    /// Ends a wait at its end, whether something has happened or not.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub(crate) fn expire(&mut self, id: RequestId) -> Result<Next, Fault> {
        turn_windows_for(self.clients, self.workspaces, self.processes, id);
        let happened = self.has_happened(id);
        self.finish(id, happened)
    }

    /// Ends a wait, whether something has `happened` or not.
    ///
    /// # Errors
    /// The error with which the view is certain to fail.
    pub(crate) fn finish(&mut self, id: RequestId, happened: bool) -> Result<Next, Fault> {
        let wait = self.tasks.take_wait(self.turn, id);
        if let Some(Wait::View { seconds, .. }) = &wait
            && !happened
        {
            self.clients.add_remark(id, format!("unchanged for {seconds} s"));
        }
        let request = require::request(self.clients, id)?;
        match wait {
            Some(Wait::View { view, .. }) => {
                let workspace = require::workspace(self.workspaces, request)?;
                view_now(self.providers, &request.call, workspace, view)
            }
            Some(Wait::Watch(watch)) => {
                let life = life(self.turn);
                Ok(events_after(self.feed, self.workspaces, life, request, &watch))
            }
            None => Ok(Next::Nothing),
        }
    }

    /// Returns the sessions whose windows a view of a request shows.
    pub(super) fn waited_sessions(&self, id: RequestId, view: &ViewArgs) -> Vec<SessionKey> {
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        workspace.map_or(Vec::new(), |workspace| viewed_sessions(workspace, view))
    }

    /// Returns what tells whether the windows have changed that a request views, if it has no
    /// answer yet.
    fn viewed_state(&self, id: RequestId) -> Option<ViewedState<'_>> {
        let request = self.clients.request(id)?;
        let workspace = self.workspaces.get(&request.workspace)?;
        let (processes, jobs, now) = (&*self.processes, self.jobs, self.turn.now);
        Some(ViewedState { request, workspace, processes, jobs, now })
    }
}
