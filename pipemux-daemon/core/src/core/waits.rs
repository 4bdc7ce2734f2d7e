//! Waiting for something to happen: `view --wait` and `watch`. Waits are checked when the feed has new entries, and end
//! by a timer. Only apps that don't say by themselves when they have changed are asked, while a client waits
//! (`core/wait_checks.rs`).

use pipemux_proto::Fault;
use pipemux_proto::client::ViewArgs;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::timers::Timer;
use crate::verbs::logs::finish_log_watch;
use crate::verbs::require;
use crate::verbs::tasks::{Task, Wait, WaitLimits};
use crate::verbs::trace::finish_trace_wait;
use crate::verbs::view::view_now;
use crate::verbs::viewed_state::{ViewedState, viewed_sessions};
use crate::verbs::watch::{events_after, has_events_after, life};

impl Core {
    /// Returns true while a request waits for a change of the session, which keeps the session in use.
    pub(crate) fn is_waited_for(&self, key: &SessionKey) -> bool {
        self.tasks.waits.iter().any(|id| match self.tasks.get(*id) {
            Some(Task::Waiting(wait, _)) => match &**wait {
                Wait::View { view, .. } => self.waited_sessions(*id, view).contains(key),
                Wait::Watch(_) => false,
            },
            _ => false,
        })
    }

    pub(super) fn begin_wait(
        &mut self,
        id: RequestId,
        mut wait: Wait,
        wait_ms: u64,
        pause_ms: u64,
    ) -> Result<(), Fault> {
        let now = self.turn.now.mono_ms;
        let request = require::request(&self.clients, id)?;
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
        self.set_task(id, Task::Waiting(Box::new(wait), limits));
        self.tasks.waits.insert(id);
        self.turn.set_timer(until, Timer::Wait(id));
        self.expect_progress(id);
        self.check_waited_windows(id);
        self.check_unknown_windows(id);
        Ok(())
    }

    /// Ends the waits for which something has happened in this turn.
    pub(crate) fn settle_waits(&mut self) {
        if !self.feed.take_fresh() {
            return;
        }
        let waits: Vec<RequestId> = self.tasks.waits.iter().copied().collect();
        for id in waits {
            self.turn_windows_for(id);
            let Some(Task::Waiting(wait, limits)) = self.tasks.get(id) else {
                self.tasks.waits.remove(&id);
                continue;
            };
            let limits = *limits;
            if !self.has_happened(id, wait) {
                self.expect_progress(id);
                self.check_unknown_windows(id);
                continue;
            }
            if limits.not_before > self.turn.now.mono_ms {
                self.postpone_wait(id, limits.not_before.min(limits.until));
            } else {
                self.finish_wait(id, true);
            }
        }
    }

    /// Has a wait end for the progress that jobs have made, once it has lasted long enough for that: whoever waits for
    /// something else isn't disturbed by each step of a job.
    fn expect_progress(&mut self, id: RequestId) {
        if let Some(Task::Waiting(wait, limits)) = self.tasks.get(id)
            && let Wait::View { view, progress_from, .. } = &**wait
            && self.viewed_state(id).is_some_and(|viewed| viewed.has_progressed(view))
        {
            let at = (*progress_from).min(limits.until);
            self.postpone_wait(id, at);
        }
    }

    /// Has a wait checked at a time that is earlier than its end.
    fn postpone_wait(&mut self, id: RequestId, at: u64) {
        if let Some(Task::Waiting(_, limits)) = self.tasks.get_mut(id)
            && limits.timer_at > at
        {
            let before = std::mem::replace(&mut limits.timer_at, at);
            self.turn.clear_timer(before, Timer::Wait(id));
            self.turn.set_timer(at, Timer::Wait(id));
        }
    }

    /// Ends a wait whose timer fired, whether something has happened or not.
    pub(crate) fn wait_expired(&mut self, id: RequestId) {
        if self.end_followed(id) || self.end_job_wait(id) {
            return;
        }
        self.turn_windows_for(id);
        if let Some(Task::Waiting(wait, _)) = self.tasks.get(id) {
            let happened = self.has_happened(id, wait);
            self.finish_wait(id, happened);
        }
    }

    /// Answers a request that follows a log or frames with what there is. False for any other.
    fn end_followed(&mut self, id: RequestId) -> bool {
        let (turn, tasks) = (&mut self.turn, &self.tasks);
        let next = finish_log_watch(turn, tasks, id)
            .or_else(|| finish_trace_wait(turn, &self.authoring, tasks, id, true));
        let Some(next) = next else { return false };
        self.follow(id, Ok(next));
        true
    }

    /// Ends a wait for which no client waits any more.
    pub(crate) fn cancel_wait(&mut self, id: RequestId) {
        if self.end_followed(id) {
            return;
        }
        if self.take_wait(id).is_some() {
            self.fail_request(id, Fault::unavailable("cancelled"));
        }
    }

    pub(super) fn has_happened(&self, id: RequestId, wait: &Wait) -> bool {
        match wait {
            Wait::View { view, progress_from, .. } => {
                let late = *progress_from <= self.turn.mono_ms();
                // A view that can only fail has nothing to wait for.
                self.viewed_state(id).is_none_or(|viewed| {
                    viewed.has_changed(view) || late && viewed.has_progressed(view)
                })
            }
            Wait::Watch(watch) => {
                let request = self.clients.request(id);
                request.is_none_or(|request| has_events_after(&self.feed, request, watch))
            }
        }
    }

    pub(super) fn finish_wait(&mut self, id: RequestId, happened: bool) {
        let wait = self.take_wait(id);
        if let Some(Wait::View { seconds, .. }) = &wait
            && !happened
        {
            self.clients.add_remark(id, format!("unchanged for {seconds} s"));
        }
        let request = require::request(&self.clients, id);
        let next = request.and_then(|request| match wait {
            Some(Wait::View { view, .. }) => {
                let workspace = require::workspace(&self.workspaces, request)?;
                view_now(&self.providers, &request.call, workspace, view)
            }
            Some(Wait::Watch(watch)) => {
                let life = life(&self.turn);
                Ok(events_after(&self.feed, &self.workspaces, life, request, &watch))
            }
            None => Err(require::missing_task(&self.clients, id)),
        });
        self.follow(id, next);
    }

    /// Returns the sessions whose windows a view of a request shows.
    pub(super) fn waited_sessions(&self, id: RequestId, view: &ViewArgs) -> Vec<SessionKey> {
        let request = self.clients.request(id);
        let workspace = request.and_then(|request| self.workspaces.get(&request.workspace));
        workspace.map_or(Vec::new(), |workspace| viewed_sessions(workspace, view))
    }

    /// Returns what tells whether the windows have changed that a request views, if it has no answer yet.
    fn viewed_state(&self, id: RequestId) -> Option<ViewedState<'_>> {
        let request = self.clients.request(id)?;
        let workspace = self.workspaces.get(&request.workspace)?;
        let (processes, jobs, now) = (&self.processes, &self.jobs, self.turn.now);
        Some(ViewedState { request, workspace, processes, jobs, now })
    }

    fn take_wait(&mut self, id: RequestId) -> Option<Wait> {
        self.tasks.waits.remove(&id);
        match self.tasks.take_if(id, |task| matches!(task, Task::Waiting(..)))? {
            Task::Waiting(wait, limits) => {
                self.turn.clear_timer(limits.timer_at, Timer::Wait(id));
                if let Some(at) = limits.check_at {
                    self.turn.clear_timer(at, Timer::WaitCheck(id));
                }
                Some(*wait)
            }
            _ => None,
        }
    }
}
